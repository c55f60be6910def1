#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes wine.csv: usage: make_wine.py wine_data.csv FOLDER

wine_data.csv is sklearn/datasets/data/wine_data.csv of the scikit-learn package: the UCI set
"Wine". Its first line is a count; the last column, the cultivar, comes first here.
"""
import csv
import sys

NAMES = ["alcohol", "malic_acid", "ash", "alcalinity", "magnesium", "phenols", "flavanoids",
         "nonflavanoids", "proanthocyanins", "colour", "hue", "od280_od315", "proline"]


def main(source, folder):
    with open(source, newline="") as file:
        rows = list(csv.reader(file))[1:]
    with open(f"{folder}/wine.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["cultivar"] + NAMES)
        writer.writerows([row[-1]] + row[:-1] for row in rows)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
