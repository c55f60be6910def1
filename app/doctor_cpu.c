// SPDX-License-Identifier: Apache-2.0
// doctor's checks that need no GPU: the machine, the cpu backend, HDF5 and its filters.
#include "app/doctor.h"

#include "kernels/backend.h"
#include "pipeline/penstock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static enum check_result check_program(struct checkup *checkup, struct ps_text *found)
{
    ps_text_printf(found, "penstock %s, %s", PENSTOCK_VERSION,
                   checkup->cuda.built_in ? "built with the cuda backend"
                                          : "built without the cuda backend");
    return CHECK_OK;
}

static enum check_result check_system(struct checkup *checkup, struct ps_text *found)
{
    struct utsname name;
    if (uname(&name) != 0)
        return CHECK_FAIL;
    ps_text_printf(found, "%s %s on %s%s%s", name.sysname, name.release, name.machine,
                   checkup->cuda.is_wsl ? ", WSL2" : "",
                   checkup->cuda.is_container ? ", in a container" : "");
    return CHECK_OK;
}

static enum check_result check_cpu(struct checkup *checkup, struct ps_text *found)
{
    struct ps_error error = {0};
    struct ps_device_request request = {0};
    struct ps_device *device = NULL;
    const struct ps_backend *backend = ps_backend(PS_CPU);
    if (backend == NULL || !backend->open(&request, &device, &error)) {
        snprintf(checkup->remedy, sizeof checkup->remedy, "%.500s", error.text);
        ps_text_add(found, "the cpu backend does not open");
        return CHECK_FAIL;
    }
    char free_text[32], total_text[32];
    ps_text_printf(found, "%s; memory %s free of %s", device->description,
                   ps_size_text(device->memory_free, free_text, sizeof free_text),
                   ps_size_text(device->memory_total, total_text, sizeof total_text));
    bool scarce = device->memory_free < (uint64_t)1 << 30;
    backend->close(device);
    return scarce ? CHECK_WARN : CHECK_OK;
}

static enum check_result check_hdf5(struct checkup *checkup, struct ps_text *found)
{
    if (checkup->hdf5.version[0] == '\0') {
        ps_text_add(found, "the HDF5 library does not start");
        return CHECK_FAIL;
    }
    ps_text_printf(found, "HDF5 %s", checkup->hdf5.version);
    return checkup->hdf5.version_fits ? CHECK_OK : CHECK_WARN;
}

static enum check_result check_filters(struct checkup *checkup, struct ps_text *found)
{
    const struct ps_hdf5_info *hdf5 = &checkup->hdf5;
    ps_text_printf(found, "can read %s; not %s", hdf5->can_read,
                   hdf5->cannot_read[0] != '\0' ? hdf5->cannot_read : "any other");
    return hdf5->lacks_own ? CHECK_WARN : CHECK_OK;
}

static enum check_result check_plugins(struct checkup *checkup, struct ps_text *found)
{
    const struct ps_hdf5_info *hdf5 = &checkup->hdf5;
    if (!hdf5->plugins_allowed) {
        ps_text_add(found, "loading plugins is switched off");
        return CHECK_WARN;
    }
    ps_text_printf(found, "%d file%s in %s (%s)", hdf5->plugin_files,
                   hdf5->plugin_files == 1 ? "" : "s",
                   hdf5->plugin_path[0] ? hdf5->plugin_path : "no folder",
                   hdf5->plugin_path_is_set ? "HDF5_PLUGIN_PATH and the usual folders"
                                            : "the usual folders");
    if (hdf5->plugin_path_is_set && hdf5->plugin_files == 0)
        return CHECK_WARN;
    return CHECK_OK;
}

const struct check cpu_checks[] = {
    {"program", check_program, NULL},
    {"system", check_system, "the system does not tell its name; penstock needs Linux"},
    {"cpu backend", check_cpu,
     "less than 1 GiB is free: end other programs, or give run.memory a smaller value"},
    {"HDF5", check_hdf5,
     "the library differs from the headers of the build: install one version and build again"},
    {"HDF5 filters", check_filters,
     "this HDF5 lacks filters of its own: files that use them cannot be read; install libhdf5"},
    {"HDF5 plugins", check_plugins,
     "apt-get install hdf5-filter-plugin, or pip install hdf5plugin; unset "
     "HDF5_PLUGIN_PRELOAD if it is \"::\""},
    {0},
};
