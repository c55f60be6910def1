#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark's job with PyTorch: the contiguous dataset mapped into memory, two pinned buffers.

usage: torch_mmap.py FILE [DATASET]
h5py only tells where the data lies in the file. Prints one JSON line as h5py_numpy.py.
"""
import json
import sys
import time

import h5py
import numpy as np
import torch

BLOCK_BYTES = 64 << 20


def map_dataset(path, dataset):
    with h5py.File(path, "r") as file:
        data = file[dataset]
        offset, shape = data.id.get_offset(), data.shape
        if offset is None or data.dtype != np.float32:
            sys.exit("needs a contiguous float32 dataset")
    return torch.from_numpy(np.memmap(path, np.float32, "c", offset, shape))


def stream(mapped, step):
    rows, columns = mapped.shape
    pinned = [torch.empty((step, columns), pin_memory=True) for _ in range(2)]
    device = [torch.empty((step, columns), device="cuda") for _ in range(2)]
    streams = [torch.cuda.Stream() for _ in range(2)]
    parts = []
    for slot in range(2):
        parts.append((torch.zeros(columns, dtype=torch.float64, device="cuda"),
                      torch.zeros(columns, dtype=torch.float64, device="cuda"),
                      torch.full((columns,), np.inf, device="cuda"),
                      torch.full((columns,), -np.inf, device="cuda")))
    torch.cuda.synchronize()
    for index, first in enumerate(range(0, rows, step)):
        slot = index % 2
        count = min(step, rows - first)
        streams[slot].synchronize()
        pinned[slot][:count].copy_(mapped[first:first + count])
        with torch.cuda.stream(streams[slot]):
            x = device[slot][:count]
            x.copy_(pinned[slot][:count], non_blocking=True)
            y = torch.sqrt(torch.abs(2 * x + 1))
            total, squares, low, high = parts[slot]
            wide = y.double()
            total += wide.sum(0)
            squares += (wide * wide).sum(0)
            torch.minimum(low, y.amin(0), out=low)
            torch.maximum(high, y.amax(0), out=high)
    torch.cuda.synchronize()
    return ((parts[0][0] + parts[1][0]).cpu().numpy(), (parts[0][1] + parts[1][1]).cpu().numpy(),
            torch.minimum(parts[0][2], parts[1][2]).cpu().numpy(),
            torch.maximum(parts[0][3], parts[1][3]).cpu().numpy())


def main(path, dataset="/x"):
    torch.zeros(1, device="cuda")
    start = time.perf_counter()
    mapped = map_dataset(path, dataset)
    rows, columns = mapped.shape
    total, squares, low, high = stream(mapped, max(1, BLOCK_BYTES // (4 * columns)))
    mean = total / rows
    std = np.sqrt(squares / rows - mean**2)
    seconds = time.perf_counter() - start
    print(json.dumps({"program": "PyTorch, mapped, two pinned buffers",
                      "gb_per_s": rows * columns * 4 / seconds / 1e9, "seconds": seconds,
                      "mean": float(mean[0]), "std": float(std[0]), "min": float(low[0]),
                      "max": float(high[0])}))


if __name__ == "__main__":
    main(*sys.argv[1:])
