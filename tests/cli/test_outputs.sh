#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Outputs are refused when they exist, when they are inputs, when they cannot be made; a failed
# run leaves nothing, and what was there stays whole.
. "$(dirname "$0")/common.sh"
printf 'a,b\n1,2\n3,4\n' >in.csv
job copy.yaml 'inputs: {t: {path: in.csv}}
outputs: {t: {path: out.csv}}
run: {backend: cpu}'
run() {
    local code=$1
    shift
    expect "$code" "$PENSTOCK" run --quiet copy.yaml "$@"
}

# Exists.
echo precious >out.csv
run 4
says "out.csv" "overwrite"
same out.csv $'precious\n'
run 0 --set outputs.t.overwrite=true
same out.csv $'a,b\n1,2\n3,4\n'
echo precious >out.csv
printf 'a,b\n1,oops\n' >in.csv
run 3 --set outputs.t.overwrite=true
same out.csv $'precious\n'
only copy.yaml in.csv out.csv
rm -f out.csv out.csv.job.yaml

# The input under any name, also with overwrite.
printf 'a,b\n1,2\n3,4\n' >in.csv
ln -s in.csv sym.csv
ln in.csv hard.csv
for name in in.csv ./in.csv "$WORK/in.csv" sym.csv hard.csv; do
    run 4 --set "outputs.t.path=$name" --set outputs.t.overwrite=true
    same in.csv $'a,b\n1,2\n3,4\n'
done
rm sym.csv hard.csv

# Links: the target is replaced and the link stays; one that leads nowhere is refused.
mkdir store
echo old >store/t.csv
ln -s store/t.csv out.csv
run 4
run 0 --set outputs.t.overwrite=true
[ -L out.csv ] || fail "the link was replaced"
same store/t.csv $'a,b\n1,2\n3,4\n'
[ "$(ls -A store | grep -v '^t.csv.job.yaml$')" = t.csv ] || fail "leftovers in store: $(ls -A store)"
rm -r out.csv store
ln -s nowhere/t.csv out.csv
run 4
[ -L out.csv ] || fail "the dangling link is gone"
absent nowhere
rm -f out.csv out.csv.job.yaml

# Folders.
run 4 --set outputs.t.path=. --set outputs.t.format=csv
mkdir folder.csv
run 4 --set outputs.t.path=folder.csv --set outputs.t.overwrite=true
rmdir folder.csv
run 4 --set outputs.t.path=in.csv/out.csv
if [ "$(id -u)" != 0 ]; then
    mkdir locked
    chmod 500 locked
    run 4 --set outputs.t.path=locked/out.csv
    says "locked"
    chmod 700 locked
    rmdir locked
elif command -v setpriv >/dev/null && [ -x /bin/sh ]; then
    chmod 000 in.csv
    chmod 755 "$WORK"
    if setpriv --reuid=65534 --clear-groups cat "$PENSTOCK" copy.yaml >/dev/null 2>&1; then
        expect 3 setpriv --reuid=65534 --clear-groups "$PENSTOCK" run --quiet copy.yaml
        says "in.csv" "Permission denied"
        chmod 644 in.csv
        expect 4 setpriv --reuid=65534 --clear-groups "$PENSTOCK" run --quiet copy.yaml
    fi
    chmod 644 in.csv
fi

# A file may not grow further: the limit of the shell, as a full disk.
job big.yaml 'inputs: {x: {format: pattern, shape: [300000, 4], dtype: f64}}
outputs: {x: {path: big.npy}}
run: {backend: cpu}'
for path in big.npy big.csv big.h5 big.raw; do
    (
        ulimit -f 64
        exec "$PENSTOCK" run --quiet big.yaml --set "outputs.x.path=$path" --set outputs.x.format="$(
            case $path in *.npy) echo npy ;; *.csv) echo csv ;; *.h5) echo hdf5 ;; *) echo raw ;; esac)"
    ) >stdout 2>stderr
    CODE=$?
    [ "$CODE" = 4 ] || fail "exit code $CODE at the file size limit: $path"
    says "$path" "File too large"
    absent "$path"
done
only big.yaml copy.yaml in.csv

# Two outputs cannot be one file.
job twice.yaml 'inputs: {t: {path: in.csv}}
stages: [{name: s, op: map, expr: "t * 2"}]
outputs: {t: {path: out.csv}, s: {path: ./out.csv}}
run: {backend: cpu}'
"$PENSTOCK" run --quiet twice.yaml >stdout 2>stderr
CODE=$?
[ "$CODE" = 2 ] || [ "$CODE" = 4 ] || fail "two outputs in one file: exit code $CODE"
absent out.csv

# One of two outputs fails: neither exists.
job one_fails.yaml 'inputs: {t: {path: in.csv}}
stages: [{name: s, op: map, expr: "t * 1000"}]
outputs: {t: {path: first.csv}, s: {path: second.npy, dtype: u8}}
run: {backend: cpu}'
expect 4 "$PENSTOCK" run --quiet one_fails.yaml
says "second.npy"
absent first.csv second.npy

# Two writers of one file: the result is one run's whole one, nothing is left over.
"$PENSTOCK" run --quiet big.yaml >stdout 2>stderr || fail "big.yaml"
mv big.npy whole.npy
rm -f big.npy.job.yaml
"$PENSTOCK" run --quiet big.yaml >/dev/null 2>err1 &
first=$!
"$PENSTOCK" run --quiet big.yaml >/dev/null 2>err2 &
second=$!
wait $first
one=$?
wait $second
two=$?
[ $one = 0 ] || [ $two = 0 ] || fail "both writers failed: $(cat err1 err2)"
for code in $one $two; do
    [ "$code" = 0 ] || [ "$code" = 4 ] || fail "exit code $code of two writers"
done
cmp big.npy whole.npy || fail "two writers mixed their bytes"
only big.npy big.yaml copy.yaml err1 err2 in.csv one_fails.yaml twice.yaml whole.npy
echo ok

# When the second output cannot get its name, the first one gives its name back.
printf 'old' >first.npy
mkfifo rows.csv
job both.yaml 'inputs: {x: {path: rows.csv}}
outputs: {first: {array: x, path: first.npy, overwrite: true}, new: {array: x, path: new.bin}, second: {array: x, path: second.npy}}
run: {backend: cpu}'
{ echo a; seq 1 200000; sleep 1; printf 'in the way' >second.npy; echo 2; } >rows.csv &
expect 4 "$PENSTOCK" run both.yaml
says 'second.npy appeared while the job ran'
same first.npy old
same second.npy 'in the way'
absent new.bin first.npy.job.yaml
rm rows.csv first.npy second.npy both.yaml
