#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes tests/data/hdf5/made.h5, its twin layouts, and tests/data/hdf5/results.txt: what h5py (3.7,
# HDF5 1.10) reads from these and from tests/data/cases/hdf5. A line is: file, dataset, dtype, shape,
# crc32 of the elements in little endian C order. Run in tests/data.
import os, zlib
import h5py
import numpy as np

import make_hdf5_places

os.makedirs("hdf5", exist_ok=True)
rng = np.random.default_rng(7)


# Refused here, or read by rules of our own: in the tests' tables.
SPECIAL = ["bool_two", "odd_filter", "array_type", "E",
           "blosc", "lz4", "bitshuffle_lz4"]  # where plugins are installed


def short(dtype):
    return "bool" if dtype == np.bool_ else f"{dtype.kind}{8 * dtype.itemsize}"


def make(path):
    with h5py.File(path, "w") as f:
        for kind in ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
            raw = rng.integers(0, 256, 7 * 3 * 8, dtype=np.uint8).tobytes()
            if kind == "?":
                a = np.frombuffer(raw[:21], "u1").reshape(7, 3) > 127
            else:
                a = np.frombuffer(raw[: 21 * int(kind[1])], "<" + kind).reshape(7, 3)
            for order in "<>":
                n = a if kind == "?" else a.astype(order + kind)
                name = f"{short(a.dtype)}_{'le' if order == '<' else 'be'}"
                f.create_dataset(f"contiguous/{name}", data=n)
                f.create_dataset(f"chunked/{name}", data=n, chunks=(2, 2), compression="gzip",
                                 shuffle=True, fletcher32=True)
        for rank in range(1, 6):
            shape = (5, 4, 3, 2, 2)[:rank]
            a = np.arange(np.prod(shape), dtype="i2").reshape(shape)
            f.create_dataset(f"rank/{rank}", data=a)
            f.create_dataset(f"rank/{rank}c", data=a, chunks=(2,) * rank)
        colour = h5py.enum_dtype({"red": 0, "blue": 1000}, basetype=">i2")
        f.create_dataset("enum_be", data=np.array([0, 1000, 7], ">i2"), dtype=colour)
        f.create_dataset("enum_bool_odd", data=np.array([1, 0], "u1"),
                         dtype=h5py.enum_dtype({"FALSE": 1, "TRUE": 0}, basetype="u1"))
        raw_bool = f.create_dataset("bool_two", (3,), "?", chunks=(3,))
        raw_bool.id.write_direct_chunk((0,), bytes([0, 2, 1]))  # 2 counts as true
        f.create_dataset("f32_fill", (6, 2), "f4", chunks=(4, 2), fillvalue=np.float32(1.5))
        f["f32_fill"][4:] = 2
        d = f.create_dataset("named", data=np.ones((2, 2), "f4"))
        d.attrs["columns"] = ["a", "b \u00e9"]
        d = f.create_dataset("named_twice", data=np.ones((2, 2), "f4"))
        d.attrs["columns"] = ["a", "a"]
        space = h5py.h5s.create_simple((4,))
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_chunk((4,))
        create.set_filter(32123, h5py.h5z.FLAG_OPTIONAL, ())  # no such filter: optional, so skipped
        h5py.h5d.create(f.id, b"odd_filter", h5py.h5t.NATIVE_INT32, space, create)
    with h5py.File("hdf5/user_block.h5", "w", userblock_size=1024) as f:
        f["d"] = np.arange(10, dtype="f8") / 3
    with open("hdf5/user_block.h5", "r+b") as raw:
        raw.write(b"a header of another kind")
    with h5py.File("hdf5/long_rows.h5", "w") as f:
        f["long_rows"] = (np.arange(4 * 4099) % 251).astype("u1").reshape(4, 4099)
        f.create_dataset("named", data=np.arange(12, dtype="f4").reshape(3, 4), chunks=(2, 3))
        f["named"].attrs["columns"] = ["a", "b", "c", "d"]
    with h5py.File("hdf5/virtual.h5", "w") as f:
        layout = h5py.VirtualLayout(shape=(2, 10), dtype="f8")
        layout[0] = h5py.VirtualSource("user_block.h5", "d", shape=(10,))
        layout[1] = h5py.VirtualSource("user_block.h5", "d", shape=(10,))
        f.create_virtual_dataset("v", layout)


def result(path, name, a, out):
    a = np.ascontiguousarray(a).astype(a.dtype.newbyteorder("<")).reshape(a.shape)
    shape = "x".join(str(n) for n in a.shape) or "-"
    out.write(f"{path}\t/{name}\t{short(a.dtype)}\t{shape}\t{zlib.crc32(a.tobytes()):08x}\n")


def results(path, out):
    f = h5py.File(path, "r")

    def visit(name, d):
        if not isinstance(d, h5py.Dataset) or name in SPECIAL or name.startswith("plugin/"):
            return
        try:
            a = d[()]
        except Exception:
            return  # what cannot be read is in the tests' tables of errors
        if not isinstance(a, (np.ndarray, np.generic)) or a.dtype.kind not in "biuf":
            return
        if a.dtype.itemsize > 8 or a.ndim > 4 or d.id.get_type().get_class() == h5py.h5t.BITFIELD:
            return
        result(path, name, a, out)

    f.visititems(visit)
    for name in f:
        if not isinstance(f.get(name, getlink=True), h5py.HardLink):
            try:
                visit(name, f[name])
            except (KeyError, RuntimeError):
                pass  # leads nowhere


def places(out):
    top = os.getcwd()
    for file, names in make_hdf5_places.GOOD.items():
        os.chdir(f"{top}/hdf5/places/in")  # external storage is relative to it, for h5py
        with h5py.File(file, "r") as f:
            for name in names:
                result(f"hdf5/places/in/{file}", name, f[name][()], out)
        os.chdir(top)


make("hdf5/made.h5")
with open("hdf5/results.txt", "w") as out:
    for name in ["made.h5", "user_block.h5", "virtual.h5", "chunks.h5", "long_rows.h5"]:
        results("hdf5/" + name, out)
    for name in ["types.h5", "layouts.h5", "filters.h5", "index_latest.h5", "cf_packed.nc",
                 "scaleoffset_extreme.h5", "corrupt_plain.h5", "matlab73.mat", "links/links.h5",
                 "vds/src0.h5"]:
        results("cases/hdf5/" + name, out)
    places(out)
