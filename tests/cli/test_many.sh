#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many files as one array in whole jobs: patterns, lists, --set, what cannot be joined, and thousands
# of files with few descriptors.
. "$(dirname "$0")/common.sh"
cp "$PS_SOURCE_DIR"/tests/data/many/run-* .
all=$PS_SOURCE_DIR/tests/data/many/all.npy

check() { # INPUT ENTRY [FLAG...]
    local entry=$1
    shift
    job job.yaml "inputs: {x: {$entry}}
outputs: {x: {path: out.npy}}
run: {backend: cpu, block: 3 rows}"
    expect 0 "$PENSTOCK" run --quiet "$@" job.yaml
    cmp out.npy "$all" || fail "not the array of NumPy: $entry"
    rm out.npy out.npy.job.yaml
}
check "path: run-*.npy"
check "path: 'run-*.npz', member: counts"
check "path: run-*.h5, dataset: /counts"
check "path: 'run-*.bin', dtype: f32, shape: [-1, 3]"
check "path: 'run-*.csv', dtype: f32"
check "path: 'run-*.csv.gz', dtype: f32"
check "path: [run-1.npy, run-2.npy, 'run-1?.npy']"
check "path: ['run-[!1].npy']" --set 'inputs.x.path=[run-1.npy, "run-[2-9].npy", ./run-10.npy]'
check "path: run-1.npy" --set 'inputs.x.path=run-*.npy'

# The rows' mean needs a second pass over the files.
job passes.yaml "inputs: {x: {path: 'run-*.csv', dtype: f64}}
stages:
  - {name: top, op: reduce, in: x, axis: all, of: [max]}
  - {name: part, op: map, expr: x / top}
  - {name: most, op: reduce, in: part, axis: all, of: [max, count]}
outputs: {most: {path: most.csv}}
run: {backend: cpu, block: 2 rows}"
expect 0 "$PENSTOCK" run --quiet passes.yaml
same most.csv $'max,count\n1,42\n'

# The plan and the provenance say which files.
job job.yaml "inputs: {x: {path: run-*.h5}}
outputs: {x: {path: out.npy}}"
expect 0 "$PENSTOCK" plan job.yaml
prints "f32[14, 3]" "4 files (run-1.h5 to run-10.h5)"
expect 0 "$PENSTOCK" run --quiet job.yaml
grep -qF "    # 4 files, the first $PWD/run-1.h5, the last $PWD/run-10.h5" out.npy.job.yaml ||
    fail "provenance without files"
expect 0 "$PENSTOCK" plan --set outputs.x.overwrite=true out.npy.job.yaml
rm out.npy*

# A file that really has such a name is meant.
mkdir 'a[1]'
cp run-1.npy 'a[1]/run-*.npy'
cp run-2.npy 'a[1]/run-2.npy'
job job.yaml "inputs: {x: {path: 'a[1]/run-*.npy'}}
outputs: {x: {path: out.npy}}"
expect 0 "$PENSTOCK" plan job.yaml
prints "f32[4, 3]"
rm 'a[1]/run-*.npy'
cp run-1.npy 'a[1]/run-1.npy'
expect 0 "$PENSTOCK" plan job.yaml
prints "f32[11, 3]" "2 files (run-1.npy to run-2.npy)"

faults() { # CODE ENTRY TEXT...
    local code=$1
    job job.yaml "inputs: {x: {$2}}
outputs: {x: {path: out.npy}}"
    shift 2
    expect "$code" "$PENSTOCK" run --quiet job.yaml
    says "$@"
    absent out.npy
}
faults 2 "path: *.npy" "text that begins with * goes in quotes"
faults 3 "path: run-*.hdf5" "no file matches 'run-*.hdf5' in the folder $PWD" "job.yaml:2:"
faults 3 "path: none/run-*.h5" "in the folder $PWD/none, which does not exist"
faults 3 "path: [run-1.npy, run-3.npy]" "no such file 'run-3.npy'" "job.yaml:2:"
faults 3 "path: [run-*.npy, run-2.npy]" "a file is listed twice"
faults 3 "path: [run-1.npy, run-1.bin], format: npy" "run-1.bin is not a .npy file"
faults 2 "path: []" "path is an empty list; expected a path, a pattern such as run-*.h5"
faults 2 "path: [run-1.npy, '~/x.npy']" "~ is not expanded here"
faults 2 "path: [[run-1.npy]]" "path: an element is a list"
printf '1,2\n3,4\n' >run-11.csv
faults 3 "path: 'run-*.csv', dtype: f32" "run-1.csv (f32[?, 3]) and $PWD/run-11.csv (f32[?, 2])"
printf 'a,b,c\n1,2,3\n4,5,x\n' >run-11.csv
faults 3 "path: 'run-*.csv', dtype: f32" "run-11.csv, line 3"
ln -s run-2.npy link.npy
faults 3 "path: [run-2.npy, link.npy]" "$PWD/link.npy" "its rows would count twice"

# No output may be one of the files, not even the last, nor the log.
job job.yaml "inputs: {x: {path: run-*.npy}}
outputs: {x: {path: ./run-10.npy, overwrite: true}}"
expect 4 "$PENSTOCK" run --quiet job.yaml
says "run-10.npy"
job job.yaml "inputs: {x: {path: run-*.csv}}
outputs: {x: {path: out.npy}}
run: {log: run-2.csv}"
expect 4 "$PENSTOCK" run --quiet job.yaml
says "run.log would overwrite the file of input 'x'"
absent out.npy

# Thousands of files.
seq 1 3000 | tr '\n' ' ' | head -c 12000 >numbers
mkdir many
split -a 4 -d -b 4 numbers many/part-
cp "$all" keep.npy
job job.yaml "inputs: {x: {path: 'many/part-*', format: raw, dtype: u8, shape: [-1]}}
outputs: {x: {path: out.bin, format: raw}}
run: {backend: cpu, block: 1000 rows}"
expect 0 bash -c 'ulimit -n 120 && "$1" run --quiet job.yaml' run "$PENSTOCK"
cmp out.bin numbers || fail "3000 files are not what they were cut from"
