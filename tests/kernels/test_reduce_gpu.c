// SPDX-License-Identifier: Apache-2.0
// reduce on the cuda backend: against the plain reference, and bit for bit against the cpu
// backend, however the data is cut.
#include "check.h"
#include "exact_cases.h"
#include "reduce_reference.h"

// Under compute-sanitizer everything is many times slower: fewer and smaller shapes.
static bool is_quick(void)
{
    return getenv("PS_TEST_QUICK") != NULL;
}

static void test_small_integers(void)
{
    static const int64_t rows[] = {0, 33, 1, 31, 32};
    size_t count = is_quick() ? 2 : sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(reference_sweep(PS_CUDA, rows[i], 3, 5), 0);
        CU_ASSERT_EQUAL(reference_sweep(PS_CUDA, rows[i], 1, 1), 0);
    }
    if (is_quick())
        return;
    CU_ASSERT_EQUAL(reference_sweep(PS_CUDA, 33, 17, 19), 0);
    CU_ASSERT_EQUAL(reference_sweep(PS_CUDA, 1000, 3, 5), 0);
}

// The result on cuda equals the one on cpu, byte for byte.
static void same_as_cpu(struct reduce_case *c)
{
    size_t bytes = 0;
    c->backend = PS_CPU;
    struct reduce_result cpu = case_reduce(c);
    c->backend = PS_CUDA;
    struct reduce_result cuda = case_reduce(c);
    CU_ASSERT_EQUAL(cpu.error.status, cuda.error.status);
    if (cuda.error.status != PS_OK)
        printf("cpu: %s\ncuda: %s\n", cpu.error.text, cuda.error.text);
    else if (ps_array_bytes(&cpu.array, &bytes) && memcmp(cpu.data, cuda.data, bytes) != 0) {
        char text[PS_ARRAY_TEXT];
        printf("%s over %s of %s differs from cpu\n", c->of, c->axis,
               ps_array_text(&c->input, text));
        CU_FAIL("cuda and cpu differ");
    }
    case_free(&cpu);
    case_free(&cuda);
}

static void same_for_shape(int64_t rows, int64_t columns, bool odd)
{
    static const int64_t blocks[] = {1000, 77777, 33, 300000};
    static const char *const axes[] = {"rows", "all", "1"};
    for (int dtype = 0; dtype < PS_DTYPE_COUNT; dtype++) {
        int64_t dims[] = {rows, columns};
        bool is_float = ps_dtype_is_float((enum ps_dtype)dtype);
        void *data = is_float ? reference_floats((enum ps_dtype)dtype, rows * columns, odd)
                              : reference_integers((enum ps_dtype)dtype, rows * columns);
        for (int axis = 0; axis < 3; axis++) {
            if (axis == 2 && rows * columns > 100000)
                continue; // each of many outputs ends in long division: slow on the cpu
            struct reduce_case c = {.axis = axes[axis],
                                    .of = "sum,mean,min,max,var,std,count",
                                    .ddof = 1,
                                    .data = data,
                                    .blocks = blocks,
                                    .block_count = 4,
                                    .slot_count = 2};
            ps_array_init(&c.input, (enum ps_dtype)dtype, 2, dims);
            same_as_cpu(&c);
            c.of = "min,max"; // no sums
            same_as_cpu(&c);
            c.of = "sum"; // no squares
            same_as_cpu(&c);
        }
        free(data);
    }
}

static void test_same_as_cpu(void)
{
    static const int64_t shapes[][2] = {{1, 1},      {1, 1000},  {31, 3},    {1000, 31},
                                        {1000, 32},  {1000, 33}, {3000, 16}, {500, 256},
                                        {200, 1000}, {100000, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0] - is_quick(); i++) {
        same_for_shape(shapes[i][0], shapes[i][1], true);
        if (!is_quick())
            same_for_shape(shapes[i][0], shapes[i][1], false);
    }
    if (is_quick())
        return;
    same_for_shape(1000000, 1, false);
    same_for_shape(20000, 256, false);
}

static void test_fractions(void)
{
    struct exact_case e;
    FILE *file = exact_open();
    while (exact_next(file, &e)) {
        int64_t dims[] = {e.n};
        char *data = calloc((size_t)e.n, 8);
        for (int i = 0; i < e.n; i++)
            memcpy(data + (size_t)i * ps_dtype_bytes(e.dtype), &e.bits[i], ps_dtype_bytes(e.dtype));
        struct reduce_case c = {
            .axis = "rows", .of = "sum,mean,var", .data = data, .backend = PS_CUDA};
        ps_array_init(&c.input, e.dtype, 1, dims);
        struct reduce_result result = case_reduce(&c);
        CU_ASSERT_EQUAL_FATAL(result.error.status, PS_OK);
        double expected[3];
        memcpy(expected, &e.sum, 8);
        memcpy(expected + 1, &e.mean, 8);
        memcpy(expected + 2, &e.var0, 8);
        for (int k = 0; k < 3; k++)
            CU_ASSERT(reference_same(((double *)result.data)[k], expected[k]) ||
                      (((double *)result.data)[k] == 0 && expected[k] == 0 && e.sum << 1 == 0));
        case_free(&result);
        free(data);
    }
    fclose(file);
}

// NaN, infinities and a few values among zeros, over rows and within them.
static void test_specials(void)
{
    static const float specials[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-45f, -3e38f, 0.1f};
    enum { ROWS = 700, COLUMNS = 40 };
    int64_t dims[] = {ROWS, COLUMNS};
    float *data = calloc(ROWS * COLUMNS, sizeof *data);
    double *wide = calloc(ROWS * COLUMNS, sizeof *wide);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        if (reference_random() % 900 == 0)
            wide[i] = data[i] = specials[reference_random() % 7];
    static const char *const axes[] = {"rows", "all", "1"};
    for (int i = 0; i < 6; i++) {
        struct reduce_case c = {.axis = axes[i % 3], .of = "sum,mean,min,max,var,std,count"};
        c.data = i < 3 ? (void *)data : (void *)wide;
        ps_array_init(&c.input, i < 3 ? PS_F32 : PS_F64, 2, dims);
        same_as_cpu(&c);
    }
    free(data);
    free(wide);
}

int main(void)
{
    char missing[512];
    if (ps_cuda_missing(missing, sizeof missing) != NULL) {
        printf("skipped: %s\n", missing);
        return PS_SKIP;
    }
    static const struct check_test tests[] = {
        {"every kind, dtype and axis of small integers", test_small_integers},
        {"the same bytes as on the cpu", test_same_as_cpu},
        {"results are the exact ones rounded once", test_fractions},
        {"NaN, infinities and lone values", test_specials},
        {NULL, NULL},
    };
    return check_main("reduce on cuda", tests);
}
