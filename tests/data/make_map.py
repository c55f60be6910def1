#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes map/values.txt and map/values.bin: what NumPy makes of operations at edge values.

values.txt, one item a line, fields split by tabs; values.bin holds the numbers, little-endian.
  array  NAME DTYPE COUNT OFFSET          an operand
  pair   EXPR A B DTYPE OFFSET ULP        EXPR over a = every value of A with b = every value of B
  each   EXPR A DTYPE OFFSET ULP          EXPR over a = A
  cast   EXPR A DTYPE OFFSET ULP          likewise
NumPy 1 and 2 differ in how literals promote and in floor/ceil of integers; those rows are computed
with explicit dtypes, so that both versions of NumPy give the same files. Exact comparisons and
saturating casts, which NumPy does not have, are computed with Python's integers; so are counts of bits,
which NumPy 1 does not have. Error and gamma functions are computed with mpmath and rounded once.
"""
import math
import os
from fractions import Fraction
import mpmath
import numpy as np

mpmath.mp.prec = 200
np.seterr(all="ignore")
folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "map")
NAMES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
         "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
         "f16": "float16", "f32": "float32", "f64": "float64"}
SHORT = {np.dtype(v): k for k, v in NAMES.items()}
INTS = [d for d in NAMES if d[0] in "iu"]
FLOATS = ["f16", "f32", "f64"]
lines, data = [], bytearray()


def put(values):
    offset = len(data)
    data.extend(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes())
    return offset


def line(*fields):
    lines.append("\t".join(str(f) for f in fields))


def edge(d):
    t = np.dtype(NAMES[d])
    if d == "bool":
        return np.array([False, True])
    if d in INTS:
        low, high = np.iinfo(t).min, np.iinfo(t).max
        return np.array(([low, low + 1, -7, -2, -1] if low else []) + [0, 1, 2, 3, 7, 100, high - 1, high], t)
    f = np.finfo(t)
    tiny = np.nextafter(t.type(0), t.type(1))
    return np.array([-np.inf, f.min, -7.5, -1, -tiny, -0.0, 0.0, tiny, 0.1, 0.5, 1, 1.5, 2.5, 3, 7,
                     f.max, np.inf, np.nan], t)


def few(d):
    t = np.dtype(NAMES[d])
    if d == "bool":
        return np.array([False, True])
    if d in INTS:
        low, high = np.iinfo(t).min, np.iinfo(t).max
        return np.array([low, -1, 0, 3, high] if low else [0, 1, 3, high - 1, high], t)
    return np.array([-1.5, 0, 0.1, 3, np.nan], t)


arrays = {}
for d in NAMES:
    arrays["edge_" + d] = edge(d)
    arrays["few_" + d] = few(d)
    if d in INTS:
        arrays["powers_" + d] = np.array([0, 1, 2, 3, 5, 7, 31, 64, 100], NAMES[d])
F = 2.0 ** 53
arrays["near_i64"] = np.array([-2**63, -2**63 + 1, -2**53 - 1, -2**53, -1, 0, 1, 2**53, 2**53 + 1, 2**62,
                               2**63 - 1], "int64")
arrays["near_u64"] = np.array([0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1], "uint64")
arrays["near_i32"] = np.array([-2**31, -2**24 - 1, -1, 0, 2**24, 2**24 + 1, 2**31 - 1], "int32")
arrays["near_f64"] = np.array([-np.inf, -2.0**63, -F - 2, -F, -1.5, -0.5, -0.0, 0.5, 1, F, F + 2, 2.0**63,
                               2.0**64, np.inf, np.nan])
arrays["near_f32"] = np.array([-np.inf, -2.0**63, -2.0**31, -2.0**24, -0.5, 0, 0.5, 2.0**24, 2.0**31,
                               2.0**53, 2.0**63, 2.0**64, np.inf, np.nan], "float32")
arrays["halfway_f64"] = np.array([1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40, 65519.999,
                                  65520, 2.0**-25, 2.0**-25 * (1 + 2.0**-30), -1e-300, 0.1])
arrays["wide_f32"] = np.array([-300, -20, -3.3, -1, -0.9, -1e-4, -0.0, 0.0, 1e-30, 1e-4, 0.3, 0.5, 0.9, 1, 1.5,
                               2, 3.3, 10, 20, 88, 100, 1000, 1e6, 1e20, np.inf, -np.inf, np.nan], "float32")
arrays["wide_f64"] = arrays["wide_f32"].astype("float64")
arrays["wide_f16"] = np.array([-300, -3.3, -1, -0.9, -1e-4, 0, 1e-4, 0.3, 0.5, 0.9, 1, 1.5, 2, 3.3, 10, 100, 1000,
                               np.inf, np.nan], "float16")
for name, values in arrays.items():
    line("array", name, SHORT[values.dtype], len(values), put(values))


def as_int8(x):
    return x.astype("int8") if x.dtype == bool else x


def pair(expr, a, b, function, ulp=0):
    x = np.repeat(arrays[a], len(arrays[b]))
    y = np.tile(arrays[b], len(arrays[a]))
    r = function(x, y)
    line("pair", expr, a, b, SHORT[r.dtype], put(r), ulp)


def each(expr, a, function, ulp=0):
    r = function(arrays[a])
    line("each", expr, a, SHORT[r.dtype], put(r), ulp)


def exact(compare):
    return lambda x, y: np.array([compare(p, q) for p, q in zip(x.tolist(), y.tolist())], bool)


COMPARE = {"a < b": lambda p, q: p < q, "a <= b": lambda p, q: p <= q, "a == b": lambda p, q: p == q,
           "a != b": lambda p, q: p != q, "a > b": lambda p, q: p > q, "a >= b": lambda p, q: p >= q}
ARITHMETIC = {"a + b": np.add, "a - b": np.subtract, "a * b": np.multiply, "a // b": np.floor_divide,
              "a % b": np.remainder}

BITS = {"a & b": np.bitwise_and, "a | b": np.bitwise_or, "a ^ b": np.bitwise_xor, "a << b": np.left_shift,
        "a >> b": np.right_shift}


def horner(x, c):
    wide = x.astype("float32") if x.dtype == "float16" else x
    t = wide.dtype.type
    r = t(c[-1])
    for k in reversed(c[:-1]):
        r = r * wide + t(k)
    return r.astype(x.dtype)


for d in NAMES:
    e = "edge_" + d
    for expr, f in ARITHMETIC.items():
        pair(expr, e, e, lambda x, y: f(as_int8(x), as_int8(y)))
    pair("a / b", e, e, np.true_divide)
    pair("min(a, b)", e, e, np.minimum)
    pair("max(a, b)", e, e, np.maximum)
    pair("fmin(a, b)", e, e, np.fmin)
    pair("fmax(a, b)", e, e, np.fmax)
    pair("minimum(a, b)", e, e, np.minimum)
    each("square(a)", e, lambda x: as_int8(x) * as_int8(x))
    each("signbit(a)", e, np.signbit if d in FLOATS else lambda x: x < 0)
    for expr, f in COMPARE.items():
        pair(expr, e, e, exact(f))
    pair("a and b", e, e, np.logical_and)
    pair("a or b", e, e, np.logical_or)
    each("not a", e, np.logical_not)
    pair("where(a, b, a)", e, e, lambda x, y: np.where(x != 0, y, x))
    each("-a", e, lambda x: np.negative(as_int8(x)))
    each("abs(a)", e, lambda x: np.abs(as_int8(x)))
    each("sign(a)", e, lambda x: np.sign(as_int8(x)))
    each("isnan(a)", e, np.isnan)
    each("isinf(a)", e, np.isinf)
    each("isfinite(a)", e, np.isfinite)
    for word, f in (("floor", np.floor), ("ceil", np.ceil), ("round", np.rint), ("trunc", np.trunc)):
        each(word + "(a)", e, f if d in FLOATS else lambda x: x)
    each("sqrt(a)", e, np.sqrt)
    pair("fmod(a, b)", e, e, lambda x, y: np.fmod(as_int8(x), as_int8(y)))
    if d in INTS:
        pair("a ** b", e, "powers_" + d, np.power)
    if d not in FLOATS:
        for expr, f in BITS.items():
            pair(expr, e, e, f)
        each("~a", e, np.invert)
        each("bit_count(a)", e, lambda x: np.array([bin(abs(int(v))).count("1") for v in x], "uint8"))
        each("nan_to_num(a)", e, lambda x: x)
    if d in FLOATS:
        pair("a ** b", e, e, np.power, 4)
        pair("atan2(a, b)", e, e, np.arctan2, 3)
        pair("hypot(a, b)", e, e, np.hypot, 3)
        pair("copysign(a, b)", e, e, np.copysign)
        pair("heaviside(a, b)", e, e, np.heaviside)
        pair("mod(a, b)", e, e, np.remainder)
        each("rint(a)", e, np.rint)
        each("fix(a)", e, np.trunc)
        each("arcsin(a)", e, lambda x: np.arcsin(x.astype("float64")).astype(x.dtype), 3)
        each("arctanh(a)", e, lambda x: np.arctanh(x.astype("float64")).astype(x.dtype), 3)
        if d != "f16":
            pair("nextafter(a, b)", e, e, np.nextafter)
        each("nan_to_num(a)", e, np.nan_to_num)
        each("nan_to_num(a, 7)", e, lambda x: np.nan_to_num(x, nan=7))
        each("nan_to_num(a, -1, 2, 3)", e, lambda x: np.nan_to_num(x, nan=-1, posinf=2, neginf=3))
        each("nan_to_num(a, nan, inf, -inf)", e, lambda x: x)
        each("degrees(a)", e, np.degrees)
        each("rad(a)", e, np.radians)
        each("poly(a, 1, -2, 0.5)", e, lambda x: horner(x, (1, -2, 0.5)))
        each("clip(a, -1, 2)", e, lambda x: np.minimum(np.maximum(x, x.dtype.type(-1)), x.dtype.type(2)))
        # Several operations in one stage: f16 is computed as f32 and rounded once.
        wide = np.float32 if d == "f16" else NAMES[d]
        each("(a * 3 + 0.125) / 7 - a", e, lambda x: (
            (x.astype(wide) * 3 + x.astype(wide).dtype.type(0.125)) / x.astype(wide).dtype.type(7)
            - x.astype(wide)).astype(x.dtype))
        pair("a * b - b / 3", e, e, lambda x, y: (
            x.astype(wide) * y.astype(wide) - y.astype(wide) / x.astype(wide).dtype.type(3)).astype(x.dtype))
        # A literal is weak: it takes the array's dtype.
        each("a + 0.1", e, lambda x: x + x.dtype.type(0.1))
        each("3 * a", e, lambda x: x.dtype.type(3) * x)
        each("a ** 2", e, lambda x: x * x)
    elif d in INTS:
        each("a + 3", e, lambda x: x + x.dtype.type(3))
        each("a // 3", e, lambda x: x // x.dtype.type(3))
        each("a % 7", e, lambda x: x % x.dtype.type(7))
        each("a + 0.5", e, lambda x: x.astype("float64") + 0.5)
        each("a / 2", e, lambda x: x / x.dtype.type(2))
        each("poly(a, 1, 2, 3)", e, lambda x: (x * x.dtype.type(3) + x.dtype.type(2)) * x + x.dtype.type(1))
        each("a & 3", e, lambda x: x & x.dtype.type(3))
        each("a << 3", e, lambda x: x << x.dtype.type(3))
        each("a >> 100", e, lambda x: x >> x.dtype.type(100))
        each("1 << a", e, lambda x: np.left_shift(x.dtype.type(1), x))
        each("a < 0.5", e, lambda x: np.array([v < 0.5 for v in x.tolist()]))
        each("a == 300", e, lambda x: np.array([v == 300 for v in x.tolist()]))
        each("a > -1", e, lambda x: np.array([v > -1 for v in x.tolist()]))
    else:
        each("a + 1", e, lambda x: x.astype("int64") + 1)
        each("a * 0.5", e, lambda x: x.astype("float64") * 0.5)

for a in NAMES:
    for b in NAMES:
        if a != b:
            for expr in ("a + b", "a // b"):
                pair(expr, "few_" + a, "few_" + b, ARITHMETIC[expr])
            pair("where(a > b, a, b)", "few_" + a, "few_" + b,
                 lambda x, y: np.where(exact(COMPARE["a > b"])(x, y), x, y))
            pair("a == b", "few_" + a, "few_" + b, exact(COMPARE["a == b"]))

# All limits of all integers against each other.
for a in INTS:
    for b in INTS:
        if a != b:
            for expr, f in COMPARE.items():
                pair(expr, "edge_" + a, "edge_" + b, exact(f))

for a, b in (("i64", "u64"), ("i64", "f64"), ("u64", "f64"), ("i64", "f32"), ("u64", "f32"), ("i32", "f32")):
    for expr, f in COMPARE.items():
        pair(expr, "near_" + a, "near_" + b, exact(f))
        pair(expr, "near_" + b, "near_" + a, exact(f))



def gamma(v):
    """As C: a pole at 0 has the sign of the zero, those at negative integers are NaN."""
    if v == 0:
        return math.copysign(math.inf, v)
    if v == -math.inf or (v < 0 and v == int(v)):
        return math.nan
    return math.inf if v == math.inf else float(mpmath.gamma(v))


def lgamma(v):
    if math.isinf(v) or (v <= 0 and v == int(v)):
        return math.inf
    return float(mpmath.log(abs(mpmath.gamma(v))))


def cbrt(v):
    return v if math.isinf(v) else math.copysign(float(mpmath.cbrt(abs(v))), v)


def exactly(f):
    return lambda x: np.array([v if v != v else float(f(v)) for v in map(float, x)], "float64")


MORE = {"erf": (exactly(mpmath.erf), 2), "erfc": (exactly(mpmath.erfc), 5),
        "gamma": (exactly(gamma), 10), "lgamma": (exactly(lgamma), 7),
        "cbrt": (exactly(cbrt), 4), "exp2": (np.exp2, 2), "asinh": (np.arcsinh, 3),
        "acosh": (np.arccosh, 3), "atanh": (np.arctanh, 3)}
for word, (f, ulp) in MORE.items():
    for d in FLOATS:
        each(word + "(a)", "wide_" + d, lambda x: f(x.astype("float64")).astype(x.dtype), ulp)
    for d in ("bool", "u8", "i16", "i32"):
        t = np.exp(arrays["few_" + d]).dtype
        each(word + "(a)", "few_" + d, lambda x: f(x.astype("float64")).astype(t), ulp)
FUNCTIONS = {"exp": (np.exp, 2), "expm1": (np.expm1, 2), "log": (np.log, 2), "log10": (np.log10, 2),
             "log2": (np.log2, 2), "log1p": (np.log1p, 2), "sin": (np.sin, 2), "cos": (np.cos, 2),
             "tan": (np.tan, 4), "asin": (np.arcsin, 3), "acos": (np.arccos, 3), "atan": (np.arctan, 3),
             "sinh": (np.sinh, 3), "cosh": (np.cosh, 3), "tanh": (np.tanh, 3)}
for word, (f, ulp) in FUNCTIONS.items():
    for d in FLOATS:
        # Of f32, NumPy's own vector code is up to 4 ulp off; the double result rounded is the judge.
        wide = (lambda x, f=f: f(x.astype("float64")).astype(x.dtype)) if d != "f64" else f
        each(word + "(a)", "wide_" + d, wide, ulp)
    for d in ("bool", "i8", "u8", "i16", "u16", "i32", "u64"):
        t = f(arrays["few_" + d]).dtype
        each(word + "(a)", "few_" + d, lambda x, f=f, t=t: f(x.astype("float64")).astype(t), ulp)


def round_to(t, exact):
    """A fraction rounded once: to odd in f64 first, so that f32 sees what was cut off."""
    d = float(exact)
    if t is np.float32 and Fraction(d) != exact and int(np.float64(d).view("uint64")) % 2 == 0:
        d = math.nextafter(d, math.inf if exact > Fraction(d) else -math.inf)
    return t(d)


def fused(x, y):
    t = x.dtype.type
    finite = np.isfinite(x) & np.isfinite(y)
    return np.array([round_to(t, Fraction(float(p)) * Fraction(float(q)) + 1) if ok else p * q + t(1)
                     for p, q, ok in zip(x, y, finite)], t)


for d in ("f32", "f64"):
    for a in ("few_", "near_"):
        pair("fma(a, b, 1)", a + d, "few_" + d, fused)


def saturate(x, t):
    low, high = np.iinfo(t).min, np.iinfo(t).max
    return np.array([0 if v != v else low if v <= low else high if v >= high else math.trunc(v)
                     for v in x.tolist()], t)


for a in NAMES:
    for b in NAMES:
        for name in ["edge_" + a] + ["near_" + a] * ("near_" + a in arrays) + ["halfway_" + a] * (a == "f64"):
            to = np.dtype(NAMES[b])
            if a in FLOATS and b in INTS:
                each(b + "(a)", name, lambda x: saturate(x, to))
            elif b == "bool":
                each(b + "(a)", name, lambda x: x != 0)
            else:
                each("cast(a, %s)" % NAMES[b], name, lambda x: x.astype(to))

with open(os.path.join(folder, "values.txt"), "w") as out:
    out.write("\n".join(lines) + "\n")
with open(os.path.join(folder, "values.bin"), "wb") as out:
    out.write(data)
print(len(lines), "lines,", len(data), "bytes")
