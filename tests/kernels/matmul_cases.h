// SPDX-License-Identifier: Apache-2.0
// What the cpu's and the GPU's tests of matmul share: small-integer data, whose products and sums
// are exact in every order, against a plain loop.
#ifndef PS_TESTS_MATMUL_CASES_H
#define PS_TESTS_MATMUL_CASES_H

#include "stage_fixture.h"

static void fill_small(enum ps_dtype dtype, void *data, int64_t count, unsigned seed)
{
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        int value = (int)(seed >> 24) % 17 - 8;
        if (dtype == PS_F64)
            ((double *)data)[i] = value;
        else if (dtype == PS_F32)
            ((float *)data)[i] = (float)value;
        else
            ((uint16_t *)data)[i] = ps_f32_to_f16((float)value);
    }
}

static double at(enum ps_dtype dtype, const void *data, int64_t i)
{
    return dtype == PS_F64   ? ((const double *)data)[i]
           : dtype == PS_F32 ? ((const float *)data)[i]
                             : ps_f16_to_f32(((const uint16_t *)data)[i]);
}

struct matmul_case {
    enum ps_backend_id backend;
    const char *engine;
    enum ps_dtype in, with;
    int64_t rows, k, n, block;
    bool transpose, bias, relu;
};

static bool matmul_case_fits(const struct matmul_case *c)
{
    struct fixture f = {0};
    void *in = malloc((size_t)(c->rows * c->k + 1) * 8),
         *with = malloc((size_t)(c->k * c->n + 1) * 8);
    void *bias = malloc((size_t)(c->n + 1) * 8);
    const char *options[16] = {"in",
                               "a",
                               "with",
                               "b",
                               "engine",
                               c->engine,
                               "transpose",
                               c->transpose ? "true" : "false",
                               "activation",
                               c->relu ? "relu" : "none",
                               c->bias ? "bias" : NULL,
                               "c",
                               NULL};
    fill_small(c->in, in, c->rows * c->k, 1);
    fill_small(c->with, with, c->k * c->n, 2);
    fill_small(PS_F32, bias, c->n, 3);
    fixture_input(&f, "a", true, c->in, 2, (int64_t[]){c->rows, c->k}, in);
    fixture_input(&f, "b", false, c->with, 2,
                  c->transpose ? (int64_t[]){c->n, c->k} : (int64_t[]){c->k, c->n}, with);
    if (c->bias)
        fixture_input(&f, "c", false, PS_F32, 1, (int64_t[]){c->n}, bias);
    void *result = fixture_stage(&f, "matmul", "out", options)
                       ? fixture_run(&f, c->backend, c->rows, c->block)
                       : NULL;
    enum ps_dtype dtype = f.stages[0].output.dtype;
    bool fine = result != NULL;
    if (!fine)
        printf("\n%s", f.error.text);
    for (int64_t r = 0; fine && r < c->rows; r++)
        for (int64_t j = 0; fine && j < c->n; j++) {
            double sum = c->bias ? at(PS_F32, bias, j) : 0;
            for (int64_t i = 0; i < c->k; i++)
                sum += at(c->in, in, r * c->k + i) *
                       at(c->with, with, c->transpose ? j * c->k + i : i * c->n + j);
            sum = c->relu && sum < 0 ? 0 : sum;
            fine = at(dtype, result, r * c->n + j) == sum;
            if (!fine)
                printf(
                    "\n%s %s x %s, rows %lld k %lld n %lld block %lld: [%lld, %lld] is %g, not %g",
                    c->engine, ps_dtype_name(c->in), ps_dtype_name(c->with), (long long)c->rows,
                    (long long)c->k, (long long)c->n, (long long)c->block, (long long)r,
                    (long long)j, at(dtype, result, r * c->n + j), sum);
        }
    free(result);
    fixture_free(&f);
    free(in);
    free(with);
    free(bias);
    return fine;
}

// All dtypes and engines over odd sizes, blocks of 1 row, transposed, with bias and relu.
static void matmul_all_cases(enum ps_backend_id backend)
{
    static const int64_t rows[] = {0, 1, 31, 33, 300}, sizes[] = {1, 31, 32, 65};
    static const enum ps_dtype dtypes[] = {PS_F16, PS_F32, PS_F64};
    static const char *const engines[] = {"library", "tiled"};
    // Under compute-sanitizer our own kernels only, and few sizes: it is a thousand times slower.
    bool quick = getenv("PS_TEST_QUICK") != NULL;
    for (int e = quick; e < 2; e++)
        for (int d = 0; d < 3; d++)
            for (int r = quick ? 3 : 0; r < (quick ? 4 : 5); r++)
                for (int k = quick ? 1 : 0; k < 4; k++)
                    for (int n = 0; n < 4; n += k == 0 ? 1 : 3) {
                        struct matmul_case c = {
                            backend,          engines[e], dtypes[d], dtypes[(d + n) % 3],
                            rows[r],          sizes[k],   sizes[n],  r == 2 ? 1 : 100,
                            (k + n) % 2 == 1, k % 2 == 1, n % 2 == 1};
                        CU_ASSERT(matmul_case_fits(&c));
                    }
}

static void fill_random(enum ps_dtype dtype, void *data, int64_t count, unsigned *seed)
{
    for (int64_t i = 0; i < count; i++) {
        double value = ((*seed = *seed * 1664525u + 1013904223u) >> 8) * 0x1p-23 - 1;
        if (dtype == PS_F64) // all 53 bits
            ((double *)data)[i] = value + value * value * 0x1p-20;
        else
            ((float *)data)[i] = (float)value;
    }
}

// Of f32 or f64 numbers in [-1, 1]; the result has the same dtype.
static void *random_product_of(enum ps_dtype dtype, enum ps_backend_id backend, const char *engine,
                               bool transpose, int64_t block, int64_t rows, int64_t k, int64_t n)
{
    struct fixture f = {0};
    void *in = malloc((size_t)(rows * k) * 8), *with = malloc((size_t)(k * n) * 8);
    const char *options[] = {
        "in", "a", "with", "b", "engine", engine, "transpose", transpose ? "true" : "false", NULL};
    unsigned seed = 7;
    fill_random(dtype, in, rows * k, &seed);
    fill_random(dtype, with, k * n, &seed);
    fixture_input(&f, "a", true, dtype, 2, (int64_t[]){rows, k}, in);
    fixture_input(&f, "b", false, dtype, 2, transpose ? (int64_t[]){n, k} : (int64_t[]){k, n},
                  with);
    void *result =
        fixture_stage(&f, "matmul", "out", options) ? fixture_run(&f, backend, rows, block) : NULL;
    if (result == NULL)
        printf("\n%s", f.error.text);
    fixture_free(&f);
    free(in);
    free(with);
    return result;
}

static float *random_product(enum ps_backend_id backend, const char *engine, int64_t block,
                             int64_t rows, int64_t k, int64_t n)
{
    return random_product_of(PS_F32, backend, engine, false, block, rows, k, n);
}

// Random numbers, so that another order of adding would show.
static void matmul_bits_do_not_depend_on_blocks(enum ps_backend_id backend)
{
    static const char *const engines[] = {"library", "tiled"};
    static const int64_t blocks[] = {1, 7, 64, 100, 333};
    enum { ROWS = 333, K = 100, N = 37 };
    for (int e = 0; e < 2; e++) {
        float *all = random_product(backend, engines[e], 0, ROWS, K, N);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all);
        for (int b = 0; b < 5; b++) {
            float *split = random_product(backend, engines[e], blocks[b], ROWS, K, N);
            CU_ASSERT_PTR_NOT_NULL_FATAL(split);
            CU_ASSERT(memcmp(all, split, sizeof(float) * ROWS * N) == 0);
            free(split);
        }
        free(all);
    }
}

#endif
