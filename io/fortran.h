// SPDX-License-Identifier: Apache-2.0
// Row ranges of an array that a file holds in Fortran order (first axis fastest).
#ifndef PS_IO_FORTRAN_H
#define PS_IO_FORTRAN_H

#include "io/format.h"

struct ps_fortran {
    int file;
    const char *path;
    uint64_t offset;              // of the first element
    const struct ps_array *array; // rank >= 1, rows known, checked against the file's size
};

// Reads rows [first_row, first_row + rows) into data in C order. Memory: about 1 MiB. Fills in
// result->bytes (read from the file, gaps included) and adds to result->decode_ms. Thread-safe.
bool ps_fortran_read(const struct ps_fortran *source, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error);

#endif
