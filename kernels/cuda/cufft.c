// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cufft.h"

#include "kernels/cuda/library.h"

#include <pthread.h>
#include <string.h>

static bool fetch(const char *name, void *function, struct ps_error *error)
{
    void *symbol = ps_library_symbol(PS_LIBCUFFT, name, error);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

const struct ps_cufft *ps_cufft(struct ps_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct ps_cufft cufft;
    static bool ready;
    pthread_mutex_lock(&lock);
    bool fine = ready;
    if (!fine) {
        fine = true;
#define X(name, arguments) fine = fine && fetch(#name, &cufft.name, error);
        PS_CUFFT_FUNCTIONS(X)
#undef X
        ready = fine;
    }
    pthread_mutex_unlock(&lock);
    return fine ? &cufft : NULL;
}

bool ps_cufft_check(cufftResult result, const char *call, struct ps_error *error)
{
    static const struct {
        cufftResult code;
        const char *text;
    } table[] = {
        {CUFFT_ALLOC_FAILED, "out of GPU memory: set run.block or run.slots lower"},
        {CUFFT_INVALID_VALUE, "invalid value"},
        {CUFFT_INTERNAL_ERROR, "internal error"},
        {CUFFT_EXEC_FAILED, "the kernel failed"},
        {CUFFT_SETUP_FAILED, "not initialised (usually no free GPU memory left)"},
        {CUFFT_INVALID_SIZE, "a transform of this length is not supported"},
        {CUFFT_NO_WORKSPACE, "no work area"},
    };
    if (result == CUFFT_SUCCESS)
        return true;
    const char *text = "unknown error";
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == result)
            text = table[i].text;
    return ps_fail(error, PS_DEVICE, "%s failed: cuFFT status %d: %s", call, (int)result, text);
}
