// SPDX-License-Identifier: Apache-2.0
// Finding out how a CSV file is to be read, for people who ask (`inspect`, `init`): never while a
// job reads it. The way that makes the most sense of the first records wins.
#ifndef PS_IO_CSV_GUESS_H
#define PS_IO_CSV_GUESS_H

#include "io/csv_types.h"

#define PS_CSV_GUESS_RECORDS 1000

struct ps_csv_guess {
    struct ps_csv_rules rules;     // borrows only static data
    struct ps_csv_sample sample;   // without the header
    struct ps_csv_columns columns; // all of them chosen
    enum ps_csv_look *looks;       // per column
    int ragged;                    // records with another number of fields
    bool is_cut;                   // the file has more records
};

// Errors as a reader's: not a text, empty, quotes that are never closed.
bool ps_csv_guess_find(const char *path, struct ps_csv_guess *guess_out, struct ps_error *error);
// Whether there is a column that can be read.
bool ps_csv_guess_has_numbers(const struct ps_csv_guess *guess);
// The keys of an `inputs:` entry that read it so ("separator: \";\", columns: [0, 2]"); "" when the
// defaults do.
void ps_csv_guess_keys(const struct ps_csv_guess *guess, const char *path, struct ps_text *out);
void ps_csv_guess_free(struct ps_csv_guess *guess);

#endif
