// SPDX-License-Identifier: Apache-2.0
// Dialects, columns, types and what is refused, one table: each text is read in blocks of 1, 2 and
// 100 rows, twice over (a second pass), and every element printed.
#include "io_help.h"

struct dialect_case {
    const char *what, *text;
    const char *pairs[11]; // options
    const char *array;     // "f64[?, 2]"; or NULL and
    const char *wanted;    // elements, row by row; or the words of the error
    const char *warning;   // its words, or NULL: none
};

static const struct dialect_case cases[] = {
    // Separators, quotes, escapes.
    {"runs of blanks", "  x   y\t z\n 1  2\t3 \n\n   \n4 5 6\n", {"separator", "blanks"}, "f64[?, 3]", "1 2 3 4 5 6", NULL},
    {"blanks and quotes", "\"x 1\" y\n1   2\r\n \"3\"  4", {"separator", "blanks", "columns", "[y"}, "f64[?, 1]", "2 4", NULL},
    {"single spaces", "x y\n1 2\n", {"separator", "space"}, "f64[?, 2]", "1 2", NULL},
    {"another quote", "x,y\n'1',2\n'3','4'\n", {"quote", "'"}, "f64[?, 2]", "1 2 3 4", NULL},
    {"no quotes", "x,y\n1,2\n", {"quote", "none"}, "f64[?, 2]", "1 2", NULL},
    {"quotes that are none", "n\"a,y\n\"1,2\n", {"quote", "none", "columns", "[y"}, "f64[?, 1]", "2", NULL},
    {"escapes", "n,v\na\\,b,1\n\"c\\\"d\",2\n\\\n,3\n", {"escape", "\\", "columns", "[v"}, "f64[?, 1]", "1 2 3", NULL},
    {"escaped line ends are counted", "n,v\na\\\nb,1\nc,x\n", {"escape", "\\", "columns", "[v"}, NULL, "line 4, column 1 ('v'): 'x'", NULL},
    {"the same character twice", "x\n1\n", {"separator", ";", "quote", ";"}, NULL, "must be different", NULL},
    // Numbers.
    {"decimal comma", "x;y\n1,5;-,25\n+2,;1e3\n", {"separator", ";", "decimal", ","}, "f64[?, 2]", "1.5 -0.25 2 1000", NULL},
    {"a point where a comma is meant", "x;y\n1.5;2\n", {"separator", ";", "decimal", ","}, NULL, "'1.5' is not a number", NULL},
    {"two commas", "x;y\n1,5,2;2\n", {"separator", ";", "decimal", ","}, NULL, "'1,5,2' is not a number", NULL},
    {"thousands", "v\n\"1,234\"\n\"12,345,678.25\"\n\"-999\"\n\"1234\"\n", {"thousands", ","}, "f64[?, 1]", "1234 12345678.25 -999 1234", NULL},
    {"thousands as i64", "v\n9.007.199.254.740.993\n", {"thousands", ".", "decimal", ",", "dtype", "i64"}, "i64[?, 1]", "9007199254740993", NULL},
    {"a narrow space between thousands", "v\n1\xE2\x80\xAF" "234\n", {"thousands", "\xE2\x80\xAF"}, "f64[?, 1]", "1234", NULL},
    {"thousands misplaced", "v\n\"12,34\"\n", {"thousands", ","}, NULL, "'12,34' is not a number", NULL},
    {"thousands after four", "v\n\"1234,567\"\n", {"thousands", ","}, NULL, "is not a number", NULL},
    {"thousands first", "v\n\",123\"\n", {"thousands", ","}, NULL, "is not a number", NULL},
    {"thousands last", "v\n\"123,\"\n", {"thousands", ","}, NULL, "is not a number", NULL},
    {"thousands in the fraction", "v\n\"0.123,456\"\n", {"thousands", ","}, NULL, "is not a number", NULL},
    {"thousands as the decimal mark", "v\n1\n", {"thousands", "."}, NULL, "is the decimal mark", NULL},
    {"hexadecimal", "v\n0x1.8p3\n-0X10\n0x1p-1074\n0x1p9999\n0x.8\n0x1.00000000000008p0\n", {NULL}, "f64[?, 1]", "12 -16 5e-324 inf 0.5 1", "'0x1p9999' is beyond the range of f64"},
    {"hexadecimal with two signs", "v\n0x-1\n", {NULL}, NULL, "'0x-1' is not a number", NULL},
    {"halves, rounded once", "v\n1.00048828125\n1.00048828125000000000000001\n1.0004882812499999999999999\n65519.99\n65520\n-65519.999999999999999999\n0.00000002980232238769531251\n", {"dtype", "f16"}, "f16[?, 1]", "1 1.001 1 65504 inf -65504 6e-08", "'65520' is beyond the range of f16 and becomes an infinity"},
    {"beyond f32", "v,w\n1e39,1\n-inf,3.5e38\n", {"dtype", "f32"}, "f32[?, 2]", "inf 1 -inf inf", "2 numbers in all became infinities"},
    {"beyond f32, beside f64", "v,w\n-1e39,1e39\n", {"dtype", "{v=f32"}, "f64[?, 2]", "-inf 1e+39", "line 2, column 0 ('v'): '-1e39' is beyond the range of f32"},
    {"infinities by name", "v\ninf\n-INF\n+Infinity\n", {"dtype", "f32"}, "f32[?, 1]", "inf -inf inf", NULL},
    {"truths", "v\ntrue\nFALSE\nTrue\n", {NULL}, "bool[?, 1]", "true false true", NULL},
    {"truths and numbers as bool", "v\ntrue\n0\n1\n", {"dtype", "bool"}, "bool[?, 1]", "true false true", NULL},
    {"truths beside numbers", "t,v\ntrue,2.5\nfalse,1\n", {NULL}, "f64[?, 2]", "1 2.5 0 1", NULL},
    {"no truth", "v\ntrue\n2\n", {"dtype", "bool"}, NULL, "line 3, column 0 ('v'): '2' is none of true, false, 1, 0", NULL},
    // Types.
    {"small whole numbers", "v\n1\n2\n", {NULL}, "f64[?, 1]", "1 2", NULL},
    {"whole numbers that f64 lacks", "v\n9007199254740993\n-1\n", {NULL}, "i64[?, 1]", "9007199254740993 -1", NULL},
    {"whole numbers that i64 lacks", "v\n18446744073709551615\n1\n", {NULL}, "u64[?, 1]", "18446744073709551615 1", NULL},
    {"both", "v\n18446744073709551615\n-1\n", {NULL}, "f64[?, 1]", "18446744073709551616 -1", "precision lost above 2^53"},
    {"identifiers with a gap", "v\n9007199254740993\n\n-\n", {"missing", "[-"}, "f64[?, 1]", "9007199254740992 nan", "line 2, column 0 ('v'): '9007199254740993' is rounded"},
    {"identifiers beside numbers", "id,v\n9007199254740993,0.5\n", {NULL}, NULL, "'9007199254740993' cannot be held exactly by f64, the dtype of the array; read the column as an input of its own", NULL},
    {"dtypes by column", "a,b,c\n1,-2,3\n255,-128,0.5\n", {"dtype", "{a=u8,b=int8,c=f32"}, "f32[?, 3]", "1 -2 3 255 -128 0.5", NULL},
    {"dtypes of two columns", "a,b\n1,-2\n", {"dtype", "{a=u8,b=i8"}, "i16[?, 2]", "1 -2", NULL},
    {"a dtype's range", "a,b\n1,2\n256,3\n", {"dtype", "{a=u8"}, NULL, "line 3, column 0 ('a'): '256' is out of the range of u8", NULL},
    {"a dtype by position", "a,b\n1,2\n", {"dtype", "{1=u8,0=u8"}, "u8[?, 2]", "1 2", NULL},
    {"a dtype twice", "a,b\n1,2\n", {"dtype", "{a=u8,0=f32"}, NULL, "column 'a' is given twice", NULL},
    {"a dtype of no column", "aa,b\n1,2\n", {"dtype", "{ab=u8"}, NULL, "no column 'ab'", NULL},
    {"a dtype of a column that is not read", "a,b\n1,2\n", {"dtype", "{a=u8", "columns", "[b"}, NULL, "column 'a' is not among `columns`", NULL},
    {"i64 that f64 cannot hold", "a,b\n1,2\n9007199254740993,3\n", {"dtype", "{a=i64,b=f64"}, NULL, "line 3, column 0 ('a'): '9007199254740993' cannot be held exactly by f64", NULL},
    {"i64 that f64 holds", "a,b\n9007199254740992,3\n", {"dtype", "{a=i64,b=f64"}, "f64[?, 2]", "9007199254740992 3", NULL},
    {"found i64, then a fraction", "a\n9007199254740993\n1.5\n", {NULL}, "f64[?, 1]", "9007199254740992 1.5", "precision lost"},
    {"seconds", "t,v\n1970-01-01T00:00:01.5Z,2\n2000-02-29 12:00+01:00,3\n", {"dtype", "{t=time_s"}, "f64[?, 2]", "1.5 2 951822000 3", NULL},
    {"nanoseconds", "t\n2024-01-01T00:00:00.123456789\n1969-12-31T23:59:59.999999999Z\n", {"dtype", "time_ns"}, "i64[?, 1]", "1704067200123456789 -1", NULL},
    {"no time", "t\n2024-02-30\n", {"dtype", "time_s"}, NULL, "line 2, column 0 ('t'): '2024-02-30' is no date or time of ISO 8601", NULL},
    {"a missing time", "t\n\"\"\n2024-01-01\n", {"dtype", "time_s"}, "f64[?, 1]", "nan 1704067200", NULL},
    {"a missing time in whole numbers", "t\n\"\"\n", {"dtype", "time_ns"}, NULL, "is missing, and a missing value cannot be stored as time_ns", NULL},
    {"too late for nanoseconds", "t\n2300-01-01\n", {"dtype", "time_ns"}, NULL, "is out of the range of time_ns", NULL},
    {"times that were not asked for", "t,v\n2024-01-01,1\n", {NULL}, NULL, "dates are read by `dtype: {column: time_s}`", NULL},
    {"text columns are named", "n,v,m,w\nab,1,cd,2\n", {NULL}, NULL, "`columns:` chooses the columns to read (numbers are in [1, 3])", NULL},
    {"the refused column is no advice", "v,t,w\n1,true,2\n3,,4\n", {NULL}, NULL, "line 2, column 1 ('t'): 'true' is not a number and cannot be read as f64; a word for missing values goes into `missing:`, and `columns:` chooses the columns to read (numbers are in [0, 2])", NULL},
    {"an empty field that is wrong", "a,b\n1,2\n3,\n", {"empty", "error"}, NULL, "line 3, column 1 ('b'): '' is not a number", NULL},
    {"an empty field that is wrong in whole numbers", "a\n1\n\"\"\n", {"empty", "error", "dtype", "i32"}, NULL, "line 3, column 0 ('a'): '' is not a whole number", NULL},
    {"missing words besides", "a\n1\nNA\n", {"empty", "error", "missing", "[NA"}, "f64[?, 1]", "1 nan", NULL},
    // Headers and columns.
    {"a header further down", "made by\nx\n\na,b\n1,2\n", {"header", "4"}, "f64[?, 2]", "1 2", NULL},
    {"a header on a blank line", "a\n\nb\n1\n", {"header", "2"}, NULL, "`header` is on line 2, which is blank or a comment; the next record is on line 3", NULL},
    {"a header on a comment", "x\n#a,b\n1,2\n3,4\n", {"header", "2", "comment", "#"}, NULL, "on line 2, which is blank or a comment", NULL},
    {"a header on a record of two lines", "x\n\"a\n\",b\n1,2\n", {"header", "2"}, "f64[?, 2]", "1 2", NULL},
    {"a header on line 0", "a\n1\n", {"header", "0"}, NULL, "header: '0' is not true, false", NULL},
    {"a header and skipped rows", "a\n1\n", {"header", "2", "skip_rows", "1"}, NULL, "remove `skip_rows`", NULL},
    {"names given", "1,2\n3,4\n", {"header", "[p,q", "columns", "[q"}, "f64[?, 1]", "2 4", NULL},
    {"names instead of a header", "a,b\n3,4\n", {"header", "[p,q", "skip_rows", "1", "columns", "[q"}, "f64[?, 1]", "4", NULL},
    {"too few names", "1,2\n", {"header", "[p"}, NULL, "`header` gives 1 name, but a record has 2 fields", NULL},
    {"a range of positions", "a,b,c,d\n1,2,3,4\n", {"columns", "[1:3"}, "f64[?, 2]", "2 3", NULL},
    {"open ranges", "a,b,c,d\n1,2,3,4\n", {"columns", "[2:,:1"}, "f64[?, 3]", "3 4 1", NULL},
    {"a range of names", "a,b,c,d\n1,2,3,4\n", {"columns", "[b:c"}, "f64[?, 2]", "2 3", NULL},
    {"an empty range", "a,b\n1,2\n", {"columns", "[b:a"}, NULL, "the range 'b:a' is empty", NULL},
    {"a range too far", "a,b\n1,2\n", {"columns", "[0:3"}, NULL, "has no column 3", NULL},
    {"a pattern", "t_1,x,t_2\n1,2,3\n", {"columns", "[t_*,x"}, "f64[?, 3]", "1 3 2", NULL},
    {"a pattern like nothing", "a\n1\n", {"columns", "[t_*"}, NULL, "no column's name is like 't_*'", NULL},
    {"a name that looks like a pattern", "a*,ab\n1,2\n", {"columns", "[a*"}, "f64[?, 1]", "1", NULL},
    {"a name that looks like a position", "1,0\n5,6\n", {"columns", "[@0"}, "f64[?, 1]", "6", NULL},
    {"listed twice", "a,b\n1,2\n", {"columns", "[a,0"}, NULL, "'a' is listed twice", NULL},
    {"the name of nothing", "a,\n1,2\n", {"columns", "[c1"}, "f64[?, 1]", "2", NULL},
    // Ragged records, comments, ends.
    {"short records padded", "a,b,c\n1,2,3\n4\n", {"ragged", "pad"}, "f64[?, 3]", "1 2 3 4 nan nan", NULL},
    {"padding is not for whole numbers", "a,b\n1,2\n4\n", {"ragged", "pad", "dtype", "i32"}, NULL, "line 3, column 1 ('b'): '' is missing", NULL},
    {"long records are not cut", "a,b\n1,2,3\n", {"ragged", "pad"}, NULL, "line 2 has 3 fields, expected 2", NULL},
    {"one of three fields", "a,b,c\n1,2,3\n4\n", {NULL}, NULL, "`ragged: pad`", NULL},
    {"comments, also last", "#c\na\n1\n#x,\"y\n2\n#", {"comment", "#"}, "f64[?, 1]", "1 2", NULL},
    {"a quoted comment is none", "n,v\n\"#a\",1\n", {"comment", "#", "columns", "[v"}, "f64[?, 1]", "1", NULL},
    {"an empty field last", "a,b\n1,", {NULL}, "f64[?, 2]", "1 nan", NULL},
    {"a quote closed at the end", "a,b\n1,\"2\"", {NULL}, "f64[?, 2]", "1 2", NULL},
    {"an empty quoted field alone", "a\n\"\"\n1\n", {NULL}, "f64[?, 1]", "nan 1", NULL},
    {"CR CR LF", "a\r\r\n1\r\r\n2\r\r\n", {NULL}, "f64[?, 1]", "1 2", NULL},
    {"a NUL in quotes", "a\n\"1\0\"\n", {NULL}, NULL, "line 2: a NUL byte", NULL},
    {"an early fault comes before a later one", "a,b\n1,x\n1,2,3\n", {NULL}, NULL, "line 2, column 1 ('b'): 'x'", NULL},
};

static size_t text_length(const struct dialect_case *c)
{
    // The only text with a NUL in it.
    return strstr(c->what, "NUL") != NULL ? 7 : strlen(c->text);
}

// Prints all elements, reading `step` rows at a time. False: input->error says why.
static bool print_rows(struct help_input *input, int64_t step, struct ps_text *out)
{
    const struct ps_array *array = &input->reader.array;
    size_t bytes = ps_dtype_bytes(array->dtype);
    char data[4096], text[PS_NUMBER_TEXT];
    struct ps_read_result result = {.rows = step};
    out->length = 0;
    for (int64_t row = 0; result.rows == step; row += step) {
        if (!ps_reader_read(&input->reader, row, step, data, &result, &input->error))
            return false;
        int64_t count = result.rows * ps_array_row_elements(array);
        for (int64_t i = 0; i < count; i++) {
            size_t length = ps_value_to_text(array->dtype, data + (size_t)i * bytes, text);
            ps_text_add(out, out->length > 0 ? " " : "");
            ps_text_append(out, text, length);
        }
    }
    return true;
}

static const char *printed(const struct ps_text *text)
{
    return text->length > 0 ? text->data : "";
}

static void check_case(const struct dialect_case *c)
{
    static const int64_t steps[] = {1, 2, 100};
    struct help_input input;
    char shape[PS_ARRAY_TEXT];
    struct ps_text text = {0};
    help_clear();
    CU_ASSERT_FATAL(help_file(help_path("t.csv"), c->text, text_length(c)));
    bool fine = help_open(&input, &ps_format_csv, help_path("t.csv"), c->pairs);
    for (int i = 0; fine && i < 6; i++) {
        fine = print_rows(&input, steps[i / 2], &text);
        if (fine && (c->array == NULL || strcmp(printed(&text), c->wanted) != 0)) {
            fprintf(stderr, "\n  %s: %s\n", c->what, printed(&text));
            CU_FAIL("other elements");
            break;
        }
    }
    if (fine && c->array != NULL)
        CU_ASSERT_STRING_EQUAL(ps_array_text(&input.reader.array, shape), c->array);
    if (fine != (c->array != NULL))
        fprintf(stderr, "\n  %s: %s\n", c->what, input.error.text);
    CU_ASSERT_EQUAL(fine, c->array != NULL);
    if (!fine)
        CHECK_TEXT(input.error.text, c->wanted);
    CHECK_TEXT(help_warnings, c->warning != NULL ? c->warning : "");
    if (c->warning == NULL)
        CU_ASSERT_STRING_EQUAL(help_warnings, "");
    ps_text_free(&text);
    help_close(&input);
}

static void reads_dialects(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

int main(void)
{
    static const struct check_test tests[] = {{"dialects", reads_dialects}, {NULL, NULL}};
    return help_finish(check_main("csv_dialects", tests));
}
