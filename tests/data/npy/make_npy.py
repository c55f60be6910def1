#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Structured .npy files as NumPy writes them, and what NumPy itself reads out of them: NAME.npy and
NAME.WHAT.npy, the columns stacked as the last axis in NumPy's promoted dtype."""
import math
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
here = Path(__file__).parent
rows = 7
n = np.arange(rows)


def filled(dtype, shape=rows):
    """Every number differs from its neighbours, so that a wrong place shows."""
    array = np.zeros(shape, dtype)
    counter = iter(range(1, 1000000))

    def fill(part):
        if part.dtype.names:
            for name in part.dtype.names:
                fill(part[name])
        elif part.dtype.kind in "iuf":
            for at in np.ndindex(part.shape):
                part[at] = next(counter) % 120
        elif part.dtype.kind == "b":
            for at in np.ndindex(part.shape):
                part[at] = next(counter) % 2 == 0
        elif part.dtype.kind in "SU":
            for at in np.ndindex(part.shape):
                part[at] = f"t{next(counter)}"
        elif part.dtype.kind == "c":
            for at in np.ndindex(part.shape):
                part[at] = next(counter) + 1j * next(counter)

    fill(array)
    return array


def flat(array):
    """All numbers of each record, in order, as one last axis."""
    parts = []

    def walk(part):
        if part.dtype.names:
            outer = part.ndim - array.ndim
            if outer == 0:
                for name in part.dtype.names:
                    walk(part[name])
            else:
                for at in np.ndindex(part.shape[array.ndim:]):
                    walk(part[(...,) + at])
        else:
            size = int(np.prod(part.shape[array.ndim:]))
            parts.append(part.reshape(array.shape + (size,)))

    walk(array)
    dtype = np.result_type(*[p.dtype.newbyteorder("=") for p in parts])
    return np.concatenate([p.astype(dtype) for p in parts], axis=-1)


def save(name, array, version=None, **expected):
    with open(here / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    for what, values in expected.items():
        values = np.ascontiguousarray(values)
        np.save(here / f"{name}.{what}.npy", values.astype(values.dtype.newbyteorder("=")))


a = filled([("id", "<i8"), ("x", "<f4"), ("y", ">f8"), ("ok", "?")])
save("mixed", a, all=flat(a), id=a["id"], yx=np.stack([a["y"], a["x"]], -1),
     id32=a["id"].astype("i4"))

a = filled([("id", "<i8"), ("x", "<f4")])
a["id"][4] = 2**53 + 1
save("large_id", a, id=a["id"])

a = filled(np.dtype([("c", "i1"), ("v", ">i2", (2, 3)), ("d", "<f8"), ("w", "u1", (3,)),
                     ("e", ">u4")], align=True))
save("aligned", a, all=flat(a), v=a["v"], w=a["w"], e1=np.stack([a["e"], a["v"][:, 1, 2]], -1))

inner = np.dtype([("lat", "<f4"), ("lon", ">f4")], align=True)
a = filled([("when", "<u4"), ("pos", inner), ("track", inner, (2, 2)),
            ("deep", [("deeper", [("x", "<i2", (2,))])])])
save("nested", a, all=flat(a), pos=np.stack([a["pos"]["lat"], a["pos"]["lon"]], -1),
     lon=a["track"]["lon"][:, 1, 0], deep=a["deep"]["deeper"]["x"])

a = filled({"names": ["b", "a"], "formats": [">f4", "<i2"], "offsets": [3, 10], "itemsize": 21})
save("offsets", a, all=flat(a))
a = filled(np.dtype([(("What it is", "a"), "<f4"), (("Größe", "b"), ">i2")]))
save("titles", a, all=flat(a))
a = filled([("größe", "<f4"), ("it's \\ \"it\"", "<f4"), ("b\n", "<f4")])
save("latin1", a, version=(1, 0), all=flat(a))
a = filled([("温度", "<f4"), ("größe", ">i4")])
save("unicode", a, version=(3, 0), all=flat(a), second=a["größe"])
save("version2", a[["größe"]].astype([("b", "<i4")]), version=(2, 0), b=a["größe"])

a = filled([("n", "<i4"), ("name", "S5"), ("u", "U3"), ("t", "M8[ns]"), ("d", "m8"), ("z", "<c8"),
            ("raw", "V3"), ("g", "g"), ("x", ">f8")])
save("texts", a, xz=np.stack([a["x"], a["z"].real, a["z"].imag], -1), zim=a["z"].imag,
     nx=np.stack([a["n"], a["x"]], -1).astype("f8"))
a = np.zeros(2, [("n", "<i4"), ("o", "O")])
save("objects", a)

a = filled([("a", "<i2"), ("b", ">f4")], (5, 4))
save("two_axes", a, all=flat(a), b=a["b"])
save("two_axes_fortran", np.asfortranarray(a), all=flat(a), b=a["b"])
a = filled([("a", "<i2"), ("b", ">f4")], 0)
save("no_rows", a, all=flat(a))
a = filled([("a", "<i2"), ("b", ">f4")], ())
save("one_record", a, all=flat(a.reshape(1)))
a = filled("<i4", (3, 4))
save("plain", a, f8=a.astype("f8"), u1=a.astype("u1"))
save("plain_fortran", np.asfortranarray(a.astype(">i4")), f8=a.astype("f8"))
a = np.array([1.5, 2, 1e300])
save("floats", a)

# Exact magnitudes and phases, and a Fortran order.
z = np.array([[3 + 4j, -5 + 12j, 8 - 15j], [1, 1j, -1], [-1j, 0, 20 + 21j]])
# NumPy's own arctan2 differs in the last bit from machine to machine.
phase = np.vectorize(math.atan2)(z.imag, z.real)
save("complex", np.asfortranarray(z.astype(">c16")), parts=np.stack([z.real, z.imag], -1), re=z.real,
     im=z.imag, magnitude=abs(z), phase=phase, polar=np.stack([abs(z), phase], -1))
z = z.astype("<c8")
save("complex64", z, parts=np.stack([z.real, z.imag], -1), im=z.imag, im8=z.imag.astype("f8"),
     magnitude8=abs(z.astype("c16")))

# Dates and time differences: whole numbers of every unit, in ns by NumPy, in s by exact fractions.
numbers = [0, 1, -1, 25, -25, 11, 13, 14, 30, 59, -1200, 2399, -1969, 123456789, -987654321,
           1700000000123456789, -1700000000123456789, 2**63 - 1, -(2**63) + 1]
length = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1, "ms": Fraction(1, 10**3),
          "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9), "ps": Fraction(1, 10**12),
          "fs": Fraction(1, 10**15), "as": Fraction(1, 10**18)}
units = ["Y", "M", *length]
a = np.zeros(len(numbers) + 1, [(unit, f"{'><'[i % 2]}M8[{unit}]") for i, unit in enumerate(units)])
near, seconds = a[:8].copy(), np.full((len(a), len(units)), np.nan)
for i, unit in enumerate(units):
    some = numbers if unit in length else [n if abs(n) < 10**5 else 7 for n in numbers]
    a[unit] = np.array([*some, "NaT"], f"M8[{unit}]")
    near[unit] = np.array([n * dict(ps=10**3, fs=10**6).get(unit, 1) for n in some[:8]], f"M8[{unit}]")
    if unit == "as":
        near[unit] = np.arange(8) * 10**9
    seconds[:-1, i] = ([float(Fraction(n) * length[unit]) for n in some] if unit in length else
                       [float(int(v)) for v in a[unit][:-1].astype("M8[s]").astype("i8")])
save("times", a, s=seconds)
save("near", near, ns=np.stack([near[u].astype("M8[ns]").astype("i8") for u in units], -1))
save("delta", np.array([1, -90], "<m8[m]"), s=np.array([60.0, -5400.0]))
a = np.zeros(4, [("t", ">M8[us]"), ("x", "<f4")])
a["t"], a["x"] = np.arange(4) * 250000, np.arange(4)
save("timed", a, s=np.stack([np.arange(4) / 4, a["x"]], -1))
