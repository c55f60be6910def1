# SPDX-License-Identifier: Apache-2.0
"""op: fft against numpy.fft in f64, in many blocks. Usage: fft.py PENSTOCK WORK BACKEND"""
import itertools

import numpy as np

from stagejobs import check, finish

BLOCKS = [("auto", 3)] + [(f"{rows} rows", 1 + rows % 4) for rows in range(1, 21)]
SYMMETRIC = {"hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman}
NORMS = ["backward", "ortho", "forward"]


def windowed(x, axis, n, window):
    """What goes in: cut, times the periodic window of what is left of the line."""
    size = min(n, x.shape[axis])
    part = np.take(x, np.arange(size), axis=axis)
    factors = SYMMETRIC[window](size + 1)[:-1] if window != "none" and size > 1 else np.ones(size)
    shape = [1] * x.ndim
    shape[axis] = size
    return part * factors.reshape(shape)


def as_parts(z):
    return np.stack([z.real, z.imag], axis=-1)


def entry(text, want, x):
    """The bound: a few units in the last place of the largest result."""
    single = x.dtype in ("f2", "f4")
    largest = np.max(np.abs(want), initial=0)
    return text + ", in: x", want.astype("f4" if single else "f8"), (1e-6 if single else 1e-14) * max(largest, 1e-3)


def forward(x, first):
    number = 0
    for axis in range(first, x.ndim):
        size = x.shape[axis]
        for n in {size, size // 2, size + 3, 2 * size, 64}:
            if n < 1:
                continue
            number += 1
            norm = NORMS[number % 3]
            window = ["none", "hann", "hamming", "blackman"][number % 4]
            given = f", n: {n}" if n != size else ""
            z = np.fft.rfft(windowed(x.astype("f8"), axis, n, window), n, axis, norm)
            text = f"axis: {axis}, norm: {norm}, window: {window}{given}"
            yield entry(f"op: fft, kind: rfft, {text}", as_parts(z), x)
            yield entry(f"op: fft, kind: power, {text}", np.abs(z) ** 2, x)


def paired(x, first):
    z = x[..., 0].astype("f8") + 1j * x[..., 1].astype("f8")
    for axis, kind in itertools.product(range(first, z.ndim), ["fft", "ifft", "irfft"]):
        size = z.shape[axis]
        own = 2 * (size - 1) if kind == "irfft" else size
        for i, n in enumerate({own, size // 2, size + 3, 31, 32}):
            if n < 1:
                continue
            norm = NORMS[i % 3]
            given = f", n: {n}" if n != own else ""
            window = "hann" if kind == "fft" and i % 2 else "none"
            y = windowed(z, axis, n, window) if kind == "fft" else z
            want = getattr(np.fft, kind)(y, n, axis, norm)
            # Counted from the end, the axis of re and im does not count.
            at = axis - z.ndim if i % 2 else axis
            yield entry(f"op: fft, kind: {kind}, axis: {at}, norm: {norm}, window: {window}{given}",
                        want if kind == "irfft" else as_parts(want), x)


def chain(x):
    """There and back again, from f64, with a stage across rows in between."""
    z = as_parts(np.fft.rfft(x))
    later = np.concatenate([np.zeros_like(z[:1]), z])[: len(z)]
    n = x.shape[-1]
    yield "op: fft, kind: rfft, in: x", z, 1e-12
    yield "op: lag, by: 1, fill: 0", later, 1e-12
    yield f"op: fft, kind: irfft, n: {n}", np.fft.irfft(later[..., 0] + 1j * later[..., 1], n), 1e-12


def main():
    random = np.random.default_rng(20261207)
    few = BLOCKS[:1] + BLOCKS[3:4]
    for dtype, shape in [("f8", (23, 30)), ("f4", (23, 2, 31))]:
        x = random.normal(size=shape).astype(dtype)
        check(f"real-{dtype}", {"x": (x, "")}, list(forward(x, 1)), BLOCKS[::2])
        x = random.normal(size=shape + (2,)).astype(dtype)
        check(f"pairs-{dtype}", {"x": (x, "")}, list(paired(x, 1)), BLOCKS[1::2])
    for dtype in ["?", "i1", "u2", "i8", "u8", "f2"]:
        x = random.integers(0, 100, (5, 12)).astype(dtype)
        name = dtype if dtype != "?" else "bool"
        check(f"real-{name}", {"x": (x, "")}, list(forward(x, 1)), few)
    for shape in [(0, 8), (1, 1), (4, 2, 0), (3, 1009), (2, 4096)]:
        x = random.normal(size=shape)
        stages = list(forward(x, 1)) if 0 not in shape[1:] else []
        stages += [entry("op: fft, kind: rfft, n: 6, axis: 1", as_parts(np.fft.rfft(x, 6, 1)), x)]
        check(f"edge-{'x'.join(map(str, shape))}", {"x": (x, "")}, stages, few)
    x = random.normal(size=(6, 10, 2))
    check("whole", {"x": (x, ", load: whole")}, list(forward(x, 0)) + list(paired(x, 0)), few[:1])
    x = random.normal(size=(29, 3, 45))
    check("chain", {"x": (x, "")}, list(chain(x)), BLOCKS[::3])


main()
finish()
