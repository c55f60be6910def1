#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Standard input and output, pipes, and files packed by gzip, for every format that allows them.
. "$(dirname "$0")/common.sh"

job copy.yaml 'inputs: {x: {path: "-", format: csv}}
outputs: {x: {path: "-", format: csv}}
run: {backend: cpu}'

# feed FILE COMMAND...: as expect 0, with FILE as standard input.
feed() {
    local file=$1
    shift
    "$@" >"$WORK/stdout" 2>"$WORK/stderr" <"$file"
    CODE=$?
    [ "$CODE" = 0 ] || fail "exit code $CODE: $*"
}

# csv in and out; the summary goes to stderr, warnings too.
printf 'x,y\n1,2.5\n3,nan\n' >in.csv
feed in.csv "$PENSTOCK" run copy.yaml
same stdout $'x,y\n1,2.5\n3,nan\n'
says 'bound by'
cat in.csv | "$PENSTOCK" run --quiet copy.yaml >got.csv || fail "a pipe"
cmp -s in.csv got.csv || fail "a pipe gave other text"
"$PENSTOCK" run --quiet copy.yaml < <(gzip -c in.csv) | cmp -s - in.csv || fail "gzip on a pipe"

# Rows are counted as they come, in any block.
seq 1 100000 | sed '1i v' >long.csv
cat >sum.yaml <<'E'
version: 1
inputs: {x: {path: "-", format: csv}}
stages: [{name: s, op: reduce, axis: rows, of: [sum, count]}]
outputs: {s: {path: "-", format: csv, header: false}}
run: {backend: cpu}
E
for block in '1 rows' '777 rows' auto; do
    [ "$("$PENSTOCK" run --quiet sum.yaml --set "run.block=$block" <long.csv)" = '5000050000,1e+05' ] ||
        fail "sums of standard input in blocks of $block"
done

# The binary formats.
job bin.yaml 'inputs: {x: {format: pattern, shape: [1000, 3], dtype: i32}}
outputs: {x: {path: x.bin, format: raw, overwrite: true}, y: {array: x, path: x.npy, overwrite: true}}
run: {backend: cpu}'
expect 0 "$PENSTOCK" run --quiet bin.yaml
job raw.yaml 'inputs: {x: {path: "-", format: raw, dtype: i32, shape: [-1, 3]}}
outputs: {x: {path: "-", format: raw}}
run: {backend: cpu, block: 7 rows}'
feed x.bin "$PENSTOCK" run --quiet raw.yaml
cmp -s stdout x.bin || fail "raw through files"
cat x.bin | "$PENSTOCK" run --quiet raw.yaml | cmp -s - x.bin || fail "raw through a pipe"
head -c 1003 x.bin >part.bin
"$PENSTOCK" run --quiet raw.yaml <part.bin >/dev/null 2>stderr
[ $? = 3 ] || fail "a part of a row was read"
says 'standard input: 1003 bytes is not a multiple of the 12-byte row: 83 rows and 7 bytes more'
job npy.yaml 'inputs: {x: {path: "-", format: npy}}
outputs: {x: {path: "-", format: npy}}
run: {backend: cpu, block: 7 rows}'
feed x.npy "$PENSTOCK" run --quiet npy.yaml
cmp -s stdout x.npy || fail "npy through files"
head -c 5000 x.npy | "$PENSTOCK" run --quiet npy.yaml >/dev/null 2>stderr
[ "${PIPESTATUS[1]}" = 3 ] || fail "a cut npy was read"
says 'standard input ends at byte 5000' 'truncated'
{ cat x.npy; echo more; } | "$PENSTOCK" run --quiet npy.yaml 2>stderr >/dev/null || fail "bytes behind"
says '5 bytes after the array are ignored'

# What cannot be.
expect 4 "$PENSTOCK" run bin.yaml --set 'outputs.y={array: x, path: "-", format: hdf5}'
says 'the format hdf5 needs a file'
expect 2 "$PENSTOCK" run bin.yaml --set 'outputs={x: {path: "-", format: raw}, y: {array: x, path: "-", format: csv}}'
says "would write the same file"
expect 2 "$PENSTOCK" run copy.yaml --set 'inputs.y={path: "-", format: csv}'
says "are both standard input"
expect 2 "$PENSTOCK" run copy.yaml --set 'inputs.x={path: ["-", in.csv], format: csv}'
says 'cannot be one of several files'
expect 2 bash -c "'$PENSTOCK' run - <copy.yaml"
says 'standard input is the config already'
expect 2 "$PENSTOCK" run copy.yaml --set 'inputs.x={path: "-"}'
says 'cannot tell the format'
expect 4 bash -c "'$PENSTOCK' run copy.yaml --set outputs.x.format=npy <in.csv"
says 'known only at the end'
job twice.yaml 'inputs: {x: {path: "-", format: csv}}
stages:
  - {name: m, op: reduce, in: x, axis: rows, of: mean}
  - {name: y, op: map, expr: x - m}
outputs: {y: {path: y.csv}}'
expect 3 bash -c "'$PENSTOCK' run twice.yaml --set run.keep=nothing <in.csv"
says 'can be read only once, but the job walks over it 2 times'
absent y.csv
expect 4 bash -c "'$PENSTOCK' run bin.yaml --set 'outputs={x: {path: \"-\", format: raw}}' >/dev/full"
says 'cannot write standard output: No space left on device'
expect 4 bash -c "'$PENSTOCK' run bin.yaml --set inputs.x.shape=[1000000,3] --set 'outputs={x: {path: \"-\", format: raw}}' | true; exit \${PIPESTATUS[0]}"
says 'cannot write standard output: Broken pipe'

# A named pipe, and a file whose name is a dash.
mkfifo pipe.csv
cat in.csv >pipe.csv &
expect 0 "$PENSTOCK" run --quiet copy.yaml --set inputs.x.path=pipe.csv
same stdout $'x,y\n1,2.5\n3,nan\n'
cp in.csv ./-
expect 0 "$PENSTOCK" run --quiet copy.yaml --set inputs.x.path=./-
same stdout $'x,y\n1,2.5\n3,nan\n'
rm ./- pipe.csv

# Packed files, written and read back; the same bytes again.
for name in x.csv.gz x.npy.gz x.bin.gz; do
    read='{path: '$name', format: raw, dtype: i32, shape: [-1, 3]}'
    [ "$name" = x.npy.gz ] && read='{path: x.npy.gz}'
    [ "$name" = x.csv.gz ] && read='{path: x.csv.gz, header: false}'
    expect 0 "$PENSTOCK" run --quiet bin.yaml --set "outputs={x: {path: $name}}"
    gzip -t "$name" || fail "$name is no gzip file"
    cp "$name" first.gz
    expect 0 "$PENSTOCK" run --quiet bin.yaml --set "outputs={x: {path: $name, overwrite: true}}"
    cmp -s "$name" first.gz || fail "$name has other bytes the second time"
    expect 0 "$PENSTOCK" run --quiet bin.yaml --set "inputs.x=$read" \
        --set 'outputs={x: {path: back.bin, format: raw, dtype: i32, overwrite: true}}'
    cmp -s back.bin x.bin || fail "$name was read as something else"
done
gzip -dc x.npy.gz | cmp -s - x.npy || fail "another npy in x.npy.gz"
expect 0 "$PENSTOCK" inspect x.npy.gz
prints 'packed by gzip' 'i32[1000, 3]' 'path: x.npy.gz'
expect 0 "$PENSTOCK" run --quiet bin.yaml --set 'outputs={x: {path: x9.csv, gzip: 9}}'
gzip -t <x9.csv || fail "gzip: 9 did not pack"
expect 0 "$PENSTOCK" run --quiet bin.yaml --set 'outputs={x: {path: x0.csv.gz, gzip: 0}}'
head -c 2 x0.csv.gz | grep -q '0,' || fail "gzip: 0 packed"
head -c 300 x.npy.gz >cut.npy.gz
expect 3 "$PENSTOCK" run bin.yaml --set 'inputs.x={path: cut.npy.gz}' --set 'outputs={x: {path: cut.npy}}'
says 'cut.npy.gz ends at byte 300 in the middle of gzip member 1'
absent cut.npy

# Rows with gaps between them; the last gap may lack.
printf 'HEADab..cd..ef' >gaps.bin
job gaps.yaml 'inputs: {x: {path: gaps.bin, format: raw, dtype: u8, shape: [-1, 2], offset: 4, stride: 4}}
outputs: {x: {path: "-", format: raw}}
run: {backend: cpu}'
for block in '1 rows' '2 rows' auto; do
    expect 0 "$PENSTOCK" run --quiet gaps.yaml --set "run.block=$block"
    same stdout abcdef
done
feed gaps.bin "$PENSTOCK" run --quiet gaps.yaml --set 'inputs.x.path="-"'
same stdout abcdef
printf '...' >>gaps.bin
expect 3 "$PENSTOCK" run gaps.yaml
says '13 bytes after the offset is not a multiple of the 4-byte stride: 3 rows and 1 bytes more'
expect 0 "$PENSTOCK" run gaps.yaml --set 'inputs.x.shape=[2, 2]'
says '7 bytes after u8[2, 2] are ignored'
same stdout abcd
expect 2 "$PENSTOCK" run gaps.yaml --set inputs.x.stride=1
says 'stride: 1 bytes from row to row, but a row has 2'

# How CSV is written.
job how.yaml 'inputs: {x: {path: how.csv}}
outputs: {x: {path: "-", format: csv}}
run: {backend: cpu}'
printf 'x,y\n0.1,1234567.25\nnan,-1e-30\n' >how.csv
expect 0 "$PENSTOCK" run --quiet how.yaml --set outputs.x.precision=3
same stdout $'x,y\n0.1,1.23e+06\nnan,-1e-30\n'
expect 0 "$PENSTOCK" run --quiet how.yaml \
    --set 'outputs.x={path: "-", format: csv, separator: ";", decimal: ",", missing: "", line_end: crlf, header: [p, "q;r"]}'
same stdout $'p;"q;r"\r\n0,1;1234567,25\r\n;-1e-30\r\n'
expect 0 "$PENSTOCK" run --quiet how.yaml --set outputs.x.header=false --set outputs.x.separator=tab
same stdout $'0.1\t1234567.25\nnan\t-1e-30\n'
expect 0 "$PENSTOCK" run --quiet how.yaml --set inputs.x.columns=[0] --set 'outputs.x.missing=""'
same stdout $'x\n0.1\n""\n' # a blank line would be no record
printf ',c0,x,x\n1,2,3,4\n' >unnamed.csv # a made name does not take the place of a real one
expect 0 "$PENSTOCK" run --quiet how.yaml --set inputs.x.path=unnamed.csv
same stdout $'c0_0,c0,x,x_3\n1,2,3,4\n'
expect 2 "$PENSTOCK" run how.yaml --set 'outputs.x.decimal=","'
says 'is the separator too'
expect 2 "$PENSTOCK" run how.yaml --set 'outputs.x.header=[p]'
says '1 names for 2 columns'
