// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set with PS_VECTOR_TABLE defined as the table's name. Plain loops
// that the compiler vectorises; contraction to fma is off everywhere, so all sets give equal bits.
#include "kernels/map/vector.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#define PS_FN static inline __attribute__((unused))
#include "kernels/map/scalar.h"

#include "kernels/map/checked.h"

#define T_b1 unsigned char
#define T_i8 signed char
#define T_i16 short
#define T_i32 int
#define T_i64 long long
#define T_u8 unsigned char
#define T_u16 unsigned short
#define T_u32 unsigned int
#define T_u64 unsigned long long
#define T_f32 float
#define T_f64 double
#define CAT2(a, b) a##b
#define CAT(a, b) CAT2(a, b)
#define T(N) CAT(T_, N)

#define LOOP(NAME, N, R, EXPRESSION)                                                               \
    static void CAT(CAT(CAT(v_, NAME), _), N)(void *to, const void *pa, const void *pb,            \
                                              const void *pc, size_t n)                            \
    {                                                                                              \
        R *out = to;                                                                               \
        const T(N) *a = pa, *b = pb, *c = pc;                                                      \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = (EXPRESSION);                                                                 \
    }

#define UNARY(NAME, N) LOOP(NAME, N, T(N), CAT(CAT(CAT(ps_, NAME), _), N)(a[i]))
#define BINARY(NAME, N) LOOP(NAME, N, T(N), CAT(CAT(CAT(ps_, NAME), _), N)(a[i], b[i]))
#define TERNARY(NAME, N) LOOP(NAME, N, T(N), CAT(CAT(CAT(ps_, NAME), _), N)(a[i], b[i], c[i]))
#define BYTE(NAME, N) LOOP(NAME, N, unsigned char, CAT(CAT(CAT(ps_, NAME), _), N)(a[i]))

// Branch-free by arithmetic on masks: compilers turn the plain ?: into blends at -O3.
#define SELECT(NAME, N)                                                                            \
    static void CAT(v_select_, N)(void *to, const void *pa, const void *pb, const void *pc,        \
                                  size_t n)                                                        \
    {                                                                                              \
        T(N) *out = to;                                                                            \
        const unsigned char *condition = pa;                                                       \
        const T(N) *b = pb, *c = pc;                                                               \
        for (size_t i = 0; i < n; i++) {                                                           \
            T(N) x = b[i], y = c[i];                                                               \
            out[i] = condition[i] ? x : y;                                                         \
        }                                                                                          \
    }

#define INTEGERS(X, NAME)                                                                          \
    X(NAME, i8)                                                                                    \
    X(NAME, i16)                                                                                   \
    X(NAME, i32)                                                                                   \
    X(NAME, i64)                                                                                   \
    X(NAME, u8)                                                                                    \
    X(NAME, u16)                                                                                   \
    X(NAME, u32)                                                                                   \
    X(NAME, u64)
#define FLOATS(X, NAME)                                                                            \
    X(NAME, f32)                                                                                   \
    X(NAME, f64)

// The functions of kernels/map/ops.h, by group.
#define ALL2(OP, NAME, ...) INTEGERS(BINARY, NAME) FLOATS(BINARY, NAME)
#define ALL1(OP, NAME, ...) INTEGERS(UNARY, NAME) FLOATS(UNARY, NAME)
#define INT2(OP, NAME, ...) INTEGERS(BINARY, NAME)
#define INT1(OP, NAME, ...) INTEGERS(UNARY, NAME)
#define FLOAT1(OP, NAME, ...) FLOATS(UNARY, NAME)
#define FLOAT2(OP, NAME, ...) FLOATS(BINARY, NAME)
#define FLOAT3(OP, NAME, ...) FLOATS(TERNARY, NAME)
#define TEST(OP, NAME, ...) FLOATS(BYTE, NAME)
PS_MAP_OPS_ALL2(ALL2)
PS_MAP_OPS_ALL1(ALL1)
PS_MAP_OPS_INT2(INT2)
PS_MAP_OPS_INT1(INT1)
PS_MAP_OPS_FLOAT1(FLOAT1)
PS_MAP_OPS_FLOAT2(FLOAT2)
PS_MAP_OPS_FLOAT3(FLOAT3)
PS_MAP_OPS_TEST(TEST)

#define EQUAL(NAME, N) LOOP(NAME, N, unsigned char, a[i] == b[i])
#define UNEQUAL(NAME, N) LOOP(NAME, N, unsigned char, a[i] != b[i])
#define LESS(NAME, N) LOOP(NAME, N, unsigned char, a[i] < b[i])
#define LESS_EQUAL(NAME, N) LOOP(NAME, N, unsigned char, a[i] <= b[i])
INTEGERS(EQUAL, eq)
FLOATS(EQUAL, eq)
INTEGERS(UNEQUAL, ne)
FLOATS(UNEQUAL, ne)
INTEGERS(LESS, lt)
FLOATS(LESS, lt)
INTEGERS(LESS_EQUAL, le)
FLOATS(LESS_EQUAL, le)
INTEGERS(SELECT, select)
FLOATS(SELECT, select)
SELECT(select, b1)
INTEGERS(BYTE, bit_count)
LOOP(and, b1, unsigned char, a[i] & b[i])
LOOP(or, b1, unsigned char, a[i] | b[i])
LOOP(not, b1, unsigned char, a[i] ^ 1)

static void v_cmp_iu(void *to, const void *pa, const void *pb, const void *pc, size_t n)
{
    (void)pc;
    for (size_t i = 0; i < n; i++)
        ((signed char *)to)[i] =
            ps_cmp_iu(((const long long *)pa)[i], ((const unsigned long long *)pb)[i]);
}
static void v_cmp_if(void *to, const void *pa, const void *pb, const void *pc, size_t n)
{
    (void)pc;
    for (size_t i = 0; i < n; i++)
        ((signed char *)to)[i] = ps_cmp_if(((const long long *)pa)[i], ((const double *)pb)[i]);
}
static void v_cmp_uf(void *to, const void *pa, const void *pb, const void *pc, size_t n)
{
    (void)pc;
    for (size_t i = 0; i < n; i++)
        ((signed char *)to)[i] =
            ps_cmp_uf(((const unsigned long long *)pa)[i], ((const double *)pb)[i]);
}

// ---- Halves ----

// The hardware's conversions where there are any; the rest of eight, and other machines, by hand.
#ifdef __F16C__
static size_t widen_eights(float *out, const uint16_t *in, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(in + i))));
    return i;
}
static size_t narrow_eights(uint16_t *out, const float *in, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(out + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
    return i;
}
#else
static size_t widen_eights(float *out, const uint16_t *in, size_t n)
{
    (void)out, (void)in, (void)n;
    return 0;
}
static size_t narrow_eights(uint16_t *out, const float *in, size_t n)
{
    (void)out, (void)in, (void)n;
    return 0;
}
#endif

static void v_half_load(void *to, const void *pa, const void *pb, const void *pc, size_t n)
{
    float *out = to;
    const uint16_t *a = pa;
    (void)pb;
    (void)pc;
    for (size_t i = widen_eights(out, a, n); i < n; i++)
        out[i] = ps_f16_to_f32(a[i]);
}
static void v_half_store(void *to, const void *pa, const void *pb, const void *pc, size_t n)
{
    uint16_t *out = to;
    const float *a = pa;
    (void)pb;
    (void)pc;
    for (size_t i = narrow_eights(out, a, n); i < n; i++)
        out[i] = ps_f32_to_f16(a[i]);
}
static void v_half_f32(void *to, const void *pa, const void *pb, const void *pc, size_t n)
{
    uint16_t halves[256];
    float *out = to;
    const float *a = pa;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < 256 ? n - at : 256;
        v_half_store(halves, a + at, pb, pc, some);
        v_half_load(out + at, halves, pb, pc, some);
    }
}
LOOP(half, f64, float, ps_f16_to_f32(ps_f64_to_f16(a[i])))

// ---- Casts: integers wrap, floats to integers as ps_to_ says, anything to bool is != 0 ----

#define CAST(FROM, TO, EXPRESSION)                                                                 \
    static void CAT(CAT(CAT(c_, FROM), _), TO)(void *to, const void *pa, const void *pb,           \
                                               const void *pc, size_t n)                           \
    {                                                                                              \
        T(TO) *out = to;                                                                           \
        const T(FROM) *a = pa;                                                                     \
        (void)pb;                                                                                  \
        (void)pc;                                                                                  \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = (T(TO))(EXPRESSION);                                                          \
    }
#define CAST_ALL(FROM)                                                                             \
    CAST(FROM, i8, a[i])                                                                           \
    CAST(FROM, i16, a[i])                                                                          \
    CAST(FROM, i32, a[i])                                                                          \
    CAST(FROM, i64, a[i])                                                                          \
    CAST(FROM, u8, a[i])                                                                           \
    CAST(FROM, u16, a[i])                                                                          \
    CAST(FROM, u32, a[i])                                                                          \
    CAST(FROM, u64, a[i])                                                                          \
    CAST(FROM, f32, a[i])                                                                          \
    CAST(FROM, f64, a[i])
#define CAST_FLOAT(FROM)                                                                           \
    CAST(FROM, i8, ps_to_i8(a[i]))                                                                 \
    CAST(FROM, i16, ps_to_i16(a[i]))                                                               \
    CAST(FROM, i32, ps_to_i32(a[i]))                                                               \
    CAST(FROM, i64, ps_to_i64(a[i]))                                                               \
    CAST(FROM, u8, ps_to_u8(a[i]))                                                                 \
    CAST(FROM, u16, ps_to_u16(a[i]))                                                               \
    CAST(FROM, u32, ps_to_u32(a[i]))                                                               \
    CAST(FROM, u64, ps_to_u64(a[i]))                                                               \
    CAST(FROM, f32, a[i])                                                                          \
    CAST(FROM, f64, a[i])
CAST_ALL(b1)
CAST_ALL(i8)
CAST_ALL(i16)
CAST_ALL(i32)
CAST_ALL(i64)
CAST_ALL(u8)
CAST_ALL(u16)
CAST_ALL(u32)
CAST_ALL(u64)
CAST_FLOAT(f32)
CAST_FLOAT(f64)

// ---- Checks ----

// Most blocks have no fault: one look over all is quick, the search for the first is not.
#define FIRST(NAME, N, FAULT)                                                                      \
    static size_t NAME(const void *pa, const void *pb, size_t n)                                   \
    {                                                                                              \
        const T(N) *a = pa, *b = pb;                                                               \
        unsigned char any = 0;                                                                     \
        (void)b;                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            any |= (FAULT);                                                                        \
        for (size_t i = 0; any != 0 && i < n; i++)                                                 \
            if (FAULT)                                                                             \
                return i;                                                                          \
        return n;                                                                                  \
    }
#define OVER(NAME, N) CAT(CAT(CAT(ps_over_, NAME), _), N)
#define OVER1(NAME, N) FIRST(CAT(CAT(CAT(o_, NAME), _), N), N, OVER(NAME, N)(a[i]))
#define OVER2(NAME, N) FIRST(CAT(CAT(CAT(o_, NAME), _), N), N, OVER(NAME, N)(a[i], b[i]))
#define OVERS(OP, NAME, ARGUMENTS) INTEGERS(CAT(OVER, ARGUMENTS), NAME)
PS_MAP_CHECKS(OVERS)

#define LOST(FROM, TO, KIND)                                                                       \
    FIRST(CAT(CAT(CAT(l_, FROM), _), TO), FROM, CAT(CAT(CAT(ps_lost_, TO), _), KIND)(a[i]))
#define LOST_ALL(FROM, KIND)                                                                       \
    LOST(FROM, i8, KIND)                                                                           \
    LOST(FROM, i16, KIND)                                                                          \
    LOST(FROM, i32, KIND)                                                                          \
    LOST(FROM, i64, KIND)                                                                          \
    LOST(FROM, u8, KIND)                                                                           \
    LOST(FROM, u16, KIND)                                                                          \
    LOST(FROM, u32, KIND)                                                                          \
    LOST(FROM, u64, KIND)
LOST_ALL(i8, i)
LOST_ALL(i16, i)
LOST_ALL(i32, i)
LOST_ALL(i64, i)
LOST_ALL(u8, u)
LOST_ALL(u16, u)
LOST_ALL(u32, u)
LOST_ALL(u64, u)
LOST_ALL(f32, f)
LOST_ALL(f64, f)

#define EACH_DTYPE(X)                                                                              \
    X(PS_I8, i8)                                                                                   \
    X(PS_I16, i16)                                                                                 \
    X(PS_I32, i32)                                                                                 \
    X(PS_I64, i64)                                                                                 \
    X(PS_U8, u8)                                                                                   \
    X(PS_U16, u16)                                                                                 \
    X(PS_U32, u32)                                                                                 \
    X(PS_U64, u64)                                                                                 \
    X(PS_F32, f32)                                                                                 \
    X(PS_F64, f64)

#define INT_CELLS(NAME)                                                                            \
    [PS_I8] = v_##NAME##_i8, [PS_I16] = v_##NAME##_i16, [PS_I32] = v_##NAME##_i32,                 \
    [PS_I64] = v_##NAME##_i64, [PS_U8] = v_##NAME##_u8, [PS_U16] = v_##NAME##_u16,                 \
    [PS_U32] = v_##NAME##_u32, [PS_U64] = v_##NAME##_u64
#define FLOAT_CELLS(NAME) [PS_F32] = v_##NAME##_f32, [PS_F64] = v_##NAME##_f64
#define ROW(OP, NAME, ...) [PS_OP_##OP] = {INT_CELLS(NAME), FLOAT_CELLS(NAME)},
#define INT_ROW(OP, NAME, ...) [PS_OP_##OP] = {INT_CELLS(NAME)},
#define FLOAT_ROW(OP, NAME, ...) [PS_OP_##OP] = {FLOAT_CELLS(NAME)},
#define BOOL_ROW(OP, NAME) [PS_OP_##OP] = {[PS_BOOL] = v_##NAME##_b1},
#define OVER_ROW(OP, NAME, ARGUMENTS)                                                              \
    [PS_OP_##                                                                                      \
        OP] = {[PS_I8] = o_##NAME##_i8,   [PS_I16] = o_##NAME##_i16, [PS_I32] = o_##NAME##_i32,    \
               [PS_I64] = o_##NAME##_i64, [PS_U8] = o_##NAME##_u8,   [PS_U16] = o_##NAME##_u16,    \
               [PS_U32] = o_##NAME##_u32, [PS_U64] = o_##NAME##_u64},
#define LOST_ROW(D, N)                                                                             \
    [D] = {[PS_I8] = l_##N##_i8,   [PS_I16] = l_##N##_i16, [PS_I32] = l_##N##_i32,                 \
           [PS_I64] = l_##N##_i64, [PS_U8] = l_##N##_u8,   [PS_U16] = l_##N##_u16,                 \
           [PS_U32] = l_##N##_u32, [PS_U64] = l_##N##_u64},
#define CAST_ROW(D, N)                                                                             \
    [D] = {[PS_I8] = c_##N##_i8,   [PS_I16] = c_##N##_i16, [PS_I32] = c_##N##_i32,                 \
           [PS_I64] = c_##N##_i64, [PS_U8] = c_##N##_u8,   [PS_U16] = c_##N##_u16,                 \
           [PS_U32] = c_##N##_u32, [PS_U64] = c_##N##_u64, [PS_F32] = c_##N##_f32,                 \
           [PS_F64] = c_##N##_f64},

const struct ps_vector_table PS_VECTOR_TABLE = {
    .ops = {PS_MAP_OPS_ALL2(ROW) PS_MAP_OPS_ALL1(ROW) PS_MAP_OPS_INT2(INT_ROW)
                PS_MAP_OPS_INT1(INT_ROW) PS_MAP_OPS_FLOAT1(FLOAT_ROW) PS_MAP_OPS_FLOAT2(FLOAT_ROW)
                    PS_MAP_OPS_FLOAT3(FLOAT_ROW) PS_MAP_OPS_TEST(FLOAT_ROW) ROW(EQ, eq) ROW(NE, ne)
                        ROW(LT, lt) ROW(LE, le) INT_ROW(BIT_COUNT, bit_count) BOOL_ROW(AND, and)
                            BOOL_ROW(OR, or) BOOL_ROW(NOT, not )[PS_OP_SELECT] =
                                {INT_CELLS(select), FLOAT_CELLS(select), [PS_BOOL] = v_select_b1},
            [PS_OP_CMP_IU] = {[PS_I64] = v_cmp_iu}, [PS_OP_CMP_IF] = {[PS_I64] = v_cmp_if},
            [PS_OP_CMP_UF] = {[PS_U64] = v_cmp_uf},
            [PS_OP_HALF] = {[PS_F32] = v_half_f32, [PS_F64] = v_half_f64}},
    .casts = {CAST_ROW(PS_BOOL, b1) EACH_DTYPE(CAST_ROW)},
    .over = {PS_MAP_CHECKS(OVER_ROW)},
    .lost = {EACH_DTYPE(LOST_ROW)},
    .half_load = v_half_load,
    .half_store = v_half_store,
};
