#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes promotion.txt: numpy.promote_types of every pair of dtypes, one "a b result" a line.
import numpy as np

names = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2",
         "u32": "u4", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8"}
back = {np.dtype(code): name for name, code in names.items()}
with open("promotion.txt", "w") as out:
    for a in names:
        for b in names:
            out.write(f"{a} {b} {back[np.promote_types(names[a], names[b])]}\n")
