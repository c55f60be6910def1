#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes map/promotion.txt: the dtype that NumPy 2 gives to operators and functions, for every pair of
dtypes and for literals with every dtype; "-" where NumPy refuses. NumPy 1.24 with NPY_PROMOTION_STATE=weak
follows the same rules (NEP 50), and is what this runs with where NumPy 2 is not installed. Fields split by
tabs: expression, dtype of a, dtype of b (or "" without), result.
"""
import operator
import os

os.environ["NPY_PROMOTION_STATE"] = "weak"  # before NumPy is loaded
import numpy as np

np.seterr(all="ignore")
folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "map")
NAMES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
         "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}
SHORT = {np.dtype(v): k for k, v in NAMES.items()}
PAIRS = {"a + b": np.add, "a - b": np.subtract, "a * b": np.multiply, "a / b": np.true_divide,
         "a // b": np.floor_divide, "a % b": np.remainder, "a ** b": np.power, "a & b": np.bitwise_and,
         "a | b": np.bitwise_or, "a ^ b": np.bitwise_xor, "a << b": np.left_shift, "a >> b": np.right_shift,
         "a < b": np.less, "a == b": np.equal, "a and b": np.logical_and, "min(a, b)": np.minimum,
         "fmax(a, b)": np.fmax, "where(a, a, b)": lambda a, b: np.where(a, a, b), "fmod(a, b)": np.fmod,
         "atan2(a, b)": np.arctan2, "hypot(a, b)": np.hypot, "copysign(a, b)": np.copysign}
# floor leaves integers as they are since NumPy 2.1.
ONES = {"-a": np.negative, "abs(a)": np.abs, "sign(a)": np.sign, "~a": np.invert, "sqrt(a)": np.sqrt,
        "exp(a)": np.exp, "sin(a)": np.sin, "floor(a)": lambda a: a if a.dtype.kind in "biu" else np.floor(a),
        "isnan(a)": np.isnan, "not a": np.logical_not, "degrees(a)": np.degrees, "square(a)": np.square,
        "cbrt(a)": np.cbrt, "log1p(a)": np.log1p}
# Literals are weak: Python's numbers.
for literal in (1, 2.5):
    for sign, f in (("+", operator.add), ("-", operator.sub), ("*", operator.mul), ("/", operator.truediv),
                    ("//", operator.floordiv), ("%", operator.mod), ("**", operator.pow), ("<", operator.lt)):
        ONES[f"a {sign} {literal}"] = lambda a, f=f, n=literal: f(a, n)
        ONES[f"{literal} {sign} a"] = lambda a, f=f, n=literal: f(n, a)
for expr, f in {"atan2(a, 2.5)": lambda a: np.arctan2(a, 2.5), "hypot(2, a)": lambda a: np.hypot(2, a),
                "copysign(a, -1.0)": lambda a: np.copysign(a, -1.0), "min(a, 1)": lambda a: np.minimum(a, 1),
                "max(2.5, a)": lambda a: np.maximum(2.5, a)}.items():
    ONES[expr] = f
for sign, f in (("&", operator.and_), ("|", operator.or_), ("^", operator.xor), ("<<", operator.lshift),
                (">>", operator.rshift)):
    ONES[f"a {sign} 1"] = lambda a, f=f: f(a, 1)


def dtype_of(f, *arrays):
    try:
        return SHORT[f(*arrays).dtype]
    except TypeError:
        return "-"


ones = {k: np.ones(1, v) for k, v in NAMES.items()}
with open(os.path.join(folder, "promotion.txt"), "w") as out:
    for a in NAMES:
        for expr, f in ONES.items():
            out.write(f"{expr}\t{a}\t\t{dtype_of(f, ones[a])}\n")
        for b in NAMES:
            for expr, f in PAIRS.items():
                out.write(f"{expr}\t{a}\t{b}\t{dtype_of(f, ones[a], ones[b])}\n")
