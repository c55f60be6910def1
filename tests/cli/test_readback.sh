#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Outputs read back by h5py, NumPy and pandas (readback.py), and by HDF5's own tools.
. "$(dirname "$0")/common.sh"
python3=/usr/bin/python3
[ -x "$python3" ] || python3=python3
"$python3" -c 'import h5py, numpy, pandas' 2>/dev/null || {
    echo "skipped: needs h5py, NumPy and pandas (apt-get install python3-h5py python3-pandas)"
    exit 77
}
"$python3" "$PS_SOURCE_DIR/tests/cli/readback.py" "$PENSTOCK" "$WORK" || exit 1
if command -v h5dump >/dev/null; then
    expect 0 h5dump -H several.h5
    prints 'DATASET "y"' 'GROUP "a"'
fi
