// SPDX-License-Identifier: Apache-2.0
// The quick way into exact sums: up to 512 values of similar size are added in doubles without
// any rounding error, because all of them are multiples of one power of two and none exceeds
// another ("bins"). The bins then go into an accumulator (kernels/exact.h) as whole numbers.
//
// Bins have an anchor e. A value fits when it is 0 or 2^(e-1-range) <= |x| < 2^e; what does not
// fit must be added to the accumulator by itself. Squares are split in two bins: `acc` starts at
// a power of two so large that adding to it rounds at a fixed place, and the part that was
// rounded off, which is known exactly, goes into `rest`. Bits: docs/numerics.md.
#ifndef PS_KERNELS_EXACT_BINS_H
#define PS_KERNELS_EXACT_BINS_H

#include "kernels/exact.h"

#define PS_BINS_F32_ROWS 512 // values added before the bins must be emptied
#define PS_BINS_F64_ROWS 256
#define PS_BINS_F32_RANGE 20
#define PS_BINS_F64_RANGE(squares) ((squares) ? 18 : 36)
#define PS_BINS_F64_LOWEST (-400) // anchors outside would let products underflow or overflow
#define PS_BINS_F64_HIGHEST 490
#define PS_BINS_MAX 6

// Emptied bins: whole numbers, bin i in units of 2^(low + position[i]) of the sum (i < sums), or
// 2^(2 low + position[i]) of the squares.
struct ps_bins_layout {
    int count, sums;
    int position[PS_BINS_MAX];
    int unit[PS_BINS_MAX]; // exponents: value = whole * 2^unit
};

PS_EXACT int ps_bins_max(int a, int b)
{
    return a > b ? a : b;
}

// ---- binary32 (and binary16 widened) ----

// The anchor for a largest magnitude given as bits without the sign; finite.
PS_EXACT int ps_bins32_anchor(uint32_t magnitude)
{
    int exponent = (int)(magnitude >> 23);
    return exponent == 0 ? -126 : exponent < 255 ? exponent - 126 : 128;
}

// Bits of the smallest magnitude above 0 that fits, and of the first that is too large.
PS_EXACT uint32_t ps_bins32_from(int anchor)
{
    int exponent = anchor - 1 - PS_BINS_F32_RANGE;
    if (exponent >= -126)
        return (uint32_t)(exponent + 127) << 23;
    return exponent > -149 ? 1u << (exponent + 149) : 1;
}

PS_EXACT uint32_t ps_bins32_to(int anchor)
{
    return (uint32_t)(anchor + 127) << 23;
}

PS_EXACT double ps_bins32_start(int anchor)
{
    return ps_exact_power(2 * anchor + 9);
}

PS_EXACT struct ps_bins_layout ps_bins32_layout(int anchor, int low)
{
    struct ps_bins_layout layout;
    layout.count = 3;
    layout.sums = 1;
    layout.unit[0] = ps_bins_max(anchor - 24 - PS_BINS_F32_RANGE, low);
    layout.unit[1] = ps_bins_max(2 * anchor - 43, 2 * low);
    layout.unit[2] = ps_bins_max(2 * (anchor - 24 - PS_BINS_F32_RANGE), 2 * low);
    layout.position[0] = layout.unit[0] - low;
    layout.position[1] = layout.unit[1] - 2 * low;
    layout.position[2] = layout.unit[2] - 2 * low;
    return layout;
}

struct ps_bins32 {
    double sum, acc, rest;
};

PS_EXACT struct ps_bins32 ps_bins32_empty(int anchor)
{
    struct ps_bins32 bins;
    bins.sum = 0;
    bins.acc = ps_bins32_start(anchor);
    bins.rest = 0;
    return bins;
}

PS_EXACT void ps_bins32_add(struct ps_bins32 *bins, double value)
{
    double square = value * value; // 48 bits: exact
    double acc = bins->acc + square;
    bins->sum += value;
    bins->rest += square - (acc - bins->acc);
    bins->acc = acc;
}

PS_EXACT void ps_bins32_whole(const struct ps_bins32 *bins, int anchor,
                              const struct ps_bins_layout *layout, int64_t whole[PS_BINS_MAX])
{
    whole[0] = (int64_t)(bins->sum * ps_exact_power(-layout->unit[0]));
    whole[1] = (int64_t)((bins->acc - ps_bins32_start(anchor)) * ps_exact_power(-layout->unit[1]));
    whole[2] = (int64_t)(bins->rest * ps_exact_power(-layout->unit[2]));
}

// ---- binary64 ----

PS_EXACT int ps_bins64_anchor(uint64_t magnitude)
{
    int anchor = (int)(magnitude >> 52) - 1022;
    return anchor < PS_BINS_F64_LOWEST    ? PS_BINS_F64_LOWEST
           : anchor > PS_BINS_F64_HIGHEST ? PS_BINS_F64_HIGHEST
                                          : anchor;
}

PS_EXACT uint64_t ps_bins64_from(int anchor, bool squares)
{
    return (uint64_t)(anchor - 1 - PS_BINS_F64_RANGE(squares) + 1023) << 52;
}

PS_EXACT uint64_t ps_bins64_to(int anchor)
{
    return (uint64_t)(anchor + 1023) << 52;
}

PS_EXACT double ps_bins64_start_sum(int anchor)
{
    return 1.5 * ps_exact_power(anchor + 9);
}

PS_EXACT double ps_bins64_start_square(int anchor)
{
    return ps_exact_power(2 * anchor + 8);
}

PS_EXACT double ps_bins64_start_error(int anchor)
{
    return 1.5 * ps_exact_power(2 * anchor - 45);
}

PS_EXACT struct ps_bins_layout ps_bins64_layout(int anchor, int low, bool squares)
{
    int range = PS_BINS_F64_RANGE(squares);
    struct ps_bins_layout layout;
    layout.count = squares ? 6 : 2;
    layout.sums = 2;
    layout.unit[0] = anchor - 43;
    layout.unit[1] = anchor - 53 - range;
    layout.unit[2] = 2 * anchor - 44;
    layout.unit[3] = 2 * anchor - 54 - 2 * range;
    layout.unit[4] = 2 * anchor - 97;
    layout.unit[5] = 2 * anchor - 106 - 2 * range;
    for (int i = 0; i < PS_BINS_MAX; i++)
        layout.position[i] = layout.unit[i] - (i < 2 ? low : 2 * low);
    return layout;
}

struct ps_bins64 {
    double sum, sum_rest, acc, rest, error, error_rest;
};

PS_EXACT struct ps_bins64 ps_bins64_empty(int anchor)
{
    struct ps_bins64 bins;
    bins.sum = ps_bins64_start_sum(anchor);
    bins.acc = ps_bins64_start_square(anchor);
    bins.error = ps_bins64_start_error(anchor);
    bins.sum_rest = bins.rest = bins.error_rest = 0;
    return bins;
}

// What value * value lost to rounding: exact, as nothing underflows between the anchors.
PS_EXACT double ps_bins64_square_error(double value, double square)
{
#if defined __CUDA_ARCH__
    return __fma_rn(value, value, -square);
#elif defined __FMA__
    return __builtin_fma(value, value, -square);
#else
    double shifted = value * 134217729.0; // 2^27 + 1: Veltkamp's splitting, Dekker's product
    double high = shifted - (shifted - value), low = value - high;
    return ((high * high - square) + 2 * high * low) + low * low;
#endif
}

PS_EXACT void ps_bins64_into(double *acc, double *rest, double value)
{
    double next = *acc + value;
    *rest += value - (next - *acc);
    *acc = next;
}

PS_EXACT void ps_bins64_add(struct ps_bins64 *bins, double value, bool squares)
{
    ps_bins64_into(&bins->sum, &bins->sum_rest, value);
    if (!squares)
        return;
    double square = value * value;
    ps_bins64_into(&bins->acc, &bins->rest, square);
    ps_bins64_into(&bins->error, &bins->error_rest, ps_bins64_square_error(value, square));
}

PS_EXACT void ps_bins64_whole(const struct ps_bins64 *bins, int anchor,
                              const struct ps_bins_layout *layout, int64_t whole[PS_BINS_MAX])
{
    whole[0] =
        (int64_t)((bins->sum - ps_bins64_start_sum(anchor)) * ps_exact_power(-layout->unit[0]));
    whole[1] = (int64_t)(bins->sum_rest * ps_exact_power(-layout->unit[1]));
    whole[2] =
        (int64_t)((bins->acc - ps_bins64_start_square(anchor)) * ps_exact_power(-layout->unit[2]));
    whole[3] = (int64_t)(bins->rest * ps_exact_power(-layout->unit[3]));
    whole[4] =
        (int64_t)((bins->error - ps_bins64_start_error(anchor)) * ps_exact_power(-layout->unit[4]));
    whole[5] = (int64_t)(bins->error_rest * ps_exact_power(-layout->unit[5]));
}

// ---- Emptying ----

PS_EXACT void ps_bins_flush(const struct ps_bins_layout *layout, const int64_t *whole, int64_t *sum,
                            int64_t *squares, int64_t stride)
{
    for (int i = 0; i < layout->count; i++)
        if (whole[i] != 0 && (i < layout->sums ? sum : squares) != 0)
            ps_exact_add_signed(i < layout->sums ? sum : squares, stride, layout->position[i],
                                whole[i]);
}

#endif
