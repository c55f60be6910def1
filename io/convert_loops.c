// SPDX-License-Identifier: Apache-2.0
// The loops are made by macros from lists of types, so that each is free of branches and the
// compiler can use vectors. `bad` gathers what does not fit.
#include "io/convert_loops.h"

#include <float.h>
#include <math.h>

typedef uint8_t bool8; // other names, so that lists of types can name the dtypes
typedef uint16_t half;

#define LOOP(to, TO, from, FROM, BODY)                                                             \
    static bool to##_of_##from(void *target, const void *source, size_t count)                     \
    {                                                                                              \
        TO *out = target;                                                                          \
        const FROM *in = source;                                                                   \
        int bad = 0;                                                                               \
        for (size_t i = 0; i < count; i++) {                                                       \
            FROM s = in[i];                                                                        \
            BODY;                                                                                  \
        }                                                                                          \
        return bad == 0;                                                                           \
    }

// ---- Integers to integers: there and back again gives the same, and so must the sign. ----

#define SAME_SIGN(to, TO, from, FROM)                                                              \
    LOOP(to, TO, from, FROM, out[i] = (TO)s; bad |= (FROM)(TO)s != s)
#define FROM_SIGNED(to, TO, from, FROM)                                                            \
    LOOP(to, TO, from, FROM, out[i] = (TO)s; bad |= (s < 0) | ((FROM)(TO)s != s))
#define FROM_UNSIGNED(to, TO, from, FROM)                                                          \
    LOOP(to, TO, from, FROM, TO v = (TO)s; out[i] = v; bad |= (v < 0) | ((FROM)v != s))

SAME_SIGN(i8, int8_t, i16, int16_t)
SAME_SIGN(i8, int8_t, i32, int32_t)
SAME_SIGN(i8, int8_t, i64, int64_t)
SAME_SIGN(i16, int16_t, i8, int8_t)
SAME_SIGN(i16, int16_t, i32, int32_t)
SAME_SIGN(i16, int16_t, i64, int64_t)
SAME_SIGN(i32, int32_t, i8, int8_t)
SAME_SIGN(i32, int32_t, i16, int16_t)
SAME_SIGN(i32, int32_t, i64, int64_t)
SAME_SIGN(i64, int64_t, i8, int8_t)
SAME_SIGN(i64, int64_t, i16, int16_t)
SAME_SIGN(i64, int64_t, i32, int32_t)
SAME_SIGN(u8, uint8_t, u16, uint16_t)
SAME_SIGN(u8, uint8_t, u32, uint32_t)
SAME_SIGN(u8, uint8_t, u64, uint64_t)
SAME_SIGN(u16, uint16_t, u8, uint8_t)
SAME_SIGN(u16, uint16_t, u32, uint32_t)
SAME_SIGN(u16, uint16_t, u64, uint64_t)
SAME_SIGN(u32, uint32_t, u8, uint8_t)
SAME_SIGN(u32, uint32_t, u16, uint16_t)
SAME_SIGN(u32, uint32_t, u64, uint64_t)
SAME_SIGN(u64, uint64_t, u8, uint8_t)
SAME_SIGN(u64, uint64_t, u16, uint16_t)
SAME_SIGN(u64, uint64_t, u32, uint32_t)

#define TO_EVERY_UNSIGNED(from, FROM)                                                              \
    FROM_SIGNED(u8, uint8_t, from, FROM)                                                           \
    FROM_SIGNED(u16, uint16_t, from, FROM)                                                         \
    FROM_SIGNED(u32, uint32_t, from, FROM)                                                         \
    FROM_SIGNED(u64, uint64_t, from, FROM)
TO_EVERY_UNSIGNED(i8, int8_t)
TO_EVERY_UNSIGNED(i16, int16_t)
TO_EVERY_UNSIGNED(i32, int32_t)
TO_EVERY_UNSIGNED(i64, int64_t)

#define TO_EVERY_SIGNED(from, FROM)                                                                \
    FROM_UNSIGNED(i8, int8_t, from, FROM)                                                          \
    FROM_UNSIGNED(i16, int16_t, from, FROM)                                                        \
    FROM_UNSIGNED(i32, int32_t, from, FROM)                                                        \
    FROM_UNSIGNED(i64, int64_t, from, FROM)
TO_EVERY_SIGNED(u8, uint8_t)
TO_EVERY_SIGNED(u16, uint16_t)
TO_EVERY_SIGNED(u32, uint32_t)
TO_EVERY_SIGNED(u64, uint64_t)

// ---- Integers to floats: those up to 2^(digits of the float) surely fit. ----

#define SIGNED_TO_FLOAT(to, TO, from, FROM, MAKE, DIGITS)                                          \
    LOOP(to, TO, from, FROM, int64_t n = s; out[i] = MAKE(s);                                      \
         bad |= (n > (INT64_C(1) << DIGITS)) | (n < -(INT64_C(1) << DIGITS)))
#define UNSIGNED_TO_FLOAT(to, TO, from, FROM, MAKE, DIGITS)                                        \
    LOOP(to, TO, from, FROM, uint64_t n = s; out[i] = MAKE(s); bad |= n > (UINT64_C(1) << DIGITS))
#define EVERY_INTEGER_TO(to, TO, MAKE, DIGITS)                                                     \
    SIGNED_TO_FLOAT(to, TO, i8, int8_t, MAKE, DIGITS)                                              \
    SIGNED_TO_FLOAT(to, TO, i16, int16_t, MAKE, DIGITS)                                            \
    SIGNED_TO_FLOAT(to, TO, i32, int32_t, MAKE, DIGITS)                                            \
    SIGNED_TO_FLOAT(to, TO, i64, int64_t, MAKE, DIGITS)                                            \
    UNSIGNED_TO_FLOAT(to, TO, boolean, bool8, MAKE, DIGITS)                                        \
    UNSIGNED_TO_FLOAT(to, TO, u8, uint8_t, MAKE, DIGITS)                                           \
    UNSIGNED_TO_FLOAT(to, TO, u16, uint16_t, MAKE, DIGITS)                                         \
    UNSIGNED_TO_FLOAT(to, TO, u32, uint32_t, MAKE, DIGITS)                                         \
    UNSIGNED_TO_FLOAT(to, TO, u64, uint64_t, MAKE, DIGITS)
#define MAKE_F16(s) ps_f32_to_f16((float)(s))
#define MAKE_F32(s) (float)(s)
#define MAKE_F64(s) (double)(s)
EVERY_INTEGER_TO(f16, half, MAKE_F16, 11)
EVERY_INTEGER_TO(f32, float, MAKE_F32, 24)
EVERY_INTEGER_TO(f64, double, MAKE_F64, 53)

// ---- Floats to integers: LOW <= value < HIGH (both exact in any float), no fraction. ----

#define FLOAT_TO_INTEGER(to, TO, from, FROM, REAL, GET, LOW, HIGH)                                 \
    LOOP(to, TO, from, FROM, REAL x = GET(s); int inside = (x >= (REAL)LOW) & (x < (REAL)HIGH);    \
         TO v = (TO)(inside ? x : 0); out[i] = v; bad |= !inside | ((REAL)v != x))
#define TO_EVERY_INTEGER(from, FROM, REAL, GET)                                                    \
    FLOAT_TO_INTEGER(boolean, bool8, from, FROM, REAL, GET, 0, 2)                                  \
    FLOAT_TO_INTEGER(i8, int8_t, from, FROM, REAL, GET, -0x1p7, 0x1p7)                             \
    FLOAT_TO_INTEGER(i16, int16_t, from, FROM, REAL, GET, -0x1p15, 0x1p15)                         \
    FLOAT_TO_INTEGER(i32, int32_t, from, FROM, REAL, GET, -0x1p31, 0x1p31)                         \
    FLOAT_TO_INTEGER(i64, int64_t, from, FROM, REAL, GET, -0x1p63, 0x1p63)                         \
    FLOAT_TO_INTEGER(u8, uint8_t, from, FROM, REAL, GET, 0, 0x1p8)                                 \
    FLOAT_TO_INTEGER(u16, uint16_t, from, FROM, REAL, GET, 0, 0x1p16)                              \
    FLOAT_TO_INTEGER(u32, uint32_t, from, FROM, REAL, GET, 0, 0x1p32)                              \
    FLOAT_TO_INTEGER(u64, uint64_t, from, FROM, REAL, GET, 0, 0x1p64)
#define GET_PLAIN(s) s
TO_EVERY_INTEGER(f16, half, float, ps_f16_to_f32)
TO_EVERY_INTEGER(f32, float, float, GET_PLAIN)
TO_EVERY_INTEGER(f64, double, double, GET_PLAIN)

// ---- Floats to floats: what was finite stays so. ----

LOOP(f32, float, f16, half, out[i] = ps_f16_to_f32(s))
LOOP(f64, double, f16, half, out[i] = ps_f16_to_f32(s))
LOOP(f64, double, f32, float, out[i] = s)
LOOP(f32, float, f64, double, float v = (float)s; out[i] = v;
     bad |= (fabsf(v) > FLT_MAX) & (fabs(s) <= DBL_MAX))
LOOP(f16, half, f32, float, half v = ps_f32_to_f16(s); out[i] = v;
     bad |= ((v & 0x7fff) == 0x7c00) & (fabsf(s) <= FLT_MAX))
LOOP(f16, half, f64, double, half v = ps_f64_to_f16(s); out[i] = v;
     bad |= ((v & 0x7fff) == 0x7c00) & (fabs(s) <= DBL_MAX))

// ---- bool and integers ----

#define BOOL_AND(name, TYPE)                                                                       \
    LOOP(name, TYPE, boolean, bool8, out[i] = (TYPE)s)                                             \
    LOOP(boolean, bool8, name, TYPE, out[i] = (bool8)(s & 1); bad |= (s & (TYPE) ~(TYPE)1) != 0)
BOOL_AND(i8, int8_t)
BOOL_AND(i16, int16_t)
BOOL_AND(i32, int32_t)
BOOL_AND(i64, int64_t)
BOOL_AND(u8, uint8_t)
BOOL_AND(u16, uint16_t)
BOOL_AND(u32, uint32_t)
BOOL_AND(u64, uint64_t)

#define ROW(to)                                                                                    \
    {                                                                                              \
        [PS_BOOL] = to##_of_boolean, [PS_I8] = to##_of_i8, [PS_I16] = to##_of_i16,                 \
        [PS_I32] = to##_of_i32, [PS_I64] = to##_of_i64, [PS_U8] = to##_of_u8,                      \
        [PS_U16] = to##_of_u16, [PS_U32] = to##_of_u32, [PS_U64] = to##_of_u64,                    \
        [PS_F16] = to##_of_f16, [PS_F32] = to##_of_f32, [PS_F64] = to##_of_f64                     \
    }
#define boolean_of_boolean NULL
#define i8_of_i8 NULL
#define i16_of_i16 NULL
#define i32_of_i32 NULL
#define i64_of_i64 NULL
#define u8_of_u8 NULL
#define u16_of_u16 NULL
#define u32_of_u32 NULL
#define u64_of_u64 NULL
#define f16_of_f16 NULL
#define f32_of_f32 NULL
#define f64_of_f64 NULL

ps_convert_loop *ps_convert_plainly(enum ps_dtype to, enum ps_dtype from)
{
    static ps_convert_loop *const table[PS_DTYPE_COUNT][PS_DTYPE_COUNT] = {
        [PS_BOOL] = ROW(boolean), [PS_I8] = ROW(i8),   [PS_I16] = ROW(i16), [PS_I32] = ROW(i32),
        [PS_I64] = ROW(i64),      [PS_U8] = ROW(u8),   [PS_U16] = ROW(u16), [PS_U32] = ROW(u32),
        [PS_U64] = ROW(u64),      [PS_F16] = ROW(f16), [PS_F32] = ROW(f32), [PS_F64] = ROW(f64)};
    return table[to][from];
}
