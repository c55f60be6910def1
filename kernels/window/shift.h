// SPDX-License-Identifier: Apache-2.0
// Rows beside rows: the arithmetic of `lag`, `difference` and `convolve`, one source for host and
// device.
#ifndef PS_KERNELS_WINDOW_SHIFT_H
#define PS_KERNELS_WINDOW_SHIFT_H

#include "kernels/window/element.h"

enum ps_shift_kind { PS_SHIFT_LAG, PS_SHIFT_DIFFERENCE, PS_SHIFT_CONVOLVE };

#define PS_SHIFT_TAPS_MAX 256 // written in the config

struct ps_shift_job {
    int kind, dtype, out_dtype;
    int64_t columns;
    int64_t first_row, rows; // of the output
    int64_t in_first, in_end;
    int64_t start; // output row r belongs to input row start + r
    int64_t by;    // lag, difference: rows back
    bool fill;     // where a row is missing; else missing rows count as 0 (convolve)
    uint64_t filler;
    // Convolve: result = sum over j of tap j times the input row anchor + after - j.
    int64_t after, tap_count;
    const void *taps; // of tap_dtype, or NULL: own_taps
    int tap_dtype;
    const void *in;
    void *out;
    double own_taps[PS_SHIFT_TAPS_MAX];
};

PS_EXACT uint64_t ps_shift_raw(const struct ps_shift_job *job, int64_t row, int64_t column)
{
    return ps_element_raw(job->dtype, job->in, (row - job->in_first) * job->columns + column);
}

// b - a of integers in 64 bits. False when that overflows.
PS_EXACT bool ps_shift_subtract(int dtype, uint64_t b, uint64_t a, uint64_t *difference_out)
{
    bool is_signed = ps_element_class(dtype).is_signed;
    uint64_t x = is_signed ? (uint64_t)ps_element_signed(dtype, b) : b;
    uint64_t y = is_signed ? (uint64_t)ps_element_signed(dtype, a) : a;
    bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;
    *difference_out = x - y;
    return less == ((int64_t)*difference_out < 0);
}

PS_EXACT void ps_shift_store_number(const struct ps_shift_job *job, int64_t element, double value)
{
    if (job->out_dtype == PS_F32)
        ((float *)job->out)[element] = value == value ? (float)value : ps_element_f32(0x7fc00000u);
    else
        ((double *)job->out)[element] =
            value == value ? value : ps_exact_from_bits(0x7ff8000000000000ull);
}

PS_EXACT double ps_shift_tap(const struct ps_shift_job *job, int64_t j)
{
    if (job->taps == 0)
        return job->own_taps[j];
    return ps_element_number(job->tap_dtype, ps_element_raw(job->tap_dtype, job->taps, j));
}

PS_EXACT void ps_shift_convolve(const struct ps_shift_job *job, int64_t anchor, int64_t element,
                                int64_t column)
{
    double sum = 0;
    int64_t last = anchor + job->after, first = last - job->tap_count + 1;
    if (job->fill && (first < 0 || last >= job->in_end)) {
        ps_element_store_raw(job->out_dtype, job->out, element, job->filler);
        return;
    }
    int64_t from = last < job->in_end ? last : job->in_end - 1;
    for (int64_t row = from; row >= first && row >= 0; row--) {
        double term = ps_shift_tap(job, last - row) *
                      ps_element_number(job->dtype, ps_shift_raw(job, row, column));
        sum += term;
    }
    ps_shift_store_number(job, element, sum);
}

// False: a difference of integers beyond 64 bits.
PS_EXACT bool ps_shift_result(const struct ps_shift_job *job, int64_t row, int64_t column)
{
    int64_t anchor = job->start + job->first_row + row, element = row * job->columns + column;
    int64_t back = anchor - job->by;
    if (job->kind == PS_SHIFT_CONVOLVE) {
        ps_shift_convolve(job, anchor, element, column);
    } else if (back < 0 || back >= job->in_end) {
        ps_element_store_raw(job->out_dtype, job->out, element, job->filler);
    } else if (job->kind == PS_SHIFT_LAG) {
        ps_element_store_raw(job->out_dtype, job->out, element, ps_shift_raw(job, back, column));
    } else {
        uint64_t b = ps_shift_raw(job, anchor, column), a = ps_shift_raw(job, back, column), d;
        if (ps_element_class(job->dtype).is_float) {
            ps_shift_store_number(
                job, element, ps_element_number(job->dtype, b) - ps_element_number(job->dtype, a));
            return true;
        }
        bool fits = ps_shift_subtract(job->dtype, b, a, &d);
        ((uint64_t *)job->out)[element] = d;
        return fits;
    }
    return true;
}

#endif
