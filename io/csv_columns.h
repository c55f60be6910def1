// SPDX-License-Identifier: Apache-2.0
// The columns of a CSV file: their names, and which of them are read.
#ifndef PS_IO_CSV_COLUMNS_H
#define PS_IO_CSV_COLUMNS_H

#include "io/csv_dialect.h"
#include "io/format.h"

struct ps_csv_columns {
    int count;
    char **first; // the names as the file or the config gives them; NULL without any
    char **names; // per field: the same, made unique; c0, c1, ... for those without a name
    int *slots;   // per field: its place in a row of the result, or -1
    int chosen_count;
    int *chosen;               // per place in a row: the field
    const char **chosen_names; // borrowed from names
};

// Names from the header (a record), from the config (`given`), or neither (both NULL): c0, c1, ...
// for `count` fields. name is the file's, for messages.
bool ps_csv_columns_name(struct ps_csv_columns *columns, int count,
                         const struct ps_csv_record *header, const struct ps_value *given,
                         const char *name, struct ps_error *error);
// Fills in slots and chosen. wanted (the option `columns`): positions, names, ranges of either
// ("2:5" without its end, "a:c" with it), patterns ("t_*"); words in quotes are names. Not given:
// all.
bool ps_csv_columns_choose(struct ps_csv_columns *columns, const struct ps_value *wanted,
                           const char *name, struct ps_error *error);
// The field that a word names: a position unless it is quoted, else a name. -1 on failure: no such
// column (PS_INPUT), one that several have.
int ps_csv_columns_find(const struct ps_csv_columns *columns, const char *word, bool quoted,
                        const char *name, struct ps_error *error);
void ps_csv_columns_free(struct ps_csv_columns *columns);

extern const struct ps_format_writer ps_csv_writer;
extern const struct ps_option ps_csv_write_options[];
bool ps_csv_inspect(const char *path, struct ps_text *out, struct ps_error *error);

#endif
