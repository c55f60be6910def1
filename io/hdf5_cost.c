// SPDX-License-Identifier: Apache-2.0
// What reading rows costs where they do not lie together: chunks that are unpacked for a part of
// them.
#include "io/hdf5_reader.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CACHE_BYTES (1u << 20)   // of the library
#define LARGEST_CACHE_BYTES (256u << 20) // of chunks, per input
#define GOOD_CHUNK_BYTES (1u << 20)

struct cost {
    const struct ps_hdf5_view *view;
    int streamed; // axis of the dataset
    bool chunked;
    hsize_t chunk[H5S_MAX_RANK];
    size_t element;             // bytes of one
    double row_bytes;           // what a row holds
    double pieces, piece_bytes; // what has to be read for it: chunks, or stretches of the file
};

// How many different chunks the selected elements of an axis lie in.
static double chunks_along(const struct ps_hdf5_axis *axis, hsize_t chunk)
{
    if (axis->count == 0)
        return 0;
    int64_t step = axis->step < 0 ? -axis->step : axis->step, last = (axis->count - 1) * step;
    int64_t low = axis->step < 0 ? axis->start - last : axis->start;
    if ((hsize_t)step >= chunk)
        return (double)axis->count;
    return (double)((hsize_t)(low + last) / chunk - (hsize_t)low / chunk + 1);
}

static void count_chunks(struct cost *cost, size_t element)
{
    cost->pieces = 1;
    cost->piece_bytes = (double)element;
    for (int i = 0; i < cost->view->file_rank; i++) {
        cost->piece_bytes *= (double)cost->chunk[i];
        if (i != cost->streamed)
            cost->pieces *= chunks_along(&cost->view->all[i], cost->chunk[i]);
    }
}

// Of a dataset in one piece: axes inside of the streamed one lie together when they are whole.
static void count_stretches(struct cost *cost, size_t element)
{
    cost->pieces = 1;
    cost->piece_bytes = (double)element;
    for (int i = cost->view->file_rank - 1; i >= 0; i--) {
        const struct ps_hdf5_axis *axis = &cost->view->all[i];
        if (i > cost->streamed && cost->pieces == 1 && (axis->step == 1 || axis->count == 1))
            cost->piece_bytes *= (double)axis->count;
        else if (i != cost->streamed)
            cost->pieces *= (double)axis->count;
    }
}

// The same number of elements in about GOOD_CHUNK_BYTES, a few rows each.
static void better_chunk(const struct cost *cost, size_t element, char out[PS_HDF5_SHAPE_TEXT])
{
    const struct ps_hdf5_view *view = cost->view;
    int64_t shape[H5S_MAX_RANK];
    double bytes = (double)element;
    for (int i = 0; i < view->file_rank; i++) {
        int64_t size = view->all[i].size;
        shape[i] = i == cost->streamed && size > 16 ? 16 : size;
        bytes *= (double)shape[i];
    }
    while (bytes > GOOD_CHUNK_BYTES) {
        int largest = 0;
        for (int i = 1; i < view->file_rank; i++)
            if (i != cost->streamed && (largest == cost->streamed || shape[i] > shape[largest]))
                largest = i;
        if (shape[largest] <= 1)
            break;
        bytes = bytes / (double)shape[largest] * (double)((shape[largest] + 1) / 2);
        shape[largest] = (shape[largest] + 1) / 2;
    }
    size_t used = 0;
    for (int i = 0; i < view->file_rank && used < PS_HDF5_SHAPE_TEXT; i++)
        used += (size_t)snprintf(out + used, PS_HDF5_SHAPE_TEXT - used, "%s%lld", i > 0 ? "x" : "",
                                 (long long)shape[i]);
}

static const char *size_text(double bytes, char out[32])
{
    return ps_size_text(bytes < 1e18 ? (uint64_t)bytes : (uint64_t)1e18, out, 32);
}

static void warn(const struct cost *cost, const struct ps_reader *reader, size_t element)
{
    const struct ps_hdf5_state *state = reader->state;
    char better[PS_HDF5_SHAPE_TEXT] = "", row[32], all[32], piece[32];
    double read = cost->pieces * cost->piece_bytes;
    better_chunk(cost, element, better);
    size_text(cost->row_bytes, row);
    size_text(cost->piece_bytes, piece);
    size_text(read, all);
    if (!cost->chunked)
        ps_log(
            PS_LOG_WARNING,
            "%s: dataset %s is streamed along axis %d: each row, of %s, lies in %.0f pieces of %s "
            "all over the dataset, so large blocks read it best; chunks of %s would make it cheap "
            "(h5repack -l %s:CHUNK=%s)",
            reader->path, state->name, cost->streamed, row, cost->pieces, piece, better,
            state->name, better);
    else
        ps_log(
            PS_LOG_WARNING,
            "%s: dataset %s is streamed along axis %d: for each row, of %s, %.0f chunks of %s are "
            "read and unpacked (%s, %.0f times what is needed)%s; chunks of %s would make it cheap "
            "(h5repack -l %s:CHUNK=%s)",
            reader->path, state->name, cost->streamed, row, cost->pieces, piece, all,
            read / cost->row_bytes,
            read <= LARGEST_CACHE_BYTES / 2 ? ", and kept for the next rows"
                                            : ", and again for every block of fewer rows than a "
                                              "chunk, as they are too large to keep",
            better, state->name, better);
}

static void count_pieces(struct cost *cost, hid_t set, hid_t properties)
{
    hid_t type = H5Dget_type(set);
    size_t element = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0)
        H5Tclose(type);
    cost->element = element;
    cost->row_bytes = (double)element;
    for (int i = 1; i < cost->view->rank; i++)
        cost->row_bytes *= (double)cost->view->all[cost->view->axes[i]].count;
    cost->chunked = H5Pget_layout(properties) == H5D_CHUNKED &&
                    H5Pget_chunk(properties, H5S_MAX_RANK, cost->chunk) == cost->view->file_rank;
    if (cost->chunked)
        count_chunks(cost, element);
    else
        count_stretches(cost, element);
}

size_t ps_hdf5_chunk_cache(struct ps_reader *reader, hid_t properties)
{
    const struct ps_hdf5_state *state = reader->state;
    const struct ps_hdf5_view *view = &state->view;
    if (view->rank == 0 || H5Pget_layout(properties) == H5D_COMPACT)
        return 0;
    struct cost cost = {.view = view, .streamed = view->axes[0]};
    const struct ps_hdf5_axis *axis = &view->all[cost.streamed];
    count_pieces(&cost, state->set, properties);
    double needed = cost.pieces * cost.piece_bytes; // for one row
    bool kept = needed <= LARGEST_CACHE_BYTES / 2;
    bool across = view->moved >= 0 && (cost.chunked ? needed > cost.row_bytes : cost.pieces > 1);
    int64_t rows = cost.chunked ? (int64_t)cost.chunk[cost.streamed] / labs(axis->step) : 0;
    bool again = cost.chunked && !kept && rows > 1;
    if (again)
        reader->row_group = rows < axis->count ? rows : axis->count;
    if (across && !reader->told && cost.row_bytes > 0 && axis->count > 1)
        warn(&cost, reader, cost.element);
    return cost.chunked && kept && needed > DEFAULT_CACHE_BYTES / 2 ? (size_t)(2 * needed) : 0;
}
