#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kernel stages against NumPy, as kernel.py tells. Their twins are compiled: needs a C compiler.
. "$(dirname "$0")/common.sh"
python3=/usr/bin/python3
[ -x "$python3" ] || python3=python3
"$python3" -c 'import numpy' 2>/dev/null || {
    echo "skipped: needs NumPy (apt-get install python3-numpy)"
    exit 77
}
command -v "${CC:-cc}" >/dev/null || {
    echo "skipped: needs a C compiler"
    exit 77
}
"$python3" "$PS_SOURCE_DIR/tests/cli/kernel.py" "$PENSTOCK" "$WORK" "${PS_BACKEND:-cpu}" || exit 1
