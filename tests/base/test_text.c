// SPDX-License-Identifier: Apache-2.0
// Text helpers: strict numbers and sizes in any locale, escaping, nearest words, paths.
#include "base/text.h"
#include "check.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void appends(void)
{
    struct ps_text text = {0};
    ps_text_append(&text, "", 0);
    CU_ASSERT_STRING_EQUAL(text.data, "");
    for (int i = 0; i < 10000; i++)
        ps_text_printf(&text, "%d,", i % 10);
    CU_ASSERT_EQUAL(text.length, 20000);
    CU_ASSERT_EQUAL(strlen(text.data), 20000);
    CU_ASSERT_FALSE(text.failed);
    ps_text_append(&text, "x", SIZE_MAX); // overflows the size: fails, keeps what was there
    CU_ASSERT_TRUE(text.failed);
    ps_text_add(&text, "more");
    CU_ASSERT_EQUAL(text.length, 20000);
    ps_text_free(&text);
    CU_ASSERT_PTR_NULL(text.data);
}

static void integers(void)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+7", 7},
                {"-12", -12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      " 1",
                                      "1 ",
                                      "010",
                                      "00",
                                      "-01",
                                      "1_000",
                                      "0x1F",
                                      "0o17",
                                      "1.0",
                                      "1e3",
                                      "9223372036854775808",
                                      "--1",
                                      "1a",
                                      "-9223372036854775809",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 99;
        CU_ASSERT(ps_integer_parse(good[i].text, &value) && value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value;
        CU_ASSERT_FALSE(ps_integer_parse(bad[i], &value));
    }
}

static void check_numbers(void)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1e5", 100000},
                {"1e-4", 1e-4},
                {"1E+3", 1000},
                {"1.e+10", 1e10},
                {".5", 0.5},
                {"-0.25", -0.25},
                {"5.", 5},
                {"0.1", 0.1},
                {".inf", INFINITY},
                {"-.INF", -INFINITY},
                {"4.9e-324", 4.9e-324},
                {"1e-999", 0},
                {"1.7976931348623157e308", DBL_MAX}};
    static const char *const bad[] = {
        "",    ".",    "e5",   "1e", "1e+",   "+-1",   "1,5",   "0x10",   "1_0", "inf", "nan",
        "NaN", "01.5", "1.5 ", " 1", "1.2.3", "1e5.0", "1e999", "-1e400", "1f",  "0b1", "1:30"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = 99;
        CU_ASSERT(ps_number_parse(good[i].text, &value));
        CU_ASSERT_EQUAL(value, good[i].value);
    }
    double nan = 0;
    CU_ASSERT(ps_number_parse(".nan", &nan) && isnan(nan));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 99;
        if (ps_number_parse(bad[i], &value))
            printf("'%s' was taken for a number\n", bad[i]);
        CU_ASSERT_FALSE(ps_number_parse(bad[i], &value));
        CU_ASSERT_EQUAL(value, 99);
    }
}

static void check_print(double value, const char *want)
{
    struct ps_text text = {0};
    double back;
    ps_number_print(value, &text);
    if (want != NULL)
        CU_ASSERT_STRING_EQUAL(text.data, want);
    CU_ASSERT(ps_number_parse(text.data, &back) && memcmp(&back, &value, sizeof back) == 0);
    ps_text_free(&text);
}

static void prints_numbers(void)
{
    check_print(0.1, "0.1");
    check_print(1.5, "1.5");
    check_print(-0.0, "-0");
    check_print(1e22, "1e+22");
    check_print(1.0 / 3, NULL);
    check_print(0.1 + 0.2, NULL);
    check_print(DBL_MAX, NULL);
    check_print(4.9e-324, NULL);
    check_print(INFINITY, ".inf");
    check_print(-INFINITY, "-.inf");
}

static void numbers_in_another_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
    size_t i = 0;
    while (i < 3 && setlocale(LC_ALL, names[i]) == NULL)
        i++;
    check_numbers(); // in the C locale where no other one is installed
    prints_numbers();
    setlocale(LC_ALL, "C");
}

static void sizes(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"64 MiB", 64u << 20},
                {"64MiB", 64u << 20},
                {"1.5 GB", 1500000000},
                {"4096", 4096},
                {"0", 0},
                {"2 GiB", 2ull << 30},
                {"0.5KiB", 512},
                {"1 kB", 1000},
                {"1.3 KiB", 1331},
                {"12 bytes", 12},
                {"9007199254740993", 9007199254740993},
                {"8388607 TiB", 8388607ull << 40}};
    static const char *const bad[] = {"",
                                      "MiB",
                                      "-1",
                                      "64 mib",
                                      "64 M",
                                      "64 MiB ",
                                      "64 ",
                                      "1.5",
                                      "1e3",
                                      "1_000",
                                      "010",
                                      "64  X",
                                      "0x10",
                                      "1.2.3 MiB",
                                      " 1",
                                      "8388608 TiB",
                                      "99999999999999999999",
                                      "64\tMiB"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t bytes = 99;
        CU_ASSERT(ps_size_parse(good[i].text, &bytes));
        CU_ASSERT_EQUAL(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t bytes;
        if (ps_size_parse(bad[i], &bytes))
            printf("'%s' was taken for a size\n", bad[i]);
        CU_ASSERT_FALSE(ps_size_parse(bad[i], &bytes));
    }
    char text[32];
    CU_ASSERT_STRING_EQUAL(ps_size_text(12, text, sizeof text), "12 bytes");
    CU_ASSERT_STRING_EQUAL(ps_size_text(64u << 20, text, sizeof text), "64 MiB");
    CU_ASSERT_STRING_EQUAL(ps_size_text(3ull << 29, text, sizeof text), "1.5 GiB");
    CU_ASSERT_STRING_EQUAL(ps_size_text(UINT64_MAX, text, sizeof text), "16 EiB");
}

static void check_escape(const char *bytes, size_t length, size_t size, const char *want)
{
    char out[64];
    memset(out, '#', sizeof out);
    ps_escape(bytes, length, out, size);
    if (strcmp(out, want) != 0)
        printf("'%s', not '%s'\n", out, want);
    CU_ASSERT_STRING_EQUAL(out, want);
    CU_ASSERT_EQUAL(out[size], '#');
}

static void escapes(void)
{
    check_escape("plain", 5, 60, "plain");
    check_escape("C:\new\table", 10, 60, "C:\\new\\table");
    check_escape("a\\b\r\x1b[31m\0z", 11, 60, "a\\\\b\\r\\x1B[31m\\x00z");
    check_escape("gr\xC3\xB6\xC3\x9F"
                 "e",
                 7, 60,
                 "gr\xC3\xB6\xC3\x9F"
                 "e");
    check_escape("\xC3(\xED\xA0\x80\xF5", 6, 60, "\\xC3(\\xED\\xA0\\x80\\xF5");
    check_escape("\xEF\xBB\xBFx\xC2\x9B", 6, 60, "\\xEF\\xBB\\xBFx\\xC2\\x9B");
    check_escape("\xE2\x80\xAEx", 4, 60, "\\xE2\\x80\\xAEx"); // right-to-left override
    check_escape("0123456789", 10, 10, "012345...");
    check_escape("0123456789", 10, 11, "0123456789");
    check_escape("\xC3\xB6\xC3\xB6\xC3\xB6\xC3\xB6", 8, 8, "\xC3\xB6\xC3\xB6...");
    check_escape("", 0, 4, "");
    check_escape("abcdef", 6, 2, "a");
}

static void utf8(void)
{
    CU_ASSERT_EQUAL(ps_utf8_length("a", 1), 1);
    CU_ASSERT_EQUAL(ps_utf8_length("\xC3\xB6", 2), 2);
    CU_ASSERT_EQUAL(ps_utf8_length("\xC3\xB6", 1), 0);
    CU_ASSERT_EQUAL(ps_utf8_length("\xC0\x80", 2), 0);     // overlong
    CU_ASSERT_EQUAL(ps_utf8_length("\xE0\x9F\xBF", 3), 0); // overlong
    CU_ASSERT_EQUAL(ps_utf8_length("\xED\xA0\x80", 3), 0); // surrogate
    CU_ASSERT_EQUAL(ps_utf8_length("\xF4\x8F\xBF\xBF", 4), 4);
    CU_ASSERT_EQUAL(ps_utf8_length("\xF4\x90\x80\x80", 4), 0); // past U+10FFFF
    CU_ASSERT_EQUAL(ps_utf8_length("\x80", 1), 0);
    CU_ASSERT_EQUAL(ps_utf8_length("", 0), 0);
}

static void check_near(const char *word, const char *want)
{
    static const char *const keys[] = {"path", "in", "block", "compression", "delimiter", "mean"};
    const char *near = ps_nearest(word, keys, 6);
    CU_ASSERT_STRING_EQUAL(near ? near : "-", want);
}

static void nearest(void)
{
    check_near("blok", "block");
    check_near("delimeter", "delimiter");
    check_near("mena", "mean"); // one swap
    check_near("PATH", "path");
    check_near("comprssoin", "compression");
    check_near("gian", "-");
    check_near("xyz", "-");
    check_near("", "-");
    check_near("n", "in");
    check_near("a word far longer than any key there is, and longer than the table", "-");
    CU_ASSERT_PTR_NULL(ps_nearest("x", NULL, 0));
}

static void check_join(const char *folder, const char *path, const char *want)
{
    char *joined = ps_path_join(folder, path);
    CU_ASSERT_STRING_EQUAL(joined, want);
    free(joined);
}

static void joins(void)
{
    check_join("/a", "b/c", "/a/b/c");
    check_join("/a/", "b", "/a/b");
    check_join("/", "b", "/b");
    check_join("/a", "/b", "/b");
    check_join("", "b", "b");
    check_join(NULL, "b", "b");
}

int main(void)
{
    static const struct check_test tests[] = {
        {"growing text", appends},
        {"whole numbers", integers},
        {"numbers", check_numbers},
        {"printed numbers", prints_numbers},
        {"numbers in another locale", numbers_in_another_locale},
        {"sizes", sizes},
        {"escaping", escapes},
        {"UTF-8", utf8},
        {"nearest word", nearest},
        {"paths", joins},
        {NULL, NULL},
    };
    return check_main("text", tests);
}
