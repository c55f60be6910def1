// SPDX-License-Identifier: Apache-2.0
#include "matmul_cases.h"

#include "kernels/measure.h"

#include <math.h>

static void test_all(void)
{
    matmul_all_cases(PS_CUDA);
}

static void test_blocks(void)
{
    matmul_bits_do_not_depend_on_blocks(PS_CUDA);
}

static void test_tiled_equals_cpu(void)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {129, 257, 131}, {1000, 64, 200}, {5, 1000, 3}};
    for (int i = 0; i < 16; i++) {
        int64_t rows = shapes[i % 4][0], k = shapes[i % 4][1], n = shapes[i % 4][2];
        enum ps_dtype dtype = i & 4 ? PS_F64 : PS_F32;
        void *cpu = random_product_of(dtype, PS_CPU, "tiled", i & 8, 0, rows, k, n);
        void *gpu = random_product_of(dtype, PS_CUDA, "tiled", i & 8, 0, rows, k, n);
        CU_ASSERT_PTR_NOT_NULL_FATAL(cpu);
        CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
        CU_ASSERT(memcmp(cpu, gpu, (size_t)(rows * n) * ps_dtype_bytes(dtype)) == 0);
        free(cpu);
        free(gpu);
    }
}

// Both add K products of numbers below 1: the error of each is below K^2 eps / 2 in any order.
static void test_library_near_tiled(void)
{
    enum { ROWS = 500, K = 300, N = 77 };
    float *library = random_product(PS_CUDA, "library", 0, ROWS, K, N);
    float *tiled = random_product(PS_CUDA, "tiled", 0, ROWS, K, N);
    CU_ASSERT_PTR_NOT_NULL_FATAL(library);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tiled);
    for (int i = 0; i < ROWS * N; i++)
        CU_ASSERT(fabsf(library[i] - tiled[i]) <= (float)K * K * 0x1p-24f);
    free(library);
    free(tiled);
}

static void test_measure(void)
{
    struct ps_error error = {0};
    struct ps_vector_add add;
    struct ps_matmul_times times;
    CU_ASSERT(ps_measure_vector_add(0, 1000003, &add, &error));
    CU_ASSERT_EQUAL(add.different, 0);
    CU_ASSERT(ps_measure_matmul(0, 257, &times, &error));
    CU_ASSERT(times.largest_difference < 1e-4);
    if (error.status != PS_OK)
        printf("\n%s", error.text);
}

int main(void)
{
    static const struct check_test quick_tests[] = {
        {"every dtype, engine and size", test_all},
        {NULL, NULL},
    };
    static const struct check_test tests[] = {
        {"every dtype, engine and size", test_all},
        {"bits do not depend on blocks", test_blocks},
        {"tiled has the cpu's bits", test_tiled_equals_cpu},
        {"the library is near the tiled kernel", test_library_near_tiled},
        {"what bench measures", test_measure},
        {NULL, NULL},
    };
    char text[512];
    if (ps_backend(PS_CUDA) == NULL || ps_cuda_missing(text, sizeof text) != NULL)
        return PS_SKIP;
    return check_main("matmul on a GPU", getenv("PS_TEST_QUICK") != NULL ? quick_tests : tests);
}
