// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set with PS_SLICE_TABLE defined.
#include "kernels/linear/slice.h"

#include "kernels/exact.h"

static double look(double *values, int64_t rows, bool *others_out)
{
    double most = 0, others = 0;
    for (int64_t i = 0; i < rows; i++) {
        double magnitude = __builtin_fabs(values[i]);
        bool finite = magnitude <= __DBL_MAX__; // false for NaN as well
        others += finite ? 0 : 1;
        values[i] = finite ? values[i] : 0;
        magnitude = finite ? magnitude : 0;
        most = magnitude > most ? magnitude : most;
    }
    *others_out = others > 0;
    return most;
}

static bool slice(double *values, int64_t rows, int exponent, double *whole_out, bool *left_out)
{
    double turn = 1.5 * ps_exact_power(exponent + 52); // sums with it round at the unit
    double scale = ps_exact_power(-exponent), any = 0, left = 0;
    for (int64_t i = 0; i < rows; i++) {
        double part = (values[i] + turn) - turn, rest = values[i] - part;
        values[i] = rest;
        whole_out[i] = part * scale;
        any += part != 0 ? 1 : 0;
        left += rest != 0 ? 1 : 0;
    }
    *left_out = left > 0;
    return any > 0;
}

const struct ps_slice_table PS_SLICE_TABLE = {look, slice};
