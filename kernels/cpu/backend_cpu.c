// SPDX-License-Identifier: Apache-2.0
// The cpu backend: stages compute at once in the calling thread, so a queue holds nothing but the
// times of its marks. Parallelism comes from the runner's slots, one thread each.
#include "kernels/backends.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE (2u << 20)

struct cpu_queue {
    struct ps_queue base;
    int mark_count;
    double marks[];
};

static uint64_t memory_available(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return (uint64_t)kib * 1024;
}

static const char *instruction_set(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return "avx512";
    if (__builtin_cpu_supports("avx2"))
        return "avx2";
    return "sse2";
#else
    return "generic";
#endif
}

static bool cpu_open(const struct ps_device_request *request, struct ps_device **device_out,
                     struct ps_error *error)
{
    struct ps_device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return ps_fail_memory(error, sizeof *device, "the cpu backend");
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    device->backend = &ps_backend_cpu;
    device->request = *request;
    device->memory_total = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    device->memory_free = memory_available();
    snprintf(device->description, sizeof device->description, "%ld cores, %s", cores,
             instruction_set());
    *device_out = device;
    return true;
}

static void cpu_close(struct ps_device *device)
{
    free(device);
}

static void *cpu_alloc(struct ps_device *device, enum ps_memory memory, size_t bytes,
                       struct ps_error *error)
{
    (void)device;
    (void)memory;
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : 256;
    void *data = NULL;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&data, alignment, bytes > 0 ? bytes : 1) != 0) {
        ps_fail_memory(error, bytes, "blocks (set run.memory or run.block lower)");
        return NULL;
    }
    if (bytes >= HUGE_PAGE)
        madvise(data, bytes, MADV_HUGEPAGE); // a hint: refusal changes nothing but speed
    return data;
}

static void cpu_free(struct ps_device *device, enum ps_memory memory, void *data)
{
    (void)device;
    (void)memory;
    free(data);
}

static bool cpu_queue_open(struct ps_device *device, int marks, struct ps_queue **queue_out,
                           struct ps_error *error)
{
    size_t bytes = sizeof(struct cpu_queue) + (size_t)marks * sizeof(double);
    struct cpu_queue *queue = calloc(1, bytes);
    if (queue == NULL)
        return ps_fail_memory(error, bytes, "a queue");
    queue->base.device = device;
    queue->mark_count = marks;
    *queue_out = &queue->base;
    return true;
}

static void cpu_queue_close(struct ps_queue *queue)
{
    free(queue);
}

static bool cpu_copy(struct ps_queue *queue, void *to, const void *from, size_t bytes,
                     struct ps_error *error)
{
    (void)queue;
    (void)error;
    memcpy(to, from, bytes);
    return true;
}

static bool cpu_clear(struct ps_queue *queue, void *data, size_t bytes, struct ps_error *error)
{
    (void)queue;
    (void)error;
    memset(data, 0, bytes);
    return true;
}

static bool valid_mark(const struct cpu_queue *queue, int index, struct ps_error *error)
{
    return (index >= 0 && index < queue->mark_count) ||
           ps_fail(error, PS_BUG, "mark %d of %d", index, queue->mark_count);
}

static bool cpu_mark(struct ps_queue *queue, int index, struct ps_error *error)
{
    struct cpu_queue *own = (struct cpu_queue *)queue;
    if (!valid_mark(own, index, error))
        return false;
    own->marks[index] = ps_clock_ms();
    return true;
}

static bool cpu_wait(struct ps_queue *queue, struct ps_error *error)
{
    (void)queue;
    (void)error;
    return true;
}

static bool cpu_when(struct ps_queue *queue, int index, double *ms_out, struct ps_error *error)
{
    const struct cpu_queue *own = (const struct cpu_queue *)queue;
    if (!valid_mark(own, index, error))
        return false;
    *ms_out = own->marks[index];
    return true;
}

const struct ps_backend ps_backend_cpu = {
    .id = PS_CPU,
    .name = "cpu",
    .unified = true,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .queue_open = cpu_queue_open,
    .queue_close = cpu_queue_close,
    .copy = cpu_copy,
    .clear = cpu_clear,
    .mark = cpu_mark,
    .wait = cpu_wait,
    .when = cpu_when,
};
