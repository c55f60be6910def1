// SPDX-License-Identifier: Apache-2.0
// The guard on a GPU: one thread per byte and step of a grid-stride loop. Faults are rare, so that
// the atomics cost nothing.
#include "kernels/kernel/guard_cuda.h"

extern "C" {
#include "kernels/kernel/guard.h"
}

static const int THREADS = 256;

static __device__ void note(ps_guard_counts *counts, int kind, unsigned long long distance)
{
    atomicAdd(&counts->count[kind], 1ull);
    atomicMin(&counts->nearest[kind], distance);
}

static __global__ void guard_look(const __grid_constant__ ps_guard_look look,
                                  ps_guard_counts *counts)
{
    const unsigned char *region = look.region, *out = region + PS_GUARD_MARGIN;
    const unsigned char *after = out + look.out_bytes;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = first; i < PS_GUARD_MARGIN; i += threads) {
        if (region[i] != look.pattern)
            note(counts, PS_GUARD_BEFORE, PS_GUARD_MARGIN - i);
        if (after[i] != look.pattern)
            note(counts, PS_GUARD_AFTER, i);
    }
    for (size_t i = first; look.reference != nullptr && i < look.out_bytes; i += threads) {
        if (out[i] != look.reference[i])
            note(counts, PS_GUARD_OUTPUT, i);
        else if (look.truths && out[i] > 1)
            note(counts, PS_GUARD_TRUTH, i);
    }
}

extern "C" cudaError_t ps_guard_look_cuda(const struct ps_guard_look *look,
                                          struct ps_guard_counts *counts, cudaStream_t stream)
{
    guard_look<<<1024, THREADS, 0, stream>>>(*look, counts);
    return cudaGetLastError();
}
