// SPDX-License-Identifier: Apache-2.0
// What dtype each kind of operation computes in and gives (enum ps_op_rule): NumPy 2's rules.
#include "kernels/map/map_typer.h"

static struct ps_typed arithmetic(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                                  struct ps_typed b)
{
    bool two = ps_op_infos[op].arguments == 2;
    enum ps_dtype dtype = two ? ps_type_common(a, b) : ps_type_default(a);
    if (dtype == PS_BOOL && (op == PS_OP_MIN || op == PS_OP_MAX))
        return ps_type_binary(t, op == PS_OP_MIN ? PS_OP_AND : PS_OP_OR, a, b, PS_BOOL, PS_BOOL);
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

static struct ps_typed floating(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                                struct ps_typed b)
{
    bool two = ps_op_infos[op].arguments == 2;
    enum ps_dtype dtype = float_for(two ? ps_type_common(a, b) : a.dtype);
    return two ? ps_type_binary(t, op, a, b, dtype, dtype) : ps_type_unary(t, op, a, dtype, dtype);
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

static struct ps_typed choose(struct ps_typer *t, struct ps_typed condition, struct ps_typed a,
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

static struct ps_typed test(struct ps_typer *t, enum ps_map_op op, struct ps_typed a)
{
    if (ps_dtype_is_float(a.dtype))
        return ps_type_unary(t, op, a, a.dtype, PS_BOOL);
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
        return floating(t, op, v[0], v[1]);
    case PS_RULE_ROUND:
        return ps_dtype_is_float(v[0].dtype) ? ps_type_unary(t, op, v[0], v[0].dtype, v[0].dtype)
                                             : v[0];
    case PS_RULE_TEST:
        return test(t, op, v[0]);
    case PS_RULE_SELECT:
        return choose(t, v[0], v[1], v[2]);
    default:
        return ps_type_fail(t, "an operation that expressions cannot name");
    }
}
