// SPDX-License-Identifier: Apache-2.0
// Element conversion with the three cast rules. Parts where every value is held as it is go
// through plain loops (io/convert_loops.c). Others are done one by one here, through the widest
// type of their kind: int64, uint64 or double, which holds each value exactly.
#include "io/convert_loops.h"
#include "io/format.h"

#include <math.h>
#include <string.h>

#define PART 1024 // elements tried at once

struct wide {
    enum { WIDE_SIGNED, WIDE_UNSIGNED, WIDE_FLOAT } kind;
    int64_t i;
    uint64_t u;
    double f;
};

static struct wide load(enum ps_dtype dtype, const void *data, size_t at)
{
    struct wide w = {.kind = WIDE_SIGNED};
    switch (dtype) {
    case PS_BOOL:
    case PS_U8:
        w.i = ((const uint8_t *)data)[at];
        break;
    case PS_I8:
        w.i = ((const int8_t *)data)[at];
        break;
    case PS_I16:
        w.i = ((const int16_t *)data)[at];
        break;
    case PS_U16:
        w.i = ((const uint16_t *)data)[at];
        break;
    case PS_I32:
        w.i = ((const int32_t *)data)[at];
        break;
    case PS_U32:
        w.i = ((const uint32_t *)data)[at];
        break;
    case PS_I64:
        w.i = ((const int64_t *)data)[at];
        break;
    case PS_U64:
        w.kind = WIDE_UNSIGNED;
        w.u = ((const uint64_t *)data)[at];
        break;
    case PS_F16:
        w.kind = WIDE_FLOAT;
        w.f = ps_f16_to_f32(((const uint16_t *)data)[at]);
        break;
    case PS_F32:
        w.kind = WIDE_FLOAT;
        w.f = ((const float *)data)[at];
        break;
    default:
        w.kind = WIDE_FLOAT;
        w.f = ((const double *)data)[at];
    }
    return w;
}

static void store_bits(enum ps_dtype dtype, void *data, size_t at, uint64_t bits)
{
    switch (ps_dtype_bytes(dtype)) {
    case 1:
        ((uint8_t *)data)[at] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)data)[at] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)data)[at] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)data)[at] = bits;
    }
}

struct range {
    int64_t low;
    uint64_t high;
};

static struct range range_of(enum ps_dtype dtype)
{
    const struct ps_dtype_info *info = ps_dtype_info(dtype);
    int bits = (int)info->bytes * 8;
    if (info->kind == PS_CLASS_BOOL)
        return (struct range){0, 1};
    if (info->kind == PS_CLASS_UNSIGNED)
        return (struct range){0, bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1};
    return (struct range){bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)),
                          ((uint64_t)1 << (bits - 1)) - 1};
}

// The value modulo 2^64, as casts of wider integers wrap.
static uint64_t wrapped(const struct wide *w)
{
    if (w->kind == WIDE_SIGNED)
        return (uint64_t)w->i;
    if (w->kind == WIDE_UNSIGNED)
        return w->u;
    if (isnan(w->f) || isinf(w->f))
        return 0;
    double whole = fmod(trunc(w->f), 0x1p64);
    return whole < 0 ? (uint64_t)0 - (uint64_t)-whole : (uint64_t)whole;
}

// Whether w is inside the range: -1 below, 1 above, 0 inside. NaN is inside nothing: 2.
static int side(const struct wide *w, struct range r)
{
    if (w->kind == WIDE_SIGNED)
        return w->i < r.low ? -1 : w->i > 0 && (uint64_t)w->i > r.high;
    if (w->kind == WIDE_UNSIGNED)
        return w->u > r.high;
    if (isnan(w->f))
        return 2;
    double whole = trunc(w->f);
    return whole < (double)r.low           ? -1
           : whole >= (double)r.high + 1.0 ? 1
           : r.high > (1ull << 53)         ? whole >= (r.high == UINT64_MAX ? 0x1p64 : 0x1p63)
                                           : whole > (double)r.high;
}

static bool to_integer(enum ps_dtype to, void *target, size_t at, const struct wide *w,
                       enum ps_cast cast, uint64_t *changed)
{
    struct range r = range_of(to);
    int where = side(w, r);
    bool fraction = w->kind == WIDE_FLOAT && !isnan(w->f) && trunc(w->f) != w->f;
    if (where == 0 && !fraction) {
        store_bits(to, target, at, wrapped(w));
        return true;
    }
    if (cast == PS_CAST_ERROR || (cast == PS_CAST_SATURATE && where == 2))
        return false;
    ++*changed;
    if (cast == PS_CAST_SATURATE)
        store_bits(to, target, at, where < 0 ? (uint64_t)r.low : where > 0 ? r.high : wrapped(w));
    else // something changed, so a bool is not 0: true, as C and NumPy have it
        store_bits(to, target, at, to == PS_BOOL ? 1 : wrapped(w));
    return true;
}

static double rounded(const struct wide *w)
{
    return w->kind == WIDE_FLOAT ? w->f : w->kind == WIDE_SIGNED ? (double)w->i : (double)w->u;
}

static bool loses_digits(const struct wide *w, double stored)
{
    if (w->kind == WIDE_FLOAT)
        return false;
    if (w->kind == WIDE_UNSIGNED)
        return stored >= 0x1p64 || (uint64_t)stored != w->u;
    return stored >= 0x1p63 || stored < -0x1p63 || (int64_t)stored != w->i;
}

// The nearest value of the target, as a double.
static double nearest(enum ps_dtype to, const struct wide *w)
{
    // An integer goes straight to float: through double it would be rounded twice.
    if (to == PS_F32)
        return w->kind == WIDE_FLOAT    ? (double)(float)w->f
               : w->kind == WIDE_SIGNED ? (double)(float)w->i
                                        : (double)(float)w->u;
    return to == PS_F16 ? (double)ps_f16_to_f32(ps_f64_to_f16(rounded(w))) : rounded(w);
}

static bool to_float(enum ps_dtype to, void *target, size_t at, const struct wide *w,
                     enum ps_cast cast, uint64_t *changed)
{
    double value = nearest(to, w);
    bool overflow = isinf(value) && !(w->kind == WIDE_FLOAT && isinf(w->f));
    if (overflow || loses_digits(w, value)) {
        if (cast == PS_CAST_ERROR)
            return false;
        ++*changed;
        if (overflow && cast == PS_CAST_SATURATE)
            value = copysign(to == PS_F32 ? 0x1.fffffep127 : 65504.0, value);
    }
    if (to == PS_F16) {
        ((uint16_t *)target)[at] = ps_f64_to_f16(value);
    } else if (to == PS_F32) {
        ((float *)target)[at] = (float)value;
    } else {
        ((double *)target)[at] = value;
    }
    return true;
}

static bool convert_slowly(enum ps_dtype to, void *target, enum ps_dtype from, const void *source,
                           size_t first, size_t end, enum ps_cast cast, size_t *bad_out,
                           uint64_t *changed_out)
{
    bool is_float = ps_dtype_is_float(to);
    for (size_t i = first; i < end; i++) {
        struct wide w = load(from, source, i);
        if (is_float ? to_float(to, target, i, &w, cast, changed_out)
                     : to_integer(to, target, i, &w, cast, changed_out))
            continue;
        *bad_out = i;
        return false;
    }
    return true;
}

bool ps_convert(enum ps_dtype to, void *target, enum ps_dtype from, const void *source,
                size_t count, enum ps_cast cast, size_t *bad_out, uint64_t *changed_out)
{
    size_t to_bytes = ps_dtype_bytes(to), from_bytes = ps_dtype_bytes(from);
    ps_convert_loop *loop = ps_convert_plainly(to, from);
    if (loop == NULL) { // the same dtype
        memcpy(target, source, count * to_bytes);
        return true;
    }
    for (size_t first = 0; first < count; first += PART) {
        size_t end = count - first < PART ? count : first + PART;
        if (!loop((char *)target + first * to_bytes, (const char *)source + first * from_bytes,
                  end - first) &&
            !convert_slowly(to, target, from, source, first, end, cast, bad_out, changed_out))
            return false;
    }
    return true;
}

void ps_byte_swap(void *data, size_t element_bytes, size_t count)
{
    switch (element_bytes) {
    case 2:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)data)[i] = __builtin_bswap16(((uint16_t *)data)[i]);
        break;
    case 4:
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)data)[i] = __builtin_bswap32(((uint32_t *)data)[i]);
        break;
    case 8:
        for (size_t i = 0; i < count; i++)
            ((uint64_t *)data)[i] = __builtin_bswap64(((uint64_t *)data)[i]);
        break;
    default:
        break;
    }
}
