// SPDX-License-Identifier: Apache-2.0
// Reading HDF5. Where a dataset lies in one piece and needs no conversion beyond the order of
// bytes, its rows are read from the file directly, from many threads; everything else goes through
// the library, which takes one call at a time.
#include "io/hdf5_common.h"

#include "io/decode.h"
#include "io/file.h"
#include "io/formats.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ps_option read_options[] = {
    {.key = "dataset", .kind = PS_TEXT,
     .help = "Path of the dataset in the file; may be left out when the file has one numeric dataset"},
    {0},
};

static const struct ps_option write_options[] = {
    {.key = "dataset", .kind = PS_TEXT, .fallback = "/data",
     .help = "Path of the dataset in the file; groups are made"},
    {.key = "compression", .kind = PS_CHOICE, .fallback = "none",
     .choices = "none|gzip-1|gzip-2|gzip-3|gzip-4|gzip-5|gzip-6|gzip-7|gzip-8|gzip-9",
     .help = "How chunks are compressed"},
    {.key = "shuffle", .kind = PS_TRUTH, .fallback = "true",
     .help = "Sort bytes by their place in the number before compressing: smaller files"},
    {0},
};

struct state {
    hid_t file, set, memory; // memory: the type to read with
    int raw;                 // descriptor for direct reads, or -1
    uint64_t offset;         // of the data in the file, for direct reads
    bool swapped;
};

// ---- Opening ----

static bool no_such_dataset(struct ps_reader *reader, const char *name, struct ps_error *error)
{
    const struct state *state = reader->state;
    struct ps_hdf5_names names;
    struct ps_text list = {0};
    ps_hdf5_datasets(state->file, &names);
    for (int i = 0; i < names.count && i < 20; i++)
        ps_text_printf(&list, "%s%s", i > 0 ? ", " : "", names.list[i]);
    const char *near = ps_nearest(name, (const char *const *)names.list, (size_t)names.count);
    ps_fail(error, PS_INPUT, "%s has no dataset '%s'%s%s%s; numeric datasets: %s%s", reader->path,
            name, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
            list.data ? list.data : "none", names.count > 20 ? ", ..." : "");
    ps_text_free(&list);
    ps_hdf5_names_free(&names);
    return false;
}

// The only numeric dataset there is.
static char *only_dataset(struct ps_reader *reader, struct ps_error *error)
{
    const struct state *state = reader->state;
    struct ps_hdf5_names names;
    struct ps_text list = {0};
    char *name = NULL;
    if (!ps_hdf5_datasets(state->file, &names)) {
        ps_hdf5_fail(error, PS_INPUT, "cannot list the datasets of %s", reader->path);
    } else if (names.count == 1) {
        name = ps_strdup(names.list[0]);
    } else {
        for (int i = 0; i < names.count && i < 20; i++)
            ps_text_printf(&list, "%s%s", i > 0 ? ", " : "", names.list[i]);
        ps_fail(error, PS_INPUT, "%s holds %d numeric datasets: say which with `dataset:`%s%s",
                reader->path, names.count, names.count > 0 ? "; there are " : "",
                list.data ? list.data : "");
    }
    ps_text_free(&list);
    ps_hdf5_names_free(&names);
    return name;
}

// Every part of the path must exist: the library's own message names none of them.
static bool path_exists(hid_t file, const char *name)
{
    char part[1024];
    if (strlen(name) >= sizeof part || name[0] == '\0')
        return false;
    for (size_t i = 1; i <= strlen(name); i++) {
        if (name[i] != '/' && name[i] != '\0')
            continue;
        memcpy(part, name, i);
        part[i] = '\0';
        if (strcmp(part, "/") != 0 && H5Lexists(file, part, H5P_DEFAULT) <= 0)
            return false;
    }
    return H5Oexists_by_name(file, name, H5P_DEFAULT) > 0;
}

static bool open_dataset(struct ps_reader *reader, const char *name, struct ps_error *error)
{
    struct state *state = reader->state;
    H5O_info_t info;
    if (!path_exists(state->file, name))
        return no_such_dataset(reader, name, error);
    if (H5Oget_info_by_name(state->file, name, &info, H5P_DEFAULT) >= 0 &&
        info.type != H5O_TYPE_DATASET)
        return ps_fail(error, PS_INPUT, "%s: '%s' is a group, not a dataset", reader->path, name);
    state->set = H5Dopen2(state->file, name, H5P_DEFAULT);
    return state->set >= 0 ||
           ps_hdf5_fail(error, PS_INPUT, "%s: cannot open dataset %s", reader->path, name);
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
    if (type >= 0)
        H5Tclose(type);
    if (rank > 0)
        H5Sget_simple_extent_dims(space, dims, NULL);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0 && !numeric)
        return ps_fail(error, PS_INPUT, "%s: dataset %s is %s, not numbers", reader->path, name,
                       what);
    if (rank < 0 || null)
        return ps_hdf5_fail(error, PS_INPUT, "%s: dataset %s has no shape (it is empty)",
                            reader->path, name);
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

static bool filters_are_there(struct ps_reader *reader, hid_t properties, const char *name,
                              struct ps_error *error)
{
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        unsigned flags, config;
        size_t values = 0;
        char own[80] = "";
        const char *from = NULL;
        H5Z_filter_t id = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, sizeof own,
                                         own, &config);
        if (id < 0 || H5Zfilter_avail(id) > 0)
            continue;
        H5Eclear2(H5E_DEFAULT);
        const char *known = ps_hdf5_filter_name(id, &from);
        return ps_fail(error, PS_INPUT, "%s: dataset %s is compressed with filter %d (%s), which is "
                       "not installed; %s%s%s and set HDF5_PLUGIN_PATH to its folder", reader->path,
                       name, (int)id, known ? known : own[0] ? own : "unknown",
                       from ? "install " : "install its plugin", from ? from : "",
                       from ? " (for example: pip install hdf5plugin)" : "");
    }
    return true;
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
    state->raw = ps_file_open(reader->path, &file_bytes, &ignored);
    if (state->raw >= 0 && (offset > file_bytes || bytes > file_bytes - offset)) {
        close(state->raw); // truncated: the library will say so in its words
        state->raw = -1;
    }
    state->offset = offset;
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
        if (complete)
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
    state->file = ps_hdf5_open(reader->path, error);
    if (state->file < 0)
        return false;
    char *name = value->given ? ps_strdup(value->text) : only_dataset(reader, error);
    if (name == NULL)
        return ps_fail_memory(error, 1, "a name");
    bool fine = open_dataset(reader, name, error) && read_shape(reader, name, error);
    hid_t properties = fine ? H5Dget_create_plist(state->set) : -1;
    fine = fine && filters_are_there(reader, properties, name, error);
    if (fine) {
        find_direct(reader, properties);
        read_columns(reader);
    }
    if (properties >= 0)
        H5Pclose(properties);
    free(name);
    return fine;
}

static bool hdf5_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "an HDF5 reader");
    state->file = state->set = state->memory = -1;
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
    if (state->file >= 0)
        H5Fclose(state->file);
    ps_hdf5_unlock();
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
    hid_t to = array->rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(array->rank, count, NULL);
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
        if (!ps_file_read(state->raw, reader->path,
                          state->offset + (uint64_t)first_row * row_bytes, data, bytes, error))
            return false;
        result->decode_ms = ps_decode(reader->array.dtype, state->swapped, data, count);
        return true;
    }
    return read_library(reader, first_row, rows, data, error);
}

static bool hdf5_recognise(const unsigned char *head, size_t length)
{
    // Format signature, at 0 or behind a user block of 512, 1024, 2048 ... bytes (specification, II.A).
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
