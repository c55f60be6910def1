// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/values.h"

#include <math.h>

#define LIMBS_MAX 136
#define SUM_WORDS (LIMBS_MAX + 2)
// Of a centred product: n times a sum, or two sums multiplied; and what a quotient appends.
#define PRODUCT_WORDS (2 * SUM_WORDS + 4)
#define WORK (PRODUCT_WORDS + 16)

// A whole number of 32-bit words, lowest first, times 2^low of the moments.
struct whole {
    uint32_t words[WORK];
    int length;
    bool negative;
};

static int64_t rows_of(void *state)
{
    return ((const struct ps_moments_head *)state)->rows;
}

static int64_t flags_of(const struct ps_moments *m, void *state, int64_t j, int64_t k)
{
    return ps_moments_flags(state)[ps_moments_pair(m, j, k)];
}

bool ps_moments_is_odd(const struct ps_moments *m, void *state, int64_t j)
{
    return flags_of(m, state, j, m->width - 1) != 0;
}

static void load(const struct ps_moments *m, void *state, int64_t j, int64_t k, struct whole *out)
{
    memset(out->words, 0, sizeof out->words);
    out->negative = ps_exact_words(ps_moments_limbs(m, state, ps_moments_pair(m, j, k)), 1,
                                   m->limbs, out->words);
    out->length = ps_words_length(out->words, m->limbs + 2);
}

// A column's sum in units of 2^(low / 2): the bits below are zero, as columns are whole multiples.
static void load_sum(const struct ps_moments *m, void *state, int64_t j, struct whole *out)
{
    load(m, state, j, m->width - 1, out);
    int words = -m->low / 2 / 32, bits = -m->low / 2 % 32;
    for (int i = 0; i < out->length; i++) {
        uint64_t pair = i + words < WORK ? out->words[i + words] : 0;
        if (i + words + 1 < WORK)
            pair |= (uint64_t)out->words[i + words + 1] << 32;
        out->words[i] = (uint32_t)(pair >> bits);
    }
    out->length = ps_words_length(out->words, out->length);
}

static bool is_less(const struct whole *a, const struct whole *b)
{
    int length = a->length > b->length ? a->length : b->length;
    for (int i = length - 1; i >= 0; i--)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i];
    return false;
}

// a -= b, both with signs.
static void subtract(struct whole *a, struct whole *b)
{
    int length = a->length > b->length ? a->length : b->length;
    if (a->negative != b->negative) {
        for (int i = 0; i < b->length; i++)
            ps_words_add(a->words, i, b->words[i]);
    } else if (is_less(a, b)) {
        ps_words_subtract(b->words, a->words, length);
        memcpy(a->words, b->words, sizeof a->words);
        a->negative = !b->negative;
    } else {
        ps_words_subtract(a->words, b->words, length);
    }
    a->length = ps_words_length(a->words, length + 1);
}

// n Sum x_j x_k - Sum x_j Sum x_k
static void centre(const struct ps_moments *m, void *state, int64_t j, int64_t k, struct whole *out)
{
    struct whole a, b, product = {.length = 0};
    load(m, state, j, k, out);
    ps_words_multiply(out->words, out->length, (uint64_t)rows_of(state));
    out->length = ps_words_length(out->words, out->length + 2);
    load_sum(m, state, j, &a);
    load_sum(m, state, k, &b);
    for (int i = 0; i < a.length; i++)
        for (int l = 0; a.words[i] != 0 && l < b.length; l++)
            ps_words_add(product.words, i + l, (uint64_t)a.words[i] * b.words[l]);
    product.length = ps_words_length(product.words, a.length + b.length + 1);
    product.negative = a.negative != b.negative;
    subtract(out, &product);
}

double ps_moments_sum(const struct ps_moments *m, void *state, int64_t j, int64_t k)
{
    int64_t flags = flags_of(m, state, j, k);
    struct whole sum;
    if (flags & PS_MOMENTS_NAN || (flags & PS_MOMENTS_ABOVE && flags & PS_MOMENTS_BELOW))
        return NAN;
    if (flags != 0)
        return flags & PS_MOMENTS_ABOVE ? INFINITY : -INFINITY;
    load(m, state, j, k, &sum);
    return ps_words_round(sum.words, sum.length, false, m->low, sum.negative);
}

double ps_moments_covariance(const struct ps_moments *m, void *state, int64_t j, int64_t k,
                             int64_t ddof)
{
    int64_t n = rows_of(state);
    struct whole total;
    if (n <= ddof || ps_moments_is_odd(m, state, j) || ps_moments_is_odd(m, state, k))
        return NAN;
    centre(m, state, j, k, &total);
    return ps_words_quotient(total.words, total.length, m->low, total.negative, (uint64_t)n,
                             (uint64_t)(n - ddof));
}

double ps_moments_mean(const struct ps_moments *m, void *state, int64_t j)
{
    int64_t n = rows_of(state);
    struct whole sum;
    if (n == 0 || ps_moments_is_odd(m, state, j))
        return n == 0 ? NAN : ps_moments_sum(m, state, j, m->width - 1) / (double)n;
    load(m, state, j, m->width - 1, &sum);
    return ps_words_quotient(sum.words, sum.length, m->low, sum.negative, (uint64_t)n, 1);
}

ps_quad ps_quad_scale(ps_quad value, int exponent)
{
    for (; exponent >= 1000; exponent -= 1000)
        value *= ps_exact_power(1000);
    for (; exponent <= -1000; exponent += 1000)
        value *= ps_exact_power(-1000);
    return value * ps_exact_power(exponent);
}

ps_quad ps_moments_quad(const struct ps_moments *m, void *state, int64_t j, int64_t k, bool centred)
{
    struct whole total;
    ps_quad value = 0;
    if (centred)
        centre(m, state, j, k, &total);
    else
        load(m, state, j, k, &total);
    int last = total.length > 5 ? total.length - 5 : 0; // at least 129 bits
    for (int i = total.length - 1; i >= last; i--)
        value = value * 4294967296.0 + total.words[i];
    value = ps_quad_scale(total.negative ? -value : value, m->low + 32 * last);
    return centred ? value / (ps_quad)rows_of(state) : value;
}

int ps_quad_exponent(ps_quad value)
{
    int exponent = 0, rest = 0;
    value = value < 0 ? -value : value;
    if (value == 0)
        return 0;
    for (; value > ps_exact_power(1000); exponent += 1000)
        value *= ps_exact_power(-1000);
    for (; value < ps_exact_power(-1000); exponent -= 1000)
        value *= ps_exact_power(1000);
    frexp((double)value, &rest);
    return exponent + rest;
}
