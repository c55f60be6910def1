// SPDX-License-Identifier: Apache-2.0
// Where the header of a .npy file lies, what it may claim, and how one is written.
#include "io/npy_header.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Far above any real header (NumPy itself refuses more than 10000 bytes unless told otherwise).
#define HEADER_BYTES_MAX (1u << 20)

static uint64_t little(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

static bool not_npy(const char *path, const unsigned char *head, size_t length,
                    struct ps_error *error)
{
    char shown[64];
    return ps_fail(error, PS_INPUT,
                   "%s is not a .npy file: it begins with '%s', not with "
                   "'\\x93NUMPY'",
                   path, ps_escape((const char *)head, length, shown, sizeof shown));
}

// The bytes before the dict: magic, version, length of the dict (2 or 4 bytes).
static bool read_start(const struct ps_bytes *bytes, int *major, uint64_t *text_offset,
                       uint64_t *text_bytes, struct ps_error *error)
{
    const char *path = bytes->path;
    uint64_t file_bytes = bytes->size;
    unsigned char head[12] = {0};
    size_t got = file_bytes < 10 ? (size_t)file_bytes : 10; // what all versions have
    if (file_bytes == 0)
        return ps_fail(error, PS_INPUT, "%s is empty", path);
    if (!ps_bytes_read(bytes, 0, head, got, error))
        return false;
    if (got < 6 || memcmp(head, "\x93NUMPY", 6) != 0)
        return not_npy(path, head, got < 8 ? got : 8, error);
    *major = head[6];
    if (got >= 8 && (*major < 1 || *major > 3 || head[7] != 0))
        return ps_fail(error, PS_INPUT,
                       "%s: npy format version %d.%d is not supported (1.0, 2.0 "
                       "and 3.0 are)",
                       path, head[6], head[7]);
    *text_offset = *major == 1 ? 10 : 12;
    if (file_bytes < *text_offset)
        return ps_fail(error, PS_INPUT, "%s ends after %llu bytes, inside its npy header", path,
                       (unsigned long long)file_bytes);
    if (*major > 1 && !ps_bytes_read(bytes, got, head + got, sizeof head - got, error))
        return false;
    *text_bytes = little(head + 8, *major == 1 ? 2 : 4);
    if (*text_bytes > file_bytes - *text_offset)
        return ps_fail(error, PS_INPUT,
                       "%s: the npy header's length of %llu bytes exceeds the "
                       "file (%llu bytes)",
                       path, (unsigned long long)*text_bytes, (unsigned long long)file_bytes);
    if (*text_bytes > HEADER_BYTES_MAX)
        return ps_fail(error, PS_INPUT, "%s: a npy header of %llu bytes (at most %u are read)",
                       path, (unsigned long long)*text_bytes, HEADER_BYTES_MAX);
    return true;
}

bool ps_npy_data_bytes(const struct ps_npy_header *header, uint64_t *bytes_out)
{
    const struct ps_array *array = &header->array;
    int64_t all = (int64_t)header->type.record.bytes;
    bool empty = all == 0;
    all = empty ? 1 : all;
    for (int i = 0; i < array->rank; i++) {
        empty = empty || array->dims[i] == 0;
        if (array->dims[i] > 0 && __builtin_mul_overflow(all, array->dims[i], &all))
            return false;
    }
    *bytes_out = empty ? 0 : (uint64_t)all;
    return true;
}

static char *shape_text(const struct ps_npy_header *header, char text[PS_ARRAY_TEXT])
{
    char whole[PS_ARRAY_TEXT];
    if (!header->type.structured && !header->type.is_complex)
        return ps_array_text(&header->array, text);
    ps_array_text(&header->array, whole);
    snprintf(text, PS_ARRAY_TEXT, "%s of %zu bytes%.100s",
             header->type.is_complex ? "complex numbers" : "records", header->type.record.bytes,
             strchr(whole, '['));
    return text;
}

static bool check_size(const char *path, uint64_t file_bytes, const struct ps_npy_header *header,
                       uint64_t *extra_out, struct ps_error *error)
{
    char text[PS_ARRAY_TEXT];
    uint64_t bytes;
    uint64_t held = file_bytes - header->data_offset;
    if (!ps_npy_data_bytes(header, &bytes))
        return ps_fail(error, PS_INPUT,
                       "%s: %s needs more than 2^63 bytes, but the file holds %llu "
                       "data bytes",
                       path, shape_text(header, text), (unsigned long long)held);
    if (bytes > held)
        return ps_fail(error, PS_INPUT,
                       "%s: the file holds %llu of %llu data bytes of %s "
                       "(truncated)",
                       path, (unsigned long long)held, (unsigned long long)bytes,
                       shape_text(header, text));
    *extra_out = file_bytes == PS_BYTES_UNKNOWN ? 0 : held - bytes;
    return true;
}

bool ps_npy_header_read(const struct ps_bytes *bytes, struct ps_npy_header *header,
                        uint64_t *extra_out, struct ps_error *error)
{
    int major = 0;
    uint64_t offset = 0, length = 0;
    if (!read_start(bytes, &major, &offset, &length, error))
        return false;
    char *text = malloc((size_t)length + 1);
    if (text == NULL)
        return ps_fail_memory(error, length, "a npy header");
    bool fine = ps_bytes_read(bytes, offset, text, (size_t)length, error) &&
                ps_npy_header_parse(text, (size_t)length, major, bytes->path, header, error);
    free(text);
    if (!fine)
        return false;
    header->data_offset = offset + length;
    if (check_size(bytes->path, bytes->size, header, extra_out, error))
        return true;
    ps_npy_header_free(header);
    return false;
}

// ---- Writing ----

static void describe(const struct ps_array *array, int64_t rows, struct ps_text *out)
{
    const struct ps_dtype_info *info = ps_dtype_info(array->dtype);
    static const char kinds[] = {[PS_CLASS_BOOL] = 'b',
                                 [PS_CLASS_SIGNED] = 'i',
                                 [PS_CLASS_UNSIGNED] = 'u',
                                 [PS_CLASS_FLOAT] = 'f'};
    char order = info->bytes == 1 ? '|' : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    ps_text_printf(out, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (", order,
                   kinds[info->kind], info->bytes);
    for (int i = 0; i < array->rank; i++)
        ps_text_printf(out, "%s%lld", i > 0 ? ", " : "",
                       (long long)(i == 0 ? rows : array->dims[i]));
    ps_text_printf(out, "%s), }", array->rank == 1 ? "," : "");
}

size_t ps_npy_header_write(const struct ps_array *array, int64_t rows, char *out)
{
    struct ps_text text = {0}, widest = {0};
    describe(array, rows, &text);
    describe(array, INT64_MAX, &widest);
    size_t total = 0;
    if (!text.failed && !widest.failed) {
        total = (10 + widest.length + 1 + 63) / 64 * 64;
        if (out != NULL) {
            memset(out, ' ', total);
            memcpy(out, "\x93NUMPY\x01", 8); // the literal's own NUL is the minor version
            out[8] = (char)((total - 10) & 255);
            out[9] = (char)((total - 10) >> 8);
            memcpy(out + 10, text.data, text.length);
            out[total - 1] = '\n';
        }
    }
    ps_text_free(&text);
    ps_text_free(&widest);
    return total;
}
