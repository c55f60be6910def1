// SPDX-License-Identifier: Apache-2.0
// Bytes that come only in order (a pipe, standard input, unpacked gzip data), asked for by place.
// Going forward skips; going back starts again, where that can be done.
#ifndef PS_IO_BYTE_STREAM_H
#define PS_IO_BYTE_STREAM_H

#include "io/byte_reader.h"
#include "io/bytes.h"

struct ps_byte_stream {
    struct ps_byte_reader *reader;
    const char *name; // for messages
    uint64_t at;      // of the next byte
};

// Whether a path has to be read as a stream: standard input, a pipe, a file packed by gzip (told by
// its name, or by its first bytes when `by_content`).
bool ps_path_is_stream(const char *path, bool by_content);
bool ps_byte_stream_open(struct ps_byte_stream *stream, const char *path, enum ps_packing packing,
                         struct ps_error *error);
// Up to `size` bytes from `at` on; *got_out is less only at the end.
bool ps_byte_stream_read(struct ps_byte_stream *stream, uint64_t at, void *data, size_t size,
                         size_t *got_out, struct ps_error *error);
// How many bytes there are from `at` on: reads to the end, so checksums are verified.
bool ps_byte_stream_rest(struct ps_byte_stream *stream, uint64_t at, uint64_t *bytes_out,
                         struct ps_error *error);
void ps_byte_stream_close(struct ps_byte_stream *stream);

// The stream as bytes of unknown size; it must outlive them.
struct ps_bytes ps_byte_stream_bytes(struct ps_byte_stream *stream);

#endif
