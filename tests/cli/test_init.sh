#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `penstock init` writes configs that run, for every format; and so does every entry that `inspect`
# prints for the tests' files.
. "$(dirname "$0")/common.sh"
data=$PS_SOURCE_DIR/tests/data

# init_runs FILE: a config is written and runs (all but the files' own faults, which inspect tells).
init_runs() {
    rm -f config.yaml ./*_stats.* ./*_summary.* ./*_copy.*
    expect 0 "$PENSTOCK" init --output config.yaml "$@"
    says 'config.yaml written; run it with: penstock run config.yaml'
    expect 0 "$PENSTOCK" run --quiet --backend cpu config.yaml
    ls | grep -qE "_(stats|summary|copy)\." || fail "no output of $*"
}

mkdir -p 'odd folder'
printf '# made by hand\nname;when;x [m];y\nab;2024-01-01T00:00:00Z;1,5;NA\ncd;2024-01-02;-2,25;3\n' >'odd folder/it'\''s 1.csv'
init_runs 'odd folder/it'\''s 1.csv'
grep -q 'separator: ";", decimal: ",", comment: "#", columns: \[1:4\], dtype: {1: time_s}, missing: \["NA"\]' config.yaml ||
    fail "another entry: $(cat config.yaml)"
same "$(ls ./*_stats.csv)" $'mean,std,min,max\n1704110400,43200,1704067200,1704153600\n-0.375,1.875,-2.25,1.5\nnan,nan,nan,nan\n'
printf 'a b\n1 2\n3  4\n' >stats.txt
init_runs stats.txt
printf '1\n2\n' >no_header.csv
init_runs no_header.csv
gzip -c no_header.csv >packed.csv.gz
init_runs packed.csv.gz
printf '12345678' >raw.bin
init_runs raw.bin
init_runs --format raw raw.bin
for file in "$data"/cases/npy/fortran.npy "$data"/cases/hdf5/filters.h5 "$data"/cases/hdf5/cf_packed.nc \
    "$data"/cases/hdf5/matlab73.mat "$data"/hdf5/types.h5 "$data"/npz/zip64_deflated.npz "$data"/npy/*.npy; do
    # Without rows to reduce, or nothing but text: not of interest here.
    "$PENSTOCK" inspect "$file" 2>/dev/null | grep -q '^inputs:' || continue
    "$PENSTOCK" inspect "$file" | grep -qE '\[0[],]|\[[0-9, ]*, 0[],]' && continue
    case $file in */large_id*) continue ;; esac # an identifier that no dtype of all statistics holds
    init_runs "$file"
done

# Here, beside nothing, or not at all.
expect 0 "$PENSTOCK" init no_header.csv
says 'no_header.yaml written'
expect 4 "$PENSTOCK" init no_header.csv
says 'no_header.yaml exists; name another file with --output'
expect 0 "$PENSTOCK" init --output - no_header.csv
prints 'no_header: {path: no_header.csv, header: false}' 'op: reduce'
printf 'a,b\n1,2\n' >plain.csv
expect 0 "$PENSTOCK" inspect plain.csv
prints 'plain: {path: plain.csv}'
expect 0 bash -c "cd 'odd folder' && '$PENSTOCK' init --output ../elsewhere.yaml it*.csv"
expect 0 "$PENSTOCK" plan elsewhere.yaml
expect 3 "$PENSTOCK" init none.csv
says 'cannot open none.csv: No such file'
expect 3 "$PENSTOCK" init 'odd folder'
says 'is a folder'
expect 2 "$PENSTOCK" init -- -
says 'standard input cannot be looked at'
printf 'PK\3\4' >wrong.npy
expect 3 "$PENSTOCK" init --output wrong.yaml wrong.npy
absent wrong.yaml
printf 'hello' >unknown
expect 3 "$PENSTOCK" init unknown
says 'name it with --format'
