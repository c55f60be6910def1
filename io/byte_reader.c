// SPDX-License-Identifier: Apache-2.0
// zlib unpacks one gzip member and checks its CRC and length; the walk over the members is here.
#include "io/byte_reader.h"

#include "base/log.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define INPUT_BYTES (128u << 10)
#define GZIP_WINDOW (15 + 16) // zlib: the largest window, gzip header and trailer

struct ps_byte_reader {
    const char *path;
    const char *name; // for messages
    int file;
    bool is_gzip, at_end; // at_end: of the file's bytes
    bool inflating;       // the stream below is to be freed
    bool in_member;       // between a member's header and its trailer
    int member;           // from 1
    enum ps_packing packing;
    uint64_t taken;  // from the file, over all passes
    uint64_t offset; // in the file, of the next byte to be taken
    z_stream stream; // next_in, avail_in: bytes of `input` that are not used yet, also without gzip
    unsigned char *input;
};

// ---- Bytes of the file ----

static bool fill(struct ps_byte_reader *reader, struct ps_error *error)
{
    z_stream *stream = &reader->stream;
    if (stream->avail_in > 0)
        memmove(reader->input, stream->next_in, stream->avail_in);
    stream->next_in = reader->input;
    while (!reader->at_end && stream->avail_in < INPUT_BYTES) {
        ssize_t got =
            read(reader->file, reader->input + stream->avail_in, INPUT_BYTES - stream->avail_in);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ps_fail_errno(error, PS_INPUT, "cannot read %s at byte %llu", reader->name,
                                 (unsigned long long)reader->offset);
        reader->at_end = got == 0;
        reader->taken += (uint64_t)got;
        reader->offset += (uint64_t)got;
        stream->avail_in += (uInt)got;
    }
    return true;
}

static uint64_t position(const struct ps_byte_reader *reader)
{
    return reader->offset - reader->stream.avail_in;
}

static bool has_magic(const struct ps_byte_reader *reader)
{
    const unsigned char *head = reader->stream.next_in;
    return reader->stream.avail_in >= 2 && head[0] == 0x1f && head[1] == 0x8b;
}

static bool start(struct ps_byte_reader *reader, struct ps_error *error)
{
    reader->at_end = reader->in_member = false;
    reader->offset = 0;
    reader->member = 0;
    reader->stream.avail_in = 0;
    if (!fill(reader, error))
        return false;
    reader->is_gzip = reader->packing != PS_PACKING_NONE && has_magic(reader);
    bool empty = reader->stream.avail_in == 0;
    if (!reader->is_gzip && reader->packing == PS_PACKING_GZIP)
        return ps_fail(error, PS_INPUT, "%s is %s, not gzip data", reader->name,
                       empty ? "empty" : "something else");
    if (!reader->is_gzip || reader->inflating)
        return true;
    reader->inflating = inflateInit2(&reader->stream, GZIP_WINDOW) == Z_OK;
    return reader->inflating || ps_fail_memory(error, 1u << 16, "unpacking gzip data");
}

struct ps_byte_reader *ps_byte_reader_open(const char *path, enum ps_packing packing,
                                           struct ps_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    struct ps_byte_reader *reader = calloc(1, sizeof *reader);
    unsigned char *input = malloc(INPUT_BYTES);
    if (reader == NULL || input == NULL) {
        free(reader);
        free(input);
        ps_fail_memory(error, INPUT_BYTES, "a buffer to read into");
        return NULL;
    }
    reader->path = path;
    reader->name = ps_path_shown(path);
    reader->packing = packing;
    reader->input = input;
    reader->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (reader->file < 0)
        ps_fail_errno(error, PS_INPUT, "cannot open %s", path);
    else
        posix_fadvise(reader->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (reader->file < 0 || !start(reader, error)) {
        ps_byte_reader_close(reader);
        return NULL;
    }
    if (packing == PS_PACKING_AUTO && !reader->is_gzip && reader->stream.avail_in > 0 &&
        path[ps_path_bare_length(path)] != '\0')
        ps_log(PS_LOG_WARNING,
               "%s is not gzip data, although its name says so; it is read as it is", path);
    return reader;
}

bool ps_byte_reader_rewind(struct ps_byte_reader *reader, struct ps_error *error)
{
    if (lseek(reader->file, 0, SEEK_SET) != 0)
        return ps_fail(
            error, PS_INPUT,
            "%s cannot be read twice (a pipe), but this job needs more than one pass over "
            "it; save it to a file first",
            reader->name);
    if (reader->inflating && inflateReset(&reader->stream) != Z_OK)
        return ps_fail(error, PS_BUG, "%s: zlib does not start again", reader->name);
    return start(reader, error);
}

void ps_byte_reader_close(struct ps_byte_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->inflating)
        inflateEnd(&reader->stream);
    if (reader->file > STDIN_FILENO)
        close(reader->file);
    free(reader->input);
    free(reader);
}

bool ps_byte_reader_is_gzip(const struct ps_byte_reader *reader)
{
    return reader->is_gzip;
}

uint64_t ps_byte_reader_taken(const struct ps_byte_reader *reader)
{
    return reader->taken;
}

// ---- Reading ----

static bool read_plain(struct ps_byte_reader *reader, unsigned char *data, size_t size,
                       size_t *got_out, struct ps_error *error)
{
    z_stream *stream = &reader->stream;
    while (*got_out < size) {
        if (stream->avail_in == 0 && !fill(reader, error))
            return false;
        if (stream->avail_in == 0)
            return true;
        size_t wanted = size - *got_out;
        size_t take = stream->avail_in < wanted ? stream->avail_in : wanted;
        memcpy(data + *got_out, stream->next_in, take);
        stream->next_in += take;
        stream->avail_in -= (uInt)take;
        *got_out += take;
    }
    return true;
}

// Behind a member: another one, zeros to the end (tapes and block devices), or nothing.
static bool next_member(struct ps_byte_reader *reader, bool *more_out, struct ps_error *error)
{
    z_stream *stream = &reader->stream;
    if (stream->avail_in < 2 && !fill(reader, error))
        return false;
    *more_out = has_magic(reader);
    if (*more_out) {
        reader->member++;
        reader->in_member = true;
        return inflateReset(stream) == Z_OK || ps_fail(error, PS_BUG, "zlib does not start again");
    }
    for (;;) {
        while (stream->avail_in > 0 && *stream->next_in == 0) {
            stream->next_in++;
            stream->avail_in--;
        }
        if (stream->avail_in > 0)
            return ps_fail(
                error, PS_INPUT,
                "%s: something else than gzip data behind member %d, from byte %llu on: the "
                "file was damaged or put together wrongly",
                reader->name, reader->member, (unsigned long long)position(reader));
        if (reader->at_end)
            return true;
        if (!fill(reader, error))
            return false;
    }
}

static bool unpack_failed(struct ps_byte_reader *reader, int result, struct ps_error *error)
{
    const char *reason = reader->stream.msg != NULL ? reader->stream.msg : zError(result);
    unsigned long long byte = (unsigned long long)position(reader);
    if (result == Z_BUF_ERROR)
        return ps_fail(
            error, PS_INPUT,
            "%s ends at byte %llu in the middle of gzip member %d: the file is truncated",
            reader->name, byte, reader->member);
    if (result == Z_MEM_ERROR)
        return ps_fail_memory(error, 1u << 16, "unpacking gzip data");
    if (result == Z_NEED_DICT)
        reason = "a preset dictionary";
    return ps_fail(error, PS_INPUT, "%s: gzip member %d is damaged at or before byte %llu (%s)",
                   reader->name, reader->member, byte, reason);
}

static bool read_gzip(struct ps_byte_reader *reader, unsigned char *data, size_t size,
                      size_t *got_out, struct ps_error *error)
{
    z_stream *stream = &reader->stream;
    while (*got_out < size) {
        bool more = true;
        if (!reader->in_member && !next_member(reader, &more, error))
            return false;
        if (!more)
            return true;
        if (stream->avail_in == 0 && !fill(reader, error))
            return false;
        size_t wanted = size - *got_out;
        uInt room = wanted < 1u << 30 ? (uInt)wanted : 1u << 30;
        stream->next_out = data + *got_out;
        stream->avail_out = room;
        int result = inflate(stream, Z_NO_FLUSH);
        *got_out += room - stream->avail_out;
        reader->in_member = result != Z_STREAM_END;
        if (result != Z_OK && result != Z_STREAM_END)
            return unpack_failed(reader, result, error);
    }
    return true;
}

bool ps_byte_reader_read(struct ps_byte_reader *reader, void *data, size_t size, size_t *got_out,
                         struct ps_error *error)
{
    *got_out = 0;
    return reader->is_gzip ? read_gzip(reader, data, size, got_out, error)
                           : read_plain(reader, data, size, got_out, error);
}
