#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes digits.h5, digits_background.npy, digits_weights.npy and digits_bias.npy.

usage: make_digits.py digits.csv.gz FOLDER
digits.csv.gz is sklearn/datasets/data/digits.csv.gz of the scikit-learn package: the test part of
the UCI set "Optical Recognition of Handwritten Digits". Rows of 64 counts and the digit.
"""
import sys

import h5py
import numpy as np

GAIN = 1.5  # as in configs/quickstart.yaml


def main(source, folder):
    table = np.loadtxt(source, delimiter=",", dtype=np.uint8)
    counts, digit = table[:, :64], table[:, 64]
    background = counts.mean(axis=0).astype(np.float32)

    with h5py.File(f"{folder}/digits.h5", "w") as file:
        data = file.create_dataset("counts", data=counts, chunks=(256, 64), compression="gzip",
                                   compression_opts=9, shuffle=True)
        data.attrs["description"] = "pixels set in each 4x4 block of 32x32 scans, row by row"
        file.create_dataset("digit", data=digit, compression="gzip")

    # Least squares from the cleaned counts to one column per digit: 1 for the right one, else 0.
    clean = np.maximum(counts - background, 0) * GAIN
    target = (digit[:, None] == np.arange(10)).astype(np.float64)
    design = np.hstack([clean, np.ones((len(clean), 1))]).astype(np.float64)
    solution = np.linalg.lstsq(design, target, rcond=1e-6)[0]
    right = (design @ solution).argmax(axis=1) == digit
    print(f"largest score is the right digit for {right.mean():.1%} of the rows")

    np.save(f"{folder}/digits_background.npy", background)
    np.save(f"{folder}/digits_weights.npy", solution[:64].astype(np.float32))
    np.save(f"{folder}/digits_bias.npy", solution[64].astype(np.float32))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
