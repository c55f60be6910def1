#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the best run of each peer and checks its numbers against penstock's.

usage: compare.py LINES STATS.CSV   (JSON lines of bench/peers/, penstock's output)
Exit code 1 when a number differs by more than float32 sums may.
"""
import csv
import json
import sys


def main(lines, stats):
    with open(lines) as file:
        runs = [json.loads(line) for line in file if line.strip()]
    with open(stats, newline="") as file:
        rows = list(csv.reader(file))
    ours = column_zero(rows)
    wrong = 0
    for name in dict.fromkeys(run["program"] for run in runs):
        best = max((run for run in runs if run["program"] == name), key=lambda r: r["gb_per_s"])
        worst = max(abs(best[kind] - value) / max(abs(value), 1e-30)
                    for kind, value in ours.items())
        wrong += worst > 1e-5
        print(f"  {name:40s} {best['seconds'] * 1e3:10.1f} ms {best['gb_per_s']:8.2f} GB/s"
              f"   largest relative difference {worst:.1e}")
    return 1 if wrong else 0


def column_zero(rows):
    """Statistics of column 0, whichever way round the table is."""
    kinds = ("mean", "std", "min", "max")
    header = rows[0]
    if set(kinds) <= set(header):  # one line per column of the data
        return {kind: float(rows[1][header.index(kind)]) for kind in kinds}
    return {row[0]: float(row[1]) for row in rows if row[0] in kinds}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
