// SPDX-License-Identifier: Apache-2.0
// Exact sums: fixed-point numbers wide enough for every value of a dtype, so that adding never
// rounds and the order of adding never matters; and their conversion into one double, rounded
// once. The same source runs on the host and in CUDA kernels, so both give the same bits.
//
// An accumulator is an array of 64-bit limbs; its value is the sum of limb[i] * 2^(low + 32 i).
// A limb is signed and takes 2^28 additions (each below 2^34) before carries must be moved on
// (ps_exact_carry). All limbs zero: the value 0. Limb i lies at limbs[i * stride], so that the
// limbs of neighbouring columns can lie next to each other. Nothing here allocates or waits.
#ifndef PS_KERNELS_EXACT_H
#define PS_KERNELS_EXACT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define PS_EXACT static __host__ __device__ inline
#else
#define PS_EXACT static inline
#endif

// Additions that an accumulator takes between two calls of ps_exact_carry, counted in elements.
#define PS_EXACT_ADDS_MAX ((int64_t)1 << 28)

// value = mantissa * 2^exponent, exactly; for finite values only.
struct ps_exact_parts {
    uint64_t mantissa; // < 2^53
    int exponent;
    bool negative;
};

PS_EXACT uint64_t ps_exact_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

PS_EXACT double ps_exact_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// 2^exponent for -1022 <= exponent <= 1023.
PS_EXACT double ps_exact_power(int exponent)
{
    return ps_exact_from_bits((uint64_t)(exponent + 1023) << 52);
}

PS_EXACT struct ps_exact_parts ps_exact_split(double value)
{
    uint64_t bits = ps_exact_bits(value);
    int exponent = (int)(bits >> 52 & 0x7ff);
    struct ps_exact_parts parts;
    parts.mantissa = (bits & 0xfffffffffffffull) | (uint64_t)(exponent > 0) << 52;
    parts.exponent = (exponent > 0 ? exponent : 1) - 1075;
    parts.negative = bits >> 63 != 0;
    return parts;
}

// ---- Adding ----

// Kernels add with atomics: integers commute, so no order of threads changes the result.
PS_EXACT void ps_exact_limb_add(int64_t *limb, uint64_t value)
{
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)limb, (unsigned long long)value);
#else
    *limb = (int64_t)((uint64_t)*limb + value);
#endif
}

// Adds (or subtracts) magnitude * 2^(low + position), position >= 0. Touches three limbs at most.
PS_EXACT void ps_exact_add(int64_t *limbs, int64_t stride, int position, uint64_t magnitude,
                           bool negative)
{
    int shift = position & 31;
    int64_t *limb = limbs + (int64_t)(position >> 5) * stride;
    uint64_t part[3];
    uint64_t high = magnitude >> (32 - shift);
    part[0] = magnitude << shift & 0xffffffffu;
    part[1] = high & 0xffffffffu;
    part[2] = high >> 32;
    for (int i = 0; i < 3; i++)
        if (part[i] != 0)
            ps_exact_limb_add(limb + i * stride, negative ? (uint64_t)0 - part[i] : part[i]);
}

PS_EXACT void ps_exact_add_signed(int64_t *limbs, int64_t stride, int position, int64_t value)
{
    uint64_t magnitude = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
    ps_exact_add(limbs, stride, position, magnitude, value < 0);
}

// A finite double that is a multiple of 2^low.
PS_EXACT void ps_exact_add_double(int64_t *limbs, int64_t stride, int low, double value)
{
    struct ps_exact_parts parts = ps_exact_split(value);
    int position = parts.exponent - low;
    if (position < 0) { // the lowest bits are zero then
        parts.mantissa = position > -64 ? parts.mantissa >> -position : 0;
        position = 0;
    }
    ps_exact_add(limbs, stride, position, parts.mantissa, parts.negative);
}

// magnitude^2 * 2^(low + position)
PS_EXACT void ps_exact_add_square(int64_t *limbs, int64_t stride, int position, uint64_t magnitude)
{
    uint64_t high = magnitude >> 32, low = magnitude & 0xffffffffu;
    ps_exact_add(limbs, stride, position, low * low, false);
    if (high == 0)
        return;
    ps_exact_add(limbs, stride, position + 33, high * low, false);
    ps_exact_add(limbs, stride, position + 64, high * high, false);
}

// Moves carries on: all limbs but the last end in [0, 2^32).
PS_EXACT void ps_exact_carry(int64_t *limbs, int64_t stride, int count)
{
    int64_t carry = 0;
    for (int i = 0; i < count; i++) {
        int64_t total = limbs[i * stride] + carry;
        carry = total >> 32;
        limbs[i * stride] = i + 1 < count ? total & 0xffffffff : total;
    }
}

// ---- Whole numbers of 32-bit words, lowest first ----

// The accumulator's magnitude as count + 2 words. Returns whether it is negative.
PS_EXACT bool ps_exact_words(const int64_t *limbs, int64_t stride, int count, uint32_t *words)
{
    int64_t carry = 0;
    for (int i = 0; i < count; i++) {
        int64_t total = limbs[i * stride] + carry;
        words[i] = (uint32_t)total;
        carry = total >> 32;
    }
    words[count] = (uint32_t)carry;
    words[count + 1] = (uint32_t)(carry >> 32);
    if (carry >= 0)
        return false;
    uint64_t plus = 1;
    for (int i = 0; i < count + 2; i++) {
        plus += (uint32_t)~words[i];
        words[i] = (uint32_t)plus;
        plus >>= 32;
    }
    return true;
}

PS_EXACT int ps_words_length(const uint32_t *words, int count)
{
    while (count > 0 && words[count - 1] == 0)
        count--;
    return count;
}

PS_EXACT int ps_word_bits(uint32_t word)
{
    int bits = 0;
    for (int step = 16; step > 0; step /= 2)
        if (word >> step != 0) {
            bits += step;
            word >>= step;
        }
    return bits + (word != 0);
}

// words += value * 2^(32 at)
PS_EXACT void ps_words_add(uint32_t *words, int at, uint64_t value)
{
    for (uint64_t carry = 0; value != 0 || carry != 0; at++) {
        carry += (uint64_t)words[at] + (uint32_t)value;
        words[at] = (uint32_t)carry;
        carry >>= 32;
        value >>= 32;
    }
}

// words *= factor; two more words must be there and be zero.
PS_EXACT void ps_words_multiply(uint32_t *words, int count, uint64_t factor)
{
    for (int i = count - 1; i >= 0; i--) {
        uint64_t word = words[i];
        words[i] = 0;
        ps_words_add(words, i, word * (factor & 0xffffffffu));
        if (factor >> 32 != 0)
            ps_words_add(words, i + 1, word * (factor >> 32));
    }
}

// words -= others, which must not be greater.
PS_EXACT void ps_words_subtract(uint32_t *words, const uint32_t *others, int count)
{
    int64_t borrow = 0;
    for (int i = 0; i < count; i++) {
        int64_t total = (int64_t)words[i] - others[i] + borrow;
        words[i] = (uint32_t)total;
        borrow = total >> 32;
    }
}

// words /= divisor. Returns whether there is a remainder.
PS_EXACT bool ps_words_divide(uint32_t *words, int count, uint64_t divisor)
{
    uint64_t rest = 0;
    if (divisor == 1)
        return false;
    for (int i = count - 1; i >= 0; i--) {
        if (divisor >> 32 == 0) {
            uint64_t part = rest << 32 | words[i];
            words[i] = (uint32_t)(part / divisor);
            rest = part % divisor;
            continue;
        }
        uint32_t word = words[i], quotient = 0;
        for (int bit = 31; bit >= 0; bit--) {
            bool over = rest >> 63 != 0;
            rest = rest << 1 | (word >> bit & 1);
            if (over || rest >= divisor) {
                rest -= divisor;
                quotient |= 1u << bit;
            }
        }
        words[i] = quotient;
    }
    return rest != 0;
}

// ---- Rounding ----

// mantissa * 2^exponent with bit 63 of mantissa set, `more`: a little more than that. To nearest,
// ties to even; overflow gives infinity, underflow denormals and zero.
PS_EXACT double ps_exact_round(uint64_t mantissa, bool more, int exponent, bool negative)
{
    int top = exponent + 63;
    uint64_t bits = 0, sign = (uint64_t)negative << 63;
    if (top > 1023)
        return ps_exact_from_bits(sign | 0x7ffull << 52);
    int drop = top >= -1022 ? 11 : 11 - 1022 - top;
    if (drop <= 64) {
        uint64_t kept = drop < 64 ? mantissa >> drop : 0;
        uint64_t rest = mantissa << (64 - drop);
        uint64_t half = 1ull << 63;
        bits = top >= -1022 ? ((uint64_t)(top + 1022) << 52) + kept : kept;
        bits += rest > half || (rest == half && (more || (kept & 1) != 0));
    }
    return ps_exact_from_bits(sign | bits);
}

// words * 2^exponent as a double; `more` as above.
PS_EXACT double ps_words_round(const uint32_t *words, int count, bool more, int exponent,
                               bool negative)
{
    count = ps_words_length(words, count);
    if (count == 0)
        return 0;
    int bits = ps_word_bits(words[count - 1]);
    uint64_t mantissa = (uint64_t)words[count - 1] << (64 - bits);
    int have = bits, i = count - 2;
    for (; i >= 0 && have < 64; i--, have += 32) {
        if (have <= 32) {
            mantissa |= (uint64_t)words[i] << (32 - have);
        } else {
            mantissa |= (uint64_t)words[i] >> (have - 32);
            more = more || (uint32_t)(words[i] << (64 - have)) != 0;
        }
    }
    for (; i >= 0; i--)
        more = more || words[i] != 0;
    return ps_exact_round(mantissa, more, exponent + 32 * count - 32 + bits - 64, negative);
}

// words * 2^exponent / (first * second), rounded once; 8 words more than count must be there.
// Destroys words.
PS_EXACT double ps_words_quotient(uint32_t *words, int count, int exponent, bool negative,
                                  uint64_t first, uint64_t second)
{
    count = ps_words_length(words, count);
    if (count == 0)
        return 0;
    while (words[0] == 0) {
        words++;
        count--;
        exponent += 32;
    }
    // A quotient of at least 66 bits: append zero words below.
    int more_words = count >= 7 ? 0 : 7 - count;
    for (int i = count - 1; i >= 0; i--)
        words[i + more_words] = words[i];
    for (int i = 0; i < more_words; i++)
        words[i] = 0;
    count += more_words;
    bool more = ps_words_divide(words, count, first);
    more = ps_words_divide(words, count, second) || more;
    return ps_words_round(words, count, more, exponent - 32 * more_words, negative);
}

// ---- Results ----

// Words of workspace that the functions below need for accumulators of these sizes.
#define PS_EXACT_WORK(sum_limbs, square_limbs) (3 * ((sum_limbs)*2 + (square_limbs) + 16))

// The sum over n, rounded once; the sum itself for n = 1. n > 0.
PS_EXACT double ps_exact_mean(const int64_t *sum, int64_t stride, int limbs, int low, uint64_t n,
                              uint32_t *work)
{
    bool negative = ps_exact_words(sum, stride, limbs, work);
    return ps_words_quotient(work, limbs + 2, low, negative, n, 1);
}

// The square root of the accumulator over n, for one that is not negative: the root of the exact
// quotient rounded once, rounded; at most 0.75 units in the last place off. n > 0.
PS_EXACT double ps_exact_root(const int64_t *sum, int64_t stride, int limbs, int low, uint64_t n,
                              uint32_t *work)
{
    ps_exact_words(sum, stride, limbs, work);
    int count = ps_words_length(work, limbs + 2);
    if (count == 0)
        return 0;
    // Half of the exponent is taken out before and put back after the root, so that no square
    // overflows or underflows.
    int top = low + 32 * (count - 1) + ps_word_bits(work[count - 1]);
    for (uint64_t m = n; m > 1; m >>= 1)
        top--;
    int half = (top - (top & 1)) / 2, first = half / 2;
    double root = sqrt(ps_words_quotient(work, limbs + 2, low - 2 * half, false, n, 1));
    return root * ps_exact_power(first) * ps_exact_power(half - first);
}

// (n Q - S^2) / (n (n - ddof)), exact until it is rounded once. S has bit 0 at 2^low, Q at
// 2^(2 low). n > ddof.
PS_EXACT double ps_exact_variance(const int64_t *sum, int sum_limbs, const int64_t *squares,
                                  int square_limbs, int64_t stride, int low, uint64_t n,
                                  uint64_t ddof, uint32_t *work)
{
    int size = square_limbs + 4 > 2 * sum_limbs + 4 ? square_limbs + 4 : 2 * sum_limbs + 4;
    uint32_t *s = work, *square = s + sum_limbs + 2, *total = square + size;
    for (int i = 0; i < size; i++)
        square[i] = 0;
    for (int i = square_limbs + 2; i < size; i++)
        total[i] = 0;
    ps_exact_words(sum, stride, sum_limbs, s);
    ps_exact_words(squares, stride, square_limbs, total);
    ps_words_multiply(total, ps_words_length(total, square_limbs + 2), n);
    int length = ps_words_length(s, sum_limbs + 2);
    for (int i = 0; i < length; i++)
        for (int k = 0; s[i] != 0 && k < length; k++)
            ps_words_add(square, i + k, (uint64_t)s[i] * s[k]);
    ps_words_subtract(total, square, size);
    return ps_words_quotient(total, size, 2 * low, false, n, n - ddof);
}

// The accumulator (low = 0) as 64 bits, two's complement when is_signed. False: it does not fit.
PS_EXACT bool ps_exact_integer(const int64_t *sum, int64_t stride, int limbs, bool is_signed,
                               uint64_t *value_out, uint32_t *work)
{
    bool negative = ps_exact_words(sum, stride, limbs, work);
    if (ps_words_length(work, limbs + 2) > 2)
        return false;
    uint64_t magnitude = work[0] | (uint64_t)work[1] << 32;
    *value_out = negative ? 0 - magnitude : magnitude;
    if (is_signed)
        return magnitude <= (negative ? 1ull << 63 : (1ull << 63) - 1);
    return !negative || magnitude == 0;
}

#endif
