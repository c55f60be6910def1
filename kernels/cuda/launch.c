// SPDX-License-Identifier: Apache-2.0
// Launching kernels, and choosing the shape of a launch.
#include "kernels/cuda/driver.h"
#include "kernels/cuda/nvtx.h"

#include <stdio.h>

bool ps_cuda_launch(struct ps_queue *queue, CUfunction kernel, unsigned grid, unsigned threads,
                    unsigned shared_bytes, void **arguments, const char *name,
                    struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    char call[128];
    if (driver == NULL || !ps_cuda_use(queue->device, error))
        return false;
    ps_nvtx_open(name);
    CUresult result =
        driver->cuLaunchKernel(kernel, grid, 1, 1, threads, 1, 1, shared_bytes,
                               (CUstream)ps_cuda_queue(queue)->stream, arguments, NULL);
    ps_nvtx_close();
    if (result == CUDA_SUCCESS)
        return true;
    snprintf(call, sizeof call, "launching kernel %s (%u blocks of %u threads)", name, grid,
             threads);
    return ps_cu_check(result, call, error);
}

static bool fill_shape(struct ps_device *device, struct ps_kernel_info *info, const char *name,
                       size_t shared_bytes, int blocks, int registers, int static_shared, int local,
                       struct ps_error *error)
{
    int most = 0;
    if (!ps_cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor,
                                              ps_cuda_device(device)->index),
                       "cudaDeviceGetAttribute", error))
        return false;
    if (blocks < 1)
        return ps_fail(error, PS_DEVICE,
                       "kernel %s cannot run with %d threads per block (%d "
                       "registers each, %zu bytes of shared memory): set run.cuda.threads lower",
                       name, info->threads, registers, shared_bytes + (size_t)static_shared);
    snprintf(info->name, sizeof info->name, "%s", name);
    info->registers = registers;
    info->shared_bytes = (int)shared_bytes + static_shared;
    info->local_bytes = local;
    info->blocks_per_multiprocessor = blocks;
    info->occupancy = most > 0 ? (double)(blocks * info->threads) / most : 0;
    return true;
}

static bool get_attribute(CUfunction kernel, CUfunction_attribute attribute, int *out,
                          struct ps_error *error)
{
    return ps_cu_check(ps_driver(error)->cuFuncGetAttribute(out, attribute, kernel),
                       "cuFuncGetAttribute", error);
}

bool ps_cuda_shape(struct ps_device *device, CUfunction kernel, const char *name,
                   size_t shared_bytes, struct ps_kernel_info *info, struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    int grid = 0, threads = device->request.threads_per_block, blocks = 0;
    int registers = 0, shared = 0, local = 0;
    if (driver == NULL || !ps_cuda_use(device, error))
        return false;
    if (threads == 0 && !ps_cu_check(driver->cuOccupancyMaxPotentialBlockSize(
                                         &grid, &threads, kernel, NULL, shared_bytes, 0),
                                     "cuOccupancyMaxPotentialBlockSize", error))
        return false;
    info->threads = threads;
    if (!get_attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, &registers, error) ||
        !get_attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared, error) ||
        !get_attribute(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local, error))
        return false;
    if (!ps_cu_check(driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                                         shared_bytes),
                     "cuOccupancyMaxActiveBlocksPerMultiprocessor", error))
        return false;
    return fill_shape(device, info, name, shared_bytes, blocks, registers, shared, local, error);
}

bool ps_cuda_shape_static(struct ps_device *device, const void *kernel, const char *name,
                          size_t shared_bytes, struct ps_kernel_info *info, struct ps_error *error)
{
    struct cudaFuncAttributes attributes;
    int threads = device->request.threads_per_block, blocks = 0;
    if (!ps_cuda_use(device, error) ||
        !ps_cuda_check(cudaFuncGetAttributes(&attributes, kernel), name, error))
        return false;
    if (threads == 0)
        threads = attributes.maxThreadsPerBlock < 256 ? attributes.maxThreadsPerBlock : 256;
    info->threads = threads;
    if (!ps_cuda_check(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor", error))
        return false;
    return fill_shape(device, info, name, shared_bytes, blocks, attributes.numRegs,
                      (int)attributes.sharedSizeBytes, (int)attributes.localSizeBytes, error);
}
