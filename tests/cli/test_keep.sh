#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inputs that several passes read are read from their files once, where memory has room; what the
# plan, the summary and the log say of it, and that results do not depend on it.
. "$(dirname "$0")/common.sh"

# log_lines PASS BACKEND: how many blocks of x the pass read from there (io: a file, or memory).
log_lines() {
    awk -F, -v pass="$1" -v from="$2" \
        '$1 == pass && $4 == "read" && $5 == "x" && $11 == from { n++ } END { print n + 0 }' log.csv
}
blocks() { # of pass 1 from files; of pass 2 from files, from memory
    [ "$(log_lines 1 io) $(log_lines 2 io) $(log_lines 2 memory)" = "$1" ] ||
        fail "blocks read: $(log_lines 1 io) $(log_lines 2 io) $(log_lines 2 memory), not $1"
}

# A length that is known: y = x minus its mean, with a window besides, so that neighbours are kept.
seq 1 2000 >x.csv
job raw.yaml 'inputs: {t: {path: x.csv}}
outputs: {x: {array: t, path: x.npy}}'
expect 0 "$PENSTOCK" run --quiet raw.yaml --set inputs.t.header=false
job j.yaml 'inputs: {x: {path: x.npy}}
stages:
  - {name: m, op: reduce, axis: rows, of: mean}
  - {name: d, op: map, expr: x - m}
  - {name: y, op: rolling, window: 9, align: centered, of: sum, edges: partial}
outputs: {y: {path: y.npy, overwrite: true}}
run: {backend: cpu, block: 64 rows, log: log.csv}'
expect 0 "$PENSTOCK" plan j.yaml
prints '    read x (15.6 KiB)' '    read x (kept in host memory)' \
    'kept        15.6 KiB of host memory from pass to pass'
expect 0 "$PENSTOCK" run j.yaml
prints "kept: 'x' in host memory (15.6 KiB), so that later passes read no file for it"
blocks '32 0 32'
bytes=$(awk -F, '$4 == "read" { n += $8 } END { print n }' log.csv)
[ "$bytes" = 16000 ] || fail "read $bytes bytes of 16000"
mv y.npy once.npy
expect 0 "$PENSTOCK" run j.yaml --set run.keep=nothing
blocks '32 32 0'
grep -qF "kept:" stdout && fail "something was kept"
cmp y.npy once.npy || fail "results depend on run.keep"
expect 0 "$PENSTOCK" plan j.yaml --set run.keep=nothing
grep -q kept stdout && fail "the plan keeps something"
expect 2 "$PENSTOCK" plan j.yaml --set run.keep=something
says "keep: 'something' is not one of auto, nothing"

# Memory that has no room for it, a byte too little and just enough. What is promised without
# keeping is told when no memory will do.
expect 5 "$PENSTOCK" plan j.yaml --set run.memory=1 --set run.slots=3
needed=$(sed -n 's/.*(\([0-9]*\) bytes.*/\1/p' stderr)
for more in 0 15999 16000; do
    kept=0
    [ "$more" = 16000 ] && kept=32
    expect 0 "$PENSTOCK" run j.yaml --set run.memory=$((needed + more)) --set run.slots=3
    blocks "32 $((32 - kept)) $kept"
    cmp y.npy once.npy || fail "results depend on run.memory"
done

# A length that is not known: kept as far as there is room, else all of it is read again.
csv="inputs.x={path: x.csv, header: false}"
npy=y.npy
expect 0 "$PENSTOCK" run j.yaml --set "$csv"
prints "kept: 'x' in host memory (15.6 KiB)"
blocks '32 0 32'
mv $npy once.npy
expect 5 "$PENSTOCK" plan j.yaml --set "$csv" --set run.memory=1 --set run.slots=3
needed=$(sed -n 's/.*(\([0-9]*\) bytes.*/\1/p' stderr)
expect 0 "$PENSTOCK" run j.yaml --set "$csv" --set run.memory=$((needed + 15999)) --set run.slots=3
prints "not kept: 'x', as run.memory left room for 1999 rows of it"
says "input 'x' has more than the 1999 rows that fit in what was left of run.memory"
blocks '32 32 0'
cmp $npy once.npy || fail "results depend on run.memory"
expect 0 "$PENSTOCK" run j.yaml --set "$csv" --set run.memory=$((needed + 16000)) --set run.slots=3
blocks '32 0 32'
cmp $npy once.npy || fail "results depend on run.memory"

# What can be read only once can have two passes if it is kept.
for path in '"-"' pipe.csv; do
    piped="inputs.x={path: $path, format: csv, header: false}"
    rm -f pipe.csv $npy
    mkfifo pipe.csv
    [ $path = pipe.csv ] && { cat x.csv >pipe.csv & }
    expect 0 bash -c "'$PENSTOCK' run j.yaml --set '$piped' <<<\"\$(cat x.csv)\""
    cmp $npy once.npy || fail "$path: other results"
done
expect 3 bash -c "cat x.csv | '$PENSTOCK' run j.yaml --set 'inputs.x={path: \"-\", format: csv, header: false}' --set run.memory=$((needed + 8000)) --set run.slots=3"
says "has more than the 1000 rows that fit" "cannot be read twice"
expect 3 bash -c "'$PENSTOCK' plan j.yaml --set 'inputs.x={path: \"-\", format: npy}' --set run.memory=$needed --set run.slots=3 <x.npy"
says 'does not fit in what is left of run.memory'
exit 0
