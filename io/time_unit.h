// SPDX-License-Identifier: Apache-2.0
// NumPy's datetime64 and timedelta64: whole numbers of a unit, as seconds or nanoseconds (since
// 1970-01-01T00:00Z for dates).
#ifndef PS_IO_TIME_UNIT_H
#define PS_IO_TIME_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_time_unit {
    const char *name;
    int64_t seconds; // one of it, where that is whole; 0 for years and months of the calendar
    int decimals;    // else it is 10^-decimals seconds
};

#define PS_NOT_A_TIME INT64_MIN // NaT

// "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"; NULL: no such unit.
const struct ps_time_unit *ps_time_unit_find(const char *name, size_t length);
// Correctly rounded; NaN for NaT.
double ps_time_to_seconds(const struct ps_time_unit *unit, int64_t value);
// Exact. False: NaT, out of range (1677 to 2262), or no whole number of nanoseconds.
bool ps_time_to_nanoseconds(const struct ps_time_unit *unit, int64_t value, int64_t *out);

#endif
