// SPDX-License-Identifier: Apache-2.0
// The writer of the format npy. The header comes last, when the row count is known: until then
// the file is no .npy file. Where bytes cannot be replaced (packed, standard output) the count has
// to be known from the start.
#include "io/npy.h"

#include "io/byte_writer.h"
#include "io/npy_header.h"

#include <string.h>

static bool put_header(struct ps_writer *writer, int64_t rows, bool last, struct ps_error *error)
{
    char header[PS_NPY_HEADER_BYTES] = {0};
    size_t length = ps_npy_header_write(writer->array, rows, header);
    if (length == 0)
        return ps_fail_memory(error, PS_NPY_HEADER_BYTES, "a npy header");
    if (last)
        return ps_byte_writer_patch(writer->state, 0, header, length, error);
    if (ps_byte_writer_can_patch(writer->state))
        memset(header, 0, sizeof header);
    return ps_byte_writer_put(writer->state, header, length, error);
}

static bool npy_create(struct ps_writer *writer, struct ps_error *error)
{
    int64_t rows = ps_array_rows(writer->array);
    struct ps_byte_writer *out = ps_byte_writer_open(writer, ps_gzip_level(writer), error);
    writer->state = out;
    if (out == NULL)
        return false;
    if (rows == PS_ROWS_UNKNOWN && !ps_byte_writer_can_patch(out))
        return ps_fail(
            error, PS_OUTPUT,
            "%s: how many rows come is known only at the end, but a npy header that is "
            "packed or in a pipe cannot be filled in then; write csv, raw or a plain file",
            strcmp(writer->path, "-") == 0 ? "standard output" : writer->path);
    return put_header(writer, rows == PS_ROWS_UNKNOWN ? 0 : rows, false, error);
}

static bool npy_write(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                      struct ps_error *error)
{
    (void)first_row;
    return ps_byte_writer_put(writer->state, data, (size_t)rows * ps_array_row_bytes(writer->array),
                              error);
}

static bool npy_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct ps_byte_writer *out = writer->state;
    return (!ps_byte_writer_can_patch(out) || put_header(writer, rows, true, error)) &&
           ps_byte_writer_finish(out, error);
}

static void npy_close(struct ps_writer *writer)
{
    ps_byte_writer_close(writer->state);
}

const struct ps_format_writer ps_npy_writer = {
    .create = npy_create, .write = npy_write, .finish = npy_finish, .close = npy_close};
