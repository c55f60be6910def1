// SPDX-License-Identifier: Apache-2.0
// Asks the HDF5 library about itself. Reads no data file.
#include "io/hdf5_info.h"

#include "io/hdf5_common.h"
#include "io/hdf5_filters.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Filters that someone offers: of the others nobody could do anything about it.
static void ask_filters(struct ps_hdf5_info *info)
{
    for (const struct ps_hdf5_filter *f = ps_hdf5_filters; f->name != NULL; f++) {
        bool there = ps_hdf5_filter_is_there(f->id);
        char *list = there ? info->can_read : info->cannot_read;
        size_t used = strlen(list), size = sizeof info->can_read;
        if (there || f->built_in || f->pip || f->debian != NULL)
            snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", f->name);
        info->lacks_own = info->lacks_own || (f->built_in && !there);
    }
}

static int count_plugins(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += strstr(entry->d_name, ".so") != NULL;
    closedir(directory);
    return count;
}

static void ask_plugins(struct ps_hdf5_info *info)
{
    unsigned folders = 0, allowed = 0;
    H5E_BEGIN_TRY
    {
        if (H5PLget_loading_state(&allowed) < 0)
            allowed = 0;
        if (H5PLsize(&folders) < 0)
            folders = 0;
    }
    H5E_END_TRY;
    info->plugins_allowed = (allowed & H5PL_FILTER_PLUGIN) != 0;
    info->plugin_path_is_set = getenv("HDF5_PLUGIN_PATH") != NULL;
    size_t used = 0;
    for (unsigned i = 0; i < folders; i++) {
        char folder[512];
        ssize_t length = H5PLget(i, folder, sizeof folder);
        if (length <= 0 || (size_t)length >= sizeof folder)
            continue;
        info->plugin_files += count_plugins(folder);
        int written = snprintf(info->plugin_path + used, sizeof info->plugin_path - used, "%s%s",
                               used > 0 ? ":" : "", folder);
        if (written < 0 || (size_t)written >= sizeof info->plugin_path - used)
            break; // the line is full
        used += (size_t)written;
    }
}

void ps_hdf5_info(struct ps_hdf5_info *info_out)
{
    unsigned major = 0, minor = 0, release = 0;
    memset(info_out, 0, sizeof *info_out);
    ps_hdf5_lock();
    if (H5open() >= 0 && H5get_libversion(&major, &minor, &release) >= 0)
        snprintf(info_out->version, sizeof info_out->version, "%u.%u.%u", major, minor, release);
    info_out->version_fits = major == H5_VERS_MAJOR && minor == H5_VERS_MINOR;
    ask_plugins(info_out);
    ask_filters(info_out);
    ps_hdf5_unlock();
}
