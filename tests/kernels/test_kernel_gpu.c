// SPDX-License-Identifier: Apache-2.0
// Users' kernels on a GPU: the same bits as their twins, launches of every kind, what the compiled
// kernel does not allow, the guard. Skipped without a GPU.
#include "kernel_case.h"

#define INDEX "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; "
#define KERNEL "__global__ void twice" KC_PARAMETERS "{ " INDEX
#define ROWS 1001

static float data[ROWS * 3];

static void fill(void)
{
    for (int i = 0; i < ROWS * 3; i++)
        data[i] = (float)(i % 977) * 0.37f - 100;
}

static void check_run(const char *const *options, int64_t rows, int64_t block)
{
    struct fixture f;
    CU_ASSERT_TRUE_FATAL(kc_plan(&f, options, data));
    float *cpu = fixture_run(&f, PS_CPU, rows, block), *gpu = fixture_run(&f, PS_CUDA, rows, block);
    CU_ASSERT_FATAL(cpu != NULL);
    CU_ASSERT_PTR_NOT_NULL(gpu);
    if (gpu == NULL)
        printf("\n%s", f.error.text);
    if (gpu != NULL) {
        size_t bytes = (size_t)rows * ps_array_row_bytes(&f.stages[0].output);
        CU_ASSERT_EQUAL(memcmp(cpu, gpu, bytes), 0);
    }
    free(cpu);
    free(gpu);
    fixture_free(&f);
}

static void like_the_twin(void)
{
    static const int64_t rows[] = {1, 31, 32, 33, ROWS};
    static const char *const guards[] = {"false", "true"};
    for (int r = 0; r < 5; r++) {
        for (int guard = 0; guard < 2; guard++) {
            check_run(
                (const char *[]){
                    "source", KERNEL "if (i < rows * 3) out[i] = 2 * a[i] + (i / 3 + first_row); }",
                    "cpu_source",
                    "void twice" KC_PARAMETERS
                    "{ for (long long i = 0; i < rows * 3; i++) out[i] = 2 * a[i] + (i / "
                    "3 + first_row); }",
                    "guard", guards[guard], NULL},
                rows[r], r % 2 ? 0 : 100);
            check_run((const char *[]){"source", KERNEL "if (i < rows) out[i] = a[3 * i]; }",
                                       "cpu_expr", "a[0]", "shape", "[]", "launch",
                                       "thread_per_row", "guard", guards[guard], NULL},
                      rows[r], r % 2 ? 0 : 100);
            check_run(
                (const char *[]){
                    "source",
                    "__global__ void twice" KC_PARAMETERS
                    "{ extern __shared__ float s[]; int t = threadIdx.x;\n"
                    "if (t < 3) s[t] = a[3 * (long long)blockIdx.x + t]; "
                    "__syncthreads(); if (t < 3) out[3 * (long long)blockIdx.x + t] = "
                    "s[2 - t]; }",
                    "cpu_source",
                    "void twice" KC_PARAMETERS
                    "{ for (long long i = 0; i < rows * 3; i++) out[i] = a[i / 3 * 3 + 2 "
                    "- i % 3]; }",
                    "launch", "block_per_row", "threads", "32", "shared", "12", "guard",
                    guards[guard], NULL},
                rows[r], r % 2 ? 0 : 100);
        }
    }
}

static void expect_fault(const char *const *options, const char *words)
{
    struct fixture f;
    CU_ASSERT_TRUE_FATAL(kc_plan(&f, options, data));
    void *result = fixture_run(&f, PS_CUDA, ROWS, 100);
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT_EQUAL(f.error.status, PS_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.text, words));
    if (strstr(f.error.text, words) == NULL)
        printf("\nwithout '%s': %s", words, f.error.text);
    free(result);
    fixture_free(&f);
}

static void faults(void)
{
    expect_fault((const char *[]){"source",
                                  "__global__ void __launch_bounds__(64) twice" KC_PARAMETERS "{}",
                                  "threads", "128", NULL},
                 "threads: 128, but kernel twice runs with at most 64");
    expect_fault((const char *[]){"source", "__global__ void twice" KC_PARAMETERS "{}", "shared",
                                  "512 KiB", NULL},
                 "bytes of shared memory per block");
    expect_fault((const char *[]){"source", "__global__ void twice" KC_PARAMETERS ";", NULL},
                 "declared but not defined");
    expect_fault((const char *[]){"source", "\n" KERNEL "out[i] = wrong; }", NULL},
                 "source(2): error");
}

static void guarded(void)
{
    expect_fault((const char *[]){"source", KERNEL "if (i <= rows * 3) out[i] = 1; }", "guard",
                                  "true", NULL},
                 "of 1200 bytes: 4 bytes after it (the nearest 0 bytes after its end)");
    expect_fault((const char *[]){"source", KERNEL "if (i < rows * 3) out[i - 1] = 1; }", "guard",
                                  "true", NULL},
                 "4 bytes before it (the nearest 1 bytes before its start)");
    expect_fault((const char *[]){"source", KERNEL "if (i < rows * 3 && i != 7) out[i] = 1; }",
                                  "guard", "true", NULL},
                 "left 4 of 1200 bytes of its output as they were");
}

// More shared memory than a kernel has without asking.
static void large_shared(void)
{
    check_run((const char *[]){"source",
                               KERNEL "extern __shared__ float s[]; s[15999 - threadIdx.x] = 1; "
                                      "if (i < rows * 3) out[i] = a[i] + s[15999 - threadIdx.x]; }",
                               "cpu_expr", "a + 1", "shared", "64000", "threads", "128", NULL},
              ROWS, 100);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"like the twin", like_the_twin}, {"faults", faults}, {"guarded", guarded},
        {"large shared", large_shared},   {NULL, NULL},
    };
    char text[400];
    const char *missing = ps_cuda_missing(text, sizeof text);
    if (missing != NULL) {
        printf("%s: skipped\n", missing);
        return PS_SKIP;
    }
    fill();
    return check_main("kernel gpu", tests);
}
