// SPDX-License-Identifier: Apache-2.0
// What dtype each kind of operation computes in and gives (enum ps_op_rule): NumPy 2's rules.
#include "kernels/map/map_typer.h"

#include <float.h>
#include <math.h>

static struct ps_typed arithmetic(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                                  struct ps_typed b)
{
    bool two = ps_op_infos[op].arguments == 2;
    enum ps_dtype dtype = two ? ps_type_common(a, b) : ps_type_default(a);
    bool least = op == PS_OP_MIN || op == PS_OP_FMIN;
    if (dtype == PS_BOOL && (least || op == PS_OP_MAX || op == PS_OP_FMAX))
        return ps_type_binary(t, least ? PS_OP_AND : PS_OP_OR, a, b, PS_BOOL, PS_BOOL);
    dtype = dtype == PS_BOOL ? PS_I8 : dtype;
    if (op == PS_OP_POW && ps_dtype_is_integer(dtype) && b.kind == PS_TYPED_INT && b.integer < 0)
        return ps_type_fail(t,
                            "an integer array to a negative power has no integer result; write the "
                            "exponent as %lld.0",
                            (long long)b.integer);
    bool square = op == PS_OP_POW && ((b.kind == PS_TYPED_INT && b.integer == 2) ||
                                      (b.kind == PS_TYPED_FLOAT && b.number == 2));
    if (square && a.kind == PS_TYPED_VALUE)
        return ps_type_binary(t, PS_OP_MUL, a, a, dtype, dtype);
    return two ? ps_type_binary(t, op, a, b, dtype, dtype) : ps_type_unary(t, op, a, dtype, dtype);
}

static struct ps_typed divide(struct ps_typer *t, struct ps_typed a, struct ps_typed b)
{
    enum ps_dtype dtype = ps_type_common(a, b);
    dtype = ps_dtype_is_float(dtype) ? dtype : PS_F64;
    return ps_type_binary(t, PS_OP_DIV, a, b, dtype, dtype);
}

// NumPy's unary functions of integers: the smallest float that holds every value.
static enum ps_dtype float_for(enum ps_dtype dtype)
{
    if (ps_dtype_is_float(dtype))
        return dtype;
    size_t bytes = ps_dtype_bytes(dtype);
    return bytes == 1 ? PS_F16 : bytes == 2 ? PS_F32 : PS_F64;
}

static struct ps_typed fused(struct ps_typer *t, const struct ps_typed *v, enum ps_dtype dtype)
{
    struct ps_typed a = ps_type_cast(t, v[0], dtype), b = ps_type_cast(t, v[1], dtype);
    struct ps_typed c = ps_type_cast(t, v[2], dtype);
    enum ps_dtype in = ps_type_register(dtype);
    if (t->failed)
        return a;
    return ps_type_emit(
        t,
        (struct ps_instruction){
            .op = PS_OP_FMA, .dtype = in, .result = in, .a = a.index, .b = b.index, .c = c.index},
        dtype);
}

// What a and b are computed in, as far as that is known of two constants.
static struct ps_typed together(struct ps_typed a, struct ps_typed b)
{
    enum ps_dtype dtype = ps_type_common(a, b);
    if (dtype == PS_DTYPE_COUNT)
        return a.kind == PS_TYPED_FLOAT ? a : b;
    return (struct ps_typed){.kind = PS_TYPED_VALUE, .dtype = dtype};
}

static struct ps_typed floating(struct ps_typer *t, enum ps_map_op op, const struct ps_typed *v)
{
    int count = ps_op_infos[op].arguments;
    bool arrays = true;
    for (int i = 0; i < count; i++)
        arrays = arrays && v[i].kind == PS_TYPED_VALUE;
    // Each array's own float, as i8 and u8 fit f16 both; a literal goes by the array beside it.
    struct ps_typed all = v[0];
    all.dtype = arrays ? float_for(all.dtype) : all.dtype;
    for (int i = 1; i < count; i++) {
        struct ps_typed next = v[i];
        next.dtype = arrays ? float_for(next.dtype) : next.dtype;
        all = together(all, next);
    }
    enum ps_dtype dtype = float_for(all.dtype);
    if (op == PS_OP_NEXTAFTER && dtype == PS_F16)
        return ps_type_fail(t, "nextafter in f16, which is computed as f32: cast to f32 or f64");
    if (count == 3)
        return fused(t, v, dtype);
    return count == 2 ? ps_type_binary(t, op, v[0], v[1], dtype, dtype)
                      : ps_type_unary(t, op, v[0], dtype, dtype);
}

struct ps_typed ps_type_truth(struct ps_typer *t, struct ps_typed v)
{
    struct ps_typed zero = {.kind = PS_TYPED_INT};
    enum ps_dtype dtype = ps_type_default(v);
    if (v.kind == PS_TYPED_VALUE && dtype == PS_BOOL)
        return v;
    return ps_type_binary(t, PS_OP_NE, v, zero, dtype, PS_BOOL);
}

static struct ps_typed logic(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                             struct ps_typed b)
{
    a = ps_type_truth(t, a);
    if (op == PS_OP_NOT)
        return ps_type_unary(t, op, a, PS_BOOL, PS_BOOL);
    b = ps_type_truth(t, b);
    return ps_type_binary(t, op, a, b, PS_BOOL, PS_BOOL);
}

struct ps_typed ps_type_choose(struct ps_typer *t, struct ps_typed condition, struct ps_typed a,
                               struct ps_typed b)
{
    enum ps_dtype dtype = ps_type_common(a, b);
    if (dtype == PS_DTYPE_COUNT)
        dtype = ps_dtype_promote(ps_type_default(a), ps_type_default(b));
    condition = ps_type_truth(t, condition);
    a = ps_type_cast(t, a, dtype);
    b = ps_type_cast(t, b, dtype);
    if (t->failed)
        return a;
    return ps_type_emit(t,
                        (struct ps_instruction){.op = PS_OP_SELECT,
                                                .dtype = ps_type_register(dtype),
                                                .result = ps_type_register(dtype),
                                                .a = condition.index,
                                                .b = a.index,
                                                .c = b.index},
                        dtype);
}

static struct ps_typed no_bits(struct ps_typer *t, struct ps_typed a, struct ps_typed b)
{
    const char *hint = t->node->op == PS_OP_BITXOR ? "; a power is **" : "; logic is and, or, not";
    if (ps_dtype_is_float(ps_type_default(a)) || ps_dtype_is_float(ps_type_default(b)))
        return ps_type_fail(t, "bits are those of integers and bools, and this is %s%s",
                            ps_dtype_name(ps_dtype_is_float(ps_type_default(a))
                                              ? ps_type_default(a)
                                              : ps_type_default(b)),
                            hint);
    return ps_type_fail(t, "%s and %s have no integer dtype in common: cast one of them",
                        ps_dtype_name(ps_type_default(a)), ps_dtype_name(ps_type_default(b)));
}

static struct ps_typed shift(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                             struct ps_typed b, enum ps_dtype dtype)
{
    if (b.kind == PS_TYPED_INT && b.integer < 0)
        return ps_type_fail(t, "a shift by a negative count; shift the other way");
    if (b.kind == PS_TYPED_INT && b.integer > 64)
        b.integer = 64; // whatever the dtype: all bits are out
    return ps_type_binary(t, op, a, b, dtype, dtype);
}

static struct ps_typed bits(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                            struct ps_typed b)
{
    bool two = ps_op_infos[op].arguments == 2;
    enum ps_dtype dtype = two ? ps_type_common(a, b) : ps_type_default(a);
    if (ps_dtype_is_float(dtype))
        return no_bits(t, a, two ? b : a);
    if (op == PS_OP_SHL || op == PS_OP_SHR)
        return shift(t, op, a, b, dtype == PS_BOOL ? PS_I8 : dtype);
    if (dtype == PS_BOOL && op == PS_OP_BITXOR)
        return ps_type_binary(t, PS_OP_NE, a, b, PS_U8, PS_BOOL);
    if (dtype == PS_BOOL)
        op = op == PS_OP_BITAND ? PS_OP_AND : op == PS_OP_BITOR ? PS_OP_OR : PS_OP_NOT;
    return two ? ps_type_binary(t, op, a, b, dtype, dtype) : ps_type_unary(t, op, a, dtype, dtype);
}

static struct ps_typed count_bits(struct ps_typer *t, struct ps_typed a)
{
    if (ps_dtype_is_float(a.dtype))
        return no_bits(t, a, a);
    return ps_type_unary(t, PS_OP_BIT_COUNT, a, a.dtype == PS_BOOL ? PS_U8 : a.dtype, PS_U8);
}

// NaN, the infinities of either sign, else x itself. Nothing given for an infinity: the largest
// number of the dtype.
static struct ps_typed clean(struct ps_typer *t, const struct ps_typed *v)
{
    struct ps_typed x = v[0], infinity = {.kind = PS_TYPED_FLOAT};
    if (x.kind != PS_TYPED_VALUE)
        x = ps_type_constant(t, x, PS_F64);
    if (t->failed || !ps_dtype_is_float(x.dtype))
        return x;
    double most = x.dtype == PS_F16 ? 65504 : x.dtype == PS_F32 ? FLT_MAX : DBL_MAX;
    struct ps_typed result = x;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct ps_typed other = v[sign > 0 ? 2 : 3];
        if (other.kind == PS_TYPED_NONE)
            other = (struct ps_typed){.kind = PS_TYPED_FLOAT, .number = sign * most};
        infinity.number = sign * (double)INFINITY;
        result = ps_type_choose(t, ps_type_compare(t, PS_OP_EQ, x, infinity), other, result);
    }
    return ps_type_choose(t, ps_type_unary(t, PS_OP_ISNAN, x, x.dtype, PS_BOOL), v[1], result);
}

static struct ps_typed test(struct ps_typer *t, enum ps_map_op op, struct ps_typed a)
{
    if (ps_dtype_is_float(a.dtype))
        return ps_type_unary(t, op, a, a.dtype, PS_BOOL);
    if (op == PS_OP_SIGNBIT)
        return ps_type_compare(t, PS_OP_LT, a, (struct ps_typed){.kind = PS_TYPED_INT});
    // An integer is never NaN or infinite, whatever it is: compare it with itself.
    return ps_type_binary(t, op == PS_OP_ISFINITE ? PS_OP_EQ : PS_OP_NE, a, a,
                          a.dtype == PS_BOOL ? PS_U8 : a.dtype, PS_BOOL);
}

struct ps_typed ps_type_apply(struct ps_typer *t, enum ps_map_op op, const struct ps_typed *v)
{
    switch (ps_op_infos[op].rule) {
    case PS_RULE_ARITHMETIC:
        return arithmetic(t, op, v[0], v[1]);
    case PS_RULE_DIVIDE:
        return divide(t, v[0], v[1]);
    case PS_RULE_COMPARE:
        return ps_type_compare(t, op, v[0], v[1]);
    case PS_RULE_LOGIC:
        return logic(t, op, v[0], v[1]);
    case PS_RULE_FLOAT:
        return floating(t, op, v);
    case PS_RULE_ROUND:
        return ps_dtype_is_float(v[0].dtype) ? ps_type_unary(t, op, v[0], v[0].dtype, v[0].dtype)
                                             : v[0];
    case PS_RULE_TEST:
        return test(t, op, v[0]);
    case PS_RULE_BITS:
        return bits(t, op, v[0], v[1]);
    case PS_RULE_COUNT:
        return count_bits(t, v[0]);
    case PS_RULE_CLEAN:
        return clean(t, v);
    case PS_RULE_SELECT:
        return ps_type_choose(t, v[0], v[1], v[2]);
    default:
        return ps_type_fail(t, "an operation that expressions cannot name");
    }
}
