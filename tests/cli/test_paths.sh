#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of files are bytes, not patterns, formats or flags: odd ones work, and messages escape them.
. "$(dirname "$0")/common.sh"
names=("with space.csv" "üñí 中文.csv" "-dash.csv" "a:b.csv" "q'uote.csv" 'double"quote.csv'
       $'new\nline.csv' $'tab\t.csv' "%s%n.csv" "*.csv" "~.csv" "#hash.csv")
mkdir in out
for name in "${names[@]}"; do
    printf 'a,b\n1,2\n' >"in/$name"
    # A double-quoted YAML scalar.
    quoted=${name//\\/\\\\}
    quoted=${quoted//\"/\\\"}
    quoted=${quoted//$'\n'/\\n}
    quoted=${quoted//$'\t'/\\t}
    job odd.yaml "inputs: {t: {path: \"in/$quoted\"}}
outputs: {t: {path: \"out/$quoted\"}}
run: {backend: cpu}"
    expect 0 "$PENSTOCK" run --quiet odd.yaml
    same "out/$name" $'a,b\n1,2\n'
    expect 4 "$PENSTOCK" run --quiet odd.yaml
    expect 0 "$PENSTOCK" inspect "in/$name"
done

# A shell would make something else of $ and a leading ~: refused, nothing is made.
for name in 'out/$HOME.csv' '${X}/y.csv' '~/y.csv'; do
    job shell.yaml "inputs: {t: {path: in/-dash.csv}}
outputs: {t: {path: \"$name\"}}"
    expect 2 "$PENSTOCK" run --quiet shell.yaml
    says "not expanded" "shell.yaml:3:"
    absent "$name"
done
rm shell.yaml

# The config's own name, and one that starts with a dash.
cp odd.yaml "odd %s.yaml"
expect 4 "$PENSTOCK" run --quiet "odd %s.yaml"
cp odd.yaml ./-job.yaml
expect 2 "$PENSTOCK" run --quiet -job.yaml
expect 4 "$PENSTOCK" run --quiet -- -job.yaml

# Paths start at the config's folder, not at the current one.
mkdir -p deep/er
printf 'a\n1\n' >deep/data.csv
job deep/er/job.yaml 'inputs: {t: {path: ../data.csv}}
outputs: {t: {path: made/result.csv}}
run: {backend: cpu}'
expect 0 "$PENSTOCK" run --quiet deep/er/job.yaml
same deep/er/made/result.csv $'a\n1\n'
echo ok
