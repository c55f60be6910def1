#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes tests/data/hdf5/selections.txt: what NumPy gets from datasets of made.h5, chunks.h5 and others
# by an index, and with an axis moved to the front. A line is: file, dataset, select, axis, shape, crc32
# of the elements in little endian C order. Run in tests/data, after the files are made.
import os, random, zlib
import h5py
import numpy as np

random.seed(5)
sets = [("hdf5/made.h5", f"{kind}/{n}") for kind in ("contiguous", "chunked")
        for n in ("f64_le", "i16_be", "f32_be", "u8_le")]
sets += [("hdf5/made.h5", f"rank/{n}") for n in ("1", "2", "3", "4", "5", "1c", "2c", "3c", "4c", "5c")]
sets += [("hdf5/chunks.h5", n) for n in ("edges_unfiltered", "early", "many_btree", "grown", "lzf")]
sets += [("hdf5/long_rows.h5", "long_rows"), ("hdf5/long_rows.h5", "named")]
sets += [("hdf5/virtual.h5", "v"), ("hdf5/user_block.h5", "d"), ("cases/hdf5/layouts.h5", "compact"),
         ("cases/hdf5/layouts.h5", "rank32"), ("hdf5/places/in/external.h5", "parts")]


def entry(size, index):
    if index or random.random() < 0.2:
        i = random.randrange(-size, size)
        return str(i), i
    kind = random.random()
    if kind < 0.25:
        return ":", slice(None)
    start, stop = (random.choice([None, random.randint(-size, size)]) for _ in range(2))
    step = random.choice([None, None, 1, 2, 3, size + 5, -1, -2])
    text = ("" if start is None else str(start)) + ":" + ("" if stop is None else str(stop))
    if step is not None or random.random() < 0.1:
        text += ":" + ("" if step is None else str(step))
    return text, slice(start, stop, step)


def choose(shape):
    count = len(shape)
    entries = [entry(n, i < count - 4) for i, n in enumerate(shape)]
    random.shuffle(entries) if len(set(shape)) == 1 else None
    axes = [i for i, e in enumerate(entries) if not isinstance(e[1], int)]
    axis = random.choice(axes) if axes and random.random() < 0.6 else None
    return entries, axes, axis


def line(file, name, out):
    with h5py.File(file, "r") as f:
        if file.endswith("external.h5"):
            os.chdir(os.path.dirname(file))
        a = f[name][()]
    os.chdir(top)
    entries, axes, axis = choose(a.shape)
    picked = a[tuple(e[1] for e in entries)]
    if axis is not None:
        picked = np.moveaxis(picked, axes.index(axis), 0)
        axis -= random.choice([0, a.ndim])
    picked = np.ascontiguousarray(picked).astype(picked.dtype.newbyteorder("<")).reshape(picked.shape)
    shape = "x".join(str(n) for n in picked.shape) or "-"
    out.write(f"{file}\t{name}\t{' '.join(e[0] for e in entries)}\t{axis or 0}\t{shape}\t"
              f"{zlib.crc32(picked.tobytes()):08x}\n")


top = os.getcwd()
with open("hdf5/selections.txt", "w") as out:
    for file, name in sets:
        for _ in range(16):
            line(file, name, out)
