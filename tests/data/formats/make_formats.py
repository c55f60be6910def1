#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what test_formats.c compares with: .npy files as NumPy writes them, and made-up numbers
by a second implementation (Python integers; the normal quantile of the statistics module)."""
import math
from pathlib import Path

import numpy as np

here = Path(__file__).parent

# Element [i, j, k] is 10000 i + 100 j + k, so that a wrong place shows.
i, j, k = np.ogrid[:7, :5, :3]
np.save(here / "fortran_753.npy", np.asfortranarray((10000 * i + 100 * j + k).astype(">i4")))
i, j = np.ogrid[:1300, :11]
np.save(here / "fortran_1300x11.npy", np.asfortranarray((20 * i + j).astype("<u2")))
np.save(here / "number.npy", np.array(2.5))
np.save(here / "bool.npy", np.array([[True, False], [False, True]]))

MASK = 2**64 - 1


def splitmix(seed, position):
    z = (seed + (position + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def erfc_inverse_check(x, p):
    """The share below x, by the C library's erfc: independent of any quantile formula."""
    return abs(0.5 * math.erfc(-x / math.sqrt(2)) - p) <= 1e-14 + 1e-12 * p


from statistics import NormalDist  # noqa: E402

lines = []
for seed, position in [(0, 0), (0, 1), (1, 0), (7, 123456), (2**53, 2**40), (42, 3), (42, 4)]:
    bits = splitmix(seed, position)
    uniform = (bits >> 11) / 2**53
    normal = NormalDist().inv_cdf(((bits >> 11) + 0.5) / 2**53)
    assert erfc_inverse_check(normal, ((bits >> 11) + 0.5) / 2**53)
    lines.append(f"{seed} {position} {bits:016x} {uniform.hex()} {normal.hex()}")
(here / "random.txt").write_text("\n".join(lines) + "\n")
assert splitmix(1234567, 0) == 6457827717110365317  # published first output for this seed
