// SPDX-License-Identifier: Apache-2.0
// One field of a CSV file as a number: what it looks like, and its conversion. Strict: nothing
// becomes NaN that was not called missing.
#ifndef PS_IO_CSV_FIELD_H
#define PS_IO_CSV_FIELD_H

#include "base/dtype.h"
#include "io/csv_dialect.h"

// What the texts of a column stand for.
enum ps_csv_meaning {
    PS_CSV_NUMBERS,
    PS_CSV_SECONDS,     // ISO 8601 as f64 seconds since 1970-01-01T00:00:00Z
    PS_CSV_NANOSECONDS, // ISO 8601 as i64 nanoseconds since then
};

struct ps_csv_type {
    enum ps_csv_meaning meaning;
    enum ps_dtype dtype;
    bool automatic; // found in a sample, not asked for
};

// What a field looks like, for finding the type of its column.
enum ps_csv_look {
    PS_CSV_LOOKS_MISSING,
    PS_CSV_LOOKS_TRUTH,    // true or false in any case
    PS_CSV_LOOKS_WHOLE,    // a whole number that f64 and i64 hold exactly
    PS_CSV_LOOKS_SIGNED,   // one that i64 holds and f64 does not
    PS_CSV_LOOKS_UNSIGNED, // one that u64 holds and i64 does not
    PS_CSV_LOOKS_NUMBER,   // any other number
    PS_CSV_LOOKS_TIME,
    PS_CSV_LOOKS_TEXT,
};
enum ps_csv_look ps_csv_field_look(const struct ps_csv_rules *rules, const char *text,
                                   size_t length, struct ps_text *scratch);

// How a conversion went. The value is stored for the first three.
enum ps_csv_fit {
    PS_CSV_FITS,
    PS_CSV_ROUNDED,  // a whole number lost digits in a float
    PS_CSV_INFINITE, // a finite number is beyond the float's range
    PS_CSV_NOT_A_NUMBER,
    PS_CSV_NOT_WHOLE,
    PS_CSV_NOT_A_TRUTH,
    PS_CSV_NOT_A_TIME,
    PS_CSV_OUT_OF_RANGE, // of the column's dtype
    PS_CSV_MISSING,      // and the dtype holds no missing values
    PS_CSV_NOT_IN_ARRAY, // the column's dtype holds it, the array's does not
};
// Stores the field in the dtype of the array, through the column's. Blanks and tabs around it do
// not belong to it. scratch: for texts that have to be rewritten; its content means nothing.
enum ps_csv_fit ps_csv_field_store(const struct ps_csv_rules *rules, const struct ps_csv_type *type,
                                   enum ps_dtype array, const char *text, size_t length, void *to,
                                   struct ps_text *scratch);
// "is not a number", "is out of the range of": what an error says of the field.
const char *ps_csv_fit_text(enum ps_csv_fit fit);

#endif
