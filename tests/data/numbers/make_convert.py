#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes convert.txt: what every dtype's edge values become in every other dtype, by exact
fractions.

A line: FROM TO BITS ERROR SATURATE WRAP; each result is the stored bits in hex, with '*' behind
when it counts as changed, or '-' when it is refused."""
import struct
from fractions import Fraction
from pathlib import Path

INTS = {"bool": (0, 1), "i8": (-2**7, 2**7 - 1), "i16": (-2**15, 2**15 - 1),
        "i32": (-2**31, 2**31 - 1), "i64": (-2**63, 2**63 - 1), "u8": (0, 2**8 - 1),
        "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1), "u64": (0, 2**64 - 1)}
BYTES = {"bool": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
         "f16": 2, "f32": 4, "f64": 8}
FLOATS = {"f16": (10, 5), "f32": (23, 8), "f64": (52, 11)}  # fraction and exponent bits


def decode(dtype, bits):
    """Fraction, 'nan', 'inf' or '-inf'."""
    if dtype in INTS:
        low, _ = INTS[dtype]
        return Fraction(bits - (1 << 8 * BYTES[dtype]) if low < 0 and bits >> (8 * BYTES[dtype] - 1)
                        else bits)
    f, e = FLOATS[dtype]
    sign = -1 if bits >> (f + e) else 1
    exponent, fraction = bits >> f & ((1 << e) - 1), bits & ((1 << f) - 1)
    if exponent == (1 << e) - 1:
        return "nan" if fraction else ("inf" if sign > 0 else "-inf")
    bias = (1 << (e - 1)) - 1
    if exponent == 0:
        return sign * Fraction(fraction, 1) * Fraction(2) ** (1 - bias - f)
    return sign * Fraction((1 << f) + fraction) * Fraction(2) ** (exponent - bias - f)


def float_bits(dtype, value, negative_zero=False):
    """Bits of the nearest float, ties to even, by searching among all of them."""
    f, e = FLOATS[dtype]
    sign = 1 << (f + e)
    if value == "nan":
        return ((1 << e) - 1) << f | 1 << (f - 1)
    if value in ("inf", "-inf"):
        return ((1 << e) - 1) << f | (sign if value == "-inf" else 0)
    if value == 0:
        return sign if negative_zero else 0
    magnitude, low, high = abs(value), 0, ((1 << e) - 1) << f
    while high - low > 1:  # bits are ordered as magnitudes
        middle = (low + high) // 2
        if decode(dtype, middle) <= magnitude:
            low = middle
        else:
            high = middle
    below = decode(dtype, low)
    above = decode(dtype, high) if high != ((1 << e) - 1) << f else 2 * Fraction(
        2) ** ((1 << (e - 1)) - 1)
    twice = 2 * magnitude
    chosen = high if twice > below + above or (twice == below + above and low & 1) else low
    return chosen | (sign if value < 0 else 0)


def to_integer(dtype, value):
    low, high = INTS[dtype]
    mask = (1 << 8 * BYTES[dtype]) - 1
    if value == "nan":
        return None, None, (int(dtype == "bool"), True)
    if value in ("inf", "-inf"):
        return None, (high if value == "inf" else low & mask, True), (int(dtype == "bool"), True)
    whole = int(value)  # toward zero
    fits = whole == value and low <= value <= high
    clipped = min(max(whole, low), high)
    wrapped = (int(value != 0) if dtype == "bool" else whole & mask)
    return ((whole & mask, False) if fits else None, (clipped & mask, not fits),
            (wrapped, not fits))


def to_float(dtype, value, negative_zero, from_float):
    bits = float_bits(dtype, value, negative_zero)
    if isinstance(value, str):
        return ((bits, False),) * 3
    back = decode(dtype, bits)
    overflow = isinstance(back, str)
    changed = overflow or (not from_float and back != value)
    f, e = FLOATS[dtype]
    largest = (((1 << e) - 1) << f) - 1
    return (None if changed else (bits, False),
            (largest | (bits & 1 << (f + e)) if overflow else bits, changed), (bits, changed))


def patterns(dtype):
    size = 8 * BYTES[dtype]
    if dtype == "bool":
        return [0, 1]
    if dtype in INTS:
        low, high = INTS[dtype]
        near = [0, 1, 2, -1, -2]
        for n in (7, 8, 15, 16, 31, 32, 63, 64):
            near += [2**n - 1, 2**n, 2**n + 1, -2**n - 1, -2**n, -2**n + 1]
        near += [2048, 2049, 2051, 65504, 65519, 65520, 65535, 2**24, 2**24 + 1, -2**24 - 1,
                 2**24 + 2, 2**25 + 2, 2**25 + 6, 2**53, 2**53 + 1, 2**53 + 3, -2**53 - 1,
                 2**54 + 2, 2**54 + 6, 2**63 - 2**38, 2**63 - 513, 2**63 - 512, 2**64 - 1025,
                 2**60 + 2**36, 2**60 + 2**36 + 1, 100, -100]
        return sorted({v & ((1 << size) - 1) for v in near if low <= v <= high})
    f, e = FLOATS[dtype]
    numbers = [0.0, -0.0, 0.25, 0.5, -0.5, 0.75, 1.0, -1.0, 1.5, 2.0, -2.0, 2.5, 100.0, 126.9, 127.0,
               127.5, 128.0, -128.0, -128.5, -129.0, 255.0, 255.5, 256.0, 32767.0, 32768.0,
               -32768.0, -32769.0, 65504.0, 65519.99, 65520.0, -65520.0, 65535.0, 65535.5, 65536.0,
               2**31 - 1.0, 2**31 - 0.5, 2.0**31, -2.0**31, -2.0**31 - 1, 2**32 - 1.0, 2.0**32,
               2.0**53, 2.0**63, 2.0**63 - 1024, -2.0**63, -2.0**63 - 2048, 2.0**64,
               2.0**64 - 2048, 1e20, -1e20, 3.4028234663852886e38, 3.4028235677973362e38,
               3.4028235677973366e38, -3.4028235677973366e38, 1e300, 1e-300, 2.0**-24, 2.0**-25,
               1.0000001 * 2.0**-25, 2.0**-14, 2.0**-149, 2.0**-150, 1.0000001 * 2.0**-150,
               1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11, 1 + 2.0**-24,
               1 + 2.0**-24 + 2.0**-50, 1 + 3 * 2.0**-24, 2047.9999999, 0.1]
    found = {float_bits(dtype, Fraction(v), struct.pack("d", v)[7] >> 7) for v in numbers}
    return sorted(found | {float_bits(dtype, s) for s in ("nan", "inf", "-inf")})


def text(result):
    return "-" if result is None else f"{result[0]:x}" + ("*" if result[1] else "")


lines = []
for source in BYTES:
    for bits in patterns(source):
        value = decode(source, bits)
        negative_zero = value == 0 and source in FLOATS and bits != 0
        for target in BYTES:
            if target != source:
                results = (to_integer(target, value) if target in INTS else
                           to_float(target, value, negative_zero, source in FLOATS))
                lines.append(" ".join([source, target, f"{bits:x}", *map(text, results)]))
Path(__file__).with_name("convert.txt").write_text("\n".join(lines) + "\n")
