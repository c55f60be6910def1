// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/driver.h"

#include "kernels/cuda/library.h"

#include <pthread.h>
#include <string.h>

// Newer toolkits map some names to versioned ones by macro; the name without is what we declare
// and fetch, and these functions have not changed since.
#define TEXT2(name) #name
#define TEXT(name) TEXT2(name)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ps_driver driver;
static struct ps_nvrtc nvrtc;
static bool driver_ready, nvrtc_ready;

// ISO C has no conversion from void * to a function pointer; POSIX has, through memory.
static bool fetch(enum ps_library library, const char *name, void *function, struct ps_error *error)
{
    void *symbol = ps_library_symbol(library, name, error);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

const struct ps_driver *ps_driver(struct ps_error *error)
{
    pthread_mutex_lock(&lock);
    bool fine = driver_ready;
    if (!fine) {
        fine = true;
#define X(name, arguments) fine = fine && fetch(PS_LIBCUDA, TEXT(name), &driver.name, error);
        PS_DRIVER_FUNCTIONS(X)
#undef X
        driver_ready = fine;
    }
    pthread_mutex_unlock(&lock);
    return fine ? &driver : NULL;
}

const struct ps_nvrtc *ps_nvrtc(struct ps_error *error)
{
    pthread_mutex_lock(&lock);
    bool fine = nvrtc_ready;
    if (!fine) {
        int major = 0, minor = 0;
        fine = true;
#define X(name, arguments) fine = fine && fetch(PS_LIBNVRTC, TEXT(name), &nvrtc.name, error);
        PS_NVRTC_FUNCTIONS(X)
#undef X
        if (fine && nvrtc.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS)
            nvrtc.version = major * 1000 + minor * 10;
        nvrtc_ready = fine;
    }
    pthread_mutex_unlock(&lock);
    return fine ? &nvrtc : NULL;
}
