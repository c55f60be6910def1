#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A disk that fills while outputs are written, for every format: exit code 4, the path, nothing left, and
# what was there stays. Needs to mount a small file system (as root); else RLIMIT_FSIZE stands for it.
. "$(dirname "$0")/common.sh"
mkdir disk
if mount -t tmpfs -o size=1m tmpfs disk 2>/dev/null; then
    trap 'umount disk; chmod -R u+rwx "$WORK"; rm -rf "$WORK"' EXIT
    limited() { "$@"; }
    full='No space left on device'
else
    limited() { bash -c 'ulimit -f 1000; exec "$@"' _ "$@"; }
    full='File too large'
fi

# Random numbers, so that packing does not make them fit.
job full.yaml 'inputs: {a: {format: pattern, kind: random, shape: [100000, 4], dtype: f64}}
outputs: {a: {path: disk/a.npy}}
run: {backend: cpu}'

# fills OUTPUTS...: each as the job's outputs.
fills() {
    local outputs
    for outputs in "$@"; do
        expect 4 limited "$PENSTOCK" run full.yaml --set "outputs={$outputs}"
        says "$WORK/disk/" "$full"
        [ "$(ls -A disk)" = "$KEPT" ] || fail "after $outputs the folder holds: $(ls -A disk)"
    done
}

KEPT=
fills 'a: {path: disk/a.npy}' 'a: {path: disk/a.npy.gz}' 'a: {path: disk/a.csv}' 'a: {path: disk/a.csv.gz}' \
    'a: {path: disk/a.bin}' 'a: {path: disk/a.bin, byte_order: big}' 'a: {path: disk/a.h5}' \
    'a: {path: disk/a.h5, compression: gzip-1}' 'a: {path: disk/a.h5, chunks: [1000, 2], fletcher32: true}' \
    'a: {path: disk/a.h5, dataset: x}, b: {array: a, path: disk/a.h5, dataset: y}' \
    'b: {array: a, path: disk/b.npy, dtype: f32}, a: {path: disk/a.h5}'

# What an output would have replaced is whole.
echo old >disk/a.csv
KEPT=a.csv
fills 'a: {path: disk/a.csv, overwrite: true}'
same disk/a.csv $'old\n'

# Rows of unknown number, which grow.
seq 1 300000 | sed '1i v' >rows.csv
KEPT=a.csv
for output in 'a: {path: disk/u.h5}' 'a: {path: disk/u.npy}' 'a: {path: disk/u.csv}'; do
    expect 4 limited "$PENSTOCK" run full.yaml --set 'inputs={a: {path: rows.csv}}' --set "outputs={$output}"
    says "$WORK/disk/" "$full"
    [ "$(ls -A disk)" = a.csv ] || fail "after $output the folder holds: $(ls -A disk)"
done

# A folder that may not be written to (root may).
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod a-w closed
    expect 4 "$PENSTOCK" run full.yaml --set 'outputs={a: {path: closed/a.npy}}'
    says 'Permission denied' 'closed'
fi
