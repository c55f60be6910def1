// SPDX-License-Identifier: Apache-2.0
// Row ranges of an array that a file holds in Fortran order (first axis fastest).
#ifndef PS_IO_FORTRAN_H
#define PS_IO_FORTRAN_H

#include "io/bytes.h"
#include "io/format.h"

struct ps_fortran {
    const struct ps_bytes *bytes; // can be read at any place
    uint64_t offset;              // of the first element
    size_t element_bytes;         // of any size; the array's dtype means nothing here
    const struct ps_array *array; // rank >= 1, rows known, checked against the file's size
};

// Reads rows [first_row, first_row + rows) into data in C order. Memory: about 1 MiB, or 64
// elements. Fills in result->bytes (read from the file, gaps included) and adds to
// result->decode_ms. As thread-safe as reading the bytes is.
bool ps_fortran_read(const struct ps_fortran *source, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error);

#endif
