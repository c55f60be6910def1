// SPDX-License-Identifier: Apache-2.0
// Members of fixed-size records (structured .npy files, HDF5 compounds): which are read, as what
// array, and their values out of the bytes of many records. Knows no file.
#ifndef PS_IO_RECORD_H
#define PS_IO_RECORD_H

#include "base/array.h"
#include "base/option.h"

// A number, or an array of numbers, at a fixed place of every record. A member of a record in a
// record is named "outer.inner", "outer[1].inner" when the outer one is an array.
struct ps_member {
    char *name; // owned, unique in its record
    enum ps_dtype dtype;
    bool swapped;  // stored in the other byte order than this machine's
    size_t offset; // of its first byte in the record
    int64_t count; // elements: the product of dims, 1 for a scalar
    int rank;      // 0 for a scalar
    int64_t dims[PS_RANK_MAX];
    const struct ps_time_unit *time; // stored as whole numbers (i64) of this unit, or NULL: the
                                     // dtype is f64 for seconds, i64 for nanoseconds
    const char *refused; // static text: why it cannot be read ("text, not numbers"), or NULL
};

struct ps_record {
    size_t bytes;
    int member_count;
    struct ps_member *members; // owned
};

// Appends a member (the name is copied) and returns it, to be filled in further. NULL after a
// failure: out of memory, or more than PS_MEMBERS_MAX of them (PS_INPUT, naming path).
#define PS_MEMBERS_MAX 65536
struct ps_member *ps_record_add(struct ps_record *record, const char *name, const char *path,
                                struct ps_error *error);
void ps_record_free(struct ps_record *record);

// The member of that name (of length bytes), or NULL.
const struct ps_member *ps_record_find(const struct ps_record *record, const char *name,
                                       size_t length);
// "v[2]", "m[0,1]": the member and the position of the element in it, or NULL.
const struct ps_member *ps_record_find_element(const struct ps_record *record, const char *word,
                                               int64_t *position_out);
// The name of an element in that form; the member's own when it is a scalar. NULL: out of memory.
char *ps_member_element_name(const struct ps_member *member, int64_t position);
// "no column 'WORD' in PATH (columns: ...)", with the nearest one. Always false.
bool ps_record_unknown(const struct ps_record *record, const char *word, const char *path,
                       struct ps_error *error);

// Elements that lie together in the record and in the row.
struct ps_record_run {
    const struct ps_member *member;
    int64_t first, count; // elements of the member
    int64_t slot;         // of the first one in the row
    bool element;         // chosen as "v[2]", not as a whole member
};

struct ps_record_choice {
    const struct ps_record *record;
    enum ps_dtype dtype; // of the array: the one given, else NumPy's promotion of the chosen ones
    int64_t count;       // elements that each record gives
    int rank;            // axes that they add to the array of records
    int64_t dims[PS_RANK_MAX];
    char **names; // of the last axis (dims[0] of them), or NULL
    int run_count, run_capacity;
    struct ps_record_run *runs;
};

// columns: names, positions of members from 0, ranges of either ("2:5" without its end, "a:c" with
// it), patterns ("t_*"), "v[2]" for one element of an array; the name of a record in a record
// chooses all its members; words in quotes are names. Not given: all. dtype: may be not given.
// One scalar adds no axis; one array member (alone) its own axes; else one axis, with names.
// The record must outlive the choice. Errors name path; PS_USAGE for columns that are not there.
bool ps_record_choose(const struct ps_record *record, const struct ps_value *columns,
                      const struct ps_value *dtype, const char *path,
                      struct ps_record_choice *choice_out, struct ps_error *error);
void ps_record_choice_free(struct ps_record_choice *choice);

// array is that of the records (its dtype means nothing): adds the choice's axes, names and dtype.
bool ps_record_array(const struct ps_record_choice *choice, const char *path,
                     struct ps_array *array, struct ps_error *error);

// Where records come from, for errors: record i of a call is in row (first_record + i) /
// row_records.
struct ps_record_place {
    const char *path;
    int64_t first_record, row_records;
};

// count records of record->bytes bytes each into count * choice->count elements of choice->dtype.
// A value that the dtype cannot hold is an error with row, column and value (a float that is
// rounded to a narrower one, as asked for by dtype, is none). Thread-safe.
bool ps_record_decode(const struct ps_record_choice *choice, struct ps_record_place place,
                      const void *records, int64_t count, void *data, struct ps_error *error);

#endif
