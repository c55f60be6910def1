#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# op: fft: its faults, and its results against NumPy as fft.py tells.
. "$(dirname "$0")/common.sh"
backend=${PS_BACKEND:-cpu}

job faults.yaml "inputs:
  x: {format: pattern, shape: [4, 6]}
  z: {format: pattern, shape: [4, 3, 2]}
  line: {format: pattern, shape: [4]}
  none: {format: pattern, shape: [4, 0]}
  one: {format: pattern, shape: [4, 1, 2]}
stages:
  - {name: f1, op: fft, in: x}
  - {name: f2, op: fft, in: x, kind: fft}
  - {name: f3, op: fft, in: line, kind: rfft}
  - {name: f4, op: fft, in: z, kind: ifft, axis: 2}
  - {name: f5, op: fft, in: x, kind: rfft, axis: 0}
  - {name: f6, op: fft, in: none, kind: rfft}
  - {name: f7, op: fft, in: one, kind: irfft}
  - {name: f8, op: fft, in: z, kind: irfft, window: hann}
outputs: {f1: {path: out.npy}}
run: {backend: cpu}"
expect 2 "$PENSTOCK" plan faults.yaml
says "\`kind\`" "last axis of two (re, im)" "'line' is f32[4]" "there is no axis 2: 'z'" \
    "axis 0 of 'x' (f32[4, 6]) are its rows" "'none' has 0 elements" "transform of length 0" \
    "not for irfft"
[ "$(grep -c ': error: ' stderr)" = 8 ] || fail "$(grep -c ': error: ' stderr) errors, not 8"

# Complex numbers have the columns re and im.
job names.yaml "inputs: {line: {format: pattern, shape: [2, 1]}}
stages:
  - {name: pairs, op: fft, kind: rfft}
  - {name: flat, op: reshape, shape: [2]}
outputs: {flat: {path: out.csv}}
run: {backend: $backend}"
"$PENSTOCK" run --quiet names.yaml >stdout 2>stderr
if grep -q 'built without FFTW' stderr; then
    says libfftw3-dev
    echo "skipped: needs a program with FFTW"
    exit 77
fi
[ "$(head -1 out.csv)" = re,im ] && [ "$(tail -1 out.csv)" = 1,0 ] || fail "out.csv: $(cat out.csv stderr)"

python3=/usr/bin/python3
[ -x "$python3" ] || python3=python3
"$python3" -c 'import numpy' 2>/dev/null || {
    echo "skipped: needs NumPy (apt-get install python3-numpy)"
    exit 77
}
"$python3" "$PS_SOURCE_DIR/tests/cli/fft.py" "$PENSTOCK" "$WORK" "$backend" || exit 1
