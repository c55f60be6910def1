// SPDX-License-Identifier: Apache-2.0
// Whole reads and writes at an offset, restarted where the system stops short.
#ifndef PS_IO_FILE_H
#define PS_IO_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

// The length of a path without ".gz" at its end: the suffix before it tells the format.
size_t ps_path_bare_length(const char *path);
// The path as messages name it: "-" is "standard input".
const char *ps_path_shown(const char *path);
// Opens a regular file for reading and tells its size. -1 on failure.
int ps_file_open(const char *path, uint64_t *bytes_out, struct ps_error *error);
// Exactly `bytes` bytes; the file ending before is an error ("ends at byte ...").
bool ps_file_read(int file, const char *path, uint64_t offset, void *data, size_t bytes,
                  struct ps_error *error);
bool ps_file_write(int file, const char *path, uint64_t offset, const void *data, size_t bytes,
                   struct ps_error *error);
// Creates or opens the (temporary) file of an output for writing. -1 on failure.
int ps_file_create(const char *path, struct ps_error *error);

#endif
