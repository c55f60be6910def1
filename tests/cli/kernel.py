# SPDX-License-Identifier: Apache-2.0
"""Kernel stages run end to end against NumPy: every dtype, every type of param, streamed and whole
inputs, shapes, twins in C and as expressions. Every job runs with several blocks and slots, guarded
and not, and must give the same bits. With BACKEND cuda the kernels themselves run.
Usage: kernel.py PENSTOCK WORK BACKEND
"""
import os
import subprocess
import sys
import textwrap

import numpy as np

PENSTOCK, WORK, BACKEND = sys.argv[1:4]
DTYPES = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2",
          "u32": "u4", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8"}
C = {"bool": "unsigned char", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long",
     "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int",
     "u64": "unsigned long long", "f16": "unsigned short", "f32": "float", "f64": "double"}
ELEMENT = "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\nif (i < {count})\n"
failures = 0


def both(name, arguments, body, count, head=""):
    """CUDA C and C of the same body, for each i below count."""
    cuda = f"{head}__global__ void {name}({arguments})\n{{\n{ELEMENT.format(count=count)}{{ {body} }}\n}}\n"
    c = f"#include <math.h>\n{head}void {name}({arguments})\n{{\nfor (long long i = 0; i < {count}; i++) {{ {body} }}\n}}\n"
    return f"source: |\n{textwrap.indent(cuda, '  ')}cpu_source: |\n{textwrap.indent(c, '  ')}"


RUNS = [("auto", 3, 0), ("1 rows", 2, 0), ("7 rows", 1, 1)]  # block, slots, guard


def run(folder, inputs, stages, wanted, runs=RUNS):
    """stages: (name, text of its keys); wanted: name -> array, checked bit by bit."""
    global failures
    os.makedirs(folder, exist_ok=True)
    text = "version: 1\ninputs:\n"
    for name, (array, how) in inputs.items():
        np.save(os.path.join(folder, name + ".npy"), array)
        text += f"  {name}: {{path: {name}.npy, load: {how}}}\n"
    text += "stages:\n"
    for name, keys in stages:
        text += f"  - name: {name}\n    op: kernel\n" + textwrap.indent(keys, "    ")
    text += "outputs:\n" + "".join(f"  {n}: {{path: out_{n}.npy, overwrite: true}}\n" for n in wanted)
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write(text + f"run: {{backend: {BACKEND}}}\n")
    for block, slots, guard in runs:
        sets = [f"run.block={block}", f"run.slots={slots}"]
        sets += [f"stages.{name}.guard=true" for name, _ in stages if guard]
        command = [PENSTOCK, "run", "--quiet"] + [x for s in sets for x in ("--set", s)] + ["job.yaml"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{folder}, {sets}: exit {result.returncode}: {result.stderr}")
        for name, want in wanted.items():
            got = np.load(os.path.join(folder, f"out_{name}.npy"))
            if got.dtype != want.dtype or got.shape != want.shape or got.tobytes() != want.tobytes():
                failures += 1
                print(f"{folder}, {sets}: {name}: {got.dtype}{got.shape} {got.ravel()[:6]}, not "
                      f"{want.dtype}{want.shape} {want.ravel()[:6]}")


def every_dtype():
    random = np.random.default_rng(20261207)
    stages, inputs, wanted = [], {}, {}
    for name, code in DTYPES.items():
        x = random.integers(0, 2 if name == "bool" else 100, (65, 3)).astype(code)
        if name[0] == "f":
            x = (random.normal(size=(65, 3)) * 100).astype(code)
        inputs["x_" + name] = (x, "stream")
        arguments = f"const {C[name]} *x, {C[name]} *out, long long rows, long long first_row"
        body = "out[i] = x[i];"
        if name == "f16":
            body = "out[i] = ps_f32_to_f16(ps_f16_to_f32(x[i]) * 3);"
        elif name != "bool":
            body = "out[i] = x[i] + 1;"
        stages.append(("k_" + name, f"in: x_{name}\n" + both("k_" + name, arguments, body,
                                                            f"rows * PS_ROW_x_{name}")))
        wanted["k_" + name] = x if name == "bool" else (x.astype("f4") * 3).astype("f2") \
            if name == "f16" else x + np.array(1, code)
    run(os.path.join(WORK, "dtypes"), inputs, stages, wanted, RUNS[2:])


def params_and_rows():
    """Each param has its declared type; first_row is absolute; shape and dtype are the stage's."""
    x = np.arange(41 * 2, dtype="f4").reshape(41, 2)
    arguments = ("const float *x, double *out, long long rows, long long first_row, double d, float f, "
                 "long long l, int n")
    body = ("out[4 * i] = d * x[2 * i]; out[4 * i + 1] = f; out[4 * i + 2] = (double)(l % 1000) + n; "
            "out[4 * i + 3] = (double)(first_row + i);")
    keys = ("params: {d: 2.5, f: 0.1, l: 9007199254740993, n: -7}\n"
            "param_types: {f: f32, l: i64, n: i32}\nshape: [4]\ndtype: f64\nlaunch: thread_per_row\n"
            "function: other\n") + both("other", arguments, body, "rows")
    want = np.stack([2.5 * x[:, 0].astype("f8"), np.full(41, np.float32(0.1), "f8"),
                     np.full(41, 9007199254740993 % 1000 - 7, "f8"), np.arange(41.0)], 1)
    run(os.path.join(WORK, "params"), {"x": (x, "stream")}, [("p", keys)], {"p": want})


def whole_inputs():
    """A streamed input beside a whole one, and a whole result of whole inputs, used by the next."""
    x = np.arange(50 * 4, dtype="i4").reshape(50, 4) % 23
    w = np.array([3, 1, 4, 1], "i4")
    table = both("table", "const int *w, int *out, long long rows, long long first_row",
                 "out[i] = w[i / 5 % PS_ROWS_w] * 10 + (int)(i % 5);", "rows * PS_ROW_table")
    pick = both("pick", "const int *x, const int *table, int *out, long long rows, long long first_row",
                "out[i] = table[x[i] % (PS_ROWS_table * PS_ROW_table)] + (int)PS_ROW_x;",
                "rows * PS_ROW_x")
    total = both("total", "const int *x, long long *out, long long rows, long long first_row",
                 "long long t = 0; for (int k = 0; k < PS_ROW_x; k++) t += x[i * PS_ROW_x + k]; out[i] = t;",
                 "rows")
    stages = [("table", "in: w\nshape: [6, 5]\n" + table), ("pick", "in: [x, table]\n" + pick),
              ("total", "in: x\nshape: []\ndtype: i64\nlaunch: thread_per_row\n" + total)]
    i = np.arange(30)
    made = (w[i // 5 % 4] * 10 + i % 5).astype("i4").reshape(6, 5)
    run(os.path.join(WORK, "whole"), {"x": (x, "stream"), "w": (w, "whole")}, stages,
        {"table": made, "pick": made.ravel()[x % 30] + np.int32(4), "total": x.sum(1, dtype="i8")})


def expressions():
    x = (np.arange(33 * 2, dtype="f8") / 7).reshape(33, 2)
    w = np.array([0.5, -2.0])
    arguments = ("const double *x, const double *w, double *out, long long rows, long long first_row, "
                 "double g, int n")
    cuda = (f"__global__ void e({arguments})\n{{\n{ELEMENT.format(count='rows * PS_ROW_x')}"
            "    out[i] = (x[i] - w[i % PS_ROWS_w]) * g + n;\n}\n")
    keys = (f"in: [x, w]\nparams: {{g: 1.5, n: 2}}\nparam_types: {{n: i32}}\n"
            f"cpu_expr: '(x - w) * g + n'\nsource: |\n{textwrap.indent(cuda, '  ')}")
    run(os.path.join(WORK, "expr"), {"x": (x, "stream"), "w": (w, "whole")}, [("e", keys)],
        {"e": (x - w) * 1.5 + 2})
    run(os.path.join(WORK, "expr_whole"), {"x": (x, "whole"), "w": (w, "whole")}, [("e", keys)],
        {"e": (x - w) * 1.5 + 2})


def no_rows():
    arguments = "const float *x, float *out, long long rows, long long first_row"
    keys = both("z", arguments, "out[i] = x[i];", "rows * PS_ROW_x")
    run(os.path.join(WORK, "none"), {"x": (np.zeros((0, 3), "f4"), "stream")}, [("z", keys)],
        {"z": np.zeros((0, 3), "f4")})


every_dtype()
params_and_rows()
whole_inputs()
expressions()
no_rows()
sys.exit(f"{failures} failures" if failures else 0)
