// SPDX-License-Identifier: Apache-2.0
// The operations of the map stage: one list that the parser, the typing rules, the cpu's vector
// code and the CUDA C generator all read. What NAME computes for dtype N is ps_name_N of scalar.h.
#ifndef PS_KERNELS_MAP_OPS_H
#define PS_KERNELS_MAP_OPS_H

// How an operation's arguments are brought to one dtype and what comes out.
enum ps_op_rule {
    PS_RULE_ARITHMETIC, // promoted; bool counts as i8; same dtype out
    PS_RULE_DIVIDE,     // promoted; integers become f64
    PS_RULE_COMPARE,    // exact over mixed dtypes; bool out
    PS_RULE_LOGIC,      // arguments as truth values; bool out
    PS_RULE_FLOAT,      // integers become f16, f32 or f64 by their size (NumPy's rule)
    PS_RULE_ROUND,      // integers stay as they are; floats are rounded
    PS_RULE_TEST,       // floats tested; bool out
    PS_RULE_BITS,       // promoted integers, bools as they are; same dtype out
    PS_RULE_COUNT,      // an integer; u8 out
    PS_RULE_SELECT,     // truth value, then two promoted ones
    PS_RULE_CLEAN,      // a float and what stands for its NaN and infinities; becomes selections
    PS_RULE_NONE,       // made by the compiler only
};

// X(NAME, name, word in expressions or "", arguments, rule), grouped by the dtypes there is code
// for. Of numbers of every dtype:
#define PS_MAP_OPS_ALL2(X)                                                                         \
    X(ADD, add, "", 2, ARITHMETIC)                                                                 \
    X(SUB, sub, "", 2, ARITHMETIC)                                                                 \
    X(MUL, mul, "", 2, ARITHMETIC)                                                                 \
    X(FLOORDIV, floordiv, "", 2, ARITHMETIC)                                                       \
    X(MOD, mod, "", 2, ARITHMETIC)                                                                 \
    X(FMOD, fmod, "fmod", 2, ARITHMETIC)                                                           \
    X(POW, pow, "pow", 2, ARITHMETIC)                                                              \
    X(MIN, min, "min", 2, ARITHMETIC)                                                              \
    X(MAX, max, "max", 2, ARITHMETIC)                                                              \
    X(FMIN, fmin, "fmin", 2, ARITHMETIC)                                                           \
    X(FMAX, fmax, "fmax", 2, ARITHMETIC)
#define PS_MAP_OPS_ALL1(X)                                                                         \
    X(NEG, neg, "", 1, ARITHMETIC)                                                                 \
    X(ABS, abs, "abs", 1, ARITHMETIC)                                                              \
    X(SIGN, sign, "sign", 1, ARITHMETIC)
// Of integers.
#define PS_MAP_OPS_INT2(X)                                                                         \
    X(BITAND, bitand, "", 2, BITS)                                                                 \
    X(BITOR, bitor, "", 2, BITS)                                                                   \
    X(BITXOR, bitxor, "", 2, BITS)                                                                 \
    X(SHL, shl, "", 2, BITS)                                                                       \
    X(SHR, shr, "", 2, BITS)
#define PS_MAP_OPS_INT1(X) X(BITNOT, bitnot, "", 1, BITS)
// Of f32 and f64.
#define PS_MAP_OPS_FLOAT1(X)                                                                       \
    X(FLOOR, floor, "floor", 1, ROUND)                                                             \
    X(CEIL, ceil, "ceil", 1, ROUND)                                                                \
    X(ROUND, round, "round", 1, ROUND)                                                             \
    X(TRUNC, trunc, "trunc", 1, ROUND)                                                             \
    X(SQRT, sqrt, "sqrt", 1, FLOAT)                                                                \
    X(CBRT, cbrt, "cbrt", 1, FLOAT)                                                                \
    X(EXP, exp, "exp", 1, FLOAT)                                                                   \
    X(EXP2, exp2, "exp2", 1, FLOAT)                                                                \
    X(EXPM1, expm1, "expm1", 1, FLOAT)                                                             \
    X(LOG, log, "log", 1, FLOAT)                                                                   \
    X(LOG10, log10, "log10", 1, FLOAT)                                                             \
    X(LOG2, log2, "log2", 1, FLOAT)                                                                \
    X(LOG1P, log1p, "log1p", 1, FLOAT)                                                             \
    X(SIN, sin, "sin", 1, FLOAT)                                                                   \
    X(COS, cos, "cos", 1, FLOAT)                                                                   \
    X(TAN, tan, "tan", 1, FLOAT)                                                                   \
    X(ASIN, asin, "asin", 1, FLOAT)                                                                \
    X(ACOS, acos, "acos", 1, FLOAT)                                                                \
    X(ATAN, atan, "atan", 1, FLOAT)                                                                \
    X(SINH, sinh, "sinh", 1, FLOAT)                                                                \
    X(COSH, cosh, "cosh", 1, FLOAT)                                                                \
    X(TANH, tanh, "tanh", 1, FLOAT)                                                                \
    X(ASINH, asinh, "asinh", 1, FLOAT)                                                             \
    X(ACOSH, acosh, "acosh", 1, FLOAT)                                                             \
    X(ATANH, atanh, "atanh", 1, FLOAT)                                                             \
    X(ERF, erf, "erf", 1, FLOAT)                                                                   \
    X(ERFC, erfc, "erfc", 1, FLOAT)                                                                \
    X(GAMMA, gamma, "gamma", 1, FLOAT)                                                             \
    X(LGAMMA, lgamma, "lgamma", 1, FLOAT)                                                          \
    X(DEGREES, degrees, "degrees", 1, FLOAT)                                                       \
    X(RADIANS, radians, "radians", 1, FLOAT)
#define PS_MAP_OPS_FLOAT2(X)                                                                       \
    X(DIV, div, "", 2, DIVIDE)                                                                     \
    X(ATAN2, atan2, "atan2", 2, FLOAT)                                                             \
    X(HYPOT, hypot, "hypot", 2, FLOAT)                                                             \
    X(COPYSIGN, copysign, "copysign", 2, FLOAT)                                                    \
    X(NEXTAFTER, nextafter, "nextafter", 2, FLOAT)                                                 \
    X(HEAVISIDE, heaviside, "heaviside", 2, FLOAT)
#define PS_MAP_OPS_FLOAT3(X) X(FMA, fma, "fma", 3, FLOAT)
#define PS_MAP_OPS_TEST(X)                                                                         \
    X(ISNAN, isnan, "isnan", 1, TEST)                                                              \
    X(ISINF, isinf, "isinf", 1, TEST)                                                              \
    X(ISFINITE, isfinite, "isfinite", 1, TEST)                                                     \
    X(SIGNBIT, signbit, "signbit", 1, TEST)
// The rest are written out where they are needed.
#define PS_MAP_OPS_OTHER(X)                                                                        \
    X(EQ, eq, "", 2, COMPARE)                                                                      \
    X(NE, ne, "", 2, COMPARE)                                                                      \
    X(LT, lt, "", 2, COMPARE)                                                                      \
    X(LE, le, "", 2, COMPARE)                                                                      \
    X(AND, and, "", 2, LOGIC)                                                                      \
    X(OR, or, "", 2, LOGIC)                                                                        \
    X(NOT, not, "", 1, LOGIC)                                                                      \
    X(BIT_COUNT, bit_count, "bit_count", 1, COUNT)                                                 \
    X(SELECT, select, "where", 3, SELECT)                                                          \
    X(NAN_TO_NUM, nan_to_num, "", 4, CLEAN)                                                        \
    X(CMP_IU, cmp_iu, "", 2, NONE) /* i64, u64 -> i8: -1, 0, 1 */                                  \
    X(CMP_IF, cmp_if, "", 2, NONE) /* i64, f64 -> i8: -1, 0, 1, or 2 when unordered */             \
    X(CMP_UF, cmp_uf, "", 2, NONE) /* u64, f64 -> i8 */                                            \
    X(HALF, half, "", 1, NONE)     /* f32, f64 -> f32: rounded to the nearest binary16 */          \
    X(CAST, cast, "", 1, NONE)     /* register dtype to register dtype */                          \
    X(INDEX, index, "", 0, NONE)   /* the row's number, or the index along an axis */              \
    X(LOOKUP, lookup, "", 1, NONE) /* an element of a whole array */                               \
    X(INTERP, interp, "", 1, NONE) /* linear, between the elements of two whole arrays */          \
    X(LOAD, load, "", 0, NONE)                                                                     \
    X(CONST, const, "", 0, NONE)
#define PS_MAP_OPS(X)                                                                              \
    PS_MAP_OPS_ALL2(X)                                                                             \
    PS_MAP_OPS_ALL1(X)                                                                             \
    PS_MAP_OPS_INT2(X)                                                                             \
    PS_MAP_OPS_INT1(X)                                                                             \
    PS_MAP_OPS_FLOAT1(X)                                                                           \
    PS_MAP_OPS_FLOAT2(X)                                                                           \
    PS_MAP_OPS_FLOAT3(X)                                                                           \
    PS_MAP_OPS_TEST(X)                                                                             \
    PS_MAP_OPS_OTHER(X)

// Those that `checked` looks at, by their arguments: ps_over_name_N of scalar.h tells whether the
// result does not fit, or there is none.
#define PS_MAP_CHECKS(X)                                                                           \
    X(ADD, add, 2)                                                                                 \
    X(SUB, sub, 2)                                                                                 \
    X(MUL, mul, 2)                                                                                 \
    X(FLOORDIV, floordiv, 2)                                                                       \
    X(MOD, mod, 2)                                                                                 \
    X(FMOD, fmod, 2)                                                                               \
    X(POW, pow, 2)                                                                                 \
    X(SHL, shl, 2)                                                                                 \
    X(SHR, shr, 2)                                                                                 \
    X(NEG, neg, 1)                                                                                 \
    X(ABS, abs, 1)

enum ps_map_op {
#define PS_X(NAME, name, word, arguments, rule) PS_OP_##NAME,
    PS_MAP_OPS(PS_X)
#undef PS_X
        PS_OP_COUNT
};

#define PS_OP_ARGUMENTS_MAX 4

struct ps_op_info {
    const char *name; // "add": the name of its functions
    const char *word; // the function's name in expressions, or ""
    int arguments;
    enum ps_op_rule rule;
};
extern const struct ps_op_info ps_op_infos[PS_OP_COUNT];

#endif
