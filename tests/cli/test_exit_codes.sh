#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exit codes and what the errors say: 0, 2 (config), 3 (input), 4 (output), 5 (device).
# 75 is in test_signals.sh.
. "$(dirname "$0")/common.sh"
printf 'a,b\n1,2\n3,4\n' >in.csv

job good.yaml 'inputs: {t: {path: in.csv}}
stages:
  - {name: s, op: map, expr: "t * 2"}
outputs: {s: {path: out.csv}}'
expect 0 "$PENSTOCK" run --backend cpu good.yaml
prints "bound by"
same out.csv $'a,b\n2,4\n6,8\n'
rm -f out.csv out.csv.job.yaml
expect 0 "$PENSTOCK" run --quiet --backend cpu good.yaml
[ ! -s stdout ] || fail "--quiet prints"
rm -f out.csv out.csv.job.yaml
expect 0 "$PENSTOCK" plan --backend cpu good.yaml
prints "write s" "cpu"
absent out.csv
expect 0 "$PENSTOCK" run --quiet --backend cpu --log "it's.csv" good.yaml
head -1 "it's.csv" | grep -q "step" || fail "--log: no timing log"
rm -f out.csv out.csv.job.yaml

# The config from standard input; its paths start at the current folder.
"$PENSTOCK" run --quiet --backend cpu - <good.yaml >stdout 2>stderr || fail "config from stdin"
rm -f out.csv out.csv.job.yaml

# Wrong configs: all faults at once, with place and a near word; nothing is written.
job bad.yaml 'inputs: {t: {path: in.csv}}
stages:
  - {name: s, op: mpa, expr: "t * 2"}
  - {name: r, op: reduce, in: t, axis: rows, of: maen}
outputs: {s: {path: out.csv}}
run: {blok: auto}'
expect 2 "$PENSTOCK" run bad.yaml
says "bad.yaml:4:" "'map'" "bad.yaml:5:" "'mean'" "bad.yaml:7:7" "blok" "block" "^~~~"
absent out.csv
expect 2 "$PENSTOCK" plan bad.yaml

# Faults of expressions come out in the same run, but not those that only follow from others.
job both.yaml 'inputs: {t: {path: in.csv}, u: {path: missing.npy}}
stages:
  - {name: s, op: map, expr: "t +* 2"}
  - {name: r, op: map, expr: "u + s"}
  - {name: q, op: map, expr: "sqrt(tt)"}
outputs: {s: {path: out.csv, cast: never}}'
expect 2 "$PENSTOCK" run both.yaml
says "both.yaml:2:" "missing.npy" "both.yaml:4:" "unexpected" "both.yaml:6:" "did you mean" "'never'"
grep -q "both.yaml:5:" stderr && fail "a fault that only follows from others is reported"
rm -f both.yaml
expect 2 "$PENSTOCK" run good.yaml --set run.blok=3
says "--set run.blok=3" "block"
expect 2 "$PENSTOCK" run good.yaml --backend cdua
says "cuda"
expect 2 "$PENSTOCK" run no_such.yaml
says "no_such.yaml" "No such file"
expect 2 "$PENSTOCK" run .
: >empty.yaml
expect 2 "$PENSTOCK" run empty.yaml

# Inputs.
expect 3 "$PENSTOCK" run good.yaml --set inputs.t.path=no_such.csv
says "no_such.csv"
absent out.csv
printf 'a,b\n1,2\n3,oops\n' >in.csv
expect 3 "$PENSTOCK" run --backend cpu good.yaml
says "in.csv" "oops" "3"
absent out.csv
printf 'not an array' >damaged.npy
job npy.yaml 'inputs: {t: {path: damaged.npy}}
outputs: {t: {path: out.csv}}'
expect 3 "$PENSTOCK" run --backend cpu npy.yaml
says "damaged.npy"
expect 3 "$PENSTOCK" inspect no_such.h5
says "no_such.h5" "No such file"
expect 3 "$PENSTOCK" inspect .
says "folder"
expect 3 "$PENSTOCK" inspect damaged.npy
expect 2 "$PENSTOCK" inspect --format nyp damaged.npy

# Device.
if ! has_cuda; then
    printf 'a,b\n1,2\n3,4\n' >in.csv
    expect 5 "$PENSTOCK" run --backend cuda good.yaml
    absent out.csv
    expect 5 "$PENSTOCK" doctor
    prints "[FAIL]"
fi
expect 0 "$PENSTOCK" doctor --cpu
prints "[ok]" "HDF5" "gzip"
only bad.yaml damaged.npy empty.yaml good.yaml in.csv "it's.csv" npy.yaml
echo ok
