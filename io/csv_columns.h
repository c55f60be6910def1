// SPDX-License-Identifier: Apache-2.0
// The columns of a CSV file: their names, and which of them are read.
#ifndef PS_IO_CSV_COLUMNS_H
#define PS_IO_CSV_COLUMNS_H

#include "io/csv_scan.h"
#include "io/format.h"

struct ps_csv_columns {
    int count, capacity;
    char **first;          // the fields of the first record, as text
    char **names;          // per field: from the header, made unique; without one c0, c1, ...
    int *slots;            // per field: its place in a row of the result, or -1
    int chosen_count;
    const char **chosen_names; // borrowed from names
};

// One more field of the first record.
bool ps_csv_columns_add(struct ps_csv_columns *columns, const char *text, size_t length,
                        struct ps_error *error);
// Fills in names and slots. wanted: names and positions; not given: all.
bool ps_csv_columns_choose(struct ps_csv_columns *columns, const struct ps_value *wanted,
                           const char *path, bool has_header, struct ps_error *error);
void ps_csv_columns_free(struct ps_csv_columns *columns);

// The option `separator`, or what the path's suffix says.
bool ps_csv_separator(const struct ps_values *options, const char *path, char *out,
                      struct ps_error *error);

extern const struct ps_format_writer ps_csv_writer;
bool ps_csv_inspect(const char *path, struct ps_text *out, struct ps_error *error);

#endif
