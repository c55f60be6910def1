// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 conversions, round to nearest, ties to even.
#include "base/dtype.h"

#include <string.h>

float ps_f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff, out;
    if (exponent == 31) {
        out = sign | 0x7f800000 | fraction << 13;
    } else if (exponent != 0) {
        out = sign | (exponent + 112) << 23 | fraction << 13;
    } else { // zero or subnormal: fraction * 2^-24, exact in binary32
        float value = (float)fraction * 0x1p-24f;
        memcpy(&out, &value, sizeof out);
        out |= sign;
    }
    float result;
    memcpy(&result, &out, sizeof result);
    return result;
}

// The half nearest to a binary64 number. binary32 converts to binary64 exactly, so one function
// serves both.
uint16_t ps_f64_to_f16(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = bits & 0xfffffffffffffull;
    if (exponent == 1024)
        return sign | 0x7c00 | (mantissa != 0 ? 0x200 | (uint16_t)(mantissa >> 42) : 0);
    if (exponent < -25) // below half of the smallest subnormal, 2^-25 itself ties to even below
        return sign;
    if (exponent > 15)
        return sign | 0x7c00;
    mantissa |= 1ull << 52;
    int drop = exponent >= -14 ? 42 : 42 + (-14 - exponent);
    uint64_t kept = mantissa >> drop, rest = mantissa & ((1ull << drop) - 1);
    uint64_t half = 1ull << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    // A carry out of the fraction moves into the exponent, up to infinity, as it should.
    uint64_t base = exponent >= -14 ? (uint64_t)(exponent + 14) << 10 : 0;
    return sign | (uint16_t)(base + kept);
}

uint16_t ps_f32_to_f16(float value)
{
    return ps_f64_to_f16((double)value);
}
