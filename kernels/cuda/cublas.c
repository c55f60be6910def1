// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cublas.h"

#include "kernels/cuda/cuda.h"
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

bool ps_cublas_open(struct ps_cublas_handle *own, struct ps_device *device, cublasMath_t math,
                    struct ps_error *error)
{
    const struct ps_cublas *cublas = ps_cublas(error);
    if (cublas == NULL || !ps_cuda_use(device, error) ||
        !ps_cublas_check(cublas->cublasCreate_v2(&own->handle), "cublasCreate", error))
        return false;
    pthread_mutex_init(&own->lock, NULL);
    return ps_cublas_check(cublas->cublasSetMathMode(own->handle, math), "cublasSetMathMode",
                           error);
}

void ps_cublas_close(struct ps_cublas_handle *own, struct ps_device *device)
{
    struct ps_error error = {0};
    if (own->handle == NULL)
        return;
    if (ps_cuda_use(device, &error))
        ps_cublas(&error)->cublasDestroy_v2(own->handle);
    pthread_mutex_destroy(&own->lock);
    own->handle = NULL;
}

const struct ps_cublas *ps_cublas_begin(struct ps_cublas_handle *own, cudaStream_t stream,
                                        void *workspace, struct ps_error *error)
{
    const struct ps_cublas *cublas = ps_cublas(error);
    if (cublas == NULL)
        return NULL;
    pthread_mutex_lock(&own->lock);
    if (ps_cublas_check(cublas->cublasSetStream_v2(own->handle, stream), "cublasSetStream",
                        error) &&
        ps_cublas_check(cublas->cublasSetWorkspace_v2(own->handle, workspace, PS_CUBLAS_WORKSPACE),
                        "cublasSetWorkspace", error))
        return cublas;
    pthread_mutex_unlock(&own->lock);
    return NULL;
}

void ps_cublas_end(struct ps_cublas_handle *own)
{
    pthread_mutex_unlock(&own->lock);
}
