// SPDX-License-Identifier: Apache-2.0
// The cuda backend: a non-blocking stream per queue, pinned host memory, events as marks.
#include "kernels/backends.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/library.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ps_cuda_missing(char *out, size_t out_size)
{
    struct ps_error error = {0};
    int count = 0;
    if (ps_library_load(PS_LIBCUDA, &error) == NULL) {
        snprintf(out, out_size, "there is no NVIDIA driver here (libcuda.so.1 not found)");
        return out;
    }
    if (ps_cuda_check(cudaGetDeviceCount(&count), "cudaGetDeviceCount", &error) && count > 0)
        return NULL;
    snprintf(out, out_size, "no GPU can be used: %s",
             error.status != PS_OK ? error.text : "the driver reports none");
    return out;
}

bool ps_cuda_use(struct ps_device *device, struct ps_error *error)
{
    return ps_cuda_check(cudaSetDevice(ps_cuda_device(device)->index), "cudaSetDevice", error);
}

// ---- Device ----

static bool check_index(int index, struct ps_error *error)
{
    char text[400];
    int count = 0;
    const char *missing = ps_cuda_missing(text, sizeof text);
    if (missing != NULL)
        return ps_fail(error, PS_DEVICE, "the cuda backend cannot start: %s", missing);
    if (!ps_cuda_check(cudaGetDeviceCount(&count), "cudaGetDeviceCount", error))
        return false;
    if (index < count)
        return true;
    struct ps_text list = {0};
    for (int i = 0; i < count; i++) {
        struct cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, i) == cudaSuccess)
            ps_text_printf(&list, "%s%d: %s", i > 0 ? ", " : "", i, properties.name);
    }
    ps_fail(error, PS_DEVICE, "run.device is %d, but there %s %d GPU%s: %s", index,
            count == 1 ? "is" : "are", count, count == 1 ? "" : "s", list.data ? list.data : "?");
    ps_text_free(&list);
    return false;
}

static bool describe(struct ps_cuda_device *device, struct ps_error *error)
{
    struct cudaDeviceProp properties;
    size_t free_bytes = 0, total_bytes = 0;
    if (!ps_cuda_check(cudaGetDeviceProperties(&properties, device->index),
                       "cudaGetDeviceProperties", error) ||
        !ps_cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo", error))
        return false;
    device->major = properties.major;
    device->minor = properties.minor;
    device->multiprocessors = properties.multiProcessorCount;
    device->base.memory_free = free_bytes;
    device->base.memory_total = total_bytes;
    snprintf(device->base.description, sizeof device->base.description, "%.90s (sm_%d%d)",
             properties.name, properties.major, properties.minor);
    return true;
}

// The one moment at which both clocks are known.
static bool start_epoch(struct ps_cuda_device *device, struct ps_error *error)
{
    if (!ps_cuda_check(cudaEventCreate(&device->epoch), "cudaEventCreate", error) ||
        !ps_cuda_check(cudaEventRecord(device->epoch, 0), "cudaEventRecord", error) ||
        !ps_cuda_check(cudaEventSynchronize(device->epoch), "cudaEventSynchronize", error))
        return false;
    device->epoch_ms = ps_clock_ms();
    return true;
}

static void cuda_close(struct ps_device *base)
{
    struct ps_cuda_device *device = ps_cuda_device(base);
    cudaSetDevice(device->index);
    if (device->epoch != NULL)
        cudaEventDestroy(device->epoch);
    free(device);
}

static bool cuda_open(const struct ps_device_request *request, struct ps_device **device_out,
                      struct ps_error *error)
{
    if (!check_index(request->device, error))
        return false;
    struct ps_cuda_device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return ps_fail_memory(error, sizeof *device, "the cuda backend");
    device->base.backend = &ps_backend_cuda;
    device->base.request = *request;
    device->index = request->device;
    // Threads sleep while they wait: they would take the cores that read and decode.
    if (ps_cuda_check(cudaInitDevice(device->index, cudaDeviceScheduleBlockingSync,
                                     cudaInitDeviceFlagsAreValid),
                      "cudaInitDevice", error) &&
        ps_cuda_use(&device->base, error) && describe(device, error) && start_epoch(device, error)) {
        *device_out = &device->base;
        return true;
    }
    cuda_close(&device->base);
    return false;
}

// ---- Memory ----

static void *cuda_alloc(struct ps_device *device, enum ps_memory memory, size_t bytes,
                        struct ps_error *error)
{
    void *data = NULL;
    char call[160];
    bytes = bytes > 0 ? bytes : 1;
    if (!ps_cuda_use(device, error))
        return NULL;
    if (memory == PS_MEMORY_HOST) {
        snprintf(call, sizeof call, "cudaHostAlloc of %zu bytes of pinned memory", bytes);
        return ps_cuda_check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), call, error)
                   ? data
                   : NULL;
    }
    cudaError_t result = cudaMalloc(&data, bytes);
    if (result == cudaSuccess)
        return data;
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    snprintf(call, sizeof call, "cudaMalloc of %zu bytes (%zu of %zu are free)", bytes, free_bytes,
             total);
    ps_cuda_check(result, call, error);
    return NULL;
}

static void cuda_free(struct ps_device *device, enum ps_memory memory, void *data)
{
    cudaSetDevice(ps_cuda_device(device)->index);
    if (memory == PS_MEMORY_HOST)
        cudaFreeHost(data);
    else
        cudaFree(data);
}

// ---- Queues ----

static void cuda_queue_close(struct ps_queue *base)
{
    struct ps_cuda_queue *queue = ps_cuda_queue(base);
    cudaSetDevice(ps_cuda_device(base->device)->index);
    for (int i = 0; i < queue->mark_count; i++)
        if (queue->marks[i] != NULL)
            cudaEventDestroy(queue->marks[i]);
    if (queue->stream != NULL)
        cudaStreamDestroy(queue->stream);
    free(queue->marks);
    free(queue);
}

static bool cuda_queue_open(struct ps_device *device, int marks, struct ps_queue **queue_out,
                            struct ps_error *error)
{
    struct ps_cuda_queue *queue = calloc(1, sizeof *queue);
    cudaEvent_t *list = calloc((size_t)marks + 1, sizeof *list);
    if (queue == NULL || list == NULL) {
        free(queue);
        free(list);
        return ps_fail_memory(error, sizeof *queue, "a queue");
    }
    queue->base.device = device;
    queue->marks = list;
    queue->mark_count = marks;
    bool fine = ps_cuda_use(device, error) &&
                ps_cuda_check(cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking),
                              "cudaStreamCreateWithFlags", error);
    for (int i = 0; fine && i < marks; i++)
        fine = ps_cuda_check(cudaEventCreateWithFlags(&list[i], cudaEventBlockingSync),
                             "cudaEventCreateWithFlags", error);
    if (!fine) {
        cuda_queue_close(&queue->base);
        return false;
    }
    *queue_out = &queue->base;
    return true;
}

static bool cuda_copy(struct ps_queue *queue, void *to, const void *from, size_t bytes,
                      struct ps_error *error)
{
    char call[64];
    if (!ps_cuda_use(queue->device, error))
        return false;
    cudaError_t result =
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, ps_cuda_queue(queue)->stream);
    if (result == cudaSuccess)
        return true;
    snprintf(call, sizeof call, "cudaMemcpyAsync of %zu bytes", bytes);
    return ps_cuda_check(result, call, error);
}

static bool cuda_clear(struct ps_queue *queue, void *data, size_t bytes, struct ps_error *error)
{
    return ps_cuda_use(queue->device, error) &&
           ps_cuda_check(cudaMemsetAsync(data, 0, bytes, ps_cuda_queue(queue)->stream),
                         "cudaMemsetAsync", error);
}

static bool valid_mark(struct ps_queue *queue, int index, struct ps_error *error)
{
    return (index >= 0 && index < ps_cuda_queue(queue)->mark_count) ||
           ps_fail(error, PS_BUG, "mark %d of %d", index, ps_cuda_queue(queue)->mark_count);
}

static bool cuda_mark(struct ps_queue *queue, int index, struct ps_error *error)
{
    struct ps_cuda_queue *own = ps_cuda_queue(queue);
    return valid_mark(queue, index, error) && ps_cuda_use(queue->device, error) &&
           ps_cuda_check(cudaEventRecord(own->marks[index], own->stream), "cudaEventRecord", error);
}

static bool cuda_wait(struct ps_queue *queue, struct ps_error *error)
{
    return ps_cuda_use(queue->device, error) &&
           ps_cuda_check(cudaStreamSynchronize(ps_cuda_queue(queue)->stream),
                         "waiting for the GPU (cudaStreamSynchronize)", error);
}

static bool cuda_when(struct ps_queue *queue, int index, double *ms_out, struct ps_error *error)
{
    struct ps_cuda_device *device = ps_cuda_device(queue->device);
    float ms = 0;
    if (!valid_mark(queue, index, error) ||
        !ps_cuda_check(cudaEventElapsedTime(&ms, device->epoch, ps_cuda_queue(queue)->marks[index]),
                       "cudaEventElapsedTime", error))
        return false;
    *ms_out = device->epoch_ms + (double)ms;
    return true;
}

const struct ps_backend ps_backend_cuda = {
    .id = PS_CUDA,
    .name = "cuda",
    .unified = false,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .queue_open = cuda_queue_open,
    .queue_close = cuda_queue_close,
    .copy = cuda_copy,
    .clear = cuda_clear,
    .mark = cuda_mark,
    .wait = cuda_wait,
    .when = cuda_when,
};
