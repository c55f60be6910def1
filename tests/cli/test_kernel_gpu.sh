#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernels themselves against NumPy (kernel.py), and the example against its twins.
. "$(dirname "$0")/common.sh"
has_cuda || {
    echo "skipped: no GPU"
    exit 77
}
python3=/usr/bin/python3
[ -x "$python3" ] || python3=python3
if "$python3" -c 'import numpy' 2>/dev/null; then
    "$python3" "$PS_SOURCE_DIR/tests/cli/kernel.py" "$PENSTOCK" "$WORK" cuda || exit 1
else
    echo "without NumPy: only the example is run"
fi
mkdir -p data
cp -r "$PS_SOURCE_DIR/configs" .
cp -r "$PS_SOURCE_DIR/data/samples" data/
rm -rf configs/out
expect 0 "$PENSTOCK" run --compare configs/kernel.yaml
prints smooth norm
grep -q DIFFER stdout && fail "kernels differ from their twins"
expect 0 "$PENSTOCK" run --compare configs/kernel.yaml --set stages.smooth.guard=true \
    --set stages.norm.guard=true --set outputs.smooth.overwrite=true --set outputs.norm.overwrite=true
echo ok
