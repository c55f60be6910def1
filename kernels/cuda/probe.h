// SPDX-License-Identifier: Apache-2.0
// A kernel that does nothing, to see whether this binary's machine code loads on a GPU.
#ifndef PS_KERNELS_CUDA_PROBE_H
#define PS_KERNELS_CUDA_PROBE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t ps_cuda_probe(void); // on the current device; waits for it
// c[i] = a[i] + b[i]
cudaError_t ps_cuda_vector_add(const float *a, const float *b, float *c, long long count,
                               cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
