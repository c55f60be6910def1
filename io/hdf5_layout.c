// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_layout.h"

#include <math.h>
#include <string.h>

// Of `chunks: auto`. Small chunks: who reads a column unpacks whole chunks for it.
#define CHUNK_BYTES (64u << 10)
#define CHUNK_BYTES_MOST (256u << 10)
#define CHUNKS_MANY (1 << 16)
// The library's (and so h5py's) cache: where the chunks of one row fit in it, reading row after row
// unpacks every chunk once.
#define READER_CACHE_BYTES (1u << 20)

#define WRITER_CACHE_BYTES (16u << 20)       // at least
#define WRITER_CACHE_BYTES_MOST (1ull << 30) // where chunks are packed
#define BAND_BYTES_MOST (64ull << 20)        // of `chunks: auto`: all chunks that one row touches
#define CHUNK_BYTES_LIMIT ((1ull << 32) - 1) // of the format

static size_t target_bytes(const struct ps_array *array)
{
    size_t bytes = CHUNK_BYTES, whole;
    bool known = array->dims[0] != PS_ROWS_UNKNOWN && ps_array_bytes(array, &whole);
    while (known && bytes < CHUNK_BYTES_MOST && whole / bytes > CHUNKS_MANY)
        bytes *= 2;
    return bytes;
}

// As many rows as the reader's cache holds, but within a factor of a square of elements.
static double balanced_rows(const struct ps_array *array, double elements)
{
    double row = (double)ps_array_row_bytes(array), side = sqrt(elements);
    double rows = READER_CACHE_BYTES / row;
    rows = rows < side / 4 ? side / 4 : rows > 2 * side ? 2 * side : rows;
    double most = (double)BAND_BYTES_MOST / row;
    rows = rows > most ? most : rows;
    return rows < 1 ? 1 : rows;
}

static hsize_t at_least_one(int64_t dim)
{
    return dim > 0 ? (hsize_t)dim : 1;
}

void ps_hdf5_chunk_shape(const struct ps_array *array, hsize_t chunk[PS_RANK_MAX])
{
    double elements = (double)target_bytes(array) / (double)ps_dtype_bytes(array->dtype);
    double wanted = ps_array_row_bytes(array) > 0 ? elements / balanced_rows(array, elements) : 1;
    double row = 1;
    for (int i = 1; i < array->rank; i++)
        row *= (double)(chunk[i] = at_least_one(array->dims[i]));
    while (row > wanted) { // the longest axis is halved until the row's part is small enough
        int longest = 1;
        for (int i = 2; i < array->rank; i++)
            longest = chunk[i] > chunk[longest] ? i : longest;
        if (chunk[longest] == 1)
            break;
        row /= (double)chunk[longest];
        chunk[longest] = (chunk[longest] + 1) / 2;
        row *= (double)chunk[longest];
    }
    double rows = elements / row;
    double most = (double)BAND_BYTES_MOST / (double)(ps_array_row_bytes(array) + 1);
    rows = rows > most ? most : rows;
    chunk[0] = rows > 1 ? (hsize_t)rows : 1;
    if (array->dims[0] != PS_ROWS_UNKNOWN && chunk[0] > at_least_one(array->dims[0]))
        chunk[0] = at_least_one(array->dims[0]);
}

static bool given_shape(const struct ps_value *chunks, const struct ps_array *array,
                        hsize_t chunk[PS_RANK_MAX], struct ps_error *error)
{
    char text[PS_ARRAY_TEXT];
    double bytes = (double)ps_dtype_bytes(array->dtype);
    if (chunks->count != array->rank)
        return ps_fail(error, PS_USAGE,
                       "chunks: %d number%s for an array of %d ax%s (%s); write one "
                       "for each axis, -1 for all of it",
                       chunks->count, chunks->count == 1 ? "" : "s", array->rank,
                       array->rank == 1 ? "is" : "es", ps_array_text(array, text));
    for (int i = 0; i < array->rank; i++) {
        int64_t size = chunks->integers[i], dim = array->dims[i];
        if (size == 0 || (size < 0 && dim == PS_ROWS_UNKNOWN))
            return ps_fail(error, PS_USAGE, "chunks: %lld for axis %d of %s; %s", (long long)size,
                           i, ps_array_text(array, text),
                           size == 0 ? "a chunk has at least 1 element"
                                     : "the number of rows is not known before the end: give one");
        bool whole = size < 0 || (dim != PS_ROWS_UNKNOWN && size > dim);
        chunk[i] = whole ? at_least_one(dim) : (hsize_t)size;
        bytes *= (double)chunk[i];
    }
    return bytes <= (double)CHUNK_BYTES_LIMIT ||
           ps_fail(error, PS_USAGE,
                   "chunks: a chunk would have %.0f bytes; HDF5 takes less than 4 "
                   "GiB",
                   bytes);
}

// Rows arrive in order, so all chunks that one row touches are open at a time.
static bool set_cache(const struct ps_array *array, struct ps_hdf5_layout *layout,
                      struct ps_error *error)
{
    double band = (double)ps_dtype_bytes(array->dtype) * (double)layout->chunk[0];
    for (int i = 1; i < array->rank; i++) {
        hsize_t size = layout->chunk[i];
        band *= (double)(((hsize_t)array->dims[i] + size - 1) / size * size);
    }
    bool too_much = 2 * band > (double)WRITER_CACHE_BYTES_MOST;
    if (too_much && layout->pack.count > 0)
        return ps_fail(error, PS_USAGE,
                       "chunks: rows arrive one after the other, so chunks of %llu "
                       "rows would keep %.1f GiB in memory until they can be packed; at most 0.5 "
                       "are: take fewer rows",
                       (unsigned long long)layout->chunk[0], band / 0x1p30);
    // What is not packed can be written to its place in parts.
    layout->cache_bytes =
        too_much || 2 * band < WRITER_CACHE_BYTES ? WRITER_CACHE_BYTES : (size_t)(2 * band);
    return true;
}

static bool refuse_scalar(const char *asked, struct ps_error *error)
{
    return ps_fail(error, PS_USAGE,
                   "%s: the array is one number, which cannot lie in chunks; remove "
                   "`%s`",
                   asked, asked);
}

bool ps_hdf5_layout_choose(const struct ps_values *options, const struct ps_array *array,
                           struct ps_hdf5_layout *layout_out, struct ps_error *error)
{
    const struct ps_value *chunks = ps_values_get(options, "chunks");
    *layout_out = (struct ps_hdf5_layout){0};
    if (!ps_hdf5_pack_choose(options, array->dtype, &layout_out->pack, error))
        return false;
    bool shaped = chunks->given && !chunks->automatic;
    if (array->rank == 0 && (shaped || layout_out->pack.count > 0))
        return refuse_scalar(shaped                                              ? "chunks"
                             : ps_values_get(options, "compression")->choice > 0 ? "compression"
                             : ps_values_get(options, "fletcher32")->truth       ? "fletcher32"
                                                                                 : "shuffle",
                             error);
    layout_out->chunked = array->rank > 0 && (shaped || layout_out->pack.count > 0 ||
                                              array->dims[0] == PS_ROWS_UNKNOWN);
    if (!layout_out->chunked)
        return true;
    if (shaped) {
        if (!given_shape(chunks, array, layout_out->chunk, error))
            return false;
    } else {
        ps_hdf5_chunk_shape(array, layout_out->chunk);
    }
    return set_cache(array, layout_out, error);
}
