// SPDX-License-Identifier: Apache-2.0
// Windows of rows: the arithmetic of `rolling` and `downsample`, one source for host and device.
//
// Row r of the output looks at the input rows [anchor - before, anchor + after] that exist. The
// rows of a block are combined two by two, those two by two, and so on, over absolute row numbers:
// node i of level l stands for the rows [i 2^l, (i + 1) 2^l). Any window is the combination of at
// most 2 log2(w) nodes, taken from its first row to its last. Which operations are rounded is thus
// fixed by row numbers alone: the same bits for every block size and on both backends, log2(w)
// instead of w operations a row, and no subtraction of rows that leave the window, so a large value
// that has left it leaves no error behind.
#ifndef PS_KERNELS_WINDOW_WINDOW_H
#define PS_KERNELS_WINDOW_WINDOW_H

#include "kernels/window/element.h"

#include <math.h>

enum ps_window_kind { // in the order of the options' choices
    PS_WINDOW_SUM,
    PS_WINDOW_MEAN,
    PS_WINDOW_MIN,
    PS_WINDOW_MAX,
    PS_WINDOW_VAR,
    PS_WINDOW_STD,
    PS_WINDOW_MEDIAN,
    PS_WINDOW_COUNT, // of values that are not NaN
    PS_WINDOW_FIRST,
    PS_WINDOW_LAST,
    PS_WINDOW_KINDS
};

// What a node holds.
enum ps_window_node {
    PS_NODE_F64,     // a sum
    PS_NODE_I128,    // a sum of integers, exactly
    PS_NODE_MOMENTS, // mean and sum of squared differences from it
    PS_NODE_LEAST,   // key of the smallest; 0 for NaN
    PS_NODE_MOST,    // key of the largest; all ones for NaN
    PS_NODE_NUMBERS, // a count of those that are numbers
    PS_NODE_NONE,    // the rows themselves are looked at
};

#define PS_WINDOW_LEVELS 40
#define PS_WINDOW_NODE_BYTES 16

struct ps_window_value { // a node taken out of memory
    double a, b;
    uint64_t low, high;
};

// One launch, for one kind. Plain numbers: kernels get a copy.
struct ps_window_job {
    int dtype, kind, node;
    int64_t columns;         // elements of a row
    int64_t first_row, rows; // of the output
    int64_t in_first, in_end;
    int64_t before, after, start, step;
    bool fill;       // windows with fewer rows than before + 1 + after give `filler`
    uint64_t filler; // raw bits of the output's dtype
    double ddof;
    int out_dtype;
    int64_t out_step, out_offset;     // of element e: e * out_step + out_offset
    int levels;                       // 0 ... levels - 1 are kept
    int64_t offset[PS_WINDOW_LEVELS]; // rows of nodes before those of the level
    int64_t first[PS_WINDOW_LEVELS];  // its first node
    int64_t end[PS_WINDOW_LEVELS];
    const void *in;
    void *out;
    void *nodes;
    // Median: lanes of neighbouring output rows of one column, each with room for one window.
    int64_t lane_rows, lanes;
};

// ---- Nodes ----

PS_EXACT struct ps_window_value ps_window_leaf(const struct ps_window_job *job, int64_t row,
                                               int64_t column)
{
    struct ps_window_value value = {0, 0, 0, 0};
    uint64_t raw =
        ps_element_raw(job->dtype, job->in, (row - job->in_first) * job->columns + column);
    switch (job->node) {
    case PS_NODE_F64:
    case PS_NODE_MOMENTS:
        value.a = ps_element_number(job->dtype, raw);
        value.b = value.a - value.a; // NaN for the infinite, which have no spread
        break;
    case PS_NODE_I128: {
        bool is_signed = ps_element_class(job->dtype).is_signed;
        value.low = is_signed ? (uint64_t)ps_element_signed(job->dtype, raw) : raw;
        value.high = is_signed && value.low >> 63 != 0 ? ~0ull : 0;
        break;
    }
    case PS_NODE_LEAST:
        value.low = ps_element_is_nan(job->dtype, raw) ? 0 : ps_element_key(job->dtype, raw);
        break;
    case PS_NODE_MOST:
        value.low = ps_element_is_nan(job->dtype, raw) ? ~0ull : ps_element_key(job->dtype, raw);
        break;
    default:
        value.low = !ps_element_is_nan(job->dtype, raw);
        break;
    }
    return value;
}

// m and n rows, those of the first before those of the second. Chan, Golub, LeVeque 1979 for the
// moments.
PS_EXACT struct ps_window_value ps_window_combine(int node, struct ps_window_value x, int64_t m,
                                                  struct ps_window_value y, int64_t n)
{
    struct ps_window_value both = {0, 0, 0, 0};
    switch (node) {
    case PS_NODE_F64:
        both.a = x.a + y.a;
        break;
    case PS_NODE_MOMENTS: {
        double delta = y.a - x.a, all = (double)(m + n);
        double share = (double)n / all;
        double spread = delta * delta;
        both.a = delta == 0 ? x.a : x.a + delta * share;
        both.b = x.b + y.b;
        both.b = delta == 0 ? both.b : both.b + spread * ((double)m * share);
        break;
    }
    case PS_NODE_I128:
        both.low = x.low + y.low;
        both.high = x.high + y.high + (both.low < x.low);
        break;
    case PS_NODE_LEAST:
        both.low = x.low < y.low ? x.low : y.low;
        break;
    case PS_NODE_MOST:
        both.low = x.low > y.low ? x.low : y.low;
        break;
    default:
        both.low = x.low + y.low;
        break;
    }
    return both;
}

// Where node i of level l keeps its first word; the second word of all nodes lies behind.
PS_EXACT int64_t ps_window_node_at(const struct ps_window_job *job, int level, int64_t node,
                                   int64_t column)
{
    return (job->offset[level] + node - job->first[level]) * job->columns + column;
}

PS_EXACT int64_t ps_window_nodes(const struct ps_window_job *job)
{
    int last = job->levels - 1;
    return (job->offset[last] + job->end[last] - job->first[last]) * job->columns;
}

PS_EXACT struct ps_window_value ps_window_get(const struct ps_window_job *job, int level,
                                              int64_t node, int64_t column)
{
    struct ps_window_value value = {0, 0, 0, 0};
    int64_t at = ps_window_node_at(job, level, node, column);
    if (job->node == PS_NODE_F64 || job->node == PS_NODE_MOMENTS)
        value.a = ((const double *)job->nodes)[at];
    else
        value.low = ((const uint64_t *)job->nodes)[at];
    if (job->node == PS_NODE_MOMENTS)
        value.b = ((const double *)job->nodes)[at + ps_window_nodes(job)];
    if (job->node == PS_NODE_I128)
        value.high = ((const uint64_t *)job->nodes)[at + ps_window_nodes(job)];
    return value;
}

PS_EXACT void ps_window_put(const struct ps_window_job *job, int level, int64_t node,
                            int64_t column, struct ps_window_value value)
{
    int64_t at = ps_window_node_at(job, level, node, column);
    if (job->node == PS_NODE_F64 || job->node == PS_NODE_MOMENTS)
        ((double *)job->nodes)[at] = value.a;
    else
        ((uint64_t *)job->nodes)[at] = value.low;
    if (job->node == PS_NODE_MOMENTS)
        ((double *)job->nodes)[at + ps_window_nodes(job)] = value.b;
    if (job->node == PS_NODE_I128)
        ((uint64_t *)job->nodes)[at + ps_window_nodes(job)] = value.high;
}

PS_EXACT void ps_window_build(const struct ps_window_job *job, int level, int64_t node,
                              int64_t column)
{
    struct ps_window_value value;
    if (level == 0) {
        value = ps_window_leaf(job, node, column);
    } else {
        int64_t half = (int64_t)1 << (level - 1);
        value = ps_window_combine(job->node, ps_window_get(job, level - 1, 2 * node, column), half,
                                  ps_window_get(job, level - 1, 2 * node + 1, column), half);
    }
    ps_window_put(job, level, node, column, value);
}

// ---- Windows ----

struct ps_window_rows {
    int64_t first, end;
};

// Input rows of output row `row` that exist.
PS_EXACT struct ps_window_rows ps_window_of(const struct ps_window_job *job, int64_t row)
{
    int64_t anchor = job->start + row * job->step;
    struct ps_window_rows rows;
    rows.first = anchor - job->before > 0 ? anchor - job->before : 0;
    rows.end = anchor + job->after + 1 < job->in_end ? anchor + job->after + 1 : job->in_end;
    return rows;
}

// The level of the largest node that begins at `first` and ends by `end`.
PS_EXACT int ps_window_level(const struct ps_window_job *job, int64_t first, int64_t end)
{
    int level = 0;
    while (level + 1 < job->levels && (first & (((int64_t)2 << level) - 1)) == 0 &&
           first + ((int64_t)2 << level) <= end)
        level++;
    return level;
}

PS_EXACT struct ps_window_value ps_window_take(const struct ps_window_job *job,
                                               struct ps_window_rows rows, int64_t column)
{
    int level = ps_window_level(job, rows.first, rows.end);
    struct ps_window_value all = ps_window_get(job, level, rows.first >> level, column);
    int64_t count = (int64_t)1 << level;
    for (int64_t at = rows.first + count; at < rows.end;) {
        level = ps_window_level(job, at, rows.end);
        int64_t more = (int64_t)1 << level;
        all = ps_window_combine(job->node, all, count,
                                ps_window_get(job, level, at >> level, column), more);
        count += more;
        at += more;
    }
    return all;
}

// ---- Results ----

PS_EXACT void ps_window_store_f64(const struct ps_window_job *job, int64_t element, double value)
{
    ((double *)job->out)[element * job->out_step + job->out_offset] =
        value == value ? value : ps_exact_from_bits(0x7ff8000000000000ull);
}

// A result of the input's dtype.
PS_EXACT void ps_window_store_raw(const struct ps_window_job *job, int64_t element, uint64_t raw)
{
    if (job->out_dtype == job->dtype)
        ps_element_store_raw(job->dtype, job->out, element * job->out_step + job->out_offset,
                             ps_element_is_nan(job->dtype, raw) ? ps_element_nan(job->dtype) : raw);
    else
        ps_window_store_f64(job, element, ps_element_number(job->dtype, raw));
}

// A whole number of 128 bits (two's complement) as the nearest double.
PS_EXACT double ps_window_wide(uint64_t low, uint64_t high)
{
    bool negative = high >> 63 != 0;
    if (negative) {
        low = 0 - low;
        high = ~high + (low == 0);
    }
    // The rounded low part may not decide a tie: bits that cannot matter are gathered in one.
    double size;
    if (high == 0) {
        size = (double)low;
    } else {
        int shift = 0;
        while (high >> shift != 0)
            shift++;
        uint64_t top = shift == 64 ? high : high << (64 - shift) | low >> shift;
        uint64_t rest = shift == 64 ? low : low << (64 - shift);
        size = (double)(top | (rest != 0));
        for (int i = 0; i < shift; i++)
            size *= 2;
    }
    return negative ? -size : size;
}

// False: an integer sum beyond 64 bits.
PS_EXACT bool ps_window_store(const struct ps_window_job *job, int64_t element, int64_t count,
                              struct ps_window_value value)
{
    bool is_signed = ps_element_class(job->dtype).is_signed;
    double numbers = (double)count;
    switch (job->kind) {
    case PS_WINDOW_SUM:
        if (job->node == PS_NODE_F64)
            ps_window_store_f64(job, element, value.a);
        else if (value.high != (is_signed && value.low >> 63 != 0 ? ~0ull : 0))
            return false;
        else if (job->out_dtype == PS_F64)
            ps_window_store_f64(job, element,
                                is_signed ? (double)(int64_t)value.low : (double)value.low);
        else
            ((uint64_t *)job->out)[element * job->out_step + job->out_offset] = value.low;
        break;
    case PS_WINDOW_MEAN:
        ps_window_store_f64(
            job, element,
            (job->node == PS_NODE_F64 ? value.a : ps_window_wide(value.low, value.high)) / numbers);
        break;
    case PS_WINDOW_VAR:
    case PS_WINDOW_STD: {
        double variance = numbers > job->ddof ? value.b / (numbers - job->ddof)
                                              : ps_exact_from_bits(0x7ff8000000000000ull);
        ps_window_store_f64(job, element, job->kind == PS_WINDOW_STD ? sqrt(variance) : variance);
        break;
    }
    case PS_WINDOW_COUNT:
        if (job->out_dtype == PS_F64)
            ps_window_store_f64(job, element, (double)value.low);
        else
            ((uint64_t *)job->out)[element * job->out_step + job->out_offset] = value.low;
        break;
    default: { // min, max
        bool is_float = ps_element_class(job->dtype).is_float;
        bool nan = is_float && value.low == (job->kind == PS_WINDOW_MIN ? 0 : ~0ull);
        ps_window_store_raw(job, element,
                            nan ? ps_element_nan(job->dtype)
                                : ps_element_unkey(job->dtype, value.low));
        break;
    }
    }
    return true;
}

PS_EXACT void ps_window_store_fill(const struct ps_window_job *job, int64_t element)
{
    ps_element_store_raw(job->out_dtype, job->out, element * job->out_step + job->out_offset,
                         job->filler);
}

// One result of every kind but median. False: see ps_window_store.
PS_EXACT bool ps_window_result(const struct ps_window_job *job, int64_t row, int64_t column)
{
    struct ps_window_rows rows = ps_window_of(job, job->first_row + row);
    int64_t element = row * job->columns + column, count = rows.end - rows.first;
    if (count <= 0 || (job->fill && count < job->before + job->after + 1)) {
        ps_window_store_fill(job, element);
        return true;
    }
    if (job->kind == PS_WINDOW_FIRST || job->kind == PS_WINDOW_LAST) {
        int64_t at = job->kind == PS_WINDOW_FIRST ? rows.first : rows.end - 1;
        ps_window_store_raw(
            job, element,
            ps_element_raw(job->dtype, job->in, (at - job->in_first) * job->columns + column));
        return true;
    }
    return ps_window_store(job, element, count, ps_window_take(job, rows, column));
}

// ---- Medians: the window's keys, sorted, as it slides over a lane's rows ----

struct ps_window_sorted {
    uint64_t *keys; // room for before + 1 + after of them
    int64_t count;  // numbers in it
    int64_t nans;   // in the window, not in keys
};

// Where key belongs: the first place whose key is not smaller.
PS_EXACT int64_t ps_window_find(const struct ps_window_sorted *sorted, uint64_t key)
{
    int64_t low = 0, high = sorted->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

PS_EXACT void ps_window_change(const struct ps_window_job *job, struct ps_window_sorted *sorted,
                               int64_t row, int64_t column, bool enters)
{
    uint64_t raw =
        ps_element_raw(job->dtype, job->in, (row - job->in_first) * job->columns + column);
    if (ps_element_is_nan(job->dtype, raw)) {
        sorted->nans += enters ? 1 : -1;
        return;
    }
    uint64_t key = ps_element_key(job->dtype, raw);
    int64_t at = ps_window_find(sorted, key);
    if (enters) {
        for (int64_t i = sorted->count++; i > at; i--)
            sorted->keys[i] = sorted->keys[i - 1];
        sorted->keys[at] = key;
    } else {
        sorted->count--;
        for (int64_t i = at; i < sorted->count; i++)
            sorted->keys[i] = sorted->keys[i + 1];
    }
}

// The middle value, or the mean of the middle two.
PS_EXACT double ps_window_middle(const struct ps_window_job *job,
                                 const struct ps_window_sorted *sorted)
{
    int64_t n = sorted->count;
    if (sorted->nans > 0 || n == 0)
        return ps_exact_from_bits(0x7ff8000000000000ull);
    double a =
        ps_element_number(job->dtype, ps_element_unkey(job->dtype, sorted->keys[(n - 1) / 2]));
    double b = ps_element_number(job->dtype, ps_element_unkey(job->dtype, sorted->keys[n / 2]));
    if (a == b)
        return a;
    double sum = a + b;
    return sum - sum == 0 ? sum / 2 : a / 2 + b / 2; // halves first where the sum is too large
}

// Output rows [lane * lane_rows, ...) of this launch, one column. Lanes computed at the same time
// have different rooms, below job->lanes.
PS_EXACT void ps_window_medians(const struct ps_window_job *job, int64_t lane, int64_t room)
{
    int64_t column = lane % job->columns, from = lane / job->columns * job->lane_rows;
    int64_t end = from + job->lane_rows < job->rows ? from + job->lane_rows : job->rows;
    struct ps_window_sorted sorted = {
        (uint64_t *)job->nodes + room * (job->before + job->after + 1), 0, 0};
    struct ps_window_rows held = {0, 0};
    for (int64_t row = from; row < end; row++) {
        struct ps_window_rows rows = ps_window_of(job, job->first_row + row);
        int64_t element = row * job->columns + column, count = rows.end - rows.first;
        for (int64_t i = held.first; i < held.end && i < rows.first; i++)
            ps_window_change(job, &sorted, i, column, false);
        for (int64_t i = held.end > rows.first ? held.end : rows.first; i < rows.end; i++)
            ps_window_change(job, &sorted, i, column, true);
        held = rows;
        if (count <= 0 || (job->fill && count < job->before + job->after + 1))
            ps_window_store_fill(job, element);
        else
            ps_window_store_f64(job, element, ps_window_middle(job, &sorted));
    }
}

#endif
