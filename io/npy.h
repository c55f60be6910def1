// SPDX-License-Identifier: Apache-2.0
// What the formats npy and npz share: reading the array of one .npy file out of any bytes.
#ifndef PS_IO_NPY_H
#define PS_IO_NPY_H

#include "io/complex.h"
#include "io/format.h"
#include "io/npy_header.h"

// The options of both.
#define PS_NPY_READ_OPTIONS                                                                        \
    {.key = "columns",                                                                             \
     .kind = PS_WORDS,                                                                             \
     .help = "Members of a structured array to read: names, positions from 0, ranges (2:5, a:c), " \
             "patterns (t_*); in quotes always a name; all if unset"},                             \
        {.key = "dates",                                                                           \
         .kind = PS_CHOICE,                                                                        \
         .choices = "time_s|time_ns",                                                              \
         .help = "What datetime64 and timedelta64 are read as: f64 seconds (since "                \
                 "1970-01-01T00:00Z) or i64 nanoseconds; must be said"},                           \
        PS_COMPLEX_OPTION,                                                                         \
    {                                                                                              \
        .key = "dtype", .kind = PS_DTYPE,                                                          \
        .help = "Dtype of the array; a value that it cannot hold is an error; the file's "         \
                "(members: the one that holds all of them) if unset"                               \
    }

struct ps_npy {
    struct ps_bytes bytes; // of the whole .npy file
    struct ps_npy_header header;
    struct ps_record_choice choice; // of its members, unless elements are read as they are
    bool converted;                 // by choice
    enum ps_complex form;           // of pairs that choice gives, where computed
    bool computed;                  // what is read are magnitudes or phases
    uint64_t extra_bytes;           // behind the array
};

extern const struct ps_format_writer ps_npy_writer; // io/npy_write.c

// bytes are set. Reads the header, chooses by the reader's options and fills in the reader's array
// and way. Warns of bytes behind the array. To be freed also after a failure.
bool ps_npy_open(struct ps_npy *npy, struct ps_reader *reader, struct ps_error *error);
// As a format's read. Thread-safe if reading the bytes is; asks for them in order when rows are
// asked for in order, unless they are in Fortran order.
bool ps_npy_read(const struct ps_npy *npy, int64_t first_row, int64_t rows, void *data,
                 struct ps_read_result *result, struct ps_error *error);
void ps_npy_free(struct ps_npy *npy);

// "array: f64[3, 4] (stored as '<f8', C order)" and the members of records.
void ps_npy_describe(const struct ps_npy_header *header, struct ps_text *out);
// What an `inputs:` entry needs besides the path: "columns: ['a', 'b']" where others cannot be
// read. Nothing is added when nothing is needed.
void ps_npy_entry(const struct ps_npy_header *header, struct ps_text *out);

#endif
