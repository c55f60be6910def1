# SPDX-License-Identifier: Apache-2.0
"""Random chains of stages, for scripts/property-test: made from a seed, written as a config, and
computed by NumPy. A job is plain data, so that it can be cut down. Values are small whole numbers:
what is exact in NumPy must be exact; Inexact marks means and the like, which are compared loosely.
"""
import copy
import os

import numpy as np

import reference as ref

DTYPES = ["i2", "i4", "i8", "f4", "f8"]
LIMITS = {"i2": 2**13, "i4": 2**29, "i8": 2**50, "f4": 2**20, "f8": 2**50}  # sums stay exact below
INEXACT = {"mean", "var", "std"}


class Invalid(Exception):
    """A job that means nothing, or whose numbers grow too large to be exact."""


class Value:
    def __init__(self, data, domain, exact=True):
        self.data, self.domain, self.exact = data, domain, exact  # domain None: a whole array


# ---- Each kind of stage: options for an input (None: does not go), and what it computes ----

def no_fill(x, options, of=None):
    """Adds the fill that integers need."""
    dtype = ref.out_dtype(of, x.dtype) if of else x.dtype
    return dict(options, fill=3) if dtype.kind in "iu" else options


def pick_rolling(r, x):
    of = str(r.choice(ref.KINDS))
    edges = str(r.choice(["fill", "partial", "drop"]))
    options = {"window": int(r.integers(1, 12)), "of": of, "edges": edges,
               "align": str(r.choice(["trailing", "centered", "leading"]))}
    return no_fill(x, options, of) if edges == "fill" else options


def rolling(x, o):
    w, n = o["window"], len(x)
    after = {"trailing": 0, "centered": (w - 1) // 2, "leading": w - 1}[o["align"]]
    rows = ref.window_rows(n, w - 1 - after, after)
    if o["edges"] == "drop":
        rows = [row for row in rows if row[1] - row[0] == w]
    return ref.windows(x, o["of"], rows, w if o["edges"] == "fill" else None, o.get("fill", ref.NAN))


def pick_downsample(r, x):
    return {"by": int(r.integers(1, 9)), "of": str(r.choice(ref.KINDS)),
            "rest": str(r.choice(["keep", "drop"]))}


def downsample(x, o):
    by = o["by"]
    rows = [(a, min(a + by, len(x))) for a in range(0, len(x), by)]
    return ref.windows(x, o["of"], [w for w in rows if o["rest"] == "keep" or w[1] - w[0] == by])


def pick_lag(r, x):
    options = {"by": int(r.integers(-6, 7)), "edges": str(r.choice(["fill", "drop"]))}
    return no_fill(x, options) if options["edges"] == "fill" else options


def lag(x, o):
    want, there = ref.shifted(x, o["by"], o.get("fill", ref.NAN if x.dtype.kind == "f" else 0))
    return want if o["edges"] == "fill" else want[there]


def difference(x, o):
    by, wide = o["by"], x.astype("i8") if x.dtype.kind in "iu" else x
    return wide[by:] - wide[:-by] if len(x) > by else np.zeros((0,) + x.shape[1:], wide.dtype)


def pick_convolve(r, x):
    return {"with": [int(t) for t in r.integers(-2, 3, r.integers(1, 4))],
            "align": str(r.choice(["trailing", "centered", "leading"])),
            "edges": str(r.choice(["zero", "fill", "drop"]))} if x.dtype.kind == "f" else None


def convolve(x, o):
    ahead = {"trailing": 0, "centered": 0.5, "leading": 1}[o["align"]]
    return ref.convolved(x, o["with"], int((len(o["with"]) - 1) * ahead), o["edges"])


def pick_rows(r, x):
    options = {"from": int(r.integers(0, 9)), "step": int(r.integers(1, 5))}
    return dict(options, to=int(r.integers(5, 60))) if r.integers(2) else options


def pick_select(r, x):
    name = "{in}" + "".join(f"[{int(r.integers(d))}]" for d in x.shape[1:2])
    return {"where": f"{name} > {int(r.integers(-3, 4))}"} if x.ndim <= 2 else None


def select(x, o):
    name, _, bound = o["where"].partition(" > ")
    column = x[:, int(name[5:-1])] if "[" in name else x
    return x[column > int(bound)]


def pick_matmul(r, x):
    return {"with": "w"} if x.ndim == 2 and x.dtype.kind == "f" else None


def pick_reduce(r, x):
    return {"axis": "rows", "of": str(r.choice(["sum", "mean", "min", "max", "count"]))}


def reduce(x, o):
    if len(x) == 0:
        raise Invalid("a reduction of nothing")
    return ref.windows(x, o["of"], [(0, len(x))])[0]


OPS = {
    "rolling": (pick_rolling, rolling), "downsample": (pick_downsample, downsample),
    "lag": (pick_lag, lag), "convolve": (pick_convolve, convolve), "select": (pick_select, select),
    "rows": (pick_rows, lambda x, o: x[o["from"]:o.get("to"):o["step"]]),
    "difference": (lambda r, x: {"by": int(r.integers(1, 5)), "edges": "drop"}, difference),
    "cumulative": (lambda r, x: {"of": str(r.choice(["sum", "min", "max", "count"]))},
                   lambda x, o: ref.cumulative(x, o["of"])),
    "repeat": (lambda r, x: {"times": int(r.integers(1, 4))},
               lambda x, o: np.repeat(x, o["times"], axis=0)),
    "sort": (lambda r, x: {} if x.ndim > 1 else None, lambda x, o: np.sort(x, axis=-1)),
    "slice": (lambda r, x: {"index": ["::-1"]} if x.ndim > 1 else None, lambda x, o: x[:, ::-1]),
    "reduce": (pick_reduce, reduce),
    "matmul": (pick_matmul, None), "map": (None, None),
}
MAPS = {  # expressions of one array a, and of two
    1: [("{a} * 2 - 1", lambda a: a * 2 - 1), ("abs({a})", np.abs),
        ("({a} if {a} > 1 else 3)", lambda a: np.where(a > 1, a, a.dtype.type(3)))],
    2: [("{a} - {b}", lambda a, b: a - b), ("{a} * 2 + {b}", lambda a, b: a * 2 + b),
        ("max({a}, {b})", np.maximum)],
}
NEW_ROWS = {"downsample", "select", "rows", "repeat", "difference", "lag", "rolling", "convolve"}


def make_weights(job, columns, dtype):
    r = np.random.default_rng(job["seed"])
    return r.integers(-2, 3, (columns, 2)).astype(dtype)


def compute(job, stage, values):
    """The Value of a stage out of those of the stages before."""
    a, options = values[stage["in"]], stage["options"]
    if stage["op"] == "map":
        arguments = [values[name] for name in [stage["in"]] + stage["more"]]
        domains = {v.domain for v in arguments if v.domain is not None}
        if len(domains) != 1 or a.domain is None or any(
                v.data.shape[v.domain is not None:] != a.data.shape[1:] for v in arguments):
            raise Invalid("arrays that do not go together")
        data = MAPS[len(arguments)][options["number"]][1](*[v.data for v in arguments])
        return Value(data, a.domain, all(v.exact for v in arguments))
    if a.domain is None or (stage["op"] in ("select", "sort") and not a.exact):
        raise Invalid("not of this array")  # rounding would choose other rows
    if stage["op"] == "matmul":
        if a.data.ndim != 2 or a.data.shape[1] != job["width"] or a.data.dtype != job["inputs"]["x"]:
            raise Invalid("the matrix does not fit")
        data = a.data @ make_weights(job, job["width"], a.data.dtype)
    elif a.data.ndim == 1 and (stage["op"] in ("sort", "slice") or "[" in options.get("where", "")):
        raise Invalid("no axis within the rows")
    else:
        data = OPS[stage["op"]][1](a.data, options)
    exact = a.exact and options.get("of") not in INEXACT
    if stage["op"] == "reduce":
        return Value(data, None, exact)
    return Value(data, stage["name"] if stage["op"] in NEW_ROWS else a.domain, exact)


def checked(value):
    data = value.data
    limit = LIMITS.get(data.dtype.str[1:])
    if limit is None or data.size > 20000:
        raise Invalid("too large")
    finite = data[np.isfinite(data)] if data.dtype.kind == "f" else data
    if value.exact and finite.size and np.abs(finite).max() > limit:
        raise Invalid("no longer exact")
    return value


def inputs(job):
    r = np.random.default_rng(job["seed"])
    shape = (job["rows"],) + ((job["width"],) if job["width"] else ())
    return {name: r.integers(-8, 9, shape).astype(dtype) for name, dtype in job["inputs"].items()}


def compute_all(job):
    """Name -> Value of every array of the job; Invalid when the job means nothing."""
    values = {name: Value(data, "inputs") for name, data in inputs(job).items()}
    with np.errstate(all="ignore"):
        for stage in job["stages"]:
            values[stage["name"]] = checked(compute(job, stage, values))
    return values


# ---- Making ----

def make_stage(r, job, values):
    names = list(values)
    name = names[-1] if r.integers(3) else str(r.choice(names))
    op = str(r.choice(list(OPS)))
    stage = {"name": f"s{len(job['stages'])}", "op": op, "in": name, "more": [], "options": {}}
    if op == "map":
        stage["more"] = [str(r.choice(names))] if r.integers(2) else []
        stage["options"] = {"number": int(r.integers(3))}
    else:
        stage["options"] = OPS[op][0](r, values[name].data) if values[name].domain else None
    return stage if stage["options"] is not None else None


def make_run(r, rows):
    block = f"{int(r.integers(1, rows + 4))} rows" if r.integers(4) else "auto"
    return {"block": block, "slots": int(r.integers(1, 5)), "threads": int(r.integers(1, 4)),
            "keep": str(r.choice(["auto", "nothing"]))}


def make_job(seed):
    r = np.random.default_rng([seed, 20261207])
    rows = int(r.choice([0, 1, 2, 7, 33, 100, 211]))
    job = {"seed": seed, "rows": rows, "width": int(r.integers(0, 5)), "stages": [],
           "inputs": {name: str(r.choice(DTYPES)) for name in ["x", "y"][: r.integers(1, 3)]}}
    # csv: inputs whose number of rows is not known.
    job["csv"] = bool(rows > 0 and job["width"] > 1 and r.integers(4) == 0)
    count = int(r.integers(2, 9))
    values = compute_all(job)
    for _ in range(20 * count):
        stage = make_stage(r, job, values) if len(job["stages"]) < count else None
        try:
            if stage is not None:
                with np.errstate(all="ignore"):
                    values[stage["name"]] = checked(compute(job, stage, values))
                job["stages"].append(stage)
        except Invalid:
            pass
    names = list(values)
    job["outputs"] = sorted({names[-1], *map(str, r.choice(names, 2))})
    job["runs"] = [make_run(r, rows) for _ in range(3)]
    return job


def without(job, stage):
    """A copy in which the readers of the stage read what it read."""
    job = copy.deepcopy(job)
    gone = job["stages"].pop(stage)
    swap = lambda name: gone["in"] if name == gone["name"] else name
    for s in job["stages"]:
        s["in"], s["more"] = swap(s["in"]), [swap(name) for name in s["more"]]
    job["outputs"] = sorted({swap(name) for name in job["outputs"]})
    return job


# ---- Writing ----

def stage_line(stage):
    a, options = stage["in"], dict(stage["options"])
    if stage["op"] == "map":
        names = dict(zip("ab", [a] + stage["more"]))
        expr = MAPS[len(names)][options["number"]][0].format(**names)
        return f'  - {{name: {stage["name"]}, op: map, expr: "{expr}"}}'
    if "where" in options:
        options["where"] = '"' + options["where"].replace("{in}", a) + '"'
    if stage["op"] == "slice":
        options["index"] = '["::-1"]'
    text = "".join(f", {key}: {value}" for key, value in options.items())
    return f'  - {{name: {stage["name"]}, op: {stage["op"]}, in: {a}{text}}}'


def write(job, folder, backend):
    """job.yaml and its inputs."""
    os.makedirs(folder, exist_ok=True)
    lines = ["version: 1", "inputs:"]
    for name, data in inputs(job).items():
        if job["csv"]:
            np.savetxt(os.path.join(folder, f"{name}.csv"), data, fmt="%d", delimiter=",")
            lines.append(f"  {name}: {{path: {name}.csv, header: false, dtype: {data.dtype.name}}}")
        else:
            np.save(os.path.join(folder, f"{name}.npy"), data)
            lines.append(f"  {name}: {{path: {name}.npy}}")
    if any(stage["op"] == "matmul" for stage in job["stages"]):
        np.save(os.path.join(folder, "w.npy"), make_weights(job, job["width"], job["inputs"]["x"]))
        lines.append("  w: {path: w.npy, load: whole}")
    lines += ["stages:"] * bool(job["stages"]) + [stage_line(stage) for stage in job["stages"]]
    lines += ["outputs:"]
    lines += [f"  {name}: {{path: out-{name}.npy, overwrite: true}}" for name in job["outputs"]]
    lines.append(f"run: {{backend: {backend}}}")
    with open(os.path.join(folder, "job.yaml"), "w") as file:
        file.write("\n".join(lines) + "\n")
