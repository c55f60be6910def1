// SPDX-License-Identifier: Apache-2.0
// Option values: every kind parsed, refused with words, printed and read back.
#include "base/option.h"
#include "base/text.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct ps_option table[] = {
    {.key = "text", .kind = PS_TEXT, .fallback = ","},
    {.key = "truth", .kind = PS_TRUTH, .fallback = "false"},
    {.key = "integer", .kind = PS_INTEGER, .min = 1, .max = 9, .fallback = "4"},
    {.key = "any", .kind = PS_INTEGER},
    {.key = "number", .kind = PS_NUMBER, .min = 0, .max = 1, .fallback = "0.5"},
    {.key = "size", .kind = PS_SIZE, .min = 1024, .max = 0x1p40, .fallback = "auto"},
    {.key = "block", .kind = PS_BLOCK, .fallback = "auto"},
    {.key = "count", .kind = PS_COUNT, .min = 1, .max = 64, .fallback = "auto"},
    {.key = "choice", .kind = PS_CHOICE, .choices = "error|saturate|wrap", .fallback = "error"},
    {.key = "of", .kind = PS_CHOICES, .choices = "sum|mean|std", .fallback = "[mean, std]"},
    {.key = "dtype", .kind = PS_DTYPE, .fallback = "f32"},
    {.key = "name", .kind = PS_NAME},
    {.key = "names", .kind = PS_NAMES},
    {.key = "words", .kind = PS_WORDS},
    {.key = "shape", .kind = PS_SHAPE},
    {.key = "params", .kind = PS_PARAMS},
    {.key = "terms", .kind = PS_TERMS},
    {.key = "axes", .kind = PS_AXES, .fallback = "rows"},
    {.key = NULL},
};

static struct ps_values values;

static struct ps_value *value_of(const char *key)
{
    return &values.values[ps_options_find(table, key) - table];
}

static void start(void)
{
    struct ps_error error = {0};
    ps_values_free(&values);
    CU_ASSERT_FATAL(ps_values_default(&values, table, &error));
}

// Parses and, when it went well, checks what it prints as.
static bool parse(const char *key, const char *text, bool quoted, const char *printed)
{
    struct ps_problems problems = {0};
    struct ps_text out = {0};
    bool fine =
        ps_value_from_scalar(value_of(key), text, quoted, (struct ps_place){0, 3, 4, 5}, &problems);
    CU_ASSERT_EQUAL(fine, problems.error_count == 0);
    if (fine)
        CU_ASSERT(value_of(key)->given && value_of(key)->place.line == 3);
    if (fine && printed != NULL) {
        ps_value_print(value_of(key), &out);
        CU_ASSERT_STRING_EQUAL(out.data, printed);
    }
    ps_text_free(&out);
    ps_problems_free(&problems);
    return fine;
}

// Parses what must be refused; the message holds both pieces.
static void refuse(const char *key, const char *text, bool quoted, const char *piece,
                   const char *other)
{
    struct ps_problems problems = {0};
    bool fine =
        ps_value_from_scalar(value_of(key), text, quoted, (struct ps_place){0, 3, 4, 5}, &problems);
    CU_ASSERT_FALSE(fine);
    CU_ASSERT_EQUAL_FATAL(problems.count, 1);
    const char *message = problems.list[0].text;
    if (strstr(message, piece) == NULL || strstr(message, other) == NULL)
        printf("%s: %s\n", key, message);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, piece));
    CU_ASSERT_PTR_NOT_NULL(strstr(message, other));
    CU_ASSERT_EQUAL(problems.list[0].place.column, 4);
    ps_problems_free(&problems);
}

static void defaults(void)
{
    start();
    CU_ASSERT_STRING_EQUAL(value_of("text")->text, ",");
    CU_ASSERT_FALSE(value_of("text")->given);
    CU_ASSERT_EQUAL(value_of("text")->place.line, 0);
    CU_ASSERT_EQUAL(value_of("integer")->integer, 4);
    CU_ASSERT_EQUAL(value_of("number")->number, 0.5);
    CU_ASSERT(value_of("size")->automatic && value_of("block")->automatic);
    CU_ASSERT(value_of("of")->listed && value_of("of")->count == 2);
    CU_ASSERT(value_of("of")->picks[0] == 1 && value_of("of")->picks[1] == 2);
    CU_ASSERT(value_of("axes")->count == 1 && value_of("axes")->integers[0] == 0);
    CU_ASSERT_PTR_NULL(value_of("name")->text);
    CU_ASSERT_EQUAL(value_of("words")->count, 0);
    CU_ASSERT_PTR_EQUAL(ps_values_get(&values, "size"), value_of("size"));
}

static void scalars(void)
{
    start();
    CU_ASSERT(parse("text", "a: \"b\"\n\\", true, "\"a: \\\"b\\\"\\u000a\\\\\""));
    CU_ASSERT(parse("truth", "true", false, "true") && value_of("truth")->truth);
    CU_ASSERT(parse("integer", "9", false, "9") && value_of("integer")->number == 9);
    CU_ASSERT(parse("any", "1e6", false, NULL) && value_of("any")->integer == 1000000);
    CU_ASSERT(parse("any", "-9223372036854775808", false, NULL));
    CU_ASSERT_EQUAL(value_of("any")->integer, INT64_MIN);
    CU_ASSERT(parse("number", "1e-4", false, "1e-4") && value_of("number")->number == 1e-4);
    CU_ASSERT(parse("size", "64 MiB", true, "64 MiB") && value_of("size")->bytes == 64u << 20);
    CU_ASSERT(parse("size", "auto", false, "auto") && value_of("size")->automatic);
    CU_ASSERT(parse("block", "4096 rows", false, "4096 rows"));
    CU_ASSERT(value_of("block")->integer == 4096 && value_of("block")->bytes == 0);
    CU_ASSERT(parse("block", "1 row", false, NULL) && value_of("block")->integer == 1);
    CU_ASSERT(parse("count", "64", false, "64") && !value_of("count")->automatic);
    CU_ASSERT(parse("choice", "wrap", false, "wrap") && value_of("choice")->choice == 2);
    CU_ASSERT(parse("dtype", "float64", false, "float64") && value_of("dtype")->dtype == PS_F64);
    CU_ASSERT(parse("name", "clean", false, "clean"));
}

static void block_changes_its_mind(void)
{
    start();
    CU_ASSERT(parse("block", "4096 rows", false, NULL));
    CU_ASSERT(parse("block", "64 MiB", false, NULL));
    CU_ASSERT(value_of("block")->integer == 0 && value_of("block")->bytes == 64u << 20);
    CU_ASSERT(parse("block", "5 rows", false, NULL));
    CU_ASSERT(value_of("block")->integer == 5 && value_of("block")->bytes == 0);
}

static void refused_scalars(void)
{
    start();
    refuse("truth", "yes", false, "'yes' is not true or false", "write true");
    refuse("truth", "off", false, "'off'", "write false");
    refuse("truth", "true", true, "true or false", "in quotes");
    refuse("integer", "10", false, "'10'", "from 1 to 9");
    refuse("integer", "0", false, "'0'", "from 1 to 9");
    refuse("integer", "010", false, "'010'", "leading zero");
    refuse("integer", "1_0", false, "'1_0'", "underscores");
    refuse("integer", "0x5", false, "'0x5'", "decimal");
    refuse("integer", "4.5", false, "whole number", "4.5");
    refuse("integer", "5", true, "whole number", "in quotes");
    refuse("any", "9223372036854775808", false, "whole number", "9223372036854775808");
    refuse("any", ".nan", false, "whole number", ".nan");
    refuse("any", "1e300", false, "whole number", "1e300");
    refuse("number", ".nan", false, ".nan", "from 0 to 1");
    refuse("number", "1.5", false, "1.5", "from 0 to 1");
    refuse("number", "1e999", false, "1e999", "number");
    refuse("size", "64 M", false, "64 M", "64 MiB");
    refuse("size", "12", false, "12", "at least 1 KiB");
    refuse("size", "2 TiB", false, "2 TiB", "at most 1 TiB");
    refuse("block", "0 rows", false, "0 rows", "at least 1 row");
    refuse("block", "0", false, "'0'", "rows");
    refuse("block", "99999999999999999999 rows", false, "9999", "rows");
    refuse("count", "0", false, "'0'", "or auto");
    refuse("choice", "satturate", false, "error, saturate, wrap", "did you mean 'saturate'");
    refuse("dtype", "int128", false, "int128", "f64");
    refuse("name", "", false, "''", "empty");
}

static void lists(void)
{
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 2, 3};
    struct ps_text out = {0};
    start();
    CU_ASSERT(parse("of", "sum", false, "sum"));
    CU_ASSERT(value_of("of")->count == 1 && !value_of("of")->listed); // the default is forgotten
    ps_value_begin_list(value_of("of"), place);
    CU_ASSERT(ps_value_add_element(value_of("of"), "std", false, place, &problems));
    CU_ASSERT_FALSE(ps_value_add_element(value_of("of"), "std", false, place, &problems));
    CU_ASSERT_EQUAL(value_of("of")->count, 1);
    CU_ASSERT(parse("axes", "all", false, "all") && value_of("axes")->count == -1);
    CU_ASSERT(parse("axes", "2", false, "2") && value_of("axes")->integers[0] == 2);
    CU_ASSERT_EQUAL(value_of("axes")->count, 1);
    refuse("axes", "-1", false, "-1", "axis number");
    refuse("axes", "columns", false, "columns", "axis number");
    ps_value_begin_list(value_of("words"), place);
    CU_ASSERT(ps_value_add_element(value_of("words"), "no", false, place, &problems));
    CU_ASSERT(ps_value_add_element(value_of("words"), "2019", false, place, &problems));
    CU_ASSERT(ps_value_add_element(value_of("words"), "2019", true, place, &problems));
    CU_ASSERT(ps_value_add_element(value_of("words"), "a, b", false, place, &problems));
    CU_ASSERT(ps_value_add_element(value_of("words"), "", true, place, &problems));
    ps_value_print(value_of("words"), &out);
    CU_ASSERT_STRING_EQUAL(out.data, "[no, 2019, \"2019\", \"a, b\", \"\"]");
    CU_ASSERT(!value_of("words")->quoted[1] && value_of("words")->quoted[2]);
    CU_ASSERT(parse("shape", "-1", false, NULL) && value_of("shape")->integers[0] == -1);
    refuse("shape", "-2", false, "-2", "whole numbers");
    refuse("shape", "3.5", false, "3.5", "whole numbers");
    ps_text_free(&out);
    ps_problems_free(&problems);
}

static void params(void)
{
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 2, 3};
    struct ps_text out = {0};
    struct ps_value *value;
    start();
    value = value_of("params");
    ps_value_begin_list(value, place);
    CU_ASSERT(ps_value_add_param(value, "gain", place, "1.5", place, &problems));
    CU_ASSERT(ps_value_add_param(value, "n", place, "2", place, &problems));
    CU_ASSERT(ps_value_add_param(value, "k", place, "1e3", place, &problems));
    CU_ASSERT(ps_value_add_param(value, "tenth", place, "0.1", place, &problems));
    CU_ASSERT(ps_value_add_param(value, "top", place, "-.inf", place, &problems));
    CU_ASSERT(ps_value_add_param(value, "none", place, ".nan", place, &problems));
    CU_ASSERT_FALSE(ps_value_add_param(value, "n", place, "3", place, &problems));
    CU_ASSERT_FALSE(ps_value_add_param(value, "m", place, "007", place, &problems));
    CU_ASSERT_EQUAL(problems.error_count, 2);
    CU_ASSERT(value->count == 6 && value->numbers[2] == 1000 && isnan(value->numbers[5]));
    ps_value_print(value, &out);
    CU_ASSERT_STRING_EQUAL(out.data, "{gain: 1.5, n: 2, k: 1000.0, tenth: 0.1, top: -.inf, "
                                     "none: .nan}");
    ps_text_free(&out);
    ps_problems_free(&problems);
}

static void terms(void)
{
    struct ps_problems problems = {0};
    struct ps_place key = {.line = 1}, place = {.line = 2};
    struct ps_text out = {0};
    start();
    struct ps_value *value = value_of("terms");
    CU_ASSERT_EQUAL(value->count, 0);
    refuse("terms", "x - 1", false, "'x - 1'", "a mapping of names to expressions");
    ps_value_begin_list(value, place);
    CU_ASSERT(ps_value_add_term(value, "a", key, "x - 1", place, &problems));
    CU_ASSERT(ps_value_add_term(value, "b", key, "t[\"odd\"] * a", place, &problems));
    CU_ASSERT(value->count == 2 && value->places[1].line == 1 && value->text_places[1].line == 2);
    ps_value_print(value, &out);
    CU_ASSERT_STRING_EQUAL(out.data, "{a: \"x - 1\", b: \"t[\\\"odd\\\"] * a\"}");
    ps_text_free(&out);
    ps_problems_free(&problems);
}

static void wrong_defaults_are_bugs(void)
{
    static const struct ps_option bad[] = {
        {.key = "n", .kind = PS_INTEGER, .min = 1, .max = 9, .fallback = "10"}, {.key = NULL}};
    struct ps_values none;
    struct ps_error error = {0};
    CU_ASSERT_FALSE(ps_values_default(&none, bad, &error));
    CU_ASSERT_EQUAL(error.status, PS_BUG);
    CU_ASSERT_PTR_NULL(none.values);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"defaults", defaults},
        {"scalars", scalars},
        {"a block given twice", block_changes_its_mind},
        {"refused scalars", refused_scalars},
        {"lists", lists},
        {"params", params},
        {"terms", terms},
        {"wrong defaults", wrong_defaults_are_bugs},
        {NULL, NULL},
    };
    int result = check_main("values", tests);
    ps_values_free(&values);
    return result;
}
