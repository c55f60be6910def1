// SPDX-License-Identifier: Apache-2.0
// Complex numbers as real ones, against the C library's complex functions.
#include "io_help.h"

#include "io/complex.h"
#include "io/random.h"

#include <complex.h>
#include <math.h>

#define COUNT 500

static void forms(void)
{
    static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e308, 1e-320, 3, -4};
    double pairs[2 * COUNT], out[2 * COUNT];
    float singles[2 * COUNT], few[2 * COUNT];
    for (int i = 0; i < 2 * COUNT; i++) {
        double uniform = (double)(ps_random_at(1, (uint64_t)i) >> 11) * 0x1p-53;
        pairs[i] = i < 162 ? odd[i % 2 ? i / 2 % 9 : i / 18 % 9] : uniform * 2 - 1;
        singles[i] = (float)pairs[i];
    }
    for (int f = PS_COMPLEX_PARTS; f <= PS_COMPLEX_PHASE; f++) {
        enum ps_complex form = (enum ps_complex)f;
        int width = ps_complex_width(form);
        ps_complex_convert(form, PS_F64, pairs, COUNT, out);
        ps_complex_convert(form, PS_F32, singles, COUNT, few);
        for (int i = 0; i < COUNT; i++) {
            double complex z;
            memcpy(&z, &pairs[2 * i], sizeof z); // as C99 lays it out; clang lacks CMPLX
            double first = f == PS_COMPLEX_PARTS || f == PS_COMPLEX_REAL ? creal(z)
                           : f == PS_COMPLEX_IMAG                        ? cimag(z)
                           : f == PS_COMPLEX_PHASE                       ? carg(z)
                                                                         : cabs(z);
            double second = f == PS_COMPLEX_PARTS ? cimag(z) : carg(z);
            CU_ASSERT(memcmp(&out[width * i], &first, 8) == 0 ||
                      (isnan(first) && isnan(out[width * i])));
            if (width == 2)
                CU_ASSERT(memcmp(&out[2 * i + 1], &second, 8) == 0 ||
                          (isnan(second) && isnan(out[2 * i + 1])));
            if (f == PS_COMPLEX_MAGNITUDE && i >= 81) // rounded once, from more digits
                CU_ASSERT_EQUAL(few[i], (float)hypot(singles[2 * i], singles[2 * i + 1]));
        }
    }
}

static void in_place(void)
{
    for (int f = PS_COMPLEX_PARTS; f <= PS_COMPLEX_PHASE; f++) {
        float pairs[] = {3, 4, -5, 12, 0, -1, 8, 6}, out[8];
        enum ps_complex form = (enum ps_complex)f;
        ps_complex_convert(form, PS_F32, pairs, 4, out);
        ps_complex_convert(form, PS_F32, pairs, 4, pairs);
        CU_ASSERT_EQUAL(memcmp(pairs, out, (size_t)ps_complex_width(form) * 16), 0);
    }
    uint16_t halves[] = {ps_f32_to_f16(3), ps_f32_to_f16(4)};
    ps_complex_convert(PS_COMPLEX_MAGNITUDE, PS_F16, halves, 1, halves);
    CU_ASSERT_EQUAL(halves[0], ps_f32_to_f16(5));
}

static void arrays(void)
{
    struct ps_array array = {.dtype = PS_F64, .rank = 1, .dims = {7}};
    struct ps_error error = {0};
    CU_ASSERT(ps_complex_array(PS_COMPLEX_PHASE, "x", &array, &error) && array.rank == 1);
    CU_ASSERT(ps_complex_array(PS_COMPLEX_POLAR, "x", &array, &error));
    CU_ASSERT(array.rank == 2 && array.dims[1] == 2 && strcmp(array.columns[1], "phase") == 0);
    ps_array_free(&array);
    array.rank = PS_RANK_MAX;
    CU_ASSERT_FALSE(ps_complex_array(PS_COMPLEX_PARTS, "x", &array, &error));
}

int main(void)
{
    static const struct check_test tests[] = {
        {"forms", forms},
        {"in place", in_place},
        {"arrays", arrays},
        {NULL, NULL},
    };
    return help_finish(check_main("complex", tests));
}
