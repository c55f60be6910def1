// SPDX-License-Identifier: Apache-2.0
// Typed values: registers, weak constants, and how one becomes another.
#include "kernels/map/map_typer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct ps_typed ps_type_fail(struct ps_typer *t, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!t->failed)
        ps_map_part_fault(t->part, t->node->start, t->node->length, text, t->problems);
    t->failed = true;
    return (struct ps_typed){0};
}

enum ps_dtype ps_type_register(enum ps_dtype dtype)
{
    return dtype == PS_F16 ? PS_F32 : dtype;
}

struct ps_typed ps_type_emit(struct ps_typer *t, struct ps_instruction instruction,
                             enum ps_dtype dtype)
{
    instruction.text = t->part->text;
    instruction.start = t->node->start;
    instruction.length = t->node->length;
    int index = ps_code_add(&t->detail->code, instruction);
    if (index < 0)
        return ps_type_fail(t, "out of memory for the expression");
    return (struct ps_typed){.kind = PS_TYPED_VALUE, .dtype = dtype, .index = index};
}

bool ps_type_integer_fits(int64_t value, enum ps_dtype dtype)
{
    const struct ps_dtype_info *info = ps_dtype_info(dtype);
    int bits = (int)info->bytes * 8;
    if (info->kind == PS_CLASS_UNSIGNED)
        return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
    if (info->kind == PS_CLASS_SIGNED)
        return bits == 64 ||
               (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
    return true;
}

struct ps_typed ps_type_constant(struct ps_typer *t, struct ps_typed v, enum ps_dtype dtype)
{
    struct ps_instruction i = {
        .op = PS_OP_CONST, .dtype = ps_type_register(dtype), .result = ps_type_register(dtype)};
    if (ps_dtype_is_float(dtype))
        i.number = v.kind == PS_TYPED_FLOAT ? v.number : (double)v.integer;
    else
        i.integer = v.integer;
    if (dtype == PS_F32)
        i.number = (double)(float)i.number;
    if (dtype == PS_F16)
        i.number = (double)ps_f16_to_f32(ps_f64_to_f16(i.number));
    return ps_type_emit(t, i, dtype);
}

// Whether a finite constant would become infinite.
static bool overflows(struct ps_typed v, enum ps_dtype dtype)
{
    double x = v.kind == PS_TYPED_INT ? (double)v.integer : v.number;
    double most = dtype == PS_F16 ? 65520 : dtype == PS_F32 ? 0x1.ffffffp127 : INFINITY;
    return isfinite(x) && fabs(x) >= most;
}

struct ps_typed ps_type_cast(struct ps_typer *t, struct ps_typed v, enum ps_dtype dtype)
{
    enum ps_dtype from = ps_type_register(v.dtype), to = ps_type_register(dtype);
    if (t->failed)
        return v;
    if (v.kind != PS_TYPED_VALUE) {
        if (v.kind == PS_TYPED_INT && !ps_type_integer_fits(v.integer, dtype))
            return ps_type_fail(
                t,
                "%lld does not fit %s; write %lld.0 to compute with floating point, or "
                "cast the array to a wider type",
                (long long)v.integer, ps_dtype_name(dtype), (long long)v.integer);
        return overflows(v, dtype)
                   ? ps_type_fail(t, "%g does not fit %s; cast the array to a wider type",
                                  v.kind == PS_TYPED_INT ? (double)v.integer : v.number,
                                  ps_dtype_name(dtype))
                   : ps_type_constant(t, v, dtype);
    }
    if (from != to)
        v = ps_type_emit(
            t, (struct ps_instruction){.op = PS_OP_CAST, .dtype = from, .result = to, .a = v.index},
            dtype);
    v.dtype = dtype;
    return v;
}

enum ps_dtype ps_type_common(struct ps_typed a, struct ps_typed b)
{
    if (a.kind == PS_TYPED_VALUE && b.kind == PS_TYPED_VALUE)
        return ps_dtype_promote(a.dtype, b.dtype);
    if (a.kind != PS_TYPED_VALUE && b.kind != PS_TYPED_VALUE)
        return PS_DTYPE_COUNT;
    struct ps_typed array = a.kind == PS_TYPED_VALUE ? a : b;
    struct ps_typed weak = a.kind == PS_TYPED_VALUE ? b : a;
    if (weak.kind == PS_TYPED_FLOAT)
        return ps_dtype_is_float(array.dtype) ? array.dtype : PS_F64;
    return array.dtype == PS_BOOL ? PS_I64 : array.dtype;
}

enum ps_dtype ps_type_default(struct ps_typed v)
{
    return v.kind == PS_TYPED_VALUE ? v.dtype : v.kind == PS_TYPED_FLOAT ? PS_F64 : PS_I64;
}

// Operations whose result may not fit their integer dtype.
static bool is_checked(enum ps_map_op op, enum ps_dtype dtype)
{
    switch (op) {
#define PS_X(NAME, name, arguments) case PS_OP_##NAME:
        PS_MAP_CHECKS(PS_X)
#undef PS_X
        return ps_dtype_is_integer(dtype);
    default:
        return false;
    }
}

struct ps_typed ps_type_binary(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                               struct ps_typed b, enum ps_dtype dtype, enum ps_dtype result)
{
    a = ps_type_cast(t, a, dtype);
    b = ps_type_cast(t, b, dtype);
    if (t->failed)
        return a;
    return ps_type_emit(t,
                        (struct ps_instruction){.op = op,
                                                .dtype = ps_type_register(dtype),
                                                .result = ps_type_register(result),
                                                .a = a.index,
                                                .b = b.index,
                                                .checked = t->checked && is_checked(op, dtype)},
                        result);
}

struct ps_typed ps_type_unary(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                              enum ps_dtype dtype, enum ps_dtype result)
{
    a = ps_type_cast(t, a, dtype);
    if (t->failed)
        return a;
    return ps_type_emit(t,
                        (struct ps_instruction){.op = op,
                                                .dtype = ps_type_register(dtype),
                                                .result = ps_type_register(result),
                                                .a = a.index,
                                                .checked = t->checked && is_checked(op, dtype)},
                        result);
}
