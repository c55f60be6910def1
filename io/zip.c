// SPDX-License-Identifier: Apache-2.0
// The directory of a zip archive. Whatever it claims is compared with the file before it is used:
// an archive may be made to mislead.
#include "io/zip.h"

#include "base/log.h"
#include "base/text.h"
#include "io/file.h"

#include <stdlib.h>
#include <string.h>

#define END_BYTES 22u
#define END64_BYTES 56u
#define LOCATOR_BYTES 20u
#define ENTRY_BYTES 46u
#define LOCAL_BYTES 30u
#define COMMENT_MAX 65535u
#define DIRECTORY_MAX (256u << 20)

static uint64_t little(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

// ---- The end of the archive ----

struct ending {
    uint64_t offset; // where the directory must end
    uint64_t entries, directory_bytes, directory_offset;
};

static bool read_zip64(const struct ps_zip *zip, uint64_t end_offset, struct ending *ending,
                       struct ps_error *error)
{
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    if (end_offset < LOCATOR_BYTES)
        return true;
    if (!ps_file_read(zip->file, zip->path, end_offset - LOCATOR_BYTES, locator, sizeof locator,
                      error))
        return false;
    if (memcmp(locator, "PK\6\7", 4) != 0)
        return true;
    uint64_t offset = little(locator + 8, 8);
    if (end_offset < LOCATOR_BYTES + END64_BYTES ||
        offset > end_offset - LOCATOR_BYTES - END64_BYTES)
        return ps_fail(error, PS_INPUT,
                       "%s: the zip64 end of the directory is said to lie at byte "
                       "%llu, outside the file",
                       zip->path, (unsigned long long)offset);
    if (!ps_file_read(zip->file, zip->path, offset, end, sizeof end, error))
        return false;
    if (memcmp(end, "PK\6\6", 4) != 0)
        return ps_fail(error, PS_INPUT, "%s: no zip64 end of the directory at byte %llu", zip->path,
                       (unsigned long long)offset);
    *ending =
        (struct ending){offset, little(end + 32, 8), little(end + 40, 8), little(end + 48, 8)};
    return little(end + 16, 4) == 0 ||
           ps_fail(error, PS_INPUT, "%s is one part of a zip archive in several files", zip->path);
}

static const unsigned char *find_end(const unsigned char *tail, size_t length)
{
    for (size_t i = length - END_BYTES + 1; i-- > 0;)
        if (memcmp(tail + i, "PK\5\6", 4) == 0 &&
            little(tail + i + 20, 2) <= length - i - END_BYTES)
            return tail + i;
    return NULL;
}

static bool read_ending(const struct ps_zip *zip, struct ending *ending, struct ps_error *error)
{
    uint64_t most = END_BYTES + COMMENT_MAX;
    size_t length = (size_t)(zip->file_bytes < most ? zip->file_bytes : most);
    if (zip->file_bytes == 0)
        return ps_fail(error, PS_INPUT, "%s is empty", zip->path);
    unsigned char *tail = malloc(length);
    if (tail == NULL)
        return ps_fail_memory(error, length, "the end of a zip archive");
    bool fine = ps_file_read(zip->file, zip->path, zip->file_bytes - length, tail, length, error);
    const unsigned char *end = fine && length >= END_BYTES ? find_end(tail, length) : NULL;
    if (fine && end == NULL)
        fine = ps_fail(error, PS_INPUT,
                       "%s has no directory of a zip archive at its end: it is "
                       "truncated, or no .npz file",
                       zip->path);
    if (fine) {
        uint64_t offset = zip->file_bytes - length + (uint64_t)(end - tail);
        uint64_t behind = length - (size_t)(end - tail) - END_BYTES - little(end + 20, 2);
        if (behind > 0)
            ps_log(PS_LOG_WARNING, "%s: %llu bytes behind the archive are ignored", zip->path,
                   (unsigned long long)behind);
        *ending =
            (struct ending){offset, little(end + 10, 2), little(end + 12, 4), little(end + 16, 4)};
        fine =
            (little(end + 4, 2) == 0 || little(end + 4, 2) == 0xffff) ||
            ps_fail(error, PS_INPUT, "%s is one part of a zip archive in several files", zip->path);
        fine = fine && read_zip64(zip, offset, ending, error);
    }
    free(tail);
    if (fine && (ending->directory_bytes > ending->offset ||
                 ending->directory_offset != ending->offset - ending->directory_bytes))
        return ps_fail(error, PS_INPUT,
                       "%s: its zip directory is said to be %llu bytes at byte %llu, "
                       "which does not end at byte %llu: the file is damaged",
                       zip->path, (unsigned long long)ending->directory_bytes,
                       (unsigned long long)ending->directory_offset,
                       (unsigned long long)ending->offset);
    return fine;
}

// ---- The directory ----

static bool damaged(const struct ps_zip *zip, uint64_t entry, const char *what,
                    struct ps_error *error)
{
    return ps_fail(error, PS_INPUT, "%s: entry %llu of its zip directory %s", zip->path,
                   (unsigned long long)entry + 1, what);
}

// Sizes of 2^32 - 1 stand in the extra field instead, in this order, only those that are needed.
static bool read_extra(const unsigned char *extra, size_t length, struct ps_zip_member *member)
{
    uint64_t *values[] = {&member->size, &member->packed, &member->header_offset};
    bool needed = false;
    for (int i = 0; i < 3; i++)
        needed = needed || *values[i] == 0xffffffff;
    while (needed && length >= 4) {
        size_t bytes = (size_t)little(extra + 2, 2);
        if (bytes > length - 4)
            return false;
        if (little(extra, 2) == 1) {
            const unsigned char *at = extra + 4;
            for (int i = 0; i < 3; i++) {
                if (*values[i] != 0xffffffff)
                    continue;
                if (at + 8 > extra + 4 + bytes)
                    return false;
                *values[i] = little(at, 8);
                at += 8;
            }
            return true;
        }
        extra += 4 + bytes;
        length -= 4 + bytes;
    }
    return true; // a size may really be 2^32 - 1
}

static bool read_entry(struct ps_zip *zip, const unsigned char *at, size_t left, uint64_t number,
                       size_t *used_out, struct ps_error *error)
{
    if (left < ENTRY_BYTES || memcmp(at, "PK\1\2", 4) != 0)
        return damaged(zip, number, "is missing", error);
    size_t name = (size_t)little(at + 28, 2), extra = (size_t)little(at + 30, 2);
    *used_out = ENTRY_BYTES + name + extra + (size_t)little(at + 32, 2);
    if (*used_out > left)
        return damaged(zip, number, "reaches beyond its end", error);
    struct ps_zip_member *member = &zip->members[zip->count];
    *member = (struct ps_zip_member){.flags = (unsigned)little(at + 8, 2),
                                     .method = (unsigned)little(at + 10, 2),
                                     .crc = (uint32_t)little(at + 16, 4),
                                     .packed = little(at + 20, 4),
                                     .size = little(at + 24, 4),
                                     .header_offset = little(at + 42, 4)};
    const char *text = (const char *)at + ENTRY_BYTES;
    if (!read_extra(at + ENTRY_BYTES + name, extra, member))
        return damaged(zip, number, "has a broken zip64 field", error);
    if (name == 0 || name > PS_ZIP_NAME_MAX || memchr(text, '\0', name) != NULL)
        return damaged(zip, number, "has no proper name", error);
    if (text[name - 1] == '/' && member->size == 0)
        return true; // a folder
    member->name = strndup(text, name);
    if (member->name == NULL)
        return ps_fail_memory(error, name, "the name of an archive's member");
    zip->count++;
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct ps_zip_member *x = *(const struct ps_zip_member *const *)a;
    const struct ps_zip_member *y = *(const struct ps_zip_member *const *)b;
    return (x->header_offset > y->header_offset) - (x->header_offset < y->header_offset);
}

// Each member's bytes end before the next one's, and the last one's before the directory.
static bool check_places(const struct ps_zip *zip, struct ps_error *error)
{
    char name[100];
    const struct ps_zip_member **sorted = malloc(((size_t)zip->count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return ps_fail_memory(error, (size_t)zip->count * sizeof *sorted, "members of an archive");
    for (int i = 0; i < zip->count; i++)
        sorted[i] = &zip->members[i];
    qsort(sorted, (size_t)zip->count, sizeof *sorted, by_offset);
    bool fine = true;
    for (int i = 0; fine && i < zip->count; i++) {
        const struct ps_zip_member *member = sorted[i];
        uint64_t end = i + 1 < zip->count ? sorted[i + 1]->header_offset : zip->directory_offset;
        uint64_t start = member->header_offset + LOCAL_BYTES + strlen(member->name);
        if (member->header_offset > zip->directory_offset || start > end ||
            member->packed > end - start)
            fine = ps_fail(
                error, PS_INPUT,
                "%s: its member '%s' is said to hold %llu bytes at byte "
                "%llu, over what follows it: the archive is damaged",
                zip->path, ps_escape(member->name, strlen(member->name), name, sizeof name),
                (unsigned long long)member->packed, (unsigned long long)member->header_offset);
    }
    free(sorted);
    return fine;
}

static bool read_directory(struct ps_zip *zip, const struct ending *ending,
                           const unsigned char *directory, struct ps_error *error)
{
    size_t at = 0, bytes = (size_t)ending->directory_bytes;
    for (uint64_t i = 0; i < ending->entries; i++) {
        size_t used = 0;
        if (!read_entry(zip, directory + at, bytes - at, i, &used, error))
            return false;
        at += used;
    }
    if (at != bytes)
        return damaged(zip, ending->entries, "is not counted", error);
    return check_places(zip, error);
}

bool ps_zip_read(struct ps_zip *zip, int file, const char *path, uint64_t file_bytes,
                 struct ps_error *error)
{
    struct ending ending = {0};
    *zip = (struct ps_zip){.path = path, .file = file, .file_bytes = file_bytes};
    if (!read_ending(zip, &ending, error))
        return false;
    if (ending.entries > ending.directory_bytes / ENTRY_BYTES ||
        ending.directory_bytes > DIRECTORY_MAX)
        return ps_fail(error, PS_INPUT,
                       "%s: %llu members in a zip directory of %llu bytes (at most %u "
                       "are read): the file is damaged",
                       path, (unsigned long long)ending.entries,
                       (unsigned long long)ending.directory_bytes, DIRECTORY_MAX);
    zip->directory_offset = ending.directory_offset;
    zip->members = calloc((size_t)ending.entries + 1, sizeof *zip->members);
    unsigned char *directory = malloc((size_t)ending.directory_bytes + 1);
    bool fine = zip->members != NULL && directory != NULL;
    if (!fine)
        ps_fail_memory(error, ending.directory_bytes, "the directory of a zip archive");
    fine = fine &&
           ps_file_read(file, path, ending.directory_offset, directory,
                        (size_t)ending.directory_bytes, error) &&
           read_directory(zip, &ending, directory, error);
    free(directory);
    return fine;
}

void ps_zip_free(struct ps_zip *zip)
{
    for (int i = 0; i < zip->count; i++)
        free(zip->members[i].name);
    free(zip->members);
    zip->members = NULL;
    zip->count = 0;
}
