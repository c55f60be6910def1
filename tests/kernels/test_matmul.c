// SPDX-License-Identifier: Apache-2.0
#include "matmul_cases.h"

#include "kernels/matmul/matmul.h"
#include "kernels/matmul/tiled.h"

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
static void check_tiled_order(bool transpose)
{
    enum { ROWS = 9, K = 50, N = 21 };
    double *result = random_product_of(PS_F64, PS_CPU, "tiled", transpose, 4, ROWS, K, N);
    float *single = random_product_of(PS_F32, PS_CPU, "tiled", transpose, 4, ROWS, K, N);
    double in[ROWS * K], with[K * N];
    float in32[ROWS * K], with32[K * N];
    unsigned seed = 7, seed32 = 7;
    CU_ASSERT_FATAL(result != NULL && single != NULL);
    fill_random(PS_F64, in, ROWS * K, &seed);
    fill_random(PS_F64, with, K * N, &seed);
    fill_random(PS_F32, in32, ROWS * K, &seed32);
    fill_random(PS_F32, with32, K * N, &seed32);
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            float sum32 = 0;
            for (int i = 0; i < K; i++) {
                int w = transpose ? j * K + i : i * N + j;
                sum = fma(in[r * K + i], with[w], sum);
                sum32 = fmaf(in32[r * K + i], with32[w], sum32);
            }
            CU_ASSERT(memcmp(&sum, &result[r * N + j], 8) == 0);
            CU_ASSERT(memcmp(&sum32, &single[r * N + j], 4) == 0);
        }
    free(result);
    free(single);
}

static void test_tiled_order(void)
{
    check_tiled_order(false);
    check_tiled_order(true);
}

// The code for processors without fma instructions has the same bits.
static void test_tiled_levels_agree(void)
{
    enum { ROWS = 7, K = 33, N = 45 };
    double in[ROWS * K], with[K * N], slow[ROWS * N];
    float in32[ROWS * K], with32[K * N], slow32[ROWS * N];
    unsigned seed = 7, seed32 = 7;
    fill_random(PS_F64, in, ROWS * K, &seed);
    fill_random(PS_F64, with, K * N, &seed);
    fill_random(PS_F32, in32, ROWS * K, &seed32);
    fill_random(PS_F32, with32, K * N, &seed32);
    double *best = random_product_of(PS_F64, PS_CPU, "tiled", false, 0, ROWS, K, N);
    float *best32 = random_product_of(PS_F32, PS_CPU, "tiled", false, 0, ROWS, K, N);
    ps_tiled_baseline.f64(ROWS, N, K, in, with, slow);
    ps_tiled_baseline.f32(ROWS, N, K, in32, with32, slow32);
    CU_ASSERT(best != NULL && memcmp(best, slow, sizeof slow) == 0);
    CU_ASSERT(best32 != NULL && memcmp(best32, slow32, sizeof slow32) == 0);
    free(best);
    free(best32);
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
        {"tiled has the same bits without fma instructions", test_tiled_levels_agree},
        {"faults", test_faults},
        {"a known product", test_known_product},
        {"inner axes are rows", test_inner_axes_are_rows},
        {NULL, NULL},
    };
    return check_main("matmul", tests);
}
