// SPDX-License-Identifier: Apache-2.0
// What CUDA stages share: the device and queue behind struct ps_device and ps_queue, checked
// calls, run-time compiled modules. Included only by files in kernels/ that use CUDA; usable from
// C and CUDA C++. libcuda, NVRTC, cuBLAS and NVML are loaded at run time (kernels/cuda/library.h),
// so that the program starts where they are missing.
#ifndef PS_KERNELS_CUDA_H
#define PS_KERNELS_CUDA_H

#include "kernels/backend.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ps_cuda_device {
    struct ps_device base;
    int index;
    int major, minor; // compute capability
    int multiprocessors;
};

// A moment at which both clocks are known, for ps_backend.when.
struct ps_cuda_anchor {
    cudaEvent_t event;
    double ms; // ps_clock_ms
};

struct ps_cuda_queue {
    struct ps_queue base;
    cudaStream_t stream;
    int mark_count;
    cudaEvent_t *marks;
    struct ps_cuda_anchor anchors[2];
    int anchor;   // the one that times count from
    bool renewed; // the other one is set as well, and counts from the next wait on
};

static inline struct ps_cuda_device *ps_cuda_device(struct ps_device *device)
{
    return (struct ps_cuda_device *)device;
}
static inline struct ps_cuda_queue *ps_cuda_queue(struct ps_queue *queue)
{
    return (struct ps_cuda_queue *)queue;
}

// True when result is success; else fills in error: call ("cudaMemcpyAsync of 4096 bytes"), the
// error's name and text, and the usual cause and remedy in words (no kernel image, illegal
// access, out of memory, driver older than runtime). PS_DEVICE.
bool ps_cuda_check(cudaError_t result, const char *call, struct ps_error *error);
bool ps_cu_check(CUresult result, const char *call, struct ps_error *error);
// What this program holds machine code (N-real) and PTX (N-virtual) for: "75-real 90-real".
const char *ps_cuda_architectures(void);
// Makes the device current for the calling thread.
bool ps_cuda_use(struct ps_device *device, struct ps_error *error);

// The backend's alloc and free (kernels/cuda/memory.c).
void *ps_cuda_alloc(struct ps_device *device, enum ps_memory memory, size_t bytes,
                    struct ps_error *error);
void ps_cuda_free(struct ps_device *device, enum ps_memory memory, void *data);

// ---- Kernels compiled at run time (kernels/cuda/nvrtc.c) ----
// source: CUDA C without #include; name: file name in messages; options: extra NVRTC options,
// NULL-terminated or NULL. Always compiled with --fmad=false, precise division and square root,
// denormals kept, -lineinfo. For a GPU that is newer than NVRTC, PTX of NVRTC's newest architecture
// is made (a note in the log) and the driver translates it. The code is cached on disk
// ($XDG_CACHE_HOME/penstock, or
// ~/.cache/penstock) under a hash of source, options, NVRTC version and architecture, written
// atomically; a damaged cache entry is recompiled. Compiler messages end up in the error.
struct ps_cuda_module; // holds a CUlibrary/CUmodule
bool ps_cuda_module_compile(struct ps_device *device, const char *source, const char *name,
                            const char *const *options, struct ps_cuda_module **module_out,
                            struct ps_error *error);
// The same for a text of the user's own: faults of it are PS_USAGE, and say what `expected` is (the
// signature). `expression` is a __global__ function of it, of any linkage ("&f", cast to its type where
// it is overloaded); its name in the module goes into lowered_out. The text's `#line` tells files, so it has no name of its own.
#define PS_LOWERED_MAX 1024
struct ps_cuda_user_code {
    const char *source, *function, *expression, *expected;
};
bool ps_cuda_module_compile_user(struct ps_device *device, const struct ps_cuda_user_code *code,
                                 struct ps_cuda_module **module_out,
                                 char lowered_out[PS_LOWERED_MAX], struct ps_error *error);
void ps_cuda_module_free(struct ps_cuda_module *module);
bool ps_cuda_module_kernel(struct ps_cuda_module *module, const char *kernel, CUfunction *out,
                           struct ps_error *error);
// arguments as for cuLaunchKernel. Grid and block as chosen by ps_cuda_shape below.
bool ps_cuda_launch(struct ps_queue *queue, CUfunction kernel, unsigned grid, unsigned threads,
                    unsigned shared_bytes, void **arguments, const char *name,
                    struct ps_error *error);
// Threads per block for a kernel: the request's, else by the occupancy API. Fills in *info. Fails
// when not even one block fits on a multiprocessor.
bool ps_cuda_shape(struct ps_device *device, CUfunction kernel, const char *name,
                   size_t shared_bytes, struct ps_kernel_info *info, struct ps_error *error);
// The same for a kernel that nvcc compiled (host symbol); without a request 256 threads, or fewer
// where the kernel allows fewer.
bool ps_cuda_shape_static(struct ps_device *device, const void *kernel, const char *name,
                          size_t shared_bytes, struct ps_kernel_info *info, struct ps_error *error);

// The -arch for a GPU: "sm_90"; "compute_121" (PTX) when NVRTC is older than the GPU. Fails when
// NVRTC no longer knows so old a GPU.
bool ps_nvrtc_architecture(int major, int minor, char *out, size_t out_size,
                           struct ps_error *error);
// Only compiles for `architecture`, needs no GPU. "sm_90": the cubin; "compute_90": PTX, with its
// NUL. malloc'ed.
bool ps_nvrtc_compile(const char *source, const char *name, const char *architecture,
                      const char *const *options, void **code_out, size_t *bytes_out,
                      struct ps_error *error);
bool ps_nvrtc_compile_user(const struct ps_cuda_user_code *code, const char *architecture,
                           void **code_out, size_t *bytes_out, char lowered_out[PS_LOWERED_MAX],
                           struct ps_error *error);

#ifdef __cplusplus
}
#endif
#endif
