// SPDX-License-Identifier: Apache-2.0
// Dtypes against NumPy's promotion table, and binary16 against exact arithmetic for all halves.
#include "base/dtype.h"
#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void promotes_like_numpy(void)
{
    FILE *file = fopen(PS_TEST_DATA "/base/promotion.txt", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    char a[8], b[8], result[8];
    int lines = 0;
    while (fscanf(file, "%7s %7s %7s", a, b, result) == 3) {
        enum ps_dtype x = PS_BOOL, y = PS_BOOL, want = PS_BOOL;
        CU_ASSERT_FATAL(ps_dtype_parse(a, &x) && ps_dtype_parse(b, &y) &&
                        ps_dtype_parse(result, &want));
        if (ps_dtype_promote(x, y) != want)
            printf("%s with %s: %s, not %s\n", a, b, ps_dtype_name(ps_dtype_promote(x, y)), result);
        CU_ASSERT_EQUAL(ps_dtype_promote(x, y), want);
        lines++;
    }
    fclose(file);
    CU_ASSERT_EQUAL(lines, PS_DTYPE_COUNT * PS_DTYPE_COUNT);
}

static void parses_names(void)
{
    enum ps_dtype dtype;
    for (int i = 0; i < PS_DTYPE_COUNT; i++) {
        const struct ps_dtype_info *info = ps_dtype_info((enum ps_dtype)i);
        CU_ASSERT(ps_dtype_parse(info->name, &dtype) && dtype == (enum ps_dtype)i);
        CU_ASSERT(ps_dtype_parse(info->numpy, &dtype) && dtype == (enum ps_dtype)i);
    }
    CU_ASSERT(ps_dtype_parse("f4", &dtype) && dtype == PS_F32);
    CU_ASSERT(ps_dtype_parse("i8", &dtype) && dtype == PS_I8); // our name wins over NumPy's code
    static const char *const wrong[] = {"",    "f",    "float", "F32", "f32 ",
                                        "<f4", "f128", "c8",    "int"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CU_ASSERT_FALSE(ps_dtype_parse(wrong[i], &dtype));
}

// The value of a half from its definition, in exact binary64 arithmetic.
static double half_value(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return fraction == 0 ? sign * INFINITY : NAN;
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

static void halves_are_exact(void)
{
    int wrong = 0;
    for (unsigned h = 0; h < 65536; h++) {
        float value = ps_f16_to_f32((uint16_t)h);
        double want = half_value(h);
        if (isnan(want))
            wrong += !isnan(value) || !isnan(ps_f16_to_f32(ps_f32_to_f16(value)));
        else
            wrong += (double)value != want || (signbit(value) != 0) != (h >= 0x8000) ||
                     ps_f32_to_f16(value) != h || ps_f64_to_f16(want) != h;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

// Around every pair of neighbours: below the middle down, above it up, on it to the even one.
static void rounds_to_nearest_even(void)
{
    int wrong = 0;
    for (unsigned h = 0; h < 0x7c00; h++) {
        double low = half_value(h);
        double high = h + 1 == 0x7c00 ? 65536 : half_value(h + 1); // as if exponents went on
        double middle = (low + high) / 2;
        unsigned even = h & 1 ? h + 1 : h;
        wrong += ps_f64_to_f16(middle) != even || ps_f64_to_f16(-middle) != (even | 0x8000);
        wrong += ps_f64_to_f16(nextafter(middle, low)) != h;
        wrong += ps_f64_to_f16(nextafter(middle, high)) != h + 1;
        wrong += ps_f32_to_f16((float)middle) != even; // exact in binary32
        wrong += ps_f32_to_f16(nextafterf((float)middle, (float)low)) != h;
        wrong += ps_f32_to_f16(nextafterf((float)middle, (float)high)) != h + 1;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void rounds_like_numpy(void)
{
    FILE *file = fopen(PS_TEST_DATA "/base/halves.txt", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    uint64_t bits;
    unsigned half;
    int lines = 0;
    while (fscanf(file, "%" SCNx64 " %x", &bits, &half) == 2) {
        double value;
        memcpy(&value, &bits, sizeof value);
        if (ps_f64_to_f16(value) != half)
            printf("%a: %04x, not %04x\n", value, ps_f64_to_f16(value), half);
        CU_ASSERT_EQUAL(ps_f64_to_f16(value), half);
        lines++;
    }
    fclose(file);
    CU_ASSERT(lines > 150);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"promotion as NumPy", promotes_like_numpy},
        {"names", parses_names},
        {"all halves", halves_are_exact},
        {"ties to even", rounds_to_nearest_even},
        {"halves as NumPy", rounds_like_numpy},
        {NULL, NULL},
    };
    return check_main("dtype", tests);
}
