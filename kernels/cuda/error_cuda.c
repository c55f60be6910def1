// SPDX-License-Identifier: Apache-2.0
// CUDA errors in words: what failed, what usually causes it, what to do.
#include "kernels/cuda/driver.h"

#include <stdio.h>

#ifndef PS_CUDA_ARCHITECTURES
#error "cmake/KernelFlags.cmake says which GPU architectures are built"
#endif

const char *ps_cuda_architectures(void)
{
    return PS_CUDA_ARCHITECTURES;
}

static const struct {
    cudaError_t code;
    const char *advice;
} table[] = {
    {cudaErrorMemoryAllocation,
     "the GPU has not enough free memory: set run.block, run.slots or run.device_memory lower, or "
     "see with nvidia-smi who uses it"},
    {cudaErrorNoKernelImageForDevice,
     "build with -DCMAKE_CUDA_ARCHITECTURES of this GPU, or with a newer CUDA toolkit"},
    {cudaErrorInvalidDevice, "there is no GPU of that number: `nvidia-smi -L` lists them"},
    {cudaErrorStubLibrary,
     "the toolkit's stub libcuda was loaded: take its folder out of LD_LIBRARY_PATH"},
    {cudaErrorSystemNotReady, "start nvidia-fabricmanager, or restart the machine"},
    {cudaErrorSystemDriverMismatch,
     "libcuda and the kernel module are of different versions: restart after a driver update"},
    {cudaErrorCompatNotSupportedOnDevice,
     "remove the cuda-compat package: it is for data-centre GPUs only"},
    {cudaErrorUnsupportedPtxVersion, "the PTX is newer than the driver: update the driver, or "
                                     "build with machine code for this GPU"},
    {cudaErrorInvalidPtx, "the PTX is damaged or not for this GPU"},
    {cudaErrorIllegalInstruction,
     "a kernel's code was damaged or jumped astray; run under `compute-sanitizer`"},
    {cudaErrorInvalidAddressSpace,
     "a kernel mixed up shared and global memory; run under `compute-sanitizer`"},
    {cudaErrorInvalidPc, "a kernel jumped astray; run under `compute-sanitizer`"},
    {cudaErrorHardwareStackError, "a kernel ran out of stack or broke it"},
    {cudaErrorNvlinkUncorrectable, "a fault of NVLink: have the machine checked"},
    {cudaErrorMpsConnectionFailed,
     "the MPS server does not answer: is nvidia-cuda-mps-control up?"},
    {cudaErrorUnknown, "look at dmesg for NVRM or Xid; after sleep, reload the nvidia_uvm module"},
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

// "this program has code for 75 80 90, the GPU is sm_61: "
static void describe_image(char *out, size_t size)
{
    int device = 0, major = 0, minor = 0;
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess)
        snprintf(out, size,
                 "this program has code for %.200s, the GPU is sm_%d%d: ", PS_CUDA_ARCHITECTURES,
                 major, minor);
}

static bool report(const char *call, const char *name, const char *text, int code,
                   struct ps_error *error)
{
    const char *help = advice(code);
    char have[320] = "";
    if (code == cudaErrorNoKernelImageForDevice)
        describe_image(have, sizeof have);
    return ps_fail(error, PS_DEVICE, "%s failed: %s (%s)%s%s%s", call, name, text,
                   help != NULL ? ": " : "", have, help != NULL ? help : "");
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
