# SPDX-License-Identifier: Apache-2.0
# `select` as it is written in YAML: plain, in quotes, in flow and in block lists, by --set, and once
# more from the provenance.
. "$(dirname "$0")/common.sh"
DATA=$PS_SOURCE_DIR/tests/data/hdf5/long_rows.h5

config() { # config SELECT
    cat >job.yaml <<Y
version: 1
inputs:
  x: {path: "$DATA", dataset: /named, select: $1}
outputs:
  x: {path: out.csv, header: true, overwrite: true}
Y
}

for select in '[:, 1:3]' '[":", "1:3"]' '[0:, -3:-1]' '[:3, 1:3:1]' '[::, 1:-1]'; do
    config "$select"
    expect 0 "$PENSTOCK" run job.yaml
    same out.csv $'b,c\n1,2\n5,6\n9,10\n'
done
for select in '[::2, ::-1]' '[0:3:2, ::-1]' '["0:3:2", "::-1"]'; do
    config "$select"
    expect 0 "$PENSTOCK" run job.yaml
    same out.csv $'d,c,b,a\n3,2,1,0\n11,10,9,8\n'
done
config ''
sed -i 's/, select: }/}/' job.yaml
expect 0 "$PENSTOCK" run job.yaml --set 'inputs.x.select=[1:, 1:]'
same out.csv $'b,c,d\n5,6,7\n9,10,11\n'
cp out.csv.job.yaml again.yaml
expect 0 "$PENSTOCK" run again.yaml
same out.csv $'b,c,d\n5,6,7\n9,10,11\n'
cat >job.yaml <<Y
version: 1
inputs:
  x:
    path: "$DATA"
    dataset: /named
    select:
      - 1:
      - :
outputs:
  x: {path: out.csv, header: true, overwrite: true}
Y
expect 0 "$PENSTOCK" run job.yaml
same out.csv $'a,b,c,d\n4,5,6,7\n8,9,10,11\n'
expect 3 "$PENSTOCK" plan job.yaml --set 'inputs.x.select=[0:1000:2, :]'
says "1000 of '0:1000:2' is outside of axis 0, which has 3 elements" "has shape 3 x 4"
expect 2 "$PENSTOCK" plan job.yaml --set 'inputs.x.select=[{:}, 1]'
says "select: an element is a mapping"
expect 2 "$PENSTOCK" plan job.yaml --set 'inputs.x.select=[a: 1, 1]'
says "select: an element is a mapping"
expect 2 "$PENSTOCK" plan job.yaml --set 'stages=[op:]'
