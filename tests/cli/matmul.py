# SPDX-License-Identifier: Apache-2.0
"""Options of matmul (activations, precision, batches, bias, transposed matrices) against NumPy in
longer arithmetic. Every job runs with many block sizes and slots, and every run must give the same
bits. Usage: matmul.py PENSTOCK WORK BACKEND
"""
import itertools
import math
import os
import subprocess
import sys

import numpy as np

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
BLOCKS = [("auto", 3), ("1 rows", 2), ("2 rows", 1), ("3 rows", 4), ("5 rows", 2), ("7 rows", 3),
          ("10 rows", 2), ("16 rows", 2), ("31 rows", 3), ("32 rows", 1), ("33 rows", 2),
          ("50 rows", 2), ("63 rows", 2), ("64 rows", 2), ("65 rows", 4), ("100 rows", 2),
          ("127 rows", 3), ("128 rows", 2), ("150 rows", 1), ("1000 rows", 1)]
FEW = [BLOCKS[i] for i in (0, 1, 3, 9, 14, 18)]
failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def write_job(folder, files, stages):
    os.makedirs(folder, exist_ok=True)
    lines = ["version: 1", "inputs:"]
    for name, array in files.items():
        np.save(os.path.join(folder, f"{name}.npy"), array)
        whole = ", load: whole" if name != "x" else ""
        lines.append(f"  {name}: {{path: {name}.npy{whole}}}")
    lines += ["stages:"] + [f"  - {{name: s{i}, op: matmul, in: x, {s}}}" for i, s in enumerate(stages)]
    lines += ["outputs:"] + [f"  s{i}: {{path: s{i}.out.npy, overwrite: true}}" for i in range(len(stages))]
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write("\n".join(lines + [f"run: {{backend: {BACKEND}}}"]) + "\n")


def start(folder, *options):
    return subprocess.run([PENSTOCK, "run", *options, "job.yaml"], cwd=folder, capture_output=True,
                          text=True)


def run(name, files, stages, blocks=FEW):
    folder = os.path.join(WORK, name)
    write_job(folder, files, stages)
    first = None
    for block, slots in blocks:
        result = start(folder, "--quiet", "--set", f"run.block={block}", "--set", f"run.slots={slots}")
        if result.returncode != 0:
            sys.exit(f"{name}: block {block}: exit {result.returncode}: {result.stderr}")
        got = [np.load(os.path.join(folder, f"s{i}.out.npy")) for i in range(len(stages))]
        first = first or got
        for stage, a, b in zip(stages, got, first):
            if a.tobytes() != b.tobytes():
                fail(f"{name}: {stage}: other bits with block {block}, {slots} slots")
    return first


def refused(name, files, stage, *texts):
    folder = os.path.join(WORK, name)
    write_job(folder, files, [stage])
    result = start(folder)
    if result.returncode != 2:
        fail(f"{name}: exit {result.returncode}, not 2")
    for text in texts:
        if text not in result.stderr:
            fail(f"{name}: stderr lacks '{text}': {result.stderr}")


# ---- References ----

ACTIVATIONS = {
    "none": lambda v: v,
    "relu": lambda v: np.where(v < 0, 0, v),
    "gelu": np.vectorize(lambda v: 0.5 * v * math.erfc(-v / math.sqrt(2)), otypes="d"),
    "sigmoid": np.vectorize(lambda v: 1 / (1 + math.exp(-v)) if v > -700 else math.exp(v), otypes="d"),
    "tanh": np.tanh,
}


def narrowed(x, bits):
    """x (f32) with the last bits of the mantissa rounded off, to nearest even."""
    exact = x.astype("f8")
    with np.errstate(all="ignore"):
        unit = 2.0 ** (np.floor(np.log2(np.abs(exact))) - (23 - bits))
        out = np.where(exact == 0, exact, np.rint(exact / unit) * unit)
    return out


def product(x, w, bias, transpose, precision):
    bits = {"tf32": 13, "bf16": 16}.get(precision)
    x, w = (narrowed(x.astype("f4"), bits), narrowed(w.astype("f4"), bits)) if bits else \
        (x.astype("f8"), w.astype("f8"))
    w = np.swapaxes(w, -1, -2) if transpose else w
    if w.ndim == 3:
        out = np.einsum("...bk,bkn->...bn", x, w)
    else:
        out = x @ w
    return out if bias is None else out + bias.astype("f8")


def compare(name, stage, got, want, dtype, bound):
    if got.dtype != np.dtype(dtype) or got.shape != want.shape:
        return fail(f"{name}: {stage}: {got.dtype}{got.shape}, not {dtype}{want.shape}")
    good = np.abs(got - want) <= bound * (1 + np.abs(want))
    if not good.all():
        at = tuple(np.argwhere(~good)[0])
        fail(f"{name}: {stage}: {got[at]!r} at {at}, not {want[at]!r}")


def main():
    random = np.random.default_rng(20261208)
    # Plain matrices: every activation, precision and engine.
    for kind, precisions in [("f4", ["auto", "f32", "f64", "tf32", "bf16"]), ("f8", ["auto", "f64"]),
                             ("f2", ["auto", "f64", "bf16"])]:
        x = random.normal(size=(150, 23)).astype(kind)
        files = {"x": x, "w": (random.normal(size=(23, 9)) * 0.7).astype(kind),
                 "t": random.normal(size=(9, 23)).astype(kind), "b": random.normal(size=9).astype(kind)}
        stages, wants = [], []
        for i, (activation, precision, engine) in enumerate(
                itertools.product(ACTIVATIONS, precisions, ["library", "tiled"])):
            transpose, biased = i % 2 == 1, i % 3 != 2
            stages.append(f"with: {'t' if transpose else 'w'}, activation: {activation}, precision: "
                          f"{precision}, engine: {engine}" + (", transpose: true" if transpose else "")
                          + (", bias: b" if biased else ""))
            exact = product(x, files["t" if transpose else "w"], files["b"] if biased else None,
                            transpose, precision)
            wants.append((ACTIVATIONS[activation](exact), "f8" if precision == "f64" or kind == "f8" else "f4"))
        for stage, got, (want, dtype) in zip(stages, run("plain-" + kind, files, stages, BLOCKS if kind == "f4" else FEW), wants):
            compare("plain-" + kind, stage, got, want, dtype, 1e-13 if dtype == "f8" else 4e-6)
    # Batches of matrices.
    for kind, shape in [("f4", (70, 5, 11)), ("f8", (66, 3, 4, 6)), ("f2", (40, 1, 8))]:
        x = random.normal(size=shape).astype(kind)
        batch, k = shape[-2:]
        files = {"x": x, "w": random.normal(size=(batch, k, 7)).astype(kind),
                 "t": random.normal(size=(batch, 7, k)).astype(kind),
                 "one": random.normal(size=(k, 7)).astype(kind),
                 "b": random.normal(size=(batch, 7)).astype(kind), "c": random.normal(size=7).astype(kind)}
        stages, wants = [], []
        for with_, bias, engine in itertools.product(["w", "t", "one"], [None, "b", "c"], ["library", "tiled"]):
            if with_ == "one" and bias == "b":
                continue
            precision = "bf16" if bias == "c" and kind != "f8" else "auto"
            stages.append(f"with: {with_}, engine: {engine}, activation: gelu, precision: {precision}"
                          + (f", bias: {bias}" if bias else "") + (", transpose: true" if with_ == "t" else ""))
            wants.append(ACTIVATIONS["gelu"](product(x, files[with_], files[bias] if bias else None,
                                                     with_ == "t", precision)))
        for stage, got, want in zip(stages, run("batch-" + kind, files, stages, BLOCKS if kind == "f4" else FEW), wants):
            compare("batch-" + kind, stage, got, want, "f8" if kind == "f8" else "f4",
                    1e-13 if kind == "f8" else 4e-6)
    # Ends of the ranges, NaN and infinities.
    values = np.array([0.0, -0.0, 1, -1, 30, -30, 700, -700, 1e4, -1e4, 1e-30, np.inf, -np.inf, np.nan])
    one = np.eye(1)
    results = run("ends", {"x": values[:, None], "w": one},
                  [f"with: w, activation: {a}" for a in ACTIVATIONS])
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(values), values, 0)
        ends = {"none": values, "relu": np.where(values < 0, 0, values),
                "gelu": np.where(np.isinf(values), np.where(values > 0, np.inf, 0), ACTIVATIONS["gelu"](finite)),
                "sigmoid": np.where(np.isinf(values), values > 0, ACTIVATIONS["sigmoid"](np.clip(finite, -700, 700))),
                "tanh": np.tanh(values)}
        for (name, want), got in zip(ends.items(), results):
            want = np.where(np.isnan(values), np.nan, want)
            good = (got[:, 0] == want) | (np.abs(got[:, 0] - want) <= 1e-12 * np.abs(want)) | \
                (np.abs(want) < 1e-300) & (np.abs(got[:, 0]) < 1e-300) | np.isnan(got[:, 0]) & np.isnan(want)
            if not good.all():
                fail(f"ends: {name}: {got[:, 0]} not {want}")
    # Rounding to tf32 and bf16: halves to even, overflow, NaN.
    x = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 3.4e38, np.nan], "f4")
    for engine in ["library", "tiled"]:
        tf32, bf16 = run("ties-" + engine, {"x": x[:, None], "w": one.astype("f4")},
                         [f"with: w, precision: {p}, engine: {engine}" for p in ["tf32", "bf16"]])
        want = [1, 1 + 2 * 2.0**-10, 1 + 2.0**-8, 1 + 3 * 2.0**-8, np.float32(3.4e38)]
        near = np.abs(tf32[:5, 0].astype("f8") / want - 1)
        if not (near[:4] == 0).all() or near[4] > 2.0**-11 or not np.isnan(tf32[5, 0]):
            fail(f"ties: tf32 gives {tf32[:, 0]}")
        want = [1, 1, 1, 1 + 2 * 2.0**-7, np.inf]
        if not (bf16[:5, 0] == want).all() or not np.isnan(bf16[5, 0]):
            fail(f"ties: bf16 gives {bf16[:, 0]}")
    # Zero sizes.
    empty = run("empty", {"x": np.zeros((5, 0)), "w": np.zeros((0, 3)), "b": np.array([1.0, 2, 3])},
                ["with: w", "with: w, bias: b, activation: sigmoid"])
    if (empty[0] != 0).any() or np.abs(empty[1] - 1 / (1 + np.exp(-np.array([1, 2, 3])))).max() > 1e-15:
        fail(f"empty: {empty}")
    # Faults.
    x = np.zeros((4, 2, 3), "f4")
    refused("f64-in-tf32", {"x": x.astype("f8"), "w": np.zeros((3, 2))}, "with: w, precision: tf32", "is f64")
    refused("batches-differ", {"x": x, "w": np.zeros((5, 3, 2), "f4")}, "with: w", "5 matrices", "is 2")
    refused("bias-shape", {"x": x, "w": np.zeros((2, 3, 2), "f4"), "b": np.zeros((3, 2), "f4")},
            "with: w, bias: b", "or [2, 2]")
    refused("f64-bias", {"x": x, "w": np.zeros((3, 2), "f4"), "b": np.zeros(2)}, "with: w, bias: b",
            "precision: f64")
    refused("no-activation", {"x": x, "w": np.zeros((3, 2), "f4")}, "with: w, activation: swish", "swish")


main()
sys.exit(f"{failures} failures" if failures else 0)
