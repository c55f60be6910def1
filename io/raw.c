// SPDX-License-Identifier: Apache-2.0
// The format raw: elements one after the other, and nothing that says what they are. The config
// says it; what the file's size contradicts is refused.
#include "base/log.h"
#include "io/decode.h"
#include "io/file.h"
#include "io/formats.h"
#include "io/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ORDER_LITTLE, ORDER_BIG, ORDER_NATIVE };
#define ORDERS "little|big|native"

static const struct ps_option read_options[] = {
    {.key = "dtype", .kind = PS_DTYPE, .required = true, .help = "what the elements are"},
    {.key = "shape",
     .kind = PS_SHAPE,
     .fallback = "[-1]",
     .help =
         "the array's shape in C order; -1 as the first size means as many rows as the file has "
         "(an empty file has none)"},
    {.key = "offset",
     .kind = PS_SIZE,
     .fallback = "0",
     .help = "bytes before the first element; need not be a multiple of anything"},
    {.key = "byte_order",
     .kind = PS_CHOICE,
     .choices = ORDERS,
     .fallback = "little",
     .help = "of elements of several bytes"},
    {.key = NULL},
};

static const struct ps_option write_options[] = {
    {.key = "byte_order",
     .kind = PS_CHOICE,
     .choices = ORDERS,
     .fallback = "little",
     .help = "of elements of several bytes"},
    {.key = NULL},
};

static bool order_is_swapped(const struct ps_values *options)
{
    int other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ORDER_BIG : ORDER_LITTLE;
    return ps_values_get(options, "byte_order")->choice == other;
}

// ---- Reading ----

struct state {
    int file;
    uint64_t offset;
    bool swapped;
};

// The shape as the config gives it; dims[0] may still be -1.
static bool declared_shape(struct ps_reader *reader, struct ps_error *error)
{
    const struct ps_value *shape = ps_values_get(reader->options, "shape");
    if (shape->count > PS_RANK_MAX)
        return ps_fail(error, PS_USAGE, "shape: %d axes; at most %d are possible", shape->count,
                       PS_RANK_MAX);
    for (int i = 1; i < shape->count; i++)
        if (shape->integers[i] < 0)
            return ps_fail(error, PS_USAGE, "shape: only the first size may be -1");
    ps_array_init(&reader->array, ps_values_get(reader->options, "dtype")->dtype, shape->count,
                  shape->integers);
    return ps_array_check(&reader->array, "shape", error);
}

static bool rows_from_size(struct ps_reader *reader, uint64_t held, struct ps_error *error)
{
    struct ps_array *array = &reader->array;
    uint64_t row = ps_array_row_bytes(array);
    if (row == 0)
        return ps_fail(error, PS_USAGE,
                       "shape: rows of 0 bytes cannot be counted; give the number "
                       "of rows instead of -1");
    array->dims[0] = (int64_t)(held / row);
    if (held % row == 0)
        return true;
    return ps_fail(
        error, PS_INPUT,
        "%s: %llu bytes%s is not a multiple of the %llu-byte row: %lld "
        "rows and %llu bytes more. Check dtype, shape and offset; to read the whole rows "
        "only, give their number instead of -1",
        reader->path, (unsigned long long)held,
        held < reader->file_bytes ? " after the offset" : "", (unsigned long long)row,
        (long long)array->dims[0], (unsigned long long)(held % row));
}

static bool check_size(struct ps_reader *reader, uint64_t held, struct ps_error *error)
{
    char text[PS_ARRAY_TEXT];
    size_t bytes;
    if (!ps_array_bytes(&reader->array, &bytes)) // cannot happen after ps_array_check
        return ps_fail(error, PS_USAGE, "shape: more than 2^63 bytes");
    if (bytes > held)
        return ps_fail(error, PS_INPUT, "%s: %s needs %zu bytes, but the file holds %llu%s",
                       reader->path, ps_array_text(&reader->array, text), bytes,
                       (unsigned long long)held,
                       held < reader->file_bytes ? " after the offset" : "");
    if (bytes < held)
        ps_log(PS_LOG_WARNING, "%s: %llu bytes after %s are ignored", reader->path,
               (unsigned long long)(held - bytes), ps_array_text(&reader->array, text));
    return true;
}

static bool raw_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a raw reader");
    reader->state = state;
    reader->way = "pread";
    state->offset = ps_values_get(reader->options, "offset")->bytes;
    state->file = ps_file_open(reader->path, &reader->file_bytes, error);
    if (state->file < 0 || !declared_shape(reader, error))
        return false;
    if (state->offset > reader->file_bytes)
        return ps_fail(error, PS_INPUT,
                       "%s: the offset of %llu bytes is behind the end of the file "
                       "(%llu bytes)",
                       reader->path, (unsigned long long)state->offset,
                       (unsigned long long)reader->file_bytes);
    state->swapped = order_is_swapped(reader->options);
    uint64_t held = reader->file_bytes - state->offset;
    if (reader->array.rank > 0 && reader->array.dims[0] < 0)
        return rows_from_size(reader, held, error);
    return check_size(reader, held, error);
}

static bool raw_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    const struct state *state = reader->state;
    size_t row = ps_array_row_bytes(&reader->array), bytes = (size_t)rows * row;
    if (!ps_file_read(state->file, reader->path, state->offset + (uint64_t)first_row * row, data,
                      bytes, error))
        return false;
    result->rows = rows;
    result->bytes = bytes;
    result->decode_ms = ps_decode(reader->array.dtype, state->swapped, data,
                                  bytes / ps_dtype_bytes(reader->array.dtype));
    return true;
}

static void raw_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    if (state->file >= 0)
        close(state->file);
    free(state);
}

static bool raw_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    uint64_t bytes;
    int file = ps_file_open(path, &bytes, error);
    if (file < 0)
        return false;
    close(file);
    ps_inspect_file(path, "raw", bytes, out);
    ps_text_add(out, "The file does not say what it holds. Its size would be whole elements of:");
    for (size_t size = 1; size <= 8; size *= 2)
        if (bytes % size == 0)
            ps_text_printf(out, " %zu byte%s (%llu)%s", size, size == 1 ? "" : "s",
                           (unsigned long long)(bytes / size),
                           size < 8 && bytes % (2 * size) == 0 ? "," : "\n");
    ps_text_add(out, "Fill in dtype and shape; add offset and byte_order where needed:\n");
    char more[64];
    snprintf(more, sizeof more, "format: raw, dtype: %s, shape: [-1]",
             bytes % 4 == 0   ? "f32"
             : bytes % 2 == 0 ? "i16"
                              : "u8");
    ps_inspect_entry(path, more, out);
    return true;
}

// ---- Writing ----

#define SWAP_BYTES (256u << 10)

struct written {
    int file;
    bool swapped;
    unsigned char *buffer; // only when swapping: the caller's data stays as it is
};

static bool raw_create(struct ps_writer *writer, struct ps_error *error)
{
    struct written *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a raw writer");
    writer->state = state;
    state->swapped = order_is_swapped(writer->options) && ps_dtype_bytes(writer->array->dtype) > 1;
    state->file = ps_file_create(writer->temp_path, error);
    if (state->file < 0)
        return false;
    if (state->swapped && (state->buffer = malloc(SWAP_BYTES)) == NULL)
        return ps_fail_memory(error, SWAP_BYTES, "swapping bytes");
    return true;
}

static bool write_swapped(const struct ps_writer *writer, uint64_t offset, const char *data,
                          size_t bytes, struct ps_error *error)
{
    const struct written *state = writer->state;
    size_t element = ps_dtype_bytes(writer->array->dtype);
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < SWAP_BYTES ? bytes - done : SWAP_BYTES;
        memcpy(state->buffer, data + done, part);
        ps_byte_swap(state->buffer, element, part / element);
        if (!ps_file_write(state->file, writer->path, offset + done, state->buffer, part, error))
            return false;
        done += part;
    }
    return true;
}

static bool raw_write(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                      struct ps_error *error)
{
    const struct written *state = writer->state;
    size_t row = ps_array_row_bytes(writer->array), bytes = (size_t)rows * row;
    uint64_t offset = (uint64_t)first_row * row;
    if (state->swapped)
        return write_swapped(writer, offset, data, bytes, error);
    return ps_file_write(state->file, writer->path, offset, data, bytes, error);
}

static bool raw_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct written *state = writer->state;
    int file = state->file;
    state->file = -1;
    (void)rows; // the size of the file tells
    return close(file) == 0 || ps_fail_errno(error, PS_OUTPUT, "cannot write %s", writer->path);
}

static void raw_close_writer(struct ps_writer *writer)
{
    struct written *state = writer->state;
    if (state == NULL)
        return;
    if (state->file >= 0)
        close(state->file);
    free(state->buffer);
    free(state);
}

static const struct ps_format_writer raw_writer = {raw_create, raw_write, raw_finish,
                                                   raw_close_writer};

const struct ps_format ps_format_raw = {
    .name = "raw",
    .help = "elements without any header; dtype, shape, offset and byte order are given",
    .suffixes = ".raw|.bin",
    .flags = PS_READ_ANYWHERE,
    .read_options = read_options,
    .write_options = write_options,
    .open = raw_open,
    .read = raw_read,
    .close = raw_close,
    .writer = &raw_writer,
    .inspect = raw_inspect,
};
