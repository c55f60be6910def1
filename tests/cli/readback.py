#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What penstock writes, read back by h5py, NumPy and pandas, bit for bit.

Usage: readback.py PENSTOCK FOLDER
"""
import gzip
import json
import os
import subprocess
import sys
import time

import h5py
import numpy as np
import pandas as pd

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
failures = 0


def check(condition, text):
    global failures
    if not condition:
        failures += 1
        print("FAILED " + text)


def same(a, b):
    """Bit for bit, but all NaNs are one."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        nan = np.isnan(a)
        return bool(np.array_equal(nan, np.isnan(b))) and a[~nan].tobytes() == b[~nan].tobytes()
    return a.tobytes() == b.tobytes()


def run(config, wanted=0):
    with open("job.yaml", "w", encoding="utf-8") as f:
        f.write("version: 1\n" + config)
    done = subprocess.run([PENSTOCK, "run", "--quiet", "--backend", "cpu", "job.yaml"],
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    said = done.stderr.decode("utf-8", "backslashreplace")
    check(done.returncode == wanted, "exit code %d, wanted %d: %s%s" % (done.returncode, wanted, config, said))
    return said


def random(code, shape, seed=3):
    raw = np.random.default_rng(seed).integers(0, 256, int(np.prod(shape)) * 8, dtype=np.uint8).tobytes()
    if code == "?":
        return (np.frombuffer(raw[:int(np.prod(shape))], "u1") > 127).reshape(shape)
    size = np.dtype(code).itemsize * int(np.prod(shape))
    return np.frombuffer(raw[:size], code).reshape(shape)


def hdf5_types_and_layouts():
    a = {code: random(code, (211, 7)) for code in DTYPES}
    layouts = {"plain": "", "chunks": "chunks: [50, 3]", "gzip": "compression: gzip-4",
               "bare": "compression: gzip, level: 9, shuffle: false", "checked": "fletcher32: true",
               "all": "chunks: [-1, 2], compression: gzip-1, fletcher32: true"}
    for code, values in a.items():
        np.save("in.npy", values)
        parts = ",\n  ".join("%s: {array: x, path: out.h5, dataset: /g/%s, %s}" % (name, name, keys)
                             for name, keys in layouts.items())
        for block in ("1 rows", "50 rows", "auto"):
            run("inputs: {x: {path: in.npy}}\noutputs: {\n  %s}\nrun: {block: %s}\n" % (
                parts.replace("out.h5, ", "out.h5, overwrite: true, "), block))
            with h5py.File("out.h5", "r") as f:
                for name in layouts:
                    d = f["g/" + name]
                    check(same(d[()], values), "%s of %s in blocks of %s" % (name, code, block))
                check(f["g/plain"].chunks is None, "plain is in chunks")
                check(f["g/chunks"].chunks == (50, 3), "other chunks: %s" % (f["g/chunks"].chunks,))
                check(f["g/all"].chunks == (211, 2) and f["g/all"].fletcher32 and f["g/all"].shuffle and
                      f["g/all"].compression_opts == 1, "other filters of `all`")
                check(f["g/bare"].compression_opts == 9 and not f["g/bare"].shuffle, "other filters of `bare`")


def hdf5_plugins():
    values = np.random.default_rng(1).integers(0, 50, (2000, 8)).astype("f4")  # get smaller
    np.save("in.npy", values)
    for word in ("lzf", "lz4", "zstd", "bitshuffle", "bitshuffle-zstd", "blosc", "blosc-zstd", "szip", "bzip2"):
        text = "inputs: {x: {path: in.npy}}\noutputs: {x: {path: p.h5, overwrite: true, compression: %s}}\n" % word
        with open("job.yaml", "w", encoding="utf-8") as f:
            f.write("version: 1\n" + text)
        done = subprocess.run([PENSTOCK, "run", "--quiet", "--backend", "cpu", "job.yaml"], stderr=subprocess.PIPE)
        said = done.stderr.decode()
        if done.returncode != 0:
            check(done.returncode == 4 and "filter " in said, word + ": " + said)
            continue
        subprocess.run([PENSTOCK, "run", "--quiet", "--backend", "cpu", "back.yaml"], check=True)
        check(same(np.load("back.npy"), values), "other values through " + word)
        with h5py.File("p.h5", "r") as f:
            check(f["data"].id.get_storage_size() < values.nbytes, word + " packed nothing")


def lzf():
    """Packed by this program, unpacked by h5py's own liblzf: runs of every length, far and near
    repetitions, and what does not get smaller."""
    rng = np.random.default_rng(5)
    runs = np.repeat(rng.integers(0, 4, 3000), rng.integers(1, 700, 3000))[:200000]
    far = np.tile(rng.integers(0, 256, 8191), 30)[:200000]
    further = np.tile(rng.integers(0, 256, 8193), 30)[:200000]
    words = rng.integers(0, 256, (16, 5))[rng.integers(0, 16, 40000)].reshape(-1)
    arrays = [np.zeros(200000), runs, far, further, words, rng.integers(0, 256, 200000)]
    for i, values in enumerate(arrays):
        for shape, chunks in (((-1, 8), (1000, 8)), ((-1, 50), (17, 3))):
            np.save("in.npy", values.astype("u1").reshape(shape))
            for shuffle in ("true", "false"):
                run("inputs: {x: {path: in.npy}}\noutputs: {x: {path: p.h5, overwrite: true, "
                    "compression: lzf, shuffle: %s, chunks: [%d, %d]}}\n" % (shuffle, *chunks))
                with h5py.File("p.h5", "r") as f:
                    check(f["data"].compression == "lzf", "not lzf")
                    check(same(f["data"][()], np.load("in.npy")), "lzf: other values, array %d" % i)
                    if i == 0 and chunks[0] == 1000:
                        check(f["data"].id.get_storage_size() < 20000, "zeros did not get small")
    a = np.sin(np.arange(40000) / 500).reshape(400, 100)
    np.save("in.npy", a)
    run("inputs: {x: {path: in.npy}}\noutputs: {x: {path: p.h5, overwrite: true, compression: lzf}}\n")
    with h5py.File("p.h5", "r") as f:
        check(f["data"].id.get_storage_size() < a.nbytes, "lzf with shuffle is no smaller")
        check(same(f["data"][()], a), "lzf: other values of f64")
    said = run("inputs: {x: {path: in.npy}}\n"
               "outputs: {x: {path: p.h5, overwrite: true, compression: lzf, level: 3}}\n", 2)
    check("lzf has no levels" in said, said)


def same_bytes_again():
    """Groups as well carry no time, also where names of columns need the newer object headers."""
    with open("wide.csv", "w", encoding="utf-8") as f:
        for line in (["column_%d" % i for i in range(5000)], ["%d" % i for i in range(5000)]):
            f.write(",".join(line) + "\n")
    job = ("inputs: {x: {path: wide.csv}}\nstages: [{name: s, op: reduce, axis: rows, of: mean}]\noutputs:\n"
           "  s: {path: w.h5, overwrite: true, dataset: /first/s}\n"
           "  x: {path: w.h5, overwrite: true, dataset: /a/b/x}\n"
           "  y: {array: x, path: w.h5, overwrite: true, dataset: /a/c/y, compression: lzf}\n")
    made = []
    for _ in range(2):
        run(job)
        with open("w.h5", "rb") as f:
            made.append(f.read())
        time.sleep(1.1)
    check(made[0] == made[1], "the same job wrote other bytes")
    with h5py.File("w.h5", "r") as f:
        check(len(f["a/b/x"].attrs["columns"]) == 5000, "names of columns")
        check(same(f["a/b/x"][0], np.arange(5000.0)), "values beside wide names")


def chunks_both_ways():
    """`chunks: auto` of a wide table: neither a row nor a column takes the whole file."""
    run("inputs: {x: {format: pattern, shape: [4000, 1000], dtype: f4}}\n"
        "outputs: {x: {path: c.h5, overwrite: true, compression: gzip-1}}\n")
    with h5py.File("c.h5", "r") as f:
        rows, columns = f["data"].chunks
        check(100 <= rows < 4000 and 10 <= columns < 1000, "chunks of %d x %d" % (rows, columns))


def several_datasets():
    values = random("f4", (300, 5)).copy()
    values[~np.isfinite(values)] = 1
    values = np.clip(values, -1e3, 1e3)
    np.save("in.npy", values)
    run("inputs: {x: {path: in.npy}}\n"
        "stages:\n  - {name: y, op: map, expr: 2 * x}\n"
        "  - {name: s, op: reduce, in: x, axis: rows, of: [min, max]}\n"
        "outputs:\n  y: {path: several.h5, dataset: /a/y, compression: gzip-1}\n"
        "  s: {path: several.h5, dataset: /a/s}\n  x: {path: ./several.h5, dataset: x}\n"
        "run: {block: 7 rows}\n")
    with h5py.File("several.h5", "r") as f:
        check(same(f["a/y"][()], values * np.float32(2)), "y")
        check(same(f["x"][()], values), "x")
        check(same(f["a/s"][:, 0].astype("f4"), values.min(0)), "the minimum")
        check([n for n in f["a/s"].attrs["columns"]] == ["min", "max"], "names of columns")
        check(f["a/y"].attrs["penstock_array"] == "y", "the array's name")
        config = f.attrs["penstock_config"]
    first = open("several.h5", "rb").read()
    # The config of the file makes the same file.
    with open("again.yaml", "w", encoding="utf-8") as f:
        f.write(config)
    os.rename("several.h5", "kept.h5")
    done = subprocess.run([PENSTOCK, "run", "--quiet", "again.yaml"], stderr=subprocess.PIPE)
    check(done.returncode == 0, "the config of a file runs: %s" % done.stderr.decode())
    check(open("several.h5", "rb").read() == first, "another file the second time")
    for outputs, text in [
            ("x: {path: o.h5}, y: {array: x, path: o.h5}", "both would be its dataset '/data'"),
            ("x: {path: o.h5, dataset: a}, y: {array: x, path: ./o.h5, dataset: /a/b/}", "as a group"),
            ("x: {path: o.npy}, y: {array: x, path: o.npy}", "two outputs write")]:
        said = run("inputs: {x: {path: in.npy}}\noutputs: {%s}\n" % outputs, 2)
        check(text in said, "%s lacks %s" % (said, text))
        check(not os.path.exists("o.h5"), "a file is left")
    for keys, text in [("chunks: [3]", "1 number for an array of 2 axes"), ("chunks: [0, 1]", "at least 1 element"),
                       ("level: 3", "nothing is compressed"), ("compression: gzip, level: 12", "has the levels 1 to 9"),
                       ("compression: gzip-4, level: 4", "has its level in its name")]:
        said = run("inputs: {x: {path: in.npy}}\noutputs: {x: {path: o.h5, %s}}\n" % keys, 2)
        check(text in said, "%s lacks %s" % (said, text))


def scales_and_attributes():
    values = np.arange(60, dtype="f4").reshape(10, 6)
    with h5py.File("scaled.h5", "w") as f:
        d = f.create_dataset("g/t", data=values)
        f["g/time"] = np.arange(10) * 0.5
        f["g/x"] = np.array([1, 2, 4, 8, 16, 32], "i2")
        f["g/time"].make_scale("time of day")
        f["g/x"].make_scale()
        f["g/time"].attrs["units"] = "seconds since 2024-01-01"
        d.dims[0].attach_scale(f["g/time"])
        d.dims[1].attach_scale(f["g/x"])
        d.dims[1].label = "position"
        d.attrs["units"] = "K"
        d.attrs["instrument"] = "probe 7"
        d.attrs["steps"] = np.array([1, 2, 3], "i4")
        d.attrs["scale_factor"] = 2.0
    run("inputs: {t: {path: scaled.h5, dataset: g/t, cf: false}}\n"
        "stages:\n  - {name: warm, op: map, expr: t + 273.15}\n"
        "  - {name: m, op: reduce, in: warm, axis: rows, of: mean}\n"
        "  - {name: p, op: reduce, in: t, axis: 1, of: [min, max]}\n"
        "outputs:\n  warm: {path: warm.h5}\n  m: {path: m.h5}\n  p: {path: p.h5, overwrite: true}\n"
        "  t: {path: t.h5, dataset: /deep/t}\nrun: {block: 3 rows}\n")
    with h5py.File("warm.h5", "r") as f:
        d = f["data"]
        check(same(d.dims[0][0][()], np.arange(10) * 0.5) and same(d.dims[1][0][()], np.array([1, 2, 4, 8, 16, 32], "i2")),
              "scales of a map")
        check(d.dims[0][0].attrs["units"] == "seconds since 2024-01-01", "units of a scale")
        check(d.dims[1].label == "position", "the label of an axis")
        check(d.attrs["instrument"] == "probe 7" and list(d.attrs["steps"]) == [1, 2, 3], "attributes of a map")
        check("units" not in d.attrs and "scale_factor" not in d.attrs, "attributes that would lie")
    with h5py.File("t.h5", "r") as f:
        d = f["deep/t"]
        check(d.attrs["units"] == "K" and d.attrs["scale_factor"] == 2.0, "attributes of a copy")
        check("deep/time" in f and same(d.dims[0][0][()], np.arange(10) * 0.5), "scales beside the dataset")
    with h5py.File("m.h5", "r") as f:
        check(same(f["data"].dims[0][0][()], np.array([1, 2, 4, 8, 16, 32], "i2")), "the scale that is left")
        check("instrument" not in f["data"].attrs, "attributes of a reduction")
    with h5py.File("p.h5", "r") as f:
        check(same(f["data"].dims[0][0][()], np.arange(10) * 0.5) and len(f["data"].dims[1]) == 0,
              "scales of a reduction of columns")
    run("inputs: {t: {path: scaled.h5, dataset: g/t, cf: true, axis: 1, select: [8:2:-2, 1:5]}}\n"
        "outputs: {t: {path: s.h5}}\n")
    with h5py.File("s.h5", "r") as f:
        d = f["data"]
        check(same(d[()], np.moveaxis(values[8:2:-2, 1:5], 1, 0).astype("f8") * 2), "selected values")
        check(same(d.dims[0][0][()], np.array([2, 4, 8, 16], "i2")) and
              same(d.dims[1][0][()], np.array([4.0, 3.0, 2.0])), "selected scales")
        check("scale_factor" not in d.attrs and d.attrs["units"] == "K", "attributes of what was decoded")


def unknown_rows():
    values = np.random.default_rng(5).normal(size=(1234, 3))
    pd.DataFrame(values, columns=["a", "b", "c"]).to_csv("in.csv", index=False)
    run("inputs: {x: {path: in.csv}}\noutputs:\n  x: {path: u.h5}\n  n: {array: x, path: u.npy}\n"
        "  c: {array: x, path: u.csv}\n  r: {array: x, path: u.bin, byte_order: big}\n"
        "  z: {array: x, path: u.csv.gz}\nrun: {block: 100 rows}\n")
    with h5py.File("u.h5", "r") as f:
        check(same(f["data"][()], values) and f["data"].maxshape[0] is None, "hdf5 of unknown rows")
        check(list(f["data"].attrs["columns"]) == ["a", "b", "c"], "columns in hdf5")
    check(same(np.load("u.npy"), values), "npy of unknown rows")
    check(same(np.fromfile("u.bin", ">f8").astype("f8").reshape(-1, 3), values), "raw, big endian")
    for name in ("u.csv", "u.csv.gz"):
        table = pd.read_csv(name, float_precision="round_trip")
        check(list(table.columns) == ["a", "b", "c"] and same(table.to_numpy(), values), name)
    check(gzip.open("u.csv.gz").read() == open("u.csv", "rb").read(), "other text in u.csv.gz")


def text_of_every_dtype():
    for code in DTYPES:
        values = random(code, (97, 4), 9)
        np.save("in.npy", values)
        run("inputs: {x: {path: in.npy}}\noutputs:\n  x: {path: t.csv, overwrite: true, header: true}\n"
            "  n: {array: x, path: t.npy, overwrite: true}\n")
        check(same(np.load("t.npy"), values), "npy of " + code)
        table = pd.read_csv("t.csv", float_precision="round_trip", dtype=None if code in "?f2" else values.dtype)
        got = table.to_numpy().astype(values.dtype)
        check(same(got, values), "csv of " + code)


def main():
    global PENSTOCK
    PENSTOCK = os.path.abspath(sys.argv[1])
    os.chdir(sys.argv[2])
    with open("back.yaml", "w", encoding="utf-8") as f:
        f.write("version: 1\ninputs: {x: {path: p.h5}}\noutputs: {x: {path: back.npy, overwrite: true}}\n")
    for test in (hdf5_types_and_layouts, hdf5_plugins, lzf, chunks_both_ways, several_datasets,
                 same_bytes_again, scales_and_attributes, unknown_rows, text_of_every_dtype):
        before = failures
        test()
        print("%s: %s" % (test.__name__, "ok" if failures == before else "FAILED"))
    return 1 if failures else 0


sys.exit(main())
