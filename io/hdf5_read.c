// SPDX-License-Identifier: Apache-2.0
// Reading HDF5. Where rows lie in one piece and need no conversion beyond the order of bytes, they
// are read from the file directly, from many threads; everything else goes through the library,
// which takes one call at a time.
#include "io/hdf5_reader.h"

#include "io/decode.h"
#include "io/formats.h"
#include "io/hdf5_probe.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ps_option read_options[] = {
    {.key = "dataset",
     .kind = PS_TEXT,
     .help =
         "Path of the dataset in the file; may be left out when the file has one numeric dataset"},
    {.key = "select",
     .kind = PS_WORDS,
     .help = "What is read of each axis of the dataset: an index (5: the axis is dropped), a range "
             "(start:stop or start:stop:step, negative numbers count from the end) or : for all"},
    {.key = "axis",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = -32,
     .max = 31,
     .help = "Axis of the dataset to stream along; it becomes the first axis, the others keep "
             "their order"},
    PS_HDF5_ELEMENT_OPTIONS,
    {.key = "follow",
     .kind = PS_CHOICE,
     .fallback = "folder",
     .choices = "folder|anywhere",
     .help = "Where other files may lie that the file leads to (external links, sources of virtual "
             "datasets, external storage): under its own folder, or anywhere"},
    {.key = "swmr",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "Read while one program writes (HDF5's single writer, multiple readers); the rows are "
             "those at the start"},
    {0},
};

#define NAME_BYTES 300 // of a dataset in messages

// ---- Opening ----

static bool set_array(struct ps_reader *reader, struct ps_error *error)
{
    struct ps_hdf5_state *state = reader->state;
    const struct ps_hdf5_view *view = &state->view;
    char shape[PS_HDF5_SHAPE_TEXT];
    int64_t sizes[PS_HDF5_RANK_MAX] = {0};
    if (view->rank > PS_HDF5_RANK_MAX)
        return ps_fail(
            error, PS_INPUT,
            "%s: dataset %s has %d axes (shape %s); at most %d can be read (those of one element "
            "do not count): an index in `select` drops an axis",
            reader->path, state->name, view->rank, ps_hdf5_shape_text(view, shape),
            PS_HDF5_RANK_MAX);
    for (int i = 0; i < view->rank; i++)
        sizes[i] = view->all[view->axes[i]].count;
    ps_array_init(&reader->array, state->element.raw, view->rank, sizes);
    return ps_hdf5_element_array(&state->element, state->label, &reader->array, error);
}

// What elements are, and the shape of what is selected.
static bool read_shape(struct ps_reader *reader, struct ps_error *error)
{
    struct ps_hdf5_state *state = reader->state;
    hsize_t dims[H5S_MAX_RANK];
    hid_t space = H5Dget_space(state->set);
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool null = space >= 0 && H5Sget_simple_extent_type(space) == H5S_NULL;
    if (rank > 0 && H5Sget_simple_extent_dims(space, dims, NULL) < 0)
        rank = -1;
    bool fine = rank >= 0;
    if (!fine)
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the shape of dataset %s", reader->path,
                     state->name);
    if (space >= 0)
        H5Sclose(space);
    fine = fine &&
           ps_hdf5_element_find(state->set, reader->options, state->label, &state->element, error);
    if (!fine)
        return false;
    if (null)
        return ps_fail(error, PS_INPUT, "%s: dataset %s has no shape (it is empty)", reader->path,
                       state->name);
    return ps_hdf5_view_init(&state->view, rank, dims, ps_values_get(reader->options, "select"),
                             ps_values_get(reader->options, "axis"), reader->path, state->name,
                             error) &&
           set_array(reader, error);
}

// An open dataset keeps its cache of chunks, so another size needs another opening.
static bool reopen(struct ps_reader *reader, hid_t properties, struct ps_error *error)
{
    struct ps_hdf5_state *state = reader->state;
    size_t cache = ps_hdf5_chunk_cache(reader, properties);
    if (cache == 0)
        return true;
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    bool fine =
        access >= 0 && H5Pset_chunk_cache(access, 12421, cache, H5D_CHUNK_CACHE_W0_DEFAULT) >= 0;
    if (fine) {
        H5Dclose(state->set);
        state->set = ps_hdf5_found_open(&state->found, access);
        fine = state->set >= 0;
    }
    if (!fine)
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot open dataset %s", reader->path, state->name);
    if (access >= 0)
        H5Pclose(access);
    return fine;
}

static void cover(struct ps_hdf5_state *state, hid_t properties)
{
    hsize_t chunk[H5S_MAX_RANK];
    bool chunked = H5Pget_layout(properties) == H5D_CHUNKED;
    if (state->raw < 0 &&
        (!chunked || H5Pget_chunk(properties, H5S_MAX_RANK, chunk) == state->view.file_rank))
        ps_hdf5_view_cover(&state->view, chunked ? chunk : NULL);
}

static bool find_set(struct ps_reader *reader, struct ps_error *error)
{
    struct ps_hdf5_state *state = reader->state;
    const struct ps_value *value = ps_values_get(reader->options, "dataset");
    char *path = NULL;
    state->name = malloc(NAME_BYTES);
    if (state->name == NULL)
        return ps_fail_memory(error, NAME_BYTES, "a name");
    state->set = ps_hdf5_find(state->file, &state->places, value->given ? value->text : NULL,
                              &state->found, &path, error);
    if (state->set < 0)
        return false; // and there is no path
    ps_escape(path, strlen(path), state->name, NAME_BYTES);
    free(path);
    struct ps_text label = {0};
    ps_text_printf(&label, "%s: dataset %s", reader->path, state->name);
    state->label = label.data;
    return !label.failed || ps_fail_memory(error, strlen(reader->path), "a name");
}

static bool open_all(struct ps_reader *reader, struct ps_error *error)
{
    struct ps_hdf5_state *state = reader->state;
    bool anywhere = ps_values_get(reader->options, "follow")->choice == 1;
    bool swmr = ps_values_get(reader->options, "swmr")->truth;
    unsigned flags = swmr ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ : H5F_ACC_RDONLY;
    state->file = ps_hdf5_open(reader->path, flags, error);
    bool fine = state->file >= 0 &&
                ps_hdf5_places_init(&state->places, reader->path, anywhere, flags, error) &&
                find_set(reader, error) &&
                ps_hdf5_check_storage(&state->places, state->set, state->name, error) &&
                read_shape(reader, error);
    hid_t properties = fine ? H5Dget_create_plist(state->set) : -1;
    fine = fine && reopen(reader, properties, error);
    if (fine) {
        if (ps_hdf5_element_is_plain(&state->element) && state->element.rank == 0)
            ps_hdf5_find_direct(reader, properties);
        cover(state, properties);
        if (state->element.rank == 0 && state->element.unit == PS_HDF5_NUMBER)
            ps_hdf5_read_columns(reader);
    }
    if (properties >= 0)
        H5Pclose(properties);
    return fine;
}

// What a broken filter would do later: one element at either end. Its error is told when it is
// wanted.
static void try_element(const struct ps_hdf5_state *state, bool last)
{
    struct ps_hdf5_view one = state->view;
    for (int i = 0; i < one.file_rank; i++) {
        struct ps_hdf5_axis *axis = &one.all[i];
        if (axis->count == 0)
            return;
        axis->start += last ? (axis->count - 1) * axis->step : 0;
        axis->count = 1;
        axis->covered = false;
    }
    void *element = malloc(state->element.bytes + 1);
    hid_t from = H5Dget_space(state->set);
    hid_t to = from >= 0 ? ps_hdf5_view_select(&one, from, 0, 1) : -1;
    if (element != NULL && to >= 0)
        H5Dread(state->set, state->element.memory, to, from, H5P_DEFAULT, element);
    if (to >= 0)
        H5Sclose(to);
    if (from >= 0)
        H5Sclose(from);
    free(element);
    H5Eclear2(H5E_DEFAULT);
}

static bool try_all(void *context, struct ps_text *out, struct ps_error *error)
{
    struct ps_reader *reader = context;
    (void)out;
    bool fine = open_all(reader, error) && ps_hdf5_check_claims(reader, error);
    for (int last = 0; fine && last < 2; last++)
        try_element(reader->state, last != 0);
    return fine;
}

static bool hdf5_open(struct ps_reader *reader, struct ps_error *error)
{
    struct ps_hdf5_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "an HDF5 reader");
    state->file = state->set = state->element.memory = state->found.group = -1;
    state->raw = -1;
    reader->state = state;
    ps_hdf5_lock();
    bool fine = (reader->seen || ps_hdf5_probe(reader->path, try_all, reader, NULL, error)) &&
                open_all(reader, error);
    ps_hdf5_unlock();
    size_t bytes = 0;
    if (fine && ps_array_bytes(&reader->array, &bytes))
        reader->file_bytes = bytes;
    reader->way = state->raw >= 0 ? "pread" : "H5Dread";
    return fine;
}

static void hdf5_close(struct ps_reader *reader)
{
    struct ps_hdf5_state *state = reader->state;
    ps_hdf5_lock();
    ps_hdf5_element_free(&state->element);
    if (state->set >= 0)
        H5Dclose(state->set);
    ps_hdf5_found_free(&state->found);
    if (state->file >= 0)
        H5Fclose(state->file);
    ps_hdf5_unlock();
    ps_hdf5_places_free(&state->places);
    free(state->name);
    free(state->label);
    if (state->raw >= 0)
        close(state->raw);
    free(state);
}

// ---- Reading ----

static bool read_library(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                         struct ps_error *error)
{
    ps_hdf5_lock();
    bool fine = ps_hdf5_read_rows(reader, first_row, rows, data, error);
    ps_hdf5_unlock();
    return fine;
}

// Elements in the order of the array, from those in the order of the file; elements as they are
// read become the array's. Both buffers are as large as the block as it is read.
static bool decode_rows(struct ps_reader *reader, int64_t first_row, int64_t rows, char *from,
                        char *arranged, void *data, struct ps_error *error)
{
    struct ps_hdf5_state *state = reader->state;
    const struct ps_hdf5_element *element = &state->element;
    bool plain = ps_hdf5_element_is_plain(element);
    int64_t row_elements = 1;
    for (int i = 1; i < state->view.rank; i++)
        row_elements *= state->view.all[state->view.axes[i]].count;
    if (!ps_hdf5_view_is_in_order(&state->view)) {
        ps_hdf5_view_arrange(&state->view, rows, element->bytes, from, plain ? data : arranged);
        from = arranged;
    }
    return plain || ps_hdf5_element_decode(element, state->label, first_row, row_elements, from,
                                           rows * row_elements, data, error);
}

// By way of buffers, where the array's order is not the file's or its elements are others.
static bool read_and_decode(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                            struct ps_read_result *result, struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    bool both =
        !ps_hdf5_view_is_in_order(&state->view) && !ps_hdf5_element_is_plain(&state->element);
    size_t bytes = (size_t)ps_hdf5_view_elements(&state->view, rows) * state->element.bytes;
    char *buffer = malloc(bytes + 1), *arranged = both ? malloc(bytes + 1) : NULL;
    bool fine = (buffer != NULL && (!both || arranged != NULL)) ||
                ps_fail_memory(error, bytes, "rows as the file has them");
    fine = fine && read_library(reader, first_row, rows, buffer, error);
    double start = ps_clock_ms();
    fine = fine && decode_rows(reader, first_row, rows, buffer, arranged, data, error);
    result->decode_ms += ps_clock_ms() - start;
    free(buffer);
    free(arranged);
    return fine;
}

static bool hdf5_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                      struct ps_read_result *result, struct ps_error *error)
{
    const struct ps_hdf5_state *state = reader->state;
    size_t count = (size_t)(rows * ps_array_row_elements(&reader->array));
    bool plain = ps_hdf5_element_is_plain(&state->element);
    result->rows = rows;
    result->bytes = (size_t)ps_hdf5_view_elements(&state->view, rows) * state->element.bytes;
    if (count == 0)
        return true;
    bool fine = state->raw >= 0 ? ps_hdf5_read_direct(reader, first_row, rows, data, error)
                : plain && ps_hdf5_view_is_in_order(&state->view)
                    ? read_library(reader, first_row, rows, data, error)
                    : read_and_decode(reader, first_row, rows, data, result, error);
    if (fine && plain)
        result->decode_ms +=
            ps_decode(reader->array.dtype, state->raw >= 0 && state->swapped, data, count);
    return fine;
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
    .write_options = ps_hdf5_write_options,
    .recognise = hdf5_recognise,
    .open = hdf5_open,
    .read = hdf5_read,
    .close = hdf5_close,
    .writer = &ps_hdf5_writer,
    .inspect = ps_hdf5_inspect,
};
