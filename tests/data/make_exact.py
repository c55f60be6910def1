#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Makes exact_cases.txt: values and their sum, mean and variance as exact fractions rounded once.
# Python divides whole numbers with one correct rounding, which is all this relies on.
# usage: python3 make_exact.py > exact_cases.txt
import random, struct
from fractions import Fraction

random.seed(20240229)

def f64(bits): return struct.unpack('<d', struct.pack('<Q', bits))[0]
def f32(bits): return struct.unpack('<f', struct.pack('<I', bits))[0]
def f16(bits): return struct.unpack('<e', struct.pack('<H', bits))[0]
MAKE = {'f64': (f64, 52, 2047), 'f32': (f32, 23, 255), 'f16': (f16, 10, 31)}

def rounded(x):
    try:
        value = float(Fraction(x))
    except OverflowError:
        value = float('inf') if x > 0 else float('-inf')
    return struct.unpack('<Q', struct.pack('<d', value))[0]

def value(kind, lowest, highest):
    make, mantissa, _ = MAKE[kind]
    exponent = random.randint(lowest, highest)
    sign_at = {'f64': 63, 'f32': 31, 'f16': 15}[kind]
    bits = random.getrandbits(mantissa) | exponent << mantissa
    return bits | random.getrandbits(1) << sign_at

def case(kind, bits):
    x = [Fraction(MAKE[kind][0](b)) for b in bits]
    n = len(x)
    total, squares = sum(x), sum(v * v for v in x)
    out = [rounded(total), rounded(total / n)]
    for ddof in (0, 1):
        out.append(rounded((n * squares - total * total) / (n * (n - ddof))) if n > ddof
                   else 0x7ff8000000000000)
    print(kind, n, *['%x' % b for b in bits], *['%016x' % b for b in out])

for kind in MAKE:
    highest = MAKE[kind][2] - 1
    middle = highest // 2
    for lowest, most in [(0, highest), (0, 3), (highest - 2, highest), (middle, middle + 1),
                         (middle - 15, middle + 10), (middle - 3, middle + 3)]:
        lowest = max(lowest, 0)
        most = min(most, highest)
        for n in (1, 2, 3, 7, 40):
            case(kind, [value(kind, lowest, most) for _ in range(n)])
    # Large values that cancel, leaving what an ordinary sum loses.
    for n in (3, 9, 33):
        half = [value(kind, 0, highest - 1) for _ in range(n)]
        flip = 1 << {'f64': 63, 'f32': 31, 'f16': 15}[kind]
        bits = half + [b ^ flip for b in half] + [value(kind, 0, 2)]
        random.shuffle(bits)
        case(kind, bits)
    # Neighbours: the variance is all in the last bits.
    base = value(kind, middle, middle + 2)
    case(kind, [base, base, base + 1])
    case(kind, [base + i % 3 for i in range(30)])
    case(kind, [base] * 17)
# Exact ties and just off them, in the mean of two and in the sum.
one = struct.unpack('<Q', struct.pack('<d', 1.0))[0]
def d(x): return struct.unpack('<Q', struct.pack('<d', x))[0]
for values in ([1.0, 2.0**-53], [1.0, 2.0**-53, 2.0**-1074], [1.0, 2.0**-53, -2.0**-1074],
               [1.0 + 2.0**-52, 2.0**-53], [1.0, 1.0 + 2.0**-52], [2.0**-1074, 2.0**-1074, 0.0],
               [2.0**-1074, 0.0], [3 * 2.0**-1074, 0.0], [1.7976931348623157e308, 2.0**969],
               [1.7976931348623157e308, 2.0**970], [1.7976931348623157e308, 2.0**970, -1e-300],
               [2.0**-1022, -2.0**-1074], [0.1] * 10, [1e308, 1e308, -1e308], [-0.0, -0.0]):
    case('f64', [d(v) for v in values])
