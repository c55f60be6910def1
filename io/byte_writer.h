// SPDX-License-Identifier: Apache-2.0
// Bytes of an output, one after the other, into its temporary file or to standard output, packed by
// gzip (one member, no time stamp: the same bytes again) when asked for.
#ifndef PS_IO_BYTE_WRITER_H
#define PS_IO_BYTE_WRITER_H

#include "io/format.h"

struct ps_byte_writer;

// "compression" of formats that may be packed: 0 none, 1 to 9 zlib's levels.
#define PS_GZIP_OPTION                                                                             \
    {                                                                                              \
        .key = "gzip", .kind = PS_COUNT, .fallback = "auto", .min = 0, .max = 9,                   \
        .help =                                                                                    \
            "level of packing by gzip; 0: not packed; auto: 6 when the path ends in .gz, else 0"   \
    }

// Level from the option above and the path.
int ps_gzip_level(const struct ps_writer *writer);
// Where writer->temp_path says; its strings are borrowed. NULL on failure.
struct ps_byte_writer *ps_byte_writer_open(const struct ps_writer *writer, int gzip_level,
                                           struct ps_error *error);
bool ps_byte_writer_put(struct ps_byte_writer *out, const void *data, size_t size,
                        struct ps_error *error);
// Whether bytes that were written can be replaced: not packed, not a pipe.
bool ps_byte_writer_can_patch(const struct ps_byte_writer *out);
bool ps_byte_writer_patch(struct ps_byte_writer *out, uint64_t at, const void *data, size_t size,
                          struct ps_error *error);
// Everything to the file, which is closed. Errors of the disk that come late come here.
bool ps_byte_writer_finish(struct ps_byte_writer *out, struct ps_error *error);
void ps_byte_writer_close(struct ps_byte_writer *out); // frees; NULL is fine

#endif
