// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file (NumPy format 1.0 to 3.0): a Python dict literal before the data.
#ifndef PS_IO_NPY_HEADER_H
#define PS_IO_NPY_HEADER_H

#include "base/array.h"

struct ps_npy_header {
    struct ps_array array; // without columns
    bool swapped;          // stored in the other byte order than this machine's
    bool fortran;          // first axis fastest, and that makes a difference
    uint64_t data_offset;  // of the first element in the file
    char descr[48];        // as in the file, escaped: "<f8"
};

// Parses the dict text (not NUL-terminated, without the bytes before it). `major` is the format
// version: 1 and 2 may have Python 2's "3L". Fills in all but data_offset. PS_INPUT, naming path.
bool ps_npy_header_parse(const char *text, size_t length, int major, const char *path,
                         struct ps_npy_header *header, struct ps_error *error);

// Reads and parses the header of an open file of file_bytes bytes, and checks that the data it
// claims is there. Bytes after the data are told in *extra_out.
bool ps_npy_header_read(int file, const char *path, uint64_t file_bytes,
                        struct ps_npy_header *header, uint64_t *extra_out, struct ps_error *error);

// Writes a version 1.0 header into out (NULL: only counts) and returns its length, a multiple of
// 64 that does not depend on dims[0], so that the row count can be filled in at the end.
#define PS_NPY_HEADER_BYTES 512
size_t ps_npy_header_write(const struct ps_array *array, int64_t rows, char *out);

#endif
