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
        const T(N) *a = pa, *b = pb;                                                               \
        (void)b;                                                                                   \
        (void)pc;                                                                                  \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = (EXPRESSION);                                                                 \
    }

#define BINARY(NAME, N) LOOP(NAME, N, T(N), CAT(CAT(CAT(ps_, NAME), _), N)(a[i], b[i]))
#define UNARY(NAME, N) LOOP(NAME, N, T(N), CAT(CAT(CAT(ps_, NAME), _), N)(a[i]))
#define TEST(NAME, N) LOOP(NAME, N, unsigned char, CAT(CAT(CAT(ps_, NAME), _), N)(a[i]))

// Branch-free by arithmetic on masks: compilers turn the plain ?: into blends at -O3.
#define SELECT(N)                                                                                  \
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

#define EVERY(N)                                                                                   \
    BINARY(add, N)                                                                                 \
    BINARY(sub, N)                                                                                 \
    BINARY(mul, N)                                                                                 \
    BINARY(floordiv, N)                                                                            \
    BINARY(mod, N)                                                                                 \
    BINARY(pow, N)                                                                                 \
    BINARY(min, N)                                                                                 \
    BINARY(max, N)                                                                                 \
    UNARY(neg, N)                                                                                  \
    UNARY(abs, N)                                                                                  \
    UNARY(sign, N)                                                                                 \
    LOOP(eq, N, unsigned char, a[i] == b[i])                                                       \
    LOOP(ne, N, unsigned char, a[i] != b[i])                                                       \
    LOOP(lt, N, unsigned char, a[i] < b[i])                                                        \
    LOOP(le, N, unsigned char, a[i] <= b[i])                                                       \
    SELECT(N)

#define FLOATS(N)                                                                                  \
    BINARY(div, N)                                                                                 \
    BINARY(atan2, N)                                                                               \
    BINARY(hypot, N)                                                                               \
    UNARY(floor, N)                                                                                \
    UNARY(ceil, N)                                                                                 \
    UNARY(round, N)                                                                                \
    UNARY(trunc, N)                                                                                \
    UNARY(sqrt, N)                                                                                 \
    UNARY(exp, N)                                                                                  \
    UNARY(expm1, N)                                                                                \
    UNARY(log, N)                                                                                  \
    UNARY(log10, N)                                                                                \
    UNARY(log2, N)                                                                                 \
    UNARY(log1p, N)                                                                                \
    UNARY(sin, N)                                                                                  \
    UNARY(cos, N)                                                                                  \
    UNARY(tan, N)                                                                                  \
    UNARY(asin, N)                                                                                 \
    UNARY(acos, N)                                                                                 \
    UNARY(atan, N)                                                                                 \
    UNARY(sinh, N)                                                                                 \
    UNARY(cosh, N)                                                                                 \
    UNARY(tanh, N)                                                                                 \
    TEST(isnan, N)                                                                                 \
    TEST(isinf, N)                                                                                 \
    TEST(isfinite, N)

EVERY(i8)
EVERY(i16)
EVERY(i32)
EVERY(i64)
EVERY(u8)
EVERY(u16)
EVERY(u32)
EVERY(u64)
EVERY(f32)
EVERY(f64)
FLOATS(f32)
FLOATS(f64)
SELECT(b1)
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

#define ROW(OP, NAME)                                                                              \
    [PS_OP_##                                                                                      \
        OP] = {[PS_I8] = v_##NAME##_i8,   [PS_I16] = v_##NAME##_i16, [PS_I32] = v_##NAME##_i32,    \
               [PS_I64] = v_##NAME##_i64, [PS_U8] = v_##NAME##_u8,   [PS_U16] = v_##NAME##_u16,    \
               [PS_U32] = v_##NAME##_u32, [PS_U64] = v_##NAME##_u64, [PS_F32] = v_##NAME##_f32,    \
               [PS_F64] = v_##NAME##_f64},
#define FLOAT_ROW(OP, NAME) [PS_OP_##OP] = {[PS_F32] = v_##NAME##_f32, [PS_F64] = v_##NAME##_f64},
#define CAST_ROW(D, N)                                                                             \
    [D] = {[PS_I8] = c_##N##_i8,   [PS_I16] = c_##N##_i16, [PS_I32] = c_##N##_i32,                 \
           [PS_I64] = c_##N##_i64, [PS_U8] = c_##N##_u8,   [PS_U16] = c_##N##_u16,                 \
           [PS_U32] = c_##N##_u32, [PS_U64] = c_##N##_u64, [PS_F32] = c_##N##_f32,                 \
           [PS_F64] = c_##N##_f64},

const struct ps_vector_table PS_VECTOR_TABLE = {
    .ops = {ROW(ADD, add) ROW(SUB, sub) ROW(MUL, mul) ROW(FLOORDIV, floordiv) ROW(MOD, mod)
                ROW(POW, pow) ROW(MIN, min) ROW(MAX, max) ROW(NEG, neg) ROW(ABS, abs)
                    ROW(SIGN, sign) ROW(EQ, eq) ROW(NE, ne) ROW(LT, lt) ROW(LE, le)[PS_OP_SELECT] =
                        {[PS_BOOL] = v_select_b1,
                         [PS_I8] = v_select_i8,
                         [PS_I16] = v_select_i16,
                         [PS_I32] = v_select_i32,
                         [PS_I64] = v_select_i64,
                         [PS_U8] = v_select_u8,
                         [PS_U16] = v_select_u16,
                         [PS_U32] = v_select_u32,
                         [PS_U64] = v_select_u64,
                         [PS_F32] = v_select_f32,
                         [PS_F64] = v_select_f64},
            [PS_OP_AND] = {[PS_BOOL] = v_and_b1}, [PS_OP_OR] = {[PS_BOOL] = v_or_b1},
            [PS_OP_NOT] = {[PS_BOOL] = v_not_b1}, [PS_OP_CMP_IU] = {[PS_I64] = v_cmp_iu},
            [PS_OP_CMP_IF] = {[PS_I64] = v_cmp_if}, [PS_OP_CMP_UF] = {[PS_U64] = v_cmp_uf},
            [PS_OP_HALF] = {[PS_F32] = v_half_f32, [PS_F64] = v_half_f64},
            FLOAT_ROW(DIV, div) FLOAT_ROW(ATAN2, atan2) FLOAT_ROW(HYPOT, hypot) FLOAT_ROW(
                FLOOR, floor) FLOAT_ROW(CEIL, ceil) FLOAT_ROW(ROUND, round) FLOAT_ROW(TRUNC, trunc)
                FLOAT_ROW(SQRT, sqrt) FLOAT_ROW(EXP, exp) FLOAT_ROW(EXPM1, expm1)
                    FLOAT_ROW(LOG, log) FLOAT_ROW(LOG10, log10) FLOAT_ROW(LOG2, log2)
                        FLOAT_ROW(LOG1P, log1p) FLOAT_ROW(SIN, sin) FLOAT_ROW(COS, cos)
                            FLOAT_ROW(TAN, tan) FLOAT_ROW(ASIN, asin) FLOAT_ROW(ACOS, acos)
                                FLOAT_ROW(ATAN, atan) FLOAT_ROW(SINH, sinh) FLOAT_ROW(COSH, cosh)
                                    FLOAT_ROW(TANH, tanh) FLOAT_ROW(ISNAN, isnan)
                                        FLOAT_ROW(ISINF, isinf) FLOAT_ROW(ISFINITE, isfinite)},
    .casts = {CAST_ROW(PS_BOOL, b1) EACH_DTYPE(CAST_ROW)},
    .half_load = v_half_load,
    .half_store = v_half_store,
};
