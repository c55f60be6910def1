// SPDX-License-Identifier: Apache-2.0
// CUDA errors in words: what failed, what usually causes it, what to do.
#include "kernels/cuda/driver.h"

#include <stdio.h>

static const struct {
    cudaError_t code;
    const char *advice;
} table[] = {
    {cudaErrorMemoryAllocation,
     "the GPU has not enough free memory: set run.block, run.slots or run.device_memory lower, or "
     "see with nvidia-smi who uses it"},
    {cudaErrorNoKernelImageForDevice,
     "this program holds no machine code for this GPU's architecture: build it with the GPU's "
     "architecture (CMAKE_CUDA_ARCHITECTURES) or a newer CUDA toolkit; `penstock doctor` tells which"},
    {cudaErrorInsufficientDriver,
     "the NVIDIA driver is older than the CUDA runtime of this program: update the driver; "
     "`penstock doctor` shows both versions"},
    {cudaErrorNoDevice,
     "no GPU is visible: look at nvidia-smi, CUDA_VISIBLE_DEVICES and the permissions of "
     "/dev/nvidia*"},
    {cudaErrorIllegalAddress,
     "a kernel read or wrote outside its arrays; run under `compute-sanitizer` to see the line"},
    {cudaErrorMisalignedAddress,
     "a kernel used an address that is not a multiple of the element size; run under "
     "`compute-sanitizer`"},
    {cudaErrorLaunchFailure, "a kernel crashed; run under `compute-sanitizer` to see the line"},
    {cudaErrorLaunchTimeout,
     "a kernel ran longer than the display driver allows: set run.block lower, or use a GPU "
     "without a display"},
    {cudaErrorLaunchOutOfResources,
     "a kernel wants more registers or shared memory than a block of this many threads has: set "
     "run.cuda.threads lower"},
    {cudaErrorInvalidConfiguration, "the launch shape is not possible: set run.cuda.threads to at "
                                    "most 1024"},
    {cudaErrorECCUncorrectable,
     "the GPU's memory has a fault that it could not correct: results are not to be trusted; have "
     "the GPU checked"},
    {cudaErrorDevicesUnavailable, "the GPU is in exclusive use by another process, or was lost"},
    {cudaErrorInitializationError, "the driver could not start; look at `nvidia-smi` and dmesg"},
};

// Runtime and driver share their numbers (driver_types.h: "same as CUresult").
static const char *advice(int code)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if ((int)table[i].code == code)
            return table[i].advice;
    return NULL;
}

static bool report(const char *call, const char *name, const char *text, int code,
                   struct ps_error *error)
{
    const char *help = advice(code);
    return ps_fail(error, PS_DEVICE, "%s failed: %s (%s)%s%s", call, name, text,
                   help != NULL ? ": " : "", help != NULL ? help : "");
}

bool ps_cuda_check(cudaError_t result, const char *call, struct ps_error *error)
{
    if (result == cudaSuccess)
        return true;
    cudaGetLastError(); // so that an error that can be recovered from is not seen twice
    return report(call, cudaGetErrorName(result), cudaGetErrorString(result), (int)result, error);
}

bool ps_cu_check(CUresult result, const char *call, struct ps_error *error)
{
    const char *name = "?", *text = "?";
    if (result == CUDA_SUCCESS)
        return true;
    const struct ps_driver *driver = ps_driver(error);
    if (driver != NULL) {
        driver->cuGetErrorName(result, &name);
        driver->cuGetErrorString(result, &text);
    }
    return report(call, name != NULL ? name : "?", text != NULL ? text : "?", (int)result, error);
}
