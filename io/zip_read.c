// SPDX-License-Identifier: Apache-2.0
// The bytes of one member of a zip archive.
#include "io/zip.h"

#include "base/text.h"
#include "io/checksum.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LOCAL_BYTES 30u
#define INPUT_BYTES (128u << 10)
#define SKIP_BYTES (64u << 10)
#define RATIO_MAX 1032u // what deflate packs at most

struct ps_zip_bytes {
    const struct ps_zip *zip;
    const char *label;
    uint64_t data_offset, packed, size;
    uint32_t crc;
    uint64_t taken;
    struct ps_checksum checksum; // stored
    // deflated
    bool inflating;
    z_stream stream;
    uint64_t position;  // of the next unpacked byte
    uint64_t packed_at; // of the next packed byte to be read from the file
    uint32_t crc_so_far;
    unsigned char *input, *skipped;
};

const char *ps_zip_method_name(unsigned method)
{
    static const struct {
        unsigned method;
        const char *name;
    } names[] = {{0, "stored"}, {8, "deflate"}, {9, "deflate64"},
                 {12, "bzip2"}, {14, "LZMA"},   {93, "zstd"},
                 {95, "xz"},    {98, "PPMd"},   {99, "AES encryption"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].method == method)
            return names[i].name;
    return "unknown";
}

// ---- Stored ----

static bool wrong_checksum(const struct ps_zip_bytes *bytes, uint32_t crc, struct ps_error *error)
{
    return ps_fail(error, PS_INPUT,
                   "%s: the checksum of its data is %08x, but the archive says "
                   "%08x: the data is damaged",
                   bytes->label, crc, bytes->crc);
}

static bool give_stored(void *context, uint64_t at, void *data, size_t count,
                        struct ps_error *error)
{
    struct ps_zip_bytes *bytes = context;
    uint32_t crc;
    if (!ps_file_read(bytes->zip->file, bytes->label, bytes->data_offset + at, data, count, error))
        return false;
    __atomic_fetch_add(&bytes->taken, count, __ATOMIC_RELAXED);
    return !ps_checksum_add(&bytes->checksum, at, data, count, &crc) || crc == bytes->crc ||
           wrong_checksum(bytes, crc, error);
}

// ---- Deflated ----

static bool rewind_member(struct ps_zip_bytes *bytes, struct ps_error *error)
{
    bytes->position = bytes->packed_at = 0;
    bytes->crc_so_far = (uint32_t)crc32(0, NULL, 0);
    bytes->stream.avail_in = 0;
    return inflateReset(&bytes->stream) == Z_OK || ps_fail_memory(error, 0, "unpacking");
}

static bool fill(struct ps_zip_bytes *bytes, struct ps_error *error)
{
    uint64_t left = bytes->packed - bytes->packed_at;
    size_t count = left < INPUT_BYTES ? (size_t)left : INPUT_BYTES;
    if (!ps_file_read(bytes->zip->file, bytes->label, bytes->data_offset + bytes->packed_at,
                      bytes->input, count, error))
        return false;
    bytes->packed_at += count;
    bytes->taken += count;
    bytes->stream.next_in = bytes->input;
    bytes->stream.avail_in = (uInt)count;
    return true;
}

static bool corrupt(const struct ps_zip_bytes *bytes, const char *what, struct ps_error *error)
{
    return ps_fail(
        error, PS_INPUT,
        "%s: %s, at byte %llu of the archive, after %llu of %llu "
        "unpacked bytes: the data is damaged",
        bytes->label, what,
        (unsigned long long)(bytes->data_offset + bytes->packed_at - bytes->stream.avail_in),
        (unsigned long long)bytes->position, (unsigned long long)bytes->size);
}

// Up to count more bytes, at most `count` of an uInt. *ended_out: the packed data says so.
static bool unpack_some(struct ps_zip_bytes *bytes, void *data, size_t count, size_t *got_out,
                        bool *ended_out, struct ps_error *error)
{
    z_stream *stream = &bytes->stream;
    if (stream->avail_in == 0 && bytes->packed_at < bytes->packed && !fill(bytes, error))
        return false;
    stream->next_out = data;
    stream->avail_out = (uInt)count;
    int result = inflate(stream, Z_NO_FLUSH);
    *got_out = count - stream->avail_out;
    *ended_out = result == Z_STREAM_END;
    bytes->position += *got_out;
    bytes->crc_so_far = (uint32_t)crc32(bytes->crc_so_far, data, (uInt)*got_out);
    if (result == Z_MEM_ERROR)
        return ps_fail_memory(error, 1u << 15, "unpacking");
    bool stuck = result == Z_BUF_ERROR && bytes->packed_at == bytes->packed;
    if (result != Z_OK && result != Z_STREAM_END && (result != Z_BUF_ERROR || stuck))
        return corrupt(bytes,
                       stuck                 ? "deflated data that ends too early"
                       : stream->msg != NULL ? stream->msg
                                             : "no deflated data",
                       error);
    return true;
}

// Behind the last byte: the packed data must end, and the checksum be right.
static bool check_end(struct ps_zip_bytes *bytes, bool ended, struct ps_error *error)
{
    while (!ended) {
        unsigned char more;
        size_t got;
        if (!unpack_some(bytes, &more, 1, &got, &ended, error))
            return false;
        if (got > 0)
            return corrupt(bytes, "more data than its archive says", error);
    }
    if (bytes->packed_at - bytes->stream.avail_in != bytes->packed)
        return corrupt(bytes, "deflated data that ends too early", error);
    return bytes->crc_so_far == bytes->crc || wrong_checksum(bytes, bytes->crc_so_far, error);
}

static bool unpack(struct ps_zip_bytes *bytes, char *data, size_t count, struct ps_error *error)
{
    bool ended = false;
    while (count > 0) {
        size_t got, part = count < (1u << 30) ? count : 1u << 30;
        if (!unpack_some(bytes, data, part, &got, &ended, error))
            return false;
        data += got;
        count -= got;
        if (ended && count > 0)
            return corrupt(bytes, "deflated data that ends too early", error);
    }
    return bytes->position < bytes->size || check_end(bytes, ended, error);
}

static bool give_deflated(void *context, uint64_t at, void *data, size_t count,
                          struct ps_error *error)
{
    struct ps_zip_bytes *bytes = context;
    if (count == 0)
        return true;
    if (at < bytes->position && !rewind_member(bytes, error))
        return false;
    while (bytes->position < at) {
        uint64_t gap = at - bytes->position;
        if (!unpack(bytes, (char *)bytes->skipped, gap < SKIP_BYTES ? (size_t)gap : SKIP_BYTES,
                    error))
            return false;
    }
    return unpack(bytes, data, count, error);
}

// ---- Opening ----

static uint64_t little(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

// What the local header repeats must agree with the directory; 0 and 2^32 - 1 stand for
// "elsewhere".
static bool agrees(const unsigned char *header, const struct ps_zip_member *member)
{
    uint64_t packed = little(header + 18, 4), size = little(header + 22, 4);
    bool later = little(header + 6, 2) & 8; // sizes and checksum follow the data
    return little(header + 8, 2) == member->method &&
           (later || ((packed == member->packed || packed == 0xffffffff) &&
                      (size == member->size || size == 0xffffffff) &&
                      little(header + 14, 4) == member->crc));
}

static bool find_data(struct ps_zip_bytes *bytes, const struct ps_zip_member *member,
                      struct ps_error *error)
{
    const struct ps_zip *zip = bytes->zip;
    unsigned char header[LOCAL_BYTES];
    char name[PS_ZIP_NAME_MAX];
    size_t length = strlen(member->name);
    if (!ps_file_read(zip->file, bytes->label, member->header_offset, header, sizeof header, error))
        return false;
    bool same = memcmp(header, "PK\3\4", 4) == 0 && little(header + 26, 2) == length &&
                length <= sizeof name;
    if (same && !ps_file_read(zip->file, bytes->label, member->header_offset + LOCAL_BYTES, name,
                              length, error))
        return false;
    if (!same || memcmp(name, member->name, length) != 0 || !agrees(header, member))
        return ps_fail(error, PS_INPUT,
                       "%s: what stands before its data, at byte %llu, does not "
                       "agree with the archive's directory: the archive is damaged",
                       bytes->label, (unsigned long long)member->header_offset);
    bytes->data_offset = member->header_offset + LOCAL_BYTES + length + little(header + 28, 2);
    return (bytes->data_offset <= zip->directory_offset &&
            member->packed <= zip->directory_offset - bytes->data_offset) ||
           ps_fail(error, PS_INPUT,
                   "%s: its data reaches into the archive's directory: the archive "
                   "is damaged",
                   bytes->label);
}

static bool check_method(const struct ps_zip_member *member, const char *label,
                         struct ps_error *error)
{
    if (member->flags & 1)
        return ps_fail(error, PS_INPUT, "%s is encrypted, which cannot be read: unpack it first",
                       label);
    if (member->method != 0 && member->method != 8)
        return ps_fail(error, PS_INPUT,
                       "%s is packed by %s (method %u); only stored and deflated "
                       "members can be read: unpack it first",
                       label, ps_zip_method_name(member->method), member->method);
    bool possible = member->method == 0 ? member->size == member->packed
                                        : member->size / RATIO_MAX <= member->packed;
    return possible ||
           ps_fail(error, PS_INPUT,
                   "%s: %llu bytes cannot be held by %llu %s ones: the "
                   "archive is damaged",
                   label, (unsigned long long)member->size, (unsigned long long)member->packed,
                   ps_zip_method_name(member->method));
}

static bool start_inflating(struct ps_zip_bytes *bytes, struct ps_error *error)
{
    bytes->input = malloc(INPUT_BYTES);
    bytes->skipped = malloc(SKIP_BYTES);
    bytes->inflating = inflateInit2(&bytes->stream, -15) == Z_OK;
    bytes->crc_so_far = (uint32_t)crc32(0, NULL, 0);
    return (bytes->input != NULL && bytes->skipped != NULL && bytes->inflating) ||
           ps_fail_memory(error, INPUT_BYTES, "unpacking");
}

struct ps_zip_bytes *ps_zip_open(const struct ps_zip *zip, const struct ps_zip_member *member,
                                 const char *label, struct ps_bytes *out, struct ps_error *error)
{
    if (!check_method(member, label, error))
        return NULL;
    struct ps_zip_bytes *bytes = calloc(1, sizeof *bytes);
    if (bytes == NULL || !ps_checksum_init(&bytes->checksum, member->size)) {
        free(bytes);
        ps_fail_memory(error, sizeof *bytes, "an archive's member");
        return NULL;
    }
    bytes->zip = zip;
    bytes->label = label;
    bytes->packed = member->packed;
    bytes->size = member->size;
    bytes->crc = member->crc;
    bool deflated = member->method == 8;
    *out = (struct ps_bytes){.path = label,
                             .size = member->size,
                             .give = deflated ? give_deflated : give_stored,
                             .context = bytes};
    if (find_data(bytes, member, error) && (!deflated || start_inflating(bytes, error)))
        return bytes;
    ps_zip_bytes_close(bytes);
    return NULL;
}

uint64_t ps_zip_bytes_taken(const struct ps_zip_bytes *bytes)
{
    return __atomic_load_n(&bytes->taken, __ATOMIC_RELAXED);
}

void ps_zip_bytes_close(struct ps_zip_bytes *bytes)
{
    if (bytes == NULL)
        return;
    if (bytes->inflating)
        inflateEnd(&bytes->stream);
    ps_checksum_free(&bytes->checksum);
    free(bytes->input);
    free(bytes->skipped);
    free(bytes);
}
