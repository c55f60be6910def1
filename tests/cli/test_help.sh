#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Help, reference and manual come from the tables; the committed files are what the program
# prints. Wrong words on the command line are exit code 2 and name the near right one.
. "$(dirname "$0")/common.sh"

expect 0 "$PENSTOCK" --version
grep -qxE 'penstock [0-9]+\.[0-9]+\.[0-9]+' stdout || fail "--version"
expect 0 "$PENSTOCK" --help
prints "penstock COMMAND" "inspect" "Exit codes"
cp stdout overall
for command in run plan inspect ops doctor bench help; do
    grep -qE "^  $command +[A-Z]" overall || fail "$command is not in the overall help"
    expect 0 "$PENSTOCK" "$command" --help
    prints "Usage: penstock $command" "--help"
    cp stdout "help.$command"
    expect 0 "$PENSTOCK" help "$command"
    cmp -s stdout "help.$command" || fail "help $command differs from $command --help"
done
# --help wins over what else is wrong.
expect 0 "$PENSTOCK" run --help

expect 2 "$PENSTOCK"
prints "Commands:"
expect 2 "$PENSTOCK" rnu job.yaml
says "no command 'rnu', did you mean 'run'?"
expect 2 "$PENSTOCK" frobnicate
says "no command 'frobnicate'; "
expect 2 "$PENSTOCK" --set a=b run job.yaml
says "the command comes first"
expect 2 "$PENSTOCK" run --bakend cpu job.yaml
says "no flag --bakend" "did you mean --backend?"
expect 2 "$PENSTOCK" run
says "needs CONFIG"
expect 2 "$PENSTOCK" run a.yaml b.yaml
says "'b.yaml' is one argument too many"
expect 2 "$PENSTOCK" run --log
says "--log needs FILE after it"
expect 2 "$PENSTOCK" run --compare=yes a.yaml
says "--compare takes no value"
expect 2 "$PENSTOCK" run --log a --log b c.yaml
says "--log is given twice"
expect 2 "$PENSTOCK" run --quiet --verbose c.yaml
says "contradict"
expect 2 "$PENSTOCK" ops redcue
says "did you mean 'reduce'?"
expect 2 "$PENSTOCK" ops $'a\nb'
says 'a\nb'
expect 2 "$PENSTOCK" help nothing
expect 2 "$PENSTOCK" ops --schema run

expect 0 "$PENSTOCK" ops
prints "stage map" "stage matmul" "stage reduce" "format hdf5" "format csv" "format npy" \
    "format raw" "format pattern" "format null" "format digest" "config run"
expect 0 "$PENSTOCK" ops reduce run.cuda
prints "stage reduce" "config run.cuda"
grep -q "stage map" stdout && fail "ops reduce lists map"

# The committed texts are the generated ones: `penstock help --man >docs/penstock.1` makes it new.
compare() {
    local file=$1
    shift
    expect 0 "$@"
    cmp "$PS_SOURCE_DIR/$file" stdout || fail "$file is not what \`$*\` prints"
}
compare docs/penstock.1 "$PENSTOCK" help --man
compare docs/reference.md "$PENSTOCK" help --markdown
compare docs/config.schema.json "$PENSTOCK" ops --schema
if command -v man >/dev/null; then
    warnings=$(LC_ALL=C man --warnings -l "$PS_SOURCE_DIR/docs/penstock.1" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "man: $warnings"
fi

# What cannot be written is an error.
if [ -e /dev/full ]; then
    "$PENSTOCK" ops >/dev/full 2>stderr
    CODE=$?
    [ "$CODE" = 4 ] || fail "exit code $CODE for a full standard output"
    says "No space left on device"
fi
"$PENSTOCK" ops >&- 2>stderr
CODE=$?
[ "$CODE" = 4 ] || fail "exit code $CODE for a closed standard output"
says "cannot write to standard output"
echo ok
