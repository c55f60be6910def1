// SPDX-License-Identifier: Apache-2.0
#include "kernels/map/fold.h"

#include <float.h>
#include <math.h>

#define PS_FN static inline __attribute__((unused))
#include "kernels/map/scalar.h"

#include "kernels/map/checked.h"

static double number_of(const struct ps_typed *v)
{
    return v->kind == PS_TYPED_INT ? (double)v->integer : v->number;
}

static const char *integer(int64_t value, struct ps_typed *out)
{
    *out = (struct ps_typed){.kind = PS_TYPED_INT, .integer = value};
    return 0;
}

static const char *number(double value, struct ps_typed *out)
{
    *out = (struct ps_typed){.kind = PS_TYPED_FLOAT, .number = value};
    return 0;
}

static const char *fold_power(int64_t a, int64_t b, struct ps_typed *out)
{
    int64_t r = 1;
    if (b < 0)
        return number(pow((double)a, (double)b), out);
    for (int64_t i = 0; i < b && r != 0 && (a > 1 || a < -1 || i < 2); i++)
        if (__builtin_mul_overflow(r, a, &r))
            return "the constant does not fit 64 bits; write it as a floating point number";
    if (a == 1 || a == 0 || a == -1)
        r = b == 0 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : a;
    return integer(r, out);
}

static const char *fold_integers(enum ps_map_op op, int64_t a, int64_t b, struct ps_typed *out)
{
    int64_t r = 0;
    bool over = false;
    switch (op) {
    case PS_OP_ADD:
        over = __builtin_add_overflow(a, b, &r);
        break;
    case PS_OP_SUB:
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case PS_OP_MUL:
        over = __builtin_mul_overflow(a, b, &r);
        break;
    case PS_OP_NEG:
        over = __builtin_sub_overflow((int64_t)0, a, &r);
        break;
    case PS_OP_ABS:
        over = a < 0 && __builtin_sub_overflow((int64_t)0, a, &r);
        r = a < 0 ? r : a;
        break;
    case PS_OP_POW:
        return fold_power(a, b, out);
    case PS_OP_FLOORDIV:
    case PS_OP_MOD:
        if (b == 0)
            return "division of a constant by zero";
        r = op == PS_OP_MOD ? ps_mod_i64(a, b) : ps_floordiv_i64(a, b);
        break;
    case PS_OP_FMOD:
        if (b == 0)
            return "division of a constant by zero";
        r = ps_fmod_i64(a, b);
        break;
    case PS_OP_MIN:
    case PS_OP_FMIN:
        r = a < b ? a : b;
        break;
    case PS_OP_MAX:
    case PS_OP_FMAX:
        r = a > b ? a : b;
        break;
    default: // SIGN
        r = (a > 0) - (a < 0);
    }
    return over ? "the constant does not fit 64 bits; write it as a floating point number"
                : integer(r, out);
}

static const char *fold_bits(enum ps_map_op op, int64_t a, int64_t b, struct ps_typed *out)
{
    if ((op == PS_OP_SHL || op == PS_OP_SHR) && b < 0)
        return "a shift by a negative count; shift the other way";
    if (op == PS_OP_SHL && a != 0 && (b > 62 || ps_shr_i64(ps_shl_i64(a, b), b) != a))
        return "the constant does not fit 64 bits";
    return integer(op == PS_OP_BITAND   ? ps_bitand_i64(a, b)
                   : op == PS_OP_BITOR  ? ps_bitor_i64(a, b)
                   : op == PS_OP_BITXOR ? ps_bitxor_i64(a, b)
                   : op == PS_OP_BITNOT ? ps_bitnot_i64(a)
                   : op == PS_OP_SHL    ? ps_shl_i64(a, b)
                                        : ps_shr_i64(a, b),
                   out);
}

static const char *fold_clean(const struct ps_typed *v, struct ps_typed *out)
{
    double x = number_of(&v[0]);
    *out = v[0];
    if (isnan(x))
        *out = v[1];
    else if (isinf(x)) {
        const struct ps_typed *other = &v[x > 0 ? 2 : 3];
        if (other->kind == PS_TYPED_NONE)
            return number(x > 0 ? DBL_MAX : -DBL_MAX, out);
        *out = *other;
    }
    return 0;
}

static const char *fold_compare(enum ps_map_op op, const struct ps_typed *a,
                                const struct ps_typed *b, struct ps_typed *out)
{
    double x = number_of(a), y = number_of(b);
    if (a->kind == PS_TYPED_INT && b->kind == PS_TYPED_INT) {
        x = (a->integer > b->integer) - (a->integer < b->integer);
        y = 0;
    }
    return integer(op == PS_OP_EQ   ? x == y
                   : op == PS_OP_NE ? x != y
                   : op == PS_OP_LT ? x < y
                                    : x <= y,
                   out);
}

static const char *fold_logic(enum ps_map_op op, const struct ps_typed *v, struct ps_typed *out)
{
    bool a = number_of(&v[0]) != 0, b = op != PS_OP_NOT && number_of(&v[1]) != 0;
    return integer(op == PS_OP_NOT ? !a : op == PS_OP_AND ? a && b : a || b, out);
}

static double apply(enum ps_map_op op, double a, double b, double c)
{
    switch (op) {
#define PS_CASE1(NAME, name, ...)                                                                  \
    case PS_OP_##NAME:                                                                             \
        return ps_##name##_f64(a);
#define PS_CASE2(NAME, name, ...)                                                                  \
    case PS_OP_##NAME:                                                                             \
        return ps_##name##_f64(a, b);
#define PS_CASE3(NAME, name, ...)                                                                  \
    case PS_OP_##NAME:                                                                             \
        return ps_##name##_f64(a, b, c);
        PS_MAP_OPS_ALL1(PS_CASE1)
        PS_MAP_OPS_FLOAT1(PS_CASE1)
        PS_MAP_OPS_ALL2(PS_CASE2)
        PS_MAP_OPS_FLOAT2(PS_CASE2)
        PS_MAP_OPS_FLOAT3(PS_CASE3)
    default:
        return NAN;
    }
}

static const char *fold_test(enum ps_map_op op, double a, struct ps_typed *out)
{
    return integer(op == PS_OP_ISNAN     ? isnan(a) != 0
                   : op == PS_OP_ISINF   ? isinf(a) != 0
                   : op == PS_OP_SIGNBIT ? signbit(a) != 0
                                         : isfinite(a) != 0,
                   out);
}

const char *ps_fold(enum ps_map_op op, const struct ps_typed *v, struct ps_typed *out)
{
    bool two = ps_op_infos[op].arguments >= 2;
    bool whole = v[0].kind == PS_TYPED_INT && (!two || v[1].kind == PS_TYPED_INT);
    switch (ps_op_infos[op].rule) {
    case PS_RULE_COMPARE:
        return fold_compare(op, &v[0], &v[1], out);
    case PS_RULE_LOGIC:
        return fold_logic(op, v, out);
    case PS_RULE_TEST:
        return fold_test(op, number_of(&v[0]), out);
    case PS_RULE_SELECT:
        *out = number_of(&v[0]) != 0 ? v[1] : v[2];
        return 0;
    case PS_RULE_CLEAN:
        return fold_clean(v, out);
    case PS_RULE_BITS:
        return whole ? fold_bits(op, v[0].integer, two ? v[1].integer : 0, out)
                     : "bits of integers only, and this is a floating point number";
    case PS_RULE_COUNT:
        return whole ? integer(ps_bit_count_i64(v[0].integer), out)
                     : "bits of integers only, and this is a floating point number";
    case PS_RULE_ROUND:
        if (whole)
            return integer(v[0].integer, out);
        break;
    case PS_RULE_ARITHMETIC:
        if (whole)
            return fold_integers(op, v[0].integer, two ? v[1].integer : 0, out);
        break;
    default:
        break;
    }
    bool three = ps_op_infos[op].arguments >= 3;
    return number(
        apply(op, number_of(&v[0]), two ? number_of(&v[1]) : 0, three ? number_of(&v[2]) : 0), out);
}
