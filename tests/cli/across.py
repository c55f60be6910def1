# SPDX-License-Identifier: Apache-2.0
"""Stages across rows (rolling, downsample, ...) against plain NumPy, for inputs of several dtypes
and lengths. One job has all stages; it runs with many block sizes and slots, and every run must
give the same bits. Usage: across.py PENSTOCK WORK BACKEND
"""
import itertools
import os
import subprocess
import sys

import numpy as np

from reference import (KINDS, LOOSE, NAN, convolved, cumulative, out_dtype, same, shifted, window_rows,
                       windows)

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
failures = 0


# ---- Stages: (name, config, reference of x, how exactly: "bits" or a relative bound) ----

def stages_for(x):
    integer = x.dtype.kind in "iu"
    n = len(x)
    for w, align, edges in itertools.product([1, 2, 5, 16, 37], ["trailing", "centered", "leading"],
                                             ["fill", "partial", "drop"]):
        after = {"trailing": 0, "centered": (w - 1) // 2, "leading": w - 1}[align]
        before = w - 1 - after
        kind = KINDS[(w + len(align) + len(edges)) % len(KINDS)]
        rows = window_rows(n, before, after)
        if edges == "drop":
            rows = [r for r in rows if r[1] - r[0] == w and r[0] >= 0][: max(n - w + 1, 0)]
        no_nan = out_dtype(kind, x.dtype).kind in "iu"
        fill = -7 if no_nan and out_dtype(kind, x.dtype).kind == "i" else 7 if no_nan else NAN
        options = f", fill: {fill}" if no_nan and edges == "fill" else ""
        yield (f"op: rolling, window: {w}, of: {kind}, align: {align}, edges: {edges}{options}",
               windows(x, kind, rows, w if edges == "fill" else None, fill), LOOSE)
    for kind in KINDS:
        rows = window_rows(n, 8, 0)
        yield (f"op: rolling, window: 9, of: {kind}, edges: partial", windows(x, kind, rows), LOOSE)
    for by, rest in itertools.product([1, 3, 7, 64], ["keep", "drop"]):
        kind = KINDS[by % len(KINDS)]
        rows = [(a, min(a + by, n)) for a in range(0, n, by)]
        if rest == "drop":
            rows = [r for r in rows if r[1] - r[0] == by]
        yield (f"op: downsample, by: {by}, of: {kind}, rest: {rest}", windows(x, kind, rows), LOOSE)
    if not integer:
        rows = window_rows(n, 2, 0)
        yield ("op: rolling, window: 3, of: [mean, std, max], edges: partial",
               np.stack([windows(x, k, rows).astype("f8") for k in ["mean", "std", "max"]], -1), LOOSE)


def neighbours_for(x):
    n, integer = len(x), x.dtype.kind in "iu"
    fill = 3 if integer else NAN
    for by in [1, 4, -2, 60, 0]:
        want, there = shifted(x, by, fill)
        option = f", fill: {fill}" if integer and by else ""
        yield f"op: lag, by: {by}{option}", want, 0
        yield f"op: lag, by: {by}, edges: drop", want[there], 0
    for by in [1, 5]:
        dtype = np.dtype("i8" if integer else "f8" if x.dtype == "f8" else "f4")
        wide = x.astype(object) if integer else x.astype(dtype)
        with np.errstate(all="ignore"):
            want = (wide[by:] - wide[:-by]).astype(dtype) if n > by else np.zeros((0,) + x.shape[1:], dtype)
        yield f"op: difference, by: {by}, edges: drop", want, 0
    for taps, (align, ahead), edges in itertools.product(
            [[0.25, 0.5, 0.25], [1, -1], [3]], [("trailing", 0), ("centered", 0.5), ("leading", 1)],
            ["fill", "zero", "drop"]):
        want = convolved(x, taps, int((len(taps) - 1) * ahead), edges)
        yield f"op: convolve, with: {taps}, align: {align}, edges: {edges}", want, 1e-6 if want.dtype == "f4" else LOOSE
    for kind in ["sum", "min", "max", "count"] + (["prod"] if n < 3 else []):
        yield f"op: cumulative, of: {kind}", cumulative(x, kind), LOOSE


def picked_for(x):
    for first, end, step in [(0, None, 1), (3, 40, 1), (2, None, 7), (-9, -2, 2), (5, 5, 1), (0, 1000, 13)]:
        to = "" if end is None else f", to: {end}"
        yield f"op: rows, from: {first}{to}, step: {step}", x[first:end:step] if first >= -len(x) else x[0:end:step], 0
    for times in [1, 2, 5]:
        yield f"op: repeat, times: {times}", np.repeat(x, times, axis=0), 0
    if x.dtype.kind == "f":
        last = np.array([[NAN] * x[0].size] + list(x.reshape(len(x), -1)), x.dtype) if len(x) else x
        for r in range(1, len(last)):
            last[r] = np.where(np.isnan(last[r]), last[r - 1], last[r])
        yield "op: cumulative, of: last", last[1:].reshape(x.shape) if len(x) else x, 0


def after_select(x):
    """Stages on rows that are known only when they are there."""
    column = x if x.ndim == 1 else x[:, 0]
    middle = 7 if x.dtype.kind in "iu" else 0.25
    chosen = x[column > middle] if x.ndim == 1 else x[column > middle]
    name = "x" if x.ndim == 1 else "x[0]"
    mean = windows(chosen, "mean", window_rows(len(chosen), 3, 0))
    total = cumulative(mean, "sum")
    every = windows(total, "last", [(a, min(a + 4, len(total))) for a in range(0, len(total), 4)])
    again = every[(every if every.ndim == 1 else every[:, 0]) < 1e3]
    yield "d0", f'op: select, in: x, where: "{name} > m", params: {{m: {middle}}}', chosen, 0
    yield "d1", "op: rolling, window: 4, of: mean, edges: partial", mean, LOOSE
    yield "d2", "op: cumulative, of: sum", total, LOOSE
    yield "d3", "op: downsample, by: 4, of: last", every, LOOSE
    yield "d4", f'op: select, where: "{name.replace("x", "d3")} < 1e3"', again, LOOSE


def chains(x):
    """Stages on stages: (name, config, reference, bound), each after the one before."""
    total = cumulative(x, "sum")
    mean = windows(total, "mean", window_rows(len(x), 4, 0))
    third = windows(mean, "last", [(a, min(a + 3, len(x))) for a in range(0, len(x), 3)])
    back, _ = shifted(third, 2, NAN)
    last = windows(back, "max", window_rows(len(back), 1, 0))
    yield "c0", "op: cumulative, of: sum, in: x", total, LOOSE
    yield "c1", "op: rolling, window: 5, of: mean, edges: partial", mean, LOOSE
    yield "c2", "op: downsample, by: 3, of: last", third, LOOSE
    yield "c3", "op: lag, by: 2", back, LOOSE
    yield "c4", "op: rolling, window: 2, of: max, edges: partial", last, LOOSE


# ---- Running ----

def config(x_file, stages, chained):
    lines = ["version: 1", f"inputs: {{x: {{path: {x_file}}}}}", "stages:"]
    lines += [f"  - {{name: s{i}, {text}, in: x}}" for i, (text, _, _) in enumerate(stages)]
    lines += [f"  - {{name: {name}, {text}}}" for name, text in chained]
    lines += ["outputs:"]
    names = [f"s{i}" for i in range(len(stages))] + [name for name, _ in chained]
    lines += [f"  {name}: {{path: {name}.npy, overwrite: true}}" for name in names]
    return "\n".join(lines + [f"run: {{backend: {BACKEND}}}"]) + "\n", names


def run(folder, block, slots):
    result = subprocess.run([PENSTOCK, "run", "--quiet", "--set", f"run.block={block}", "--set",
                             f"run.slots={slots}", "job.yaml"], cwd=folder, capture_output=True,
                            text=True)
    if result.returncode != 0:
        print(result.stderr)
        sys.exit(f"{folder}: block {block}, slots {slots}: exit {result.returncode}")


def fail(text):
    global failures
    failures += 1
    print(text)


def check(name, x, stages, chained=()):
    folder = os.path.join(WORK, name)
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "x.npy"), x)
    text, names = config("x.npy", stages, [c[:2] for c in chained])
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write(text)
    expected = [s[1:] for s in stages] + [c[2:] for c in chained]
    first = None
    for block, slots in [("auto", 3), ("1 rows", 2), ("2 rows", 1), ("3 rows", 4), ("10 rows", 2),
                         ("31 rows", 3), ("64 rows", 2), ("1000 rows", 1)]:
        if len(x) > 1000 and block in ("1 rows", "2 rows"):
            continue
        run(folder, block, slots)
        results = [np.load(os.path.join(folder, f"{n}.npy")) for n in names]
        first = first or results
        texts = [s[0] for s in stages] + [c[1] for c in chained]
        for n, got, base, (want, bound), what in zip(names, results, first, expected, texts):
            if got.dtype != want.dtype or got.shape != want.shape:
                fail(f"{name}: {what}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}")
            elif got.tobytes() != base.tobytes():
                fail(f"{name}: {what}: other bits with block {block}, {slots} slots")
            elif not same(got, want, bound):
                bad = np.argwhere(~((got == want) | ((got != got) & (want != want))))[:3]
                fail(f"{name}: {what}: differs from NumPy at {bad.tolist()}: "
                     f"{[got[tuple(b)] for b in bad]} not {[want[tuple(b)] for b in bad]}")


def main():
    def check_all(name, x):
        check(name, x, list(stages_for(x)) + list(neighbours_for(x)) + list(picked_for(x)),
              list(chains(x)) + list(after_select(x)))

    random = np.random.default_rng(20261201)
    for rows in [0, 1, 2, 50, 211]:
        x = random.normal(size=(rows, 3)) * 10.0 ** random.integers(-3, 4, (rows, 3))
        check_all(f"f64-{rows}", x)
    x = random.normal(size=211).astype("f4")
    x[[20, 21, 100]] = NAN, np.inf, -np.inf
    check_all("f32-odd", x)
    x = random.integers(-100, 100, (97, 2)).astype("i2")
    check_all("i16", x)
    x = random.integers(0, 200, (97, 2)).astype("u1")
    check_all("u8", x)
    x = random.integers(-2**62, 2**62, 61) // 40
    check_all("i64", x)
    x = random.normal(size=(75, 2)).astype("f2")
    check_all("f16", x)


main()
sys.exit(f"{failures} failures" if failures else 0)
