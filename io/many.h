// SPDX-License-Identifier: Apache-2.0
// One array out of many files of one format, row after row. A reader of readers: only the wrapper
// (io/reader.c) calls it, for readers with more than one path.
#ifndef PS_IO_MANY_H
#define PS_IO_MANY_H

#include "io/format.h"

// Opens every file once and compares shapes, dtypes and column names with those of the first; a
// difference is PS_INPUT and names both files. Fills in the reader's array (rows: the sum, unknown
// where a file's are), flags (what all files allow), way and file_bytes. At most 8 files, or as
// many as are being read at once, stay open. Pipes are refused. To be closed also after a failure.
bool ps_many_open(struct ps_reader *reader, struct ps_error *error);
// As a format's read. Errors come from the file's own reader, and name it.
bool ps_many_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                  struct ps_read_result *result, struct ps_error *error);
void ps_many_close(struct ps_reader *reader);

// Whether b's rows can follow a's: same axes but the first, dtype and names; else PS_INPUT, naming
// both paths (io/many_compare.c).
bool ps_many_compare(const char *a_path, const struct ps_array *a, const char *b_path,
                     const struct ps_array *b, const struct ps_values *options,
                     struct ps_error *error);

#endif
