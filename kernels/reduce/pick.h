// SPDX-License-Identifier: Apache-2.0
// Results that are no sums: where the extremes are, whether any or all values are true, products.
// One accumulator of 64-bit numbers per output; adding and merging are exact and commute, so the
// order never shows. All zero: empty. One source for host and device.
//
// A product of floats is the sum of its factors' base-2 logarithms: exponents exactly, those of the
// mantissas in fixed point with 126 bits after the point. Each is computed to about 2^-100, so the
// product of n factors is off by n * 2^-100 relatively before it is rounded: nothing that shows
// below 2^40 factors. A product never overflows on the way, only at the end.
#ifndef PS_KERNELS_REDUCE_PICK_H
#define PS_KERNELS_REDUCE_PICK_H

#include "kernels/reduce/state.h"

#include "base/dtype.h"

#include <math.h>

struct ps_pick {
    // Keys as in state.h, the smallest as its complement; indices as complements, so that of equal
    // keys the larger number, the earlier place, wins. 0: none.
    uint64_t smallest, smallest_at, largest, largest_at;
    uint64_t nan_at;
    uint64_t zeros, others; // others: not zero, NaN and infinities included
    uint64_t negatives, nans, infinities;
    // Integers: product of the magnitudes that are not zero, minus 1, and whether it left 64 bits
    // (from then on it stays so). Floats: exponents' sum, logarithms' sum in 2^-63 and 2^-126.
    uint64_t exponent, high, low;
};

#define PS_PICK_PLANES ((int)(sizeof(struct ps_pick) / 8))

// States keep the accumulators of all outputs as planes behind a head with the element count.
PS_EXACT int64_t ps_pick_state_bytes(int64_t outputs)
{
    return (int64_t)sizeof(struct ps_reduce_head) + 8 * PS_PICK_PLANES * outputs;
}

PS_EXACT struct ps_pick ps_pick_load(const uint64_t *planes, int64_t stride, int64_t output)
{
    struct ps_pick pick;
    uint64_t *words = (uint64_t *)&pick;
    for (int i = 0; i < PS_PICK_PLANES; i++)
        words[i] = planes[i * stride + output];
    return pick;
}

PS_EXACT void ps_pick_save(const struct ps_pick *pick, uint64_t *planes, int64_t stride,
                           int64_t output)
{
    const uint64_t *words = (const uint64_t *)pick;
    for (int i = 0; i < PS_PICK_PLANES; i++)
        planes[i * stride + output] = words[i];
}

PS_EXACT void ps_pick_better(uint64_t *key, uint64_t *at, uint64_t other_key, uint64_t other_at)
{
    if (other_key > *key || (other_key == *key && other_at > *at)) {
        *key = other_key;
        *at = other_at;
    }
}

// ---- Products ----

// a + b as high + low, exactly (Knuth).
PS_EXACT void ps_pick_two_sum(double a, double b, double *high, double *low)
{
    double sum = a + b, part = sum - a;
    *low = (a - (sum - part)) + (b - part);
    *high = sum;
}

PS_EXACT void ps_pick_product(double a, double b, double *high, double *low)
{
    *high = a * b;
    *low = fma(a, b, -*high);
}

// (high, low) = (ah, al) * (bh, bl), to about 2^-104.
PS_EXACT void ps_pick_multiply(double ah, double al, double bh, double bl, double *high,
                               double *low)
{
    double product, rest;
    ps_pick_product(ah, bh, &product, &rest);
    rest += ah * bl + al * bh;
    ps_pick_two_sum(product, rest, high, low);
}

// (high, low) += (other_high, other_low), to about 2^-104 of the larger one.
PS_EXACT void ps_pick_plus(double *high, double *low, double other_high, double other_low)
{
    double sum, rest;
    ps_pick_two_sum(*high, other_high, &sum, &rest);
    rest += *low + other_low;
    ps_pick_two_sum(sum, rest, high, low);
}

// The base-2 logarithm of 1 <= m < 2 as high + low. With c the middle of m's sixteenth,
// log2(m) = log2(c) + 2 / ln 2 * atanh(z), z = (m - c) / (m + c), |z| < 1 / 64.
PS_EXACT void ps_pick_log2(double m, double *high, double *low)
{
    const double centres[16][2] = {
        // log2((33 + 2 k) / 32)
        {0x1.6bad3758efd87p-5, 0x1.89b03784b5be1p-60},
        {0x1.08c588cda79e4p-3, -0x1.a7610e40bd6abp-57},
        {0x1.acf5e2db4ec94p-3, -0x1.01ee1343fe7cap-59},
        {0x1.24407ab0e073ap-2, -0x1.f6e91ad16ecffp-56},
        {0x1.6e221cd9d0cdep-2, 0x1.5e35482d13dc1p-56},
        {0x1.b47ebf73882a1p-2, -0x1.6fae441c09d76p-56},
        {0x1.f7a8568cb06cfp-2, -0x1.8f3673ffdd785p-57},
        {0x1.1bf311e95d00ep-1, -0x1.c4aec56233279p-57},
        {0x1.3abb3faa02167p-1, -0x1.99aa6df8b7d83p-56},
        {0x1.5848226989d34p-1, -0x1.e393a16b94b52p-56},
        {0x1.74b1fd64e0754p-1, -0x1.c8d43e017579bp-56},
        {0x1.900e6160002cdp-1, -0x1.bc0af7b82e7d7p-61},
        {0x1.aa708f58014d3p-1, 0x1.f378df21ac883p-55},
        {0x1.c3e9ca2e1a055p-1, 0x1.9b4c5a724dbd8p-56},
        {0x1.dc899ab3ff56cp-1, 0x1.799ceaeb510c6p-55},
        {0x1.f45e08bcf0655p-1, 0x1.39356f93dc108p-55},
    };
    int k = (int)((m - 1) * 16);
    double c = (33.0 + 2.0 * k) / 32.0, top = m - c, sum, sum_low, back, back_low;
    ps_pick_two_sum(m, c, &sum, &sum_low);
    double z = top / sum, z_low;
    ps_pick_product(z, sum, &back, &back_low);
    z_low = (((top - back) - back_low) - z * sum_low) / sum;
    ps_pick_two_sum(z, z_low, &z, &z_low);
    double square, square_low, series = 0, series_low = 0;
    ps_pick_multiply(z, z_low, z, z_low, &square, &square_low);
    for (int n = 21; n >= 1; n -= 2) { // 1 + z^2 / 3 + z^4 / 5 + ...
        double part = 1.0 / n, part_low = fma(-part, (double)n, 1.0) / n;
        ps_pick_multiply(series, series_low, square, square_low, &series, &series_low);
        ps_pick_plus(&series, &series_low, part, part_low);
    }
    ps_pick_multiply(series, series_low, z, z_low, &series, &series_low);
    ps_pick_multiply(series, series_low, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55, // 2 / ln 2
                     &series, &series_low);
    *high = centres[k][0];
    *low = centres[k][1];
    ps_pick_plus(high, low, series, series_low);
}

// 2^(high + low) as high + low, for 0 <= high + low < 1.
PS_EXACT void ps_pick_exp2(double *high, double *low)
{
    const double powers[16][2] = {
        // 2^(k / 16)
        {0x1.0000000000000p+0, 0x0.0p+0},
        {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
        {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
        {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
        {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
        {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
        {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
        {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
        {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
        {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
        {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
        {0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56},
        {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
        {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
        {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
        {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
    };
    int k = (int)(*high * 16);
    double x = *high - k / 16.0, x_low = *low, series = 1, series_low = 0;
    ps_pick_multiply(x, x_low, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, &x, &x_low); // ln 2
    for (int n = 16; n >= 1; n--) { // 1 + x / 1 (1 + x / 2 (1 + ...))
        double part = series / n, part_low = (fma(-part, (double)n, series) + series_low) / n;
        ps_pick_multiply(part, part_low, x, x_low, &series, &series_low);
        ps_pick_plus(&series, &series_low, 1, 0);
    }
    ps_pick_multiply(series, series_low, powers[k][0], powers[k][1], high, low);
}

// Adds exponent + high * 2^-63 + low * 2^-126 to the logarithm; high and low may be negative.
PS_EXACT void ps_pick_add_log(struct ps_pick *pick, int64_t exponent, int64_t high, int64_t low)
{
    const uint64_t mask = ~(1ull << 63);
    int64_t low_carry = low < 0 ? -1 : 0; // as a number of 63 bits and a carry
    uint64_t low_sum = pick->low + ((uint64_t)low & mask);
    int64_t carry = low_carry + (int64_t)(low_sum >> 63);
    pick->low = low_sum & mask;
    int64_t high_carry = high < 0 ? -1 : 0;
    uint64_t high_sum = pick->high + ((uint64_t)high & mask);
    if (carry < 0 && high_sum == 0) {
        high_sum = mask;
        high_carry--;
    } else {
        high_sum += (uint64_t)carry;
    }
    pick->high = high_sum & mask;
    pick->exponent += (uint64_t)(exponent + high_carry + (int64_t)(high_sum >> 63));
}

PS_EXACT void ps_pick_times(struct ps_pick *pick, uint64_t magnitude, bool over)
{
    uint64_t had = pick->high + 1;
#ifdef __CUDA_ARCH__
    over = over || __umul64hi(had, magnitude) != 0;
#else
    over = over || magnitude > UINT64_MAX / had;
#endif
    pick->exponent |= (uint64_t)over;
    pick->high = pick->exponent != 0 ? 0 : had * magnitude - 1;
}

// ---- Adding one value ----

PS_EXACT void ps_pick_float(struct ps_pick *pick, double value, uint64_t at, bool products)
{
    uint64_t bits = ps_exact_bits(value), magnitude = bits & ~(1ull << 63);
    if (magnitude > 0x7ffull << 52) {
        pick->nans++;
        pick->others++;
        pick->nan_at = ~at > pick->nan_at ? ~at : pick->nan_at;
        return;
    }
    uint64_t key = ps_reduce_key_f64(magnitude == 0 ? 0 : bits); // -0 and 0 are equal
    ps_pick_better(&pick->smallest, &pick->smallest_at, ~key, ~at);
    ps_pick_better(&pick->largest, &pick->largest_at, key, ~at);
    pick->zeros += magnitude == 0;
    pick->others += magnitude != 0;
    pick->negatives += bits >> 63;
    pick->infinities += magnitude == 0x7ffull << 52;
    if (!products || magnitude == 0 || magnitude == 0x7ffull << 52)
        return;
    struct ps_exact_parts parts = ps_exact_split(value);
    for (; parts.mantissa >> 52 == 0; parts.exponent--)
        parts.mantissa <<= 1;
    int64_t exponent = parts.exponent + 52;
    double high = 0, low = 0;
    if (parts.mantissa != 1ull << 52)
        ps_pick_log2((double)parts.mantissa * 0x1p-52, &high, &low);
    high *= 0x1p63;
    int64_t whole = (int64_t)high;
    double rest = (high - (double)whole) + low * 0x1p63; // below 2^11
    int64_t more = (int64_t)rest;
    ps_pick_add_log(pick, exponent, whole, 0);
    ps_pick_add_log(pick, 0, more, (int64_t)((rest - (double)more) * 0x1p63));
}

PS_EXACT void ps_pick_integer(struct ps_pick *pick, uint64_t bits, bool is_signed, uint64_t at)
{
    uint64_t key = is_signed ? ps_reduce_key_signed((int64_t)bits) : bits;
    bool negative = is_signed && bits >> 63 != 0;
    ps_pick_better(&pick->smallest, &pick->smallest_at, ~key, ~at);
    ps_pick_better(&pick->largest, &pick->largest_at, key, ~at);
    pick->zeros += bits == 0;
    pick->others += bits != 0;
    pick->negatives += negative;
    if (bits != 0)
        ps_pick_times(pick, negative ? 0 - bits : bits, false);
}

PS_EXACT void ps_pick_merge(struct ps_pick *into, const struct ps_pick *from, bool is_float)
{
    ps_pick_better(&into->smallest, &into->smallest_at, from->smallest, from->smallest_at);
    ps_pick_better(&into->largest, &into->largest_at, from->largest, from->largest_at);
    into->nan_at = from->nan_at > into->nan_at ? from->nan_at : into->nan_at;
    into->zeros += from->zeros;
    into->others += from->others;
    into->negatives += from->negatives;
    into->nans += from->nans;
    into->infinities += from->infinities;
    if (is_float)
        ps_pick_add_log(into, (int64_t)from->exponent, (int64_t)from->high, (int64_t)from->low);
    else
        ps_pick_times(into, from->high + 1, from->exponent != 0);
}

// The product of the floats that are not NaN, rounded once (see the top).
PS_EXACT double ps_pick_product_float(const struct ps_pick *pick)
{
    uint64_t sign = (pick->negatives & 1) << 63;
    if (pick->infinities > 0 && pick->zeros > 0)
        return ps_exact_from_bits(0x7ff8ull << 48);
    if (pick->zeros > 0)
        return ps_exact_from_bits(sign);
    int64_t exponent = (int64_t)pick->exponent;
    if (pick->infinities > 0 || exponent > 1024)
        return ps_exact_from_bits(sign | 0x7ffull << 52);
    if (exponent < -1080)
        return ps_exact_from_bits(sign);
    uint64_t top = pick->high & ~0x7ffull; // 52 bits, so exactly a double
    double high = (double)top * 0x1p-63;
    double low = (double)(pick->high & 0x7ff) * 0x1p-63 + (double)pick->low * 0x1p-126;
    ps_pick_exp2(&high, &low);
    uint64_t mantissa = (uint64_t)(high * 0x1p62);
    double part = low * 0x1p62;
    int64_t whole = (int64_t)part;
    whole -= (double)whole > part; // down
    mantissa += (uint64_t)whole;
    int shift = 0;
    for (; mantissa >> 63 == 0; shift++)
        mantissa <<= 1;
    return ps_exact_round(mantissa, part != (double)whole, (int)exponent - 62 - shift, sign != 0);
}

#endif
