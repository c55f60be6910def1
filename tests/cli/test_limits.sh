#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a job may take and may not touch: run.memory is kept or refused with numbers, the config is
# never replaced, full disks and folders without permission leave nothing.
. "$(dirname "$0")/common.sh"

# Slots that the job may choose shrink before it refuses; slots that were asked for do not.
job wide.yaml 'inputs: {a: {format: pattern, shape: [5, 50000]}}
stages: [{name: y, op: map, expr: a * 2}]
outputs: {y: {path: y.npy}}
run: {backend: cpu, memory: 1 MiB}'
expect 0 "$PENSTOCK" plan wide.yaml
prints 'in 2 slots'
expect 5 "$PENSTOCK" run wide.yaml --set run.slots=64
says '64 slots of blocks of 1 row need' 'run.memory allows 1 MiB: set it to 27 MiB, or run.slots lower'
expect 5 "$PENSTOCK" run wide.yaml --set 'inputs.a.shape=[5, 500000]'
says '1 slot of blocks of 1 row needs' 'set it to 4 MiB'
expect 5 "$PENSTOCK" run wide.yaml --set 'inputs.w={format: pattern, shape: [1000, 1000], load: whole}' \
    --set 'stages.y.expr=a * w' --set 'inputs.a.shape=[5, 1000, 1000]'
says 'of it for whole arrays'
only wide.yaml

# A fault in an expression comes with the other faults, not after they are mended.
job faults.yaml 'inputs: {a: {format: pattern, shape: [5], sede: 1}}
stages: [{name: y, op: map, expr: "a +* 2"}, {name: z, op: map, expr: "(a"}]
outputs: {z: {path: z.npy}}'
expect 2 "$PENSTOCK" run faults.yaml
says 'faults.yaml:2:43: error: unknown key' 'faults.yaml:3:39: error: ' 'faults.yaml:3:74: error: '
rm faults.yaml

# An output cannot replace the config that makes it, also through a link.
job self.csv 'inputs: {a: {format: pattern, shape: [5]}}
outputs: {a: {path: self.csv, overwrite: true}}'
cp self.csv copy.yaml
expect 4 "$PENSTOCK" run self.csv
ln -s self.csv link.csv
expect 4 "$PENSTOCK" run self.csv --set outputs.a.path=link.csv
says 'is an input of this job'
cmp -s self.csv copy.yaml || fail "the config was replaced"
rm self.csv link.csv copy.yaml

# The memory told is the program's own, not what the parent held before it.
sed 's/1 MiB/64 MiB/' wide.yaml >peak.yaml
expect 0 awk -v "run=$PENSTOCK run peak.yaml" 'BEGIN {
    for (i = 0; i < 2000000; i++) held[i] = "memory that the parent holds " i
    exit system("exec " run) != 0 }'
peak=$(sed -n 's/^memory: .*process at most \([0-9]*\)\..* MiB$/\1/p' stdout)
[ -n "$peak" ] && [ "$peak" -lt 100 ] || fail "process at most '$peak' MiB"
rm y.npy* peak.yaml

# A file that may not grow: every format says so and leaves nothing.
job full.yaml 'inputs: {a: {format: pattern, shape: [100000, 4], dtype: f64}}
outputs: {a: {path: a.npy}}
run: {backend: cpu}'
for path in a.npy a.h5 a.csv '{a.bin, format: raw}'; do
    path=${path#\{}
    expect 4 bash -c "ulimit -f 400; exec '$PENSTOCK' run full.yaml --set 'outputs.a={path: ${path%\}}}'"
    says 'cannot write' "${path%%,*}" 'File too large'
    only full.yaml wide.yaml
done
echo ok
