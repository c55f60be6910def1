#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signals: SIGINT and SIGTERM end a run with exit code 75 and leave no output; after kill -9 there is
# nothing under the final name, and the next run succeeds.
. "$(dirname "$0")/common.sh"

# Large enough to be in the middle of writing after the first bytes are there.
job slow.yaml 'inputs: {x: {format: pattern, shape: [20000000, 8], dtype: f64}}
stages: [{name: y, op: map, expr: "sin(x) + cos(x)"}]
outputs: {y: {path: out.csv}}
run: {backend: cpu, block: 10000 rows}'

# start_run: in the background, until its temporary file is there.
start_run() {
    "$PENSTOCK" run --quiet slow.yaml >stdout 2>stderr </dev/null &
    RUN=$!
    local i
    for i in $(seq 300); do
        [ -n "$(find . -name '*out.csv*' -size +8k 2>/dev/null)" ] && return
        kill -0 $RUN 2>/dev/null || break
        sleep 0.05
    done
    fail "the run made no temporary file within 15 s"
}

for signal in INT TERM; do
    start_run
    kill -$signal $RUN
    wait $RUN
    CODE=$?
    [ "$CODE" = 75 ] || fail "exit code $CODE after SIG$signal"
    only slow.yaml
done

# A file that was there is as it was.
echo precious >out.csv
sed -i 's/path: out.csv/path: out.csv, overwrite: true/' slow.yaml
"$PENSTOCK" run --quiet slow.yaml >stdout 2>stderr </dev/null &
RUN=$!
sleep 0.5
kill -INT $RUN
wait $RUN
CODE=$?
[ "$CODE" = 75 ] || fail "exit code $CODE after SIGINT with overwrite"
same out.csv $'precious\n'
rm -f out.csv out.csv.job.yaml

start_run
kill -KILL $RUN
wait $RUN 2>/dev/null
absent out.csv
expect 0 "$PENSTOCK" run --quiet slow.yaml --set 'inputs.x.shape=[1000, 8]'
[ "$(wc -l <out.csv)" = 1001 ] || [ "$(wc -l <out.csv)" = 1000 ] || fail "rows: $(wc -l <out.csv)"
echo ok
