// SPDX-License-Identifier: Apache-2.0
// The writer of the format npy. The header comes last, when the row count is known: until then
// the file is no .npy file.
#include "io/npy.h"

#include "io/file.h"
#include "io/npy_header.h"

#include <stdlib.h>
#include <unistd.h>

struct state {
    int file;
    size_t data_offset;
};

static bool npy_create(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a npy writer");
    writer->state = state;
    state->data_offset = ps_npy_header_write(writer->array, 0, NULL);
    state->file = ps_file_create(writer->temp_path, error);
    if (state->data_offset == 0)
        return ps_fail_memory(error, PS_NPY_HEADER_BYTES, "a npy header");
    return state->file >= 0;
}

static bool npy_write(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                      struct ps_error *error)
{
    const struct state *state = writer->state;
    size_t row_bytes = ps_array_row_bytes(writer->array);
    return ps_file_write(state->file, writer->path,
                         state->data_offset + (uint64_t)first_row * row_bytes, data,
                         (size_t)rows * row_bytes, error);
}

static bool npy_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct state *state = writer->state;
    char header[PS_NPY_HEADER_BYTES];
    size_t length = ps_npy_header_write(writer->array, rows, header);
    if (length != state->data_offset)
        return ps_fail_memory(error, PS_NPY_HEADER_BYTES, "a npy header");
    if (!ps_file_write(state->file, writer->path, 0, header, length, error))
        return false;
    int file = state->file;
    state->file = -1;
    return close(file) == 0 || ps_fail_errno(error, PS_OUTPUT, "cannot write %s", writer->path);
}

static void npy_close(struct ps_writer *writer)
{
    struct state *state = writer->state;
    if (state == NULL)
        return;
    if (state->file >= 0)
        close(state->file);
    free(state);
}

const struct ps_format_writer ps_npy_writer = {npy_create, npy_write, npy_finish, npy_close};
