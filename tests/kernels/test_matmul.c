// SPDX-License-Identifier: Apache-2.0
#include "matmul_cases.h"

#include "base/text.h"

#include <math.h>

static void test_all(void)
{
    matmul_all_cases(PS_CPU);
}

static void test_blocks(void)
{
    matmul_bits_do_not_depend_on_blocks(PS_CPU);
}

// The contract of `engine: tiled`: one fma per product, ascending k.
static void test_tiled_order(void)
{
    enum { ROWS = 9, K = 50, N = 21 };
    float *result = random_product(PS_CPU, "tiled", 0, ROWS, K, N), in[ROWS * K], with[K * N];
    unsigned seed = 7;
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    for (int i = 0; i < ROWS * K; i++)
        in[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1;
    for (int i = 0; i < K * N; i++)
        with[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1;
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int i = 0; i < K; i++)
                sum = fmaf(in[r * K + i], with[i * N + j], sum);
            CU_ASSERT(memcmp(&sum, &result[r * N + j], 4) == 0);
        }
    free(result);
}

static void expect_fault(struct fixture *f, const char *const *options, const char *words)
{
    CU_ASSERT_FALSE(fixture_stage(f, "matmul", "out", options));
    CU_ASSERT_FATAL(f->problems.count > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(f->problems.list[0].text, words));
    if (strstr(f->problems.list[0].text, words) == NULL)
        printf("\n%s", f->problems.list[0].text);
    fixture_free(f);
}

static void test_faults(void)
{
    static const char *const options[] = {"in", "a", "with", "b", NULL};
    static const char *const biased[] = {"in", "a", "with", "b", "bias", "b", NULL};
    static const char *const wrong_name[] = {"in", "a", "with", "bb", NULL};
    struct fixture f = {0};
    fixture_input(&f, "a", true, PS_F64, 2, (int64_t[]){2, 3}, NULL);
    fixture_input(&f, "b", false, PS_F64, 2, (int64_t[]){2, 3}, NULL);
    expect_fault(&f, options, "inner sizes 3 and 2 differ");
    fixture_input(&f, "a", true, PS_F64, 1, (int64_t[]){2}, NULL);
    fixture_input(&f, "b", false, PS_F64, 1, (int64_t[]){2}, NULL);
    expect_fault(&f, options, "2-D");
    fixture_input(&f, "a", true, PS_I8, 2, (int64_t[]){2, 3}, NULL);
    fixture_input(&f, "b", false, PS_F64, 2, (int64_t[]){3, 3}, NULL);
    expect_fault(&f, options, "f64(a)");
    fixture_input(&f, "a", true, PS_F64, 2, (int64_t[]){2, 3}, NULL);
    fixture_input(&f, "b", true, PS_F64, 2, (int64_t[]){3, 3}, NULL);
    expect_fault(&f, options, "load: whole");
    fixture_input(&f, "a", true, PS_F64, 2, (int64_t[]){2, 3}, NULL);
    fixture_input(&f, "b", false, PS_F64, 2, (int64_t[]){3, 3}, NULL);
    expect_fault(&f, biased, "expected a whole array of 3 numbers");
    fixture_input(&f, "a", true, PS_F64, 2, (int64_t[]){2, 3}, NULL);
    fixture_input(&f, "b", false, PS_F64, 2, (int64_t[]){3, 3}, NULL);
    expect_fault(&f, wrong_name, "did you mean 'b'?");
}

// x-mm-order: [[0,1,2],[3,4,5]] x [[0..3],[4..7],[8..11]]
static void test_known_product(void)
{
    static const char *const options[] = {"in", "a", "with", "b", NULL};
    double a[6], b[12], expected[] = {20, 23, 26, 29, 56, 68, 80, 92};
    struct fixture f = {0};
    for (int i = 0; i < 12; i++)
        b[i] = i;
    memcpy(a, b, sizeof a);
    fixture_input(&f, "a", true, PS_F64, 2, (int64_t[]){2, 3}, a);
    fixture_input(&f, "b", false, PS_F64, 2, (int64_t[]){3, 4}, b);
    CU_ASSERT(fixture_stage(&f, "matmul", "out", options));
    double *result = fixture_run(&f, PS_CPU, 2, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    CU_ASSERT(memcmp(result, expected, sizeof expected) == 0);
    free(result);
    fixture_free(&f);
}

static void test_inner_axes_are_rows(void)
{
    static const char *const options[] = {"in", "a", "with", "b", NULL};
    float a[2 * 3 * 2], b[4] = {1, 2, 3, 4};
    struct fixture f = {0};
    for (int i = 0; i < 12; i++)
        a[i] = (float)i;
    fixture_input(&f, "a", true, PS_F32, 3, (int64_t[]){2, 3, 2}, a);
    fixture_input(&f, "b", false, PS_F32, 2, (int64_t[]){2, 2}, b);
    CU_ASSERT(fixture_stage(&f, "matmul", "out", options));
    CU_ASSERT_EQUAL(f.stages[0].output.rank, 3);
    float *result = fixture_run(&f, PS_CPU, 2, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    for (int i = 0; i < 6; i++) {
        CU_ASSERT(result[2 * i] == a[2 * i] * 1 + a[2 * i + 1] * 3);
        CU_ASSERT(result[2 * i + 1] == a[2 * i] * 2 + a[2 * i + 1] * 4);
    }
    free(result);
    fixture_free(&f);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"every dtype, engine and size", test_all},
        {"bits do not depend on blocks", test_blocks},
        {"tiled adds in ascending k with fma", test_tiled_order},
        {"faults", test_faults},
        {"a known product", test_known_product},
        {"inner axes are rows", test_inner_axes_are_rows},
        {NULL, NULL},
    };
    return check_main("matmul", tests);
}
