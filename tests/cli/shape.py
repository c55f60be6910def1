# SPDX-License-Identifier: Apache-2.0
"""Stages over the axes of a row (take, slice, ...) against plain NumPy, for inputs of several shapes
and dtypes, streamed and whole. One job has all stages; it runs with many block sizes and slots, and
every run must give the same bits. Usage: shape.py PENSTOCK WORK BACKEND
"""
import itertools
import os
import subprocess
import sys

import numpy as np

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
failures = 0
BLOCKS = [("auto", 3), ("1 rows", 2), ("2 rows", 1), ("3 rows", 4), ("7 rows", 3), ("31 rows", 2),
          ("1000 rows", 1)]


# ---- Stages: (config, reference) of x, whose axes from `first` on are the stages' ----

def takes(x, first):
    for axis in range(first, x.ndim):
        n = x.shape[axis]
        for indices in ([0, n - 1, -1, n // 2] if n else [], [], list(range(n))[::-1]):
            yield f"op: take, indices: {indices}, axis: {axis}", np.take(x, np.array(indices, "i8"), axis=axis)


SLICES = ["2:10:2", ":", "::-1", "-3:", ":-1", "5:2", "-1:-100:-2", "100:", "-100:2", "1::3", "0:0",
          "::-7", "3:1:-1", "::9223372036854775807"]


def as_slice(text):
    return slice(*[int(part) if part else None for part in text.split(":")])


def slices(x, first):
    own = x.ndim - first
    for i, text in enumerate(SLICES):
        index = [text] + [SLICES[(i * 5 + k) % len(SLICES)] for k in range(1, own)]
        for count in {1, own}:
            at = (slice(None),) * first + tuple(as_slice(t) for t in index[:count])
            yield f"op: slice, index: {quoted(index[:count])}", x[at]
    if x.size:
        at = (slice(None),) * first + (-1,)
        yield "op: slice, index: -1", x[at]
        if own > 1:
            yield 'op: slice, index: ["::2", 0]', x[(slice(None),) * first + (slice(None, None, 2), 0)]


def quoted(words):
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def shapes(x, first):
    own, rows = x.shape[first:], x.shape[:first]
    size = int(np.prod(own))
    for shape in [[size], list(own[::-1]), [1, size, 1], list(own) + [1]]:
        yield f"op: reshape, shape: {shape}", x.reshape(rows + tuple(shape))
        if size:
            shape[len(shape) // 2] = -1
            full = tuple(shape)
            missing = size // int(np.prod([s for s in shape if s >= 0]))
            yield (f"op: reshape, shape: {list(full)}",
                   x.reshape(rows + tuple(missing if s < 0 else s for s in full)))
    for order in itertools.permutations(range(first, x.ndim)):
        yield f"op: transpose, axes: {list(order)}", x.transpose(tuple(range(first)) + order)
    yield "op: transpose", x.transpose(tuple(range(first)) + tuple(range(first, x.ndim))[::-1])


def joins(x, first):
    """y, z and w are x in other dtypes."""
    y, z, w = others(x)
    for axis in range(first, x.ndim):
        yield f"op: concat, in: [x, y, z], axis: {axis}", np.concatenate([x, y, z], axis=axis)
        yield f"op: concat, in: [x, x], axis: {axis - x.ndim}", np.concatenate([x, x], axis=axis)
        yield f"op: concat, in: [w, z], axis: {axis}", np.concatenate([w, z], axis=axis)
        yield f"op: concat, in: [w], axis: {axis}", w
    for axis in range(first, x.ndim + 1):
        yield f"op: stack, in: [x, w, y], axis: {axis}", np.stack([x, w, y], axis=axis)
        yield f"op: stack, in: [x, x], axis: {axis - x.ndim - 1}", np.stack([x, x], axis=axis)


def others(x):
    y = np.resize(np.arange(-100, 100), x.size).astype("i1").reshape(x.shape)
    z = np.resize(np.arange(0, 255), x.size).astype("u1").reshape(x.shape)
    w = np.resize(np.array([-2.5, np.nan, np.inf, 1e-7, -0.0]), x.size).astype("f2").reshape(x.shape)
    return y, z, w


def sorted_for(x, first):
    """np.sort puts NaN last; descending: the reverse of the reversed, so that equals keep order."""
    for axis in range(first, x.ndim):
        order = np.argsort(x, axis=axis, kind="stable")
        down = descending(x, axis)
        at = f"axis: {axis}"
        yield f"op: sort, {at}", np.take_along_axis(x, order, axis)
        yield f"op: sort, {at}, indices: true", order
        yield f"op: sort, {at}, order: descending", np.take_along_axis(x, down, axis)
        yield f"op: sort, {at}, order: descending, indices: true", down


def descending(x, axis):
    n = x.shape[axis]
    key = x.astype(object) if x.dtype.kind in "iu" else x.astype("f8")
    rank = np.unique(x, return_inverse=True)[1].reshape(x.shape)  # whole numbers, to be negated
    rank = np.where(np.isnan(key) if key.dtype == "f8" else False, -1, rank)
    return np.argsort(-rank, axis=axis, kind="stable").astype("i8") if n else np.zeros(x.shape, "i8")


def filled_for(x, first):
    if x.dtype.kind != "f":
        return
    for axis in range(first, x.ndim):
        for ends, longest in [("keep", 0), ("nearest", 0), ("keep", 2), ("nearest", 3)]:
            for kind in ["previous", "next"] + (["linear"] if x.dtype != "f2" else []):
                more = f", longest: {longest}" if longest else ""
                want = np.apply_along_axis(filled, axis, x, kind, ends, longest) if x.size else x
                yield f"op: fill, with: {kind}, axis: {axis}, ends: {ends}{more}", want
        yield f"op: fill, with: value, value: -1.5, axis: {axis}", np.where(np.isnan(x), x.dtype.type(-1.5), x)


def filled(line, kind, ends, longest):
    out, n = line.copy(), len(line)
    good = np.flatnonzero(~np.isnan(line))
    for i in np.flatnonzero(np.isnan(line)):
        before, after = good[good < i], good[good > i]
        p, q = before[-1] if len(before) else -1, after[0] if len(after) else n
        if longest and q - p - 1 > longest:
            continue
        if kind == "linear" and p >= 0 and q < n:
            with np.errstate(all="ignore"):
                out[i] = np.interp(i, [p, q], line[[p, q]].astype("f8"))
        elif p >= 0 and (kind == "previous" or (ends == "nearest" and q >= n) or
                         (kind == "linear" and ends == "nearest")):
            out[i] = line[p]
        elif q < n and (kind == "next" or ends == "nearest"):
            out[i] = line[q]
    return out


def stages_for(x, first):
    for make in (takes, slices, shapes, joins, sorted_for, filled_for) if x.ndim > first else ():
        yield from make(x, first)
    if x.ndim == first:
        y, z, w = others(x)
        yield "op: reshape, shape: [1]", x.reshape(x.shape + (1,))
        yield "op: reshape, shape: []", x
        yield "op: stack, in: [x, y, z]", np.stack([x, y, z], axis=-1)
        yield "op: stack, in: [w, x], axis: 1", np.stack([w, x], axis=1)


def chain(x):
    """Stages on stages, each after the one before, with rows of other blocks in between."""
    a = x.transpose(0, 2, 1)
    yield "op: transpose, in: x", a
    b = np.concatenate([np.full_like(a[:2], 7), a])[: len(a)] if len(a) > 2 else np.full_like(a, 7)
    yield "op: lag, by: 2, fill: 7", b
    c = b.reshape(len(b), 15)
    yield "op: reshape, shape: [-1]", c
    d = c[:, ::-2]
    yield 'op: slice, index: "::-2"', d
    e = d[1::3]
    yield "op: rows, from: 1, step: 3", e
    yield "op: take, indices: [3, 0, -1]", e[:, [3, 0, -1]]


# ---- Running ----

def job(inputs, stages, load):
    lines = ["version: 1", "inputs:"]
    lines += [f"  {name}: {{path: {name}.npy{load}}}" for name in inputs]
    lines += ["stages:"]
    lines += [f"  - {{name: s{i}, {text}}}" for i, (text, _) in enumerate(stages)]
    lines += ["outputs:"]
    lines += [f"  s{i}: {{path: s{i}.npy, overwrite: true}}" for i in range(len(stages))]
    return "\n".join(lines + [f"run: {{backend: {BACKEND}}}"]) + "\n"


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


def same(got, want, bound):
    """bound 0: the same bits, but for the payload of a NaN."""
    if bound == 0:
        equal = got.view(f"u{got.itemsize}") == want.view(f"u{want.itemsize}")
        return bool(np.all(equal | ((got != got) & (want != want))))
    a, b = got.astype("f8"), want.astype("f8")
    scale = np.max(np.abs(b[np.isfinite(b)]), initial=0)
    with np.errstate(all="ignore"):
        return bool(np.all((np.abs(a - b) <= bound * scale) | (a == b) | (np.isnan(a) & np.isnan(b))))


def check(name, inputs, stages, load="", blocks=BLOCKS):
    folder = os.path.join(WORK, name)
    os.makedirs(folder, exist_ok=True)
    for key, value in inputs.items():
        np.save(os.path.join(folder, f"{key}.npy"), value)
    stages = [(s[0], np.ascontiguousarray(s[1]).reshape(s[1].shape), s[2] if len(s) > 2 else 0)
              for s in stages]
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write(job(inputs, [s[:2] for s in stages], load))
    first = None
    for block, slots in blocks:
        run(folder, block, slots)
        results = [np.load(os.path.join(folder, f"s{i}.npy")) for i in range(len(stages))]
        first = first or results
        for got, base, (text, want, bound) in zip(results, first, stages):
            if got.dtype != want.dtype or got.shape != want.shape:
                fail(f"{name}: {text}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}")
            elif got.tobytes() != base.tobytes():
                fail(f"{name}: {text}: other bits with block {block}, {slots} slots")
            elif not same(got, want, bound):
                fail(f"{name}: {text}: differs from NumPy: {got.ravel()[:8]} not {want.ravel()[:8]}")


def array(random, shape, dtype):
    if dtype == "?":
        return random.integers(0, 2, shape).astype("?")
    if np.dtype(dtype).kind == "f":
        return (random.normal(size=shape) * 10.0 ** random.integers(-3, 4, shape)).astype(dtype)
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return random.integers(low, high, shape, dtype=dtype, endpoint=True)


def check_all(name, x, first, load="", blocks=BLOCKS, every=1):
    """every: of that many stages one, not the same ones for each name."""
    y, z, w = others(x)
    stages = [(s if "in: [" in s else f"{s}, in: x", *want) for s, *want in stages_for(x, first)]
    check(name, {"x": x, "y": y, "z": z, "w": w}, stages[len(name) % every::every], load, blocks)


def main():
    random = np.random.default_rng(20261202)
    few = [("auto", 3), ("3 rows", 2)]
    for shape, dtype in [((50, 7), "f8"), ((9, 2, 33, 40), "i2"), ((11, 64, 48), "u1")]:
        check_all(f"shape-{'x'.join(map(str, shape))}", array(random, shape, dtype), 1, every=3)
    check_all("shape", array(random, (23, 4, 6), "f4"), 1, blocks=few)
    check_all("rows", array(random, (31,), "f8"), 1)
    for i, dtype in enumerate(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]):
        check_all("dtype" + "-" * i, array(random, (13, 3, 8), dtype), 1, blocks=few[1:], every=5)
    for shape in [(0, 7), (1, 7), (5, 0), (5, 3, 0), (0,)]:
        check_all(f"edge-{'x'.join(map(str, shape))}", array(random, shape, "f4"), 1, blocks=few[1:],
                  every=2)
    for shape in [(7, 5), (6,), (3, 40, 36), (0, 4)]:
        check_all(f"whole-{'x'.join(map(str, shape))}", array(random, shape, "f8"), 0,
                  ", load: whole", few[:1], every=2)
    for n, rows in [(1, 9), (31, 40), (1000, 3), (2049, 2), (5000, 2)]:
        x = array(random, (rows, n), "f8")
        x[random.random(x.shape) < 0.3] = np.nan
        x[random.random(x.shape) < 0.3] = 1
        x[random.random(x.shape) < 0.1] = -0.0
        x[random.random(x.shape) < 0.1] = 0
        x[random.random(x.shape) < 0.05] = np.inf
        x[-1, : n // 2] = np.nan
        x[0, n // 2:] = np.nan
        check(f"lines-{n}", {"x": x}, [(f"{s}, in: x", want) for make in (sorted_for, filled_for)
                                       for s, want in make(x, 1)], "", few)
        x = x[:, :200, None].astype("f4").repeat(3, axis=2) * np.array([1, -1, 2], "f4")
        check(f"columns-{n}", {"x": x}, [(f"{s}, in: x", want) for make in (sorted_for, filled_for)
                                         for s, want in make(x, 1)], "", few)
    for rows in [0, 1, 101]:
        x = array(random, (rows, 3, 5), "i4")
        check(f"chain-{rows}", {"x": x}, list(chain(x)))


main()
sys.exit(f"{failures} failures" if failures else 0)
