#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs 1, 2 and 10 of an instrument in every format, one without rows, and all.npy: what
numpy.concatenate makes of them in natural order."""
import gzip
from pathlib import Path

import h5py
import numpy as np

here = Path(__file__).parent
runs = {1: 4, 2: 7, 5: 0, 10: 3}
parts = []
for run, rows in runs.items():
    part = (np.arange(rows * 3).reshape(rows, 3) * 0.25 + 100 * run).astype("<f4")
    parts.append(part)
    np.save(here / f"run-{run}.npy", part.astype(">f4") if run == 2 else part)
    np.savez_compressed(here / f"run-{run}.npz", counts=part)
    part.tofile(here / f"run-{run}.bin")
    with h5py.File(here / f"run-{run}.h5", "w") as file:
        chunks = dict(chunks=(2, 3), compression="gzip") if run == 2 else {}
        counts = file.create_dataset("counts", data=part, track_times=False, **chunks)
        counts.attrs["columns"] = ["a", "b", "c"]
    text = "a,b,c\n" + "".join(f"{x:.2f},{y:.2f},{z:.2f}\n" for x, y, z in part)
    (here / f"run-{run}.csv").write_text(text)
    for suffix in ("csv", "npy", "bin"):
        with open(here / f"run-{run}.{suffix}.gz", "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
                file.write((here / f"run-{run}.{suffix}").read_bytes())
np.save(here / "all.npy", np.concatenate(parts))
