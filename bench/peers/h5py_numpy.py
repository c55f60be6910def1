#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark's job with h5py and NumPy: blocks of rows, one thread, as most scripts do it.

usage: h5py_numpy.py FILE [DATASET]
Prints one JSON line: program, GB/s of input, seconds, and mean, std, min, max of column 0.
"""
import json
import sys
import time

import h5py
import numpy as np

BLOCK_BYTES = 64 << 20


def main(path, dataset="/x"):
    start = time.perf_counter()
    with h5py.File(path, "r") as file:
        data = file[dataset]
        rows, columns = data.shape
        step = max(1, BLOCK_BYTES // (4 * columns))
        block = np.empty((step, columns), np.float32)
        total = np.zeros(columns)
        squares = np.zeros(columns)
        low = np.full(columns, np.inf, np.float32)
        high = np.full(columns, -np.inf, np.float32)
        for first in range(0, rows, step):
            count = min(step, rows - first)
            x = block[:count]
            data.read_direct(x, np.s_[first:first + count])
            y = np.sqrt(np.abs(2 * x + 1))
            total += y.sum(axis=0, dtype=np.float64)
            squares += np.square(y, dtype=np.float64).sum(axis=0)
            np.minimum(low, y.min(axis=0), out=low)
            np.maximum(high, y.max(axis=0), out=high)
    mean = total / rows
    std = np.sqrt(squares / rows - mean**2)
    seconds = time.perf_counter() - start
    print(json.dumps({"program": "h5py + NumPy", "gb_per_s": rows * columns * 4 / seconds / 1e9,
                      "seconds": seconds, "mean": float(mean[0]), "std": float(std[0]),
                      "min": float(low[0]), "max": float(high[0])}))


if __name__ == "__main__":
    main(*sys.argv[1:])
