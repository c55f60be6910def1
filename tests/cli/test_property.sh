#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Random chains of stages find what NumPy finds, as scripts/property-test tells; and that it does
# tell when they do not.
. "$(dirname "$0")/common.sh"
python3=/usr/bin/python3
[ -x "$python3" ] || python3=python3
"$python3" -c 'import numpy' 2>/dev/null || {
    echo "skipped: needs NumPy (apt-get install python3-numpy)"
    exit 77
}
test="$PS_SOURCE_DIR/scripts/property-test"
expect 0 "$python3" "$test" "${PS_SEED:-1}" "${PS_CHAINS:-30}" --backend "${PS_BACKEND:-cpu}" \
    --program "$PENSTOCK" --work "$WORK/chains"
prints " 0 failed"

# A program that takes largest for smallest: the chain is cut down to that stage alone.
cat >wrong <<'END'
#!/bin/bash
sed -i 's/of: min/of: max/' job.yaml
exec "$PENSTOCK" "$@"
END
chmod +x wrong
export PENSTOCK
for seed in $(seq 1 60); do
    "$python3" "$test" "$seed" 1 --program ./wrong --work "$WORK/wrong-chains" >stdout 2>stderr && continue
    CODE=$?
    break
done
[ "$CODE" = 1 ] || fail "no chain was found wrong"
prints 'FAILED: chain' 'The smallest job' 'of: max' 'Again: '
[ "$(grep -c ' op: ' stdout)" -le 2 ] || fail "the job was not cut down"
exit 0
