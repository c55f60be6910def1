// SPDX-License-Identifier: Apache-2.0
#include "io/byte_stream.h"

#include "io/file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SKIP_BYTES (64u << 10)

bool ps_path_is_stream(const char *path, bool by_content)
{
    struct stat status;
    unsigned char head[2] = {0};
    if (strcmp(path, "-") == 0)
        return true;
    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode))
        return false; // opening it says what is wrong
    if (!S_ISREG(status.st_mode))
        return S_ISFIFO(status.st_mode); // devices are refused when they are opened
    if (path[ps_path_bare_length(path)] != '\0')
        return true;
    int file = by_content ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return false;
    bool packed = pread(file, head, 2, 0) == 2 && head[0] == 0x1f && head[1] == 0x8b;
    close(file);
    return packed;
}

bool ps_byte_stream_open(struct ps_byte_stream *stream, const char *path, enum ps_packing packing,
                         struct ps_error *error)
{
    stream->name = ps_path_shown(path);
    stream->at = 0;
    stream->reader = ps_byte_reader_open(path, packing, error);
    return stream->reader != NULL;
}

void ps_byte_stream_close(struct ps_byte_stream *stream)
{
    ps_byte_reader_close(stream->reader);
    stream->reader = NULL;
}

// Takes `bytes` bytes away, or all there are.
static bool skip(struct ps_byte_stream *stream, uint64_t bytes, struct ps_error *error)
{
    char nowhere[SKIP_BYTES];
    size_t got = 1;
    while (bytes > 0 && got > 0) {
        size_t part = bytes < SKIP_BYTES ? (size_t)bytes : SKIP_BYTES;
        if (!ps_byte_reader_read(stream->reader, nowhere, part, &got, error))
            return false;
        stream->at += got;
        bytes -= got;
    }
    return true;
}

bool ps_byte_stream_read(struct ps_byte_stream *stream, uint64_t at, void *data, size_t size,
                         size_t *got_out, struct ps_error *error)
{
    *got_out = 0;
    if (at < stream->at) {
        if (!ps_byte_reader_rewind(stream->reader, error))
            return false;
        stream->at = 0;
    }
    if (!skip(stream, at - stream->at, error))
        return false;
    if (stream->at < at)
        return true; // it ended before
    bool fine = ps_byte_reader_read(stream->reader, data, size, got_out, error);
    stream->at += *got_out;
    return fine;
}

bool ps_byte_stream_rest(struct ps_byte_stream *stream, uint64_t at, uint64_t *bytes_out,
                         struct ps_error *error)
{
    char byte;
    size_t got;
    *bytes_out = 0;
    if (!ps_byte_stream_read(stream, at, &byte, 1, &got, error))
        return false;
    uint64_t from = stream->at - got;
    if (got > 0 && !skip(stream, UINT64_MAX, error))
        return false;
    *bytes_out = stream->at - from;
    return true;
}

static bool give(void *context, uint64_t at, void *data, size_t count, struct ps_error *error)
{
    struct ps_byte_stream *stream = context;
    size_t got;
    if (!ps_byte_stream_read(stream, at, data, count, &got, error))
        return false;
    return got == count || ps_fail(error, PS_INPUT,
                                   "%s ends at byte %llu%s, before its array does: it is truncated",
                                   stream->name, (unsigned long long)stream->at,
                                   ps_byte_reader_is_gzip(stream->reader) ? " (unpacked)" : "");
}

struct ps_bytes ps_byte_stream_bytes(struct ps_byte_stream *stream)
{
    return (struct ps_bytes){.path = stream->name,
                             .size = PS_BYTES_UNKNOWN,
                             .file = -1,
                             .give = give,
                             .context = stream};
}
