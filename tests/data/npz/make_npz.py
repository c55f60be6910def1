#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives as numpy.savez and Python's zipfile write them, also with zip64 fields, data descriptors,
comments, other methods; and x.npy, y.npy, ...: the same arrays, as plain .npy files in C order."""
import io
import zipfile
from pathlib import Path

import numpy as np

here = Path(__file__).parent
rng = np.random.default_rng(1)
x = np.round(rng.normal(size=(400, 3)), 2)
y = (np.arange(60).reshape(12, 5) * 7 + 1).astype("<i4")
r = np.zeros(9, [("a", "<i2"), ("b", ">f4")])
r["a"], r["b"] = np.arange(9), np.arange(9) / 8
number = np.array(2.5)
np.save(here / "x.npy", x)
np.save(here / "y.npy", y)
np.save(here / "r.npy", np.stack([r["a"], r["b"]], -1).astype("f4"))
arrays = dict(x=x, y=np.asfortranarray(y.astype(">i4")), r=r, number=number)
np.savez(here / "stored.npz", **arrays)
np.savez_compressed(here / "deflated.npz", **arrays)
np.savez_compressed(here / "one.npz", x)
np.savez(here / "none.npz")


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


class Stream(io.RawIOBase):
    """Cannot seek, so that sizes come in descriptors behind the data."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


for name, method in [("stream_stored", zipfile.ZIP_STORED), ("stream_deflated", zipfile.ZIP_DEFLATED)]:
    with zipfile.ZipFile(Stream(here / f"{name}.npz"), "w", method) as archive:
        archive.writestr("x.npy", npy(x))
        archive.writestr("y.npy", npy(y))

for name, method in [("bzip2", zipfile.ZIP_BZIP2), ("lzma", zipfile.ZIP_LZMA)]:
    with zipfile.ZipFile(here / f"{name}.npz", "w", method) as archive:
        archive.writestr("x.npy", npy(x))

with zipfile.ZipFile(here / "odd.npz", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.comment = b"made by a test, PK\5\6"
    archive.writestr("README", "not an array")
    archive.mkdir("group") if hasattr(archive, "mkdir") else archive.writestr("group/", "")
    archive.writestr("group/größe.npy", npy(x))
    archive.writestr("objects.npy", npy(y)[:10] + npy(y)[10:].replace(b"'<i4'", b"'|O' ", 1))

with zipfile.ZipFile(here / "two_in_one.npz", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("x.npy", npy(x) + npy(y))

# As if every file were larger than 4 GiB, and there were more than 65535 of them.
zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 10, 1
for name, method in [("zip64_stored", zipfile.ZIP_STORED), ("zip64_deflated", zipfile.ZIP_DEFLATED)]:
    with zipfile.ZipFile(here / f"{name}.npz", "w", method) as archive:
        for member in ("x", "y"):
            with archive.open(f"{member}.npy", "w", force_zip64=True) as file:
                file.write(npy(dict(x=x, y=y)[member]))
