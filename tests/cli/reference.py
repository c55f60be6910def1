# SPDX-License-Identifier: Apache-2.0
"""What stages must find, by plain NumPy: windows one by one, sums one after the other. Shared by
across.py and chains.py.
"""
import numpy as np

NAN = float("nan")
KINDS = ["sum", "mean", "min", "max", "var", "std", "median", "count", "first", "last"]
LOOSE = 1e-12  # sums in another order than NumPy's


def window_rows(rows, before, after, start=0, step=1):
    """(first, end) of each output row's window, clipped to the rows there are."""
    return [(max(a - before, 0), min(a + after + 1, rows)) for a in range(start, rows, step)]


def number(kind, values, dtype):
    exact = values.astype(object) if np.issubdtype(values.dtype, np.integer) else None
    x = values.astype(np.float64)
    if kind == "sum":
        return exact.sum(axis=0) if exact is not None else x.sum(axis=0)
    if kind == "mean":
        return np.asarray(exact.sum(axis=0) / len(x), "f8") if exact is not None else x.mean(axis=0)
    if kind == "count":
        return (~np.isnan(x)).sum(axis=0)
    if kind in ("first", "last"):
        return values[0 if kind == "first" else -1]
    return {"min": values.min, "max": values.max}[kind](axis=0) if kind in ("min", "max") else \
        {"var": x.var, "std": x.std, "median": lambda axis: np.median(x, axis=axis)}[kind](axis=0)


def out_dtype(kind, dtype):
    if kind in ("min", "max", "first", "last"):
        return dtype
    if kind == "count":
        return np.dtype("i8")
    if kind == "sum" and dtype.kind in "iu":
        return np.dtype("i8" if dtype.kind == "i" else "u8")
    return np.dtype("f8")


def windows(x, kind, rows, full=None, fill=NAN):
    """full: windows of fewer rows give fill."""
    out = np.zeros((len(rows),) + x.shape[1:], out_dtype(kind, x.dtype))
    with np.errstate(all="ignore"):
        for r, (first, end) in enumerate(rows):
            short = full is not None and end - first < full
            out[r] = fill if short else number(kind, x[first:end], x.dtype)
    return out


def shifted(x, by, fill):
    out = np.full(x.shape, fill, x.dtype)
    rows = np.arange(len(x)) - by
    there = (rows >= 0) & (rows < len(x))
    out[there] = x[rows[there]]
    return out, there


def cumulative(x, kind):
    wide = x.astype(np.float64 if x.dtype.kind == "f" else object)
    if kind == "count":
        return np.cumsum(~np.isnan(x.astype("f8")), axis=0)
    if kind in ("min", "max"):
        return (np.minimum if kind == "min" else np.maximum).accumulate(x, axis=0)
    out = np.zeros(x.shape, out_dtype("sum", x.dtype))
    total = 0 if kind == "sum" else 1
    with np.errstate(all="ignore"):
        for r in range(len(x)):
            total = total + wide[r] if kind == "sum" else total * wide[r]
            out[r] = total
    return out


def convolved(x, taps, ahead, edges):
    w = x.astype("f8")
    out = np.zeros(x.shape)
    full = np.ones(len(x), bool)
    with np.errstate(all="ignore"):
        for r in range(len(x)):
            for j, tap in enumerate(taps):
                at = r + ahead - j
                if 0 <= at < len(x):
                    out[r] += tap * w[at]
                else:
                    full[r] = False
    if edges == "fill":
        out[~full] = NAN
    out = out[full] if edges == "drop" else out
    return out.astype("f4") if x.dtype in ("f4", "f2") else out


def same(a, b, bound):
    """bound: of the difference, relative where values are above 1."""
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return np.array_equal(a.astype(object), b.astype(object))
    a, b = a.astype("f8"), b.astype("f8")
    with np.errstate(all="ignore"):
        close = np.abs(a - b) <= bound * (1 + np.abs(b))
    return bool(np.all(close | (np.isnan(a) & np.isnan(b)) | (a == b)))
