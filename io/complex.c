// SPDX-License-Identifier: Apache-2.0
#include "io/complex.h"

#include <math.h>
#include <string.h>

bool ps_complex_form(const struct ps_value *option, const char *path, enum ps_complex *form_out,
                     struct ps_error *error)
{
    *form_out = (enum ps_complex)option->choice;
    return option->given ||
           ps_fail(
               error, PS_INPUT,
               "%s holds complex numbers: say what they are read as by `complex:` parts (two "
               "columns re and im), polar (magnitude and phase), real, imag, magnitude or phase",
               path);
}

int ps_complex_width(enum ps_complex form)
{
    return form == PS_COMPLEX_PARTS || form == PS_COMPLEX_POLAR ? 2 : 1;
}

bool ps_complex_array(enum ps_complex form, const char *path, struct ps_array *array,
                      struct ps_error *error)
{
    static const char *const parts[] = {"re", "im"}, *const polar[] = {"magnitude", "phase"};
    if (ps_complex_width(form) == 1)
        return true;
    if (array->rank == PS_RANK_MAX)
        return ps_fail(error, PS_INPUT,
                       "%s: with an axis for the parts of complex numbers it has "
                       "more than %d axes",
                       path, PS_RANK_MAX);
    array->dims[array->rank++] = 2;
    return ps_array_set_columns(array, 2, form == PS_COMPLEX_PARTS ? parts : polar, error);
}

static double load(enum ps_dtype dtype, const void *data, int64_t i)
{
    return dtype == PS_F16   ? ps_f16_to_f32(((const uint16_t *)data)[i])
           : dtype == PS_F32 ? ((const float *)data)[i]
                             : ((const double *)data)[i];
}

static void store(enum ps_dtype dtype, double value, void *data, int64_t i)
{
    if (dtype == PS_F16)
        ((uint16_t *)data)[i] = ps_f64_to_f16(value);
    else if (dtype == PS_F32)
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

// One of the two parts, bit for bit.
static void take_part(size_t bytes, const char *pairs, int part, int64_t count, char *out)
{
    for (int64_t i = 0; i < count; i++)
        memmove(out + (size_t)i * bytes, pairs + (size_t)(2 * i + part) * bytes, bytes);
}

void ps_complex_convert(enum ps_complex form, enum ps_dtype dtype, const void *pairs, int64_t count,
                        void *out)
{
    size_t bytes = ps_dtype_bytes(dtype);
    bool magnitude = form == PS_COMPLEX_POLAR || form == PS_COMPLEX_MAGNITUDE;
    bool phase = form == PS_COMPLEX_POLAR || form == PS_COMPLEX_PHASE;
    int width = ps_complex_width(form);
    if (form == PS_COMPLEX_PARTS && out != pairs)
        memcpy(out, pairs, 2 * (size_t)count * bytes);
    if (form == PS_COMPLEX_REAL || form == PS_COMPLEX_IMAG)
        take_part(bytes, pairs, form == PS_COMPLEX_IMAG, count, out);
    for (int64_t i = 0; (magnitude || phase) && i < count; i++) {
        double re = load(dtype, pairs, 2 * i), im = load(dtype, pairs, 2 * i + 1);
        if (magnitude)
            store(dtype, hypot(re, im), out, width * i);
        if (phase)
            store(dtype, atan2(im, re), out, width * i + width - 1);
    }
}
