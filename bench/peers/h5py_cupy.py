#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark's job with h5py and CuPy.

usage: h5py_cupy.py [--pinned] FILE [DATASET]
Plain: read a block, copy it, compute, one after the other. --pinned: two pinned buffers, a thread
that reads ahead and two streams, as the guides recommend. Prints one JSON line as h5py_numpy.py.
"""
import concurrent.futures
import json
import sys
import time

import cupy
import h5py
import numpy as np

BLOCK_BYTES = 64 << 20

transform = cupy.ElementwiseKernel("float32 x", "float32 y", "y = sqrtf(fabsf(2.0f * x + 1.0f))",
                                   "transform")


class Totals:
    def __init__(self, columns):
        self.sum = cupy.zeros(columns, cupy.float64)
        self.squares = cupy.zeros(columns, cupy.float64)
        self.low = cupy.full(columns, np.inf, cupy.float32)
        self.high = cupy.full(columns, -np.inf, cupy.float32)

    def add(self, x):
        y = transform(x)
        wide = y.astype(cupy.float64)
        self.sum += wide.sum(axis=0)
        self.squares += (wide * wide).sum(axis=0)
        cupy.minimum(self.low, y.min(axis=0), out=self.low)
        cupy.maximum(self.high, y.max(axis=0), out=self.high)


def plain(data, totals, step):
    for first in range(0, len(data), step):
        totals.add(cupy.asarray(data[first:first + step]))


def pinned(data, totals, step):
    columns = data.shape[1]
    host = []
    for _ in range(2):
        memory = cupy.cuda.alloc_pinned_memory(step * columns * 4)
        host.append(np.frombuffer(memory, np.float32, step * columns).reshape(step, columns))
    device = [cupy.empty((step, columns), cupy.float32) for _ in range(2)]
    copied = [cupy.cuda.Event() for _ in range(2)]
    used = [cupy.cuda.Event() for _ in range(2)]
    copies = cupy.cuda.Stream(non_blocking=True)
    work = cupy.cuda.get_current_stream()
    starts = list(range(0, len(data), step))

    def read(index):
        slot = index % 2
        copied[slot].synchronize()  # the buffer's last copy is over
        count = min(step, len(data) - starts[index])
        data.read_direct(host[slot][:count], np.s_[starts[index]:starts[index] + count])
        return count

    with concurrent.futures.ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(read, 0)
        for index in range(len(starts)):
            slot = index % 2
            count = ahead.result()
            copies.wait_event(used[slot])
            device[slot][:count].set(host[slot][:count], stream=copies)
            copied[slot].record(copies)
            if index + 1 < len(starts):
                ahead = reader.submit(read, index + 1)
            work.wait_event(copied[slot])
            totals.add(device[slot][:count])
            used[slot].record(work)


def main(arguments):
    way = pinned if "--pinned" in arguments else plain
    path, dataset = ([a for a in arguments if a != "--pinned"] + ["/x"])[:2]
    cupy.zeros(1)  # the context is not part of the measured time, nor is the first compilation
    warm = Totals(256)
    warm.add(cupy.zeros((4, 256), cupy.float32))
    cupy.cuda.Device().synchronize()

    start = time.perf_counter()
    with h5py.File(path, "r") as file:
        data = file[dataset]
        rows, columns = data.shape
        totals = Totals(columns)
        way(data, totals, max(1, BLOCK_BYTES // (4 * columns)))
        mean = cupy.asnumpy(totals.sum) / rows
        std = np.sqrt(cupy.asnumpy(totals.squares) / rows - mean**2)
        low, high = cupy.asnumpy(totals.low), cupy.asnumpy(totals.high)
    seconds = time.perf_counter() - start
    name = "h5py + CuPy, double-buffered pinned" if way is pinned else "h5py + CuPy, plain"
    print(json.dumps({"program": name, "gb_per_s": rows * columns * 4 / seconds / 1e9,
                      "seconds": seconds, "mean": float(mean[0]), "std": float(std[0]),
                      "min": float(low[0]), "max": float(high[0])}))


if __name__ == "__main__":
    main(sys.argv[1:])
