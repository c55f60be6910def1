# SPDX-License-Identifier: Apache-2.0
"""Maps as users write them against plain NumPy, over block sizes and slots; and the faults of maps with
their places. Usage: map.py PENSTOCK WORK BACKEND
"""
import os
import subprocess
import sys

import numpy as np

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
BLOCKS = [("auto", 3), ("1 rows", 2), ("3 rows", 4), ("10 rows", 1), ("1000 rows", 2)]
failures = 0
folders = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def folder_with(arrays, config):
    """A new folder with x.npy, ... and job.yaml. An array named in config as NAME.npy is its file."""
    global folders
    folders += 1
    folder = os.path.join(WORK, f"case{folders}")
    os.makedirs(folder)
    for name, values in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), values)
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write(config)
    return folder


def run(folder, *sets):
    command = [PENSTOCK, "run", "--quiet", "--set", f"run.backend={BACKEND}"]
    for text in sets:
        command += ["--set", text]
    return subprocess.run(command + ["job.yaml"], cwd=folder, capture_output=True, text=True)


def job(arrays, stages, outputs, whole=()):
    inputs = [f"  {n}: {{path: {n}.npy{', load: whole' if n in whole else ''}}}" for n in arrays]
    lines = ["version: 1", "inputs:"] + inputs + ["stages:"] + ["  - " + s for s in stages]
    lines += ["outputs:"] + [f"  {n}: {{path: {n}_out.npy, overwrite: true}}" for n in outputs]
    return "\n".join(lines) + "\n"


def same(got, want):
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    return np.array_equal(got, want, equal_nan=want.dtype.kind == "f")


def check(what, arrays, stages, expected, whole=()):
    """stages: YAML of each; expected: name -> NumPy array. The same bits for every block and slot."""
    folder = folder_with(arrays, job(arrays, stages, expected, whole))
    for block, slots in BLOCKS:
        result = run(folder, f"run.block={block}", f"run.slots={slots}")
        if result.returncode != 0:
            fail(f"{what}: exit {result.returncode}: {result.stderr}")
            return
        for name, want in expected.items():
            got = np.load(os.path.join(folder, f"{name}_out.npy"))
            if not same(got, want):
                fail(f"{what}: {name} with blocks of {block}: {got.dtype}{got.shape}\n{got}\nnot "
                     f"{want.dtype}{want.shape}\n{want}")
                return


def refuse(what, arrays, config, code, *texts, blocks=BLOCKS[:1]):
    """The config (whole text, or stages as a list) ends with that exit code, and stderr has the texts."""
    if isinstance(config, list):
        config = job(arrays, config, ["y"])
    folder = folder_with(arrays, config)
    for block, slots in blocks:
        result = run(folder, f"run.block={block}", f"run.slots={slots}")
        missing = [t for t in texts if t not in result.stderr]
        if result.returncode != code or missing:
            fail(f"{what}, blocks of {block}: exit {result.returncode}, not {code}; lacks {missing}:\n"
                 f"{result.stderr}")
        if os.path.exists(os.path.join(folder, "y_out.npy")):
            fail(f"{what}: a failed job left an output")


random = np.random.default_rng(20261207)


# ---- let ----

def names():
    x = random.normal(size=(37, 3))
    n = random.integers(0, 100, 37).astype("i4")
    a = x - 1
    b = a * 2
    check("let", {"x": x, "n": n}, [
        '{name: y, op: map, let: {a: "x - 1", b: "a * 2"}, expr: "b / a + a", params: {k: 2}}',
        '{name: z, op: map, let: {k: 3, half: "k / 2", pi: 3}, expr: "n * k + pi"}',
        '{name: w, op: map, let: {big: "n > 50"}, expr: "x if big else -x"}',
        '{name: v, op: map, let: {s: "y + w", t: "s * s"}, expr: "t - s"}',
        '{name: unused, op: map, let: {a: "n", odd: "x"}, expr: "a"}',
    ], {
        "y": b / a + a,
        "z": n * np.int32(3) + np.int32(3),
        "w": np.where((n > 50)[:, None], x, -x),
        "v": (b / a + a + np.where((n > 50)[:, None], x, -x)) ** 2
             - (b / a + a + np.where((n > 50)[:, None], x, -x)),
        "unused": n,
    })
    arrays = {"x": x, "n": n}
    for let, says in [
        ("{x: 2}", "'x' is an array already"), ("{k: 2}", "'k' is one of `params` already"),
        ("{if: 2}", "'if' is a word of the language already"),
        ("{a: b, b: 2}", "'b' is defined after this"), ("{a: a + 1, b: 1}", "'a' is defined by itself"),
        ("{a: x, b: a.temp}", "'a' is computed here and has no columns"),
        ("{a: x +}", "the expression ends here"), ("{a: [x]}", "let.a is a list; expected an expression"),
        ("{a-b: x}", "cannot be the name of an expression"), ("x", "a mapping of names to expressions"),
        ("{a: x, b: ac}", "did you mean 'a'"), ("{a: x, a: n}", "'a'"),
    ]:
        refuse(f"let {let}", arrays,
               [f'{{name: y, op: map, in: x, let: {let}, expr: "x + a + b", params: {{k: 1}}}}'.replace(
                   "in: x, ", "")], 2, says)
    folder = folder_with(arrays, job(arrays, ['{name: y, op: map, let: {a: x, b: n}, expr: a}'], ["y"]))
    result = run(folder)
    if result.returncode != 0 or "warning: let: 'b' is not used" not in result.stderr:
        fail(f"an unused name: {result.returncode} {result.stderr}")
    result = run(folder, "stages.y.let.b=a * 3", "stages.y.expr=b", "outputs.y.overwrite=true")
    if result.returncode != 0 or not same(np.load(os.path.join(folder, "y_out.npy")), x * 3):
        fail(f"let by --set: {result.stderr}")


# ---- Places of faults ----

def places():
    """(YAML of expr, line and column in the file, text under which the carets are)"""
    head = "version: 1\ninputs: {x: {path: x.npy}}\nstages:\n  - name: y\n    op: map\n    expr:"
    for text, line, column, carets in [
        (" x + bad", 6, 15, 3), (' "x + bad"', 6, 16, 3), (" 'x + bad'", 6, 16, 3),
        (" |\n      x +\n        bad", 8, 9, 3), (" >-\n      x *\n      2 + bad", 8, 11, 3),
        (" >\n\n      x *\n\n\n      2 + bad # no comment", 11, 15, 1),
        (" x +\n      bad * 2", 7, 7, 3), (" x +\n\n\n        2 * bad", 9, 13, 3),
        (' "x +\n     \\\n     bad"', 8, 6, 3), (' "x +\\n bad"', 6, 18, 3), (' "x + x[\\"a\\"]"', 6, 16, 8),
        (" 'x + x[''a'']'", 6, 16, 8), (' "x\\x20+\\u0020bad"', 6, 24, 3),
        (" |\n      x\n      + bad(\n      x)", 8, 9, 3), (" |\n      where(x,\n      1)", 7, 7, 8),
        (" |\n      x *\n      (2 +\n", 8, 11, 1), (" \"x + \u00e4 +\n      x\"", 6, 16, 1), (" >-\n      x\n      * \u00e9", 8, 9, 1),
    ]:
        refuse(f"place in {text!r}", {"x": np.zeros((3, 2))},
               head + text + "\noutputs: {y: {path: y_out.npy}}\n", 2, f"job.yaml:{line}:{column}: error:",
               " " + "^" + "~" * (carets - 1) + "\n")
    refuse("place in let", {"x": np.zeros(3)},
           'version: 1\ninputs: {x: {path: x.npy}}\nstages:\n  - name: y\n    op: map\n    let:\n      a: x\n'
           '      b: >\n        a +\n        oops\n    expr: a + b\noutputs: {y: {path: y_out.npy}}\n', 2,
           "job.yaml:10:9: error: no array or param 'oops' here (there are: x, a)")


# ---- Numbers of rows and columns ----

def numbers():
    x = random.normal(size=(37, 4))
    image = random.integers(0, 9, (37, 2, 3)).astype("i2")
    s = random.normal(size=37).astype("f4")
    w = random.normal(size=(3, 5))
    n = np.arange(37)
    keep = s > 0
    check("row, col, index", {"x": x, "image": image, "s": s, "w": w}, [
        '{name: y, op: map, expr: "x * 0 + row * 10 + col"}',
        '{name: z, op: map, expr: "row if s == s else -1"}',
        '{name: v, op: map, expr: "index(0) * 100 + index(1) * 10 + index(-1) + 0 * image"}',
        '{name: u, op: map, expr: "0 * w + 10 * row + col"}',
        '{name: t, op: map, let: {first: "row < 5"}, expr: "where(first, x, y + row)"}',
        '{name: wide, op: map, expr: "s + w[0] * 0 + row"}',
        '{name: some, op: select, in: x, where: "s > 0"}',
        '{name: again, op: map, expr: "0 * some + row"}',
        '{name: smooth, op: rolling, in: z, window: 3, of: sum, edges: partial}',
    ], {
        "y": x * 0 + n[:, None] * 10 + np.arange(4), "z": n,
        "v": n[:, None, None] * 100 + np.arange(2)[:, None] * 10 + np.arange(3) + 0 * image,
        "u": 10 * np.arange(3)[:, None] + np.arange(5) + 0 * w,
        "t": np.where((n < 5)[:, None], x, x * 0 + n[:, None] * 11 + np.arange(4)),
        "wide": np.zeros((37, 3)) + s[:, None] + n[:, None],
        "again": np.zeros((keep.sum(), 4)) + np.arange(keep.sum())[:, None],
        "smooth": np.array([n[max(r - 2, 0):r + 1].sum() for r in n]),
    }, whole=["w"])
    check("an array of that name wins", {"x": x, "row": x * 2, "col": s},
          ['{name: y, op: map, expr: "x + row + col"}'], {"y": x + x * 2 + s[:, None]})
    for expr, says in [("s + col", "there is no col"), ("x + index(2)", "has 2 axes (counted from 0)"),
                       ("x + index(-3)", "there is no axis -3"), ("x + index(n)", "the number of an axis"),
                       ("x + index(0.5)", "the number of an axis"), ("row + 1", "reads no array"),
                       ("row.temp + x", "no array or param 'row'")]:
        refuse(expr, {"x": x, "s": s}, [f'{{name: y, op: map, expr: "{expr}"}}'], 2, says)


# ---- Whole arrays by number ----

def tables():
    n = 137
    k = random.integers(0, 20, (n, 3)).astype("i4")
    x = np.concatenate([random.normal(size=n - 9) * 4, [np.nan, np.inf, -np.inf, 0, -0.0, 2, 5, -5, 7]])
    gain = random.normal(size=20)
    names16 = random.normal(size=20).astype("f2")
    code = random.integers(-2**62, 2**62, 20)
    pair = random.normal(size=(20, 2)).astype("f4")
    places = np.sort(random.normal(size=20)) * 4
    steps = np.array([-5, -5, 0, 2, 2, 5, 7], "i2")
    heights = np.array([1, 2, np.inf, 3, 4, np.nan, 6], "f4")
    one = np.array([3.5])
    far = np.where(k > 15, k + 100, np.where(k < 2, -k - 1, k))
    inside = (far >= 0) & (far < 20)
    at = np.where(inside, far, 0)
    arrays = {"k": k, "x": x, "gain": gain, "names16": names16, "code": code, "pair": pair, "places": places,
              "steps": steps, "heights": heights, "one": one, "far": far, "u": k.astype("u8") - 1}
    u_in = (k - 1 >= 0)
    check("lookup and interp", arrays, [
        '{name: a, op: map, expr: "lookup(gain, k) * x"}',
        '{name: b, op: map, expr: "lookup(code, k)"}',
        '{name: c, op: map, expr: "lookup(names16, k) + lookup(pair[1], k)"}',
        '{name: d, op: map, expr: "lookup(gain, far)"}',
        '{name: e, op: map, expr: "lookup(code, far, -1)"}',
        '{name: f, op: map, expr: "lookup(names16, far, x)"}',
        '{name: g, op: map, expr: "lookup(gain, row % 20) + x"}',
        '{name: h, op: map, expr: "interp(x, places, gain)"}',
        '{name: i, op: map, expr: "interp(x, steps, heights)"}',
        '{name: j, op: map, expr: "interp(k, places, code) + interp(x / 2, places, code)"}',
        '{name: l, op: map, expr: "interp(x, one, one)"}',
        '{name: m, op: map, expr: "lookup(gain, u)"}',
        '{name: mean, op: reduce, in: k, axis: rows, of: mean}',
        '{name: o, op: map, expr: "lookup(mean, k % 3)"}',
        '{name: q, op: map, expr: "lookup(gain, i64(steps) + 5)"}',
    ], {
        "a": gain[k] * x[:, None], "b": code[k], "c": names16[k] + pair[:, 1][k],
        "d": np.where(inside, gain[at], np.nan), "e": np.where(inside, code[at], -1),
        "f": np.where(inside, names16[at].astype("f8"), x[:, None]), "g": gain[np.arange(n) % 20] + x,
        "h": np.interp(x, places, gain), "i": np.interp(x, steps, heights),
        "j": np.interp(k, places, code) + np.interp(x / 2, places, code)[:, None],
        "l": np.where(np.isnan(x), np.nan, 3.5), "m": np.where(u_in, gain[np.where(u_in, k - 1, 0)], np.nan),
        "o": k.mean(axis=0)[k % 3], "q": gain[steps.astype(int) + 5],
    }, whole=["gain", "names16", "code", "pair", "places", "steps", "heights", "one"])

    bad = k.copy()
    bad[60, 2], bad[61, 0], bad[100, 1] = 20, -1, 99
    config = job({"k": 0, "t": 0, "x": 0}, ['{name: y, op: map, expr: "lookup(t, k) + 1"}'], ["y"], whole=["t"])
    refuse("an integer lookup outside", {"k": bad, "t": code, "x": x}, config, 3,
           "stage y (map): row 60, column 2: `lookup(t, k)`: index 20 is not one of the 20 elements",
           blocks=BLOCKS)
    bad[60, 2] = 3
    refuse("a negative index", {"k": bad, "t": code, "x": x}, config, 3,
           "row 61, column 0: `lookup(t, k)`: index -1 is not", blocks=BLOCKS)
    config = job({"x": 0, "t": 0}, ['{name: y, op: map, expr: "interp(x, t, t)"}'], ["y"], whole=["t"])
    for t, says in [([0, 1, 3, 2, 5, 4.], "element 3 is not above element 2"),
                    ([0, 1, np.nan, 5], "element 2 is not above element 1")]:
        refuse("places that fall", {"x": x, "t": np.array(t)}, config, 3, says, blocks=BLOCKS)
    for expr, says in [
        ("lookup(x, k)", "comes block by block"), ("lookup(k + 1, k)", "the name of one (or of its column"),
        ("lookup(gain, x)", "the index is f64"), ("lookup(gain, 0.5) + x", "the index is f64"),
        ("lookup(gain)", "lookup takes 2 or 3 arguments"), ("lookup(pair, k)", "name a column, as in pair[0]"),
        ("lookup(gian, k)", "did you mean 'gain'"), ("lookup(p, k)", "'p' is no array"),
        ("interp(x, places, steps)", "'steps' has 7, 'places' 20"), ("interp(x, places)", "takes 3 arguments"),
        ("lookup(gain, 3)", "reads no array"), ("lookup(pair[2], k)", "last axis has 2 elements"),
    ]:
        refuse(expr, arrays, job(arrays, [f'{{name: y, op: map, expr: "{expr}", params: {{p: 1}}}}'], ["y"],
                                 whole=["gain", "pair", "places", "steps"]), 2, says)


# ---- Checked ----

OPERATIONS = [  # expression, what it is exactly (None: nothing), its sign in messages
    ("a + b", lambda a, b: a + b, " + "), ("a - b", lambda a, b: a - b, " - "),
    ("a * b", lambda a, b: a * b, " * "), ("a // b", lambda a, b: a // b if b else None, " // "),
    ("a % b", lambda a, b: a % b if b else None, " % "),
    ("a << b", lambda a, b: a << b if b >= 0 else None, " << "),
]


def checked():
    for dtype in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]:
        info = np.iinfo(dtype)
        width = info.bits // 2 - 1
        a = random.integers(1, 2**width, (53, 2)).astype(dtype)
        b = random.integers(1, 3, (53, 2)).astype(dtype)
        if info.min == 0:
            a += b
        stages = [f'{{name: s{i}, op: map, expr: "{text}", checked: true}}' for i, (text, _, _) in
                  enumerate(OPERATIONS)]
        exact = {f"s{i}": np.array([[f(int(p), int(q)) for p, q in zip(*rows)] for rows in zip(a, b)])
                 for i, (_, f, _) in enumerate(OPERATIONS)}
        check(f"checked {dtype}, all fits", {"a": a, "b": b}, stages,
              {k: v.astype(dtype) for k, v in exact.items() if np.all((v >= info.min) & (v <= info.max))})
        for text, f, sign in OPERATIONS:
            p, q = a.copy(), b.copy()
            p[41, 1], q[41, 1] = info.max, 0 if text in ("a // b", "a % b") else 2
            p[52, 0], q[52, 0] = info.max, 0 if text in ("a // b", "a % b") else 3
            if text == "a - b":
                p[41, 1], q[41, 1] = info.min, 1
            says = f"row 41, column 1: `{text}`: {p[41, 1]}{sign}{q[41, 1]}"
            says += " divides by zero" if q[41, 1] == 0 else " does not fit"
            refuse(f"{text} of {dtype}", {"a": p, "b": q},
                   [f'{{name: y, op: map, expr: "{text}", checked: true}}'], 3, "stage y (map): " + says,
                   blocks=BLOCKS[:3] if dtype == "i4" else BLOCKS[1:2])

    x = np.array([1.5, -2.9, 127.9, 128.0, np.nan])
    n = np.array([-128, 5, 3, 1, -1], "i1")
    big = np.array([2**63 - 1, 2**40, 300, -1, 0])
    for expr, place in [
        ("i8(x)", "row 3: `i8(x)`: 128 does not fit i8"), ("u8(x)", "row 1: `u8(x)`: -2.9 does not fit u8"),
        ("i16(x)", "row 4: `i16(x)`: .nan does not fit i16"), ("-n", "row 0: `-n`: -(-128) does not fit i8"),
        ("abs(n)", "row 0: `abs(n)`: abs(-128) does not fit i8"), ("n ** 3", "row 0: `n ** 3`: -128 ** 3 does not"),
        ("n // -1", "row 0: `n // -1`: -128 // -1 does not fit i8"), ("(n & 1) // (n ^ 3)", "row 2: `(n & 1) // (n ^ 3)`: 1 // 0 divides by zero"),
        ("n << n", "row 0: `n << n`: -128 << -128 shifts by a negative count"),
        ("fmod(n, n - n)", "row 0: `fmod(n, n - n)`: fmod(-128, 0) divides by zero"),
        ("n ** 2", "row 0: `n ** 2`: -128 * -128 does not fit i8"),
        ("u64(big)", "row 3: `u64(big)`: -1 does not fit u64"), ("i32(big)", "row 0: `i32(big)`"),
        ("big + 1", "row 0: `big + 1`: 9223372036854775807 + 1 does not fit i64"),
        ("where(n > 0, n, 0) * 26", "row 1: "),
    ]:
        refuse(f"checked {expr}", {"x": x, "n": n, "big": big},
               [f'{{name: y, op: map, expr: "{expr}", checked: true}}'], 3, place, blocks=BLOCKS[1:2])
    with np.errstate(all="ignore"):
        check("not checked: wraps", {"x": x, "n": n, "big": big}, [
            '{name: a, op: map, expr: "n * 100"}', '{name: b, op: map, expr: "abs(n) + (-n)"}',
            '{name: c, op: map, expr: "n // 0 + n % 0"}', '{name: d, op: map, expr: "i32(big)"}',
            '{name: e, op: map, expr: "i8(x)"}',
        ], {"a": n * np.int8(100), "b": np.abs(n) + (-n), "c": n * np.int8(0), "d": big.astype("i4"),
            "e": np.array([1, -2, 127, 127, 0], "i1")})
    refuse("dtype: of a checked map", {"big": big}, ['{name: y, op: map, expr: "big", dtype: u8, checked: true}'],
           3, "row 0: `big`: 9223372036854775807 does not fit u8")
    refuse("a checked stage fused with others", {"n": n}, [
        '{name: before, op: map, expr: "n + n"}', '{name: y, op: map, expr: "before - n * 2", checked: true}'],
        3, "stage before+y (map): row 0: `n * 2`: -128 * 2 does not fit i8", blocks=BLOCKS)
    config = job({"x": 0, "w": 0}, ['{name: q, op: map, expr: "w + w", checked: true}',
                                    '{name: y, op: map, expr: "q[0] + x"}'], ["y"], whole=["w"])
    refuse("a whole result", {"x": x, "w": np.array([[1, 2], [3, 100]], "i1")}, config, 3,
           "stage q (map): element [1, 1]: `w + w`: 100 + 100 does not fit i8")
    refuse("a long text", {"n": n}, ['{name: y, op: map, checked: true, expr: "(n +\n   ' + "0 + " * 30 + 'n)"}'],
           3, "`n + 0 + 0", "...`: -128 + -128 does not fit i8")
    # Both sides of a choice are computed, so both are checked: as expressions.md says.
    refuse("a choice", {"n": n}, ['{name: y, op: map, checked: true, expr: "n // (n - 3) if n != 3 else n"}'], 3,
           "row 0: `n - 3`: -128 - 3")


for test in [names, places, numbers, tables, checked]:
    test()
sys.exit(f"{failures} failures" if failures else 0)
