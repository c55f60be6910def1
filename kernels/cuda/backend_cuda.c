// SPDX-License-Identifier: Apache-2.0
// The cuda backend: a non-blocking stream per queue, pinned host memory, events as marks.
//
// Waiting threads sleep (blocking sync) instead of spinning: a wake-up costs 20 to 50 us, once per
// block of some milliseconds, while spinning would take the cores that read and decode.
#include "kernels/backends.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/nvtx.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

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

static void cuda_close(struct ps_device *base)
{
    free(ps_cuda_device(base));
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
    if (ps_cuda_check(cudaInitDevice(device->index, cudaDeviceScheduleBlockingSync,
                                     cudaInitDeviceFlagsAreValid),
                      "cudaInitDevice", error) &&
        ps_cuda_use(&device->base, error) && describe(device, error)) {
        *device_out = &device->base;
        return true;
    }
    cuda_close(&device->base);
    return false;
}

// ---- Queues ----

// Notes the GPU's and the host's time of one moment. The stream is idle, so spinning is short and
// tells the moment better than sleeping would.
static bool set_anchor(struct ps_cuda_queue *queue, int index, struct ps_error *error)
{
    struct ps_cuda_anchor *anchor = &queue->anchors[index];
    cudaError_t result = cudaEventRecord(anchor->event, queue->stream);
    while (result == cudaSuccess && (result = cudaEventQuery(anchor->event)) == cudaErrorNotReady)
        result = cudaSuccess;
    anchor->ms = ps_clock_ms();
    if (result == cudaSuccess)
        cudaGetLastError(); // "not ready" is no error that the next kernel launch should report
    return ps_cuda_check(result, "cudaEventRecord", error);
}

static void cuda_queue_close(struct ps_queue *base)
{
    struct ps_cuda_queue *queue = ps_cuda_queue(base);
    cudaSetDevice(ps_cuda_device(base->device)->index);
    for (int i = 0; i < queue->mark_count; i++)
        if (queue->marks[i] != NULL)
            cudaEventDestroy(queue->marks[i]);
    for (int i = 0; i < 2; i++)
        if (queue->anchors[i].event != NULL)
            cudaEventDestroy(queue->anchors[i].event);
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
    for (int i = 0; fine && i < 2; i++)
        fine = ps_cuda_check(cudaEventCreate(&queue->anchors[i].event), "cudaEventCreate", error);
    if (!fine || !set_anchor(queue, 0, error)) {
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
    if (bytes == 0)
        return true;
    if (!ps_cuda_use(queue->device, error))
        return false;
    ps_nvtx_open("copy");
    cudaError_t result =
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, ps_cuda_queue(queue)->stream);
    ps_nvtx_close();
    if (result == cudaSuccess)
        return true;
    snprintf(call, sizeof call, "cudaMemcpyAsync of %zu bytes", bytes);
    return ps_cuda_check(result, call, error);
}

static bool cuda_clear(struct ps_queue *queue, void *data, size_t bytes, struct ps_error *error)
{
    return bytes == 0 ||
           (ps_cuda_use(queue->device, error) &&
            ps_cuda_check(cudaMemsetAsync(data, 0, bytes, ps_cuda_queue(queue)->stream),
                          "cudaMemsetAsync", error));
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

// cudaEventElapsedTime is a float: after a minute it is good to 4 us, after a day to 8 ms, and the
// two clocks drift apart. So the anchor is renewed every minute; marks of the blocks that are still
// to be asked about lie after the older one, which stays until the next wait.
#define ANCHOR_MS 60e3

static bool renew_anchor(struct ps_cuda_queue *queue, struct ps_error *error)
{
    int next = !queue->anchor;
    queue->renewed = ps_clock_ms() - queue->anchors[queue->anchor].ms > ANCHOR_MS;
    return !queue->renewed || set_anchor(queue, next, error);
}

static bool cuda_wait(struct ps_queue *base, struct ps_error *error)
{
    struct ps_cuda_queue *queue = ps_cuda_queue(base);
    if (!ps_cuda_use(base->device, error))
        return false;
    ps_nvtx_open("wait");
    cudaError_t result = cudaStreamSynchronize(queue->stream);
    ps_nvtx_close();
    if (queue->renewed)
        queue->anchor = !queue->anchor;
    queue->renewed = false;
    return ps_cuda_check(result, "waiting for the GPU (cudaStreamSynchronize)", error) &&
           renew_anchor(queue, error);
}

static bool cuda_when(struct ps_queue *base, int index, double *ms_out, struct ps_error *error)
{
    struct ps_cuda_queue *queue = ps_cuda_queue(base);
    const struct ps_cuda_anchor *anchor = &queue->anchors[queue->anchor];
    float ms = 0;
    if (!valid_mark(base, index, error) || !ps_cuda_use(base->device, error) ||
        !ps_cuda_check(cudaEventElapsedTime(&ms, anchor->event, queue->marks[index]),
                       "cudaEventElapsedTime", error))
        return false;
    *ms_out = anchor->ms + (double)ms;
    return true;
}

const struct ps_backend ps_backend_cuda = {
    .id = PS_CUDA,
    .name = "cuda",
    .unified = false,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = ps_cuda_alloc,
    .free = ps_cuda_free,
    .queue_open = cuda_queue_open,
    .queue_close = cuda_queue_close,
    .copy = cuda_copy,
    .clear = cuda_clear,
    .mark = cuda_mark,
    .wait = cuda_wait,
    .when = cuda_when,
};
