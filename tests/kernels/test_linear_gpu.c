// SPDX-License-Identifier: Apache-2.0
// Second moments on a GPU have the cpu's bits, whatever the data: random, of all magnitudes, with
// NaN and infinities, whole numbers to the ends of their dtype.
#include "stage_fixture.h"

#include <math.h>

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

// kind 0: values of like size; 1: of all magnitudes; 2: like 0 with a few NaN and infinities.
static void fill(enum ps_dtype dtype, void *data, int64_t count, int kind, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = next(&seed);
        double value = (double)(int64_t)bits * 0x1p-63;
        if (kind == 1)
            value = ldexp(value, (int)(next(&seed) % (dtype == PS_F64 ? 1200 : 200)) -
                                     (dtype == PS_F64 ? 700 : 120));
        if (kind == 2 && bits % 97 == 0)
            value = bits % 2 ? INFINITY : bits % 4 ? -INFINITY : NAN;
        if (dtype == PS_F64)
            ((double *)data)[i] = value;
        else if (dtype == PS_F32)
            ((float *)data)[i] = (float)value;
        else if (dtype == PS_F16)
            ((uint16_t *)data)[i] = ps_f64_to_f16(value);
        else
            memcpy((char *)data + (size_t)i * ps_dtype_bytes(dtype), &bits, ps_dtype_bytes(dtype));
    }
}

static bool same_bits(const char *type, enum ps_dtype dtype, int64_t rows, int64_t columns,
                      int64_t block, int kind)
{
    void *in = malloc((size_t)(rows * columns) * 8 + 1), *results[2] = {NULL, NULL};
    size_t bytes = 0;
    fill(dtype, in, rows * columns, kind, (uint64_t)(rows + columns));
    for (int b = 0; b < 2; b++) {
        struct fixture f = {0};
        const char *options[] = {"in", "x", NULL};
        fixture_input(&f, "x", true, dtype, 2, (int64_t[]){rows, columns}, in);
        if (fixture_stage(&f, type, "out", options))
            results[b] = fixture_run(&f, b == 0 ? PS_CPU : PS_CUDA, rows, b == 0 ? 0 : block);
        ps_array_bytes(&f.stages[0].output, &bytes);
        if (results[b] == NULL)
            printf("\n%s", f.error.text);
        fixture_free(&f);
    }
    bool fine =
        results[0] != NULL && results[1] != NULL && memcmp(results[0], results[1], bytes) == 0;
    if (!fine)
        printf("\n%s of %s[%lld, %lld], blocks of %lld, kind %d: other bits", type,
               ps_dtype_name(dtype), (long long)rows, (long long)columns, (long long)block, kind);
    free(results[0]);
    free(results[1]);
    free(in);
    return fine;
}

static void test_dtypes(void)
{
    for (int d = PS_I8; d < PS_DTYPE_COUNT; d++)
        for (int kind = 0; kind < (d >= PS_F16 ? 3 : 1); kind++) {
            CU_ASSERT(same_bits("gram", (enum ps_dtype)d, 1300, 7, 500, kind));
            CU_ASSERT(same_bits("covariance", (enum ps_dtype)d, 515, 5, 1, kind));
        }
}

static void test_sizes(void)
{
    static const int64_t rows[] = {0, 1, 31, 511, 512, 513}, columns[] = {1, 33, 300};
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 3; c++) {
            CU_ASSERT(same_bits("gram", PS_F32, rows[r], columns[c], 512, 0));
            CU_ASSERT(same_bits("correlation", PS_F64, rows[r], columns[c], 200, 0));
        }
    CU_ASSERT(same_bits("gram", PS_F64, 600, 600, 600, 0)); // several panels
}

int main(void)
{
    static const struct check_test tests[] = {
        {"every dtype and kind of data", test_dtypes},
        {"sizes and panels", test_sizes},
        {NULL, NULL},
    };
    char text[512];
    if (ps_backend(PS_CUDA) == NULL || ps_cuda_missing(text, sizeof text) != NULL)
        return PS_SKIP;
    return check_main("second moments on a GPU", tests);
}
