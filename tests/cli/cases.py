#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every hard file of tests/data/cases as a user reads it: a job that copies it to .npy, read by NumPy.

TABLE has a row (or more) for each case of expected.json, which holds the right answers; rows say
which options are given and, where more than one answer is defensible, which one was chosen.
Usage: cases.py PENSTOCK FOLDER [ID...]
"""
import json
import os
import subprocess
import sys

import numpy as np

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "cases")
BLOCKS = ["1 rows", "3 rows", "auto"]


# ---- What a row may ask for ----

class Columns:
    """The bits of expected.json, column by column, or those given (name -> values)."""

    def __init__(self, entry="", only=None, warns=(), values=None):
        self.entry, self.only, self.warns, self.values = entry, only, warns, values
        self.path = None


class Array:
    """Values in C order, the shape, the dtype; stats are of all elements."""

    def __init__(self, values=None, entry="", shape=None, dtype=None, warns=(), path=None, **stats):
        self.values, self.entry, self.shape, self.dtype = values, entry, shape, dtype
        self.warns, self.path, self.stats = warns, path, stats


class Error:
    """Exit code 3 (or another), these texts on stderr, no output left."""

    def __init__(self, *texts, entry="", code=3, path=None):
        self.texts, self.entry, self.code, self.path = texts, entry, code, path


class Filter(Array):
    """As Array where the plugin is installed; without it an error that names the filter."""

    def __init__(self, texts, **others):
        super().__init__(**others)
        self.texts, self.code = texts, 3


class Reduce:
    """Too large to copy: results of a reduction over all elements."""

    def __init__(self, **stats):
        self.stats, self.path = stats, None


SHAPE46 = dict(shape=(4, 6), sum=66, min=-3, max=8.5, argmax=23)
INTS64 = dict(shape=(64, 64), dtype="int32", sum=4679680, min=-5000, max=7285, argmax=4095)
C_ORDER = Array([0, 1, 2, 3, 4, 5], shape=(2, 3), dtype="float64")
NAN = float("nan")

TABLE = {
    # ---- csv ----
    "c-bom-only": [Error("is empty: no header and no rows")],
    "c-bom-mid": [Error("line 3", "'x'", "\\xEF\\xBB\\xBF2", "is not a number")],
    "c-crcrlf": [Columns(values={"x": [1, 3], "y": [2, 4]})],
    "c-ctrlz": [Error("line 4", "'\\x1A'", "is not a number")],
    "c-q-comma": [Columns(only=["v"])],
    "c-q-unclosed": [Error("line 3", "is never closed", entry='columns: [v]')],
    "c-q-space-before": [Error("line 3 has 3 fields, expected 2")],
    "c-ragged-short": [Error("line 3 has 2 fields, expected 3"),
                       Columns("ragged: pad", values={"a": [1, 4, 6], "b": [2, 5, 7], "c": [3, NAN, 8]})],
    "c-ragged-long": [Error("line 3 has 4 fields, expected 2"),
                      Error("line 3 has 4 fields, expected 2", entry="ragged: pad")],
    "c-dialect-3line": [Error("line 3 has 3 fields, expected 2")],
    "c-empty-first": [Array([1, 2, 3], entry='separator: " ", header: false, columns: [1]')],
    "c-comment-top": [Columns('comment: "#"'), Error("line 2 has 1 field, expected 2")],
    "c-hash-header": [Columns('separator: ";"')],
    "c-hash-quoted": [Columns(), Columns('comment: "#"')],
    "c-nbsp": [Error("line 2", "1\\xC2\\xA0234,5", "is not a number", entry='separator: ";", decimal: ","'),
               Columns('separator: ";", decimal: ",", thousands: "\u00a0"', values={"x": [1234.5]}, only=["x"])],
    "c-thousands-bad": [Error("line 2", "1,2,3", "is not a number", entry='thousands: ","')],
    "c-thousands-zeros": [Columns(), Columns('thousands: ",", separator: ";"')],
    "c-decimal-comma": [Columns('separator: ";", decimal: ","'),
                        Error("line 2", "'10,20' is not a number", entry='separator: ";"')],
    "c-decimal-comma-q": [Columns('decimal: ","')],
    "c-dot-thousands": [Columns('separator: ";", decimal: ",", thousands: "."'),
                        Error("line 2", "1.299,99", "is not a number", entry='separator: ";", decimal: ","')],
    "c-apostrophe-tsv": [Columns(only=["v"])],
    "c-na-tokens": [Columns('missing: [NA, N/A, "NULL", "null", "#N/A", "-", "NaN", "n/a", "<NA>"]'),
                    Error("line 4", "'NA' is not a number")],
    "c-hard": [Columns(warns=["precision"])],
    "c-exp-overflow": [Columns(warns=["beyond the range of f64", "2 numbers in all became infinities"])],
    "c-f32-double-round": [Columns("dtype: f32", values={"v": "v_f32_direct"})],
    "c-int-2p53-missing": [Columns(warns=["precision"], only=["col1"])],
    "c-int-2p63": [Error("line 3", "9223372036854775808", "out of the range of i64", entry="dtype: i64"),
                   Columns(warns=["precision"])],
    "c-int-min-missing": [Columns(only=["a"], warns=["precision"]),
                          Error("line 5", "missing", entry="columns: [a], dtype: i64")],
    "c-uint64-over": [Error("line 3", "out of the range of u64", entry="dtype: u64"),
                      Columns(values={"v": [2.0 ** 64] * 2}, warns=["precision"])],
    "c-int-neg-uint": [Error("line 3", "'-1' is out of the range of u32", entry="dtype: u32"),
                       Error("line 3", "'-1' is out of the range of u64", entry="dtype: u64"),
                       Array([5, -1])],
    "c-big-float-id": [Columns('separator: " "')],
    "c-int-float-mix": [Array(shape=(5011, 1), sum=5012.5)],
    "c-bad-late": [Error("text_late.csv", "line 4002", "'v'", "'abc' is not a number")],
    "c-dup-header": [Columns(only=["0.1"], warns=["named '0'"]), Error("'0' is ambiguous: columns 0 and 2", entry='columns: ["0"]', code=3),
                     Array([456, 345], entry="columns: [2]", warns=["named '0'"])],
    "c-dup-header2": [Array([0, 3], entry="columns: [0]", warns=["named 'a'"]),
                      Array([2, 5], entry="columns: [2]", warns=["named 'a'"]),
                      Error("'a' is ambiguous", entry="columns: [a]", code=3)],
    "c-header-only": [Array([], shape=(0, 2))],
    "c-one-cell": [Array([5], entry="header: false"), Array([], shape=(0, 1))],
    "c-header-numeric": [Columns(), Array(shape=(3, 3), entry="header: false")],
    "c-expr-name": [Columns(values={"a-b": [10], "sum": [5], "1x": [3], "e": [4], "a": [7], "b": [2]})],
    "c-wide": [Columns(only=["c7003"]), Array(shape=(1, 16384))],
    "c-utf16le": [Error("is UTF-16", "FF FE")],
    "c-utf16-nobom": [Error("line 1: a NUL byte", "UTF-16")],
    "c-latin1": [Array([2], entry="columns: [1]"), Error("temp \\xB0C", entry="columns: [none]")],
    "c-nul-unquoted": [Error("line 3: a NUL byte")],
    "c-nul-header": [Error("line 1: a NUL byte")],
    "c-gz-multi": [Columns()],
    "c-gz-isize": [Error("bad_isize.csv.gz", "length")],
    "c-gz-garbage": [Error("trailing_garbage.csv.gz", "behind")],
    "c-gz-second-corrupt": [Error("member 2")],
    "c-gz-zero": [Error("is empty")],
    "c-gz-notgz": [Columns(warns=["not gzip"])],
    "c-gz-hidden": [Array(shape=(3, 2))],
    "c-block-64k-crlfinquotes": [Array(shape=(3451, 1), sum=105, entry="columns: [v]")],
    "c-block-1m-number": [Array(shape=(55190, 1), sum=12445.5, entry="columns: [v]")],
    "c-block-1m-quotepair": [Array(shape=(55190, 1), sum=105, entry="columns: [v]")],
    "c-block-1m-rowcrlf": [Array(shape=(55190, 1), sum=105, entry="columns: [v]")],
    "c-range-blank": [Array([1, 2, 3])],

    # ---- hdf5 ----
    "h-be-ints": [Array(v, path="hdf5/types.h5:/%s_%s" % (order, code), dtype=np.dtype(code).name)
                  for order in ("be", "le") for code, v in
                  [(kind + str(n), [0, 1 if kind == "u" else -1, 2, 3, 100]) for kind in "iu" for n in (1, 2, 4, 8)]],
    "h-bool": [Array([1, 0, 1, 1], dtype="bool")],
    "h-compound": [Array([2.5, -4], entry="columns: [b]", dtype="float64"),
                   Error("no column 'w'", "a, b, v", entry="columns: [w]")],
    "h-type-vlen": [Error("/vlen", "variable length")],
    "h-type-fstr": [Error("/fstr", "text")],
    "h-type-arraytype": [Array(shape=(3, 2, 2), dtype="float32")],
    "h-bfloat16": [Array([1, -2.5, 3.140625, 65536], dtype="float32")],
    "h-int12": [Array([-2048, -1, 5, 2047], dtype="int16")],
    "h-uint24": [Array([1, 70000, 16777215], dtype="uint32")],
    "h-longdouble": [Array([1, 2.5], dtype="float64", warns=["wider than f64"])],
    "h-lay-chunked": [Array(**SHAPE46)],
    "h-lay-compact": [Array(**SHAPE46)],
    "h-lay-shrunk": [Array(**SHAPE46)],
    "h-unlim-zero": [Array([], shape=(0, 6))],
    "h-zero-dim": [Array([], shape=(3, 0, 2), dtype="float32")],
    "h-scalar": [Array([2.5], shape=(), entry="load: whole")],
    "h-fill-nan": [Array([NAN] * 4)],
    "h-contig-unwritten": [Array([3] * 5, dtype="int16")],
    "h-edge": [Array(shape=(10, 7), sum=2415, max=69, argmax=69)],
    "h-chunk-gt-dim": [Array([0, 1, 2, 3, 4])],
    "h-rank32": [Array(sum=3)],
    "h-missing": [Error("/grp/iner", "/grp/inner")],
    "h-name-utf8": [Array(**SHAPE46)],
    "h-name-lead": [Array(**SHAPE46)],
    "h-f-gzip": [Array(**INTS64)],
    "h-f-gzipshufflefletcher": [Array(**INTS64)],
    "h-f-lzf": [Filter(["32000", "lzf"], **INTS64)],
    "h-f-blosc": [Filter(["32001", "blosc"], **INTS64)],
    "h-f-lz4": [Filter(["32004", "lz4"], **INTS64)],
    "h-f-bitshuffle": [Filter(["32008", "bitshuffle"], **INTS64)],
    "h-f-fletcher-ff": [Array([-1] * 64)],
    "h-f-nbit": [Array([-2048, -1, 0, 5, 2047, 1, 2, 3, 4, -7])],
    "h-f-mask": [Array([1, 2, 3, 4, 10, 20, 30, 40])],
    "h-sof-nan": [Array([1, 1, 2, 1])],
    "h-bad-fletcher": [Error("/d", "hecksum")],
    "h-bad-plain": [Array()],
    "h-vds-zero": [Error("gone.h5")],
    "h-vds-renamed": [Error("old_name.h5")],
    "h-ln-soft": [Array(**SHAPE46)],
    "h-ln-ext": [Array(**SHAPE46)],
    "h-ln-dangling": [Error("/dangling", "/nowhere")],
    "h-ln-noobj": [Error("target.h5", "/nope")],
    "h-ln-hardcycle": [Array(**SHAPE46)],
    "h-ext-short": [Error("ext_short.bin", "12")],
    "h-truncated": [Error("truncated", "40240", "42240")],
    "h-trunc96": [Error("truncated")],
    "h-html": [Error("not an HDF5 file", "<!DOCTYPE html")],
    "h-nc3": [Error("netCDF", "nccopy -k nc4")],
    "h-index-latest": [Array(path="hdf5/index_latest.h5:/single", sum=66)] +
                      [Array(path="hdf5/index_latest.h5:/" + name, sum=4679680)
                       for name in ("fixed", "implicit", "extensible", "btree2")],
    "h-swmr-killed": [Error("writ", "h5clear"), Array([1, 2, 3, 4, 5, 6, 0, 0], entry="swmr: true")],
    "h-cf-raw": [Array(sum=-35666, dtype="int16", warns=["cf: true"]),
                 Array([273.15, 274.15, NAN, 293.15, NAN, 223.14999999999998, NAN, 273.15999999999997],
                       entry="cf: true", dtype="float64")],
    "h-cf-unsigned": [Array([0, -1, 127, -128], dtype="int8", warns=["cf: true"])],
    "h-cf-filltype": [Array(entry="cf: true", nanmean=1.2875000238418579)],
    "h-cf-missing": [Array(entry="cf: true", nanmean=2)],
    "h-cf-999": [Array([-1998, 0, 1998, NAN], entry="cf: true")],
    "h-mat-empty": [Error("MATLAB_empty")],
    "h-mat-char": [Array([72, 105], dtype="uint16")],
    "h-mat-complex": [Error("complex", "parts"), Array([1, 2], entry="complex: parts", shape=(1, 1, 2))],
    "h-square": [Reduce(sum=10, max=9)],
    "h-tall": [Reduce(sum=-4)],
    "h-thrash-cube": [Array(shape=(64, 128, 128), sum=4293402688)],
    "h-thrash-tiny": [Array(shape=(64, 64), sum=14823424)],

    # ---- npy ----
    "n-fortran": [C_ORDER],
    "n-fortran3d": [Array(range(24), shape=(2, 3, 4))],
    "n-be": [Array([0, 1, -2.5, 3], dtype="float32")],
    "n-v3": [C_ORDER],
    "n-v9": [Error("version 9.0 is not supported")],
    "n-types": [Array([0, 1 if code[0] == "u" else -1, 2, 100], path="npy/types_%s.npy" % code,
                      dtype=np.dtype(code).name)
                for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")] +
               [Array([1, 0, 1], path="npy/types_b1.npy", dtype="bool")],
    "n-desc-eq": [C_ORDER],
    "n-complex": [Error("complex"), Array([1, 2, 3, -4], entry="complex: parts", shape=(2, 2))],
    "n-object": [Error("pickle")],
    "n-str": [Error("<U3", "text")],
    "n-dt": [Error("datetime64")],
    "n-void": [Error("|V3")],
    "n-rows0": [Array([], shape=(0, 3))],
    "n-notuple": [Error("shape (3) is not a tuple")],
    "n-npint": [Error("np.int64(1)")],
    "n-odd-hdr": [C_ORDER],
    "n-keyorder": [C_ORDER],
    "n-extrakey": [Error("unknown key 'x'")],
    "n-trunc": [Error("7900 of 8000")],
    "n-hdr-toolong": [Error("2147483647", "exceeds the file")],
    "n-two": [Array([0, 1, 2, 3, 4, 5], shape=(2, 3), warns=["after the array"])],
    "n-overflow": [Error("holds 48 data bytes")],
    "n-huge": [Error("48 of 8000000000000")],
    "n-magic": [Error("is not a .npy file")],
    "n-empty": [Error("is empty")],
    "n-nan-payload": [Array([NAN] * 3)],

    # ---- raw ----
    "r-ok": [Array(entry="dtype: f4, shape: [3, 4]", shape=(3, 4), sum=66),
             Array(entry="dtype: f4, shape: [-1, 4]", shape=(3, 4), sum=66)],
    "r-short": [Error("46 bytes is not a multiple of the 16-byte row", entry="dtype: f4, shape: [-1, 4]"),
                Error("46 bytes is not a multiple of the 4-byte row", entry="dtype: f4")],
    "r-partial-frame": [Error("3 rows and 8 bytes more", entry="dtype: f4, shape: [-1, 4]"),
                        Array(entry="dtype: f4, shape: [3, 4]", shape=(3, 4), warns=["8 bytes after"])],
    "r-header": [Array(entry="dtype: f4, shape: [-1, 4], offset: 37", sum=66)],
    "r-gap": [Array(entry="dtype: f4, shape: [-1, 4], stride: 24", shape=(3, 4), sum=66)],
    "r-zero": [Array([], entry="dtype: f4, shape: [-1, 4]", shape=(0, 4)),
               Error("holds 0", entry="dtype: f4, shape: [3, 4]")],
    "r-dir": [Error("is a folder", path="raw", entry="dtype: f4")],
}


# ---- Running ----

def quoted(text):
    return json.dumps(text, ensure_ascii=False)


class Checker:
    def __init__(self, penstock, folder):
        self.penstock, self.folder, self.failures = penstock, folder, 0

    def fail(self, name, text):
        self.failures += 1
        print("FAILED %s: %s" % (name, text))

    def job(self, path, entry, block, stages=""):
        file, _, dataset = path.partition(":")
        lines = ["path: " + quoted(os.path.join(CASES, file))]
        if dataset:
            lines.append("dataset: " + quoted(dataset))
        if file.endswith((".bin", "raw")):
            lines.append("format: raw")
        if entry:
            lines.append(entry)
        config = os.path.join(self.folder, "job.yaml")
        with open(config, "w", encoding="utf-8") as f:
            f.write("version: 1\ninputs:\n  x: {%s}\n%soutputs:\n  %s: {path: out.npy, overwrite: true}\n"
                    "run: {backend: cpu, block: %s}\n"
                    % (", ".join(lines), stages, "y" if stages else "x", block))
        out = os.path.join(self.folder, "out.npy")
        for name in (out, out + ".job.yaml"):
            if os.path.exists(name):
                os.remove(name)
        done = subprocess.run([self.penstock, "run", "--quiet", config], stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        return done.returncode, done.stderr.decode("utf-8", "backslashreplace"), out

    def read(self, name, row, path, entry, block):
        code, said, out = self.job(path, entry, block)
        if code != 0:
            self.fail(name, "exit code %d: %s" % (code, said))
            return None
        if row.warns != () or "warning" in said:
            for text in row.warns or ["no warning"]:
                if text not in said:
                    self.fail(name, "stderr lacks '%s': %s" % (text, said))
        return np.load(out)

    def check_error(self, name, row, path):
        code, said, out = self.job(path, row.entry, "auto")
        if code != row.code:
            self.fail(name, "exit code %d, wanted %d: %s" % (code, row.code, said))
        for text in row.texts:
            if text not in said:
                self.fail(name, "stderr lacks '%s': %s" % (text, said))
        if os.path.exists(out):
            self.fail(name, "an output is left")

    def check_columns(self, name, row, path, data):
        for column, wanted in (row.values or data).items():
            if row.only and column not in row.only:
                continue
            entry = "columns: [%s]" % quoted(column) + (", " + row.entry if row.entry else "")
            for block in BLOCKS:
                got = self.read(name, row, path, entry, block)
                if got is not None:
                    self.compare(name + ", column " + column, got.reshape(-1), bits_of(wanted, data))

    def compare(self, name, got, wanted):
        if len(got) != len(wanted):
            self.fail(name, "%d values, wanted %d" % (len(got), len(wanted)))
            return
        for i, (a, b) in enumerate(zip(got, wanted)):
            if not same(a, b):
                self.fail(name, "element %d is %r, wanted %s" % (i, a, b))
                return

    def check_array(self, name, row, path):
        for block in BLOCKS if not row.stats else BLOCKS[2:]:
            got = self.read(name, row, path, row.entry, block)
            if got is None:
                return
            if row.shape is not None and got.shape != row.shape:
                self.fail(name, "shape %s, wanted %s" % (got.shape, row.shape))
            if row.dtype is not None and got.dtype.name != row.dtype:
                self.fail(name, "dtype %s, wanted %s" % (got.dtype.name, row.dtype))
            if row.values is not None:
                self.compare(name, got.reshape(-1), list(row.values))
            for stat, wanted in row.stats.items():
                wide = got.astype("float64") if got.dtype.kind == "f" else got.astype("int64")
                value = getattr(np, stat)(wide)
                if value != wanted:
                    self.fail(name, "%s is %r, wanted %r" % (stat, value, wanted))

    def check_reduce(self, name, row, path):
        stage = "stages: [{name: y, op: reduce, axis: all, of: [%s]}]\n" % ", ".join(row.stats)
        code, said, out = self.job(path, "", "auto", stage)
        if code != 0:
            self.fail(name, said)
            return
        self.compare(name, np.load(out), list(row.stats.values()))

    def check(self, name, row, case):
        path = row.path or case["file"]
        if isinstance(row, Filter) and self.job(path, row.entry, "auto")[0] != 0:
            self.check_error(name, row, path)
        elif isinstance(row, Error):
            self.check_error(name, row, path)
        elif isinstance(row, Columns):
            self.check_columns(name, row, path, case["data"] or {})
        elif isinstance(row, Reduce):
            self.check_reduce(name, row, path)
        else:
            self.check_array(name, row, path)


def bits_of(wanted, data):
    """Values as written in expected.json: bit patterns, whole numbers, or a file of bit patterns."""
    if isinstance(wanted, str) and wanted.endswith(".bits"):
        with open(os.path.join(CASES, wanted), encoding="ascii") as f:
            return ["0x" + word.removeprefix("0x") for word in f.read().split()]
    return data[wanted] if isinstance(wanted, str) else wanted


def same(got, wanted):
    """One element against a number, or against bits (NaNs of any bits are one)."""
    if isinstance(wanted, str):
        pattern = np.array([int(wanted, 16)], "u4" if len(wanted) == 10 else "u8")
        value = pattern.view(got.dtype)[0] if pattern.itemsize == got.itemsize else None
        if value is None:
            return False
        return bool(np.isnan(got) and np.isnan(value)) or got.tobytes() == value.tobytes()
    if isinstance(wanted, float) and np.isnan(wanted):
        return bool(np.isnan(got))
    return got == wanted


def main():
    penstock, folder, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(os.path.join(CASES, "expected.json"), encoding="utf-8") as f:
        cases = json.load(f)
    checker = Checker(penstock, folder)
    rows = 0
    for name, case in cases.items():
        if wanted and name not in wanted:
            continue
        if name not in TABLE and not case["data"]:
            checker.fail(name, "has no row")
        for row in TABLE.get(name, [Columns()]):
            checker.check(name, row, case)
            rows += 1
    print("%d cases in %d rows, %d failures" % (len(wanted or cases), rows, checker.failures))
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
