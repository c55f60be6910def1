#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The layers in the sources: includes point down only, CUDA headers are in kernels/ alone, hdf5.h
# in io/ alone, and below app/ nothing prints or ends the program.
. "$(dirname "$0")/common.sh"
cd "$PS_SOURCE_DIR" || exit 1

# forbid WHAT PATTERN FOLDER...: no source line there matches.
forbid() {
    local what=$1 pattern=$2 found
    shift 2
    found=$(grep -rnE --include='*.[ch]' --include='*.cc' --include='*.cu' --include='*.cuh' \
        -e "$pattern" "$@" 2>/dev/null)
    # A child process made by fork has to end by itself.
    found=$(grep -vE '^io/hdf5_probe\.c:[0-9]+:[[:space:]]*_exit\(' <<<"$found")
    [ -z "$found" ] || fail "$what:
$found"
}

# A pattern that never matches proves nothing: these must find something.
grep -rqE '#include "base/' io kernels pipeline app || fail "no include of base/ found"
grep -rqE '#include <hdf5.h>' io || fail "no include of hdf5.h in io/"
grep -rqE '#include <cuda' kernels || fail "no include of CUDA headers in kernels/"

forbid "base/ includes upwards" '#include "(io|kernels|pipeline|app)/' base
forbid "io/ includes sideways or upwards" '#include "(kernels|pipeline|app)/' io
forbid "kernels/ includes sideways or upwards" '#include "(io|pipeline|app)/' kernels
forbid "pipeline/ includes upwards" '#include "app/' pipeline
forbid "includes relative to the file" '#include "\.\.?/' base io kernels pipeline app
forbid "CUDA headers outside kernels/" \
    '#include [<"](cuda|cublas|nvrtc|nvml|nvtx|cufft|cusolver|cooperative_groups|cub/)' \
    base io pipeline app
forbid "hdf5.h outside io/" '#include [<"](hdf5|H5)' base kernels pipeline app
# Calls, not names that end alike (snprintf, ps_text_printf) and not comments.
forbid "printing or ending the program below app/" \
    '(^|[^_[:alnum:]/*" ])[[:space:]]*(printf|vprintf|puts|putchar|perror|exit|_exit|_Exit|abort|quick_exit)[[:space:]]*\(' \
    base io kernels pipeline
forbid "stdout or stderr below app/" '(^|[^_[:alnum:]"`])(stdout|stderr)[^_[:alnum:]"`]*[,);]' \
    base io kernels pipeline
forbid "the locale" '\bsetlocale[[:space:]]*\(' base io kernels pipeline app

# Every source file says its licence in the first lines.
for file in $(git ls-files 'base/*' 'io/*' 'kernels/*' 'pipeline/*' 'app/*' 'tests/*.[ch]' \
    'tests/*.sh' 'tests/*.py' 'scripts/*' 2>/dev/null | grep -E '\.(c|h|cc|cu|cuh|sh|py)$|^scripts/'); do
    head -3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || fail "$file: no SPDX line"
done
echo ok
