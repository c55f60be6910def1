// SPDX-License-Identifier: Apache-2.0
// Errors, arrays, problems as a compiler prints them, log and clock.
#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/problem.h"
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void first_error_wins(void)
{
    struct ps_error error = {0};
    ps_error_place(&error, "nowhere"); // nothing failed: nothing happens
    CU_ASSERT_EQUAL(error.status, PS_OK);
    CU_ASSERT_FALSE(ps_fail(&error, PS_INPUT, "%s: row %d", "a.csv", 7));
    CU_ASSERT_FALSE(ps_fail(&error, PS_BUG, "later"));
    CU_ASSERT_EQUAL(error.status, PS_INPUT);
    ps_error_place(&error, "stage %d (%s)", 2, "map");
    CU_ASSERT_STRING_EQUAL(error.text, "stage 2 (map): a.csv: row 7");
    struct ps_error second = {0};
    errno = ENOENT;
    CU_ASSERT_FALSE(ps_fail_errno(&second, PS_OUTPUT, "cannot open %s", "x"));
    CU_ASSERT_STRING_EQUAL(second.text, "cannot open x: No such file or directory");
    struct ps_error third = {0};
    CU_ASSERT_FALSE(ps_fail_memory(&third, 1ull << 40, "slots"));
    CU_ASSERT_EQUAL(third.status, PS_DEVICE);
    CU_ASSERT_STRING_EQUAL(third.text, "cannot allocate 1099511627776 bytes for slots");
}

static void long_errors_are_cut(void)
{
    char text[4000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    struct ps_error error = {0};
    ps_fail(&error, PS_INPUT, "%s", text);
    CU_ASSERT_EQUAL(strlen(error.text), sizeof error.text - 1);
    CU_ASSERT_STRING_EQUAL(error.text + sizeof error.text - 5, "x...");
    ps_error_place(&error, "%s", "place");
    CU_ASSERT_EQUAL(strlen(error.text), sizeof error.text - 1);
    CU_ASSERT_EQUAL(memcmp(error.text, "place: xxx", 10), 0);
    CU_ASSERT_STRING_EQUAL(error.text + sizeof error.text - 5, "x...");
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = i % 2 == 0 ? '\xC3' : '\xB6';
    struct ps_error other = {0};
    ps_fail(&other, PS_INPUT, "%s", text); // never half a character
    CU_ASSERT_STRING_EQUAL(other.text + strlen(other.text) - 5, "\xC3\xB6...");
}

static void arrays(void)
{
    struct ps_array array, copy;
    struct ps_error error = {0};
    char text[PS_ARRAY_TEXT];
    size_t bytes = 0;
    ps_array_init(&array, PS_F32, 3, (int64_t[]){10, 4, 3});
    CU_ASSERT(ps_array_rows(&array) == 10 && ps_array_row_elements(&array) == 12);
    CU_ASSERT_EQUAL(ps_array_row_bytes(&array), 48);
    CU_ASSERT(ps_array_bytes(&array, &bytes) && bytes == 480);
    CU_ASSERT(ps_array_set_columns(&array, 3, (const char *const[]){"a", "b", "c"}, &error));
    CU_ASSERT(ps_array_copy(&copy, &array, &error));
    ps_array_free(&array);
    CU_ASSERT(ps_array_find_column(&copy, "c") == 2 && ps_array_find_column(&copy, "d") == -1);
    CU_ASSERT_STRING_EQUAL(ps_array_text(&copy, text), "f32[10, 4, 3]");
    ps_array_free(&copy);
    ps_array_init(&array, PS_I64, 0, NULL);
    CU_ASSERT(ps_array_rows(&array) == 1 && ps_array_row_bytes(&array) == 8);
    CU_ASSERT(ps_array_bytes(&array, &bytes) && bytes == 8);
    CU_ASSERT_STRING_EQUAL(ps_array_text(&array, text), "i64[]");
    ps_array_init(&array, PS_F64, 2, (int64_t[]){PS_ROWS_UNKNOWN, 5});
    CU_ASSERT_STRING_EQUAL(ps_array_text(&array, text), "f64[?, 5]");
    CU_ASSERT(ps_array_check(&array, "x", &error));
    CU_ASSERT_FALSE(ps_array_bytes(&array, &bytes));
}

static bool check(int rank, const int64_t *dims)
{
    struct ps_array array;
    struct ps_error error = {0};
    ps_array_init(&array, PS_F64, rank, dims);
    bool fine = ps_array_check(&array, "x", &error);
    CU_ASSERT_EQUAL(fine, error.status == PS_OK);
    return fine;
}

static void array_limits(void)
{
    CU_ASSERT(check(2, (int64_t[]){0, 5}));
    CU_ASSERT(check(1, (int64_t[]){INT64_MAX / 8}));
    CU_ASSERT_FALSE(check(1, (int64_t[]){INT64_MAX / 8 + 1}));
    CU_ASSERT_FALSE(check(3, (int64_t[]){1 << 30, 1 << 30, 1 << 30}));
    CU_ASSERT_FALSE(check(3, (int64_t[]){0, INT64_MAX, INT64_MAX})); // parts must fit as well
    CU_ASSERT_FALSE(check(2, (int64_t[]){5, -1}));
    CU_ASSERT_FALSE(check(2, (int64_t[]){-2, 5}));
    CU_ASSERT_FALSE(check(2, (int64_t[]){PS_ROWS_UNKNOWN, INT64_MAX}));
    int64_t big[PS_RANK_MAX];
    for (int i = 0; i < PS_RANK_MAX; i++)
        big[i] = INT64_MIN; // the longest text there is
    struct ps_array array;
    char text[PS_ARRAY_TEXT];
    ps_array_init(&array, PS_BOOL, PS_RANK_MAX, big);
    CU_ASSERT_EQUAL(text[strlen(ps_array_text(&array, text)) - 1], ']');
}

static void check_printed(const char *source, struct ps_place place, const char *want)
{
    struct ps_problems problems = {0};
    struct ps_text out = {0};
    struct ps_source sources[] = {{"job.yaml", source, strlen(source)}, {"--set x=y", "x=y", 3}};
    ps_problem_add(&problems, PS_USAGE, place, "text %d", 1);
    ps_problems_print(&problems, sources, 2, &out);
    if (strcmp(out.data, want) != 0)
        printf("got:\n%swanted:\n%s", out.data, want);
    CU_ASSERT_STRING_EQUAL(out.data, want);
    ps_text_free(&out);
    ps_problems_free(&problems);
}

static void prints_as_a_compiler(void)
{
    check_printed("a: 1\nbc: def\n", (struct ps_place){0, 2, 5, 3},
                  "job.yaml:2:5: error: text 1\n     2 | bc: def\n       |     ^~~\n");
    check_printed("a: 1", (struct ps_place){0}, "job.yaml: error: text 1\n");
    check_printed("\xEF\xBB\xBFkey: v\r\n", (struct ps_place){0, 1, 6, 1},
                  "job.yaml:1:6: error: text 1\n     1 | key: v\n       |      ^\n");
    // Columns count characters; a tab is repeated, so that the caret stays below the word.
    check_printed("\t\xC3\xB6: \xC3\x9Fx", (struct ps_place){0, 1, 5, 2},
                  "job.yaml:1:5: error: text 1\n     1 | \t\xC3\xB6: \xC3\x9Fx\n"
                  "       | \t   ^~\n");
    check_printed("a\x1b[31m\xFFz", (struct ps_place){0, 1, 8, 1},
                  "job.yaml:1:8: error: text 1\n     1 | a?[31m?z\n       |        ^\n");
    check_printed("ab", (struct ps_place){0, 1, 3, 1}, // at the end of the line
                  "job.yaml:1:3: error: text 1\n     1 | ab\n       |   ^\n");
    check_printed("ab", (struct ps_place){0, 9, 1, 1}, "job.yaml:9:1: error: text 1\n");
    check_printed("ab", (struct ps_place){1, 1, 3, 1},
                  "--set x=y: error: text 1\n     1 | x=y\n       |   ^\n");
    check_printed("ab", (struct ps_place){7, 1, 1, 1}, "error: text 1\n");
}

static void cuts_long_lines(void)
{
    char line[1001];
    memset(line, 'x', 1000);
    line[1000] = '\0';
    memcpy(line + 499, "HERE", 4);
    struct ps_problems problems = {0};
    struct ps_text out = {0};
    struct ps_source source = {"job.yaml", line, 1000};
    ps_problem_add(&problems, PS_USAGE, (struct ps_place){0, 1, 500, 4}, "long");
    ps_problems_print(&problems, &source, 1, &out);
    const char *shown = strchr(out.data, '\n') + 1, *marks = strchr(shown, '\n') + 1;
    CU_ASSERT(marks - shown < 140);
    CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(shown, "HERE"));
    CU_ASSERT_EQUAL(strstr(shown, "HERE") - shown, strchr(marks, '^') - marks);
    CU_ASSERT_PTR_NOT_NULL(strstr(shown, "x...\n"));
    ps_text_free(&out);
    ps_problems_free(&problems);
}

static void sorts_and_ranks(void)
{
    struct ps_problems problems = {0};
    struct ps_text out = {0};
    struct ps_source sources[] = {{"j", NULL, 0}, {"--set a", NULL, 0}};
    CU_ASSERT_EQUAL(ps_problems_status(&problems), PS_OK);
    ps_problem_warn(&problems, (struct ps_place){0, 1, 1, 1}, "w");
    CU_ASSERT_EQUAL(ps_problems_status(&problems), PS_OK);
    ps_problem_add(&problems, PS_DEVICE, (struct ps_place){1, 1, 1, 1}, "set");
    ps_problem_add(&problems, PS_INPUT, (struct ps_place){0, 2, 2, 1}, "second");
    CU_ASSERT_EQUAL(ps_problems_status(&problems), PS_INPUT);
    ps_problem_add(&problems, PS_USAGE, (struct ps_place){0, 2, 1, 1}, "first");
    ps_problem_add(&problems, PS_USAGE, (struct ps_place){0, 2, 1, 1}, "also");
    CU_ASSERT_EQUAL(ps_problems_status(&problems), PS_USAGE);
    CU_ASSERT_EQUAL(problems.error_count, 4);
    ps_problems_print(&problems, sources, 2, &out);
    CU_ASSERT_STRING_EQUAL(out.data, "j:1:1: warning: w\nj:2:1: error: first\nj:2:1: error: also\n"
                                     "j:2:2: error: second\n--set a: error: set\n");
    ps_text_free(&out);
    ps_problems_free(&problems);
}

static char logged[64];

static void keep(void *context, enum ps_log_level level, const char *text)
{
    snprintf(logged, sizeof logged, "%s%d %s", (const char *)context, level, text);
}

static void logs(void)
{
    ps_log(PS_LOG_NOTE, "to nobody");
    ps_log_set(keep, "level ");
    ps_log(PS_LOG_NOTE, "x = %d", 3);
    CU_ASSERT_STRING_EQUAL(logged, "level 1 x = 3");
    ps_log_set(NULL, NULL);
    ps_log(PS_LOG_NOTE, "silence");
    CU_ASSERT_STRING_EQUAL(logged, "level 1 x = 3");
}

static void time_goes_on(void)
{
    int64_t ns = ps_clock_ns();
    double ms = ps_clock_ms();
    CU_ASSERT(ns > 0 && ms * 1e6 >= (double)ns * (1 - 1e-9));
    CU_ASSERT(ps_clock_ns() >= ns && ms * 1e6 - (double)ns < 5e9); // the same clock
}

int main(void)
{
    static const struct check_test tests[] = {
        {"errors", first_error_wins},
        {"long errors", long_errors_are_cut},
        {"arrays", arrays},
        {"array limits", array_limits},
        {"problems printed", prints_as_a_compiler},
        {"long lines", cuts_long_lines},
        {"order of problems", sorts_and_ranks},
        {"log", logs},
        {"clock", time_goes_on},
        {NULL, NULL},
    };
    return check_main("base", tests);
}
