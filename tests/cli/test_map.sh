#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Maps against NumPy, and the faults they report, as map.py tells.
. "$(dirname "$0")/common.sh"
python3=/usr/bin/python3
[ -x "$python3" ] || python3=python3
"$python3" -c 'import numpy' 2>/dev/null || {
    echo "skipped: needs NumPy (apt-get install python3-numpy)"
    exit 77
}
"$python3" "$PS_SOURCE_DIR/tests/cli/map.py" "$PENSTOCK" "$WORK" "${PS_BACKEND:-cpu}" || exit 1
