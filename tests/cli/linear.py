# SPDX-License-Identifier: Apache-2.0
"""Linear statistics (gram, covariance, correlation, pca, lstsq) against exact fractions and NumPy.
Every job runs with many block sizes and slots, and every run must give the same bits.
Usage: linear.py PENSTOCK WORK BACKEND
"""
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
NAN, INF = float("nan"), float("inf")
BLOCKS = [("auto", 3), ("1 rows", 2), ("2 rows", 1), ("3 rows", 4), ("5 rows", 3), ("7 rows", 2),
          ("10 rows", 2), ("16 rows", 5), ("31 rows", 3), ("32 rows", 2), ("64 rows", 2),
          ("100 rows", 3), ("127 rows", 2), ("256 rows", 1), ("500 rows", 2), ("511 rows", 3),
          ("512 rows", 2), ("513 rows", 2), ("600 rows", 2), ("1000 rows", 1), ("1024 rows", 3)]
FEW = [BLOCKS[0], BLOCKS[3], BLOCKS[8], BLOCKS[13], BLOCKS[17]]
failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


# ---- Exact references: no rounding but the last ----

class Exact:
    """Sums and sums of products of the columns, as fractions."""

    def __init__(self, x):
        self.count, self.n = len(x), int(np.prod(x.shape[1:]))
        rows = [[Fraction(int(v)) if x.dtype.kind in "iub" else Fraction(float(v)) for v in row]
                for row in x.reshape(self.count, self.n)]
        self.products = np.empty((self.n, self.n), object)
        for j in range(self.n):
            for k in range(j, self.n):
                self.products[j, k] = self.products[k, j] = sum(r[j] * r[k] for r in rows)
        sums = [sum(r[j] for r in rows) for j in range(self.n)]
        self.centred = [[self.products[j, k] * self.count - sums[j] * sums[k]
                         for k in range(self.n)] for j in range(self.n)]

    def gram(self):
        return np.array([[rounded(v) for v in row] for row in self.products])

    def covariance(self, ddof):
        if self.count <= ddof:
            return np.full((self.n, self.n), NAN)
        divisor = self.count * (self.count - ddof)
        return np.array([[rounded(v / divisor) for v in row] for row in self.centred])


def rounded(value):
    try:
        return float(value) if value else 0.0  # Fraction to float rounds to nearest even
    except OverflowError:
        return INF if value > 0 else -INF


# ---- Running ----

def run(name, files, stages, outputs, blocks=BLOCKS, inputs_extra=""):
    """One job with these stages over many blocks; the results of the first, all of them equal."""
    folder = os.path.join(WORK, name)
    os.makedirs(folder, exist_ok=True)
    lines = ["version: 1", "inputs:"]
    for key, array in files.items():
        np.save(os.path.join(folder, f"{key}.npy"), array)
        lines.append(f"  {key}: {{path: {key}.npy{inputs_extra}}}")
    lines += ["stages:"] + [f"  - {{{stage}}}" for stage in stages] + ["outputs:"]
    lines += [f"  {o}: {{path: {o}.out.npy, overwrite: true}}" for o in outputs]
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write("\n".join(lines + [f"run: {{backend: {BACKEND}}}"]) + "\n")
    first = None
    for block, slots in blocks:
        if len(next(iter(files.values()))) > 3000 and block.split()[0] in "1 2 3 5 7".split():
            continue
        result = subprocess.run([PENSTOCK, "run", "--quiet", "--set", f"run.block={block}", "--set",
                                 f"run.slots={slots}", "job.yaml"], cwd=folder,
                                capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{name}: block {block}, slots {slots}: exit {result.returncode}: "
                     f"{result.stderr}")
        got = [np.load(os.path.join(folder, f"{o}.out.npy")) for o in outputs]
        first = first or got
        for o, a, b in zip(outputs, got, first):
            if a.tobytes() != b.tobytes():
                fail(f"{name}: {o}: other bits with block {block}, {slots} slots")
    return first


def refused(name, files, stages, output, *texts):
    """The job fails, and its message holds the texts."""
    folder = os.path.join(WORK, name)
    os.makedirs(folder, exist_ok=True)
    lines = ["version: 1", "inputs:"]
    for key, array in files.items():
        np.save(os.path.join(folder, f"{key}.npy"), array)
        lines.append(f"  {key}: {{path: {key}.npy}}")
    lines += ["stages:"] + [f"  - {{{stage}}}" for stage in stages]
    lines += ["outputs:", f"  {output}: {{path: out.npy, overwrite: true}}",
              f"run: {{backend: {BACKEND}}}"]
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write("\n".join(lines) + "\n")
    result = subprocess.run([PENSTOCK, "run", "job.yaml"], cwd=folder, capture_output=True,
                            text=True)
    if result.returncode == 0:
        fail(f"{name}: was not refused")
    for text in texts:
        if text not in result.stderr:
            fail(f"{name}: stderr lacks '{text}': {result.stderr}")


def same_bits(name, what, got, want):
    got, want = np.asarray(got), np.asarray(want, dtype="f8")
    if got.shape != want.shape or got.dtype != np.float64:
        return fail(f"{name}: {what}: {got.dtype}{got.shape}, not f8{want.shape}")
    bad = np.argwhere(~((got == want) | (np.isnan(got) & np.isnan(want))))
    if len(bad):
        fail(f"{name}: {what}: {len(bad)} differ, as at {bad[0].tolist()}: "
             f"{got[tuple(bad[0])]!r} not {want[tuple(bad[0])]!r}")


def close(name, what, got, want, bound):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return fail(f"{name}: {what}: {got.shape}, not {want.shape}")
    scale = max(1e-300, float(np.nanmax(np.abs(want)))) if want.size else 1
    good = (np.abs(got - want) <= bound * scale) | (np.isnan(got) & np.isnan(want))
    if not good.all():
        at = tuple(np.argwhere(~good)[0])
        fail(f"{name}: {what}: at {at} {got[at]!r} not {want[at]!r}")


SQUARES = ["name: g, op: gram, in: x", "name: c, op: covariance, in: x",
           "name: c0, op: covariance, in: x, ddof: 0", "name: r, op: correlation, in: x"]


def check_squares(name, x, blocks=FEW):
    g, c, c0, r = run(name, {"x": x}, SQUARES, ["g", "c", "c0", "r"], blocks)
    if x.size and not np.isfinite(x.astype("f8")).all():
        sys.exit(f"{name}: finite data only")
    reference = Exact(x)
    same_bits(name, "gram", g, reference.gram())
    same_bits(name, "covariance", c, reference.covariance(1))
    same_bits(name, "covariance, ddof 0", c0, reference.covariance(0))
    exact, n = reference.centred, reference.n
    want = np.full((n, n), NAN)
    for j in range(n):
        for k in range(n):
            if exact[j][j] > 0 and exact[k][k] > 0:
                square = exact[j][k] ** 2 / (exact[j][j] * exact[k][k])
                root = np.sqrt(rounded(square)) if square > Fraction(1, 10**250) else 0
                want[j, k] = -root if exact[j][k] < 0 else root
    with np.errstate(invalid="ignore"):
        if not ((np.abs(r - want) <= 4e-16) | (np.isnan(r) & np.isnan(want))).all():
            fail(f"{name}: correlation: {r} not {want}")
        if (np.abs(r) > 1).any() or not (np.diag(r)[~np.isnan(np.diag(r))] == 1).all():
            fail(f"{name}: correlation beyond 1, or no 1 on the diagonal")


def odd_reference(x):
    """The gram matrix of data with NaN and infinities, as IEEE adds: NaN beats, inf - inf is NaN."""
    with np.errstate(all="ignore"):
        n = x.shape[1]
        out = np.zeros((n, n))
        for j in range(n):
            for k in range(n):
                p = x[:, j].astype("f8") * x[:, k].astype("f8")
                bad = p[~np.isfinite(p)]
                out[j, k] = bad.sum() if len(bad) else float(sum(
                    Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x[:, j], x[:, k])))
        return out


def squares():
    random = np.random.default_rng(20261207)
    for rows in [0, 1, 2, 3, 700]:
        check_squares(f"f64-{rows}", random.normal(size=(rows, 4)) + [0, 1, 1e6, -1e-3])
    check_squares("f32", random.normal(size=(1100, 5)).astype("f4") * np.array([1, 2, 4, 1e6, 1e-6], "f4"), BLOCKS)
    check_squares("f16", (random.normal(size=(900, 3)) * [1, 1000, 1e-4]).astype("f2"))
    check_squares("one-column", random.normal(size=300))
    check_squares("rank-3", random.normal(size=(77, 2, 3)).astype("f4"))
    check_squares("few-rows", random.normal(size=(3, 12)))
    constant = random.normal(size=(600, 3))
    constant[:, 1] = 0.1
    check_squares("constant", constant)
    alike = random.normal(size=(600, 1)) + 1e9 + random.normal(size=(600, 3)) * 1e-6
    check_squares("ill-conditioned", alike, BLOCKS)
    wide = random.normal(size=(530, 3)) * 10.0 ** random.integers(-300, 150, (530, 3))
    check_squares("wide-f64", wide, BLOCKS)
    wide = (random.normal(size=(530, 3)) * 10.0 ** random.integers(-30, 30, (530, 3))).astype("f4")
    check_squares("wide-f32", wide)
    for name, value in [("huge", 1e308), ("tiny", 5e-324), ("small", 1e-160)]:
        x = random.integers(1, 9, (40, 3)) * np.array([value / 8 if value > 1 else value, 1, value / 8 if value > 1 else value])
        check_squares(name, x)
    x = np.concatenate([random.normal(size=(20, 2)) * 1e300, random.normal(size=(20, 2)) * 1e-300])
    check_squares("both-ends", x)
    check_squares("f32-denormal", (random.integers(-9, 9, (60, 3)) * 1e-45).astype("f4"))
    for dtype in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]:
        info = np.iinfo(dtype)
        x = random.integers(info.min, info.max, (600, 3), dtype=dtype, endpoint=True)
        x[0] = info.min, info.max, info.max
        check_squares(dtype, x)
    check_squares("bool", random.integers(0, 2, (555, 3)).astype(bool))
    x = random.normal(size=(600, 4))
    x[100, 0], x[200, 1], x[300, 2], x[301, 2] = NAN, INF, INF, -INF
    g, c, r = run("odd", {"x": x}, [SQUARES[0], SQUARES[1], SQUARES[3]], ["g", "c", "r"], FEW)
    same_bits("odd", "gram", g, odd_reference(x))
    want = np.full((4, 4), NAN)
    want[3, 3] = Exact(x[:, 3:]).covariance(1)[0, 0]
    same_bits("odd", "covariance", c, want)
    same_bits("odd", "correlation", r, np.where(np.isnan(want), NAN, 1))
    x[:] = NAN
    x[1::2, 1] = 0
    g, = run("odd-all", {"x": x}, SQUARES[:1], ["g"], FEW)
    same_bits("odd-all", "gram", g, np.full((4, 4), NAN))
    x = np.zeros((600, 2), "f4")
    x[7] = 0, INF
    g, = run("inf-zero", {"x": x}, SQUARES[:1], ["g"], FEW)
    same_bits("inf-zero", "gram", g, [[0, NAN], [NAN, INF]])
    # Many columns, so that slices make several panels; of whole data as well.
    x = random.normal(size=(650, 150)).astype("f4")
    for extra in ["", ", load: whole"]:
        c, = run("wide" + extra[2:6], {"x": x}, SQUARES[1:2], ["c"],
                 [("auto", 3), ("100 rows", 2), ("512 rows", 1)], extra)
        close("wide", "covariance", c, np.cov(x.astype("f8"), rowvar=False), 1e-14)
    refused("no-columns", {"x": np.zeros((3, 0))}, SQUARES[:1], "g", "rows of at least one number")


# ---- Least squares: normal equations in fractions ----

def exact_lstsq(x, y, intercept, ridge=0.0):
    """Coefficients [p (+ 1), q] by Gauss on fractions, rounded once."""
    n = len(x)
    a = [[Fraction(float(v)) for v in row] + [Fraction(1)] * intercept for row in x.reshape(n, -1)]
    b = [[Fraction(float(v)) for v in row] for row in y.reshape(n, -1)]
    p, q = len(a[0]), len(b[0])
    m = [[sum(r[j] * r[k] for r in a) for k in range(p)] +
         [sum(r[j] * s[i] for r, s in zip(a, b)) for i in range(q)] for j in range(p)]
    for j in range(p - intercept):
        m[j][j] += Fraction(ridge)
    for j in range(p):
        pivot = next(i for i in range(j, p) if m[i][j] != 0)
        m[j], m[pivot] = m[pivot], m[j]
        m[j] = [v / m[j][j] for v in m[j]]
        for i in range(p):
            if i != j and m[i][j] != 0:
                m[i] = [v - m[i][j] * w for v, w in zip(m[i], m[j])]
    return np.array([[float(v) for v in row[p:]] for row in m])


def ulps(name, what, got, want, bound):
    """Each element within `bound` ulp."""
    if got.shape != want.shape or got.dtype != np.float64:
        return fail(f"{name}: {what}: {got.dtype}{got.shape}, not f8{want.shape}")
    with np.errstate(all="ignore"):
        off = np.abs(got - want) / np.spacing(np.abs(want))
    if not (off <= bound).all():
        fail(f"{name}: {what}: {np.nanmax(off)} ulp off: {got} not {want}")


def least_squares():
    random = np.random.default_rng(20261209)
    x = random.normal(size=(200, 4)) * [1, 100, 1e-3, 1] + [0, 1e4, 0, 3]
    y = x @ [[1.0, -2], [0.5, 3], [7, 1], [2, 2]] + random.normal(size=(200, 2)) + 5
    stages = ["name: a, op: lstsq, in: x, with: y", "name: b, op: lstsq, in: x, with: y, intercept: false",
              "name: c, op: lstsq, in: x, with: y, ridge: 10",
              "name: d, op: lstsq, in: x, with: y, ridge: 0.5, intercept: false"]
    a, b, c, d = run("lstsq", {"x": x, "y": y}, stages, "abcd", BLOCKS)
    ulps("lstsq", "intercept", a, exact_lstsq(x, y, True), 1)
    ulps("lstsq", "none", b, exact_lstsq(x, y, False), 1)
    ulps("lstsq", "ridge", c, exact_lstsq(x, y, True, 10), 1)
    ulps("lstsq", "ridge, none", d, exact_lstsq(x, y, False, 0.5), 1)
    close("lstsq", "NumPy", b, np.linalg.lstsq(x, y, rcond=None)[0], 1e-10)
    x = random.normal(size=(90, 3)).astype("f4")
    y = random.integers(-9, 9, 90).astype("i2")
    a, = run("lstsq-mixed", {"x": x, "y": y}, stages[:1], "a", FEW)
    ulps("lstsq-mixed", "one y", a, exact_lstsq(x, y, True)[:, 0], 1)
    y = random.integers(-2**62, 2**62, 90)  # wider than a double: of the exact numbers
    a, = run("lstsq-i64", {"x": random.integers(-9, 9, (90, 2)), "y": y * 0 + 1}, stages[1:2], "b", FEW)
    # Ill-conditioned: polynomials, and columns that differ in their last bits.
    t = np.linspace(0, 1, 60)
    x = t[:, None] ** np.arange(1, 11)
    y = np.sin(5 * t)
    a, = run("lstsq-powers", {"x": x, "y": y}, stages[:1], "a", FEW)
    ulps("lstsq-powers", "condition 1e8", a, exact_lstsq(x, y, True)[:, 0], 1)
    x = random.normal(size=(60, 1)) + np.array([[0, 1e-11, 0]]) * random.normal(size=(60, 3))
    x[:, 2] = random.normal(size=60) * 1e150
    a, = run("lstsq-near", {"x": x, "y": y}, stages[:1], "a", FEW)
    ulps("lstsq-near", "condition 1e11", a, exact_lstsq(x, y, True)[:, 0], 1e5)
    folder = os.path.join(WORK, "lstsq-near")
    told = subprocess.run([PENSTOCK, "run", "job.yaml"], cwd=folder, capture_output=True, text=True).stderr
    if "nearly dependent" not in told:
        fail(f"lstsq-near: no warning: {told}")
    x = random.normal(size=(50, 3))
    y = x[:, 0].copy()
    x[:, 2] = x[:, 0] - x[:, 1]
    refused("lstsq-dependent", {"x": x, "y": y}, stages[:1], "a", "element 2 of the row of 'x'",
            "linear combination")
    x[:, 2] = 0.1
    refused("lstsq-constant", {"x": x, "y": y}, stages[:1], "a", "element 2", "constant")
    x[:, 2] = 0
    refused("lstsq-zero", {"x": x, "y": y}, stages[1:2], "b", "element 2", "zero")
    refused("lstsq-few", {"x": x[:3], "y": y[:3]}, stages[:1], "a", "3 rows do not determine 4")
    refused("lstsq-none", {"x": x[:0], "y": y[:0]}, stages[:1], "a", "0 rows")
    y[7] = NAN
    refused("lstsq-nan", {"x": x, "y": y}, stages[:1], "a", "element 0 of the row of 'y'", "NaN")
    refused("lstsq-rows", {"x": x, "y": y[:-1]}, stages[:1], "a", "rows")
    refused("lstsq-with", {"x": x}, ["name: a, op: lstsq, in: x"], "a", "with")


# ---- Principal components ----

def components():
    random = np.random.default_rng(20261210)

    def check(name, x, count, blocks=FEW):
        wide = x.reshape(len(x), -1).astype("f8")
        p, c, v, q = run(name, {"x": x}, [
            f"name: p, op: pca, in: x, components: {count}",
            f"name: c, op: pca, in: x, components: {count}, output: components",
            f"name: v, op: pca, in: x, components: {count}, output: variances",
            "name: q, op: pca, in: x"], "pcvq", blocks)
        values, vectors = np.linalg.eigh(np.cov(wide, rowvar=False).reshape((wide.shape[1],) * 2))
        values, vectors = values[::-1], vectors[:, ::-1].T
        for vector in vectors:
            vector *= np.sign(vector[np.argmax(np.abs(vector))])
        close(name, "variances", v, values[:count], 1e-12)
        close(name, "components", c, vectors[:count], 1e-9)
        close(name, "projection", p, (wide - wide.mean(axis=0)) @ vectors[:count].T, 1e-9)
        close(name, "all", q[:, :count], p, 0)
        if np.abs(q.var(axis=0, ddof=1) - values).max() > 1e-9 * values[0]:
            fail(f"{name}: the projection's variances are {q.var(axis=0, ddof=1)}, not {values}")
        if np.abs(c @ c.T - np.eye(count)).max() > 1e-13:
            fail(f"{name}: components are not orthonormal")

    mix = random.normal(size=(6, 6))
    check("pca", random.normal(size=(400, 6)) * [9, 5, 3, 2, 1, 0.5] @ mix + 1e5, 3, BLOCKS)
    check("pca-f4", (random.normal(size=(700, 5)) * [9, 5, 3, 2, 1]).astype("f4"), 5)
    check("pca-u1", (random.normal(size=(300, 2, 2)) * [[30, 20], [10, 5]] + 120).astype("u1"), 2)
    check("pca-one", random.normal(size=50), 1)
    x = random.normal(size=(4, 7)).astype("f4")  # fewer rows than columns
    p, v = run("pca-few", {"x": x}, ["name: p, op: pca, in: x, components: 3",
                                     "name: v, op: pca, in: x, output: variances"], "pv", FEW)
    wide = x.astype("f8") - x.astype("f8").mean(axis=0)
    close("pca-few", "variances", v[:3], np.linalg.svd(wide)[1][:3] ** 2 / 3, 1e-12)
    if (v[3:] < 0).any() or (v[3:] > 1e-14 * v[0]).any():
        fail(f"pca-few: variances {v}")
    close("pca-few", "distances", p @ p.T, wide @ wide.T, 1e-12)
    constant = np.full((9, 3), 0.1)
    p, v = run("pca-constant", {"x": constant}, ["name: p, op: pca, in: x", "name: v, op: pca, in: x, output: variances"], "pv", FEW)
    close("pca-constant", "variances", v, np.zeros(3), 0)
    close("pca-constant", "projection", p, np.zeros((9, 3)), 0)
    x[1, 2] = NAN
    refused("pca-nan", {"x": x}, ["name: p, op: pca, in: x"], "p", "element 2 of the row of 'x'")
    refused("pca-no-rows", {"x": x[:1]}, ["name: p, op: pca, in: x"], "p", "1 rows have no covariance")
    refused("pca-many", {"x": x}, ["name: p, op: pca, in: x, components: 8"], "p", "only 7 columns")


squares()
least_squares()
components()
sys.exit(f"{failures} failures" if failures else 0)
