// SPDX-License-Identifier: Apache-2.0
// The map on a GPU: NumPy's results, the cpu's bits where operations are exact and its last places
// where they are not, broadcasting, rows of every length.
#include "map_batch.h"
#include "map_shapes.h"
#include "map_tables.h"

static struct ps_device *gpu, *cpu;

static void numpy_agrees(void)
{
    static struct map_batch batch;
    struct map_values values;
    int wrong = 0, rows = 0;
    CU_ASSERT_FATAL(mv_open(&values));
    for (; mb_next(&values, &batch, 60, NULL); rows += batch.count) {
        if (!mj_run_on(&batch.job, gpu, 0, MB_ROWS)) {
            printf("\n  %s", batch.job.error.text);
            CU_FAIL("the gpu failed");
        } else {
            wrong += mb_differences(&batch, 10); // NumPy's own ulp and the GPU's
        }
        mb_free(&batch);
    }
    mv_close(&values);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(rows > 1000);
}

static void broadcasting(void)
{
    ms_check_all(gpu);
}

// ---- cpu and gpu side by side on random numbers ----

struct comparison {
    const char *expr;
    int ulp[2]; // f32, f64: what docs/expressions.md promises; 0: the same bits
};

static const struct comparison comparisons[] = {
    {"a + b", {0, 0}},
    {"a * b - a", {0, 0}},
    {"a / b", {0, 0}},
    {"a // b", {0, 0}},
    {"a % b", {0, 0}},
    {"sqrt(abs(2 * a + 1))", {0, 0}},
    {"min(a, b) + max(a, b)", {0, 0}},
    {"where(a > b, floor(a), round(b))", {0, 0}},
    {"clip(a, -1, 1) + trunc(b)", {0, 0}},
    {"f16(a) + f16(b)", {0, 0}},
    {"i32(a) + i64(b)", {0, 0}},
    {"(i32(a) & i32(b)) ^ (i32(a) | 5)", {0, 0}},
    {"(i64(a) << 2) + (i64(a) >> (i64(b) & 7)) + ~i64(b)", {0, 0}},
    {"bit_count(i32(a)) + bit_count(u8(b))", {0, 0}},
    {"a if 0 < a < b else -b", {0, 0}},
    {"fmod(a, b) + copysign(a, b)", {0, 0}},
    {"nextafter(a, b)", {0, 0}},
    {"fma(a, b, a)", {0, 0}},
    {"nan_to_num(a / floor(b / 40))", {0, 0}},
    {"degrees(a) + radians(b)", {0, 0}},
    {"poly(a, 1, -2, 0.5)", {0, 0}},
    {"cbrt(a)", {3, 6}},
    {"exp2(a)", {3, 2}},
    {"erf(a / 10)", {4, 3}},
    {"erfc(a / 10)", {8, 10}},
    {"gamma(abs(a) / 2 + 1)", {13, 20}},
    {"lgamma(abs(a) + 3)", {13, 8}},
    {"asinh(a)", {5, 5}},
    {"acosh(abs(a) + 1)", {6, 6}},
    {"atanh(a / 51)", {5, 4}},
    {"exp(a)", {3, 2}},
    {"expm1(a)", {2, 2}},
    {"log(abs(a))", {2, 2}},
    {"log10(abs(a))", {4, 3}},
    {"log2(abs(a))", {2, 2}},
    {"log1p(abs(a))", {2, 2}},
    {"sin(a)", {3, 3}},
    {"cos(a)", {3, 3}},
    {"tan(a)", {5, 3}},
    {"asin(a / 50)", {3, 3}},
    {"acos(a / 50)", {3, 3}},
    {"atan(a)", {3, 3}},
    {"atan2(a, b)", {4, 3}},
    {"sinh(a)", {5, 4}},
    {"cosh(a)", {4, 3}},
    {"tanh(a)", {4, 3}},
    {"abs(a) ** b", {5, 3}},
    {"hypot(a, b)", {4, 3}},
};
#define COMPARISONS ((int)(sizeof comparisons / sizeof comparisons[0]))

static void *random_numbers(enum ps_dtype dtype, int64_t n, uint64_t state)
{
    void *data = malloc((size_t)n * 8);
    for (int64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        double x = ((double)(state >> 11) * 0x1p-53 - 0.5) * 100;
        if (dtype == PS_F64)
            ((double *)data)[i] = x;
        else
            ((float *)data)[i] = (float)x;
    }
    return data;
}

static void compare_results(const struct map_job *x, const struct map_job *y, int64_t n, int single)
{
    for (int s = 0; s < COMPARISONS; s++) {
        enum ps_dtype dtype = x->stages[s].output.dtype;
        size_t size = ps_dtype_bytes(dtype);
        int64_t wrong = 0, first = -1;
        for (int64_t i = 0; i < n; i++)
            if (!mv_same(dtype, (char *)x->results[s] + (size_t)i * size,
                         (char *)y->results[s] + (size_t)i * size,
                         comparisons[s].ulp[single ? 0 : 1])) {
                first = wrong++ == 0 ? i : first;
            }
        if (wrong > 0) {
            char tx[48], ty[48];
            printf("\n  %s in %s: %lld of %lld differ, element %lld: cpu %s, gpu %s",
                   comparisons[s].expr, single ? "f32" : "f64", (long long)wrong, (long long)n,
                   (long long)first,
                   mv_text(dtype, (char *)x->results[s] + (size_t)first * size, tx),
                   mv_text(dtype, (char *)y->results[s] + (size_t)first * size, ty));
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

static void make_comparison(struct map_job *job, enum ps_dtype dtype, int rows, int columns,
                            const void *a, const void *b)
{
    static char names[COMPARISONS][8];
    *job = (struct map_job){0};
    mj_port(job, "a", dtype, true, a, 2, rows, columns);
    mj_port(job, "b", dtype, true, b, 2, rows, columns);
    for (int s = 0; s < COMPARISONS; s++) {
        snprintf(names[s], sizeof names[s], "y%d", s);
        CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(job, names[s], comparisons[s].expr));
    }
}

static void cpu_and_gpu_agree(void)
{
    static const int shapes[][2] = {{0, 3},  {1, 1},  {1, 3},   {31, 1},    {32, 1},
                                    {33, 1}, {33, 7}, {101, 5}, {1000, 257}};
    static const enum ps_dtype dtypes[] = {PS_F32, PS_F64};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 9; i++) {
            static struct map_job on_cpu, on_gpu;
            int rows = shapes[i][0], columns = shapes[i][1];
            void *a = random_numbers(dtypes[d], rows * columns + 1, 1);
            void *b = random_numbers(dtypes[d], rows * columns + 1, 2);
            make_comparison(&on_cpu, dtypes[d], rows, columns, a, b);
            make_comparison(&on_gpu, dtypes[d], rows, columns, a, b);
            CU_ASSERT_TRUE_FATAL(mj_run_on(&on_cpu, cpu, 0, rows));
            CU_ASSERT_TRUE_FATAL(mj_run_on(&on_gpu, gpu, 0, rows));
            compare_results(&on_cpu, &on_gpu, (int64_t)rows * columns, d == 0);
            mj_free(&on_cpu);
            mj_free(&on_gpu);
            free(a);
            free(b);
        }
}

// Arrays that do not start at a multiple of 16 bytes: the kernel takes elements one by one.
static void unaligned_arrays(void)
{
    enum { N = 1001 };
    struct map_job job = {0};
    struct mj_step s;
    struct ps_program *program;
    struct ps_queue *queue;
    const struct ps_backend *b = gpu->backend;
    struct ps_error *e = &job.error;
    float *host = b->alloc(gpu, PS_MEMORY_HOST, (N + 8) * 4, e);
    float *in = b->alloc(gpu, PS_MEMORY_DEVICE, (N + 8) * 4, e);
    float *out = b->alloc(gpu, PS_MEMORY_DEVICE, (N + 8) * 4, e);
    mj_port(&job, "x", PS_F32, true, "", 1, N);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "x * 2 + 1"));
    mj_step(&job, &s);
    CU_ASSERT_TRUE_FATAL(host && in && out && s.step.type->compile(&s.step, gpu, &program, e) &&
                         b->queue_open(gpu, 1, &queue, e));
    for (int shift = 0; shift < 4; shift++) {
        const void *inputs[] = {in + shift};
        void *outputs[] = {out + 3 - shift};
        struct ps_launch launch = {.queue = queue, .rows = N, .inputs = inputs, .outputs = outputs};
        for (int i = 0; i < N; i++)
            host[i] = (float)i;
        CU_ASSERT_TRUE(b->copy(queue, in + shift, host, N * 4, e) && b->wait(queue, e));
        CU_ASSERT_TRUE(s.step.type->run[PS_CUDA](program, &launch, e) && b->wait(queue, e));
        CU_ASSERT_TRUE(b->copy(queue, host, outputs[0], N * 4, e) && b->wait(queue, e));
        int wrong = 0;
        for (int i = 0; i < N; i++)
            wrong += host[i] != (float)(2 * i + 1);
        CU_ASSERT_EQUAL(wrong, 0);
    }
    struct ps_kernel_info info;
    CU_ASSERT_EQUAL(s.step.type->kernels(program, &info, 1), 1);
    CU_ASSERT_TRUE(info.threads >= 32 && info.registers > 0 && info.occupancy > 0);
    b->queue_close(queue);
    s.step.type->release(program);
    b->free(gpu, PS_MEMORY_HOST, host);
    b->free(gpu, PS_MEMORY_DEVICE, in);
    b->free(gpu, PS_MEMORY_DEVICE, out);
    mj_free(&job);
}

static void tables_and_faults_as_on_the_cpu(void)
{
    for (int i = 0; i < MT_CASES; i++)
        for (int64_t first = 0; first < MT_ROWS; first += MT_ROWS / 2) {
            static struct map_job on_cpu, on_gpu;
            mt_make(&on_cpu, i);
            mt_make(&on_gpu, i);
            bool fine = mj_run_on(&on_cpu, cpu, first, MT_ROWS / 2);
            mt_compare(&on_gpu, mj_run_on(&on_gpu, gpu, first, MT_ROWS / 2), &on_cpu, fine, i, first);
            mj_free(&on_cpu);
            mj_free(&on_gpu);
        }
}

// Very many faults at once: every thread has one, and the first must win.
static void the_first_of_many_faults(void)
{
    enum { N = 300000 };
    struct map_job job = {.checked = true};
    int8_t *n = malloc(N);
    for (int i = 0; i < N; i++)
        n[i] = i < 777 ? 1 : 127;
    mj_port(&job, "n", PS_I8, true, n, 1, N);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "n + n"));
    for (int again = 0; again < 5; again++) {
        job.error = (struct ps_error){0};
        CU_ASSERT_FALSE(mj_run_on(&job, gpu, 0, N));
        CU_ASSERT_STRING_EQUAL(job.error.text, "row 777: `n + n`: 127 + 127 does not fit i8");
    }
    mj_free(&job);
    free(n);
}

static void too_long_is_refused(void)
{
    enum { TERMS = PS_MAP_CUDA_INSTRUCTIONS_MAX + 10 };
    static char text[TERMS * 2 + 1];
    struct map_job job = {0};
    for (int i = 0; i < TERMS; i++)
        memcpy(text + i * 2, i > 0 ? "+x" : " x", 3);
    mj_port(&job, "x", PS_F32, true, "", 1, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", text));
    CU_ASSERT_FALSE(mj_run_on(&job, gpu, 0, 1));
    CU_ASSERT_EQUAL(job.error.status, PS_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.error.text, "too long for the cuda backend"));
    mj_free(&job);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"NumPy agrees", numpy_agrees},
        {"broadcasting", broadcasting},
        {"cpu and gpu agree", cpu_and_gpu_agree},
        {"unaligned arrays", unaligned_arrays},
        {"tables and faults as on the cpu", tables_and_faults_as_on_the_cpu},
        {"the first of many faults", the_first_of_many_faults},
        {"too long is refused", too_long_is_refused},
        {NULL, NULL},
    };
    char why[512];
    if (ps_cuda_missing(why, sizeof why) != NULL) {
        printf("%s: skipped\n", why);
        return PS_SKIP;
    }
    gpu = mj_open(PS_CUDA);
    cpu = mj_open(PS_CPU);
    int result = check_main("map gpu", tests);
    gpu->backend->close(gpu);
    cpu->backend->close(cpu);
    return result;
}
