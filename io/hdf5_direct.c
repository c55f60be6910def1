// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"
#include "io/hdf5_reader.h"

#include <unistd.h>

#define PIECE_BYTES 4096 // rows apart from each other: below this the library's buffer does better

bool ps_hdf5_is_in_this_file(const struct ps_hdf5_state *state)
{
    H5O_info_t file, set;
    return H5Oget_info(state->file, &file) >= 0 && H5Oget_info(state->set, &set) >= 0 &&
           file.fileno == set.fileno;
}

static bool is_plain(const struct ps_reader *reader, struct ps_hdf5_state *state)
{
    hid_t type = H5Dget_type(state->set);
    bool plain = type >= 0 && ps_hdf5_is_plain(type, reader->array.dtype, &state->swapped);
    if (type >= 0)
        H5Tclose(type);
    return plain;
}

void ps_hdf5_find_direct(struct ps_reader *reader, hid_t properties)
{
    struct ps_hdf5_state *state = reader->state;
    struct ps_error ignored = {0};
    struct ps_hdf5_rows rows;
    uint64_t file_bytes;
    size_t bytes, element = ps_dtype_bytes(reader->array.dtype);
    if (H5Pget_layout(properties) != H5D_CONTIGUOUS || H5Pget_external_count(properties) != 0 ||
        !ps_array_bytes(&reader->array, &bytes) || bytes == 0 || !is_plain(reader, state) ||
        !ps_hdf5_view_rows(&state->view, &rows))
        return;
    if (rows.stride != rows.length && (uint64_t)rows.length * element < PIECE_BYTES)
        return;
    haddr_t offset = H5Dget_offset(state->set); // in the file, also behind a user block
    hsize_t stored = H5Dget_storage_size(state->set);
    if (offset == HADDR_UNDEF || !ps_hdf5_is_in_this_file(state))
        return; // never written (the library knows the fill value), or elsewhere
    state->raw = ps_file_open(reader->path, &file_bytes, &ignored);
    if (state->raw >= 0 && (offset > file_bytes || stored > file_bytes - offset)) {
        close(state->raw); // truncated: the library will say so in its words
        state->raw = -1;
    }
    state->offset = offset + (uint64_t)rows.first * element;
    state->stride = rows.stride * (int64_t)element;
}

bool ps_hdf5_read_direct(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                         struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    size_t row_bytes = ps_array_row_bytes(&reader->array);
    uint64_t at = state->offset + (uint64_t)(first_row * state->stride);
    if (state->stride == (int64_t)row_bytes || rows == 1)
        return ps_file_read(state->raw, reader->path, at, data, (size_t)rows * row_bytes, error);
    bool fine = true;
    for (int64_t i = 0; fine && i < rows; i++)
        fine = ps_file_read(state->raw, reader->path, at + (uint64_t)(i * state->stride),
                            (char *)data + (size_t)i * row_bytes, row_bytes, error);
    return fine;
}
