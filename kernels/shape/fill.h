// SPDX-License-Identifier: Apache-2.0
// Filling gaps: runs of NaN within a line. One source for host and device.
#ifndef PS_KERNELS_SHAPE_FILL_H
#define PS_KERNELS_SHAPE_FILL_H

#include "kernels/shape/lines.h"
#include "kernels/window/element.h"

enum ps_fill_method { PS_FILL_VALUE, PS_FILL_PREVIOUS, PS_FILL_NEXT, PS_FILL_LINEAR };

struct ps_fill_job {
    struct ps_lines lines;
    int dtype, method;
    bool nearest;    // gaps at the ends take the nearest value, else they stay
    int64_t longest; // longer gaps stay; 0: none does
    uint64_t filler; // of PS_FILL_VALUE, in dtype
    int64_t count;   // lines of the launch
    const void *in;
    void *out;
};

PS_EXACT uint64_t ps_fill_raw(const struct ps_fill_job *job, int64_t line, int64_t i)
{
    return ps_element_raw(job->dtype, job->in, ps_lines_at(&job->lines, job->lines.n, line, i));
}

// As numpy.interp computes it, also beside infinities.
PS_EXACT double ps_fill_between(double a, double b, int64_t before, int64_t after)
{
    double slope = (b - a) / (double)(before + after);
    double value = slope * (double)before + a;
    if (value != value)
        value = slope * -(double)after + b;
    return value != value && a == b ? a : value;
}

PS_EXACT uint64_t ps_fill_round(int dtype, double value)
{
    float single = (float)value;
    uint32_t bits;
    if (value != value)
        return ps_element_nan(dtype);
    if (dtype == PS_F64)
        return ps_exact_bits(value);
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

// What element i of a line becomes, which is a NaN: previous and next are the nearest elements that
// are none, -1 and n where there are none.
PS_EXACT uint64_t ps_fill_value(const struct ps_fill_job *job, int64_t line, int64_t i,
                                int64_t previous, int64_t next)
{
    bool has_previous = previous >= 0, has_next = next < job->lines.n;
    uint64_t own = ps_fill_raw(job, line, i), a = own, b = own;
    if (job->longest > 0 && next - previous - 1 > job->longest)
        return own;
    if (job->method == PS_FILL_VALUE)
        return job->filler;
    if (has_previous)
        a = ps_fill_raw(job, line, previous);
    if (has_next)
        b = ps_fill_raw(job, line, next);
    if (job->method == PS_FILL_LINEAR && has_previous && has_next)
        return ps_fill_round(job->dtype, ps_fill_between(ps_element_number(job->dtype, a),
                                                         ps_element_number(job->dtype, b),
                                                         i - previous, next - i));
    if (job->method == PS_FILL_PREVIOUS && has_previous)
        return a;
    if (job->method == PS_FILL_NEXT && has_next)
        return b;
    return !job->nearest ? own : has_previous ? a : b;
}

PS_EXACT void ps_fill_line(const struct ps_fill_job *job, int64_t line)
{
    int64_t n = job->lines.n, previous = -1, i = 0;
    while (i < n) {
        uint64_t raw = ps_fill_raw(job, line, i);
        int64_t next = i;
        if (!ps_element_is_nan(job->dtype, raw)) {
            ps_element_store_raw(job->dtype, job->out, ps_lines_at(&job->lines, n, line, i), raw);
            previous = i++;
            continue;
        }
        while (next < n && ps_element_is_nan(job->dtype, ps_fill_raw(job, line, next)))
            next++;
        for (; i < next; i++)
            ps_element_store_raw(job->dtype, job->out, ps_lines_at(&job->lines, n, line, i),
                                 ps_fill_value(job, line, i, previous, next));
    }
}

#endif
