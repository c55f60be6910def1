#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every job of configs/ runs on the cpu backend and finds what NumPy finds (tests/data/configs).
. "$(dirname "$0")/common.sh"
mkdir -p data
cp -r "$PS_SOURCE_DIR/configs" .
cp -r "$PS_SOURCE_DIR/data/samples" data/
rm -rf configs/out
out=configs/out

# as_csv FILE [KEYS]: prints an output of another format as text, through penstock itself.
as_csv() {
    job as_csv.yaml "inputs: {t: {path: $1${2:+, $2}}}
outputs: {t: {path: as_csv.csv, overwrite: true}}
run: {backend: cpu}"
    "$PENSTOCK" run --quiet as_csv.yaml >stdout 2>stderr || fail "cannot read $1 back"
    cat as_csv.csv
}

# matches EXPECTED FILE [KEYS]: float32 results agree with float64 ones to 1e-5.
matches() {
    local wanted=$PS_SOURCE_DIR/tests/data/configs/$1.csv
    [ -e "$2" ] || fail "$2 is missing"
    case $2 in
    *.csv) cp "$2" found.csv ;;
    *) as_csv "$2" "${3:-}" >found.csv ;;
    esac
    awk -F, -v relative=1e-5 -v absolute=2e-6 -f "$PS_SOURCE_DIR/tests/cli/compare_tables.awk" \
        "$wanted" found.csv >differences || fail "$2 differs from $1.csv: $(head -5 differences)"
}

for config in configs/*.yaml; do
    expect 0 "$PENSTOCK" plan --backend cpu "$config"
    expect 0 "$PENSTOCK" run --backend cpu "$config"
    prints "bound by"
done

matches quickstart_features $out/features.h5 "dataset: /features"
matches quickstart_stats $out/stats.csv
[ "$(head -1 $out/timings.csv | tr ',' '\n' | grep -cE '^(pass|block|step|rows|bytes|start_ms|duration_ms|backend)$')" = 8 ] ||
    fail "timings.csv: $(head -1 $out/timings.csv)"
matches project_active $out/project.npy
matches project_stats $out/project_stats.csv
matches normalise_mean $out/wine_mean.csv
matches normalise_normal $out/wine_normal.csv
matches csv_summary_summary $out/sea_summary.csv
matches csv_summary_gradient $out/sea_gradient.csv
matches csv_summary_gradient_summary $out/sea_gradient_summary.csv
matches kernel_smooth $out/digits_smooth.npy
matches kernel_norm $out/digits_norm.csv
matches raw_convert_sunspots $out/sunspots.npy

# The sums read back: c - (a + b) is nothing everywhere.
job check.yaml "inputs:
  c: {path: $out/vector_add.npy}
  a: {format: pattern, kind: random, shape: [10000000], dtype: f32, seed: 1}
  b: {format: pattern, kind: random, shape: [10000000], dtype: f32, seed: 2}
stages:
  - {name: off, op: map, expr: 'abs(c - (a + b))'}
  - {name: worst, op: reduce, axis: rows, of: [max, count]}
  - {name: spread, op: reduce, in: c, axis: rows, of: std}
outputs: {worst: {path: worst.csv}, spread: {path: spread.csv}}
run: {backend: cpu}"
expect 0 "$PENSTOCK" run --quiet check.yaml
tr ',' '\n' <worst.csv | grep -qxF -e 10000000 -e 1e+07 || fail "vector_add: $(cat worst.csv)"
tr ',' '\n' <worst.csv | grep -qxF -e 0 -e 0.0 || fail "vector_add: $(cat worst.csv)"
tail -1 spread.csv | grep -qE '^0\.[1-9]' || fail "vector_add: the numbers do not vary: $(cat spread.csv)"
echo ok
