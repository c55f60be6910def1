# SPDX-License-Identifier: Apache-2.0
"""Every kind of `reduce` over rows, everything and axes of the row, against NumPy and SciPy-like
formulas in exact or higher precision. Usage: reductions.py PENSTOCK WORK BACKEND
"""
from fractions import Fraction
import math

import numpy as np

from stagejobs import check, finish

KINDS = ["sum", "mean", "min", "max", "var", "std", "count", "nansum", "nanmean", "nanmin",
         "nanmax", "nanvar", "nanstd", "norm1", "norm2", "rms", "prod", "nanprod", "argmin",
         "argmax", "nanargmin", "nanargmax", "any", "all", "skewness", "kurtosis"]
NAN = float("nan")


def root(q):
    """The square root of a fraction, to far more than a double's digits."""
    scale = 10 ** 40
    return float(Fraction(math.isqrt(q.numerator * scale ** 2 // q.denominator), scale))


def big(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def one(kind, x):
    """The result of a 1-D array, computed with fractions where all is finite."""
    integer = x.dtype.kind in "iub"
    values = [v.item() for v in x]
    numbers = [v for v in values if v == v]
    skip = kind.startswith("nan")
    base = kind[3:] if skip else kind
    if base == "count":
        return len(numbers)
    if base in ("any", "all"):
        return (any if base == "any" else all)(v != 0 for v in values)
    if base in ("argmin", "argmax"):
        if not skip and len(numbers) < len(values):
            return next(i for i, v in enumerate(values) if v != v)
        if not numbers:
            return -1
        return values.index((min if base == "argmin" else max)(numbers))
    if not skip and len(numbers) < len(values):
        return NAN
    if base in ("min", "max"):
        return (min if base == "min" else max)(numbers) if numbers else NAN
    if any(math.isinf(v) for v in numbers):
        with np.errstate(all="ignore"):
            v = np.array(numbers, "f8")
            return {"sum": v.sum, "mean": v.mean, "var": v.var, "std": v.std, "prod": v.prod,
                    "norm1": lambda: np.abs(v).sum(), "norm2": lambda: np.inf,
                    "rms": lambda: np.inf, "skewness": lambda: NAN,
                    "kurtosis": lambda: NAN}[base]()
    exact = [Fraction(v) for v in numbers]
    n, total = len(exact), sum(exact, Fraction(0))
    if base == "sum":
        return int(total) if integer else big(total)
    if base == "prod":
        product = math.prod(exact, start=Fraction(1))
        return int(product) if integer else big(product)
    if base == "norm1":
        return int(sum(map(abs, exact))) if integer else big(sum(map(abs, exact), Fraction(0)))
    squares = sum((v * v for v in exact), Fraction(0))
    if base == "norm2":
        return root(squares)
    if n == 0:
        return NAN
    if base == "rms":
        return root(squares / n)
    mean = total / n
    if base == "mean":
        return big(mean)
    m2, m3, m4 = (sum((v - mean) ** p for v in exact) / n for p in (2, 3, 4))
    if base in ("var", "std"):
        return big(m2) if base == "var" else root(m2)
    if m2 == 0:
        return NAN
    return float(m3 / m2) / root(m2) if base == "skewness" else float(m4 / m2 ** 2) - 3


def dtype_of(kind, dtype):
    base = kind[3:] if kind.startswith("nan") else kind
    if base in ("min", "max"):
        return dtype
    if base in ("count", "argmin", "argmax"):
        return np.dtype("i8")
    if base in ("any", "all"):
        return np.dtype("?")
    if dtype.kind in "iub":
        if base in ("sum", "prod"):
            return np.dtype("i8" if dtype.kind == "i" else "u8")
        if base == "norm1":
            return np.dtype("i8" if dtype.kind == "i" else "u8")
    return np.dtype("f8")


def reduced(kind, x, axes):
    kept = [a for a in range(x.ndim) if a not in axes]
    flat = np.transpose(x, kept + list(axes)).reshape([x.shape[a] for a in kept] +
                                                    [math.prod(x.shape[a] for a in axes)])
    out = np.zeros(flat.shape[:-1], dtype_of(kind, x.dtype))
    for place in np.ndindex(out.shape):
        out[place] = one(kind, flat[place])
    return out


def usable(kind, x, axes):
    """Without the kinds that stop a job: extremes of nothing, products beyond 64 bits."""
    base = kind[3:] if kind.startswith("nan") else kind
    count = math.prod(x.shape[a] for a in axes)
    if base in ("min", "max", "argmin", "argmax"):
        return count > 0
    return base != "prod" or x.dtype.kind == "f" or np.abs(x.astype("f8")).max(initial=0) < 3


def stages_for(x):
    all_axes = tuple(range(x.ndim))
    sets = [("rows", (0,)), ("all", all_axes)]
    if x.ndim > 1:
        sets.append((str(x.ndim - 1), (x.ndim - 1,)))
    if x.ndim > 2:
        sets += [("1", (1,)), ("[1, 2]", (1, 2))]
    for text, axes in sets:
        kinds = [k for k in KINDS if usable(k, x, axes)]
        bound = 1e-12
        for kind in kinds:
            yield f"op: reduce, in: x, axis: {text}, of: {kind}", reduced(kind, x, axes), bound
        wide = [k for k in kinds if dtype_of(k, x.dtype).kind == "f"]
        mixed = np.stack([reduced(k, x, axes) for k in wide], -1) if wide else None
        if mixed is not None:
            dtype = np.result_type(*[dtype_of(k, x.dtype) for k in wide])
            yield (f"op: reduce, in: x, axis: {text}, of: [{', '.join(wide)}]",
                   mixed.astype(dtype), bound)
    if x.ndim > 1:
        got = reduced("mean", x, (1,))
        yield ("op: reduce, in: x, axis: 1, of: mean, keepdims: true", np.expand_dims(got, 1), 1e-15)


# ---- Weights ----

def weighted(kind, x, w, axes):
    """w has x's shape."""
    kept = [a for a in range(x.ndim) if a not in axes]
    order = kept + list(axes)
    shape = [x.shape[a] for a in kept] + [math.prod(x.shape[a] for a in axes)]
    x, w = (np.transpose(a, order).reshape(shape).astype("f8") for a in (x, w))
    total = (w * x).sum(-1)
    with np.errstate(all="ignore"):
        if kind == "sum":
            return total
        mean = total / w.sum(-1)
        if kind == "mean":
            return mean
        free = w.sum(-1) - 1  # ddof
        var = np.where(free > 0, (w * (x - mean[..., None]) ** 2).sum(-1) / free, NAN)
    return var if kind == "var" else np.sqrt(var)


def weighted_stages(x, arrays):
    for name, (w, options) in arrays.items():
        full = np.broadcast_to(w.reshape(w.shape + (1,) * (x.ndim - w.ndim)) if options == ""
                               else w, x.shape)
        for text, axes in [("rows", (0,)), ("all", tuple(range(x.ndim))), ("1", (1,))]:
            if x.ndim == 1 and text == "1":
                continue
            for kind in ["sum", "mean", "var", "std"]:
                yield (f"op: reduce, in: x, weights: {name}, axis: {text}, of: {kind}, ddof: 1",
                       weighted(kind, x, full, axes), 1e-11)
            both = np.stack([weighted(k, x, full, axes) for k in ["std", "mean"]], -1)
            yield (f"op: reduce, in: x, weights: {name}, axis: {text}, of: [std, mean], ddof: 1",
                   both, 1e-11)


def main():
    random = np.random.default_rng(7)
    few = [("auto", 3), ("1 rows", 2), ("7 rows", 4)]
    for rows in [0, 1, 2, 67]:
        x = random.normal(size=(rows, 3)) * 10.0 ** random.integers(-3, 4, (rows, 3))
        check(f"f64-{rows}", {"x": (x, "")}, list(stages_for(x)), None if rows > 2 else few[:2])
    x = random.normal(size=(40, 4)).astype("f4")
    x[3, 1], x[7, 2], x[9, 2], x[:, 3] = NAN, np.inf, 0, NAN
    check("f32-odd", {"x": (x, "")}, list(stages_for(x)))
    check("f32-1d", {"x": (x[:, 0].copy(), "")}, list(stages_for(x[:, 0].copy())), few)
    x = random.normal(size=(9, 4, 5))
    check("f64-3d", {"x": (x, "")}, list(stages_for(x)), few)
    for code in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"]:
        x = random.integers(0 if code[0] == "u" else -100, 100, (33, 2)).astype(code)
        check(code, {"x": (x, "")}, list(stages_for(x)), few)
    for code in ["i1", "i8", "u8", "?"]:
        x = random.integers(-1 if code[0] == "i" else 1, 3, (50, 2)).astype(code)
        x[x == 0] = 1
        check(f"small-{code.replace('?', 'bool')}", {"x": (x, "")}, list(stages_for(x)), few)
    x = np.array([[-2**63, 2**63 - 1], [5, -2**63], [7, 2**63 - 1]], "i8")
    check("i64-ends", {"x": (x, "")},
          [(f"op: reduce, in: x, of: {k}", reduced(k, x, (0,)), 0)
           for k in ["min", "max", "argmin", "argmax", "norm2", "rms", "any", "all"]], few)
    x = np.array([1e300, 1e300, 1e-300, -1e-300, 2.5, 5e-324, 1e200, 1e124])
    check("products", {"x": (x, "")},
          [("op: reduce, in: x, of: [prod, norm2, rms, norm1]",
            np.array([one(k, x) for k in ["prod", "norm2", "rms", "norm1"]]), 2e-16)], few)
    x = random.normal(size=(5000, 2)) + 1e9  # moments far from zero
    check("far", {"x": (x, "")},
          [("op: reduce, in: x, of: [skewness, kurtosis]",
            np.stack([reduced(k, x, (0,)) for k in ["skewness", "kurtosis"]], -1), 1e-12)],
          [("auto", 3), ("7 rows", 2), ("1000 rows", 3)])
    x = random.normal(size=(60, 3)).astype("f4") + 4
    arrays = {"each": (random.random((60, 3)).astype("f4"), ""), "row": (random.random(60), ""),
              "element": (random.random(3), ", load: whole")}
    check("weights", {"x": (x, ""), **arrays}, list(weighted_stages(x, arrays)), few)


main()
finish()
