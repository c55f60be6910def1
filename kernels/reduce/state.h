// SPDX-License-Identifier: Apache-2.0
// The state of a reduction: accumulators of every output, as planes of 64-bit numbers, so that
// neighbouring outputs lie next to each other. The same bytes on host and device; all zero: empty.
// Plain numbers only: included by C and CUDA files.
#ifndef PS_KERNELS_REDUCE_STATE_H
#define PS_KERNELS_REDUCE_STATE_H

#include "kernels/exact.h"

// What is kept for one dtype and one set of kinds.
struct ps_reduce_form {
    int dtype;        // enum ps_dtype of the input
    int low;          // the sums' bit 0 is 2^low, the squares' 2^(2 low)
    int sum_limbs;    // 0: sums are not wanted
    int square_limbs; // 0: squares are not wanted
    int64_t outputs;  // accumulators side by side
};

#define PS_REDUCE_PLANES 5 // before the limbs: counts of NaN, +inf, -inf; smallest, largest

struct ps_reduce_head {
    int64_t elements; // added to each output, NaN included
    int64_t pending;  // of them since carries were moved on: at most PS_EXACT_ADDS_MAX
    int64_t unused[6];
};

// A state's parts. sum and squares are NULL when not wanted.
struct ps_reduce_planes {
    struct ps_reduce_head *head;
    int64_t *nan, *positive_inf, *negative_inf;
    // Keys that grow with the value (ps_reduce_key_*): the smallest as its complement, so that
    // both merge by the larger number and 0 is the empty value of both.
    uint64_t *smallest, *largest;
    int64_t *sum, *squares;
    int64_t stride; // from limb to limb
};

PS_EXACT struct ps_reduce_planes ps_reduce_planes(const struct ps_reduce_form *form, void *state)
{
    struct ps_reduce_planes planes;
    int64_t *first = (int64_t *)((char *)state + sizeof(struct ps_reduce_head));
    int64_t n = form->outputs;
    planes.head = (struct ps_reduce_head *)state;
    planes.nan = first;
    planes.positive_inf = first + n;
    planes.negative_inf = first + 2 * n;
    planes.smallest = (uint64_t *)(first + 3 * n);
    planes.largest = (uint64_t *)(first + 4 * n);
    planes.sum = form->sum_limbs > 0 ? first + PS_REDUCE_PLANES * n : 0;
    planes.squares = form->square_limbs > 0 ? first + (PS_REDUCE_PLANES + form->sum_limbs) * n : 0;
    planes.stride = n;
    return planes;
}

PS_EXACT int64_t ps_reduce_state_bytes(const struct ps_reduce_form *form)
{
    return (int64_t)sizeof(struct ps_reduce_head) +
           8 * form->outputs * (PS_REDUCE_PLANES + form->sum_limbs + form->square_limbs);
}

// ---- Order-preserving keys. -0.0 < 0.0; NaN never gets here ----

PS_EXACT uint64_t ps_reduce_key_f32(uint32_t bits)
{
    return bits >> 31 != 0 ? (uint32_t)~bits : bits | 0x80000000u;
}

PS_EXACT uint64_t ps_reduce_key_f64(uint64_t bits)
{
    return bits >> 63 != 0 ? ~bits : bits | 1ull << 63;
}

PS_EXACT uint64_t ps_reduce_key_signed(int64_t value)
{
    return (uint64_t)value ^ 1ull << 63;
}

PS_EXACT void ps_reduce_raise(uint64_t *key, uint64_t other)
{
#ifdef __CUDA_ARCH__
    if (other > *key) // may be out of date, but only too small
        atomicMax((unsigned long long *)key, (unsigned long long)other);
#else
    if (other > *key)
        *key = other;
#endif
}

PS_EXACT void ps_reduce_extremes(const struct ps_reduce_planes *planes, int64_t output,
                                 uint64_t smallest, uint64_t largest)
{
    ps_reduce_raise(&planes->smallest[output], ~smallest);
    ps_reduce_raise(&planes->largest[output], largest);
}

// ---- One value by itself: NaN, infinities and what fits no bin ----

// The value's share in the sums; the caller has seen to the extremes. magnitude: bits without sign.
PS_EXACT void ps_reduce_odd_f64(const struct ps_reduce_form *form,
                                const struct ps_reduce_planes *planes, int64_t output, double value)
{
    uint64_t magnitude = ps_exact_bits(value) & 0x7fffffffffffffffull;
    if (magnitude > 0x7ff0000000000000ull) {
        ps_exact_limb_add(&planes->nan[output], 1);
    } else if (magnitude == 0x7ff0000000000000ull) {
        ps_exact_limb_add(value > 0 ? &planes->positive_inf[output] : &planes->negative_inf[output],
                          1);
    } else if (magnitude != 0) {
        if (planes->sum != 0)
            ps_exact_add_double(planes->sum + output, planes->stride, form->low, value);
        if (planes->squares != 0) {
            struct ps_exact_parts parts = ps_exact_split(value);
            int position = parts.exponent - form->low;
            if (position < 0) { // a narrower format's value: its lowest bits are zero
                parts.mantissa = position > -64 ? parts.mantissa >> -position : 0;
                position = 0;
            }
            ps_exact_add_square(planes->squares + output, planes->stride, 2 * position,
                                parts.mantissa);
        }
    }
}

#endif
