// SPDX-License-Identifier: Apache-2.0
// The operations of the map stage: one list that the parser, the typing rules, the cpu's vector
// code and the CUDA C generator all read.
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
    PS_RULE_SELECT,     // truth value, then two promoted ones
    PS_RULE_NONE,       // made by the compiler only
};

// X(name, word in expressions or NULL, arguments, rule)
#define PS_MAP_OPS(X)                                                                              \
    X(ADD, 0, 2, ARITHMETIC)                                                                       \
    X(SUB, 0, 2, ARITHMETIC)                                                                       \
    X(MUL, 0, 2, ARITHMETIC)                                                                       \
    X(DIV, 0, 2, DIVIDE)                                                                           \
    X(FLOORDIV, 0, 2, ARITHMETIC)                                                                  \
    X(MOD, 0, 2, ARITHMETIC)                                                                       \
    X(POW, "pow", 2, ARITHMETIC)                                                                   \
    X(MIN, "min", 2, ARITHMETIC)                                                                   \
    X(MAX, "max", 2, ARITHMETIC)                                                                   \
    X(NEG, 0, 1, ARITHMETIC)                                                                       \
    X(ABS, "abs", 1, ARITHMETIC)                                                                   \
    X(SIGN, "sign", 1, ARITHMETIC)                                                                 \
    X(EQ, 0, 2, COMPARE)                                                                           \
    X(NE, 0, 2, COMPARE)                                                                           \
    X(LT, 0, 2, COMPARE)                                                                           \
    X(LE, 0, 2, COMPARE)                                                                           \
    X(AND, 0, 2, LOGIC)                                                                            \
    X(OR, 0, 2, LOGIC)                                                                             \
    X(NOT, 0, 1, LOGIC)                                                                            \
    X(SELECT, "where", 3, SELECT)                                                                  \
    X(FLOOR, "floor", 1, ROUND)                                                                    \
    X(CEIL, "ceil", 1, ROUND)                                                                      \
    X(ROUND, "round", 1, ROUND)                                                                    \
    X(TRUNC, "trunc", 1, ROUND)                                                                    \
    X(ISNAN, "isnan", 1, TEST)                                                                     \
    X(ISINF, "isinf", 1, TEST)                                                                     \
    X(ISFINITE, "isfinite", 1, TEST)                                                               \
    X(SQRT, "sqrt", 1, FLOAT)                                                                      \
    X(EXP, "exp", 1, FLOAT)                                                                        \
    X(EXPM1, "expm1", 1, FLOAT)                                                                    \
    X(LOG, "log", 1, FLOAT)                                                                        \
    X(LOG10, "log10", 1, FLOAT)                                                                    \
    X(LOG2, "log2", 1, FLOAT)                                                                      \
    X(LOG1P, "log1p", 1, FLOAT)                                                                    \
    X(SIN, "sin", 1, FLOAT)                                                                        \
    X(COS, "cos", 1, FLOAT)                                                                        \
    X(TAN, "tan", 1, FLOAT)                                                                        \
    X(ASIN, "asin", 1, FLOAT)                                                                      \
    X(ACOS, "acos", 1, FLOAT)                                                                      \
    X(ATAN, "atan", 1, FLOAT)                                                                      \
    X(SINH, "sinh", 1, FLOAT)                                                                      \
    X(COSH, "cosh", 1, FLOAT)                                                                      \
    X(TANH, "tanh", 1, FLOAT)                                                                      \
    X(ATAN2, "atan2", 2, FLOAT)                                                                    \
    X(HYPOT, "hypot", 2, FLOAT)                                                                    \
    X(CMP_IU, 0, 2, NONE) /* i64, u64 -> i8: -1, 0, 1 */                                           \
    X(CMP_IF, 0, 2, NONE) /* i64, f64 -> i8: -1, 0, 1, or 2 when unordered */                      \
    X(CMP_UF, 0, 2, NONE) /* u64, f64 -> i8 */                                                     \
    X(HALF, 0, 1, NONE)   /* f32 -> f32: rounded to the nearest binary16 */                        \
    X(CAST, 0, 1, NONE)   /* register dtype to register dtype */                                   \
    X(LOAD, 0, 0, NONE)                                                                            \
    X(CONST, 0, 0, NONE)

enum ps_map_op {
#define PS_X(name, word, arguments, rule) PS_OP_##name,
    PS_MAP_OPS(PS_X)
#undef PS_X
        PS_OP_COUNT
};

struct ps_op_info {
    const char *name; // "ADD"
    const char *word; // the function's name in expressions, or NULL
    int arguments;
    enum ps_op_rule rule;
};
extern const struct ps_op_info ps_op_infos[PS_OP_COUNT];

#endif
