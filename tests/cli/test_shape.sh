#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stages over the axes of a row: names of columns, faults, and all of them against NumPy as shape.py
# tells.
. "$(dirname "$0")/common.sh"
backend=${PS_BACKEND:-cpu}

# ---- Names go where their columns go ----
printf 'a,b,c,d\n1,2,3,4\n5,6,7,8\n' >t.csv
job job.yaml "inputs: {t: {path: t.csv}}
stages:
  - {name: taken, op: take, in: t, columns: [d, a]}
  - {name: part, op: slice, in: t, index: '1:3'}
  - {name: joined, op: concat, in: [taken, part]}
  - {name: first, op: slice, in: t, index: 0}
  - {name: last, op: slice, in: t, index: -1}
  - {name: stacked, op: stack, in: [last, first]}
  - {name: folded, op: reshape, in: t, shape: [2, 2]}
  - {name: turned, op: transpose}
  - {name: flat, op: reshape, shape: [-1]}
  - {name: again, op: take, in: t, indices: [1, 1]}
  - {name: both, op: concat, in: [part, part]}
outputs:
  joined: {path: joined.csv}
  stacked: {path: stacked.csv}
  flat: {path: flat.csv}
  again: {path: again.csv}
  both: {path: both.csv}
run: {backend: $backend}"
expect 0 "$PENSTOCK" run --quiet job.yaml
[ "$(head -1 joined.csv)" = d,a,b,c ] && [ "$(tail -1 joined.csv)" = 8,5,6,7 ] || fail "joined.csv: $(cat joined.csv)"
[ "$(head -1 stacked.csv)" = last,first ] && [ "$(tail -1 stacked.csv)" = 8,5 ] || fail "stacked.csv: $(cat stacked.csv)"
[ "$(tail -1 flat.csv)" = 5,7,6,8 ] || fail "flat.csv: $(cat flat.csv)"
for file in flat again both; do # a name that would come twice is none
    grep -q '[ad]' $file.csv && fail "$file.csv has names: $(cat $file.csv)"
done
[ "$(tail -1 again.csv)" = 6,6 ] || fail "again.csv: $(cat again.csv)"

# ---- Faults, all in one go ----
job faults.yaml "inputs:
  t: {path: t.csv}
  cube: {format: pattern, shape: [4, 3, 2]}
  long: {format: pattern, shape: [4, 5, 2]}
  line: {format: pattern, shape: [4]}
  table: {format: pattern, shape: [4, 3], load: whole}
  ints: {format: pattern, shape: [4, 3], dtype: i32}
stages:
  - {name: f1, op: take, in: t, columns: [a, bb, '0']}
  - {name: f2, op: take, in: t}
  - {name: f3, op: take, in: cube, columns: [a]}
  - {name: f4, op: take, in: cube, indices: [0, 2, -4, x], axis: 1}
  - {name: f5, op: take, in: cube, indices: 0, axis: 0}
  - {name: f6, op: take, in: cube, indices: 0, axis: 3}
  - {name: f7, op: take, in: line, indices: 0}
  - {name: f8, op: take, in: t, columns: a, indices: 0}
  - {name: f9, op: slice, in: cube, index: ['1:2:3:4', '::0']}
  - {name: f10, op: slice, in: cube, index: [1, ':', ':']}
  - {name: f11, op: slice, in: cube, index: [3, 'a:b']}
  - {name: f12, op: reshape, in: cube, shape: [4]}
  - {name: f13, op: reshape, in: cube, shape: [4, -1]}
  - {name: f14, op: reshape, in: cube, shape: [-1, -1]}
  - {name: f15, op: reshape, in: table, shape: [3, 5]}
  - {name: f16, op: transpose, in: cube, axes: [0, 1, 2]}
  - {name: f17, op: transpose, in: cube, axes: [1, 1]}
  - {name: f18, op: transpose, in: cube, axes: [0, 1]}
  - {name: f19, op: concat, in: [cube, long]}
  - {name: f20, op: concat, in: [cube, table]}
  - {name: f21, op: concat, in: [line, line]}
  - {name: f22, op: concat, in: [cube, cub]}
  - {name: f23, op: stack, in: [cube, line]}
  - {name: f24, op: reshape, in: cube, shape: [4294967296, 4294967296, 4294967296]}
  - {name: f25, op: sort, in: line}
  - {name: f26, op: fill, in: ints, with: previous}
  - {name: f27, op: fill, in: cube, with: value}
  - {name: f28, op: fill, in: cube, with: next, value: 3}
  - {name: f29, op: fill, in: cube, with: value, value: 1e300}
  - {name: f30, op: fill, in: cube, with: value, value: 0, ends: nearest}
outputs: {f1: {path: out.npy}}
run: {backend: $backend}"
expect 2 "$PENSTOCK" plan faults.yaml
says "'t' has no column 'bb' (columns: a, b, c, d); did you mean 'b'?" "no column '0'" "positions are given as \`indices\`" \
    "needs \`columns\` (names) or \`indices\`" "the columns of 'cube' have no names" \
    "-4 is beyond axis 1 of 'cube', which has 3 elements (-3 to 2)" "'x' is no whole number" \
    "axis 0 of 'cube' (f32[4, 3, 2]) are its rows" "there is no axis 3: 'cube' is f32[4, 3, 2]" \
    "'line' is f32[4]: it has rows of one number" "\`columns\` are given as well" \
    "'1:2:3:4' is no slice" "'::0' has a step of 0" "3 slices for 'cube'" \
    "3 is beyond axis 1 of 'cube'" "'a:b' is no slice" \
    "a row of 'cube' (f32[4, 3, 2]) has 6 elements, but [4] has 4" \
    "[4, -1] asks for a multiple of 4" "only one axis can be -1" \
    "all of 'table' (f32[4, 3]) has 12 elements, but [3, 5] has 15" \
    "3 axes are listed, but 'cube' (f32[4, 3, 2]) has 2 besides its rows" "axis 1 is listed twice" \
    "'long' is f32[4, 5, 2], 'cube' is f32[4, 3, 2]: they must be alike but for axis 2" \
    "'table' is whole but 'cube' is streamed" "the stage stack makes columns" \
    "no array 'cub' here, did you mean 'cube'?" "'line' is f32[4], 'cube' is f32[4, 3, 2]"
says "fill of 'ints' (i32): only floats have NaN" "value needs \`value\`" \
    "has no meaning with \`with: next\`" "1e+300 is beyond f32" "has no meaning with \`with: value\`"
[ "$(grep -c ': error: ' stderr)" = 34 ] || fail "$(grep -c ': error: ' stderr) errors, not 34"
absent out.npy

# ---- Against NumPy ----
python3=/usr/bin/python3
[ -x "$python3" ] || python3=python3
"$python3" -c 'import numpy' 2>/dev/null || {
    echo "skipped: needs NumPy (apt-get install python3-numpy)"
    exit 77
}
"$python3" "$PS_SOURCE_DIR/tests/cli/shape.py" "$PENSTOCK" "$WORK" "$backend" || exit 1

"$python3" -c 'import h5py' 2>/dev/null || exit 0
"$python3" "$PS_SOURCE_DIR/tests/cli/shape_scales.py" "$PENSTOCK" "$WORK" "$backend" || exit 1
