// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cublas.h"

#include "kernels/cuda/library.h"

#include <pthread.h>
#include <string.h>

static bool fetch(const char *name, void *function, struct ps_error *error)
{
    void *symbol = ps_library_symbol(PS_LIBCUBLAS, name, error);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

const struct ps_cublas *ps_cublas(struct ps_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct ps_cublas cublas;
    static bool ready;
    pthread_mutex_lock(&lock);
    bool fine = ready;
    if (!fine) {
        fine = true;
#define X(name, arguments) fine = fine && fetch(#name, &cublas.name, error);
        PS_CUBLAS_FUNCTIONS(X)
#undef X
        ready = fine;
    }
    pthread_mutex_unlock(&lock);
    return fine ? &cublas : NULL;
}

bool ps_cublas_check(cublasStatus_t result, const char *call, struct ps_error *error)
{
    static const struct {
        cublasStatus_t code;
        const char *text;
    } table[] = {
        {CUBLAS_STATUS_NOT_INITIALIZED, "not initialised (usually no free GPU memory left)"},
        {CUBLAS_STATUS_ALLOC_FAILED, "out of GPU memory: set run.block or run.slots lower"},
        {CUBLAS_STATUS_INVALID_VALUE, "invalid value"},
        {CUBLAS_STATUS_ARCH_MISMATCH, "this GPU cannot do it"},
        {CUBLAS_STATUS_EXECUTION_FAILED, "the kernel failed"},
        {CUBLAS_STATUS_INTERNAL_ERROR, "internal error"},
        {CUBLAS_STATUS_NOT_SUPPORTED, "not supported"},
    };
    if (result == CUBLAS_STATUS_SUCCESS)
        return true;
    const char *text = "unknown error";
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == result)
            text = table[i].text;
    return ps_fail(error, PS_DEVICE, "%s failed: cuBLAS status %d: %s", call, (int)result, text);
}
