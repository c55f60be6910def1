// SPDX-License-Identifier: Apache-2.0
// npy, raw and pattern inside: Fortran order in any row range, headers of all kinds, files that
// shrink, made-up numbers against a second implementation (tests/data/formats/make_formats.py).
#include "io_help.h"

#include <sys/wait.h>

#include "io/npy_header.h"
#include "io/random.h"

#include <inttypes.h>
#include <math.h>

// ---- Fortran order ----

static int64_t value_at(const struct help_input *input, const void *data, int64_t i)
{
    switch (input->reader.array.dtype) {
    case PS_U16:
        return ((const uint16_t *)data)[i];
    default:
        return ((const int32_t *)data)[i];
    }
}

// Every range [first, first + rows) of some lengths holds what of(row, column) says.
static void check_ranges(struct help_input *input, int64_t (*of)(int64_t row, int64_t column),
                         const int64_t *lengths)
{
    int64_t all = ps_array_rows(&input->reader.array);
    int64_t columns = ps_array_row_elements(&input->reader.array);
    for (; *lengths > 0; lengths++) {
        int64_t length = *lengths < all ? *lengths : all, wrong = 0;
        char *data = malloc((size_t)length * ps_array_row_bytes(&input->reader.array));
        CU_ASSERT_PTR_NOT_NULL_FATAL(data);
        for (int64_t first = 0; first + length <= all; first += 1 + all / 7) {
            CU_ASSERT_FATAL(help_read(input, first, length, data));
            for (int64_t i = 0; i < length * columns; i++)
                wrong += value_at(input, data, i) != of(first + i / columns, i % columns);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        free(data);
    }
}

static int64_t of_753(int64_t row, int64_t column)
{
    return 10000 * row + 100 * (column / 3) + column % 3;
}

static int64_t of_1300(int64_t row, int64_t column)
{
    return 20 * row + column;
}

static int64_t of_large(int64_t row, int64_t column)
{
    return row * 1000 + column;
}

static void fortran_from_numpy(void)
{
    struct help_input input;
    CU_ASSERT_FATAL(
        help_open(&input, &ps_format_npy, PS_TEST_DATA "/formats/fortran_753.npy", NULL));
    CHECK_TEXT(input.reader.way, "Fortran");
    check_ranges(&input, of_753, (int64_t[]){1, 2, 3, 6, 7, 0});
    help_close(&input);
    CU_ASSERT_FATAL(
        help_open(&input, &ps_format_npy, PS_TEST_DATA "/formats/fortran_1300x11.npy", NULL));
    check_ranges(&input, of_1300, (int64_t[]){1, 5, 64, 65, 1000, 1300, 0});
    help_close(&input);
}

// Larger than the buffer, with gaps too large to read over.
static void fortran_large(void)
{
    enum { ROWS = 40000, COLUMNS = 70 };
    const char *path = help_path("large.npy");
    int32_t *column = malloc(ROWS * sizeof *column);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(column != NULL && file != NULL);
    char text[118];
    memset(text, ' ', sizeof text);
    int n =
        snprintf(text, sizeof text, "{'descr':'<i4','fortran_order':True,'shape':(%d,10,7)}", ROWS);
    text[n] = ' ';
    fwrite("\x93NUMPY\x01\x00v\x00", 1, 10, file);
    fwrite(text, 1, sizeof text, file);
    for (int c = 0; c < COLUMNS; c++) { // the file's column c is element [c % 10, c / 10]
        for (int r = 0; r < ROWS; r++)
            column[r] = r * 1000 + c % 10 * 7 + c / 10;
        fwrite(column, sizeof *column, ROWS, file);
    }
    free(column);
    CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
    struct help_input input;
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, path, NULL));
    check_ranges(&input, of_large, (int64_t[]){1, 63, 4000, 7001, 36000, 39999, 40000, 0});
    help_close(&input);
    unlink(path);
}

// ---- Headers ----

static void headers(void)
{
    static const struct {
        const char *text, *array, *says; // array, or what the error says
        int major;
    } cases[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n", "f64[3, 2]", NULL, 1},
        {"{\"shape\":(3,2),\"descr\":\"<f4\",\"fortran_order\":True}", "f32[3, 2]", NULL, 3},
        {" {'descr':'|u1','fortran_order':False,'shape':()} ", "u8[]", NULL, 1},
        {"{'descr':'<i8','fortran_order':False,'shape':(5L,)}", "i64[5]", NULL, 1},
        {"{'descr':'i2','fortran_order':False,'shape':(5,)}", "i16[5]", NULL, 1},
        {"{'descr':'<i8','fortran_order':False,'shape':(5L,)}", NULL, "before 'L,", 3},
        {"{'descr':'<f4','fortran_order':False,'shape':(1,1,1,1,1,1,1,1,1)}", NULL, "8 axes", 1},
        {"{'descr':'<f4','fortran_order':False,'shape':(-1,)}", NULL, ">= 0 in the shape", 1},
        {"{'descr':'<f4','fortran_order':False,'shape':(1.0,)}", NULL, "',' or ')' expected", 1},
        {"{'descr':'<f4','fortran_order':False,'shape':(,)}", NULL, "whole number", 1},
        {"{'descr':'<f4','fortran_order':False,'shape':[3]}", NULL, "parentheses", 1},
        {"{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}", NULL, "2^63", 1},
        {"{'descr':'<f4','fortran_order':0,'shape':(3,)}", NULL, "True or False", 1},
        {"{'descr':'<f4','fortran_order':Trueish,'shape':(3,)}", NULL, "True or False", 1},
        {"{'descr':'<f4','fortran_order':False}", NULL, "lacks 'shape'", 1},
        {"{'descr':'<f4','descr':'<f4','fortran_order':False,'shape':(3,)}", NULL, "twice", 1},
        {"{'descr':'<f4' 'fortran_order':False,'shape':(3,)}", NULL, "',' or '}'", 1},
        {"{'descr':'<f4','fortran_order':False,'shape':(3,)", NULL, "'}' expected", 1},
        {"{'descr':'<f4','fortran_order':False,'shape':(3,)}x", NULL, "end of the header", 1},
        {"{'descr':[('x','O')],'fortran_order':False,'shape':(3,)}", NULL, "Python objects", 1},
        {"{'descr':[('x','<f4'),('x','<f4')],'fortran_order':False,'shape':(3,)}", NULL,
         "two members 'x'", 1},
        {"{'descr':[('x','<f4',(2,2,2,2,2,2,2,2,2))],'fortran_order':False,'shape':(3,)}", NULL,
         "8 axes", 1},
        {"{'descr':[('x','<f4',(4294967296,4294967296))],'fortran_order':False,'shape':(3,)}", NULL,
         "2^63", 1},
        {"{'descr':[('s',[('x','<f4')],(9999999,))],'fortran_order':False,'shape':(3,)}", NULL,
         "more than 65536 members", 1},
        {"{'descr':[('x','<f4',3)],'fortran_order':False,'shape':(3,)}", NULL, "parentheses", 1},
        {"{'descr':[('x','<q4')],'fortran_order':False,'shape':(3,)}", NULL, "unknown type", 1},
        {"{'descr':[('x' '<f4')],'fortran_order':False,'shape':(3,)}", NULL, "',' expected", 1},
        {"{'descr':[('x','<f4'],'fortran_order':False,'shape':(3,)}", NULL, "')' expected", 1},
        {"{'descr':['x','<f4'],'fortran_order':False,'shape':(3,)}", NULL, "'(' of a member", 1},
        {"{'descr':[('x','<f4')", NULL, "',' or ']'", 1},
        {"{'descr':[('x\\x00','<f4')],'fortran_order':False,'shape':(3,)}", NULL, "name in quotes",
         1},
        {"{'descr':[('x\xe9','<f4')],'fortran_order':False,'shape':(3,)}", NULL, "name in quotes",
         3},
        {"{'descr':[('x\xe9','<f4')],'fortran_order':False,'shape':(3,)}", "bool[3]", NULL, 1},
        {"{'descr':('<f4',(2,3)),'fortran_order':False,'shape':(3,)}", "f32[3, 2, 3]", NULL, 1},
        {"{'descr':[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", NULL, "'(' of a member", 1},
        {"{'descr':((((((((((((((((((((((((((((((((((((((", NULL, "nested more than 32", 1},
        {"{'descr':'<f16','fortran_order':False,'shape':(3,)}", NULL, "long doubles", 1},
        {"{'descr':'<f3','fortran_order':False,'shape':(3,)}", NULL, "unknown type", 1},
        {"{'descr':'','fortran_order':False,'shape':(3,)}", NULL, "unknown type", 1},
        {"{'descr':'<m8[ns]','fortran_order':False,'shape':(3,)}", "i64[3]", NULL, 1},
        {"{'descr':'<m8[Y]','fortran_order':False,'shape':(3,)}", NULL, "timedelta64", 1},
        {"{'descr':'<M8','fortran_order':False,'shape':(3,)}", NULL, "datetime64", 1},
        {"{'descr':'<M8[','fortran_order':False,'shape':(3,)}", NULL, "datetime64", 1},
        {"{'descr':'<M8[]','fortran_order':False,'shape':(3,)}", NULL, "datetime64", 1},
        {"{'descr':'\\x3cf4','fortran_order':False,'shape':(3,)}", "f32[3]", NULL, 1},
        {"{'descr':'\\q3cf4','fortran_order':False,'shape':(3,)}", NULL, "dtype in quotes", 1},
        {"{'descr':'<f4", NULL, "dtype in quotes", 1},
        {"", NULL, "'{' expected", 1},
        {"{", NULL, "key in quotes", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ps_npy_header header;
        struct ps_error error = {0};
        char text[PS_ARRAY_TEXT];
        // An exact copy, so that a byte read behind it is noticed.
        size_t length = strlen(cases[i].text);
        char *copy = malloc(length + (length == 0));
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        memcpy(copy, cases[i].text, length);
        bool fine = ps_npy_header_parse(copy, length, cases[i].major, "f.npy", &header, &error);
        free(copy);
        if (fine != (cases[i].array != NULL))
            fprintf(stderr, "\n  %s: %s\n", cases[i].text, error.text);
        CU_ASSERT_EQUAL(fine, cases[i].array != NULL);
        if (fine) {
            CU_ASSERT_STRING_EQUAL(ps_array_text(&header.array, text), cases[i].array);
            ps_npy_header_free(&header);
        }
        if (!fine) {
            CHECK_TEXT(error.text, cases[i].says);
            CHECK_TEXT(error.text, "f.npy");
            CU_ASSERT_EQUAL(error.status, PS_INPUT);
        }
    }
}

static void cut_headers(void)
{
    size_t bytes = 0;
    char *file = help_slurp(PS_TEST_DATA "/formats/number.npy", &bytes);
    CU_ASSERT_FATAL(file != NULL && bytes == 136);
    for (size_t length = 0; length < bytes; length++) {
        struct help_input input;
        const char *path = help_path("cut.npy");
        CU_ASSERT_FATAL(help_file(path, file, length));
        CU_ASSERT_FALSE(help_open(&input, &ps_format_npy, path, NULL));
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        help_close(&input);
    }
    free(file);
}

// Files with some bytes changed are read or refused, and nothing else happens (run with ASan).
static void changed_headers(void)
{
    size_t bytes = 0;
    const char *path = help_path("changed.npy");
    char *file = help_slurp(PS_TEST_DATA "/formats/fortran_753.npy", &bytes), copy[548];
    static const char likely[] = "(){}[],:'\"0123456789<>|=bfiuL \n\\TrueFalse\x93\xff";
    uint64_t position = 0;
    int accepted = 0, refused = 0;
    CU_ASSERT_FATAL(file != NULL && bytes == sizeof copy);
    for (int round = 0; round < 2000; round++) {
        struct help_input input;
        memcpy(copy, file, sizeof copy);
        for (uint64_t n = 1 + ps_random_at(1, position) % 3; n > 0; n--, position++)
            copy[ps_random_at(2, position) % 100] =
                likely[ps_random_at(3, position) % sizeof likely];
        CU_ASSERT_FATAL(help_file(path, copy, sizeof copy));
        if (help_open(&input, &ps_format_npy, path, NULL)) {
            char *data = help_read_all(&input, 2);
            CU_ASSERT_PTR_NOT_NULL(data);
            free(data);
            accepted++;
        } else {
            CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
            refused++;
        }
        help_close(&input);
    }
    CU_ASSERT(accepted > 10 && refused > 1000);
    free(file);
}

static void one_number_and_bools(void)
{
    struct help_input input;
    double value = 0;
    unsigned char truth[4];
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, PS_TEST_DATA "/formats/number.npy", NULL));
    CU_ASSERT_EQUAL(input.reader.array.rank, 0);
    CU_ASSERT(help_read(&input, 0, 1, &value) && value == 2.5);
    help_close(&input);
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, PS_TEST_DATA "/formats/bool.npy", NULL));
    CU_ASSERT(help_read(&input, 0, 2, truth) && memcmp(truth, "\1\0\0\1", 4) == 0);
    help_close(&input);
    // Any byte but 0 is true.
    CU_ASSERT_FATAL(help_file(help_path("truth.bin"), "\0\2\377\1", 4));
    CU_ASSERT_FATAL(help_open(&input, &ps_format_raw, help_path("truth.bin"),
                              (const char *[]){"dtype", "bool", NULL}));
    CU_ASSERT(help_read(&input, 0, 4, truth) && memcmp(truth, "\0\1\1\1", 4) == 0);
    help_close(&input);
}

// ---- The wrapper ----

static void ranges_outside(void)
{
    struct help_input input;
    double data[6];
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, PS_TEST_DATA "/cases/npy/fortran.npy", NULL));
    static const int64_t outside[][2] = {{-1, 1}, {0, 3}, {2, 1}, {3, 0}, {1, INT64_MAX}, {0, -1}};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        CU_ASSERT_FALSE(help_read(&input, outside[i][0], outside[i][1], data));
        CU_ASSERT_EQUAL(input.error.status, PS_BUG);
        input.error = (struct ps_error){0};
    }
    CU_ASSERT(help_read(&input, 2, 0, data));
    help_close(&input);
}

static void shrinking_file(void)
{
    static const char *const raw[] = {"dtype", "f32", "shape", "[-1, 4]", NULL};
    static const float zeros[4000];
    static float data[4000];
    struct help_input input;
    const char *path = help_path("shrinks.bin");
    CU_ASSERT_FATAL(help_file(path, zeros, sizeof zeros));
    CU_ASSERT_FATAL(help_open(&input, &ps_format_raw, path, raw));
    CU_ASSERT(help_read(&input, 0, 1000, data));
    CU_ASSERT_EQUAL(truncate(path, 8000), 0);
    CU_ASSERT_FALSE(help_read(&input, 0, 1000, data));
    CHECK_TEXT(input.error.text, "shrinks.bin ends at byte 8000");
    CHECK_TEXT(input.error.text, "shrank");
    CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
    input.error = (struct ps_error){0};
    CU_ASSERT_EQUAL(truncate(path, 32000), 0); // growing changes nothing
    CU_ASSERT(help_read(&input, 0, 1000, data));
    CU_ASSERT_EQUAL(ps_array_rows(&input.reader.array), 1000);
    help_close(&input);
}

// Copies a file into a pipe from another process.
static void feed_pipe(const char *from, const char *pipe)
{
    size_t bytes = 0;
    char *data = help_slurp(from, &bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    fflush(NULL);
    if (fork() == 0)
        _exit(help_file(pipe, data, bytes) ? 0 : 1);
    free(data);
}

static void reads_pipes(void)
{
    static const double wanted[] = {0, 1, 2, 3, 4, 5};
    struct help_input input;
    const char *path = help_path("pipe");
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    feed_pipe(PS_TEST_DATA "/cases/npy/unaligned_header.npy", path);
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, path, NULL));
    CU_ASSERT_STRING_EQUAL(input.reader.way, "read");
    double *data = help_read_all(&input, 1);
    CU_ASSERT(data != NULL && memcmp(data, wanted, sizeof wanted) == 0);
    double row[3];
    CU_ASSERT_FALSE(help_read(&input, 0, 1, row));
    CHECK_TEXT(input.error.text, "cannot be read twice");
    free(data);
    ps_reader_close(&input.reader);
    help_close(&input);
    CU_ASSERT_PTR_NULL(ps_format_guess(path, false));
    CU_ASSERT_FALSE(help_open(&input, &ps_format_npy, "/dev/null", NULL));
    CHECK_TEXT(input.error.text, "not a regular file");
    help_close(&input);
    while (wait(NULL) > 0)
        continue;
}

// ---- pattern ----

static void random_numbers(void)
{
    size_t bytes = 0, lines = 0;
    char *file = help_slurp(PS_TEST_DATA "/formats/random.txt", &bytes), *rest = file;
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0'; lines++) {
        uint64_t seed, position, want;
        double uniform, normal, out[3];
        CU_ASSERT_EQUAL_FATAL(sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNx64 " %la %la", &seed,
                                     &position, &want, &uniform, &normal),
                              5);
        CU_ASSERT_EQUAL(ps_random_at(seed, position), want);
        ps_random_uniform(seed, position - (position > 0), 3, out);
        CU_ASSERT_EQUAL(out[position > 0], uniform);
        ps_random_normal(seed, position, 1, out);
        CU_ASSERT(fabs(out[0] - normal) <= 4e-16 * fabs(normal));
    }
    CU_ASSERT_EQUAL(lines, 7);
    free(file);
}

// quantile(p) is right where the share below it is p again.
static void quantile(void)
{
    for (double p = 1e-300; p < 0.5; p *= 1.7) {
        double x = ps_normal_quantile(p);
        CU_ASSERT(fabs(0.5 * erfc(-x / sqrt(2.0)) / p - 1) < 1e-12);
        CU_ASSERT(p < 1e-12 || fabs(ps_normal_quantile(1 - p) + x) < 1e-3);
    }
    CU_ASSERT_EQUAL(ps_normal_quantile(0.5), 0);
}

#define ELEMENTS 5250

// Any block size gives the same bytes; the mean of many numbers is where it should be.
static void pattern_blocks(const char *dtype, const char *kind)
{
    const char *pairs[] = {"shape", "[750, 7]", "dtype", dtype, "kind", kind, NULL};
    struct help_input input;
    char *whole = NULL;
    CU_ASSERT_FATAL(help_open(&input, &ps_format_pattern, NULL, pairs));
    for (int64_t step = 750; step > 0; step = step * 3 / 7) {
        char *data = help_read_all(&input, step);
        CU_ASSERT_PTR_NOT_NULL_FATAL(data);
        if (whole == NULL)
            whole = data;
        CU_ASSERT_EQUAL(memcmp(whole, data, 750 * ps_array_row_bytes(&input.reader.array)), 0);
        if (whole != data)
            free(data);
    }
    free(whole);
    help_close(&input);
}

static void patterns_are_the_same_in_any_blocks(void)
{
    static const char *const kinds[] = {"index", "random", "normal", "constant"};
    for (int d = 0; d < PS_DTYPE_COUNT; d++)
        for (int k = 0; k < 4; k++)
            if (k != 2 ||
                (d != PS_BOOL && ps_dtype_info((enum ps_dtype)d)->kind != PS_CLASS_UNSIGNED))
                pattern_blocks(ps_dtype_name((enum ps_dtype)d), kinds[k]);
}

static double *pattern_values(const char *const *more, struct ps_error *error)
{
    const char *pairs[24] = {"shape", "[5250]"};
    struct help_input input;
    double *values = NULL;
    for (int i = 0; more[i] != NULL; i++)
        pairs[i + 2] = more[i];
    if (help_open(&input, &ps_format_pattern, NULL, pairs)) {
        void *data = help_read_all(&input, 1000);
        size_t bad;
        uint64_t changed = 0;
        values = malloc(ELEMENTS * sizeof *values);
        CU_ASSERT_FATAL(data != NULL && values != NULL);
        CU_ASSERT(ps_convert(PS_F64, values, input.reader.array.dtype, data, ELEMENTS,
                             PS_CAST_ERROR, &bad, &changed));
        free(data);
    }
    *error = input.error;
    help_close(&input);
    return values;
}

static void check_moments(const char *const *options, double low, double high, double mean,
                          double variance)
{
    struct ps_error error = {0};
    double *values = pattern_values(options, &error), sum = 0, squares = 0;
    if (values == NULL)
        fprintf(stderr, "\n  %s\n", error.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (int i = 0; i < ELEMENTS; i++) {
        CU_ASSERT_FATAL(values[i] >= low && values[i] <= high);
        sum += values[i];
        squares += (values[i] - mean) * (values[i] - mean);
    }
    double spread = sqrt(variance / ELEMENTS); // of the mean
    CU_ASSERT(fabs(sum / ELEMENTS - mean) < 4 * spread);
    CU_ASSERT(fabs(squares / ELEMENTS / variance - 1) < 0.1);
    free(values);
}

static void patterns_have_their_distribution(void)
{
    check_moments((const char *[]){"kind", "random", NULL}, 0, 0x1.fffffep-1, 0.5, 1 / 12.0);
    check_moments((const char *[]){"kind", "random", "seed", "5", "low", "-3", "high", "1", "dtype",
                                   "f64", NULL},
                  -3, 1, -1, 16 / 12.0);
    check_moments((const char *[]){"kind", "random", "dtype", "i16", NULL}, 0, 99, 49.5,
                  9999 / 12.0);
    check_moments((const char *[]){"kind", "random", "dtype", "u8", "high", "256", NULL}, 0, 255,
                  127.5, 65535 / 12.0);
    check_moments((const char *[]){"kind", "random", "dtype", "bool", NULL}, 0, 1, 0.5, 0.25);
    check_moments((const char *[]){"kind", "random", "dtype", "f16", "low", "1", "high", "2", NULL},
                  1, 2 - 0x1p-10, 1.5, 1 / 12.0);
    check_moments((const char *[]){"kind", "normal", NULL}, -8.3, 8.3, 0, 1);
    check_moments(
        (const char *[]){"kind", "normal", "mean", "100", "std", "5", "dtype", "i32", NULL}, 58,
        142, 100, 25 + 1 / 12.0);
}

static void patterns_count(void)
{
    struct ps_error error = {0};
    double *values = pattern_values((const char *[]){"dtype", "f64", NULL}, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (int i = 0; i < ELEMENTS; i++)
        CU_ASSERT_EQUAL(values[i], i);
    free(values);
    values = pattern_values((const char *[]){"dtype", "i8", NULL}, &error);
    CU_ASSERT(values != NULL && values[127] == 127 && values[128] == 0 && values[129] == 1);
    free(values);
    values = pattern_values((const char *[]){"dtype", "f16", NULL}, &error);
    CU_ASSERT(values != NULL && values[2047] == 2047 && values[2048] == 0);
    free(values);
    values = pattern_values((const char *[]){"kind", "constant", "value", "-2.5", NULL}, &error);
    CU_ASSERT(values != NULL && values[0] == -2.5 && values[5249] == -2.5);
    free(values);
}

static void wrong_patterns(void)
{
    static const char *const cases[][9] = {
        {"kind", "index", "seed", "3"},
        {"kind", "random", "mean", "3"},
        {"kind", "constant", "low", "3"},
        {"low", "3"},
        {"kind", "random", "low", "1"},
        {"kind", "random", "high", "-1"},
        {"kind", "random", "high", ".inf"},
        {"kind", "random", "low", ".nan"},
        {"kind", "random", "high", "257", "dtype", "u8"},
        {"kind", "random", "low", "-1", "dtype", "u8"},
        {"kind", "random", "high", "65505.1", "low", "65504.5", "dtype", "i16"},
        {"kind", "random", "low", "0.1", "high", "0.9", "dtype", "i16"},
        {"kind", "normal", "dtype", "u8"},
        {"kind", "normal", "std", "-1"},
        {"kind", "normal", "std", "1e38"},
        {"kind", "constant", "value", "1.5", "dtype", "i8"},
        {"kind", "constant", "value", "1e9", "dtype", "f16"},
        {"shape", "[-1]"},
        {"shape", "[4611686018427387904, 4]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ps_error error = {0};
        double *values = pattern_values(cases[i], &error);
        if (values != NULL)
            fprintf(stderr, "\n  accepted: %s %s\n", cases[i][0], cases[i][1]);
        CU_ASSERT_PTR_NULL(values);
        CU_ASSERT(error.status == PS_USAGE || error.status == PS_INPUT);
        free(values);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"Fortran order of NumPy", fortran_from_numpy},
        {"Fortran order, large", fortran_large},
        {"npy headers", headers},
        {"npy files cut anywhere", cut_headers},
        {"npy files with changed bytes", changed_headers},
        {"a number and truth values", one_number_and_bools},
        {"ranges outside the array", ranges_outside},
        {"a file that shrinks", shrinking_file},
        {"pipes", reads_pipes},
        {"random numbers", random_numbers},
        {"normal quantile", quantile},
        {"patterns in blocks", patterns_are_the_same_in_any_blocks},
        {"distributions", patterns_have_their_distribution},
        {"counting patterns", patterns_count},
        {"wrong patterns", wrong_patterns},
        {NULL, NULL},
    };
    return help_finish(check_main("formats", tests));
}
