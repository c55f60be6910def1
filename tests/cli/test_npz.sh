#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# .npz archives in whole jobs: several passes over a deflated member, and what cannot be written.
. "$(dirname "$0")/common.sh"
cp "$PS_SOURCE_DIR"/tests/data/npz/* .
for archive in stored deflated zip64_deflated; do
    job job.yaml "inputs:
  x: {path: $archive.npz, member: x}
  y: {path: x.npy}
stages:
  - {name: top, op: reduce, in: x, axis: all, of: [max]}
  - {name: d, op: map, expr: \"x - y + (x - top) * 0\"}
  - {name: worst, op: reduce, in: d, axis: all, of: [min, max]}
outputs: {x: {path: out/x.npy}, worst: {path: out/worst.csv}}
run: {backend: cpu, block: 37 rows}"
    expect 0 "$PENSTOCK" run --quiet job.yaml
    cmp out/x.npy x.npy || fail "$archive: not the same array"
    same out/worst.csv $'min,max\n0,0\n'
    rm -r out
done
expect 0 "$PENSTOCK" inspect deflated.npz
prints "member x.npy: deflate" "array: f64[400, 3]" "{path: deflated.npz, member: 'x.npy'}"

job job.yaml "inputs: {x: {path: deflated.npz}}
outputs: {x: {path: x.npz}}"
expect 2 "$PENSTOCK" run --quiet job.yaml
says "files of the format npz cannot be written; write .npy"
job job.yaml "inputs: {x: {path: deflated.npz}}
outputs: {x: {path: x.csv}}"
expect 3 "$PENSTOCK" run --quiet job.yaml
says "holds 4 arrays: choose one by \`member:\` (members: x, y, r, number)"

# Damage behind the first blocks leaves no output.
head -c 1500 deflated.npz >cut.npz
tail -c +1501 deflated.npz | tr 'a' 'b' >>cut.npz
job job.yaml "inputs: {x: {path: cut.npz, member: x}}
outputs: {x: {path: out.npy}}
run: {block: 10 rows}"
expect 3 "$PENSTOCK" run --quiet job.yaml
says "cut.npz, member 'x.npy': " "the data is damaged"
absent out.npy
