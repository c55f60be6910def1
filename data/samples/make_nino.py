#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes nino.csv: usage: make_nino.py elnino.dat FOLDER

elnino.dat is statsmodels/datasets/elnino/src/elnino.dat of the statsmodels package: NOAA's
monthly sea surface temperatures (degrees Celsius, ERSST.v3b) of four regions of the Pacific.
Takes the temperatures and leaves the anomalies.
"""
import sys


def main(source, folder):
    with open(source) as file:
        rows = [line.split() for line in file][1:]
    with open(f"{folder}/nino.csv", "w") as file:
        file.write("year,month,nino12,nino3,nino4,nino34\n")
        for row in rows:
            file.write(",".join([row[0], row[1], row[2], row[4], row[6], row[8]]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
