# SPDX-License-Identifier: Apache-2.0
"""The HDF5 dimension scales of an input follow its axes through stages, and are gone where an axis
is another one. Usage: shape_scales.py PENSTOCK WORK BACKEND
"""
import os
import subprocess
import sys

import h5py
import numpy as np

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
# The input has the axes time, freq, chan of sizes 4, 3, 2.
STAGES = {
    "op: transpose, in: x": ["time", "chan", "freq"],
    "op: transpose, in: x, axes: [1, 2]": ["time", "freq", "chan"],
    "op: reshape, in: x, shape: [3, 1, 2]": ["time", "freq", "", "chan"],
    "op: reshape, in: x, shape: [6]": ["time", ""],
    "op: take, in: x, indices: [0, 2], axis: 1": ["time", "", "chan"],
    "op: concat, in: [x, x], axis: 2": ["time", "freq", ""],
    "op: stack, in: [x, x], axis: 1": ["time", "", "freq", "chan"],
    "op: slice, in: x, index: [':', 1]": ["time", "freq"],
    "op: slice, in: x, index: ['::2', ':']": ["time", "", "chan"],
    "op: sort, in: x, axis: 1": ["time", "", "chan"],
    "op: fill, in: x, with: next": ["time", "freq", "chan"],
}

os.chdir(WORK)
with h5py.File("scales.h5", "w") as file:
    data = file.create_dataset("x", data=np.arange(24.0).reshape(4, 3, 2))
    for axis, (name, size) in enumerate([("time", 4), ("freq", 3), ("chan", 2)]):
        scale = file.create_dataset(name, data=np.arange(size) * 10.0)
        scale.make_scale(name)
        data.dims[axis].attach_scale(scale)
lines = ["version: 1", "inputs: {x: {path: scales.h5, dataset: /x}}", "stages:"]
lines += [f"  - {{name: s{i}, {text}}}" for i, text in enumerate(STAGES)]
lines += ["outputs:"] + [f"  s{i}: {{path: scales{i}.h5, dataset: /y}}" for i in range(len(STAGES))]
with open("scales.yaml", "w") as file:
    file.write("\n".join(lines + [f"run: {{backend: {BACKEND}}}"]) + "\n")
subprocess.run([PENSTOCK, "run", "--quiet", "scales.yaml"], check=True)
failures = 0
for i, (text, wanted) in enumerate(STAGES.items()):
    with h5py.File(f"scales{i}.h5") as file:
        found = ["".join(scale.name.strip("/") for scale in dim.values()) for dim in file["y"].dims]
    if found != wanted:
        failures += 1
        print(f"{text}: scales {found}, not {wanted}")
sys.exit(f"{failures} failures" if failures else 0)
