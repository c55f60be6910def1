// SPDX-License-Identifier: Apache-2.0
// Number text against lists of hard cases (exactly halfway, many digits, subnormal; bits by exact
// arithmetic), against the C library's strtod, and back again.
#include "io_help.h"

#include <inttypes.h>
#include <math.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t bits_of_single(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Calls check(text, length, bits) for every line "TEXT BITS".
static void for_each_line(const char *path, void (*check)(const char *, size_t, uint64_t))
{
    size_t bytes = 0, lines = 0;
    char *file = help_slurp(path, &bytes), *rest = file;
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0'; lines++) {
        char *space = strchr(line, ' ');
        CU_ASSERT_PTR_NOT_NULL_FATAL(space);
        check(line, (size_t)(space - line), strtoull(space, NULL, 16));
    }
    CU_ASSERT(lines > 8);
    free(file);
}

static void check_double(const char *text, size_t length, uint64_t bits)
{
    double value = 12345;
    CU_ASSERT(ps_text_to_f64(text, length, &value));
    if (bits_of(value) != bits)
        fprintf(stderr, "\n  %.*s: %a, wanted %016" PRIx64 "\n", (int)length, text, value, bits);
    CU_ASSERT_EQUAL(bits_of(value), bits);
}

static void check_single(const char *text, size_t length, uint64_t bits)
{
    float value = 12345;
    CU_ASSERT(ps_text_to_f32(text, length, &value));
    if (bits_of_single(value) != bits)
        fprintf(stderr, "\n  %.*s: %a, wanted %08" PRIx64 "\n", (int)length, text, value, bits);
    CU_ASSERT_EQUAL(bits_of_single(value), bits);
}

static void hard_doubles(void)
{
    for_each_line(PS_TEST_DATA "/numbers/f64_text.txt", check_double);
}

static void hard_singles(void)
{
    for_each_line(PS_TEST_DATA "/numbers/f32_text.txt", check_single);
}

static void no_numbers(void)
{
    static const char *const texts[] = {
        "",     " ",      "+",     "-",    ".",        "e5",    "1e",      "1e+",  "--1", "+-1",
        "++1",  "-+1",    " 1",    "1 ",   "1,5",      "1_000", "0x",    "0xg",     "0x-1",  "0x1p",   "1f",  "1.5.2",
        "1e5e", "nan(1)", "nan()", "nanx", "na",       "infi",  "infinit", "none", "1\t", "1e1.5",
        "1d5",  "+.",     ".e1",   "0b1",  "\xD9\xA1", "true",  "1%",      "(1)",  "1L",  "i"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 5;
        float single = 5;
        int64_t integer;
        size_t n = strlen(texts[i]);
        if (ps_text_to_f64(texts[i], n, &value))
            fprintf(stderr, "\n  '%s' was taken as %g\n", texts[i], value);
        CU_ASSERT_FALSE(ps_text_to_f64(texts[i], n, &value));
        CU_ASSERT_FALSE(ps_text_to_f32(texts[i], n, &single));
        CU_ASSERT_EQUAL(ps_text_to_i64(texts[i], n, &integer), PS_FIT_NOT_A_NUMBER);
    }
    double value;
    CU_ASSERT_FALSE(ps_text_to_f64("1\0", 2, &value));
    CU_ASSERT(ps_text_to_f64("15x", 2, &value) && value == 15); // only `length` bytes are looked at
}

static void words(void)
{
    static const char *const infinite[] = {"inf",      "Inf",      "INF",      "+inf",
                                           "infinity", "Infinity", "INFINITY", "+Infinity"};
    double value;
    for (size_t i = 0; i < sizeof infinite / sizeof infinite[0]; i++)
        CU_ASSERT(ps_text_to_f64(infinite[i], strlen(infinite[i]), &value) &&
                  value == (double)INFINITY);
    CU_ASSERT(ps_text_to_f64("-iNf", 4, &value) && value == -(double)INFINITY);
    CU_ASSERT(ps_text_to_f64("NaN", 3, &value) && isnan(value));
    CU_ASSERT(ps_text_to_f64("-nan", 4, &value) && isnan(value));
    CU_ASSERT(ps_text_to_f64("+nan", 4, &value) && isnan(value));
}

static void out_of_range(void)
{
    double value;
    float single;
    CU_ASSERT(ps_text_to_f64("1e400", 5, &value) && value == (double)INFINITY);
    CU_ASSERT(ps_text_to_f64("-1e400", 6, &value) && value == -(double)INFINITY);
    CU_ASSERT(ps_text_to_f64("+1e400", 6, &value) && value == (double)INFINITY);
    CU_ASSERT(ps_text_to_f64("1e-400", 6, &value) && bits_of(value) == 0);
    CU_ASSERT(ps_text_to_f64("-1e-400", 7, &value) && bits_of(value) == bits_of(-0.0));
    CU_ASSERT(ps_text_to_f64("0e999999999999999999999", 23, &value) && bits_of(value) == 0);
    CU_ASSERT(ps_text_to_f64("1e-99999999999999999999", 23, &value) && bits_of(value) == 0);
    CU_ASSERT(ps_text_to_f64("0.0001e-322", 11, &value) && bits_of(value) == 0);
    CU_ASSERT(ps_text_to_f64("4.9e-324", 8, &value) && bits_of(value) == 1);
    CU_ASSERT(ps_text_to_f64("2.4703282292062327e-324", 23, &value) && bits_of(value) == 0);
    CU_ASSERT(ps_text_to_f64("2.4703282292062328e-324", 23, &value) && bits_of(value) == 1);
    CU_ASSERT(ps_text_to_f64("1.7976931348623157e308", 22, &value) &&
              bits_of(value) == 0x7fefffffffffffff);
    CU_ASSERT(ps_text_to_f64("1.7976931348623159e308", 22, &value) && isinf(value));
    CU_ASSERT(ps_text_to_f32("3.5e38", 6, &single) && isinf(single));
    CU_ASSERT(ps_text_to_f32("1e-46", 5, &single) && bits_of_single(single) == 0);
    // Many digits before or behind the point decide, not the exponent alone.
    char text[1200];
    memset(text, '0', sizeof text);
    text[0] = '1';
    CU_ASSERT(ps_text_to_f64(text, 1000, &value) && isinf(value));
    memcpy(text + 1000, "e-999", 5);
    CU_ASSERT(ps_text_to_f64(text, 1005, &value) && value == 1);
    memset(text, '0', sizeof text);
    text[1] = '.';
    text[1000] = '1';
    CU_ASSERT(ps_text_to_f64(text, 1001, &value) && bits_of(value) == 0);
    memcpy(text + 1001, "e999", 4);
    CU_ASSERT(ps_text_to_f64(text, 1005, &value) && value == 1);
}

static void integers(void)
{
    static const struct {
        const char *text;
        enum ps_number_fit as_signed, as_unsigned;
        int64_t i;
        uint64_t u;
    } cases[] = {
        {"0", PS_FIT_OK, PS_FIT_OK, 0, 0},
        {"-0", PS_FIT_OK, PS_FIT_OK, 0, 0},
        {"+7", PS_FIT_OK, PS_FIT_OK, 7, 7},
        {"007", PS_FIT_OK, PS_FIT_OK, 7, 7},
        {"-1", PS_FIT_OK, PS_FIT_OUT_OF_RANGE, -1, 0},
        {"9223372036854775807", PS_FIT_OK, PS_FIT_OK, INT64_MAX, INT64_MAX},
        {"9223372036854775808", PS_FIT_OUT_OF_RANGE, PS_FIT_OK, 0, UINT64_C(1) << 63},
        {"-9223372036854775808", PS_FIT_OK, PS_FIT_OUT_OF_RANGE, INT64_MIN, 0},
        {"-9223372036854775809", PS_FIT_OUT_OF_RANGE, PS_FIT_OUT_OF_RANGE, 0, 0},
        {"18446744073709551615", PS_FIT_OUT_OF_RANGE, PS_FIT_OK, 0, UINT64_MAX},
        {"18446744073709551616", PS_FIT_OUT_OF_RANGE, PS_FIT_OUT_OF_RANGE, 0, 0},
        {"99999999999999999999999999", PS_FIT_OUT_OF_RANGE, PS_FIT_OUT_OF_RANGE, 0, 0},
        {"00000000000000000000000000000000042", PS_FIT_OK, PS_FIT_OK, 42, 42},
        {"1.0", PS_FIT_NOT_A_NUMBER, PS_FIT_NOT_A_NUMBER, 0, 0},
        {"1e3", PS_FIT_NOT_A_NUMBER, PS_FIT_NOT_A_NUMBER, 0, 0},
        {"nan", PS_FIT_NOT_A_NUMBER, PS_FIT_NOT_A_NUMBER, 0, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        int64_t i = 0;
        uint64_t u = 0;
        size_t n = strlen(cases[k].text);
        CU_ASSERT_EQUAL(ps_text_to_i64(cases[k].text, n, &i), cases[k].as_signed);
        CU_ASSERT_EQUAL(ps_text_to_u64(cases[k].text, n, &u), cases[k].as_unsigned);
        CU_ASSERT(cases[k].as_signed != PS_FIT_OK || i == cases[k].i);
        CU_ASSERT(cases[k].as_unsigned != PS_FIT_OK || u == cases[k].u);
    }
}

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u; // xorshift64
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

// Length of the shortest "%.*e" text that reads back as value.
static size_t scientific_length(double value)
{
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
    while (strtod(text, NULL) != value && ++digits <= 17);
    return strlen(text);
}

static void doubles_and_back(void)
{
    for (int i = 0; i < 30000; i++) {
        char text[PS_NUMBER_TEXT + 1];
        uint64_t bits = next_random();
        double value, back = 0;
        if (i % 7 == 0)
            bits &= 0x800fffffffffffff; // subnormal
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        size_t length = ps_value_to_text(PS_F64, &value, text);
        CU_ASSERT_FATAL(length <= PS_NUMBER_TEXT);
        text[length] = '\0';
        CU_ASSERT_EQUAL(bits_of(strtod(text, NULL)), bits);
        CU_ASSERT(ps_text_to_f64(text, length, &back) && bits_of(back) == bits);
        CU_ASSERT(length <= scientific_length(value));
    }
}

static void texts_as_strtod(void)
{
    for (int i = 0; i < 30000; i++) {
        char text[80];
        int n = snprintf(text, sizeof text, "%s%llu.%llue%d", i % 2 ? "-" : "",
                         (unsigned long long)(next_random() >> next_random() % 60),
                         (unsigned long long)(next_random() >> next_random() % 60),
                         (int)(next_random() % 700) - 350);
        double value;
        float single;
        CU_ASSERT(ps_text_to_f64(text, (size_t)n, &value));
        CU_ASSERT_EQUAL(bits_of(value), bits_of(strtod(text, NULL)));
        CU_ASSERT(ps_text_to_f32(text, (size_t)n, &single));
        CU_ASSERT_EQUAL(bits_of_single(single), bits_of_single(strtof(text, NULL)));
    }
}

static void all_halves_and_many_singles(void)
{
    char text[PS_NUMBER_TEXT];
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        double back = 0;
        size_t length = ps_value_to_text(PS_F16, &half, text);
        CU_ASSERT_FATAL(length <= PS_NUMBER_TEXT && ps_text_to_f64(text, length, &back));
        CU_ASSERT((bits & 0x7fff) > 0x7c00 ? isnan(back) : ps_f64_to_f16(back) == half);
    }
    for (int i = 0; i < 30000; i++) {
        uint32_t bits = (uint32_t)next_random();
        float value, back = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        size_t length = ps_value_to_text(PS_F32, &value, text);
        CU_ASSERT(ps_text_to_f32(text, length, &back) && bits_of_single(back) == bits);
        CU_ASSERT(length <= 15); // -1.23456789e-38
    }
}

static void check_text(enum ps_dtype dtype, const void *value, const char *wanted)
{
    char text[PS_NUMBER_TEXT + 1];
    text[ps_value_to_text(dtype, value, text)] = '\0';
    CU_ASSERT_STRING_EQUAL(text, wanted);
}

static void exact_texts(void)
{
    check_text(PS_F64, &(double){0.1}, "0.1");
    check_text(PS_F64, &(double){1e22}, "1e+22");
    check_text(PS_F64, &(double){-0.0}, "-0");
    check_text(PS_F64, &(double){NAN}, "nan");
    check_text(PS_F64, &(double){-(double)NAN}, "nan");
    check_text(PS_F64, &(double){-(double)INFINITY}, "-inf");
    check_text(PS_F64, &(double){5e-324}, "5e-324");
    check_text(PS_F64, &(double){-1.7976931348623157e308}, "-1.7976931348623157e+308");
    check_text(PS_F32, &(float){0.1f}, "0.1");
    check_text(PS_F32, &(float){16777216}, "16777216");
    check_text(PS_F16, &(uint16_t){0x2e66}, "0.1");
    check_text(PS_F16, &(uint16_t){0x7bff}, "65504");
    check_text(PS_F16, &(uint16_t){0x67d0}, "2000");
    check_text(PS_F16, &(uint16_t){0x0001}, "6e-08");
    check_text(PS_BOOL, &(unsigned char){1}, "true");
    check_text(PS_BOOL, &(unsigned char){0}, "false");
    check_text(PS_I8, &(int8_t){-128}, "-128");
    check_text(PS_U8, &(uint8_t){255}, "255");
    check_text(PS_I16, &(int16_t){-32768}, "-32768");
    check_text(PS_U16, &(uint16_t){65535}, "65535");
    check_text(PS_I32, &(int32_t){INT32_MIN}, "-2147483648");
    check_text(PS_U32, &(uint32_t){UINT32_MAX}, "4294967295");
    check_text(PS_I64, &(int64_t){INT64_MIN}, "-9223372036854775808");
    check_text(PS_U64, &(uint64_t){UINT64_MAX}, "18446744073709551615");
}

int main(void)
{
    static const struct check_test tests[] = {
        {"hard doubles", hard_doubles},
        {"hard singles", hard_singles},
        {"what is no number", no_numbers},
        {"inf and nan", words},
        {"overflow and underflow", out_of_range},
        {"integers", integers},
        {"doubles and back", doubles_and_back},
        {"as strtod", texts_as_strtod},
        {"halves and singles", all_halves_and_many_singles},
        {"exact texts", exact_texts},
        {NULL, NULL},
    };
    return help_finish(check_main("number_text", tests));
}
