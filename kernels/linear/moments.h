// SPDX-License-Identifier: Apache-2.0
// Second moments: for every pair of columns the exact sum over rows of x_j * x_k. Everything linear
// statistics need comes out of it: a last column of ones makes the sums of the columns pairs too.
// Plain numbers and inline functions only: included by C and CUDA files.
//
// How a sum of products stays exact and yet is a matrix product: a tile of up to 512 rows is cut,
// column by column, into slices of 22 bits below the column's largest magnitude. A slice's numbers
// are whole numbers of at most 2^22 times one power of two, so a product of two slices is at most
// 2^44 and the sum of 512 of them at most 2^53: a plain double matrix product of slices does not
// round, in whatever order a library adds (the idea of Ozaki, Ogita, Oishi, Rump, "Error-free
// transformations of matrix multiplication", Numer. Algorithms 59, 2012). The whole numbers then go
// into fixed-point accumulators (kernels/exact.h). What a column has below its last slice (its
// "rest") is multiplied value by value: slow, exact, and rare.
//
// NaN and infinities are left out of the sums and kept as flags of their pairs.
#ifndef PS_KERNELS_LINEAR_MOMENTS_H
#define PS_KERNELS_LINEAR_MOMENTS_H

#include "base/dtype.h"
#include "kernels/exact.h"

#define PS_MOMENTS_ROWS 512 // of a tile
#define PS_MOMENTS_BITS 22  // of a slice
#define PS_MOMENTS_SOURCES 2
// Additions to one accumulator that are counted: for a tile, and for every row's rests.
#define PS_MOMENTS_TILE_ADDS 256
#define PS_MOMENTS_ROW_ADDS 16

enum { PS_MOMENTS_NAN = 1, PS_MOMENTS_ABOVE = 2, PS_MOMENTS_BELOW = 4 }; // a pair's flags

// Columns of up to two arrays side by side, then the ones. The state is a head, then for each pair
// of columns j <= k its flags, then its limbs; all zero: empty.
struct ps_moments {
    int low, limbs; // of an accumulator: bit 0 is 2^low
    int slices;     // of a column at most
    int source_count;
    int dtypes[PS_MOMENTS_SOURCES];
    int64_t columns[PS_MOMENTS_SOURCES];
    int64_t width; // all columns, and one for the ones
    int64_t pairs;
};

struct ps_moments_head {
    int64_t rows;
    int64_t pending; // additions since carries were moved on
    int64_t unused[6];
};

PS_EXACT int64_t ps_moments_state_bytes(const struct ps_moments *m)
{
    return (int64_t)sizeof(struct ps_moments_head) + 8 * m->pairs * (1 + m->limbs);
}

// The pair of columns j and k, in either order.
PS_EXACT int64_t ps_moments_pair(const struct ps_moments *m, int64_t j, int64_t k)
{
    int64_t first = j < k ? j : k, second = j < k ? k : j;
    return first * (2 * m->width - first + 1) / 2 + (second - first);
}

PS_EXACT int64_t *ps_moments_flags(void *state)
{
    return (int64_t *)((char *)state + sizeof(struct ps_moments_head));
}

PS_EXACT int64_t *ps_moments_limbs(const struct ps_moments *m, void *state, int64_t pair)
{
    return ps_moments_flags(state) + m->pairs + pair * m->limbs;
}

// value * 2^(low + position); a position below 0 drops bits that are zero.
PS_EXACT void ps_moments_add_whole(int64_t *limbs, int position, int64_t value)
{
    uint64_t magnitude = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
    if (position < 0) {
        magnitude = position > -64 ? magnitude >> -position : 0;
        position = 0;
    }
    ps_exact_add(limbs, 1, position, magnitude, value < 0);
}

// The finite double (or a 64-bit whole number) as mantissa * 2^exponent, the mantissa odd or 0.
PS_EXACT struct ps_exact_parts ps_moments_odd(struct ps_exact_parts parts)
{
    if (parts.mantissa == 0)
        return parts;
#ifdef __CUDA_ARCH__
    int zeros = __ffsll((long long)parts.mantissa) - 1;
#else
    int zeros = __builtin_ctzll(parts.mantissa);
#endif
    parts.mantissa >>= zeros;
    parts.exponent += zeros;
    return parts;
}

// a * b, both with odd mantissas.
PS_EXACT void ps_moments_add_product(int64_t *limbs, int low, struct ps_exact_parts a,
                                     struct ps_exact_parts b)
{
    int position = a.exponent + b.exponent - low;
    bool negative = a.negative != b.negative;
    uint64_t a0 = a.mantissa & 0xffffffffu, a1 = a.mantissa >> 32;
    uint64_t b0 = b.mantissa & 0xffffffffu, b1 = b.mantissa >> 32;
    if (a.mantissa == 0 || b.mantissa == 0)
        return;
    ps_exact_add(limbs, 1, position, a0 * b0, negative);
    ps_exact_add(limbs, 1, position + 32, a0 * b1, negative);
    ps_exact_add(limbs, 1, position + 32, a1 * b0, negative);
    ps_exact_add(limbs, 1, position + 64, a1 * b1, negative);
}

// The flag that a product that is not finite sets; 0 for a finite one.
PS_EXACT int64_t ps_moments_flag(double a, double b)
{
    double product = a * b;
    bool endless = (ps_exact_bits(a) & 0x7ff0000000000000ull) == 0x7ff0000000000000ull ||
                   (ps_exact_bits(b) & 0x7ff0000000000000ull) == 0x7ff0000000000000ull;
    if (!endless)
        return 0;
    return product != product ? PS_MOMENTS_NAN : product > 0 ? PS_MOMENTS_ABOVE : PS_MOMENTS_BELOW;
}

PS_EXACT bool ps_moments_is_finite(double value)
{
    return (ps_exact_bits(value) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
}

#endif
