// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLAS that are used, fetched by name when a stage needs them.
#ifndef PS_KERNELS_CUDA_CUBLAS_H
#define PS_KERNELS_CUDA_CUBLAS_H

#include "base/error.h"

#include <cublas_v2.h>

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

#endif
