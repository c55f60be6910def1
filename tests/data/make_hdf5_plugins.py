#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes tests/data/hdf5/plugins.h5 with filters that only PyPI's hdf5plugin brings. Run in tests/data, with
# HDF5_PLUGIN_PATH set to its folder and libhdf5_serial.so.103 in LD_PRELOAD: the plugins look for the
# library among what is loaded for all.
import zlib
import h5py
import numpy as np

mixed = (np.arange(6400) // 7).astype("i4").reshape(64, 100)
FILTERS = {"zstd": (32015, (5,)), "bitshuffle_lz4": (32008, (0, 2)),
           "blosc2": (32026, (0, 0, 0, 0, 5, 1, 1)), "bzip2": (307, (9,))}

with h5py.File("hdf5/plugins.h5", "w") as f:
    for name, (number, values) in FILTERS.items():
        f.create_dataset(name, data=mixed, chunks=(32, 50), compression=number,
                         compression_opts=values)
print(f"{zlib.crc32(mixed.tobytes()):08x}")
