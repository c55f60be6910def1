// SPDX-License-Identifier: Apache-2.0
// Rows through the library, and which rows of a block it is that cannot be read: a block may hold
// many chunks, and one is broken.
#include "io/hdf5_reader.h"

#include <stdlib.h>

struct range { // of rows of the array
    int64_t first, count;
};

// shown: the rows that the message names.
static bool read_range(const struct ps_reader *reader, struct range range, struct range shown,
                       void *data, struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    hid_t from = H5Dget_space(state->set);
    hid_t to = from >= 0 ? ps_hdf5_view_select(&state->view, from, range.first, range.count) : -1;
    bool fine = to >= 0 && H5Dread(state->set, state->element.memory, to, from, H5P_DEFAULT, data) >= 0;
    if (!fine) // before other calls take the reason away
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot read rows %lld to %lld of dataset %s",
                     reader->path, (long long)shown.first,
                     (long long)(shown.first + shown.count - 1), state->name);
    if (from >= 0)
        H5Sclose(from);
    if (to >= 0)
        H5Sclose(to);
    return fine;
}

static int64_t at_least(int64_t value, int64_t low)
{
    return value < low ? low : value;
}

// The rows that share their chunks with `row`.
static struct range rows_of_chunk(const struct ps_hdf5_state *state, int64_t row)
{
    struct range range = {row, 1};
    hsize_t chunk[H5S_MAX_RANK];
    int streamed = state->view.rank > 0 ? state->view.axes[0] : 0;
    const struct ps_hdf5_axis *axis = &state->view.all[streamed];
    hid_t properties = H5Dget_create_plist(state->set);
    if (state->view.rank > 0 && properties >= 0 && H5Pget_layout(properties) == H5D_CHUNKED &&
        H5Pget_chunk(properties, H5S_MAX_RANK, chunk) == state->view.file_rank) {
        int64_t size = (int64_t)chunk[streamed], at = axis->start + row * axis->step;
        int64_t step = axis->step < 0 ? -axis->step : axis->step, inside = at % size;
        int64_t below = inside / step, above = (size - 1 - inside) / step; // rows on either side
        range.first = at_least(row - (axis->step > 0 ? below : above), 0);
        int64_t last = row + (axis->step > 0 ? above : below);
        range.count = (last < axis->count ? last + 1 : axis->count) - range.first;
    }
    if (properties >= 0)
        H5Pclose(properties);
    return range;
}

// Halves the range until it is the first row that fails.
static void narrow(const struct ps_reader *reader, struct range range, void *data,
                   struct ps_error *error)
{
    struct ps_error narrowed = {0};
    while (range.count > 1) {
        struct range half = {range.first, range.count / 2};
        struct ps_error ignored = {0};
        if (read_range(reader, half, half, data, &ignored))
            range = (struct range){range.first + half.count, range.count - half.count};
        else
            range = half;
    }
    if (!read_range(reader, range, rows_of_chunk(reader->state, range.first), data, &narrowed))
        *error = narrowed;
}

bool ps_hdf5_read_rows(const struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                       struct ps_error *error)
{
    struct range range = {first_row, rows};
    bool fine = read_range(reader, range, range, data, error);
    if (!fine)
        narrow(reader, range, data, error);
    return fine;
}
