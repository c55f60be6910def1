// SPDX-License-Identifier: Apache-2.0
#include "io/byte_writer.h"

#include "io/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (1u << 20)
#define GZIP_WINDOW (15 + 16) // zlib: the largest window, gzip header and trailer

struct ps_byte_writer {
    const char *name; // the final path, for messages
    int file;         // -1: closed
    bool is_stream;   // standard output
    bool deflating;
    z_stream stream;
    unsigned char *buffer; // of bytes that are ready to be written
    size_t used;
};

int ps_gzip_level(const struct ps_writer *writer)
{
    const struct ps_value *level = ps_values_get(writer->options, "gzip");
    bool named_gz = writer->path[ps_path_bare_length(writer->path)] != '\0';
    return level->automatic ? (named_gz ? 6 : 0) : (int)level->integer;
}

static bool start_gzip(struct ps_byte_writer *out, int level, struct ps_error *error)
{
    out->deflating =
        deflateInit2(&out->stream, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    return out->deflating || ps_fail_memory(error, 1u << 18, "packing by gzip");
}

struct ps_byte_writer *ps_byte_writer_open(const struct ps_writer *writer, int gzip_level,
                                           struct ps_error *error)
{
    struct ps_byte_writer *out = calloc(1, sizeof *out);
    if (out == NULL) {
        ps_fail_memory(error, sizeof *out, "a writer");
        return NULL;
    }
    out->name = strcmp(writer->path, "-") == 0 ? "standard output" : writer->path;
    out->is_stream = strcmp(writer->temp_path, "-") == 0;
    out->file = -1;
    out->buffer = malloc(BUFFER_BYTES);
    bool fine = out->buffer != NULL || ps_fail_memory(error, BUFFER_BYTES, "a writer");
    if (fine)
        out->file = out->is_stream ? STDOUT_FILENO : ps_file_create(writer->temp_path, error);
    if (out->file >= 0 && (gzip_level == 0 || start_gzip(out, gzip_level, error)))
        return out;
    ps_byte_writer_close(out);
    return NULL;
}

static bool write_all(struct ps_byte_writer *out, const unsigned char *data, size_t size,
                      struct ps_error *error)
{
    while (size > 0) {
        ssize_t wrote = write(out->file, data, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return ps_fail_errno(error, PS_OUTPUT, "cannot write %s", out->name);
        data += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static bool flush(struct ps_byte_writer *out, struct ps_error *error)
{
    size_t used = out->used;
    out->used = 0;
    return write_all(out, out->buffer, used, error);
}

// Packs what the stream has at its input; at the end also the trailer.
static bool deflate_all(struct ps_byte_writer *out, int mode, struct ps_error *error)
{
    int result = Z_OK;
    do {
        if (out->used == BUFFER_BYTES && !flush(out, error))
            return false;
        uInt room = (uInt)(BUFFER_BYTES - out->used);
        out->stream.next_out = out->buffer + out->used;
        out->stream.avail_out = room;
        result = deflate(&out->stream, mode);
        out->used += room - out->stream.avail_out;
        if (result == Z_STREAM_ERROR)
            return ps_fail(error, PS_BUG, "%s: zlib's state is broken", out->name);
    } while (mode == Z_FINISH ? result != Z_STREAM_END : out->stream.avail_in > 0);
    return true;
}

static bool put_packed(struct ps_byte_writer *out, const unsigned char *data, size_t size,
                       struct ps_error *error)
{
    while (size > 0) {
        uInt part = size < 1u << 30 ? (uInt)size : 1u << 30;
        out->stream.next_in = (unsigned char *)data; // zlib does not write to it
        out->stream.avail_in = part;
        if (!deflate_all(out, Z_NO_FLUSH, error))
            return false;
        data += part;
        size -= part;
    }
    return true;
}

bool ps_byte_writer_put(struct ps_byte_writer *out, const void *data, size_t size,
                        struct ps_error *error)
{
    if (out->deflating)
        return put_packed(out, data, size, error);
    if (size >= BUFFER_BYTES)
        return flush(out, error) && write_all(out, data, size, error);
    if (size > BUFFER_BYTES - out->used && !flush(out, error))
        return false;
    if (size > 0)
        memcpy(out->buffer + out->used, data, size);
    out->used += size;
    return true;
}

bool ps_byte_writer_can_patch(const struct ps_byte_writer *out)
{
    return !out->is_stream && !out->deflating;
}

bool ps_byte_writer_patch(struct ps_byte_writer *out, uint64_t at, const void *data, size_t size,
                          struct ps_error *error)
{
    return flush(out, error) && ps_file_write(out->file, out->name, at, data, size, error);
}

bool ps_byte_writer_finish(struct ps_byte_writer *out, struct ps_error *error)
{
    if ((out->deflating && !deflate_all(out, Z_FINISH, error)) || !flush(out, error))
        return false;
    int file = out->file;
    out->file = -1;
    return out->is_stream || close(file) == 0 ||
           ps_fail_errno(error, PS_OUTPUT, "cannot write %s", out->name);
}

void ps_byte_writer_close(struct ps_byte_writer *out)
{
    if (out == NULL)
        return;
    if (out->deflating)
        deflateEnd(&out->stream);
    if (out->file > STDOUT_FILENO)
        close(out->file);
    free(out->buffer);
    free(out);
}
