// SPDX-License-Identifier: Apache-2.0
// CSV beyond small files: everything that can straddle the reader's buffer of 256 KiB, random files
// against libcsv given the whole file at once, pipes, limits, and the writer's exact bytes.
#include "csv_help.h"

#include "base/text.h"
#include "io/csv_scan.h"

#include <math.h>
#include <pthread.h>

#define BUFFER_BYTES (256 << 10)

static struct ps_text text; // of the file that a test makes

static const char *store(const char *name)
{
    const char *path = help_path(name);
    CU_ASSERT_FATAL(!text.failed && help_file(path, text.data, text.length));
    ps_text_free(&text);
    return path;
}

static bool reads(const char *path, const char *options, char **data, int64_t *rows, char message[1536])
{
    struct help_input input;
    *data = NULL;
    if (csv_open(&input, path, options))
        *data = csv_read_all(&input, 777, rows);
    snprintf(message, 1536, "%s", input.error.text);
    csv_close(&input);
    return *data != NULL;
}

// ---- Places in the buffer ----

// The middle record is put so that its bytes lie around the end of the first buffer, at each place.
static void sweep(const char *middle, const char *line_end, const double *expected, int count)
{
    int length = (int)strlen(middle);
    for (int shift = -length - 3; shift <= 3; shift++) {
        char *data, message[1536];
        int64_t rows = 0, filler = (BUFFER_BYTES - 100) / 16 * 16;
        ps_text_printf(&text, "a,b%s", line_end);
        while ((int64_t)text.length < filler)
            ps_text_printf(&text, "1,2%s", line_end);
        int pad = BUFFER_BYTES + shift - (int)text.length - 2 - (int)strlen(line_end);
        ps_text_printf(&text, "%0*d,2%s", pad, 1, line_end);
        CU_ASSERT_EQUAL((int)text.length, BUFFER_BYTES + shift);
        ps_text_printf(&text, "%s5,6%s", middle, line_end);
        bool fine = reads(store("sweep.csv"), "-", &data, &rows, message);
        if (!fine)
            fprintf(stderr, "\n  shift %d of '%s': %s\n", shift, middle, message);
        CU_ASSERT(fine);
        if (!fine)
            continue;
        CU_ASSERT(memcmp(data + (size_t)(rows - 1) * 16, (double[]){5, 6}, 16) == 0);
        CU_ASSERT(memcmp(data + (size_t)(rows - 2) * 16 - (size_t)(count - 2) * 8, expected,
                         (size_t)count * 8) == 0);
        CU_ASSERT(memcmp(data + (size_t)(rows - 2) * 16 - (size_t)(count - 2) * 8 - 16,
                         (double[]){1, 2}, 16) == 0);
        free(data);
    }
}

static void test_boundaries(void)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (int i = 0; i < 3; i++) {
        char middle[64];
        sweep(snprintf(middle, sizeof middle, "-1.5e2,\"2.25\"%s", ends[i]) > 0 ? middle : "", ends[i],
              (double[]){-150, 2.25}, 2);
        snprintf(middle, sizeof middle, "3,4%s%s%s7,8%s", ends[i], ends[i], ends[i], ends[i]);
        sweep(middle, ends[i], (double[]){3, 4, 7, 8}, 4);
    }
}

// Quoted text with quotes, separators and line ends around the end of the buffer.
static void test_quoted_boundaries(void)
{
    const char *quoted = "\"say \"\"x\"\",\r\ny\r\"\"\"";
    for (int shift = -(int)strlen(quoted) - 2; shift <= 2; shift++) {
        char *data, message[1536];
        int64_t rows = 0;
        ps_text_add(&text, "n,v\r\n");
        ps_text_printf(&text, "%0*d,2\r\n", BUFFER_BYTES + shift - 9, 0);
        ps_text_printf(&text, "%s,3\r\nz,4", quoted);
        CU_ASSERT_FATAL(reads(store("quoted.csv"), "columns=v", &data, &rows, message));
        CU_ASSERT(rows == 3 && memcmp(data, (double[]){2, 3, 4}, 24) == 0);
        free(data);
    }
}

static void test_long_lines(void)
{
    char *data, message[1536];
    int64_t rows = 0;
    // A comment and a skipped line longer than the buffer, with what looks like records in them.
    ps_text_printf(&text, "%0*d,\"\n#%0*d,9,9,\"\nx,y\n%0*d.5,\"%0*d\"\n#,\n1,2\n", 3 * BUFFER_BYTES, 0,
                   BUFFER_BYTES + 7, 0, 2 * BUFFER_BYTES, 8, 700000, 9);
    CU_ASSERT_FATAL(reads(store("long.csv"), "comment=#|skip_rows=1", &data, &rows, message));
    CU_ASSERT(rows == 2 && memcmp(data, (double[]){8.5, 9, 1, 2}, 32) == 0);
    free(data);
}

static void test_record_limit(void)
{
    char *data, message[1536], *line = malloc((1 << 20) + 1);
    int64_t rows = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    memset(line, 'x', 1 << 20);
    line[(1 << 20) - 1] = '\n';
    line[1 << 20] = '\0';
    ps_text_add(&text, "a,b\n1,2\n3,\"");
    for (int i = 0; i < 65; i++)
        ps_text_add(&text, line);
    free(line);
    CU_ASSERT_FALSE(reads(store("limit.csv"), "-", &data, &rows, message));
    CHECK_TEXT(message, "line 3: a record of more than 64 MiB; is a quote never closed?");
}

static void test_cr_speed(void)
{
    char *data, message[1536];
    int64_t rows = 0;
    ps_text_add(&text, "v\r");
    for (int i = 0; i < 1000000; i++)
        ps_text_add(&text, "1\r");
    CU_ASSERT_FATAL(reads(store("cr.csv"), "dtype=u8", &data, &rows, message));
    CU_ASSERT_EQUAL(rows, 1000000);
    free(data);
}

// ---- Random files against libcsv ----

struct reference {
    double values[4000];
    int count, fields;
    bool header_done, ragged;
};

static void take_field(void *bytes, size_t length, void *context)
{
    struct reference *reference = context;
    if (reference->header_done && reference->fields < 2 && reference->count < 4000)
        reference->values[reference->count++] = length > 0 ? strtod(bytes, NULL) : (double)NAN;
    reference->fields++;
}

static void take_record(int end, void *context)
{
    struct reference *reference = context;
    (void)end;
    reference->ragged = reference->ragged || reference->fields != 3;
    reference->header_done = true;
    reference->fields = 0;
}

static uint64_t state = 12345;

static unsigned dice(unsigned sides)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % sides;
}

static void random_text(void)
{
    static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n"};
    static const char *const numbers[] = {"1",     "-2.5",     "\"3.25\"", "1e-300", "",
                                          "\"\"", "0.1", "123456789012345678", "+7", "4.9e-324"};
    static const char *const words[] = {"x",        "\"a,b\"",   "\"q\"\"q\"", "a\"b", "",
                                        "\"l\nm\"", "\"l\r\nm\"", "\"\"\"\"",   " y ",  "\"\r\""};
    ps_text_add(&text, "a,b,c\n");
    for (unsigned rows = 1 + dice(60); rows > 0; rows--)
        ps_text_printf(&text, "%s,%s,%s%s", numbers[dice(10)], numbers[dice(10)], words[dice(10)],
                       rows == 1 && dice(2) ? "" : ends[dice(4)]);
}

static int equal_values(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], 8) != 0 && !(a[i] != a[i] && b[i] != b[i]))
            return 0;
    return 1;
}

static void test_random(void)
{
    static struct reference reference;
    for (int round = 0; round < 500; round++) {
        struct csv_parser parser;
        char *data, message[1536];
        int64_t rows = 0;
        random_text();
        reference = (struct reference){0};
        CU_ASSERT_FATAL(csv_init(&parser, CSV_STRICT_FINI | CSV_APPEND_NULL) == 0);
        CU_ASSERT(csv_parse(&parser, text.data, text.length, take_field, take_record, &reference) ==
                  text.length);
        CU_ASSERT(csv_fini(&parser, take_field, take_record, &reference) == 0);
        csv_free(&parser);
        CU_ASSERT_FALSE(reference.ragged);
        bool fine = reads(store("random.csv"), "columns=a,b", &data, &rows, message);
        if (!fine)
            fprintf(stderr, "\n  round %d: %s\n", round, message);
        CU_ASSERT_FATAL(fine);
        CU_ASSERT_EQUAL(2 * rows, reference.count);
        CU_ASSERT(equal_values((double *)data, reference.values, reference.count));
        free(data);
    }
}

// ---- Small texts ----

static const struct {
    const char *text, *options, *says; // says NULL: reads these values
    int rows;
    double values[6];
} small[] = {
    {"a,b\n1,\n", "dtype=f32|columns=a", NULL, 1, {1}},
    {"a,b\n\"x\"y,1\n3,\"x\",\n", "columns=b", "line 2: text behind the closing quote", 0, {0}},
    {"a,b\n\"x\" ,1\n", "columns=b", "line 2: text behind the closing quote", 0, {0}},
    {"a,b\n\"x\ny\"z,1\n", "columns=b", "line 3: text behind the closing quote", 0, {0}},
    {"a\n\n\n1\n\n", "-", NULL, 1, {1}},
    {"a,b\n'x,y',1\n", "quote='|columns=b", NULL, 1, {1}},
    {"a\tb\n1\t2\n", "separator=tab", NULL, 1, {1, 2}},
    {"a|b\n1|2\n", "separator=;", "is not a number", 0, {0}},
    {"a,b\n1,2\n", "columns=@1,0", NULL, 1, {2, 1}},
    {"a,b\n1,2\n", "columns=a,a", "'a' is listed twice", 0, {0}},
    {"a,b\n1,2\n", "columns=@1.5", "neither a position nor a name", 0, {0}},
    {"a,b\n1,2\n", "columns=@true", "put a name that looks like this in quotes", 0, {0}},
    {"a,b\n1,2\n", "columns=@-1", "has no column -1", 0, {0}},
    {"#x\n#y\n\n1,2\n#z\n3,4", "comment=#|header=false", NULL, 2, {1, 2, 3, 4}},
    {"1,2\n3,4\n", "skip_rows=5", "has no records", 0, {0}},
    {"\n\n", "-", "has no records", 0, {0}},
    {"1,2\n3,x\n", "header=false", "line 2, column 1 ('c1'): 'x' is not a number", 0, {0}},
    {"x,2\n", "header=false", "line 1, column 0 ('c0'): 'x' is not a number", 0, {0}},
    {"a\n 1 \n\t2\t\n", "-", NULL, 2, {1, 2}},
    {"a\n1 2\n", "-", "'1 2' is not a number", 0, {0}},
    {"a\n300\n", "dtype=u8", "'300' is out of the range of u8", 0, {0}},
    {"a\n1.0\n", "dtype=i32", "'1.0' is not a whole number", 0, {0}},
    {"a\n1\n", "dtype=bool", "cannot be read as bool", 0, {0}},
    {"a\n1\n", "separator=ab", "is not one character", 0, {0}},
    {"a\n1\n", "separator=1", "cannot separate numbers", 0, {0}},
    {"a\n1\n", "separator=\"", "cannot separate numbers", 0, {0}},
    {"a\n1\n", "comment=,", "must be three characters", 0, {0}},
    {"a\n1\n", "separator=;|quote=;", "must be three characters", 0, {0}},
    {"a\n1\n", "quote=", "is not one character", 0, {0}},
    {"a,a,a_1\n1,2,3\n", "columns=a_1", NULL, 1, {3}},
    {"a,a,a_1\n1,2,3\n", "columns=a_1_1", NULL, 1, {2}},
    {",c0\n1,2\n", "columns=c0", NULL, 1, {2}},
};

static void test_small(void)
{
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        struct help_input input;
        int64_t rows = 0;
        ps_text_add(&text, small[i].text);
        char *data = csv_open(&input, store("small.csv"), small[i].options)
                         ? csv_read_steps(&input, &rows)
                         : NULL;
        if ((data == NULL) != (small[i].says != NULL))
            fprintf(stderr, "\n  %s (%s): %s\n", small[i].text, small[i].options, input.error.text);
        CU_ASSERT((data == NULL) == (small[i].says != NULL));
        if (small[i].says != NULL) {
            CHECK_TEXT(input.error.text, small[i].says);
        } else if (data != NULL) {
            int64_t count = rows * input.reader.array.dims[1];
            CU_ASSERT_EQUAL(rows, small[i].rows);
            for (int64_t n = 0; n < count && n < 6; n++)
                CU_ASSERT_EQUAL(input.reader.array.dtype == PS_F32 ? ((float *)data)[n]
                                                                   : ((double *)data)[n],
                                small[i].values[n]);
        }
        free(data);
        csv_close(&input);
    }
}

// ---- Pipes ----

static void *feed_pipe(void *path)
{
    FILE *pipe = fopen(path, "wb");
    for (int i = 0; pipe != NULL && i < 60000; i++)
        fprintf(pipe, "%d,%d\n", i, 2 * i);
    if (pipe != NULL)
        fclose(pipe);
    return NULL;
}

static void test_pipe(void)
{
    struct help_input input;
    pthread_t thread;
    int64_t rows = 0;
    char *path = (char *)help_path("pipe.csv");
    CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, feed_pipe, path) == 0);
    CU_ASSERT_FATAL(csv_open(&input, path, "header=false"));
    double *data = (double *)csv_read_all(&input, 1000, &rows);
    CU_ASSERT(data != NULL && rows == 60000 && data[2 * 59999 + 1] == 2 * 59999);
    free(data);
    CU_ASSERT_PTR_NULL(csv_read_all(&input, 1000, &rows));
    CHECK_TEXT(input.error.text, "cannot be read twice (a pipe)");
    pthread_join(thread, NULL);
    csv_close(&input);
}

// ---- Writing ----

static char *written(const struct ps_array *array, const void *data, int64_t block, const char *suffix,
                     const char *const *pairs, struct ps_error *error)
{
    struct ps_values values;
    char path[PATH_MAX];
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/out%s", help_folder(), suffix);
    CU_ASSERT_FATAL(help_options(&values, ps_format_csv.write_options, pairs));
    struct ps_writer writer = {.format = &ps_format_csv, .path = path, .temp_path = path,
                               .options = &values, .array = array};
    const struct ps_format_writer *row = ps_format_csv.writer;
    int64_t rows = ps_array_rows(array);
    unlink(path); // a writer is given a new file
    bool fine = row->create(&writer, error);
    for (int64_t r = 0; fine && r < rows; r += block) {
        int64_t part = rows - r < block ? rows - r : block;
        fine = row->write(&writer, r, part, (const char *)data + (size_t)r * ps_array_row_bytes(array),
                          error);
    }
    fine = fine && row->finish(&writer, rows, error);
    row->close(&writer);
    ps_values_free(&values);
    return fine ? help_slurp(path, &bytes) : NULL;
}

static void check_written(enum ps_dtype dtype, int rank, const int64_t *dims, int columns,
                          const char *const *names, const void *data, const char *suffix,
                          const char *const *pairs, const char *expected)
{
    struct ps_array array;
    struct ps_error error = {0};
    ps_array_init(&array, dtype, rank, dims);
    CU_ASSERT_FATAL(columns == 0 || ps_array_set_columns(&array, columns, names, &error));
    for (int64_t block = 1; block <= 4; block++) {
        char *bytes = written(&array, data, block, suffix, pairs, &error);
        if (bytes == NULL || strcmp(bytes, expected) != 0)
            fprintf(stderr, "\n  '%s' is not '%s' %s\n", bytes ? bytes : "-", expected, error.text);
        CU_ASSERT(bytes != NULL && strcmp(bytes, expected) == 0);
        free(bytes);
    }
    ps_array_free(&array);
}

#define DIMS(...) ((int64_t[]){__VA_ARGS__})
#define TEXTS(...) ((const char *[]){__VA_ARGS__, NULL})

static void test_written(void)
{
    static const double f64[] = {0.1, -0.0, 1e22, 5e-324, (double)INFINITY, 3};
    static const float f32[] = {0.1f, 16777216, 1e-45f, 3.4028235e38f};
    static const uint16_t f16[] = {0x3c00, 0x2e66, 0x7bff, 0x0001};
    static const int64_t i64[] = {INT64_MIN, INT64_MAX, 0};
    static const uint64_t u64[] = {UINT64_MAX, 1};
    static const int8_t i8[] = {-128, 127};
    check_written(PS_F64, 2, DIMS(3, 2), 0, NULL, f64, ".csv", NULL, "0.1,-0\n1e+22,5e-324\ninf,3\n");
    check_written(PS_F64, 2, DIMS(3, 2), 2, TEXTS("a", "b"), f64, ".tsv", NULL,
                  "a\tb\n0.1\t-0\n1e+22\t5e-324\ninf\t3\n");
    check_written(PS_F64, 2, DIMS(1, 2), 2, TEXTS("a,b", "q\"q"), f64, ".csv", NULL,
                  "\"a,b\",\"q\"\"q\"\n0.1,-0\n");
    check_written(PS_F64, 2, DIMS(1, 2), 2, TEXTS("", " l\n"), f64, ".csv", NULL,
                  "\"\",\" l\n\"\n0.1,-0\n");
    check_written(PS_F64, 2, DIMS(1, 2), 2, TEXTS("a", "b"), f64, ".csv", TEXTS("header", "0"),
                  "0.1,-0\n");
    check_written(PS_F64, 2, DIMS(1, 2), 0, NULL, f64, ".csv", TEXTS("header", "1", "separator", ";"),
                  "c0;c1\n0.1;-0\n");
    check_written(PS_F32, 1, DIMS(4), 0, NULL, f32, ".csv", NULL, "0.1\n16777216\n1e-45\n3.4028235e+38\n");
    check_written(PS_F16, 1, DIMS(4), 0, NULL, f16, ".csv", NULL, "1\n0.1\n65504\n6e-08\n");
    // One line although it comes in blocks of one element.
    check_written(PS_I64, 1, DIMS(3), 3, TEXTS("x", "y", "z"), i64, ".csv", NULL,
                  "x,y,z\n-9223372036854775808,9223372036854775807,0\n");
    check_written(PS_U64, 1, DIMS(2), 0, NULL, u64, ".csv", NULL, "18446744073709551615\n1\n");
    check_written(PS_I8, 2, DIMS(2, 1), 0, NULL, i8, ".csv", NULL, "-128\n127\n");
    check_written(PS_BOOL, 1, DIMS(2), 0, NULL, "\1\0", ".csv", NULL, "true\nfalse\n");
    check_written(PS_I64, 0, NULL, 0, NULL, &i64[1], ".csv", NULL, "9223372036854775807\n");
    check_written(PS_F64, 2, DIMS(0, 2), 2, TEXTS("a", "b"), f64, ".csv", NULL, "a,b\n");
    check_written(PS_F64, 2, DIMS(0, 2), 0, NULL, f64, ".csv", NULL, "");
}

static void test_write_refused(void)
{
    struct ps_array array;
    struct ps_error error = {0};
    ps_array_init(&array, PS_F32, 3, DIMS(2, 2, 2));
    CU_ASSERT_PTR_NULL(written(&array, "", 1, ".csv", NULL, &error));
    CU_ASSERT_EQUAL(error.status, PS_OUTPUT);
    CHECK_TEXT(error.text, "CSV holds at most 2 axes, the array is f32[2, 2, 2]; write it as hdf5 or npy");
    error = (struct ps_error){0};
    ps_array_init(&array, PS_F32, 1, DIMS(2));
    CU_ASSERT_PTR_NULL(written(&array, "", 1, ".csv", TEXTS("separator", "e"), &error));
    CHECK_TEXT(error.text, "cannot separate numbers");
}

// What is written reads back with the same bits, through all sizes of buffer of both sides.
static void test_round_trip(void)
{
    enum { ROWS = 40000 };
    struct ps_array array;
    struct ps_error error = {0};
    char *data, message[1536];
    int64_t rows = 0;
    uint64_t *bits = malloc(2 * ROWS * sizeof *bits);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bits);
    for (int i = 0; i < 2 * ROWS; i++) {
        do
            bits[i] = (uint64_t)dice(1u << 31) << 33 ^ (uint64_t)dice(1u << 31) << 10 ^ dice(1u << 20);
        while ((bits[i] >> 52 & 0x7ff) == 0x7ff);
    }
    ps_array_init(&array, PS_F64, 2, DIMS(ROWS, 2));
    CU_ASSERT_FATAL(ps_array_set_columns(&array, 2, TEXTS("a", "b"), &error));
    free(written(&array, bits, 12345, ".csv", NULL, &error));
    CU_ASSERT_FATAL(reads(help_path("out.csv"), "-", &data, &rows, message));
    CU_ASSERT(rows == ROWS && memcmp(data, bits, 2 * ROWS * sizeof *bits) == 0);
    free(data);
    free(bits);
    ps_array_free(&array);
}

int main(void)
{
    const struct check_test tests[] = {
        {"ends of the buffer", test_boundaries},
        {"quotes at the end of the buffer", test_quoted_boundaries},
        {"lines longer than the buffer", test_long_lines},
        {"a record too long", test_record_limit},
        {"a million lines that end in CR", test_cr_speed},
        {"random files against libcsv", test_random},
        {"small texts", test_small},
        {"a pipe", test_pipe},
        {"written bytes", test_written},
        {"refused to write", test_write_refused},
        {"round trip", test_round_trip},
        {NULL, NULL},
    };
    help_clear();
    return help_finish(check_main("csv", tests));
}
