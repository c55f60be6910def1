// SPDX-License-Identifier: Apache-2.0
// CSV texts and what they hold, one table: values bit for bit against strtod, errors by their words.
// Each text is read in blocks of 1, 2, 3 and 100 rows, twice over (a second pass over the file).
#include "io_help.h"

#include <math.h>

struct csv_case {
    const char *what, *text;
    const char *pairs[9];  // options
    int columns, rows;
    const char *values[16]; // as strtod reads them, row by row; or
    const char *fault;      // words of the error
};

#define NAMES_XY "x,y\n"
static const struct csv_case cases[] = {
    {"plain", NAMES_XY "1.5,2\n3,4.25\n", {NULL}, 2, 2, {"1.5", "2", "3", "4.25"}, NULL},
    {"byte order mark, quoted name", "\xEF\xBB\xBF\"x\",y\n1,2\n", {"columns", "[x", NULL}, 1, 1, {"1"}, NULL},
    {"CRLF, no end", "x,y\r\n1,2\r\n3,4", {NULL}, 2, 2, {"1", "2", "3", "4"}, NULL},
    {"lone CR", "x,y\r1,2\r3,4\r", {NULL}, 2, 2, {"1", "2", "3", "4"}, NULL},
    {"mixed ends, blank lines", "x,y\n\n1,2\r\n\r\n3,4\r\r5,6\n\n", {NULL}, 2, 3, {"1", "2", "3", "4", "5", "6"}, NULL},
    {"newlines in quotes", "n,v\n\"a\nb\",10\n\"c\r\n\r\nd\",20\nplain,30\n", {"columns", "[v", NULL}, 1, 3, {"10", "20", "30"}, NULL},
    {"separators and quotes in quotes", "n,v\n\"a,b\",1\n\"c\"\"d\",2\n", {"columns", "[v", NULL}, 1, 2, {"1", "2"}, NULL},
    {"bare quotes", "p,c\n/i\",500\nacb\"\",7\n", {"columns", "[c", NULL}, 1, 2, {"500", "7"}, NULL},
    {"quoted numbers, blanks around", "x,y\n\"3.5\", -1000\n 7 ,\t0\n", {NULL}, 2, 2, {"3.5", "-1000", "7", "0"}, NULL},
    {"missing values", "x,y\n,nan\nNaN,-nan\nNA,1\n", {"missing", "[NA", NULL}, 2, 3, {"nan", "nan", "nan", "nan", "nan", "1"}, NULL},
    {"infinities and signs", "v\ninf\n-Infinity\n+INF\n-0\n+.5\n5.\n1e-400\n-1e999\n", {NULL}, 1, 8, {"inf", "-inf", "inf", "-0", "0.5", "5", "0", "-inf"}, NULL},
    {"hard roundings", "v\n9007199254740993\n0.1\n2.2250738585072011e-308\n4.9406564584124654e-324\n1.7976931348623157e308\n", {NULL}, 1, 5, {"9007199254740993", "0.1", "2.2250738585072011e-308", "4.9406564584124654e-324", "1.7976931348623157e308"}, NULL},
    {"no header, by position", "1;2;3\n4;5;6\n", {"header", "false", "separator", ";", "columns", "[2, 0", NULL}, 2, 2, {"3", "1", "6", "4"}, NULL},
    {"comments and skipped lines", "junk\n# a\nx,y\n# b\n1,2\n", {"comment", "#", "skip_rows", "1", NULL}, 2, 1, {"1", "2"}, NULL},
    {"tabs", "x\ty\n1\t2\n", {"separator", "tab", NULL}, 2, 1, {"1", "2"}, NULL},
    {"header only", "x,y\n", {NULL}, 2, 0, {NULL}, NULL},
    {"same name twice, by position", "a,a\n1,2\n", {"columns", "[1", NULL}, 1, 1, {"2"}, NULL},
    {"same name twice, by name", "a,a\n1,2\n", {"columns", "[a", NULL}, 0, 0, {NULL}, "ambiguous"},
    {"empty file", "", {NULL}, 0, 0, {NULL}, "is empty"},
    {"byte order mark only", "\xEF\xBB\xBF", {NULL}, 0, 0, {NULL}, "is empty"},
    {"text", "x,y\n1,2\n3,abc\n", {NULL}, 0, 0, {NULL}, "line 3, column 1 ('y'): 'abc' is not a number"},
    {"a second byte order mark", "x\n1\n\xEF\xBB\xBF" "2\n", {NULL}, 0, 0, {NULL}, "line 3, column 0 ('x'): '\\xEF\\xBB\\xBF2'"},
    {"short record", "a,b,c\n1,2,3\n4,5\n", {NULL}, 0, 0, {NULL}, "line 3 has 2 fields, expected 3"},
    {"long record", "a,b\n1,2\n4,5,6,7\n", {NULL}, 0, 0, {NULL}, "line 3 has 4 fields, expected 2"},
    {"lines are counted through quotes", "n,v\n\"a\nb\",1\nc,x\n", {"columns", "[v", NULL}, 0, 0, {NULL}, "line 4, column 1 ('v'): 'x'"},
    {"open quote", "n,v\na,1\n\"b,2\nc,3\n", {"columns", "[v", NULL}, 0, 0, {NULL}, "line 3 is never closed"},
    {"text behind a closing quote", "n,v\n\"a\"b,1\nc,2\n", {"columns", "[v", NULL}, 0, 0, {NULL}, "line 2"},
    {"UTF-16", "\xFF\xFEx", {NULL}, 0, 0, {NULL}, "UTF-16"},
    {"gzip", "\x1F\x8B\x08", {NULL}, 0, 0, {NULL}, "gzip"},
    {"unknown column", "temp,b\n1,2\n", {"columns", "[tmp", NULL}, 0, 0, {NULL}, "did you mean 'temp'?"},
    {"no such position", "a,b\n1,2\n", {"columns", "[2", NULL}, 0, 0, {NULL}, "has no column 2"},
    {"a number is no column", "a,b\n1,2\n", {"columns", "[1.0", NULL}, 0, 0, {NULL}, "1.0 is neither"},
};

static const char *make_file(const char *text, size_t length)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/t.csv", help_folder());
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL && fwrite(text, 1, length, file) == length && fclose(file) == 0);
    return path;
}

// Reads all rows in blocks; -1 on failure, else the rows.
static int64_t read_all(struct help_input *input, int64_t block, double *out, int64_t most)
{
    int64_t rows = 0, columns = input->reader.array.dims[1];
    for (;;) {
        struct ps_read_result result;
        double data[512];
        if (!ps_reader_read(&input->reader, rows, block, data, &result, &input->error))
            return -1;
        for (int64_t i = 0; i < result.rows * columns && rows * columns + i < most; i++)
            out[rows * columns + i] = data[i];
        rows += result.rows;
        if (result.rows < block)
            return rows;
    }
}

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void check_values(const struct csv_case *c, struct help_input *input, int64_t block)
{
    double got[32] = {0};
    for (int pass = 0; pass < 2; pass++) {
        int64_t rows = read_all(input, block, got, 32);
        CU_ASSERT_EQUAL(rows, c->rows);
        for (int i = 0; rows == c->rows && i < c->rows * c->columns; i++) {
            bool same = same_bits(got[i], strtod(c->values[i], NULL));
            CU_ASSERT(same);
            if (!same)
                printf("\n%s, blocks of %lld, value %d: %a, not %s", c->what, (long long)block, i, got[i],
                       c->values[i]);
        }
    }
}

static void check_case(const struct csv_case *c, int64_t block)
{
    struct help_input input;
    double got[32];
    bool opened = help_open(&input, &ps_format_csv, make_file(c->text, strlen(c->text)), c->pairs);
    if (c->fault == NULL) {
        CU_ASSERT(opened);
        CU_ASSERT(opened && input.reader.array.dims[1] == c->columns);
        if (opened && input.reader.array.dims[1] == c->columns)
            check_values(c, &input, block);
    } else {
        CU_ASSERT(!opened || read_all(&input, block, got, 32) < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(input.error.text, c->fault));
    }
    if (c->fault == NULL ? input.error.status != PS_OK : strstr(input.error.text, c->fault) == NULL)
        printf("\n%s: %s", c->what, input.error.text);
    help_close(&input);
}

static void test_table(void)
{
    static const int64_t blocks[] = {1, 2, 3, 100};
    help_clear();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int b = 0; b < 4; b++)
            check_case(&cases[i], blocks[b]);
}

// Integers go into their dtype without passing through floating point.
static void test_integers(void)
{
    const char *pairs[] = {"dtype", "i64", NULL}, *small[] = {"dtype", "u8", NULL};
    const char *whole = "v\n9007199254740993\n-9223372036854775808\n7\n";
    struct help_input input;
    struct ps_read_result result;
    int64_t got[4] = {0};
    CU_ASSERT(help_open(&input, &ps_format_csv,
                        make_file(whole, strlen(whole)), pairs));
    CU_ASSERT(ps_reader_read(&input.reader, 0, 4, got, &result, &input.error));
    CU_ASSERT(result.rows == 3 && got[0] == 9007199254740993 && got[1] == INT64_MIN && got[2] == 7);
    help_close(&input);
    bool opened = help_open(&input, &ps_format_csv, make_file("v\n256\n", 6), small);
    CU_ASSERT_FALSE(opened && ps_reader_read(&input.reader, 0, 4, got, &result, &input.error));
    CU_ASSERT_PTR_NOT_NULL(strstr(input.error.text, "out of the range of u8"));
    help_close(&input);
    opened = help_open(&input, &ps_format_csv, make_file("v,w\n1,\n", 7), pairs);
    CU_ASSERT_FALSE(opened && ps_reader_read(&input.reader, 0, 4, got, &result, &input.error));
    CU_ASSERT_PTR_NOT_NULL(strstr(input.error.text, "is missing"));
    help_close(&input);
}

// Declared f32 is rounded once: through f64 this would be 1.
static void test_single_rounding(void)
{
    const char *pairs[] = {"dtype", "f32", NULL};
    struct help_input input;
    struct ps_read_result result;
    float got[2];
    CU_ASSERT(help_open(&input, &ps_format_csv,
                        make_file("v\n1.00000005960464477540\n", 25), pairs));
    CU_ASSERT(ps_reader_read(&input.reader, 0, 2, got, &result, &input.error));
    CU_ASSERT(result.rows == 1 && got[0] == strtof("1.00000005960464477540", NULL));
    CU_ASSERT(got[0] == 0x1.000002p0f);
    help_close(&input);
}

// Records, CRLFs, quotes and numbers across every border of the scanner's buffer (256 KiB).
static void test_borders(void)
{
    enum { ROWS = 40000 };
    const char *pairs[] = {"columns", "[v", NULL};
    char *text = malloc(ROWS * 64);
    double *got = malloc((ROWS + 8) * sizeof *got);
    CU_ASSERT_FATAL(text != NULL && got != NULL);
    for (int shift = 0; shift < 24; shift++) {
        size_t n = (size_t)sprintf(text, "n%.*s,v\r\n", shift, "xxxxxxxxxxxxxxxxxxxxxxxx");
        for (int i = 0; i < ROWS; i++)
            n += (size_t)sprintf(text + n, "\"a,\"\"b\r\n%d\",%d.25\r\n", i % 7, i);
        struct help_input input;
        struct ps_read_result result;
        CU_ASSERT(help_open(&input, &ps_format_csv, make_file(text, n), pairs));
        bool fine = ps_reader_read(&input.reader, 0, ROWS + 8, got, &result, &input.error);
        CU_ASSERT(fine && result.rows == ROWS);
        for (int i = 0; fine && i < ROWS; i++)
            fine = got[i] == i + 0.25;
        CU_ASSERT(fine);
        help_close(&input);
    }
    free(text);
    free(got);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"a table of texts", test_table},
        {"integers", test_integers},
        {"one rounding to f32", test_single_rounding},
        {"borders of the buffer", test_borders},
        {NULL, NULL},
    };
    int result = check_main("csv rows", tests);
    char path[200];
    snprintf(path, sizeof path, "%s/t.csv", help_folder());
    unlink(path);
    rmdir(help_folder());
    return result;
}
