// SPDX-License-Identifier: Apache-2.0
// The format raw: elements one after the other, and nothing that says what they are. The config
// says it; what the file's size contradicts is refused.
#include "base/log.h"
#include "io/byte_stream.h"
#include "io/byte_writer.h"
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
    {.key = "stride",
     .kind = PS_SIZE,
     .help =
         "bytes from the start of a row to that of the next; those of a row if unset (no gaps)"},
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
    PS_GZIP_OPTION,
    {.key = NULL},
};

static bool order_is_swapped(const struct ps_values *options)
{
    int other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ORDER_BIG : ORDER_LITTLE;
    return ps_values_get(options, "byte_order")->choice == other;
}

// ---- Reading ----

#define BUFFER_BYTES (1u << 20)
#define GAP_BYTES 4096u // a shorter gap between rows is read over

struct state {
    int file; // -1 when the bytes come in order
    struct ps_byte_stream stream;
    uint64_t offset, stride; // bytes before the first row, and from row to row
    bool swapped, end_checked;
};

// The shape as the config gives it; dims[0] may still be -1.
static bool declared_shape(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = reader->state;
    const struct ps_value *shape = ps_values_get(reader->options, "shape");
    const struct ps_value *stride = ps_values_get(reader->options, "stride");
    if (shape->count > PS_RANK_MAX)
        return ps_fail(error, PS_USAGE, "shape: %d axes; at most %d are possible", shape->count,
                       PS_RANK_MAX);
    for (int i = 1; i < shape->count; i++)
        if (shape->integers[i] < 0)
            return ps_fail(error, PS_USAGE, "shape: only the first size may be -1");
    ps_array_init(&reader->array, ps_values_get(reader->options, "dtype")->dtype, shape->count,
                  shape->integers);
    if (!ps_array_check(&reader->array, "shape", error))
        return false;
    state->stride = stride->given ? stride->bytes : ps_array_row_bytes(&reader->array);
    return state->stride >= ps_array_row_bytes(&reader->array) ||
           ps_fail(error, PS_USAGE, "stride: %llu bytes from row to row, but a row has %zu",
                   (unsigned long long)state->stride, ps_array_row_bytes(&reader->array));
}

static bool partial_row(const struct ps_reader *reader, uint64_t held, struct ps_error *error)
{
    const struct state *state = reader->state;
    bool gaps = state->stride > ps_array_row_bytes(&reader->array);
    return ps_fail(
        error, PS_INPUT,
        "%s: %llu bytes%s is not a multiple of the %llu-byte %s: %llu rows and %llu bytes "
        "more. Check dtype, shape, offset%s; to read the whole rows only, give their number "
        "instead of -1",
        ps_path_shown(reader->path), (unsigned long long)held,
        state->offset > 0 ? " after the offset" : "", (unsigned long long)state->stride,
        gaps ? "stride" : "row", (unsigned long long)(held / state->stride),
        (unsigned long long)(held % state->stride), gaps ? " and stride" : "");
}

// The last row needs no gap behind it.
static bool rows_from_size(struct ps_reader *reader, uint64_t held, struct ps_error *error)
{
    const struct state *state = reader->state;
    uint64_t row = ps_array_row_bytes(&reader->array), rest;
    if (row == 0)
        return ps_fail(
            error, PS_USAGE,
            "shape: rows of 0 bytes cannot be counted; give the number of rows instead of -1");
    rest = held % state->stride;
    reader->array.dims[0] = (int64_t)(held / state->stride + (rest >= row));
    return rest == 0 || rest == row || partial_row(reader, held, error);
}

// Bytes of the array's rows with the gaps between them. False above 2^63.
static bool needed_bytes(const struct ps_reader *reader, uint64_t *bytes_out)
{
    const struct state *state = reader->state;
    int64_t rows = ps_array_rows(&reader->array), gaps;
    *bytes_out = 0;
    if (rows == 0)
        return true;
    if (state->stride > INT64_MAX ||
        __builtin_mul_overflow(rows - 1, (int64_t)state->stride, &gaps) ||
        __builtin_add_overflow(gaps, (int64_t)ps_array_row_bytes(&reader->array), &gaps))
        return false;
    *bytes_out = (uint64_t)gaps;
    return true;
}

// A gap behind the last row is none of the bytes that are warned of.
static void warn_of_rest(const struct ps_reader *reader, uint64_t rest)
{
    const struct state *state = reader->state;
    char text[PS_ARRAY_TEXT];
    if (rest > state->stride - ps_array_row_bytes(&reader->array))
        ps_log(PS_LOG_WARNING, "%s: %llu bytes after %s are ignored", ps_path_shown(reader->path),
               (unsigned long long)rest, ps_array_text(&reader->array, text));
}

static bool check_size(struct ps_reader *reader, uint64_t held, struct ps_error *error)
{
    const struct state *state = reader->state;
    char text[PS_ARRAY_TEXT];
    uint64_t bytes;
    if (!needed_bytes(reader, &bytes))
        return ps_fail(error, PS_USAGE, "shape: more than 2^63 bytes");
    if (bytes > held)
        return ps_fail(error, PS_INPUT, "%s: %s needs %llu bytes, but the file holds %llu%s",
                       reader->path, ps_array_text(&reader->array, text), (unsigned long long)bytes,
                       (unsigned long long)held, state->offset > 0 ? " after the offset" : "");
    warn_of_rest(reader, held - bytes);
    return true;
}

// Nothing tells the size: rows are counted when the end comes.
static bool open_stream(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = reader->state;
    bool named_gz = reader->path[ps_path_bare_length(reader->path)] != '\0';
    uint64_t bytes;
    if (!ps_byte_stream_open(&state->stream, reader->path,
                             named_gz ? PS_PACKING_AUTO : PS_PACKING_NONE, error))
        return false;
    reader->flags = PS_READ_IN_ORDER;
    reader->way = ps_byte_reader_is_gzip(state->stream.reader) ? "gzip" : "read";
    if (reader->array.rank > 0 && reader->array.dims[0] < 0)
        return ps_array_row_bytes(&reader->array) > 0 ||
               ps_fail(error, PS_USAGE,
                       "shape: rows of 0 bytes cannot be counted; give the number of rows instead "
                       "of -1");
    return needed_bytes(reader, &bytes) || ps_fail(error, PS_USAGE, "shape: more than 2^63 bytes");
}

static bool raw_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a raw reader");
    reader->state = state;
    state->file = -1;
    state->offset = ps_values_get(reader->options, "offset")->bytes;
    state->swapped = order_is_swapped(reader->options);
    if (!declared_shape(reader, error))
        return false;
    if (ps_path_is_stream(reader->path, false))
        return open_stream(reader, error);
    reader->way = "pread";
    state->file = ps_file_open(reader->path, &reader->file_bytes, error);
    if (state->file < 0)
        return false;
    if (state->offset > reader->file_bytes)
        return ps_fail(error, PS_INPUT,
                       "%s: the offset of %llu bytes is behind the end of the file "
                       "(%llu bytes)",
                       reader->path, (unsigned long long)state->offset,
                       (unsigned long long)reader->file_bytes);
    uint64_t held = reader->file_bytes - state->offset;
    if (reader->array.rank > 0 && reader->array.dims[0] < 0)
        return rows_from_size(reader, held, error);
    return check_size(reader, held, error);
}

static bool read_gapped(struct ps_reader *reader, int64_t first_row, int64_t rows, char *data,
                        struct ps_error *error)
{
    const struct state *state = reader->state;
    size_t row = ps_array_row_bytes(&reader->array);
    uint64_t at = state->offset + (uint64_t)first_row * state->stride;
    bool apart = state->stride - row > GAP_BYTES || state->stride > BUFFER_BYTES;
    int64_t step = apart ? 1 : (int64_t)(BUFFER_BYTES / state->stride);
    char *buffer = apart ? NULL : malloc(BUFFER_BYTES);
    if (!apart && buffer == NULL)
        return ps_fail_memory(error, BUFFER_BYTES, "rows with gaps between them");
    bool fine = true;
    for (int64_t done = 0; fine && done < rows; done += step) {
        int64_t count = rows - done < step ? rows - done : step;
        char *to = data + (size_t)done * row;
        fine = ps_file_read(state->file, reader->path, at + (uint64_t)done * state->stride,
                            apart ? to : buffer, (size_t)(count - 1) * state->stride + row, error);
        for (int64_t i = 0; fine && !apart && i < count; i++)
            memcpy(to + (size_t)i * row, buffer + (size_t)i * state->stride, row);
    }
    free(buffer);
    return fine;
}

// One row after the other; fewer than asked for when the end comes first.
static bool read_stream(struct ps_reader *reader, int64_t first_row, int64_t rows, char *data,
                        int64_t *rows_out, struct ps_error *error)
{
    struct state *state = reader->state;
    size_t row = ps_array_row_bytes(&reader->array), got = 0, wanted;
    bool gaps = state->stride > row;
    int64_t step = gaps ? 1 : rows;
    *rows_out = 0;
    while (*rows_out < rows) {
        uint64_t at = state->offset + (uint64_t)(first_row + *rows_out) * state->stride;
        wanted = (size_t)step * row;
        if (!ps_byte_stream_read(&state->stream, at, data + (size_t)*rows_out * row, wanted, &got,
                                 error))
            return false;
        *rows_out += (int64_t)(got / row);
        if (got < wanted)
            break;
    }
    bool known = ps_array_rows(&reader->array) != PS_ROWS_UNKNOWN;
    uint64_t held = state->stream.at > state->offset ? state->stream.at - state->offset : 0;
    if (*rows_out < rows && !known && held % state->stride != 0 && held % state->stride != row)
        return partial_row(reader, held, error);
    return true;
}

static bool check_end(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = reader->state;
    uint64_t bytes = 0, rest;
    needed_bytes(reader, &bytes); // fits: looked at when opened
    if (!ps_byte_stream_rest(&state->stream, state->offset + bytes, &rest, error))
        return false;
    if (!state->end_checked)
        warn_of_rest(reader, rest);
    state->end_checked = true;
    return true;
}

static bool read_rows(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                      int64_t *rows_out, struct ps_error *error)
{
    struct state *state = reader->state;
    size_t row = ps_array_row_bytes(&reader->array);
    int64_t all = ps_array_rows(&reader->array);
    *rows_out = rows;
    if (state->file < 0 && row > 0)
        return read_stream(reader, first_row, rows, data, rows_out, error) &&
               (all == PS_ROWS_UNKNOWN || first_row + *rows_out < all || check_end(reader, error));
    if (state->stride > row)
        return read_gapped(reader, first_row, rows, data, error);
    return ps_file_read(state->file, reader->path, state->offset + (uint64_t)first_row * row, data,
                        (size_t)rows * row, error);
}

static bool raw_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    const struct state *state = reader->state;
    if (!read_rows(reader, first_row, rows, data, &result->rows, error))
        return false;
    size_t count = (size_t)(result->rows * ps_array_row_elements(&reader->array));
    result->bytes = count * ps_dtype_bytes(reader->array.dtype);
    result->decode_ms = ps_decode(reader->array.dtype, state->swapped, data, count);
    return true;
}

static void raw_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    if (state->file >= 0)
        close(state->file);
    ps_byte_stream_close(&state->stream);
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
    struct ps_byte_writer *out;
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
    state->out = ps_byte_writer_open(writer, ps_gzip_level(writer), error);
    if (state->out == NULL)
        return false;
    if (state->swapped && (state->buffer = malloc(SWAP_BYTES)) == NULL)
        return ps_fail_memory(error, SWAP_BYTES, "swapping bytes");
    return true;
}

static bool write_swapped(const struct ps_writer *writer, const char *data, size_t bytes,
                          struct ps_error *error)
{
    const struct written *state = writer->state;
    size_t element = ps_dtype_bytes(writer->array->dtype);
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < SWAP_BYTES ? bytes - done : SWAP_BYTES;
        memcpy(state->buffer, data + done, part);
        ps_byte_swap(state->buffer, element, part / element);
        if (!ps_byte_writer_put(state->out, state->buffer, part, error))
            return false;
        done += part;
    }
    return true;
}

static bool raw_write(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                      struct ps_error *error)
{
    const struct written *state = writer->state;
    size_t bytes = (size_t)rows * ps_array_row_bytes(writer->array);
    (void)first_row;
    return state->swapped ? write_swapped(writer, data, bytes, error)
                          : ps_byte_writer_put(state->out, data, bytes, error);
}

static bool raw_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct written *state = writer->state;
    (void)rows; // the size of the file tells
    return ps_byte_writer_finish(state->out, error);
}

static void raw_close_writer(struct ps_writer *writer)
{
    struct written *state = writer->state;
    if (state == NULL)
        return;
    ps_byte_writer_close(state->out);
    free(state->buffer);
    free(state);
}

static const struct ps_format_writer raw_writer = {
    .create = raw_create, .write = raw_write, .finish = raw_finish, .close = raw_close_writer};

const struct ps_format ps_format_raw = {
    .name = "raw",
    .help = "elements without any header; dtype, shape, offset and byte order are given",
    .suffixes = ".raw|.bin",
    .flags = PS_READ_ANYWHERE | PS_GZIP | PS_STREAMED,
    .read_options = read_options,
    .write_options = write_options,
    .open = raw_open,
    .read = raw_read,
    .close = raw_close,
    .writer = &raw_writer,
    .inspect = raw_inspect,
};
