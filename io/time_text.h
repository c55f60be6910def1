// SPDX-License-Identifier: Apache-2.0
// Dates and times of ISO 8601 (of which RFC 3339 is a part) as numbers since 1970-01-01T00:00:00Z,
// in the Gregorian calendar for all years, without leap seconds (POSIX time).
//   date      2024-02-29 or 20240229, years 0000 to 9999
//   time      behind a T, t or blank: 06:30, 06:30:15, 0630, 063015; a fraction of the second
//   behind
//             '.' or ','; 24:00:00 is the end of the day. Not given: 00:00:00
//   zone      behind the time: Z, z, +01, +0100, +01:00, up to 23:59. Not given: UTC
// Second 60 is refused: POSIX time has no place for it. Week and ordinal dates are not read.
#ifndef PS_IO_TIME_TEXT_H
#define PS_IO_TIME_TEXT_H

#include "io/format.h"

// Correctly rounded, with any number of digits in the fraction. false: not such a text.
bool ps_text_to_seconds(const char *text, size_t length, double *seconds_out);
// Exact. Out of range before 1677-09-21 and after 2262-04-11, and for digits behind the ninth of
// the fraction that are not 0.
enum ps_number_fit ps_text_to_nanoseconds(const char *text, size_t length,
                                          int64_t *nanoseconds_out);

#endif
