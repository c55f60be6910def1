#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes sunspots.i16be: usage: make_sunspots.py sunspots_monthly.dat FOLDER

sunspots_monthly.dat is statsmodels/datasets/sunspots/src/sunspots_monthly.dat of the statsmodels
package: monthly mean sunspot numbers of NOAA's National Geophysical Data Center. Written as an
instrument would: one 16-bit big-endian integer per month, in tenths, years as rows of 12.
"""
import sys

import numpy as np


def main(source, folder):
    rows = []
    with open(source) as file:
        for line in file:
            words = line.split()
            if len(words) == 13 and words[0].isdigit():
                rows.append([round(float(word) * 10) for word in words[1:]])
    np.array(rows, dtype=">i2").tofile(f"{folder}/sunspots.i16be")
    print(f"{len(rows)} years")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
