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


for test in [names, places]:
    test()
sys.exit(f"{failures} failures" if failures else 0)
