# SPDX-License-Identifier: Apache-2.0
"""What the tests of stages against NumPy share: one job with many stages, run with many block
sizes and slots; every run must give the same bits and what the reference says.
"""
import os
import subprocess
import sys

import numpy as np

from reference import same

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
BLOCKS = [("auto", 3), ("1 rows", 2), ("2 rows", 1), ("3 rows", 4), ("10 rows", 2),
          ("31 rows", 3), ("64 rows", 2), ("1000 rows", 1)]
failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def write_job(folder, arrays, stages):
    """arrays: {name: (array, options text)}; stages: [(config text, reference, bound)]"""
    os.makedirs(folder, exist_ok=True)
    lines = ["version: 1", "inputs:"]
    for name, (array, options) in arrays.items():
        np.save(os.path.join(folder, f"{name}.npy"), array)
        lines.append(f"  {name}: {{path: {name}.npy{options}}}")
    lines.append("stages:")
    lines += [f"  - {{name: s{i}, {s[0]}}}" for i, s in enumerate(stages)]
    lines.append("outputs:")
    lines += [f"  s{i}: {{path: s{i}.npy, overwrite: true}}" for i in range(len(stages))]
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write("\n".join(lines + [f"run: {{backend: {BACKEND}}}"]) + "\n")


def run(folder, block, slots):
    result = subprocess.run([PENSTOCK, "run", "--quiet", "--set", f"run.block={block}", "--set",
                             f"run.slots={slots}", "job.yaml"], cwd=folder, capture_output=True,
                            text=True)
    if result.returncode != 0:
        print(result.stderr)
        sys.exit(f"{folder}: block {block}, slots {slots}: exit {result.returncode}")


def check(name, arrays, stages, blocks=None):
    folder = os.path.join(WORK, name)
    write_job(folder, arrays, stages)
    first = None
    for block, slots in blocks or BLOCKS:
        run(folder, block, slots)
        results = [np.load(os.path.join(folder, f"s{i}.npy")) for i in range(len(stages))]
        first = first or results
        for (what, want, bound), got, base in zip(stages, results, first):
            if got.dtype != want.dtype or got.shape != want.shape:
                fail(f"{name}: {what}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}")
            elif got.tobytes() != base.tobytes():
                fail(f"{name}: {what}: other bits with block {block}, {slots} slots")
            elif not same(got, want, bound):
                bad = np.argwhere(~((got == want) | ((got != got) & (want != want))))[:3]
                fail(f"{name}: {what}: differs from the reference at {bad.tolist()}: "
                     f"{[got[tuple(b)] for b in bad]} not {[want[tuple(b)] for b in bad]}")


def finish():
    sys.exit(f"{failures} failures" if failures else 0)
