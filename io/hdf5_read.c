// SPDX-License-Identifier: Apache-2.0
// Reading HDF5. Where a dataset lies in one piece and needs no conversion beyond the order of
// bytes, its rows are read from the file directly, from many threads; everything else goes through
// the library, which takes one call at a time.
#include "io/hdf5_common.h"

#include "io/decode.h"
#include "io/file.h"
#include "io/formats.h"
#include "io/hdf5_find.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ps_option read_options[] = {
    {.key = "dataset",
     .kind = PS_TEXT,
     .help =
         "Path of the dataset in the file; may be left out when the file has one numeric dataset"},
    {.key = "follow",
     .kind = PS_CHOICE,
     .fallback = "folder",
     .choices = "folder|anywhere",
     .help = "Where other files may lie that the file leads to (external links, sources of virtual "
             "datasets, external storage): under its own folder, or anywhere"},
    {0},
};

static const struct ps_option write_options[] = {
    {.key = "dataset",
     .kind = PS_TEXT,
     .fallback = "/data",
     .help = "Path of the dataset in the file; groups are made"},
    {.key = "compression",
     .kind = PS_CHOICE,
     .fallback = "none",
     .choices = "none|gzip-1|gzip-2|gzip-3|gzip-4|gzip-5|gzip-6|gzip-7|gzip-8|gzip-9",
     .help = "How chunks are compressed"},
    {.key = "shuffle",
     .kind = PS_TRUTH,
     .fallback = "true",
     .help = "Sort bytes by their place in the number before compressing: smaller files"},
    {0},
};

#define DEFAULT_CACHE_BYTES (1u << 20)   // of the library
#define LARGEST_CACHE_BYTES (256u << 20) // of chunks, per input

struct state {
    hid_t file, set, memory; // memory: the type to read with
    struct ps_hdf5_places places;
    struct ps_hdf5_found found; // where the dataset is
    int raw;                    // descriptor for direct reads, or -1
    uint64_t offset;            // of the data in the file, for direct reads
    bool swapped;
};

// ---- Opening ----

static void not_numbers(const struct ps_reader *reader, hid_t type, const char *name,
                        const char *what, struct ps_error *error)
{
    struct ps_text members = {0};
    char shown[80];
    int count = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    for (int i = 0; i < count && i < 20; i++) {
        char *member = H5Tget_member_name(type, (unsigned)i);
        if (member != NULL)
            ps_text_printf(&members, "%s%s", i > 0 ? ", " : ": ",
                           ps_escape(member, strlen(member), shown, sizeof shown));
        H5free_memory(member);
    }
    ps_fail(error, PS_INPUT, "%s: dataset %s is %s%s, not numbers", reader->path, name, what,
            members.data ? members.data : "");
    ps_text_free(&members);
}

static bool read_shape(struct ps_reader *reader, const char *name, struct ps_error *error)
{
    struct state *state = reader->state;
    hsize_t dims[H5S_MAX_RANK];
    int64_t sizes[PS_RANK_MAX] = {0};
    enum ps_dtype dtype;
    const char *what;
    hid_t type = H5Dget_type(state->set), space = H5Dget_space(state->set);
    bool numeric = type >= 0 && ps_hdf5_dtype(type, &dtype, &state->memory, &what);
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool null = space >= 0 && H5Sget_simple_extent_type(space) == H5S_NULL;
    if (type < 0 || rank < 0 || (rank > 0 && H5Sget_simple_extent_dims(space, dims, NULL) < 0))
        rank = -1;
    bool opened = rank >= 0;
    if (!opened)
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the type and shape of dataset %s",
                     reader->path, name);
    else if (!numeric)
        not_numbers(reader, type, name, what, error);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (!opened || !numeric)
        return false;
    if (null)
        return ps_fail(error, PS_INPUT, "%s: dataset %s has no shape (it is empty)", reader->path,
                       name);
    if (rank > 4)
        return ps_fail(error, PS_INPUT, "%s: dataset %s has %d axes; at most 4 are supported",
                       reader->path, name, rank);
    for (int i = 0; i < rank; i++) {
        if (dims[i] > INT64_MAX)
            return ps_fail(error, PS_INPUT, "%s: dataset %s is too large", reader->path, name);
        sizes[i] = (int64_t)dims[i];
    }
    ps_array_init(&reader->array, dtype, rank, sizes);
    return true;
}

// Not behind an external link: offsets of another file mean nothing in this one.
static bool is_in_this_file(const struct state *state)
{
    H5O_info_t file, set;
    return H5Oget_info(state->file, &file) >= 0 && H5Oget_info(state->set, &set) >= 0 &&
           file.fileno == set.fileno;
}

// A direct read needs: one piece in this very file, and numbers as they are in memory.
static void find_direct(struct ps_reader *reader, hid_t properties)
{
    struct state *state = reader->state;
    struct ps_error ignored = {0};
    uint64_t file_bytes;
    size_t bytes;
    hid_t type = H5Dget_type(state->set);
    bool plain = type >= 0 && ps_hdf5_is_plain(type, reader->array.dtype, &state->swapped);
    if (type >= 0)
        H5Tclose(type);
    if (!plain || H5Pget_layout(properties) != H5D_CONTIGUOUS ||
        H5Pget_external_count(properties) != 0 || !ps_array_bytes(&reader->array, &bytes))
        return;
    haddr_t offset = H5Dget_offset(state->set);
    if (offset == HADDR_UNDEF || bytes == 0)
        return; // never written: the library knows the fill value
    if (!is_in_this_file(state))
        return;
    state->raw = ps_file_open(reader->path, &file_bytes, &ignored);
    if (state->raw >= 0 && (offset > file_bytes || bytes > file_bytes - offset)) {
        close(state->raw); // truncated: the library will say so in its words
        state->raw = -1;
    }
    state->offset = offset;
}

// 0: not in chunks, or too many bytes for any cache.
static size_t chunk_row_bytes(const struct ps_array *array, hid_t properties)
{
    hsize_t chunk[PS_RANK_MAX];
    double bytes = (double)ps_dtype_bytes(array->dtype);
    if (H5Pget_layout(properties) != H5D_CHUNKED ||
        H5Pget_chunk(properties, PS_RANK_MAX, chunk) != array->rank)
        return 0;
    for (int i = 0; i < array->rank; i++) {
        hsize_t count = i == 0 ? 1 : ((hsize_t)array->dims[i] + chunk[i] - 1) / chunk[i];
        bytes *= (double)count * (double)chunk[i];
    }
    return bytes < 1e12 ? (size_t)bytes : 0;
}

// Chunks touched by one row range are wanted again by the next one: the cache holds a row of chunks
// twice, where that is not too much.
static bool reopen(struct ps_reader *reader, hid_t properties, const char *name,
                   struct ps_error *error)
{
    struct state *state = reader->state;
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    size_t cache = chunk_row_bytes(&reader->array, properties);
    bool fine = access >= 0;
    if (fine && cache > DEFAULT_CACHE_BYTES / 2 && cache <= LARGEST_CACHE_BYTES / 2)
        fine = H5Pset_chunk_cache(access, 12421, 2 * cache, H5D_CHUNK_CACHE_W0_DEFAULT) >= 0;
    if (fine) {
        H5Dclose(state->set); // an open dataset keeps its cache
        state->set = ps_hdf5_found_open(&state->found, access);
        fine = state->set >= 0;
    }
    if (!fine)
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot open dataset %s", reader->path, name);
    if (access >= 0)
        H5Pclose(access);
    return fine;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool all_differ(char *const *names, size_t count)
{
    char **sorted = malloc((count + 1) * sizeof *sorted);
    bool differ = sorted != NULL;
    if (differ) {
        memcpy(sorted, names, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_text);
    }
    for (size_t i = 1; differ && i < count; i++)
        differ = strcmp(sorted[i - 1], sorted[i]) != 0;
    free(sorted);
    return differ;
}

static void read_columns(struct ps_reader *reader)
{
    struct state *state = reader->state;
    struct ps_error ignored = {0};
    hsize_t count = 0;
    if (reader->array.rank == 0 || H5Aexists(state->set, "columns") <= 0)
        return;
    hid_t attribute = H5Aopen(state->set, "columns", H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    bool strings = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0 &&
                   space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                   H5Sget_simple_extent_dims(space, &count, NULL) == 1 &&
                   (int64_t)count == reader->array.dims[reader->array.rank - 1] && count < 1000000;
    char **names = strings ? calloc(count + 1, sizeof *names) : NULL;
    if (names != NULL && H5Aread(attribute, type, names) >= 0) {
        bool complete = true;
        for (hsize_t i = 0; i < count; i++)
            complete = complete && names[i] != NULL;
        if (complete && all_differ(names, (size_t)count))
            ps_array_set_columns(&reader->array, (int)count, (const char *const *)names, &ignored);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, names);
    }
    free(names);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
}

static bool open_all(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = reader->state;
    const struct ps_value *value = ps_values_get(reader->options, "dataset");
    bool anywhere = ps_values_get(reader->options, "follow")->choice == 1;
    state->file = ps_hdf5_open(reader->path, error);
    if (state->file < 0 ||
        !ps_hdf5_places_init(&state->places, reader->path, anywhere, H5F_ACC_RDONLY, error))
        return false;
    char *path = NULL, shown[300];
    state->set = ps_hdf5_find(state->file, &state->places, value->given ? value->text : NULL,
                              &state->found, &path, error);
    if (state->set < 0)
        return false;
    const char *name = ps_escape(path, strlen(path), shown, sizeof shown);
    bool fine = ps_hdf5_check_storage(&state->places, state->set, name, error) &&
                read_shape(reader, name, error);
    hid_t properties = fine ? H5Dget_create_plist(state->set) : -1;
    fine = fine && reopen(reader, properties, name, error);
    if (fine) {
        find_direct(reader, properties);
        read_columns(reader);
    }
    if (properties >= 0)
        H5Pclose(properties);
    free(path);
    return fine;
}

static bool hdf5_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "an HDF5 reader");
    state->file = state->set = state->memory = state->found.group = -1;
    state->raw = -1;
    reader->state = state;
    ps_hdf5_lock();
    bool fine = open_all(reader, error);
    ps_hdf5_unlock();
    size_t bytes = 0;
    if (fine && ps_array_bytes(&reader->array, &bytes))
        reader->file_bytes = bytes;
    reader->way = state->raw >= 0 ? "pread" : "H5Dread";
    return fine;
}

static void hdf5_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    ps_hdf5_lock();
    if (state->memory >= 0)
        H5Tclose(state->memory);
    if (state->set >= 0)
        H5Dclose(state->set);
    ps_hdf5_found_free(&state->found);
    if (state->file >= 0)
        H5Fclose(state->file);
    ps_hdf5_unlock();
    ps_hdf5_places_free(&state->places);
    if (state->raw >= 0)
        close(state->raw);
    free(state);
}

// ---- Reading ----

static bool read_library(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                         struct ps_error *error)
{
    struct state *state = reader->state;
    const struct ps_array *array = &reader->array;
    hsize_t start[PS_RANK_MAX] = {0}, count[PS_RANK_MAX];
    for (int i = 0; i < array->rank; i++)
        count[i] = (hsize_t)array->dims[i];
    start[0] = (hsize_t)first_row;
    count[0] = (hsize_t)rows;
    ps_hdf5_lock();
    hid_t from = H5Dget_space(state->set);
    hid_t to =
        array->rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(array->rank, count, NULL);
    bool fine = from >= 0 && to >= 0 &&
                (array->rank == 0 ||
                 H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) &&
                H5Dread(state->set, state->memory, to, from, H5P_DEFAULT, data) >= 0;
    if (!fine)
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot read rows %lld to %lld", reader->path,
                     (long long)first_row, (long long)(first_row + rows - 1));
    if (from >= 0)
        H5Sclose(from);
    if (to >= 0)
        H5Sclose(to);
    ps_hdf5_unlock();
    return fine;
}

static bool hdf5_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                      struct ps_read_result *result, struct ps_error *error)
{
    struct state *state = reader->state;
    size_t row_bytes = ps_array_row_bytes(&reader->array), bytes = row_bytes * (size_t)rows;
    size_t count = (size_t)(rows * ps_array_row_elements(&reader->array));
    result->rows = rows;
    result->bytes = bytes;
    if (bytes == 0)
        return true;
    if (state->raw >= 0) {
        if (!ps_file_read(state->raw, reader->path, state->offset + (uint64_t)first_row * row_bytes,
                          data, bytes, error))
            return false;
        result->decode_ms = ps_decode(reader->array.dtype, state->swapped, data, count);
        return true;
    }
    if (!read_library(reader, first_row, rows, data, error))
        return false;
    result->decode_ms = ps_decode(reader->array.dtype, false, data, count);
    return true;
}

static bool hdf5_recognise(const unsigned char *head, size_t length)
{
    // Format signature, at 0 or behind a user block of 512, 1024, 2048 ... bytes (specification,
    // II.A).
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    for (size_t at = 0; at + 8 <= length; at = at == 0 ? 512 : at * 2)
        if (memcmp(head + at, signature, 8) == 0)
            return true;
    return false;
}

const struct ps_format ps_format_hdf5 = {
    .name = "hdf5",
    .help = "HDF5 datasets (also netCDF-4 and MATLAB v7.3 files)",
    .suffixes = ".h5|.hdf5|.hdf|.he5|.nc|.nxs|.mat",
    .flags = PS_READ_ANYWHERE | PS_OWN_PROVENANCE,
    .read_options = read_options,
    .write_options = write_options,
    .recognise = hdf5_recognise,
    .open = hdf5_open,
    .read = hdf5_read,
    .close = hdf5_close,
    .writer = &ps_hdf5_writer,
    .inspect = ps_hdf5_inspect,
};
