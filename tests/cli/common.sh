# SPDX-License-Identifier: Apache-2.0
# What the tests of the program from outside share. Sourced by bash; each test works in a fresh
# folder of its own that is removed at the end. A failed check ends the test with exit code 1.
set -u
: "${PENSTOCK:?the program under test}" "${PS_SOURCE_DIR:?the source folder}" "${PS_WORK_DIR:?}"
WORK=$(mktemp -d "$PS_WORK_DIR/cli.XXXXXX") || exit 1
trap 'chmod -R u+rwx "$WORK"; rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
CODE=

fail() {
    cd "$WORK" || exit 1
    printf 'FAILED: %s\n' "$*"
    [ -f "$WORK/stdout" ] && sed 's/^/  stdout: /' "$WORK/stdout" | head -40
    [ -f "$WORK/stderr" ] && sed 's/^/  stderr: /' "$WORK/stderr" | head -40
    exit 1
}

# expect CODE COMMAND...: runs it, keeps its output in $WORK/stdout and $WORK/stderr.
expect() {
    local wanted=$1
    shift
    "$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null
    CODE=$?
    [ "$CODE" = "$wanted" ] || fail "exit code $CODE, wanted $wanted: $*"
}

# says TEXT...: each is in the last command's stderr; prints TEXT...: in its stdout.
says() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$WORK/stderr" || fail "stderr lacks: $text"
    done
}
prints() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$WORK/stdout" || fail "stdout lacks: $text"
    done
}

absent() {
    local path
    for path in "$@"; do
        [ ! -e "$path" ] && [ ! -L "$path" ] || fail "$path exists"
    done
}

# same FILE TEXT: the file holds exactly this text.
same() {
    [ "$(cat "$1"; echo .)" = "$2." ] || fail "$1 holds: $(head -c 500 "$1")"
}

# only NAME...: nothing else is in the current folder (no leftovers) but what the tests keep there
# and, beside an output that cannot hold its provenance, NAME.job.yaml.
only() {
    local left
    left=$(LC_ALL=C ls -A | grep -vxF -e stdout -e stderr | while read -r name; do
        [ "$name" != "${name%.job.yaml}" ] && [ -e "${name%.job.yaml}" ] || echo "$name"
    done)
    [ "$left" = "$(printf '%s\n' "$@" | LC_ALL=C sort)" ] || fail "folder holds: $left"
}

# job FILE YAML: a config of version 1.
job() {
    printf 'version: 1\n%s\n' "$2" >"$1"
}

has_cuda() {
    "$PENSTOCK" doctor >/dev/null 2>&1
}
