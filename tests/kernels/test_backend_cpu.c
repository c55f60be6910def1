// SPDX-License-Identifier: Apache-2.0
// The cpu backend's row, and what builds and machines without a GPU say.
#include "check.h"

#include "kernels/backend.h"
#include "kernels/device_info.h"
#include "kernels/measure.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static struct ps_device *open_cpu(void)
{
    struct ps_device_request request = {.device = 0, .threads_per_block = 0};
    struct ps_device *device = NULL;
    struct ps_error error = {0};
    CU_ASSERT_FATAL(ps_backend(PS_CPU)->open(&request, &device, &error));
    return device;
}

static void test_row(void)
{
    const struct ps_backend *cpu = ps_backend(PS_CPU);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cpu);
    CU_ASSERT_EQUAL(cpu->id, PS_CPU);
    CU_ASSERT_STRING_EQUAL(cpu->name, "cpu");
    CU_ASSERT(cpu->unified);
    struct ps_device *device = open_cpu();
    CU_ASSERT_PTR_EQUAL(device->backend, cpu);
    CU_ASSERT(strstr(device->description, "core") != NULL);
    CU_ASSERT(device->memory_free > 0 && device->memory_free <= device->memory_total);
    cpu->close(device);
}

static void test_memory(void)
{
    static const size_t sizes[] = {0, 1, 255, 257, 4096, 5 << 20};
    const struct ps_backend *cpu = ps_backend(PS_CPU);
    struct ps_device *device = open_cpu();
    struct ps_error error = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int memory = PS_MEMORY_HOST; memory <= PS_MEMORY_DEVICE; memory++) {
            void *data = cpu->alloc(device, (enum ps_memory)memory, sizes[i], &error);
            CU_ASSERT_PTR_NOT_NULL_FATAL(data);
            CU_ASSERT_EQUAL((uintptr_t)data % 256, 0);
            memset(data, 0xa5, sizes[i]);
            cpu->free(device, (enum ps_memory)memory, data);
        }
    CU_ASSERT_PTR_NULL(cpu->alloc(device, PS_MEMORY_HOST, SIZE_MAX - 4096, &error));
    CU_ASSERT_EQUAL(error.status, PS_DEVICE);
    CU_ASSERT(strstr(error.text, "run.memory") != NULL);
    cpu->close(device);
}

static void test_copy_and_clear(void)
{
    const struct ps_backend *cpu = ps_backend(PS_CPU);
    struct ps_device *device = open_cpu();
    struct ps_queue *queue = NULL;
    struct ps_error error = {0};
    char from[] = "penstock", to[sizeof from] = {0};
    CU_ASSERT_FATAL(cpu->queue_open(device, 0, &queue, &error));
    CU_ASSERT_PTR_EQUAL(queue->device, device);
    CU_ASSERT(cpu->copy(queue, to, from, sizeof from, &error));
    CU_ASSERT(cpu->copy(queue, to, from, 0, &error));
    CU_ASSERT(cpu->wait(queue, &error));
    CU_ASSERT_STRING_EQUAL(to, "penstock");
    CU_ASSERT(cpu->clear(queue, to, 3, &error));
    CU_ASSERT(memcmp(to, "\0\0\0stock", 9) == 0);
    cpu->queue_close(queue);
    cpu->close(device);
}

static void test_marks(void)
{
    const struct ps_backend *cpu = ps_backend(PS_CPU);
    struct ps_device *device = open_cpu();
    struct ps_queue *queue = NULL;
    struct ps_error error = {0};
    double times[3], again, before = ps_clock_ms();
    CU_ASSERT_FATAL(cpu->queue_open(device, 3, &queue, &error));
    for (int i = 0; i < 3; i++)
        CU_ASSERT(cpu->mark(queue, i, &error));
    double after = ps_clock_ms();
    for (int i = 0; i < 3; i++)
        CU_ASSERT(cpu->when(queue, i, &times[i], &error));
    CU_ASSERT(before <= times[0] && times[0] <= times[1] && times[1] <= times[2]);
    CU_ASSERT(times[2] <= after);
    while (ps_clock_ms() <= times[2])
        ;
    CU_ASSERT(cpu->mark(queue, 0, &error)); // overwrites
    CU_ASSERT(cpu->when(queue, 0, &again, &error));
    CU_ASSERT(again > times[2]);
    CU_ASSERT_EQUAL(error.status, PS_OK);
    CU_ASSERT_FALSE(cpu->mark(queue, 3, &error));
    CU_ASSERT_EQUAL(error.status, PS_BUG);
    error = (struct ps_error){0};
    CU_ASSERT_FALSE(cpu->when(queue, -1, &again, &error));
    cpu->queue_close(queue);
    cpu->close(device);
}

// Everything about the GPU fails alike, in words, where there is none.
static void test_cuda_is_missing(void)
{
    char text[512] = "";
    struct ps_cuda_info info;
    struct ps_gpu_info gpu;
    struct ps_copy_rates rates;
    struct ps_vector_add add;
    struct ps_matmul_times times;
    struct ps_error error = {0};
    ps_cuda_info(&info);
    CU_ASSERT_EQUAL(info.built_in, ps_backend(PS_CUDA) != NULL);
    if (ps_cuda_missing(text, sizeof text) == NULL) {
        CU_ASSERT_STRING_EQUAL(info.problem, "");
        CU_ASSERT(info.gpu_count > 0 && info.driver_cuda > 0);
        return;
    }
    CU_ASSERT(strlen(text) > 20 && strchr(text, '\n') == NULL);
    CU_ASSERT(info.problem[0] != '\0');
    CU_ASSERT_EQUAL(info.gpu_count, 0);
    CU_ASSERT_FALSE(ps_gpu_info(0, &gpu, &error));
    CU_ASSERT_EQUAL(error.status, PS_DEVICE);
    error = (struct ps_error){0};
    CU_ASSERT_FALSE(ps_gpu_copy_rates(0, 1 << 20, &rates, &error));
    CU_ASSERT_EQUAL(error.status, PS_DEVICE);
    error = (struct ps_error){0};
    CU_ASSERT_FALSE(ps_measure_vector_add(0, 1000, &add, &error));
    CU_ASSERT_FALSE(ps_measure_matmul(0, 100, &times, &error));
    CU_ASSERT_EQUAL(error.status, PS_DEVICE);
    if (ps_backend(PS_CUDA) == NULL)
        return;
    struct ps_device_request request = {0};
    struct ps_device *device = NULL;
    error = (struct ps_error){0};
    CU_ASSERT_FALSE(ps_backend(PS_CUDA)->open(&request, &device, &error));
    CU_ASSERT_PTR_NULL(device);
    CU_ASSERT_EQUAL(error.status, PS_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, text));
}

int main(void)
{
    static const struct check_test tests[] = {
        {"row", test_row},
        {"memory", test_memory},
        {"copy and clear", test_copy_and_clear},
        {"marks", test_marks},
        {"a missing GPU is told in words", test_cuda_is_missing},
        {NULL, NULL},
    };
    return check_main("cpu backend", tests);
}
