// SPDX-License-Identifier: Apache-2.0
// Hard CSV files of other writers (tests/data/cases/csv). expected.txt holds the right values as bit
// patterns, one column a line: file, column, options, values; the tables below hold what is refused.
// Where more than one answer is defensible, these were chosen: lone CRs end records; blank lines are
// skipped, in one column too; a control character, a second byte order mark and blanks of other
// alphabets are no numbers; hexadecimal floats are exact; f32 is rounded straight from the text;
// ambiguous names are refused, positions are not; names that are not UTF-8 are kept and shown escaped.
#include "csv_help.h"

static const char *case_path(const char *file)
{
    static char path[PATH_MAX];
    snprintf(path, PATH_MAX, "%s/cases/csv/%s", PS_TEST_DATA, file);
    return path;
}

// ---- Read right ----

static bool same_bits(enum ps_dtype dtype, const void *data, uint64_t bits)
{
    uint64_t got = 0;
    memcpy(&got, data, ps_dtype_bytes(dtype));
    bool wants_nan = dtype == PS_F64 && (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
    bool is_nan = dtype == PS_F64 && (got & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
    return wants_nan ? is_nan : got == bits;
}

static void check_column(const char *file, const char *column, const char *options, char *values)
{
    struct help_input input;
    char line[2048];
    int64_t rows = 0, row = 0;
    bool header = strstr(options, "header=false") == NULL;
    snprintf(line, sizeof line, "%s|columns=%s%s", options, header ? "" : "@", column);
    bool fine = csv_open(&input, case_path(file), line);
    char *data = fine ? csv_read_steps(&input, &rows) : NULL;
    if (data == NULL)
        fprintf(stderr, "\n  %s\n", input.error.text);
    CU_ASSERT_PTR_NOT_NULL(data);
    if (fine && header)
        CU_ASSERT_STRING_EQUAL(input.reader.array.columns[0], column);
    enum ps_dtype dtype = input.reader.array.dtype;
    for (char *word; data != NULL && (word = strsep(&values, " \n")) != NULL;) {
        if (*word == '\0' || *word == '-')
            continue;
        bool same = row < rows && same_bits(dtype, data + (size_t)row * ps_dtype_bytes(dtype),
                                            strtoull(word, NULL, 16));
        if (!same)
            fprintf(stderr, "\n  %s, column %s, row %d: not %s\n", file, column, (int)row, word);
        CU_ASSERT(same);
        row++;
    }
    CU_ASSERT_EQUAL(row, rows);
    free(data);
    csv_close(&input);
}

static void test_values(void)
{
    FILE *list = fopen(case_path("expected.txt"), "r");
    char *line = NULL;
    size_t room = 0;
    int count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    while (getline(&line, &room, list) > 0) {
        char *rest = line, *file = strsep(&rest, "\t"), *column = strsep(&rest, "\t");
        char *options = strsep(&rest, "\t");
        CU_ASSERT_PTR_NOT_NULL_FATAL(rest);
        check_column(file, column, options, rest);
        count++;
    }
    CU_ASSERT_EQUAL(count, 60);
    free(line);
    fclose(list);
}

static const struct {
    const char *file, *options;
    int64_t rows;
    int columns;
    double sum;
    const char *names;
} sums[] = {
    {"int_then_float_late.csv", "-", 5011, 1, 5012.5, NULL},
    {"boundary_64k_crlf_in_quotes.csv", "columns=v", 3451, 1, 105, "v"},
    {"cr_cr_lf.csv", "-", 2, 2, 10, "x|y"},
    {"byte_range_blank.csv", "-", 3, 1, 6, NULL},
    {"duplicate_names.csv", "-", 2, 3, 15, "a|b|a_2"},
    {"duplicate_names.csv", "columns=@2,0", 2, 2, 10, "a_2|a"},
    {"duplicate_header.csv", "columns=@2", 2, 1, 801, "0_2"},
    {"expression_like_names.csv", "columns=a-b,sum,e", 1, 3, 19, "a-b|sum|e"},
    {"numeric_header.csv", "header=false|columns=@0", 3, 1, 2024, "c0"},
    {"odd_header_names.csv", "-", 1, 7, 28, " a |b c|d,e|q\"q|temp \xC2\xB0"
                                            "C|c5|x"},
    {"one_cell.csv", "-", 0, 1, 0, "5"},
    {"bom_plain.csv", "skip_rows=1|header=false", 2, 2, 10.75, "c0|c1"},
    {"plain_text_named.csv.gz", "-", 3, 2, -1, NULL},
};

static void test_sums(void)
{
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct help_input input;
        int64_t rows = -1;
        char names[200] = "";
        bool fine = csv_open(&input, case_path(sums[i].file), sums[i].options);
        if (!fine)
            fprintf(stderr, "\n  %s\n", input.error.text);
        CU_ASSERT_FATAL(fine);
        double sum = 0, *data = (double *)csv_read_steps(&input, &rows);
        CU_ASSERT_PTR_NOT_NULL_FATAL(data);
        const struct ps_array *array = &input.reader.array;
        CU_ASSERT_EQUAL(rows, sums[i].rows);
        CU_ASSERT_EQUAL(array->dims[1], sums[i].columns);
        for (int64_t n = 0; n < rows * array->dims[1]; n++)
            sum += data[n];
        if (sums[i].sum >= 0)
            CU_ASSERT_EQUAL(sum, sums[i].sum);
        for (int n = 0; n < array->column_count && n < 10; n++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", n > 0 ? "|" : "",
                     array->columns[n]);
        if (sums[i].names != NULL)
            CU_ASSERT_STRING_EQUAL(names, sums[i].names);
        free(data);
        csv_close(&input);
    }
}

// ---- Refused ----

static const struct {
    const char *file, *options, *says[3];
} refused[] = {
    {"bom_only.csv", "-", {"is empty: no header and no rows"}},
    {"zero_bytes.csv.gz", "-", {"is empty: no header and no rows"}},
    {"bom_mid.csv", "-", {"line 3, column 0 ('x')", "is not a number"}},
    {"ctrl_z_eof.csv", "-", {"line 4, column 0 ('x')", "'\\x1A'", "is not a number"}},
    {"unclosed_quote.csv", "columns=v", {"line 3", "is never closed"}},
    {"space_before_quote.csv", "-", {"line 3 has 3 fields, expected 2"}},
    {"space_before_quote.csv", "columns=year", {"line 3 has 3 fields, expected 2"}},
    {"ragged_short.csv", "-", {"line 3 has 2 fields, expected 3"}},
    {"ragged_long.csv", "-", {"line 3 has 4 fields, expected 2"}},
    {"three_lines_widths.csv", "-", {"line 3 has 3 fields, expected 2"}},
    {"comments_top.csv", "-", {"line 2 has 1 field, expected 2"}},
    {"nbsp_thousands.csv", "separator=;", {"line 2", "is not a number"}},
    {"thousands_misplaced.csv", "-", {"line 2, column 0 ('v'): '1,2,3' is not a number"}},
    {"decimal_comma_semicolon.csv", "separator=;", {"line 2", "'10,20' is not a number"}},
    {"decimal_comma_quoted.csv", "-", {"line 2", "'1,2' is not a number"}},
    {"dot_thousands_comma_decimal.csv", "separator=;", {"line 2", "is not a number"}},
    {"na_tokens.csv", "-", {"line 4, column 0 ('v'): 'NA' is not a number", "`missing:`"}},
    {"na_tokens.csv", "missing=NA", {"line 5", "'N/A' is not a number"}},
    {"int_2p63.csv", "dtype=i64", {"line 3", "'9223372036854775808' is out of the range of i64"}},
    {"uint64_over.csv", "dtype=u64", {"line 3", "'18446744073709551616' is out of the range of u64"}},
    {"neg_in_uint.csv", "dtype=u32", {"line 3", "'-1' is out of the range of u32"}},
    {"neg_in_uint.csv", "dtype=u64", {"line 3", "'-1' is out of the range of u64"}},
    {"int_min_missing.csv", "dtype=i64|columns=a", {"line 5", "'' is missing", "i64"}},
    {"int_over_2p53_missing.csv", "dtype=i64", {"is missing, and a missing value cannot be stored"}},
    {"sci_in_int_col.csv", "dtype=i32", {"is not a whole number"}},
    {"text_late.csv", "-", {"text_late.csv, line 4002, column", "('v'): 'abc' is not a number"}},
    {"duplicate_header.csv", "columns=0", {"'0' is ambiguous: columns 0 and 2"}},
    {"duplicate_names.csv", "columns=a", {"'a' is ambiguous: columns 0 and 2", "by position"}},
    {"duplicate_names.csv", "columns=@3", {"has no column 3: it has 3, counted from 0"}},
    {"header_only.csv", "columns=bat", {"no column 'bat'", "(columns: bar, baz)", "did you mean 'ba"}},
    {"utf16le_bom.csv", "-", {"is UTF-16", "FF FE", "iconv"}},
    {"utf16le_nobom.csv", "-", {"line 1: a NUL byte", "UTF-16"}},
    {"nul_unquoted.csv", "-", {"line 3: a NUL byte"}},
    {"nul_in_header.csv", "-", {"line 1: a NUL byte"}},
    {"latin1_header.csv", "columns=x", {"columns: temp \\xB0C, v"}},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct help_input input;
        int64_t rows;
        char *data = NULL;
        if (csv_open(&input, case_path(refused[i].file), refused[i].options))
            data = csv_read_all(&input, 1000, &rows);
        CU_ASSERT_PTR_NULL(data);
        CHECK_TEXT(input.error.text, refused[i].file);
        for (int n = 0; n < 3 && refused[i].says[n] != NULL; n++)
            CHECK_TEXT(input.error.text, refused[i].says[n]);
        CU_ASSERT(input.error.status == PS_INPUT);
        free(data);
        csv_close(&input);
    }
}

int main(void)
{
    const struct check_test tests[] = {
        {"values", test_values}, {"rows, names, sums", test_sums}, {"refused", test_refused}, {NULL, NULL}};
    help_clear();
    return help_finish(check_main("csv_cases", tests));
}
