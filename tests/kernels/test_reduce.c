// SPDX-License-Identifier: Apache-2.0
// reduce on the cpu backend: against a plain reference on small integers, the same bits however
// the data is cut, correct rounding, hard inputs, and what plan() refuses.
#include "check.h"
#include "exact_cases.h"
#include "reduce_reference.h"

#include "kernels/reduce/tile.h"

static void test_small_integers(void)
{
    static const int64_t rows[] = {0, 1, 31, 32, 33, 1000};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CU_ASSERT_EQUAL(reference_sweep(PS_CPU, rows[i], 3, 5), 0);
        if (rows[i] < 1000) {
            CU_ASSERT_EQUAL(reference_sweep(PS_CPU, rows[i], 1, 1), 0);
            CU_ASSERT_EQUAL(reference_sweep(PS_CPU, rows[i], 17, 19), 0);
            CU_ASSERT_EQUAL(reference_sweep(PS_CPU, rows[i], 40, 1), 0);
        }
    }
}

static void test_more_axes(void)
{
    // [2, 3, 4, 5, 6] over axes 1 and 3: neither joined, and the last axis kept.
    int64_t dims[] = {2, 3, 4, 5, 6};
    struct reduce_case c = {.axis = "[1,3]", .of = "sum"};
    int32_t *data = reference_integers(PS_I32, 720);
    ps_array_init(&c.input, PS_I32, 5, dims);
    c.data = data;
    struct reduce_result result = case_reduce(&c);
    CU_ASSERT_EQUAL_FATAL(result.error.status, PS_OK);
    CU_ASSERT_EQUAL_FATAL(result.array.rank, 3);
    CU_ASSERT(result.array.dims[0] == 2 && result.array.dims[1] == 4 && result.array.dims[2] == 6);
    for (int row = 0; row < 2; row++)
        for (int k = 0; k < 24; k++) {
            int64_t sum = 0;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 5; j++)
                    sum += data[((row * 3 + i) * 4 + k / 6) * 30 + j * 6 + k % 6];
            CU_ASSERT_EQUAL(((int64_t *)result.data)[row * 24 + k], sum);
        }
    case_free(&result);
    free(data);
}

// The bits for many ways of cutting, against one block.
static void same_bits(enum ps_dtype dtype, int64_t rows, int64_t columns, bool odd,
                      const char *axis)
{
    int64_t dims[] = {rows, columns}, blocks[5];
    struct reduce_case c = {.axis = axis, .of = "sum,mean,var,std,min,max"};
    void *data = reference_floats(dtype, rows * columns, odd);
    ps_array_init(&c.input, dtype, 2, dims);
    c.data = data;
    struct reduce_result whole = case_reduce(&c);
    CU_ASSERT_EQUAL(whole.error.status, PS_OK);
    size_t bytes;
    ps_array_bytes(&whole.array, &bytes);
    for (int split = 0; split < 20; split++) {
        for (int i = 0; i < 5; i++)
            blocks[i] = 1 + (int64_t)(reference_random() % (split < 10 ? 40 : 1500));
        c.blocks = blocks;
        c.block_count = 5;
        c.slot_count = 1 + split % 4;
        c.reversed = split % 2 == 1;
        struct reduce_result cut = case_reduce(&c);
        CU_ASSERT_EQUAL(cut.error.status, PS_OK);
        CU_ASSERT_EQUAL(memcmp(cut.data, whole.data, bytes), 0);
        case_free(&cut);
    }
    case_free(&whole);
    free(data);
}

static void test_same_bits(void)
{
    static const enum ps_dtype dtypes[] = {PS_F16, PS_F32, PS_F64};
    for (int d = 0; d < 3; d++) {
        same_bits(dtypes[d], 3001, 3, true, "rows");
        same_bits(dtypes[d], 1100, 21, false, "rows");
        same_bits(dtypes[d], 700, 33, true, "all");
        same_bits(dtypes[d], 20000, 1, true, "rows");
        same_bits(dtypes[d], 50, 100, true, "1");
    }
}

// Rows in another order give the same bits: addition here commutes and associates.
static void test_order(void)
{
    int64_t dims[] = {5000};
    double *data = reference_floats(PS_F64, 5000, true);
    struct reduce_case c = {.axis = "rows", .of = "sum,mean,var,std,min,max", .data = data};
    ps_array_init(&c.input, PS_F64, 1, dims);
    struct reduce_result first = case_reduce(&c);
    for (int round = 0; round < 5; round++) {
        for (uint64_t i = 4999; i > 0; i--) {
            uint64_t other = reference_random() % (i + 1);
            double kept = data[i];
            data[i] = data[other];
            data[other] = kept;
        }
        struct reduce_result again = case_reduce(&c);
        CU_ASSERT_EQUAL(memcmp(first.data, again.data, 6 * sizeof(double)), 0);
        case_free(&again);
    }
    case_free(&first);
    free(data);
}

static void test_fractions(void)
{
    struct exact_case e;
    int cases = 0;
    for (FILE *file = exact_open(); file != NULL; cases++) {
        if (!exact_next(file, &e)) {
            fclose(file);
            break;
        }
        // Each value in a column of its own row, 40 times as many columns: the quick path.
        int64_t dims[] = {e.n, 20};
        char *data = calloc((size_t)e.n * 20, 8);
        size_t size = ps_dtype_bytes(e.dtype);
        for (int i = 0; i < e.n; i++)
            for (int k = 0; k < 20; k++)
                memcpy(data + (size_t)(i * 20 + k) * size, &e.bits[i], size);
        struct reduce_case c = {.axis = "rows", .of = "sum,mean,var", .data = data};
        for (c.ddof = 0; c.ddof < 2; c.ddof++) {
            ps_array_init(&c.input, e.dtype, 2, dims);
            struct reduce_result result = case_reduce(&c);
            const double *got = result.data;
            CU_ASSERT_EQUAL_FATAL(result.error.status, PS_OK);
            double expected[3];
            memcpy(expected, &e.sum, 8);
            memcpy(expected + 1, &e.mean, 8);
            memcpy(expected + 2, c.ddof == 0 ? &e.var0 : &e.var1, 8);
            for (int k = 0; k < 60; k++)
                CU_ASSERT(reference_same(got[k], expected[k % 3]) ||
                          (got[k] == 0 && expected[k % 3] == 0 && e.sum << 1 == 0));
            case_free(&result);
        }
        free(data);
    }
    CU_ASSERT(cases > 100);
}

// ---- Files of hard inputs ----

// The payload of a version 1 .npy whose header holds this descr and shape.
static void *npy_payload(const char *name, enum ps_dtype dtype, const int64_t *dims, int rank)
{
    char path[512];
    snprintf(path, sizeof path, PS_TEST_DATA "/cases/num/%s.npy", name);
    FILE *file = fopen(path, "rb");
    unsigned char head[10];
    size_t count = 1, bytes;
    for (int i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    bytes = count * ps_dtype_bytes(dtype);
    void *data = malloc(bytes + 64);
    if (file == NULL || fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY\1", 7) != 0 ||
        fseek(file, head[8] + 256 * head[9], SEEK_CUR) != 0 ||
        fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        printf("%s: not as expected\n", path);
        abort();
    }
    fclose(file);
    return data;
}

static struct reduce_result reduce_file(const char *name, enum ps_dtype dtype, int64_t rows,
                                        int64_t columns, const char *axis, const char *of,
                                        int64_t ddof)
{
    static const int64_t one = 1;
    int64_t dims[] = {rows, columns};
    int rank = columns > 0 ? 2 : 1;
    void *data = npy_payload(name, dtype, dims, rank);
    struct reduce_case c = {.axis = axis, .of = of, .ddof = ddof, .data = data};
    ps_array_init(&c.input, dtype, rank, dims);
    struct reduce_result result = case_reduce(&c);
    if (rows > 1 && rows < 2000) { // blocks of one row as well
        c.blocks = &one;
        c.block_count = 1;
        c.slot_count = 3;
        struct reduce_result cut = case_reduce(&c);
        size_t bytes;
        ps_array_bytes(&result.array, &bytes);
        CU_ASSERT_EQUAL(cut.error.status, result.error.status);
        CU_ASSERT(result.error.status != PS_OK || memcmp(cut.data, result.data, bytes) == 0);
        case_free(&cut);
    }
    free(data);
    return result;
}

static void expect(const char *name, enum ps_dtype dtype, int64_t rows, int64_t columns,
                   const char *axis, const char *of, int64_t ddof, int count,
                   const double *expected)
{
    struct reduce_result result = reduce_file(name, dtype, rows, columns, axis, of, ddof);
    CU_ASSERT_EQUAL(result.error.status, PS_OK);
    for (int i = 0; i < count; i++) {
        double got = reference_get(result.array.dtype, result.data, i);
        if (!reference_same(got, expected[i]))
            printf("%s, %s: %.17g, expected %.17g\n", name, of, got, expected[i]);
        CU_ASSERT(reference_same(got, expected[i]));
    }
    case_free(&result);
}

#define EXPECT(name, dtype, rows, columns, axis, of, ddof, ...)                                    \
    expect(name, dtype, rows, columns, axis, of, ddof,                                             \
           (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)),                          \
           (const double[]){__VA_ARGS__})

static void test_float_files(void)
{
    EXPECT("f32_absorb", PS_F32, 4, 0, "rows", "sum,mean", 0, 16777219, 4194304.75);
    EXPECT("f32_axis_columns", PS_F32, 5000, 3, "rows", "std", 0, 0, 0, 0);
    EXPECT("f32_axis_columns", PS_F32, 5000, 3, "rows", "mean", 0, 100, -100, 0.1f);
    EXPECT("f32_axis_columns", PS_F32, 5000, 3, "rows", "sum", 0, 500000, -500000,
           500.0000074505806);
    EXPECT("f16_ones_65520", PS_F16, 65520, 0, "rows", "sum,mean,std", 0, 65520, 1, 0);
    EXPECT("f16_0_1023", PS_F16, 65536, 0, "rows", "mean,std", 0, 511.5, 295.60319687039924);
    EXPECT("f16_nanmean", PS_F16, 4350, 2, "rows", "mean", 0, 260, 260);
    EXPECT("neg_zero", PS_F64, 3, 0, "rows", "sum,mean,min,max", 0, 0.0, 0.0, -0.0, -0.0);
    EXPECT("var_1e9", PS_F64, 3, 0, "rows", "var,std", 1, 1, 1);
    EXPECT("var_1e9", PS_F64, 3, 0, "rows", "var", 0, 0.6666666666666666);
    EXPECT("var_mean1e8", PS_F64, 1000, 0, "rows", "var", 1, 0x1.f504906b9a57fp-1);
    EXPECT("var_mean1e8", PS_F64, 1000, 0, "rows", "var", 0, 0x1.f4844db745740p-1);
    EXPECT("var_constant", PS_F64, 1000, 0, "rows", "var,std", 0, 0, 0);
    EXPECT("single_value", PS_F64, 1, 0, "rows", "var,std,mean", 0, 0, 0, 5);
    EXPECT("single_value", PS_F64, 1, 0, "rows", "var,std", 1, NAN, NAN);
    EXPECT("var_with_inf", PS_F64, 3, 0, "rows", "mean,var,std", 0, INFINITY, NAN, NAN);
    EXPECT("var_denormal", PS_F64, 2, 0, "rows", "mean,max,var", 0, 2e-310, 3e-310, 0);
    EXPECT("minmax_nan", PS_F64, 4, 0, "rows", "min,max,sum,count", 0, NAN, NAN, NAN, 3);
    EXPECT("argmax_neg_inf", PS_F64, 2, 0, "rows", "max", 0, -INFINITY);
    EXPECT("argmin_pos_inf", PS_F64, 1, 0, "rows", "min", 0, INFINITY);
    EXPECT("all_nan", PS_F64, 3, 2, "all", "count,sum,max", 0, 0, NAN, NAN);
    EXPECT("axis_all_nan", PS_F64, 2, 2, "rows", "count", 0, 0, 2);
    EXPECT("axis_all_nan", PS_F64, 2, 2, "rows", "sum", 0, NAN, 3);
    EXPECT("f32_denormal", PS_F32, 3, 0, "rows", "min", 0, -1e-40f);
    EXPECT("empty_1d", PS_F64, 0, 0, "rows", "sum,mean,var,count", 0, 0, NAN, NAN, 0);
    struct reduce_result empty = reduce_file("empty_1d", PS_F64, 0, 0, "rows", "min", 0);
    CU_ASSERT_EQUAL(empty.error.status, PS_INPUT);
    CU_ASSERT(strstr(empty.error.text, "min of zero rows") != NULL);
    case_free(&empty);
}

static void test_integer_files(void)
{
    EXPECT("i8_ones", PS_I8, 100000, 0, "rows", "sum", 0, 100000);
    EXPECT("i8_ones", PS_I8, 100000, 0, "rows", "mean", 0, 1);
    EXPECT("i32_sum", PS_I32, 2, 0, "rows", "sum", 0, 2147483666.0);
    EXPECT("i32_sum", PS_I32, 2, 0, "rows", "mean", 0, 1073741833);
    struct reduce_result most = reduce_file("u64_extremes", PS_U64, 3, 0, "rows", "max", 0);
    CU_ASSERT_EQUAL(most.array.dtype, PS_U64);
    CU_ASSERT_EQUAL(*(uint64_t *)most.data, UINT64_MAX);
    struct reduce_result sum = reduce_file("u64_extremes", PS_U64, 3, 0, "rows", "sum", 0);
    CU_ASSERT_EQUAL(sum.error.status, PS_INPUT);
    CU_ASSERT(strstr(sum.error.text, "beyond 64 bits") != NULL);
    // 27670116110564327423 / 3, rounded once
    EXPECT("u64_extremes", PS_U64, 3, 0, "rows", "mean", 0, 9223372036854775807.6666);
    struct reduce_result high = reduce_file("i64_2p53", PS_I64, 2, 0, "rows", "max", 0);
    CU_ASSERT_EQUAL(*(int64_t *)high.data, 9007199254740993);
    struct reduce_result both = reduce_file("i64_2p53", PS_I64, 2, 0, "rows", "min,mean,max", 0);
    CU_ASSERT_EQUAL(both.error.status, PS_INPUT);
    CU_ASSERT(strstr(both.error.text, "ask for max in a stage of its own") != NULL);
    EXPECT("i64_2p53", PS_I64, 2, 0, "rows", "var", 0, 0.25);
    case_free(&most);
    case_free(&sum);
    case_free(&high);
    case_free(&both);
}

// ---- Plans ----

static void test_outputs(void)
{
    int64_t dims[] = {4, 3};
    const char *names[] = {"a", "b", "c"};
    struct ps_error error = {0};
    float data[12] = {0};
    struct reduce_case c = {.axis = "rows", .of = "mean", .data = data};
    ps_array_init(&c.input, PS_F32, 2, dims);
    CU_ASSERT(ps_array_set_columns(&c.input, 3, names, &error));
    struct reduce_result one = case_reduce(&c);
    CU_ASSERT(one.array.rank == 1 && one.array.dims[0] == 3 && one.array.dtype == PS_F64);
    CU_ASSERT_EQUAL_FATAL(one.array.column_count, 3);
    CU_ASSERT_STRING_EQUAL(one.array.columns[2], "c");
    c.of = "[mean,count]";
    struct reduce_result two = case_reduce(&c);
    CU_ASSERT(two.array.rank == 2 && two.array.dims[0] == 3 && two.array.dims[1] == 2);
    CU_ASSERT_STRING_EQUAL(two.array.columns[1], "count");
    c.of = "[max]"; // a list of one has the axis
    struct reduce_result list = case_reduce(&c);
    CU_ASSERT(list.array.rank == 2 && list.array.dims[1] == 1 && list.array.dtype == PS_F32);
    c.axis = "all";
    c.of = "min";
    struct reduce_result all = case_reduce(&c);
    CU_ASSERT(all.array.rank == 0 && all.array.column_count == 0);
    c.axis = "1";
    struct reduce_result inner = case_reduce(&c);
    CU_ASSERT(inner.array.rank == 1 && inner.array.dims[0] == 4);
    case_free(&one);
    case_free(&two);
    case_free(&list);
    case_free(&all);
    case_free(&inner);
    ps_array_free(&c.input);
}

static void test_refusals(void)
{
    static const struct {
        const char *axis, *of, *message;
    } cases[] = {
        {"3", "mean", "has no axis 3"},
        {"[0,1]", "mean", "not there yet"},
        {"[1,1]", "mean", "listed twice"},
    };
    int64_t dims[] = {2, 3, 4};
    float data[24] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reduce_case c = {.axis = cases[i].axis, .of = cases[i].of, .data = data};
        ps_array_init(&c.input, PS_F32, 3, dims);
        struct reduce_result result = case_reduce(&c);
        CU_ASSERT_EQUAL(result.error.status, PS_USAGE);
        CU_ASSERT(strstr(result.error.text, cases[i].message) != NULL);
        case_free(&result);
    }
    dims[1] = 0;
    struct reduce_case c = {.axis = "1", .of = "max", .data = data};
    ps_array_init(&c.input, PS_F32, 3, dims);
    struct reduce_result result = case_reduce(&c);
    CU_ASSERT_EQUAL(result.error.status, PS_USAGE);
    case_free(&result);
    c.of = "sum,mean";
    result = case_reduce(&c);
    CU_ASSERT_EQUAL(result.error.status, PS_OK);
    CU_ASSERT(((double *)result.data)[0] == 0 && isnan(((double *)result.data)[1]));
    case_free(&result);
}

// Every build of the hot loop that this machine can run gives the same results.
static void test_builds(void)
{
    const struct ps_reduce_tile *tiles[] = {&ps_reduce_tile_baseline, ps_reduce_tile()};
    static const int64_t widths[] = {1, 3, 16, 37};
    for (int d = 0; d < 12; d++)
        for (size_t w = 0; w < 4; w++) {
            int64_t columns = widths[w], rows = 9000 / columns;
            bool is_float = ps_dtype_is_float((enum ps_dtype)d);
            void *data = is_float ? reference_floats((enum ps_dtype)d, rows * columns, true)
                                  : reference_integers((enum ps_dtype)d, rows * columns);
            struct ps_reduce_form form = {d,
                                          d == PS_F16   ? -24
                                          : d == PS_F32 ? -149
                                          : d == PS_F64 ? -1074
                                                        : 0,
                                          d == PS_F64 ? 69 : 12, d == PS_F64 ? 136 : 21, columns};
            int64_t bytes = ps_reduce_state_bytes(&form);
            char *states[2];
            for (int i = 0; i < 2; i++) {
                states[i] = calloc(1, (size_t)bytes);
                struct ps_reduce_planes planes = ps_reduce_planes(&form, states[i]);
                tiles[i]->add[d](&form, &planes, 0, data, rows, columns);
                for (int64_t c = 0; c < columns; c++) {
                    ps_exact_carry(planes.sum + c, columns, form.sum_limbs);
                    ps_exact_carry(planes.squares + c, columns, form.square_limbs);
                }
            }
            CU_ASSERT_EQUAL(memcmp(states[0], states[1], (size_t)bytes), 0);
            free(states[0]);
            free(states[1]);
            free(data);
        }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"every kind, dtype and axis of small integers", test_small_integers},
        {"axes apart from each other", test_more_axes},
        {"the same bits however rows are cut", test_same_bits},
        {"the same bits in any order", test_order},
        {"results are the exact ones rounded once", test_fractions},
        {"hard inputs: floats", test_float_files},
        {"hard inputs: integers", test_integer_files},
        {"shapes, dtypes and columns of results", test_outputs},
        {"what plan refuses", test_refusals},
        {"every instruction set, the same sums", test_builds},
        {NULL, NULL},
    };
    return check_main("reduce", tests);
}
