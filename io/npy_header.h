// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file (NumPy format 1.0 to 3.0): a Python dict literal before the data.
#ifndef PS_IO_NPY_HEADER_H
#define PS_IO_NPY_HEADER_H

#include "io/bytes.h"
#include "io/npy_literal.h"
#include "io/record.h"

// What `descr` says of one element.
struct ps_npy_type {
    bool structured;         // has named members; else record has one member without a name, or
    bool is_complex;         // two, re and im
    struct ps_record record; // its bytes are those of an element
    const char *refused;     // static text: why the elements cannot be read at all, or NULL
    bool unsized;            // refused, and not even its size is known
    bool is_void;            // raw bytes: padding where it has no name
    int rank;                // axes of the element itself (sub-arrays), else 0
    int64_t dims[PS_RANK_MAX];
};

struct ps_npy_header {
    struct ps_array array;   // of the elements, without columns; dtype where not structured
    struct ps_npy_type type; // rank 0: its axes are the array's
    bool swapped;            // not structured, stored in the other byte order than this machine's
    bool fortran;            // first axis fastest, and that makes a difference
    uint64_t data_offset;    // of the first element in the file
    char descr[48];          // as in the file, escaped: "<f8"
};

// The `refused` of the parts of complex members, until `complex: parts` asks for them.
extern const char ps_npy_complex_member[];
// The same of dates and time differences, until `dates` does.
extern const char ps_npy_date_member[];

// Fills in type (empty so far) from the code of a single dtype.
bool ps_npy_code_parse(struct ps_literal *p, const char *text, struct ps_npy_type *type);
// Parses a dtype literal. type_out is to be freed also after a failure.
bool ps_npy_type_parse(struct ps_literal *p, struct ps_npy_type *type_out);
void ps_npy_type_free(struct ps_npy_type *type);

// Parses the dict text (not NUL-terminated, without the bytes before it). `major` is the format
// version: 1 and 2 may have Python 2's "3L". Fills in all but data_offset. PS_INPUT, naming path.
// To be freed when it succeeds.
bool ps_npy_header_parse(const char *text, size_t length, int major, const char *path,
                         struct ps_npy_header *header, struct ps_error *error);
void ps_npy_header_free(struct ps_npy_header *header);

// Reads and parses the header at the start of bytes, and checks that the data it claims is there.
// Bytes after the data are told in *extra_out.
bool ps_npy_header_read(const struct ps_bytes *bytes, struct ps_npy_header *header,
                        uint64_t *extra_out, struct ps_error *error);

// Bytes of the data, for elements of any size. False above 2^63; a size of zero still needs sizes
// that fit.
bool ps_npy_data_bytes(const struct ps_npy_header *header, uint64_t *bytes_out);

// Writes a version 1.0 header into out (NULL: only counts) and returns its length, a multiple of
// 64 that does not depend on dims[0], so that the row count can be filled in at the end.
#define PS_NPY_HEADER_BYTES 512
size_t ps_npy_header_write(const struct ps_array *array, int64_t rows, char *out);

#endif
