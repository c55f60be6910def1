#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes halves.txt: numbers as hexadecimal binary64 and the binary16 that NumPy rounds them to:
# every tie between neighbours of some exponents, the values just beside it, and the limits.
import numpy as np

def bits(x):
    return np.float64(x).view(np.uint64)

values = []
for h in [0, 1, 2, 3, 0x3fe, 0x3ff, 0x400, 0x401, 0x7ff, 0x3bff, 0x3c00, 0x3c01, 0x3c02, 0x7bfe]:
    low, high = np.array([h, h + 1], np.uint16).view(np.float16).astype(np.float64)
    tie = (low + high) / 2
    values += [low, tie, np.nextafter(tie, low), np.nextafter(tie, high)]
    # Close enough to the tie that binary32 would round onto it first.
    values += [tie + (high - low) * 2.0**-40, tie - (high - low) * 2.0**-40]
values += [65504.0, 65519.99999999999, 65520.0, np.nextafter(65520.0, 1e9), 1e300, 2.0**-25,
           np.nextafter(2.0**-25, 1), 5e-324, np.inf, 0.1, 1 / 3]
with open("halves.txt", "w") as out:
    for v in values:
        for s in (v, -v):
            with np.errstate(over="ignore", under="ignore"):
                half = np.float64(s).astype(np.float16).view(np.uint16)
            out.write(f"{int(bits(s)):016x} {int(half):04x}\n")
