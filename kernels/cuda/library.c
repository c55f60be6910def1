// SPDX-License-Identifier: Apache-2.0
// dlopen with a table of names. Nothing is loaded before it is asked for.
#include "kernels/cuda/library.h"

#include "base/text.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    const char *sonames[5];
    const char *package;
};

// The toolkit's own major version comes first; its neighbour has the same functions, and what
// it makes or needs may ask for another driver.
#if CUDART_VERSION >= 13000
#define MAJORS(name)                                                                               \
    {                                                                                              \
        name ".13", name ".12", name                                                               \
    }
#else
#define MAJORS(name)                                                                               \
    {                                                                                              \
        name ".12", name ".13", name                                                               \
    }
#endif

// cuFFT's own major version is one less than the toolkit's.
#if CUDART_VERSION >= 13000
#define CUFFT_SONAMES                                                                              \
    {                                                                                              \
        "libcufft.so.12", "libcufft.so.11", "libcufft.so"                                          \
    }
#else
#define CUFFT_SONAMES                                                                              \
    {                                                                                              \
        "libcufft.so.11", "libcufft.so.12", "libcufft.so"                                          \
    }
#endif

static const struct row rows[PS_LIBRARY_COUNT] = {
    [PS_LIBCUDA] = {"the CUDA driver", {"libcuda.so.1"}, "it comes with NVIDIA's driver"},
    [PS_LIBNVRTC] = {"NVRTC", MAJORS("libnvrtc.so"),
                     "install NVIDIA's package cuda-nvrtc (or nvidia-cuda-toolkit)"},
    [PS_LIBCUBLAS] = {"cuBLAS", MAJORS("libcublas.so"),
                      "install NVIDIA's package libcublas (or nvidia-cuda-toolkit)"},
    [PS_LIBCUFFT] = {"cuFFT", CUFFT_SONAMES,
                     "install NVIDIA's package libcufft (or nvidia-cuda-toolkit)"},
    [PS_LIBNVML] = {"NVML", {"libnvidia-ml.so.1"}, "it comes with NVIDIA's driver"},
};

static const char *const folders[] = {
    "",
    "/usr/local/cuda/lib64/",
    "/usr/local/cuda-*/lib64/",
    "/usr/lib/wsl/lib/",
    "/usr/local/nvidia/lib64/",
    "/usr/local/nvidia/lib/",
    "/opt/cuda/lib64/",
};

static struct {
    pthread_mutex_t lock;
    bool tried[PS_LIBRARY_COUNT];
    void *handles[PS_LIBRARY_COUNT];
    char *paths[PS_LIBRARY_COUNT];
    char reasons[PS_LIBRARY_COUNT][200];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *open_pattern(const char *folder, const char *soname)
{
    char pattern[256];
    glob_t found;
    void *handle = NULL;
    snprintf(pattern, sizeof pattern, "%s%s", folder, soname);
    if (folder[0] == '\0')
        return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = found.gl_pathc; handle == NULL && i-- > 0;) // the newest version's folder first
        handle = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return handle;
}

static void open_library(enum ps_library library)
{
    const struct row *row = &rows[library];
    struct link_map *map = NULL;
    void *handle = NULL;
    for (int i = 0; handle == NULL && i < 5 && row->sonames[i] != NULL; i++)
        for (size_t f = 0; handle == NULL && f < sizeof folders / sizeof folders[0]; f++)
            handle = open_pattern(folders[f], row->sonames[i]);
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(state.reasons[library], sizeof state.reasons[library], "%s",
                 reason != NULL ? reason : "no file of that name");
    } else if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL) {
        state.paths[library] = ps_strdup(map->l_name);
    }
    state.handles[library] = handle;
    state.tried[library] = true;
}

void *ps_library_load(enum ps_library library, struct ps_error *error)
{
    pthread_mutex_lock(&state.lock);
    if (!state.tried[library])
        open_library(library);
    void *handle = state.handles[library];
    pthread_mutex_unlock(&state.lock);
    if (handle == NULL)
        ps_fail(error, PS_DEVICE, "%s (%s) cannot be loaded: %s; %s", rows[library].name,
                rows[library].sonames[0], state.reasons[library], rows[library].package);
    return handle;
}

const char *ps_library_path(enum ps_library library)
{
    pthread_mutex_lock(&state.lock);
    const char *path = state.paths[library];
    if (path == NULL && state.handles[library] != NULL)
        path = rows[library].sonames[0];
    pthread_mutex_unlock(&state.lock);
    return path;
}

void *ps_library_symbol(enum ps_library library, const char *name, struct ps_error *error)
{
    void *handle = ps_library_load(library, error);
    void *symbol = handle != NULL ? dlsym(handle, name) : NULL;
    if (handle != NULL && symbol == NULL)
        ps_fail(error, PS_DEVICE, "%s (%s) has no function %s; its version is too old or too new",
                rows[library].name, ps_library_path(library), name);
    return symbol;
}
