#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/gzip: texts and the same packed by Python's gzip, whole and damaged."""
import gzip
import os
import random

os.chdir(os.path.dirname(os.path.abspath(__file__)))
os.makedirs("gzip", exist_ok=True)


def pack(data, level=6):
    return gzip.compress(data, level, mtime=0)


def put(name, data):
    with open("gzip/" + name, "wb") as f:
        f.write(data)


random.seed(1)
plain = b"".join(b"%d,%.6f\n" % (i, random.gauss(0, 1)) for i in range(3000))
put("plain", plain)
put("one.gz", pack(plain))
put("three_members.gz", pack(plain[:1]) + pack(plain[1:20001], 9) + pack(plain[20001:], 0))
put("zero_padded.gz", pack(plain) + bytes(200000))
put("empty_members.gz", pack(b"") + pack(plain[:100]) + pack(b"") + pack(plain[100:]) + pack(b""))

small = b"one\ntwo\nthree\n"
member = pack(small)
put("small", small)
put("small_members.gz", pack(small[:4]) + pack(small[4:]))
put("garbage_behind.gz", member + b"this is no gzip data")
put("zeros_then_garbage.gz", member + bytes(600) + b"x")
put("second_truncated.gz", member + member[:-9])
put("bad_crc.gz", member[:-8] + b"\0\0\0\0" + member[-4:])
put("bad_length.gz", member[:-4] + b"\0\0\0\0")
