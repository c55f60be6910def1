#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/hdf5/types.h5, cf.h5 and types.txt: element types of HDF5 and what they become.

A line of types.txt is: file, dataset, options, array, crc32 of the elements (little endian, C order,
NaNs as one bit pattern). The values are made by NumPy from what was written. Run in tests/data.
"""
import zlib

import h5py
import numpy as np

rng = np.random.default_rng(11)
NAMES = {"b1": "bool"}


def short(dtype):
    return "bool" if dtype == np.bool_ else "%s%d" % (dtype.kind, 8 * dtype.itemsize)


def line(out, file, name, options, a):
    a = np.asarray(a)
    a = np.ascontiguousarray(a).astype(a.dtype.newbyteorder("<")).reshape(a.shape)
    if a.dtype.kind == "f":
        a[np.isnan(a)] = np.nan
    shape = ", ".join(str(n) for n in a.shape)
    out.write("%s\t%s\t%s\t%s[%s]\t%08x\n" % (file, name, options or "-", short(a.dtype), shape,
                                              zlib.crc32(a.tobytes())))


def compounds(f, out):
    n = 9
    plain = np.zeros(n, [("a", "<i4"), ("b", ">f8"), ("v", "<i2", (3,))])
    plain["a"], plain["b"], plain["v"] = rng.integers(-100, 100, n), rng.normal(size=n), rng.integers(-9, 9, (n, 3))
    f["plain"] = plain
    whole = np.column_stack([plain["a"].astype("f8"), plain["b"].astype("f8"), plain["v"].astype("f8")])
    line(out, "types.h5", "plain", "", whole)
    line(out, "types.h5", "plain", "columns=b", plain["b"].astype("f8"))
    line(out, "types.h5", "plain", "columns=v", plain["v"])
    line(out, "types.h5", "plain", "columns=v[2],a", np.column_stack([plain["v"][:, 2].astype("i4"), plain["a"]]))
    f.create_dataset("chunked", data=plain, chunks=(4,), compression="gzip", shuffle=True)
    line(out, "types.h5", "chunked", "columns=a", plain["a"])
    padded = np.zeros(n, np.dtype({"names": ["x", "y", "s"], "formats": ["<u2", ">f4", "S5"],
                                   "offsets": [3, 8, 20], "itemsize": 40}))
    padded["x"], padded["y"], padded["s"] = np.arange(n) * 7, np.arange(n) / 3, b"abc"
    f["padded"] = padded
    line(out, "types.h5", "padded", "columns=y,x", np.column_stack([padded["y"].astype("f4"), padded["x"].astype("f4")]))
    nested = np.zeros((2, 3), [("p", [("x", "<f4"), ("q", [("y", ">i2")])]), ("r", "<f4", (2, 2)),
                               ("c", [("k", "<i1"), ("w", "<f4")], (2,))])
    nested["p"]["x"], nested["p"]["q"]["y"] = rng.normal(size=(2, 3)), rng.integers(-5, 5, (2, 3))
    nested["r"] = rng.normal(size=(2, 3, 2, 2))
    nested["c"]["k"], nested["c"]["w"] = rng.integers(-5, 5, (2, 3, 2)), rng.normal(size=(2, 3, 2))
    f["nested"] = nested
    line(out, "types.h5", "nested", "columns=p.x", nested["p"]["x"])
    line(out, "types.h5", "nested", "columns=p.q.y", nested["p"]["q"]["y"])
    line(out, "types.h5", "nested", "columns=r", nested["r"])
    line(out, "types.h5", "nested", "columns=c[1].w,p.x", np.stack([nested["c"]["w"][..., 1], nested["p"]["x"]], -1))
    ints = np.zeros(3, [("id", "<i8"), ("v", "<f8")])
    ints["id"] = [1, 2**53 + 1, 3]
    f["ids"] = ints
    line(out, "types.h5", "ids", "columns=id", ints["id"])
    flags = np.zeros(4, [("ok", "?"), ("n", "<u1")])
    flags["ok"], flags["n"] = [True, False, True, True], [1, 2, 3, 255]
    f["flags"] = flags
    line(out, "types.h5", "flags", "columns=ok", flags["ok"])
    line(out, "types.h5", "flags", "", np.column_stack([flags["ok"].astype("u1"), flags["n"]]))


def complexes(f, out):
    z = (rng.normal(size=(5, 3)) + 1j * rng.normal(size=(5, 3))).astype("c16")
    for code, order in [("c8", "<"), ("c8", ">"), ("c16", "<"), ("c16", ">")]:
        name = "%s_%s" % (code, "le" if order == "<" else "be")
        values = z.astype(order + code)
        f[name] = values
        part = "f4" if code == "c8" else "f8"
        line(out, "types.h5", name, "complex=parts", np.stack([values.real, values.imag], -1).astype(part))
        line(out, "types.h5", name, "complex=imag", values.imag.astype(part))
    matlab = np.zeros((2, 2), [("real", "<f8"), ("imag", "<f8")])
    matlab["real"], matlab["imag"] = [[1, 2], [3, 4]], [[-1, 0], [0.5, 9]]
    f["matlab"] = matlab
    line(out, "types.h5", "matlab", "complex=parts", np.stack([matlab["real"], matlab["imag"]], -1))
    line(out, "types.h5", "matlab", "columns=imag", matlab["imag"])
    turned = np.zeros(3, [("im", "<f4"), ("re", "<f4")])
    turned["im"], turned["re"] = [1, 2, 3], [4, 5, 6]
    f["imag_first"] = turned
    line(out, "types.h5", "imag_first", "complex=parts", np.column_stack([turned["re"], turned["im"]]))
    f.create_dataset("array_of_complex", (2,), np.dtype(("<c8", (3,))))
    f["array_of_complex"][...] = z[:2].astype("c8")
    line(out, "types.h5", "array_of_complex", "complex=parts",
         np.stack([z[:2].astype("c8").real, z[:2].astype("c8").imag], -1))


def arrays(f, out):
    for code in ("<f4", ">i2"):
        a = (rng.normal(size=(4, 2, 3)) * 50).astype(code)
        name = "array_" + code[1:]
        f.create_dataset(name, (4,), np.dtype((code, (2, 3))))
        f[name][...] = a
        line(out, "types.h5", name, "", a.astype("<" + code[1:]))
    a = rng.integers(0, 99, (3, 2, 4)).astype("u1")
    f.create_dataset("array_2d", (3, 2), np.dtype(("u1", (4,))), chunks=(2, 1))
    f["array_2d"][...] = a
    line(out, "types.h5", "array_2d", "", a)


def numbers(f, out):
    for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        for order in "<>":
            base = order + code
            values = np.array([0, 1, 5, 100], base)
            name = "enum_%s_%s" % (code, "le" if order == "<" else "be")
            f.create_dataset(name, data=values, dtype=h5py.enum_dtype({"a": 0, "b": 5}, basetype=base))
            line(out, "types.h5", name, "", values)
    ld = np.array([1, 2.5, -1e300, 0.1], "longdouble")
    f["long_double"] = ld
    line(out, "types.h5", "long_double", "", ld.astype("f8"))
    for bytes_, order in [(1, "LE"), (2, "LE"), (4, "BE"), (8, "BE")]:
        t = getattr(h5py.h5t, "STD_B%d%s" % (8 * bytes_, order)).copy()
        values = np.array([0, 1, 2 ** (8 * bytes_ - 1)], "u%d" % bytes_)
        space = h5py.h5s.create_simple((3,))
        d = h5py.h5d.create(f.id, b"bits%d" % (8 * bytes_), t, space)
        native = getattr(h5py.h5t, "NATIVE_B%d" % (8 * bytes_))
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, values, native)
        line(out, "types.h5", "bits%d" % (8 * bytes_), "", values)
    for signed in (True, False):
        for order in (h5py.h5t.ORDER_LE, h5py.h5t.ORDER_BE):
            t = (h5py.h5t.STD_I32LE if signed else h5py.h5t.STD_U32LE).copy()
            t.set_precision(24), t.set_size(3), t.set_order(order)
            values = np.array([0, 1, -2 if signed else 2, 8388607], "i4" if signed else "u4")
            name = "int24_%s_%s" % ("i" if signed else "u", "le" if order == h5py.h5t.ORDER_LE else "be")
            d = h5py.h5d.create(f.id, name.encode(), t, h5py.h5s.create_simple((4,)))
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
            line(out, "types.h5", name, "", values)
    f["text"] = np.array([b"ab", b"cd"])
    f.create_dataset("only_text", (2,), np.dtype([("a", "S3"), ("b", "S2")]))
    f.create_dataset("vlen", (2,), h5py.vlen_dtype("i4"))
    ranks = np.arange(2 ** 6, dtype="i2").reshape((2,) * 6)
    f["rank6"] = ranks
    line(out, "types.h5", "rank6", "", ranks)
    ones = np.arange(12, dtype="u1").reshape((1, 3, 1, 1, 1, 1, 2, 1, 2, 1, 1))
    f["many_ones"] = ones
    line(out, "types.h5", "many_ones", "", ones.reshape(3, 2, 2))


def conventions(f, out):
    """Decoded by hand: missing before scaling, limits on what is stored unless they are floats."""
    def put(name, data, wanted, **attributes):
        d = f.create_dataset(name, data=data)
        for key, value in attributes.items():
            d.attrs[key] = value
        line(out, "cf.h5", name, "cf=true", wanted)

    nan = np.nan
    packed = np.array([[0, 100, -32767], [32767, -5000, 7]], "i2")
    scaled = packed * 0.01 + 273.15
    scaled[packed == -32767] = nan
    put("scaled", packed, scaled, _FillValue=np.int16(-32767), scale_factor=0.01, add_offset=273.15)
    limited = scaled.copy()
    limited[packed == 32767] = nan
    put("limited", packed, limited, _FillValue=np.int16(-32767), scale_factor=0.01, add_offset=273.15,
        valid_range=np.array([-10000, 30000], "i2"))
    warm = scaled.copy()
    warm[(warm < 200) | (warm > 273.155)] = nan
    put("limits_unpacked", packed, warm, _FillValue=np.int16(-32767), scale_factor=0.01, add_offset=273.15,
        valid_min=200.0, valid_max=273.155)
    singles = np.array([1.5, -999.9, 0.0, nan, 2.5], "f4")
    masked = singles.copy()
    masked[1] = nan
    put("fill_of_another_type", singles, masked, _FillValue=-999.9)
    put("two_missing", np.array([1, 2, 3, 4], "f8"), np.array([1, nan, 3, nan]), missing_value=np.array([2.0, 4.0]))
    put("zero_fill", np.array([0.0, -0.0, 1], "f4"), np.array([nan, nan, 1], "f4"), _FillValue=np.float32(0))
    unsigned = np.array([0, -1, 127, -128], "i1")
    put("unsigned", unsigned, np.array([0, nan, 127, 128]) * float(np.float32(0.1)), _FillValue=np.int8(-1),
        _Unsigned="true", scale_factor=np.float32(0.1))
    put("whole", np.array([5, -7, 9], "i4"), np.array([5, nan, 9.0]), _FillValue=np.int32(-7))
    put("fill_out_of_range", np.array([5, 32767], "i2"), np.array([5, 32767.0]), _FillValue=1e20)
    put("wide_fill", np.array([1, -9223372036854775806], "i8"), np.array([1, nan]),
        _FillValue=np.int64(-9223372036854775806))
    put("nothing", np.array([1, 2], "f4"), np.array([1, 2], "f4"))
    put("scale_only", np.array([1, 2], "f4"), np.array([2.0, 4.0]), scale_factor=2)
    halves = np.array([1, 2, 4], "f2")
    put("halves", halves, np.array([1, nan, 4], "f4"), _FillValue=2.0)
    d = f.create_dataset("too_wide", data=np.array([1, 2**53 + 1], "i8"))
    d.attrs["scale_factor"] = 1.0
    d = f.create_dataset("text_scale", data=np.array([1, 2], "i2"))
    d.attrs["scale_factor"] = "0.1"
    d = f.create_dataset("default_fill", (3,), "f4", fillvalue=np.float32(9.9692099683868690e+36))
    d[0] = 4
    line(out, "cf.h5", "default_fill", "cf=true", np.array([4, nan, nan], "f4"))


def main():
    with open("hdf5/types.txt", "w", encoding="ascii") as out:
        with h5py.File("hdf5/types.h5", "w", track_order=False) as f:
            compounds(f, out)
            complexes(f, out)
            arrays(f, out)
            numbers(f, out)
        with h5py.File("hdf5/cf.h5", "w") as f:
            conventions(f, out)


main()
