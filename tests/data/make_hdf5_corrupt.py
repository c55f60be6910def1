#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes tests/data/hdf5/corrupt: files that claim more than they hold. Run in tests/data.
import os, struct
import h5py
import numpy as np

os.makedirs("hdf5/corrupt", exist_ok=True)


def claim(name, old, new, form="<Q", **how):
    """A dataset of 123 doubles; every place that says `old` says `new` instead."""
    path = f"hdf5/corrupt/{name}.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=np.arange(123, dtype="f8"), **how)
        f["d"].attrs["columns"] = np.arange(77, dtype="i2")
    raw = open(path, "rb").read()
    assert struct.pack(form, old) in raw
    open(path, "wb").write(raw.replace(struct.pack(form, old), struct.pack(form, new)))


claim("shape_slightly_larger", 123, 200)
claim("shape_huge", 123, 1 << 40)
claim("shape_overflow", 123, 1 << 61)
claim("chunk_huge", 50, 0x1FFFFFFF, "<I", chunks=(50,))
claim("chunk_huge_gzip", 200, 0x1FFFFFFF, "<I", chunks=(200,), maxshape=(None,),
      compression="gzip")
claim("chunk_larger_gzip", 50, 123, "<I", chunks=(50,), compression="gzip")
claim("chunk_none", 50, 0, "<I", chunks=(50,))
claim("attribute_huge", 77, 1 << 60)

# Two changed bytes with which HDF5 1.10 frees memory that is not its own.
raw = bytearray(open("hdf5/places/in/links.h5", "rb").read())
raw[7525], raw[13329] = 0xFF, 0x2A
open("hdf5/corrupt/crash.h5", "wb").write(raw)
