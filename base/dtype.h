// SPDX-License-Identifier: Apache-2.0
// Element types: names, sizes, NumPy promotion. No conversion of data here.
#ifndef PS_BASE_DTYPE_H
#define PS_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ps_dtype {
    PS_BOOL, // one byte, 0 or 1
    PS_I8,
    PS_I16,
    PS_I32,
    PS_I64,
    PS_U8,
    PS_U16,
    PS_U32,
    PS_U64,
    PS_F16, // IEEE binary16; stored and moved, computed as float32
    PS_F32,
    PS_F64,
    PS_DTYPE_COUNT
};

enum ps_dtype_class { PS_CLASS_BOOL, PS_CLASS_SIGNED, PS_CLASS_UNSIGNED, PS_CLASS_FLOAT };

struct ps_dtype_info {
    const char *name;  // "f32": used in configs, logs and messages
    const char *numpy; // "float32": accepted in configs as well
    const char *c;     // "float": the C and CUDA C type; "unsigned short" for f16
    size_t bytes;
    enum ps_dtype_class kind;
};

const struct ps_dtype_info *ps_dtype_info(enum ps_dtype dtype);
const char *ps_dtype_name(enum ps_dtype dtype);
size_t ps_dtype_bytes(enum ps_dtype dtype);
bool ps_dtype_is_float(enum ps_dtype dtype);
bool ps_dtype_is_integer(enum ps_dtype dtype); // signed or unsigned, not bool

// Accepts both names, and NumPy's type codes without byte order ("f4", "i8").
bool ps_dtype_parse(const char *text, enum ps_dtype *dtype_out);

// numpy.promote_types of two array dtypes (NumPy 2, NEP 50): i64 with u64 gives f64,
// i8 with f16 gives f16, i16 with f16 gives f32, i32 with f32 gives f64.
enum ps_dtype ps_dtype_promote(enum ps_dtype a, enum ps_dtype b);

// IEEE binary16 <-> binary32, round to nearest even, NaN stays NaN.
float ps_f16_to_f32(uint16_t bits);
uint16_t ps_f32_to_f16(float value);
// Straight from binary64: no double rounding.
uint16_t ps_f64_to_f16(double value);

#endif
