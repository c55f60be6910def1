// SPDX-License-Identifier: Apache-2.0
// The cuda backend's memory, and what is said when there is not enough.
#include "kernels/cuda/cuda.h"

#include <unistd.h>

static bool fail_alloc(cudaError_t result, enum ps_memory memory, size_t bytes,
                       struct ps_error *error)
{
    size_t free_bytes = 0, total = 0;
    char asked[32], left[32], all[32];
    ps_size_text(bytes, asked, sizeof asked);
    cudaGetLastError(); // so that the next call does not report it again
    if (result != cudaErrorMemoryAllocation)
        return ps_cuda_check(result, memory == PS_MEMORY_HOST ? "cudaHostAlloc" : "cudaMalloc",
                             error);
    if (memory == PS_MEMORY_HOST)
        return ps_fail(error, PS_DEVICE,
                       "%s of pinned host memory (%zu bytes) cannot be had: set "
                       "run.memory, run.block or run.slots lower, or raise the limit of locked "
                       "memory (ulimit -l, or the container's)",
                       asked, bytes);
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        free_bytes = total = 0;
    return ps_fail(
        error, PS_DEVICE,
        "out of GPU memory: asked for %s (%zu bytes), %s of %s are free: "
        "set run.device_memory, run.block or run.slots lower, or see with nvidia-smi who "
        "uses the GPU",
        asked, bytes, ps_size_text(free_bytes, left, sizeof left),
        ps_size_text(total, all, sizeof all));
}

// The driver pins page after page: asked for more than there is, it would take the machine with it.
static bool exceeds_memory(size_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && bytes / (size_t)page >= (size_t)pages;
}

void *ps_cuda_alloc(struct ps_device *device, enum ps_memory memory, size_t bytes,
                    struct ps_error *error)
{
    void *data = NULL;
    cudaError_t result = cudaErrorMemoryAllocation;
    bytes = bytes > 0 ? bytes : 1;
    if (!ps_cuda_use(device, error))
        return NULL;
    if (memory == PS_MEMORY_DEVICE)
        result = cudaMalloc(&data, bytes);
    else if (!exceeds_memory(bytes))
        result = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
    if (result == cudaSuccess)
        return data;
    fail_alloc(result, memory, bytes, error);
    return NULL;
}

void ps_cuda_free(struct ps_device *device, enum ps_memory memory, void *data)
{
    cudaSetDevice(ps_cuda_device(device)->index);
    if (memory == PS_MEMORY_HOST)
        cudaFreeHost(data);
    else
        cudaFree(data);
}
