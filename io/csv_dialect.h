// SPDX-License-Identifier: Apache-2.0
// How a CSV file is read, as the config says it: the dialect, the header, what numbers look like.
#ifndef PS_IO_CSV_DIALECT_H
#define PS_IO_CSV_DIALECT_H

#include "base/option.h"
#include "io/csv_scan.h"

struct ps_csv_rules {
    struct ps_csv_dialect dialect;
    char decimal;          // '.' or ','
    const char *thousands; // one character between groups of three digits, or NULL
    const struct ps_value *missing;
    bool empty_is_wrong;          // an empty field is no missing value
    bool pad;                     // records that are too short are missing values
    bool has_header;              // the first record holds the names
    int64_t header_line;          // it has to start on this line; 0: on any
    const struct ps_value *names; // the names that the config gives instead, or NULL
};

// Everything in it is borrowed from options, which are of the format csv. PS_USAGE when characters
// contradict each other.
bool ps_csv_rules_read(const struct ps_values *options, const char *path,
                       struct ps_csv_rules *rules_out, struct ps_error *error);
// The option `separator` (one byte; the words tab and space), or what the path's suffix says. Of
// the writer as well.
bool ps_csv_separator(const struct ps_values *options, const char *path, char *out,
                      struct ps_error *error);

#endif
