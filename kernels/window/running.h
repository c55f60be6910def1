// SPDX-License-Identifier: Apache-2.0
// Running results: the arithmetic of `cumulative`, one source for host and device. Rows are taken
// strictly one after another, and the carry goes from block to block.
#ifndef PS_KERNELS_WINDOW_RUNNING_H
#define PS_KERNELS_WINDOW_RUNNING_H

#include "kernels/window/element.h"

enum ps_running_kind { // in the order of the option's choices
    PS_RUNNING_SUM,
    PS_RUNNING_PROD,
    PS_RUNNING_MIN,
    PS_RUNNING_MAX,
    PS_RUNNING_COUNT, // of values that are not NaN
    PS_RUNNING_LAST,  // that is not NaN
};

// One column's. All zero: before the first row.
struct ps_carry {
    double sum, rest; // the sum is sum + rest; prod: sum alone
    uint64_t word;    // whole sums and products, keys, counts
    int64_t started;  // 0, 1; 2: the result is NaN for good
};

struct ps_running_job {
    int kind, dtype;
    bool skips_nan;
    int64_t columns, rows;
    const void *in;
    void *out;
    struct ps_carry *carry;
};

// Two-sum (Knuth): a + b = *sum + rest exactly, unless it overflows.
PS_EXACT double ps_running_two_sum(double a, double b, double *sum)
{
    double s = a + b, t = s - a;
    double u = s - t;
    *sum = s;
    return (a - u) + (b - t);
}

PS_EXACT void ps_running_add(struct ps_carry *carry, double value)
{
    double rest = ps_running_two_sum(carry->sum, value, &carry->sum);
    carry->rest = carry->sum - carry->sum == 0 ? carry->rest + rest : 0; // none of the infinite
}

PS_EXACT bool ps_running_add_whole(struct ps_carry *carry, uint64_t value, bool is_signed)
{
    uint64_t sum = carry->word + value;
    bool fits =
        is_signed ? ((~(carry->word ^ value) & (carry->word ^ sum)) >> 63) == 0 : sum >= value;
    carry->word = sum;
    return fits;
}

PS_EXACT bool ps_running_multiply_whole(struct ps_carry *carry, uint64_t value, bool is_signed)
{
    __extension__ typedef __int128 wide;
    __extension__ typedef unsigned __int128 natural;
    if (carry->started == 0)
        carry->word = 1;
    carry->started = 1;
    if (is_signed) {
        wide product = (wide)(int64_t)carry->word * (int64_t)value;
        carry->word = (uint64_t)product;
        return product == (wide)(int64_t)carry->word;
    }
    natural product = (natural)carry->word * value;
    carry->word = (uint64_t)product;
    return product >> 64 == 0;
}

// An integer in the sums' 64 bits. False: the result does not fit.
PS_EXACT bool ps_running_whole(const struct ps_running_job *job, struct ps_carry *carry,
                               uint64_t raw)
{
    bool is_signed = ps_element_class(job->dtype).is_signed;
    uint64_t value = is_signed ? (uint64_t)ps_element_signed(job->dtype, raw) : raw;
    return job->kind == PS_RUNNING_SUM ? ps_running_add_whole(carry, value, is_signed)
                                       : ps_running_multiply_whole(carry, value, is_signed);
}

PS_EXACT void ps_running_extreme(const struct ps_running_job *job, struct ps_carry *carry,
                                 uint64_t raw)
{
    uint64_t key = ps_element_key(job->dtype, raw);
    bool better = job->kind == PS_RUNNING_MIN ? key < carry->word : key > carry->word;
    if (carry->started == 0 || (carry->started == 1 && better))
        carry->word = key;
    carry->started = carry->started == 0 ? 1 : carry->started;
}

PS_EXACT void ps_running_store(const struct ps_running_job *job, const struct ps_carry *carry,
                               int64_t element)
{
    bool is_float = ps_element_class(job->dtype).is_float;
    if (job->kind == PS_RUNNING_LAST) {
        ps_element_store_raw(job->dtype, job->out, element,
                             carry->started != 0 ? carry->word : ps_element_nan(job->dtype));
    } else if (job->kind == PS_RUNNING_MIN || job->kind == PS_RUNNING_MAX) {
        bool nan = carry->started != 1;
        ps_element_store_raw(job->dtype, job->out, element,
                             nan ? ps_element_nan(job->dtype)
                                 : ps_element_unkey(job->dtype, carry->word));
    } else if (job->kind == PS_RUNNING_COUNT || !is_float) {
        ((uint64_t *)job->out)[element] = carry->word;
    } else {
        double value = job->kind == PS_RUNNING_SUM ? carry->sum + carry->rest : carry->sum;
        ((double *)job->out)[element] =
            value == value ? value : ps_exact_from_bits(0x7ff8000000000000ull);
    }
}

// Takes row `row` of one column and stores the result so far. False: beyond 64 bits.
PS_EXACT bool ps_running_step(const struct ps_running_job *job, struct ps_carry *carry, int64_t row,
                              int64_t column)
{
    int64_t element = row * job->columns + column;
    uint64_t raw = ps_element_raw(job->dtype, job->in, element);
    bool nan = ps_element_is_nan(job->dtype, raw), fits = true;
    if (job->kind == PS_RUNNING_COUNT) {
        carry->word += !nan;
    } else if (job->kind == PS_RUNNING_LAST) {
        carry->word = nan ? carry->word : raw;
        carry->started = nan ? carry->started : 1;
    } else if (nan && job->skips_nan) {
    } else if (job->kind == PS_RUNNING_MIN || job->kind == PS_RUNNING_MAX) {
        if (nan)
            carry->started = 2;
        else
            ps_running_extreme(job, carry, raw);
    } else if (!ps_element_class(job->dtype).is_float) {
        fits = ps_running_whole(job, carry, raw);
    } else if (job->kind == PS_RUNNING_SUM) {
        ps_running_add(carry, ps_element_number(job->dtype, raw));
    } else {
        double value = ps_element_number(job->dtype, raw);
        carry->sum = carry->started != 0 ? carry->sum * value : value;
        carry->started = 1;
    }
    if (job->kind == PS_RUNNING_PROD && carry->started == 0) { // skipped so far: the empty product
        carry->sum = 1;
        carry->word = 1;
        carry->started = 1;
    }
    ps_running_store(job, carry, element);
    return fits;
}

#endif
