// SPDX-License-Identifier: Apache-2.0
// Drivers, libraries and GPUs as doctor shows them. Asks, measures, changes nothing.
#include "kernels/device_info_parts.h"

#include "kernels/cuda/cublas.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/library.h"
#include "kernels/cuda/nvml.h"
#include "kernels/cuda/pcie.h"
#include "kernels/cuda/probe.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ps_nvml *load_nvml(struct ps_nvml *nvml)
{
    struct ps_error error = {0};
    void *symbol;
#define X(name, arguments)                                                                         \
    symbol = ps_library_symbol(PS_LIBNVML, #name, &error);                                         \
    if (symbol == NULL)                                                                            \
        return NULL;                                                                               \
    memcpy(&nvml->name, &symbol, sizeof symbol);
    PS_NVML_FUNCTIONS(X)
#undef X
    return nvml->nvmlInit_v2() == 0 ? nvml : NULL;
}

static void fill_libraries(struct ps_cuda_info *info)
{
    struct ps_error error = {0};
    const struct ps_nvrtc *nvrtc = ps_nvrtc(&error);
    if (nvrtc != NULL) {
        info->nvrtc_version = nvrtc->version;
        snprintf(info->nvrtc_path, sizeof info->nvrtc_path, "%s", ps_library_path(PS_LIBNVRTC));
    }
    error = (struct ps_error){0};
    const struct ps_cublas *cublas = ps_cublas(&error);
    int major = 0, minor = 0;
    if (cublas == NULL)
        return;
    snprintf(info->cublas_path, sizeof info->cublas_path, "%s", ps_library_path(PS_LIBCUBLAS));
    if (cublas->cublasGetProperty(MAJOR_VERSION, &major) == CUBLAS_STATUS_SUCCESS &&
        cublas->cublasGetProperty(MINOR_VERSION, &minor) == CUBLAS_STATUS_SUCCESS)
        info->cublas_version = major * 1000 + minor * 10;
}

static void fill_driver_version(struct ps_cuda_info *info)
{
    struct ps_nvml functions;
    const struct ps_nvml *nvml = info->driver_version[0] == '\0' ? load_nvml(&functions) : NULL;
    if (nvml == NULL)
        return;
    nvml->nvmlSystemGetDriverVersion(info->driver_version, sizeof info->driver_version);
    nvml->nvmlShutdown();
}

void ps_cuda_info_fill(struct ps_cuda_info *info)
{
    snprintf(info->architectures, sizeof info->architectures, "%s", ps_cuda_architectures());
    // First, because it loads libcuda from where cudart would not look.
    if (ps_cuda_missing(info->problem, sizeof info->problem) == NULL)
        info->problem[0] = '\0';
    if (cudaRuntimeGetVersion(&info->runtime_cuda) != cudaSuccess)
        info->runtime_cuda = CUDART_VERSION;
    if (cudaDriverGetVersion(&info->driver_cuda) != cudaSuccess)
        info->driver_cuda = 0;
    if (cudaGetDeviceCount(&info->gpu_count) != cudaSuccess)
        info->gpu_count = 0;
    cudaGetLastError();
    fill_driver_version(info);
    fill_libraries(info);
}

// ---- One GPU ----

static void fill_pcie(struct ps_gpu_info *info)
{
    struct ps_nvml functions;
    struct ps_nvml_device *device;
    struct ps_pcie_link link;
    const struct ps_nvml *nvml = load_nvml(&functions);
    unsigned value;
    ps_pcie_link("/sys/bus/pci/devices", info->bus, &link);
    info->pcie_generation = link.generation;
    info->pcie_generation_max = link.generation_max;
    info->pcie_width = link.width;
    info->pcie_width_max = link.width_max;
    if (nvml == NULL)
        return;
    if (nvml->nvmlDeviceGetHandleByPciBusId_v2(info->bus, &device) == 0) {
        if (nvml->nvmlDeviceGetCurrPcieLinkGeneration(device, &value) == 0)
            info->pcie_generation = (int)value;
        if (nvml->nvmlDeviceGetMaxPcieLinkGeneration(device, &value) == 0)
            info->pcie_generation_max = (int)value;
        if (nvml->nvmlDeviceGetCurrPcieLinkWidth(device, &value) == 0)
            info->pcie_width = (int)value;
        if (nvml->nvmlDeviceGetMaxPcieLinkWidth(device, &value) == 0)
            info->pcie_width_max = (int)value;
    }
    nvml->nvmlShutdown();
}

static void fill_image(struct ps_gpu_info *info)
{
    struct ps_error error = {0};
    cudaError_t result = ps_cuda_probe();
    info->has_kernel_image = result == cudaSuccess;
    if (result == cudaSuccess)
        return;
    ps_cuda_check(result, "loading this program's kernels", &error);
    snprintf(info->image_note, sizeof info->image_note, "%.250s", error.text);
}

bool ps_gpu_info(int index, struct ps_gpu_info *info, struct ps_error *error)
{
    struct cudaDeviceProp properties;
    size_t free_bytes = 0, total_bytes = 0;
    memset(info, 0, sizeof *info);
    if (!ps_cuda_check(cudaSetDevice(index), "cudaSetDevice", error) ||
        !ps_cuda_check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties",
                       error) ||
        !ps_cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo", error) ||
        !ps_cuda_check(cudaDeviceGetPCIBusId(info->bus, sizeof info->bus, index),
                       "cudaDeviceGetPCIBusId", error))
        return false;
    snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    info->major = properties.major;
    info->minor = properties.minor;
    info->multiprocessors = properties.multiProcessorCount;
    info->ecc = properties.ECCEnabled;
    info->memory_free = free_bytes;
    info->memory_total = total_bytes;
    fill_pcie(info);
    fill_image(info);
    return true;
}

// ---- Copies ----

struct copies {
    void *pinned[2], *pageable, *device[2];
    cudaStream_t streams[2];
    cudaEvent_t begin, end;
    size_t bytes;
};

static bool open_copies(struct copies *c, struct ps_error *error)
{
    c->pageable = malloc(c->bytes);
    if (c->pageable == NULL)
        return ps_fail_memory(error, c->bytes, "measuring copies");
    memset(c->pageable, 1, c->bytes); // pages that were never touched would be timed too
    for (int i = 0; i < 2; i++)
        if (!ps_cuda_check(cudaHostAlloc(&c->pinned[i], c->bytes, cudaHostAllocDefault),
                           "cudaHostAlloc", error) ||
            !ps_cuda_check(cudaMalloc(&c->device[i], c->bytes), "cudaMalloc", error) ||
            !ps_cuda_check(cudaStreamCreateWithFlags(&c->streams[i], cudaStreamNonBlocking),
                           "cudaStreamCreateWithFlags", error))
            return false;
    return ps_cuda_check(cudaEventCreate(&c->begin), "cudaEventCreate", error) &&
           ps_cuda_check(cudaEventCreate(&c->end), "cudaEventCreate", error);
}

static void close_copies(struct copies *c)
{
    for (int i = 0; i < 2; i++) {
        if (c->streams[i] != NULL)
            cudaStreamDestroy(c->streams[i]);
        cudaFree(c->device[i]);
        cudaFreeHost(c->pinned[i]);
    }
    if (c->begin != NULL)
        cudaEventDestroy(c->begin);
    if (c->end != NULL)
        cudaEventDestroy(c->end);
    free(c->pageable);
}

#define REPEATS 5

static bool time_one(struct copies *c, void *to, const void *from, double *rate,
                     struct ps_error *error)
{
    float ms, best = 1e30f;
    for (int i = 0; i < REPEATS; i++) {
        if (!ps_cuda_check(cudaEventRecord(c->begin, c->streams[0]), "cudaEventRecord", error) ||
            !ps_cuda_check(cudaMemcpyAsync(to, from, c->bytes, cudaMemcpyDefault, c->streams[0]),
                           "cudaMemcpyAsync", error) ||
            !ps_cuda_check(cudaEventRecord(c->end, c->streams[0]), "cudaEventRecord", error) ||
            !ps_cuda_check(cudaEventSynchronize(c->end), "cudaEventSynchronize", error) ||
            !ps_cuda_check(cudaEventElapsedTime(&ms, c->begin, c->end), "cudaEventElapsedTime",
                           error))
            return false;
        best = ms < best ? ms : best;
    }
    *rate = (double)c->bytes / best * 1e-6;
    return true;
}

static bool time_both(struct copies *c, double *rate, struct ps_error *error)
{
    float ms, best = 1e30f;
    for (int i = 0; i < REPEATS; i++) {
        if (!ps_cuda_check(cudaEventRecord(c->begin, c->streams[0]), "cudaEventRecord", error) ||
            !ps_cuda_check(cudaStreamWaitEvent(c->streams[1], c->begin, 0), "cudaStreamWaitEvent",
                           error) ||
            !ps_cuda_check(cudaMemcpyAsync(c->device[0], c->pinned[0], c->bytes, cudaMemcpyDefault,
                                           c->streams[0]),
                           "cudaMemcpyAsync", error) ||
            !ps_cuda_check(cudaMemcpyAsync(c->pinned[1], c->device[1], c->bytes, cudaMemcpyDefault,
                                           c->streams[1]),
                           "cudaMemcpyAsync", error) ||
            !ps_cuda_check(cudaStreamSynchronize(c->streams[1]), "cudaStreamSynchronize", error) ||
            !ps_cuda_check(cudaEventRecord(c->end, c->streams[0]), "cudaEventRecord", error) ||
            !ps_cuda_check(cudaEventSynchronize(c->end), "cudaEventSynchronize", error) ||
            !ps_cuda_check(cudaEventElapsedTime(&ms, c->begin, c->end), "cudaEventElapsedTime",
                           error))
            return false;
        best = ms < best ? ms : best;
    }
    *rate = 2 * (double)c->bytes / best * 1e-6;
    return true;
}

bool ps_gpu_copy_rates(int index, uint64_t bytes, struct ps_copy_rates *rates,
                       struct ps_error *error)
{
    struct copies c = {.bytes = (size_t)bytes};
    bool fine = ps_cuda_check(cudaSetDevice(index), "cudaSetDevice", error) &&
                open_copies(&c, error) &&
                time_one(&c, c.device[0], c.pinned[0], &rates->pinned_to_device, error) &&
                time_one(&c, c.pinned[0], c.device[0], &rates->pinned_to_host, error) &&
                time_both(&c, &rates->pinned_both, error) &&
                time_one(&c, c.device[0], c.pageable, &rates->pageable_to_device, error) &&
                time_one(&c, c.pageable, c.device[0], &rates->pageable_to_host, error);
    close_copies(&c);
    return fine;
}
