// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA driver and of NVRTC that are used, fetched by name.
#ifndef PS_KERNELS_CUDA_DRIVER_H
#define PS_KERNELS_CUDA_DRIVER_H

#include "kernels/cuda/cuda.h"

#include <nvrtc.h>

#define PS_DRIVER_FUNCTIONS(X)                                                                     \
    X(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **))           \
    X(cuModuleUnload, (CUmodule))                                                                  \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                 \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
                       unsigned, CUstream, void **, void **))                                      \
    X(cuFuncGetAttribute, (int *, CUfunction_attribute, CUfunction))                               \
    X(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int))                                 \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t))               \
    X(cuOccupancyMaxPotentialBlockSize,                                                            \
      (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int))                                 \
    X(cuGetErrorName, (CUresult, const char **))                                                   \
    X(cuGetErrorString, (CUresult, const char **))

struct ps_driver {
#define X(name, arguments) CUresult(CUDAAPI *name) arguments;
    PS_DRIVER_FUNCTIONS(X)
#undef X
};
// Loaded once; NULL and an error when the driver is missing.
const struct ps_driver *ps_driver(struct ps_error *error);

#define PS_NVRTC_FUNCTIONS(X)                                                                      \
    X(nvrtcVersion, (int *, int *))                                                                \
    X(nvrtcCreateProgram,                                                                          \
      (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
    X(nvrtcCompileProgram, (nvrtcProgram, int, const char *const *))                               \
    X(nvrtcAddNameExpression, (nvrtcProgram, const char *))                                        \
    X(nvrtcGetLoweredName, (nvrtcProgram, const char *, const char **))                            \
    X(nvrtcGetNumSupportedArchs, (int *))                                                          \
    X(nvrtcGetSupportedArchs, (int *))                                                             \
    X(nvrtcGetCUBINSize, (nvrtcProgram, size_t *))                                                 \
    X(nvrtcGetCUBIN, (nvrtcProgram, char *))                                                       \
    X(nvrtcGetPTXSize, (nvrtcProgram, size_t *))                                                   \
    X(nvrtcGetPTX, (nvrtcProgram, char *))                                                         \
    X(nvrtcGetProgramLogSize, (nvrtcProgram, size_t *))                                            \
    X(nvrtcGetProgramLog, (nvrtcProgram, char *))                                                  \
    X(nvrtcDestroyProgram, (nvrtcProgram *))

struct ps_nvrtc {
#define X(name, arguments) nvrtcResult(*name) arguments;
    PS_NVRTC_FUNCTIONS(X)
#undef X
    int version; // 13000 for 13.0
};
const struct ps_nvrtc *ps_nvrtc(struct ps_error *error);

#endif
