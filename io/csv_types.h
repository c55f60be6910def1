// SPDX-License-Identifier: Apache-2.0
// What the columns of a CSV file are read as: the option `dtype`, and what a sample of the file
// says where it does not. And the sample itself: the first records, kept as text.
#ifndef PS_IO_CSV_TYPES_H
#define PS_IO_CSV_TYPES_H

#include "io/csv_columns.h"
#include "io/csv_field.h"

// ---- The sample ----

struct ps_csv_sample {
    int count;      // records
    int64_t *lines; // of each
    size_t *first;  // index of its first field; first[count] is where the next one's would be
    size_t field_count;
    size_t *ends; // of each field's text, counted from the start of `text`
    bool *quoted;
    struct ps_text text;
    int capacity;
    size_t field_capacity;
};

bool ps_csv_sample_add(struct ps_csv_sample *sample, const struct ps_csv_record *record,
                       struct ps_error *error);
// fields: room for the record's fields. The text is borrowed from the sample.
struct ps_csv_record ps_csv_sample_get(const struct ps_csv_sample *sample, int i,
                                       struct ps_csv_field *fields);
int ps_csv_sample_widest(const struct ps_csv_sample *sample); // most fields of a record
void ps_csv_sample_free(struct ps_csv_sample *sample);

// ---- Types ----

// The words of the option `dtype`: the dtypes, "auto", "time_s", "time_ns".
#define PS_CSV_TYPE_WORDS "auto|bool|i8|i16|i32|i64|u8|u16|u32|u64|f16|f32|f64|time_s|time_ns"

// What all fields of a column look like: the type that holds them.
enum ps_csv_look ps_csv_looks_join(enum ps_csv_look a, enum ps_csv_look b);

// types_out: one per chosen column (malloc'ed); array_out: the dtype of the array, the one asked
// for all, or NumPy's promotion of the columns'. Columns of type auto are f64; whole numbers that
// f64 cannot hold make i64 or u64, and true and false make bool, when the sample holds nothing
// else. Errors: `dtype` names a column that is not read, or one twice
// (PS_USAGE).
bool ps_csv_types_find(const struct ps_value *dtype, const struct ps_csv_columns *columns,
                       const struct ps_csv_rules *rules, const struct ps_csv_sample *sample,
                       const char *name, struct ps_csv_type **types_out, enum ps_dtype *array_out,
                       struct ps_error *error);
// Whether any column's type is to be found in a sample.
bool ps_csv_types_need_sample(const struct ps_value *dtype);

#endif
