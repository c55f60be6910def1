// SPDX-License-Identifier: Apache-2.0
// Comparisons, exact whatever the dtypes: where no dtype holds both sides, a three-way comparison
// is made and its outcome compared with what is asked.
#include "kernels/map/map_typer.h"

#include <math.h>

// The result of a three-way comparison (swapped: of b with a) against what op asks.
static struct ps_typed from_three_way(struct ps_typer *t, enum ps_map_op op, struct ps_typed way,
                                      bool swapped)
{
    struct ps_typed zero = {.kind = PS_TYPED_INT}, one = {.kind = PS_TYPED_INT, .integer = 1};
    struct ps_typed minus = {.kind = PS_TYPED_INT, .integer = -1};
    if (op == PS_OP_EQ || op == PS_OP_NE)
        return ps_type_binary(t, op, way, zero, PS_I8, PS_BOOL);
    if (op == PS_OP_LT)
        return ps_type_binary(t, PS_OP_EQ, way, swapped ? one : minus, PS_I8, PS_BOOL);
    if (!swapped) // -1 or 0, not 1, not 2
        return ps_type_binary(t, PS_OP_LE, way, zero, PS_I8, PS_BOOL);
    return ps_type_binary(t, PS_OP_LE, ps_type_cast(t, way, PS_U8), one, PS_U8,
                          PS_BOOL); // 0 or 1; -1 is 255
}

static struct ps_typed three_way(struct ps_typer *t, enum ps_map_op op, enum ps_map_op way,
                                 struct ps_typed a, enum ps_dtype a_dtype, struct ps_typed b,
                                 enum ps_dtype b_dtype, bool swapped)
{
    struct ps_typed x = ps_type_cast(t, a, a_dtype), y = ps_type_cast(t, b, b_dtype);
    if (t->failed)
        return x;
    struct ps_typed result =
        ps_type_emit(t,
                     (struct ps_instruction){
                         .op = way, .dtype = a_dtype, .result = PS_I8, .a = x.index, .b = y.index},
                     PS_I8);
    return from_three_way(t, op, result, swapped);
}

// Whether every value of an integer dtype is exact in a float dtype.
static bool exact_in(enum ps_dtype integer, enum ps_dtype number)
{
    const struct ps_dtype_info *info = ps_dtype_info(integer);
    int bits = (int)info->bytes * 8 - (info->kind == PS_CLASS_SIGNED);
    return bits <= (number == PS_F64 ? 53 : number == PS_F32 ? 24 : 11);
}

static struct ps_typed compare_int_float(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                                         struct ps_typed b)
{
    bool swapped = ps_dtype_is_float(a.dtype);
    struct ps_typed integer = swapped ? b : a, number = swapped ? a : b;
    if (exact_in(integer.dtype, number.dtype))
        return ps_type_binary(t, op, a, b, number.dtype, PS_BOOL);
    if (exact_in(integer.dtype, PS_F64))
        return ps_type_binary(t, op, a, b, PS_F64, PS_BOOL);
    bool natural = integer.dtype == PS_U64;
    return three_way(t, op, natural ? PS_OP_CMP_UF : PS_OP_CMP_IF, integer, integer.dtype, number,
                     PS_F64, swapped);
}

// A literal takes the array's dtype where that holds it exactly; 300 never equals a u8.
static struct ps_typed settle(struct ps_typer *t, struct ps_typed weak, enum ps_dtype other)
{
    if (weak.kind == PS_TYPED_FLOAT)
        return ps_type_constant(t, weak, ps_dtype_is_float(other) ? other : PS_F64);
    if (ps_dtype_is_float(other)) {
        double x = (double)weak.integer;
        bool exact = other == PS_F32 ? (double)(float)x == x : fabs(x) <= 2048;
        return ps_type_constant(t, weak, exact ? other : PS_F64);
    }
    if (other != PS_BOOL && ps_type_integer_fits(weak.integer, other))
        return ps_type_constant(t, weak, other);
    return ps_type_constant(t, weak, PS_I64);
}

struct ps_typed ps_type_compare(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                                struct ps_typed b)
{
    if (a.kind != PS_TYPED_VALUE)
        a = settle(t, a, b.dtype);
    if (b.kind != PS_TYPED_VALUE)
        b = settle(t, b, a.dtype);
    if (t->failed)
        return a;
    bool fa = ps_dtype_is_float(a.dtype), fb = ps_dtype_is_float(b.dtype);
    if (fa != fb && a.dtype != PS_BOOL && b.dtype != PS_BOOL)
        return compare_int_float(t, op, a, b);
    enum ps_dtype dtype = ps_dtype_promote(a.dtype, b.dtype);
    bool mixed = !fa && !fb && ps_dtype_is_float(dtype);
    if (!mixed)
        return ps_type_binary(t, op, a, b, dtype == PS_BOOL ? PS_U8 : dtype, PS_BOOL);
    bool swapped = a.dtype == PS_U64;
    return three_way(t, op, PS_OP_CMP_IU, swapped ? b : a, PS_I64, swapped ? a : b, PS_U64,
                     swapped);
}
