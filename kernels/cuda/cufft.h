// SPDX-License-Identifier: Apache-2.0
// The functions of cuFFT that are used, fetched by name when a stage needs them.
#ifndef PS_KERNELS_CUDA_CUFFT_H
#define PS_KERNELS_CUDA_CUFFT_H

#include "base/error.h"

#include <cufft.h>

#define PS_CUFFT_FUNCTIONS(X)                                                                      \
    X(cufftCreate, (cufftHandle *))                                                                \
    X(cufftDestroy, (cufftHandle))                                                                 \
    X(cufftSetAutoAllocation, (cufftHandle, int))                                                  \
    X(cufftMakePlanMany64, (cufftHandle, int, long long *, long long *, long long, long long,      \
                            long long *, long long, long long, cufftType, long long, size_t *))    \
    X(cufftSetStream, (cufftHandle, cudaStream_t))                                                 \
    X(cufftSetWorkArea, (cufftHandle, void *))                                                     \
    X(cufftExecR2C, (cufftHandle, cufftReal *, cufftComplex *))                                    \
    X(cufftExecC2R, (cufftHandle, cufftComplex *, cufftReal *))                                    \
    X(cufftExecC2C, (cufftHandle, cufftComplex *, cufftComplex *, int))                            \
    X(cufftExecD2Z, (cufftHandle, cufftDoubleReal *, cufftDoubleComplex *))                        \
    X(cufftExecZ2D, (cufftHandle, cufftDoubleComplex *, cufftDoubleReal *))                        \
    X(cufftExecZ2Z, (cufftHandle, cufftDoubleComplex *, cufftDoubleComplex *, int))

struct ps_cufft {
#define X(name, arguments) cufftResult(*name) arguments;
    PS_CUFFT_FUNCTIONS(X)
#undef X
};
// Loaded once; NULL and an error when it is missing.
const struct ps_cufft *ps_cufft(struct ps_error *error);
bool ps_cufft_check(cufftResult result, const char *call, struct ps_error *error);

#endif
