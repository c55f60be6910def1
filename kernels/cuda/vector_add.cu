// SPDX-License-Identifier: Apache-2.0
// The first kernel everybody writes, as it should be: a grid-stride loop, so that any count works
// with any grid; neighbouring threads on neighbouring elements, so that a warp's 32 accesses are
// few memory transactions; 64-bit indices. And the empty kernel that doctor launches.
#include "kernels/cuda/probe.h"

__global__ static void vector_add(const float *__restrict__ a, const float *__restrict__ b,
                                  float *__restrict__ c, long long count)
{
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        c[i] = a[i] + b[i];
}

__global__ static void probe()
{
}

extern "C" cudaError_t ps_cuda_vector_add(const float *a, const float *b, float *c, long long count,
                                          cudaStream_t stream)
{
    const long long blocks = (count + 255) / 256;
    if (count == 0)
        return cudaSuccess;
    vector_add<<<blocks < 4096 ? (unsigned)blocks : 4096u, 256, 0, stream>>>(a, b, c, count);
    return cudaGetLastError();
}

extern "C" cudaError_t ps_cuda_probe(void)
{
    probe<<<1, 1>>>();
    cudaError_t result = cudaGetLastError();
    return result != cudaSuccess ? result : cudaDeviceSynchronize();
}
