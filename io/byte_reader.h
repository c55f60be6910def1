// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, a pipe or standard input, one after the other, unpacked when they are gzip
// data (RFC 1952): any number of members, zeros behind the last one allowed, every checksum and
// length verified. Knows nothing of what the bytes mean.
#ifndef PS_IO_BYTE_READER_H
#define PS_IO_BYTE_READER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum ps_packing {
    PS_PACKING_AUTO, // gzip when the first bytes say so; a name in .gz without it is warned of
    PS_PACKING_NONE, // the bytes as they are
    PS_PACKING_GZIP, // anything else is an error
};

struct ps_byte_reader;

// path is borrowed; "-" is standard input, which is not closed. NULL on failure.
struct ps_byte_reader *ps_byte_reader_open(const char *path, enum ps_packing packing,
                                           struct ps_error *error);
// The next `size` bytes; *got_out is less only at the end. Truncated or damaged gzip data and
// anything else behind it are PS_INPUT errors that name the member (from 1) and the byte of the
// file.
bool ps_byte_reader_read(struct ps_byte_reader *reader, void *data, size_t size, size_t *got_out,
                         struct ps_error *error);
// From the start again; an error for what can be read only once.
bool ps_byte_reader_rewind(struct ps_byte_reader *reader, struct ps_error *error);
bool ps_byte_reader_is_gzip(const struct ps_byte_reader *reader);
// Bytes taken from the file so far, packed as they lie there, over all passes.
uint64_t ps_byte_reader_taken(const struct ps_byte_reader *reader);
void ps_byte_reader_close(struct ps_byte_reader *reader); // NULL is fine

#endif
