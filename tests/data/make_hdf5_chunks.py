#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes tests/data/hdf5/chunks.h5: filters and chunk indexes beyond those of the cases. What h5py reads
# from it is written by make_hdf5.py. Run in tests/data, where Debian's plugins are installed.
import ctypes
import h5py
import numpy as np

hdf5 = ctypes.CDLL("libhdf5_serial.so.103")
rng = np.random.default_rng(3)
# Smooth, so that packing helps; then noise, for which optional filters are left out; then one value.
mixed = np.concatenate([np.arange(4000) // 3, rng.integers(0, 2**31, 500), np.full(7500, 7)])
mixed = mixed.astype("i4").reshape(120, 100)
real = np.round(np.sin(np.arange(1500) / 9).reshape(50, 30), 3)

# Filters of plugins: number, parameters.
PLUGINS = {"bzip2": (307, (9,)), "lz4": (32004, (0,)),
           "blosc_lz": (32001, (2, 2, 4, 4000, 5, 1, 0)),
           "blosc_lz4": (32001, (2, 2, 4, 4000, 9, 2, 1)),
           "blosc_lz4hc": (32001, (2, 2, 4, 4000, 5, 1, 2)),
           "blosc_zlib": (32001, (2, 2, 4, 4000, 5, 1, 4)),
           "blosc_zstd": (32001, (2, 2, 4, 4000, 5, 2, 5))}


def low_level(f, name, data, chunk, *settings):
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_chunk(chunk)
    for setting in settings:
        setting(create)
    space = h5py.h5s.create_simple(data.shape)
    d = h5py.h5d.create(f.id, name.encode(), h5py.h5t.py_create(data.dtype), space, create)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(data))


def make(path):
    with h5py.File(path, "w", libver="latest") as f:
        f.create_dataset("lzf", data=mixed, chunks=(50, 20), compression="lzf")
        f.create_dataset("lzf_shuffle", data=mixed, chunks=(120, 100), compression="lzf",
                         shuffle=True, fletcher32=True)
        f.create_dataset("szip_ec", data=mixed, chunks=(32, 20), compression=("szip"),
                         compression_opts=("ec", 16))
        f.create_dataset("scaleoffset", data=mixed, chunks=(50, 20), scaleoffset=0)
        f.create_dataset("scaleoffset_real", data=real, chunks=(50, 7), scaleoffset=3)
        for name, (number, values) in PLUGINS.items():
            f.create_dataset("plugin/" + name, data=mixed, chunks=(50, 20), compression=number,
                             compression_opts=values)
        # Optional filters that nobody has, left out by one chunk but not by the other.
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_chunk((4,))
        create.set_filter(32123, h5py.h5z.FLAG_OPTIONAL, ())
        d = h5py.h5d.create(f.id, b"unknown_filter", h5py.h5t.NATIVE_UINT8,
                            h5py.h5s.create_simple((8,)), create)
        d.write_direct_chunk((0,), b"abcd", filter_mask=1)
        d.write_direct_chunk((4,), b"efgh")
        # Chunks at the edges are stored without filters.
        low_level(f, "edges_unfiltered", mixed, (50, 30), lambda c: c.set_deflate(6),
                  lambda c: hdf5.H5Pset_chunk_opts(ctypes.c_int64(c.id), 2))
        # Space for every chunk from the start: an implicit index.
        low_level(f, "early", real, (7, 7),
                  lambda c: c.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY))
        many = (np.arange(1120) % 251).astype("u1")
        f.create_dataset("many_fixed", data=many, chunks=(1,))  # more than one page of the index
        f.create_dataset("many_extensible", data=many, chunks=(1,), maxshape=(None,))
        f.create_dataset("many_btree", data=many.reshape(16, 70), chunks=(1, 3),
                         maxshape=(None, None))
        d = f.create_dataset("grown", (3, 4), "f4", chunks=(16, 16), maxshape=(None, None),
                             fillvalue=-2, compression="gzip")
        d[:] = 1
        d.resize((40, 3))
        d[39] = 5
        d.resize((40, 9))
        # Every chunk with its own mask: both filters, none, only one of the two.
        d = f.create_dataset("masks", (4, 4), "u2", chunks=(1, 4), compression="gzip", shuffle=True)
        d[0] = d[3] = [1, 2, 3, 4]
        d.id.write_direct_chunk((1, 0), np.arange(4, dtype="<u2").tobytes(), filter_mask=3)
        d.id.write_direct_chunk((2, 0), bytes([5, 6, 7, 8, 0, 0, 0, 1]), filter_mask=2)


if __name__ == "__main__":
    make("hdf5/chunks.h5")
