// SPDX-License-Identifier: Apache-2.0
// The guard's look at a region in device memory (kernels/kernel/guard.cu).
#ifndef PS_KERNELS_KERNEL_GUARD_CUDA_H
#define PS_KERNELS_KERNEL_GUARD_CUDA_H

#include "kernels/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ps_guard_look;
struct ps_guard_counts;
// As ps_guard_look_cpu; only enqueues. What look and counts point to is device memory.
cudaError_t ps_guard_look_cuda(const struct ps_guard_look *look, struct ps_guard_counts *counts,
                               cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
