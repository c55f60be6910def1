#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a user hears of a kernel stage that is wrong: the place in the config or in the file of the
# kernel, what was expected, and the exit code. Compilers' messages are found at the user's line.
. "$(dirname "$0")/common.sh"
command -v "${CC:-cc}" >/dev/null || {
    echo "skipped: needs a C compiler"
    exit 77
}
unset CC
export LC_ALL=C
input='inputs: {a: {format: pattern, kind: random, shape: [100, 3], dtype: f32, seed: 1}}'
arguments='(const float *a, float *out, long long rows, long long first_row)'
cuda="__global__ void k$arguments {}"

# refused CODE KEYS TEXT...: a plan for the cpu with a stage of these keys fails and says the texts.
refused() {
    local code=$1 keys=$2
    shift 2
    job bad.yaml "$input
stages:
  - name: k
    op: kernel
$(sed 's/^/    /' <<<"$keys")
outputs: {k: {path: k.npy}}
run: {backend: cpu}"
    expect "$code" "$PENSTOCK" plan bad.yaml
    says "$@"
    absent k.npy
}

# ---- Options ----
refused 2 'threads: 32' "bad.yaml:4:11: error: a kernel needs its CUDA C"
refused 2 "source: '$cuda'
threads: 2000" "bad.yaml:7:14: error: threads: '2000' is not a whole number from 1 to 1024, or auto"
refused 2 "source: '$cuda'
launch: per_row" "one of thread_per_element, thread_per_row, block_per_row"
refused 2 "source: '$cuda'
gaurd: true" "unknown key 'gaurd'" "did you mean 'guard'?"
refused 2 "source: '$cuda'
params: {n: 1.5, m: 3000000000, f: 1e300}
param_types: {n: i64, m: i32, f: f32, q: i32}" \
    "bad.yaml:7:17: error: params.n is not a whole number, as param_types says" \
    "error: params.m is not a whole number of 32 bits" \
    "error: params.f is not within the range of f32" \
    "bad.yaml:8:43: error: param_types.q: params has no such name"
refused 2 "source: '$cuda'
param_types: u8" "one of them}): f64, f32, i64, i32"
refused 3 "file: nosuch.cu" "bad.yaml:6:11: error: file: cannot use" "nosuch.cu: No such file"
refused 2 "source: '$cuda'
cpu_expr: a * b" "no array or param 'b' here"
refused 2 "source: '$cuda'
cpu_expr: a[0]" "bad.yaml:7:15: error: cpu_expr makes f32[100], but the kernel makes f32[100, 3]"
printf '// a\n#include "x.h"\n' >inc.cu
refused 2 "file: inc.cu" "file, its line 2: a kernel cannot #include"

# An expression may read what the kernel reads, and no more.
job other.yaml "inputs:
  a: {format: pattern, kind: random, shape: [100, 3], dtype: f32, seed: 1}
  b: {format: pattern, kind: random, shape: [100, 3], dtype: f32, seed: 2}
stages: [{name: k, op: kernel, in: a, source: '$cuda', cpu_expr: a * b}]
outputs: {k: {path: k.npy}}"
expect 2 "$PENSTOCK" plan other.yaml
says "cpu_expr reads 'b', which is not among the kernel's arrays: add it to \`in\`"

# ---- Backends: no twin, no cpu ----
refused 2 "source: '$cuda'" "stage 'k' (kernel) has no twin for the cpu: write one as \`cpu_source\`"
if ! has_cuda; then
    expect 5 "$PENSTOCK" plan --backend auto bad.yaml
    says "has no twin for the cpu" "the cuda backend cannot be used: "
fi

# ---- The compiler's messages ----
twin="source: '$cuda'
cpu_source: |

  // two
  void k$arguments
  {
      out[0] = b[0];
  }"
refused 2 "$twin" "stage k (kernel): the cpu twin, expected to define void k$arguments, does not compile" \
    "bad.yaml:12:14: error: 'b' undeclared"
refused 2 "${twin/out\[0\] = b\[0\]/out[0] = c[0]}" "bad.yaml:12:14: error: 'c' undeclared"
refused 2 "source: '$cuda'
cpu_source: 'void k(const float *a, float *out, int rows, int first_row) {}'" \
    "expected is void k$arguments"
mkdir -p 'my code'
printf '#include "twice.h"\nvoid k%s\n{ out[0] = TWICE(a[0] }\n' "$arguments" >'my code/twin.c'
printf '#define TWICE(x) (2 * (x))\n' >'my code/twice.h'
refused 2 "source: '$cuda'
cpu_file: my code/twin.c" "my code/twin.c:3:" "error: unterminated argument list"
CC='no-such-cc -m64' refused 5 "$twin" "needs a C compiler, but 'no-such-cc' cannot be started" \
    "set CC to its name"
TMPDIR=/nosuch refused 4 "$twin" "cannot make a folder in /nosuch to compile the cpu twin in"

# ---- A file of its own, with its own include; nothing is left behind ----
printf '#include "twice.h"\nvoid k%s\n{ for (long long i = 0; i < rows * 3; i++) out[i] = TWICE(a[i]); }\n' \
    "$arguments" >'my code/twin.c'
printf '%s' "$cuda" >k.cu
mkdir tmp
job good.yaml "$input
stages:
  - {name: k, op: kernel, file: k.cu, cpu_file: my code/twin.c}
  - {name: off, op: map, expr: abs(k - 2 * a)}
  - {name: worst, op: reduce, axis: rows, of: [max, count]}
outputs: {worst: {path: worst.csv}, k: {path: k.csv}}
run: {backend: cpu, block: 7 rows}"
TMPDIR=$PWD/tmp expect 0 "$PENSTOCK" run --quiet good.yaml
[ -z "$(ls -A tmp)" ] || fail "left in TMPDIR: $(ls -A tmp)"
# all differences are 0, of 100 rows
[ "$(tail -1 worst.csv | tr ',' '\n' | sort -u | tr '\n' ' ')" = "0.0 100.0 " ] ||
    [ "$(tail -1 worst.csv | tr ',' '\n' | sort -u | tr '\n' ' ')" = "0 100 " ] ||
    fail "worst.csv: $(cat worst.csv)"

# ---- The guard ends the job, and no output looks finished ----
job guard.yaml "$input
stages:
  - name: k
    op: kernel
    guard: true
    source: '$cuda'
    cpu_source: 'void k$arguments { for (long long i = 0; i < rows * 3; i++) out[i] = 1; if (first_row == 14) out[rows * 3] = 1; }'
outputs: {k: {path: guarded.npy}}
run: {backend: cpu, block: 7 rows}"
expect 2 "$PENSTOCK" run --quiet guard.yaml
says "stage k (kernel), rows 14-20: guard: k wrote outside its output of 84 bytes: 4 bytes after it"
absent guarded.npy
expect 0 "$PENSTOCK" run --quiet guard.yaml --set 'stages.k.cpu_source="void k'"$arguments"' { for (int i = 0; i < rows * 3; i++) out[i] = 1; }"'
expect 2 "$PENSTOCK" run --quiet guard.yaml --set 'stages.k.cpu_source="void k'"$arguments"' { x; }"' --set outputs.k.overwrite=true
says "--set stages.k.cpu_source=" ":1:"
echo ok
