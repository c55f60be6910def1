# SPDX-License-Identifier: Apache-2.0
# awk -F, -v relative=R -v absolute=A -f compare_tables.awk WANTED FOUND: prints what differs.
# Lines of FOUND without a number first are headers; FOUND may go on after WANTED's last row.
function number(text) { return text ~ /^[-+]?([0-9]|\.[0-9]|inf|nan)/ }
function away(a, b,  d) { d = a > b ? a - b : b - a; return d > absolute + relative * (b > 0 ? b : -b) }
{ sub(/\r$/, "") }
FNR == NR { wanted[FNR] = $0; rows = FNR; next }
!number($1) { next }
{
    row++
    if (row > rows)
        next
    count = split(wanted[row], cells, ",")
    if (NF != count) { print "row " row ": " NF " cells, wanted " count; wrong++ }
    for (i = 1; i <= count; i++)
        if (!number($i) || away($i, cells[i])) {
            print "row " row ", cell " i ": " $i ", wanted " cells[i]
            if (++wrong > 20)
                exit 1
        }
}
END {
    if (row < rows)
        print row + 0 " rows, wanted " rows
    exit wrong > 0 || row < rows
}
