// SPDX-License-Identifier: Apache-2.0
// The dtype table and NumPy's promotion rules.
#include "base/dtype.h"

#include <stdio.h>
#include <string.h>

static const struct ps_dtype_info table[PS_DTYPE_COUNT] = {
    [PS_BOOL] = {"bool", "bool_", "unsigned char", 1, PS_CLASS_BOOL},
    [PS_I8] = {"i8", "int8", "signed char", 1, PS_CLASS_SIGNED},
    [PS_I16] = {"i16", "int16", "short", 2, PS_CLASS_SIGNED},
    [PS_I32] = {"i32", "int32", "int", 4, PS_CLASS_SIGNED},
    [PS_I64] = {"i64", "int64", "long long", 8, PS_CLASS_SIGNED},
    [PS_U8] = {"u8", "uint8", "unsigned char", 1, PS_CLASS_UNSIGNED},
    [PS_U16] = {"u16", "uint16", "unsigned short", 2, PS_CLASS_UNSIGNED},
    [PS_U32] = {"u32", "uint32", "unsigned int", 4, PS_CLASS_UNSIGNED},
    [PS_U64] = {"u64", "uint64", "unsigned long long", 8, PS_CLASS_UNSIGNED},
    [PS_F16] = {"f16", "float16", "unsigned short", 2, PS_CLASS_FLOAT},
    [PS_F32] = {"f32", "float32", "float", 4, PS_CLASS_FLOAT},
    [PS_F64] = {"f64", "float64", "double", 8, PS_CLASS_FLOAT},
};

const struct ps_dtype_info *ps_dtype_info(enum ps_dtype dtype)
{
    return &table[dtype];
}

const char *ps_dtype_name(enum ps_dtype dtype)
{
    return table[dtype].name;
}

size_t ps_dtype_bytes(enum ps_dtype dtype)
{
    return table[dtype].bytes;
}

bool ps_dtype_is_float(enum ps_dtype dtype)
{
    return table[dtype].kind == PS_CLASS_FLOAT;
}

bool ps_dtype_is_integer(enum ps_dtype dtype)
{
    return table[dtype].kind == PS_CLASS_SIGNED || table[dtype].kind == PS_CLASS_UNSIGNED;
}

// NumPy's codes count bytes where our names count bits: "f4", "i8" is int64 there but i8 here.
// The short name wins, so of the codes only those that are no name of ours are taken.
bool ps_dtype_parse(const char *text, enum ps_dtype *dtype_out)
{
    static const struct {
        const char *code;
        enum ps_dtype dtype;
    } codes[] = {{"f2", PS_F16}, {"f4", PS_F32}, {"f8", PS_F64}, {"i1", PS_I8},  {"i2", PS_I16},
                 {"i4", PS_I32}, {"u1", PS_U8},  {"u2", PS_U16}, {"u4", PS_U32}, {"b1", PS_BOOL}};
    for (int i = 0; i < PS_DTYPE_COUNT; i++) {
        if (strcmp(text, table[i].name) == 0 || strcmp(text, table[i].numpy) == 0) {
            *dtype_out = (enum ps_dtype)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (strcmp(text, codes[i].code) == 0) {
            *dtype_out = codes[i].dtype;
            return true;
        }
    }
    return false;
}

static enum ps_dtype of_class(enum ps_dtype_class class, size_t bytes)
{
    for (int i = 0; i < PS_DTYPE_COUNT; i++)
        if (table[i].kind == class && table[i].bytes == bytes)
            return (enum ps_dtype)i;
    return PS_F64; // wider than any integer: NumPy goes to float64
}

static enum ps_dtype float_holding(size_t integer_bytes)
{
    return integer_bytes == 1 ? PS_F16 : integer_bytes == 2 ? PS_F32 : PS_F64;
}

enum ps_dtype ps_dtype_promote(enum ps_dtype a, enum ps_dtype b)
{
    const struct ps_dtype_info *x = &table[a], *y = &table[b];
    if (x->kind == PS_CLASS_BOOL)
        return b;
    if (y->kind == PS_CLASS_BOOL)
        return a;
    if (x->kind == y->kind)
        return x->bytes >= y->bytes ? a : b;
    if (y->kind == PS_CLASS_FLOAT)
        return ps_dtype_promote(b, a);
    if (x->kind == PS_CLASS_FLOAT) {
        enum ps_dtype needed = float_holding(y->bytes);
        return table[needed].bytes > x->bytes ? needed : a;
    }
    // One signed, one unsigned: the smallest signed that holds both.
    size_t is = x->kind == PS_CLASS_SIGNED ? x->bytes : y->bytes;
    size_t iu = x->kind == PS_CLASS_SIGNED ? y->bytes : x->bytes;
    return of_class(PS_CLASS_SIGNED, is > iu ? is : 2 * iu);
}
