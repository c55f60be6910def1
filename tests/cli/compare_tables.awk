# SPDX-License-Identifier: Apache-2.0
# awk -F, -v relative=R -v absolute=A -f compare_tables.awk WANTED FOUND: prints what differs of the
# numbers in reading order. Lines of FOUND that do not start with a number are headers; FOUND may go
# on after WANTED's last number.
function number(text) { return text ~ /^[-+]?([0-9]|\.[0-9]|inf|nan)/ }
function away(a, b,  d) { d = a > b ? a - b : b - a; return d > absolute + relative * (b > 0 ? b : -b) }
{ sub(/\r$/, "") }
FNR == NR { for (i = 1; i <= NF; i++) wanted[++count] = $i; next }
!number($1) { next }
{
    for (i = 1; i <= NF && seen < count; i++)
        if (!number($i) || away($i, wanted[++seen])) {
            print "line " FNR ", cell " i ": " $i ", wanted " wanted[seen]
            if (++wrong > 20)
                exit 1
        }
}
END {
    if (seen < count)
        print seen + 0 " numbers, wanted " count
    exit wrong > 0 || seen < count
}
