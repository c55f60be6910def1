// SPDX-License-Identifier: Apache-2.0
// From an accumulator to a result: one source for host and device. Every result that is not exact
// is the exact one rounded once (std: the square root of the rounded variance, rounded).
#ifndef PS_KERNELS_REDUCE_FINISH_H
#define PS_KERNELS_REDUCE_FINISH_H

#include "base/dtype.h"
#include "kernels/reduce/kinds.h"
#include "kernels/reduce/pick.h"
#include "kernels/reduce/state.h"

#include <math.h>

// Why a result could not be stored.
enum ps_reduce_fault {
    PS_REDUCE_FINE,
    PS_REDUCE_OVERFLOW, // an integer sum does not fit 64 bits
    PS_REDUCE_INEXACT,  // an integer among float64 results that float64 cannot hold
    PS_REDUCE_EMPTY,    // min, max or their places of nothing
};

#define PS_REDUCE_LIMBS_MAX 137 // of one accumulator
#define PS_REDUCE_WORK PS_EXACT_WORK(69, 136)

// Which results of one accumulator are wanted, and where they go: kind k of output i is element
// i * width + at[k] of an array of dtype.
struct ps_reduce_ask {
    int kind_count;
    int kinds[PS_REDUCE_KINDS]; // enum ps_reduce_kind
    int at[PS_REDUCE_KINDS];
    int width;
    int dtype;
    uint64_t ddof;
};

// A result before it is stored: a whole number or a double.
struct ps_reduce_result {
    bool whole, negative;
    uint64_t magnitude;
    double number;
};

PS_EXACT double ps_reduce_nan(void)
{
    return ps_exact_from_bits(0x7ff8000000000000ull);
}

PS_EXACT struct ps_reduce_result ps_reduce_whole(uint64_t bits, bool is_signed)
{
    struct ps_reduce_result result;
    result.whole = true;
    result.negative = is_signed && bits >> 63 != 0;
    result.magnitude = result.negative ? (uint64_t)0 - bits : bits;
    result.number = 0;
    return result;
}

PS_EXACT struct ps_reduce_result ps_reduce_number(double number)
{
    struct ps_reduce_result result;
    result.whole = result.negative = false;
    result.magnitude = 0;
    result.number = number;
    return result;
}

PS_EXACT struct ps_reduce_result ps_reduce_from_key(int dtype, uint64_t key)
{
    if (dtype == PS_F64)
        return ps_reduce_number(ps_exact_from_bits(key >> 63 != 0 ? key & ~(1ull << 63) : ~key));
    if (dtype == PS_F32 || dtype == PS_F16) {
        uint32_t bits = (uint32_t)(key >> 31 != 0 ? key & 0x7fffffffu : ~key);
        float value;
        memcpy(&value, &bits, sizeof value);
        return ps_reduce_number(value);
    }
    if (dtype >= PS_I8 && dtype <= PS_I64)
        return ps_reduce_whole(key ^ 1ull << 63, true);
    return ps_reduce_whole(key, false);
}

PS_EXACT bool ps_reduce_skips_nan(int kind)
{
    return kind >= PS_REDUCE_NANSUM && kind <= PS_REDUCE_NANSTD;
}

// The kind whose formula holds for this one.
PS_EXACT int ps_reduce_formula(int kind)
{
    switch (kind) {
    case PS_REDUCE_NANSUM:
    case PS_REDUCE_NORM1: // of magnitudes
        return PS_REDUCE_SUM;
    case PS_REDUCE_NANMEAN:
        return PS_REDUCE_MEAN;
    case PS_REDUCE_NANMIN:
        return PS_REDUCE_MIN;
    case PS_REDUCE_NANMAX:
        return PS_REDUCE_MAX;
    case PS_REDUCE_NANVAR:
        return PS_REDUCE_VAR;
    case PS_REDUCE_NANSTD:
        return PS_REDUCE_STD;
    default:
        return kind;
    }
}

// A sum's result that needs neither bins nor limbs: NaN, infinities, nothing. False: it needs them.
PS_EXACT bool ps_reduce_special(int formula, uint64_t n, int64_t nan, int64_t above, int64_t below,
                                double *out)
{
    bool spread = formula == PS_REDUCE_VAR || formula == PS_REDUCE_STD;
    bool norm = formula == PS_REDUCE_NORM2 || formula == PS_REDUCE_RMS;
    *out = ps_reduce_nan();
    if (nan > 0 || (spread && (above > 0 || below > 0)) || (!norm && above > 0 && below > 0))
        return true;
    if (above > 0 || below > 0) {
        *out = ps_exact_from_bits((!norm && below > 0 ? 1ull << 63 : 0) | 0x7ff0000000000000ull);
        return true;
    }
    return n == 0 && (formula == PS_REDUCE_MEAN || formula == PS_REDUCE_RMS);
}

// The result of one kind for one output.
PS_EXACT enum ps_reduce_fault ps_reduce_result(const struct ps_reduce_form *form,
                                               const struct ps_reduce_planes *planes,
                                               int64_t output, int kind, uint64_t ddof,
                                               uint32_t *work, struct ps_reduce_result *result)
{
    uint64_t n = (uint64_t)planes->head->elements;
    int64_t nan = planes->nan[output];
    const int64_t *sum = planes->sum != 0 ? planes->sum + output : 0;
    const int64_t *squares = planes->squares != 0 ? planes->squares + output : 0;
    int formula = ps_reduce_formula(kind);
    bool is_float = form->dtype >= PS_F16,
         is_signed = form->dtype >= PS_I8 && form->dtype <= PS_I64;
    double special;
    if (formula == PS_REDUCE_COUNT) {
        *result = ps_reduce_whole(n - (uint64_t)nan, true);
        return PS_REDUCE_FINE;
    }
    if (formula == PS_REDUCE_MIN || formula == PS_REDUCE_MAX) {
        if (n == 0)
            return PS_REDUCE_EMPTY;
        bool none = nan > 0 && (!ps_reduce_skips_nan(kind) || (uint64_t)nan == n);
        *result = none ? ps_reduce_number(ps_reduce_nan())
                       : ps_reduce_from_key(form->dtype, formula == PS_REDUCE_MIN
                                                             ? ~planes->smallest[output]
                                                             : planes->largest[output]);
        return PS_REDUCE_FINE;
    }
    if (formula == PS_REDUCE_SUM && !is_float) {
        uint64_t bits = 0;
        if (!ps_exact_integer(sum, planes->stride, form->sum_limbs, is_signed, &bits, work))
            return PS_REDUCE_OVERFLOW;
        *result = ps_reduce_whole(bits, is_signed);
        return PS_REDUCE_FINE;
    }
    if (ps_reduce_skips_nan(kind)) {
        n -= (uint64_t)nan;
        nan = 0;
    }
    if (ps_reduce_special(formula, n, nan, planes->positive_inf[output],
                          planes->negative_inf[output], &special)) {
        *result = ps_reduce_number(special);
    } else if (formula == PS_REDUCE_VAR || formula == PS_REDUCE_STD) {
        double variance = ps_reduce_nan();
        if (n > ddof)
            variance = ps_exact_variance(sum, form->sum_limbs, squares, form->square_limbs,
                                         planes->stride, form->low, n, ddof, work);
        *result = ps_reduce_number(formula == PS_REDUCE_STD && n > ddof ? sqrt(variance) : variance);
    } else if (formula == PS_REDUCE_NORM2 || formula == PS_REDUCE_RMS) {
        *result = ps_reduce_number(ps_exact_root(squares, planes->stride, form->square_limbs,
                                                 2 * form->low,
                                                 formula == PS_REDUCE_RMS ? n : 1, work));
    } else {
        *result = ps_reduce_number(ps_exact_mean(sum, planes->stride, form->sum_limbs, form->low,
                                                 formula == PS_REDUCE_MEAN ? n : 1, work));
    }
    return PS_REDUCE_FINE;
}

// The result of a kind of PS_FROM_PICKS of `elements` values of dtype.
PS_EXACT enum ps_reduce_fault ps_pick_result(const struct ps_pick *pick, int kind, int dtype,
                                             int64_t elements, struct ps_reduce_result *result)
{
    bool is_signed = dtype >= PS_I8 && dtype <= PS_I64;
    bool smallest = kind == PS_REDUCE_ARGMIN || kind == PS_REDUCE_NANARGMIN;
    switch (kind) {
    case PS_REDUCE_ANY:
        *result = ps_reduce_whole(pick->others > 0, false);
        return PS_REDUCE_FINE;
    case PS_REDUCE_ALL:
        *result = ps_reduce_whole(pick->zeros == 0, false);
        return PS_REDUCE_FINE;
    case PS_REDUCE_PROD:
    case PS_REDUCE_NANPROD:
        if (dtype >= PS_F16) {
            *result = ps_reduce_number(kind == PS_REDUCE_PROD && pick->nans > 0
                                           ? ps_reduce_nan()
                                           : ps_pick_product_float(pick));
            return PS_REDUCE_FINE;
        }
        result->whole = true;
        result->negative = pick->zeros == 0 && (pick->negatives & 1) != 0;
        result->magnitude = pick->zeros > 0 ? 0 : pick->high + 1;
        result->number = 0;
        return pick->zeros == 0 &&
                       (pick->exponent != 0 ||
                        (is_signed && result->magnitude > (1ull << 63) - !result->negative))
                   ? PS_REDUCE_OVERFLOW
                   : PS_REDUCE_FINE;
    default:
        if (elements == 0)
            return PS_REDUCE_EMPTY;
        uint64_t at = smallest ? pick->smallest_at : pick->largest_at;
        if (pick->nans > 0 && (kind == PS_REDUCE_ARGMIN || kind == PS_REDUCE_ARGMAX))
            at = pick->nan_at;
        *result = ps_reduce_whole(~at, true); // -1: none but NaN
        return PS_REDUCE_FINE;
    }
}

// ---- Storing ----

// A float that binary16 holds exactly, or NaN, as its bits.
PS_EXACT uint16_t ps_reduce_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffffu;
    if (bits >= 0x7f800000u)
        return (uint16_t)(sign | (bits > 0x7f800000u ? 0x7e00 : 0x7c00));
    if (bits >= 0x38800000u) // 2^-14
        return (uint16_t)(sign | (bits - 0x38000000u) >> 13);
    return (uint16_t)(sign | (uint16_t)((value < 0 ? -value : value) * 16777216.0f));
}

PS_EXACT bool ps_reduce_is_exact(uint64_t magnitude) // as a double
{
    while (magnitude >> 53 != 0 && (magnitude & 1) == 0)
        magnitude >>= 1;
    return magnitude >> 53 == 0;
}

// Stores result as element `index` of an array of dtype, which promotion has made wide enough.
PS_EXACT enum ps_reduce_fault ps_reduce_store(int dtype, void *array, int64_t index,
                                              const struct ps_reduce_result *result)
{
    uint64_t bits = result->negative ? (uint64_t)0 - result->magnitude : result->magnitude;
    double number = result->number;
    if (dtype >= PS_F16 && result->whole) {
        if (!ps_reduce_is_exact(result->magnitude))
            return PS_REDUCE_INEXACT;
        number = result->negative ? -(double)result->magnitude : (double)result->magnitude;
    }
    switch (dtype) {
    case PS_BOOL:
    case PS_I8:
    case PS_U8:
        ((uint8_t *)array)[index] = (uint8_t)bits;
        break;
    case PS_I16:
    case PS_U16:
        ((uint16_t *)array)[index] = (uint16_t)bits;
        break;
    case PS_I32:
    case PS_U32:
        ((uint32_t *)array)[index] = (uint32_t)bits;
        break;
    case PS_I64:
    case PS_U64:
        ((uint64_t *)array)[index] = bits;
        break;
    case PS_F16:
        ((uint16_t *)array)[index] = ps_reduce_half((float)number);
        break;
    case PS_F32:
        ((float *)array)[index] = (float)number;
        break;
    default:
        ((double *)array)[index] = number;
        break;
    }
    return PS_REDUCE_FINE;
}

// All kinds asked for of one output, stored as output number `at`. On a fault: *kind_out.
PS_EXACT enum ps_reduce_fault ps_reduce_finish(const struct ps_reduce_form *form,
                                               const struct ps_reduce_planes *planes,
                                               int64_t output, const struct ps_reduce_ask *ask,
                                               void *array, int64_t at, uint32_t *work,
                                               int *kind_out)
{
    for (int k = 0; k < ask->kind_count; k++) {
        struct ps_reduce_result result;
        enum ps_reduce_fault fault =
            ps_reduce_result(form, planes, output, ask->kinds[k], ask->ddof, work, &result);
        if (fault == PS_REDUCE_FINE)
            fault = ps_reduce_store(ask->dtype, array, at * ask->width + ask->at[k], &result);
        if (fault != PS_REDUCE_FINE) {
            *kind_out = ask->kinds[k];
            return fault;
        }
    }
    return PS_REDUCE_FINE;
}

PS_EXACT enum ps_reduce_fault ps_pick_finish(const struct ps_pick *pick, int dtype,
                                             int64_t elements, const struct ps_reduce_ask *ask,
                                             void *array, int64_t at, int *kind_out)
{
    for (int k = 0; k < ask->kind_count; k++) {
        struct ps_reduce_result result;
        enum ps_reduce_fault fault = ps_pick_result(pick, ask->kinds[k], dtype, elements, &result);
        if (fault == PS_REDUCE_FINE)
            fault = ps_reduce_store(ask->dtype, array, at * ask->width + ask->at[k], &result);
        if (fault != PS_REDUCE_FINE) {
            *kind_out = ask->kinds[k];
            return fault;
        }
    }
    return PS_REDUCE_FINE;
}

#endif
