// SPDX-License-Identifier: Apache-2.0
// The cuda backend on a real GPU: memory, copies, times, kernels compiled at run time, and what
// errors say. Two tests run this program again, because they spoil CUDA for the whole process.
#include "check.h"

#if PS_HAVE_CUDA
#include "kernels/cuda/cuda.h"
#include "kernels/device_info.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ps_backend *cuda;
static struct ps_device *device;
static struct ps_queue *queue;

// compute-sanitizer is there to report what these tests provoke.
static bool errors_are_watched(void)
{
    return getenv("PS_TEST_QUICK") != NULL || getenv("CUDA_INJECTION64_PATH") != NULL;
}

static void expect_words(const struct ps_error *error, const char *words)
{
    CU_ASSERT_EQUAL(error->status, PS_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error->text, words));
    if (strstr(error->text, words) == NULL)
        printf("\n%s\n", error->text);
}

static void test_open(void)
{
    struct ps_device_request request = {.device = 99};
    struct ps_device *none = NULL;
    struct ps_error error = {0};
    CU_ASSERT_PTR_NOT_NULL(strstr(device->description, "(sm_"));
    CU_ASSERT(device->memory_free > 0 && device->memory_free <= device->memory_total);
    CU_ASSERT_FALSE(cuda->open(&request, &none, &error));
    CU_ASSERT_PTR_NULL(none);
    expect_words(&error, "run.device is 99, but there ");
    expect_words(&error, "0: ");
}

static void *take(enum ps_memory memory, size_t bytes)
{
    struct ps_error error = {0};
    void *data = cuda->alloc(device, memory, bytes, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    CU_ASSERT_EQUAL((uintptr_t)data % 256, 0);
    return data;
}

static void test_copies(void)
{
    static const size_t sizes[] = {0, 1, 255, 4097, 3 << 20};
    struct ps_error error = {0};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t bytes = sizes[s];
        unsigned char *from = take(PS_MEMORY_HOST, bytes), *to = take(PS_MEMORY_HOST, bytes);
        void *middle = take(PS_MEMORY_DEVICE, bytes), *second = take(PS_MEMORY_DEVICE, bytes);
        for (size_t i = 0; i < bytes; i++)
            from[i] = (unsigned char)(i * 7 + 1);
        memset(to, 0, bytes);
        CU_ASSERT(cuda->copy(queue, middle, from, bytes, &error));
        CU_ASSERT(cuda->copy(queue, second, middle, bytes, &error));
        CU_ASSERT(cuda->copy(queue, to, second, bytes, &error));
        CU_ASSERT(cuda->wait(queue, &error));
        CU_ASSERT(memcmp(from, to, bytes) == 0);
        CU_ASSERT(cuda->clear(queue, second, bytes, &error));
        CU_ASSERT(cuda->copy(queue, to, second, bytes, &error) && cuda->wait(queue, &error));
        for (size_t i = 0; i < bytes; i++)
            if (to[i] != 0)
                CU_FAIL("not cleared");
        cuda->free(device, PS_MEMORY_HOST, from);
        cuda->free(device, PS_MEMORY_HOST, to);
        cuda->free(device, PS_MEMORY_DEVICE, middle);
        cuda->free(device, PS_MEMORY_DEVICE, second);
    }
    CU_ASSERT_EQUAL(error.status, PS_OK);
}

// The failure is told, and does not surface again in the next call.
static void test_out_of_memory(void)
{
    struct ps_error error = {0};
    if (errors_are_watched())
        return;
    CU_ASSERT_PTR_NULL(cuda->alloc(device, PS_MEMORY_DEVICE, (size_t)1 << 46, &error));
    expect_words(&error, "out of GPU memory: asked for 64 TiB");
    expect_words(&error, "run.device_memory");
    error = (struct ps_error){0};
    CU_ASSERT_PTR_NULL(cuda->alloc(device, PS_MEMORY_HOST, (size_t)1 << 46, &error));
    expect_words(&error, "run.memory");
    CU_ASSERT_EQUAL(cudaGetLastError(), cudaSuccess);
    cuda->free(device, PS_MEMORY_DEVICE, take(PS_MEMORY_DEVICE, 1 << 20));
}

static void expect_times_between(double before, double after)
{
    struct ps_error error = {0};
    double first = 0, second = 0;
    CU_ASSERT(cuda->when(queue, 0, &first, &error) && cuda->when(queue, 1, &second, &error));
    CU_ASSERT(before - 1 <= first && first <= second && second <= after + 1);
    if (!(before - 1 <= first && first <= second && second <= after + 1))
        printf("\nhost %.3f..%.3f, marks %.3f..%.3f\n", before, after, first, second);
}

static void test_times(void)
{
    enum { BYTES = 64 << 20 };
    struct ps_error error = {0};
    void *data = take(PS_MEMORY_DEVICE, BYTES);
    for (int round = 0; round < 4; round++) {
        double before = ps_clock_ms();
        CU_ASSERT(cuda->mark(queue, 0, &error) && cuda->clear(queue, data, BYTES, &error) &&
                  cuda->mark(queue, 1, &error) && cuda->wait(queue, &error));
        // Round 0 makes the anchor an hour old (and wrong): round 1's wait sets another one, which
        // counts from round 2 on.
        if (round != 1)
            expect_times_between(before, ps_clock_ms());
        struct ps_cuda_queue *own = ps_cuda_queue(queue);
        if (round == 0)
            own->anchors[own->anchor].ms -= 3600e3;
    }
    CU_ASSERT_FALSE(cuda->mark(queue, 4, &error));
    CU_ASSERT_EQUAL(error.status, PS_BUG);
    cuda->free(device, PS_MEMORY_DEVICE, data);
}

// ---- Kernels compiled at run time ----

static const char source[] =
    "extern \"C\" __global__ void twice(const float *x, float *y, long long n)\n"
    "{\n"
    "    long long threads = (long long)gridDim.x * blockDim.x;\n"
    "    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += "
    "threads)\n"
    "        y[i] = 2 * x[i];\n"
    "}\n"
    "extern \"C\" __global__ void astray(float *y)\n"
    "{\n"
    "    y[threadIdx.x] = 1;\n"
    "}\n";

static void provoke_faults(struct ps_cuda_module *module, CUfunction kernel, void **arguments)
{
    struct ps_error error = {0};
    CU_ASSERT_FALSE(ps_cuda_launch(queue, kernel, 7, 2048, 0, arguments, "twice", &error));
    expect_words(&error, "launching kernel twice (7 blocks of 2048 threads)");
    error = (struct ps_error){0};
    CU_ASSERT_FALSE(ps_cuda_module_kernel(module, "thrice", &kernel, &error));
    expect_words(&error, "cuModuleGetFunction");
}

static void run_twice(struct ps_device *where)
{
    enum { COUNT = 100001 };
    struct ps_error error = {0};
    struct ps_cuda_module *module = NULL;
    struct ps_kernel_info info = {.threads = 0};
    CUfunction kernel;
    float *host = take(PS_MEMORY_HOST, COUNT * sizeof(float)), *x, *y;
    x = take(PS_MEMORY_DEVICE, COUNT * sizeof(float));
    y = take(PS_MEMORY_DEVICE, COUNT * sizeof(float));
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    CU_ASSERT_FATAL(ps_cuda_module_compile(where, source, "twice.cu", NULL, &module, &error));
    CU_ASSERT(ps_cuda_module_kernel(module, "twice", &kernel, &error));
    CU_ASSERT(ps_cuda_shape(where, kernel, "twice", 0, &info, &error));
    CU_ASSERT_STRING_EQUAL(info.name, "twice");
    CU_ASSERT(info.threads >= 32 && info.threads <= 1024 && info.threads % 32 == 0);
    CU_ASSERT(info.registers > 0 && info.occupancy > 0 && info.occupancy <= 1);
    if (where->request.threads_per_block != 0)
        CU_ASSERT_EQUAL(info.threads, where->request.threads_per_block);
    long long n = COUNT;
    void *arguments[] = {&x, &y, &n};
    CU_ASSERT(cuda->copy(queue, x, host, COUNT * sizeof(float), &error));
    CU_ASSERT(
        ps_cuda_launch(queue, kernel, 7, (unsigned)info.threads, 0, arguments, "twice", &error));
    CU_ASSERT(cuda->copy(queue, host, y, COUNT * sizeof(float), &error));
    CU_ASSERT(cuda->wait(queue, &error));
    for (int i = 0; i < COUNT; i++)
        if (host[i] != 2 * (float)i)
            CU_FAIL("wrong result");
    if (!errors_are_watched())
        provoke_faults(module, kernel, arguments);
    ps_cuda_module_free(module);
    cuda->free(device, PS_MEMORY_HOST, host);
    cuda->free(device, PS_MEMORY_DEVICE, x);
    cuda->free(device, PS_MEMORY_DEVICE, y);
}

static void test_compiled_kernel(void)
{
    char folder[] = "/tmp/penstock-test-XXXXXX", command[100];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    run_twice(device);
    run_twice(device); // from the cache
    device->request.threads_per_block = 64;
    run_twice(device);
    device->request.threads_per_block = 0;
    snprintf(command, sizeof command, "test $(ls %s/penstock | wc -l) = 1 && rm -rf %s", folder,
             folder);
    CU_ASSERT_EQUAL(system(command), 0);
}

// ---- What doctor shows ----

static void test_info(void)
{
    struct ps_cuda_info info;
    struct ps_gpu_info gpu;
    struct ps_copy_rates rates = {0};
    struct ps_error error = {0};
    ps_cuda_info(&info);
    CU_ASSERT(info.built_in && info.gpu_count > 0 && info.driver_cuda >= 11000);
    CU_ASSERT_STRING_EQUAL(info.problem, "");
    CU_ASSERT(strchr(info.driver_version, '.') != NULL);
    CU_ASSERT_FATAL(ps_gpu_info(0, &gpu, &error));
    CU_ASSERT(gpu.name[0] != '\0' && gpu.major >= 5 && gpu.multiprocessors > 0);
    CU_ASSERT(gpu.has_kernel_image);
    CU_ASSERT(ps_gpu_copy_rates(0, 16 << 20, &rates, &error));
    CU_ASSERT(rates.pinned_to_device > 0.1 && rates.pinned_to_host > 0.1 &&
              rates.pinned_both > 0.1);
    CU_ASSERT(rates.pageable_to_device > 0.1 && rates.pageable_to_host > 0.1);
    if (errors_are_watched())
        return;
    CU_ASSERT_FALSE(ps_gpu_info(99, &gpu, &error));
    expect_words(&error, "there is no GPU of that number");
}

// ---- In a process of their own ----

static int run_again(const char *word)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test", word, (char *)NULL);
        _exit(99);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static int hidden_gpu(void)
{
    char text[512] = "";
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    if (ps_cuda_missing(text, sizeof text) != NULL &&
        strstr(text, "CUDA_VISIBLE_DEVICES is '-1'") != NULL)
        return EXIT_SUCCESS;
    printf("\nhidden GPU: %s\n", text);
    return EXIT_FAILURE;
}

static bool open_all(struct ps_error *error)
{
    struct ps_device_request request = {0};
    cuda = ps_backend(PS_CUDA);
    return cuda->open(&request, &device, error) && cuda->queue_open(device, 4, &queue, error);
}

static void close_all(void)
{
    cuda->queue_close(queue);
    cuda->close(device);
}

static int illegal_address(void)
{
    struct ps_error error = {0};
    struct ps_cuda_module *module = NULL;
    CUfunction kernel;
    float *nowhere = (float *)(uintptr_t)256;
    void *arguments[] = {&nowhere};
    bool told = open_all(&error) &&
                ps_cuda_module_compile(device, source, "astray.cu", NULL, &module, &error) &&
                ps_cuda_module_kernel(module, "astray", &kernel, &error) &&
                ps_cuda_launch(queue, kernel, 1, 32, 0, arguments, "astray", &error) &&
                !cuda->wait(queue, &error) && error.status == PS_DEVICE &&
                strstr(error.text, "cudaErrorIllegalAddress") != NULL &&
                strstr(error.text, "outside its arrays") != NULL;
    if (!told) {
        printf("\nillegal address: %s\n", error.text);
        return EXIT_FAILURE;
    }
    ps_cuda_module_free(module);
    close_all(); // nothing hangs or crashes
    return EXIT_SUCCESS;
}

static void test_hidden_gpu(void)
{
    if (!errors_are_watched())
        CU_ASSERT_EQUAL(run_again("hidden"), EXIT_SUCCESS);
}

static void test_illegal_address(void)
{
    if (!errors_are_watched())
        CU_ASSERT_EQUAL(run_again("illegal"), EXIT_SUCCESS);
}

int main(int argument_count, char **argument_values)
{
    static const struct check_test tests[] = {
        {"open", test_open},
        {"copies", test_copies},
        {"out of memory", test_out_of_memory},
        {"times", test_times},
        {"compiled kernel", test_compiled_kernel},
        {"what doctor shows", test_info},
        {"hidden GPU", test_hidden_gpu},
        {"illegal address", test_illegal_address},
        {NULL, NULL},
    };
    char text[512];
    struct ps_error error = {0};
    if (argument_count > 1)
        return strcmp(argument_values[1], "hidden") == 0 ? hidden_gpu() : illegal_address();
    if (ps_cuda_missing(text, sizeof text) != NULL)
        return PS_SKIP;
    if (!open_all(&error)) {
        printf("%s\n", error.text);
        return EXIT_FAILURE;
    }
    int result = check_main("cuda backend", tests);
    close_all();
    return result;
}
#else
int main(void)
{
    return PS_SKIP;
}
#endif
