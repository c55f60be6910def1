#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/configs/*.csv: what the jobs in configs/ must find, computed by NumPy in float64.

usage: make_config_results.py SAMPLES FOLDER
Long results are stored as their first 40 rows. No headers; statistics are columns mean, std, min,
max.
"""
import sys

import h5py
import numpy as np

samples, folder = sys.argv[1], sys.argv[2]


def save(name, table):
    np.savetxt(f"{folder}/{name}.csv", np.atleast_2d(table)[:40], fmt="%.9g", delimiter=",")


def stats(table):
    return np.stack([table.mean(0), table.std(0), table.min(0), table.max(0)], axis=-1)


def sample(name):
    return np.load(f"{samples}/{name}.npy").astype(np.float64)


def csv(name, columns):
    table = np.genfromtxt(f"{samples}/{name}", delimiter=",", names=True)
    return np.stack([table[column] for column in columns], axis=1)


with h5py.File(f"{samples}/digits.h5") as file:
    digits = file["counts"][:].astype(np.float64)
images = np.pad(digits.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
inside = np.pad(np.ones((8, 8)), 1)
total = sum(images[:, v:v + 8, u:u + 8] for v in range(3) for u in range(3))
count = sum(inside[v:v + 8, u:u + 8] for v in range(3) for u in range(3))
smooth = (total / count).reshape(-1, 64)
save("kernel_smooth", smooth)
save("kernel_norm", np.sqrt((smooth**2).sum(1))[:, None])
clean = np.maximum(digits - sample("digits_background"), 0) * 1.5
scores = clean @ sample("digits_weights")
save("quickstart_features", scores)
save("quickstart_stats", stats(scores))
active = np.maximum(scores + sample("digits_bias"), 0)
save("project_active", active)
save("project_stats", stats(active))

names = open(f"{samples}/wine.csv").readline().strip().split(",")[1:]
wine = csv("wine.csv", names)
save("normalise_mean", wine.mean(0))
save("normalise_normal", (wine - wine.mean(0)) / wine.std(0))

sea = csv("nino.csv", ["nino12", "nino3", "nino4", "nino34"])
gradient = sea[:, 2] - sea[:, 0]
save("csv_summary_summary", stats(sea))
save("csv_summary_gradient", gradient[:, None])
save("csv_summary_gradient_summary", stats(gradient))

tenths = np.fromfile(f"{samples}/sunspots.i16be", ">i2").reshape(260, 12)
save("raw_convert_sunspots", tenths * 0.1)
