// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLAS that are used, fetched by name when a stage needs them.
#ifndef PS_KERNELS_CUDA_CUBLAS_H
#define PS_KERNELS_CUDA_CUBLAS_H

#include "base/error.h"

#include <cublas_v2.h>
#include <pthread.h>

#define PS_GEMM(T)                                                                                 \
    (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *, const T *,    \
     int, const T *, int, const T *, T *, int)
#define PS_CUBLAS_FUNCTIONS(X)                                                                     \
    X(cublasCreate_v2, (cublasHandle_t *))                                                         \
    X(cublasDestroy_v2, (cublasHandle_t))                                                          \
    X(cublasSetStream_v2, (cublasHandle_t, cudaStream_t))                                          \
    X(cublasSetWorkspace_v2, (cublasHandle_t, void *, size_t))                                     \
    X(cublasSetMathMode, (cublasHandle_t, cublasMath_t))                                           \
    X(cublasGetProperty, (libraryPropertyType, int *))                                             \
    X(cublasSgemm_v2, PS_GEMM(float))                                                              \
    X(cublasDgemm_v2, PS_GEMM(double))                                                             \
    X(cublasGemmEx,                                                                                \
      (cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,          \
       const void *, cudaDataType, int, const void *, cudaDataType, int, const void *, void *,     \
       cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t))

struct ps_cublas {
#define X(name, arguments) cublasStatus_t(*name) arguments;
    PS_CUBLAS_FUNCTIONS(X)
#undef X
};
// Loaded once; NULL and an error when it is missing.
const struct ps_cublas *ps_cublas(struct ps_error *error);
bool ps_cublas_check(cublasStatus_t result, const char *call, struct ps_error *error);

// What NVIDIA recommends for Hopper; cuBLAS documentation, 2.1.2.
#define PS_CUBLAS_WORKSPACE (32u << 20)

struct ps_device;

// One handle of a program. Launches take turns with it: each begins with its own stream and its own
// workspace of PS_CUBLAS_WORKSPACE bytes on the device, so that streams never share one and the
// bits stay the same. Calls only enqueue. close takes any handle that was zeros before open, also
// where open failed or was never called.
struct ps_cublas_handle {
    cublasHandle_t handle;
    pthread_mutex_t lock;
};
bool ps_cublas_open(struct ps_cublas_handle *own, struct ps_device *device, cublasMath_t math,
                    struct ps_error *error);
void ps_cublas_close(struct ps_cublas_handle *own, struct ps_device *device);
// The functions to call until ps_cublas_end; NULL and an error when there is no turn to end.
const struct ps_cublas *ps_cublas_begin(struct ps_cublas_handle *own, cudaStream_t stream,
                                        void *workspace, struct ps_error *error);
void ps_cublas_end(struct ps_cublas_handle *own);

#endif
