// SPDX-License-Identifier: Apache-2.0
// One element of any dtype as a double, as raw bits or as a key that orders like its value. The
// same source on host and device.
#ifndef PS_KERNELS_WINDOW_ELEMENT_H
#define PS_KERNELS_WINDOW_ELEMENT_H

#include "base/dtype.h"
#include "kernels/exact.h"

struct ps_element_class {
    int bytes;
    bool is_float, is_signed;
};

PS_EXACT struct ps_element_class ps_element_class(int dtype)
{
    struct ps_element_class of;
    of.is_float = dtype >= PS_F16;
    of.is_signed = dtype >= PS_I8 && dtype <= PS_I64;
    of.bytes = dtype == PS_BOOL  ? 1
               : dtype == PS_F16 ? 2
               : dtype == PS_F32 ? 4
               : dtype == PS_F64 ? 8
                                 : 1 << ((dtype - PS_I8) % 4); // i8 i16 i32 i64 u8 u16 u32 u64
    return of;
}

PS_EXACT uint64_t ps_element_raw(int dtype, const void *data, int64_t index)
{
    switch (ps_element_class(dtype).bytes) {
    case 1:
        return ((const uint8_t *)data)[index];
    case 2:
        return ((const uint16_t *)data)[index];
    case 4:
        return ((const uint32_t *)data)[index];
    default:
        return ((const uint64_t *)data)[index];
    }
}

PS_EXACT void ps_element_store_raw(int dtype, void *data, int64_t index, uint64_t raw)
{
    switch (ps_element_class(dtype).bytes) {
    case 1:
        ((uint8_t *)data)[index] = (uint8_t)raw;
        break;
    case 2:
        ((uint16_t *)data)[index] = (uint16_t)raw;
        break;
    case 4:
        ((uint32_t *)data)[index] = (uint32_t)raw;
        break;
    default:
        ((uint64_t *)data)[index] = raw;
        break;
    }
}

PS_EXACT float ps_element_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// IEEE binary16, exactly.
PS_EXACT double ps_element_f16(uint32_t bits)
{
    uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double size = exponent == 31  ? (mantissa != 0 ? ps_exact_from_bits(0x7ff8000000000000ull)
                                                   : ps_exact_from_bits(0x7ff0000000000000ull))
                  : exponent == 0 ? mantissa * 5.9604644775390625e-08 // 2^-24
                                  : (1024 + mantissa) *
                                        ps_exact_from_bits((uint64_t)(exponent - 25 + 1023) << 52);
    return bits >> 15 != 0 ? -size : size;
}

PS_EXACT int64_t ps_element_signed(int dtype, uint64_t raw)
{
    int shift = 64 - 8 * ps_element_class(dtype).bytes;
    return (int64_t)(raw << shift) >> shift;
}

// Integers of 64 bits are rounded to the nearest double, all others are exact.
PS_EXACT double ps_element_number(int dtype, uint64_t raw)
{
    if (dtype == PS_F64)
        return ps_exact_from_bits(raw);
    if (dtype == PS_F32)
        return ps_element_f32((uint32_t)raw);
    if (dtype == PS_F16)
        return ps_element_f16((uint32_t)raw);
    return ps_element_class(dtype).is_signed ? (double)ps_element_signed(dtype, raw) : (double)raw;
}

PS_EXACT bool ps_element_is_nan(int dtype, uint64_t raw)
{
    double value = dtype >= PS_F16 ? ps_element_number(dtype, raw) : 0;
    return value != value;
}

PS_EXACT uint64_t ps_element_nan(int dtype) // its raw bits
{
    return dtype == PS_F16 ? 0x7e00u : dtype == PS_F32 ? 0x7fc00000u : 0x7ff8000000000000ull;
}

// Keys order as the values do, -0.0 below 0.0. Not for NaN.
PS_EXACT uint64_t ps_element_key(int dtype, uint64_t raw)
{
    struct ps_element_class of = ps_element_class(dtype);
    uint64_t sign = 1ull << (8 * of.bytes - 1), mask = sign | (sign - 1);
    if (of.is_float)
        return (raw & sign) != 0 ? ~raw & mask : raw | sign;
    return of.is_signed ? raw ^ sign : raw;
}

PS_EXACT uint64_t ps_element_unkey(int dtype, uint64_t key)
{
    struct ps_element_class of = ps_element_class(dtype);
    uint64_t sign = 1ull << (8 * of.bytes - 1), mask = sign | (sign - 1);
    if (of.is_float)
        return (key & sign) != 0 ? key & ~sign : ~key & mask;
    return of.is_signed ? key ^ sign : key;
}

#endif
