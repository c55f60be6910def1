#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/times.txt: ISO 8601 texts, and what they are by Python's datetime and fractions.

A line is text, bits of f64 seconds, i64 nanoseconds, separated by tabs; '-' where there is no answer.
"""
import os
import random
import struct
from datetime import datetime, timedelta, timezone
from fractions import Fraction

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def line(text, moment, fraction=Fraction(0)):
    delta = moment - EPOCH
    exact = Fraction(delta.days * 86400 + delta.seconds) + fraction
    seconds = struct.pack(">d", exact.numerator / exact.denominator).hex()
    nanoseconds = exact * 10**9
    fits = nanoseconds.denominator == 1 and -2**63 <= nanoseconds < 2**63
    return "%s\t%s\t%s\n" % (text, seconds, nanoseconds if fits else "-")


def some(generator):
    moment = datetime(generator.choice([1, 1582, 1677, 1900, 1969, 1970, 2000, 2024, 2262, 9998]), 1, 1,
                      tzinfo=timezone.utc) + timedelta(seconds=generator.randrange(366 * 86400))
    offset = generator.choice([0, 0, 60, -90, 14 * 60, -12 * 60, 23 * 60 + 59])
    local = moment + timedelta(minutes=offset)
    digits = "".join(generator.choice("0123456789") for _ in range(generator.choice([0, 0, 1, 3, 6, 9, 12, 30])))
    basic = generator.random() < 0.3
    text = local.strftime("%Y%m%d" if basic else "%Y-%m-%d").rjust(8 if basic else 10, "0")
    text += generator.choice("Tt ") + local.strftime("%H%M%S" if basic else "%H:%M:%S")
    text += (generator.choice(".,") + digits) if digits else ""
    sign, minutes = "-" if offset < 0 else "+", abs(offset)
    zone = "%s%02d%s%02d" % (sign, minutes // 60, "" if basic else ":", minutes % 60)
    text += zone if offset else generator.choice(["", "Z", "z", "+00:00", "+00"])
    return line(text, moment, Fraction(int(digits or 0), 10 ** len(digits)))


def main():
    generator = random.Random(7)
    utc = timezone.utc
    lines = [
        line("1970-01-01", EPOCH), line("19700101", EPOCH), line("1970-01-01T00:00", EPOCH),
        line("2024-02-29", datetime(2024, 2, 29, tzinfo=utc)), line("2000-02-29", datetime(2000, 2, 29, tzinfo=utc)),
        line("2023-12-31T24:00:00", datetime(2024, 1, 1, tzinfo=utc)),
        line("2023-12-31T24:00:00.000", datetime(2024, 1, 1, tzinfo=utc)),
        line("2262-04-11T23:47:16.854775807Z", datetime(2262, 4, 11, 23, 47, 16, tzinfo=utc), Fraction(854775807, 10**9)),
        line("2262-04-11T23:47:16.854775808Z", datetime(2262, 4, 11, 23, 47, 16, tzinfo=utc), Fraction(854775808, 10**9)),
        line("1677-09-21T00:12:43.145224192Z", datetime(1677, 9, 21, 0, 12, 43, tzinfo=utc), Fraction(145224192, 10**9)),
        line("1677-09-21T00:12:43.145224191Z", datetime(1677, 9, 21, 0, 12, 43, tzinfo=utc), Fraction(145224191, 10**9)),
        line("1969-12-31T23:59:59.999999999", EPOCH - timedelta(seconds=1), Fraction(999999999, 10**9)),
        line("2024-01-01T00:00:00.1234567890", datetime(2024, 1, 1, tzinfo=utc), Fraction(123456789, 10**9)),
    ]
    lines += [some(generator) for _ in range(600)]
    for text in ["", "2024", "2024-1-1", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-32",
                 "2024-04-31", "2024-01-01T", "2024-01-01T1", "2024-01-01T24:00:01", "2024-01-01T24:01",
                 "2024-01-01T23:60", "2024-06-30T23:59:60", "2024-01-01T00:00:00.", "2024-01-01T00:00:00+",
                 "2024-01-01T00:00:00+24", "2024-01-01T00:00:00+01:60", "2024-01-01T00:00:00 Z", "2024-01-01Z",
                 "2024-01-01  00:00", "2024-W01-1", "2024-001", "24-01-01", "+2024-01-01", "2024-0101", "202401-01",
                 "2024-01-01T00:00:00Zx", "20240101000000", "1.5", "now"]:
        lines.append(text + "\t-\t-\n")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "times.txt"), "w", encoding="ascii") as f:
        f.writelines(lines)


main()
