// SPDX-License-Identifier: Apache-2.0
// Writing HDF5. Known rows without chunks lie in one piece, written directly at their offset;
// chunks go through the library. Several outputs may be datasets of one file: the first writer
// makes the file, the others work in it.
#include "io/hdf5_inherit.h"
#include "io/hdf5_layout.h"
#include "io/hdf5_names.h"

#include "base/version.h"
#include "io/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPACT_COLUMNS_MAX 4000 // names take 16 bytes each of the 64 KiB of an object header

const struct ps_option ps_hdf5_write_options[] = {
    {.key = "dataset",
     .kind = PS_TEXT,
     .fallback = "/data",
     .help = "Path of the dataset in the file; groups are made"},
    {.key = "chunks",
     .kind = PS_SHAPE,
     .fallback = "auto",
     .help =
         "Shape of the chunks, one size for each axis (-1: all of it); auto: in one piece unless "
         "packed or growing, else chunks that suit reading by rows and by columns"},
    {.key = "compression",
     .kind = PS_CHOICE,
     .fallback = "none",
     .choices = PS_HDF5_PACK_WORDS,
     .help =
         "How chunks are packed; all but gzip, szip and lzf (which h5py has) need a plugin here and "
         "where the file is read"},
    {.key = "level",
     .kind = PS_INTEGER,
     .min = 0,
     .max = 22,
     .help = "Level of the compression, where it has levels; its usual one if unset"},
    {.key = "shuffle",
     .kind = PS_TRUTH,
     .help =
         "Sort bytes by their place in the number before packing: smaller files; with compression "
         "if unset"},
    {.key = "fletcher32",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "Store a checksum with each chunk, which every reader verifies"},
    {.key = NULL},
};

struct state {
    hid_t file, set, type;
    int raw; // descriptor for direct writes, or -1
    uint64_t offset;
    int64_t rows; // the dataset has now
    bool grows;
    struct ps_hdf5_layout layout;
};

static bool set_chunks(const struct ps_writer *writer, hid_t create, hid_t access)
{
    const struct state *state = writer->state;
    const struct ps_hdf5_layout *layout = &state->layout;
    return H5Pset_chunk(create, writer->array->rank, layout->chunk) >= 0 &&
           ps_hdf5_pack_apply(&layout->pack, create) &&
           H5Pset_chunk_cache(access, 12421, layout->cache_bytes, 1.0) >= 0;
}

static hid_t make_space(const struct ps_array *array)
{
    hsize_t dims[PS_RANK_MAX], most[PS_RANK_MAX];
    for (int i = 0; i < array->rank; i++)
        dims[i] = most[i] = (hsize_t)array->dims[i];
    if (array->rank == 0)
        return H5Screate(H5S_SCALAR);
    if (array->dims[0] == PS_ROWS_UNKNOWN) {
        dims[0] = 0;
        most[0] = H5S_UNLIMITED;
    }
    return H5Screate_simple(array->rank, dims, most);
}

static bool create_dataset(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = writer->state;
    const char *name = ps_values_get(writer->options, "dataset")->text;
    bool chunked = state->layout.chunked;
    hid_t space = make_space(writer->array), create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    state->type = ps_hdf5_type(writer->array->dtype);
    // Nothing is filled first: every element is written.
    bool fine = space >= 0 && create >= 0 && access >= 0 && state->type >= 0 &&
                ps_hdf5_make_groups(state->file, name) &&
                H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0 &&
                H5Pset_obj_track_times(create, 0) >= 0 && // same input, same bytes
                (chunked ? set_chunks(writer, create, access)
                         : H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY) >= 0);
    if (writer->array->column_count > COMPACT_COLUMNS_MAX)
        fine = fine && H5Pset_attr_phase_change(create, 0, 0) >= 0;
    state->set =
        fine ? H5Dcreate2(state->file, name, state->type, space, H5P_DEFAULT, create, access) : -1;
    if (state->set < 0)
        ps_hdf5_fail(error, PS_OUTPUT, "cannot write dataset %s of %s", name, writer->path);
    if (state->set >= 0 && !chunked) {
        haddr_t offset = H5Dget_offset(state->set);
        state->offset = offset == HADDR_UNDEF ? 0 : offset;
        state->raw = offset == HADDR_UNDEF ? -1 : open(writer->temp_path, O_WRONLY | O_CLOEXEC);
    }
    if (space >= 0)
        H5Sclose(space);
    H5Pclose(create);
    H5Pclose(access);
    return state->set >= 0;
}

// ---- Attributes ----

static bool write_strings(const struct ps_writer *writer, hid_t object, const char *name, int count,
                          const char *const *strings, struct ps_error *error)
{
    hsize_t size = (hsize_t)count;
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = count < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
    bool fine = type >= 0 && space >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    hid_t attribute = fine ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    fine = attribute >= 0 && H5Awrite(attribute, type, strings) >= 0;
    if (!fine)
        ps_hdf5_fail(error, PS_OUTPUT, "cannot write attribute %s of %s", name, writer->path);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return fine;
}

static bool write_attributes(struct ps_writer *writer, struct ps_error *error)
{
    static const char *const version[] = {PENSTOCK_VERSION};
    struct state *state = writer->state;
    const struct ps_array *array = writer->array;
    bool file_too = writer->provenance != NULL && writer->first == NULL;
    return (!file_too ||
            (write_strings(writer, state->file, "penstock_config", -1, &writer->provenance,
                           error) &&
             write_strings(writer, state->file, "penstock_version", -1, version, error))) &&
           (writer->name == NULL ||
            write_strings(writer, state->set, "penstock_array", -1, &writer->name, error)) &&
           (array->column_count == 0 ||
            write_strings(writer, state->set, "columns", array->column_count,
                          (const char *const *)array->columns, error));
}

// ---- The row's functions ----

// The file of another output: each writer holds it open, and it is complete when the last one is.
static bool share_file(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = writer->state;
    const struct state *first = writer->first->state;
    bool fine = first->file >= 0 && H5Iinc_ref(first->file) > 0;
    state->file = fine ? first->file : -1;
    if (fine && writer->array->column_count > COMPACT_COLUMNS_MAX)
        fine = H5Fset_libver_bounds(state->file, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0;
    return fine ||
           ps_hdf5_fail(error, PS_OUTPUT, "cannot write a further dataset into %s", writer->path);
}

static bool create_file(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = writer->state;
    hid_t create = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    bool fine = create >= 0 && access >= 0;
    // Only the newer object headers (HDF5 1.8) hold larger attributes; they would also note the
    // time.
    if (fine && writer->array->column_count > COMPACT_COLUMNS_MAX)
        fine = H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0 &&
               H5Pset_obj_track_times(create, 0) >= 0;
    state->file = fine ? H5Fcreate(writer->temp_path, H5F_ACC_TRUNC, create, access) : -1;
    if (state->file < 0)
        ps_hdf5_fail(error, PS_OUTPUT, "cannot create %s", writer->path);
    if (create >= 0)
        H5Pclose(create);
    if (access >= 0)
        H5Pclose(access);
    return state->file >= 0;
}

static bool hdf5_create(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "an HDF5 writer");
    state->file = state->set = state->type = -1;
    state->raw = -1;
    state->grows = writer->array->rank > 0 && writer->array->dims[0] == PS_ROWS_UNKNOWN;
    writer->state = state;
    ps_hdf5_lock();
    bool fine = ps_hdf5_layout_choose(writer->options, writer->array, &state->layout, error) &&
                (writer->first != NULL ? share_file(writer, error) : create_file(writer, error)) &&
                create_dataset(writer, error) && write_attributes(writer, error) &&
                ps_hdf5_inherit(writer, state->file, state->set, error);
    ps_hdf5_unlock();
    return fine;
}

static bool grow(struct ps_writer *writer, int64_t rows)
{
    struct state *state = writer->state;
    hsize_t dims[PS_RANK_MAX];
    for (int i = 0; i < writer->array->rank; i++)
        dims[i] = (hsize_t)writer->array->dims[i];
    dims[0] = (hsize_t)rows;
    state->rows = rows;
    return H5Dset_extent(state->set, dims) >= 0;
}

static bool cannot_write(const struct ps_writer *writer, int64_t first_row, int64_t rows,
                         struct ps_error *error)
{
    return ps_hdf5_fail(error, PS_OUTPUT, "cannot write rows %lld to %lld of %s",
                        (long long)first_row, (long long)(first_row + rows - 1), writer->path);
}

static bool write_library(struct ps_writer *writer, int64_t first_row, int64_t rows,
                          const void *data, struct ps_error *error)
{
    struct state *state = writer->state;
    const struct ps_array *array = writer->array;
    hsize_t start[PS_RANK_MAX] = {0}, count[PS_RANK_MAX];
    if (state->grows && first_row + rows > state->rows && !grow(writer, first_row + rows))
        return cannot_write(writer, first_row, rows, error);
    for (int i = 0; i < array->rank; i++)
        count[i] = (hsize_t)array->dims[i];
    start[0] = (hsize_t)first_row;
    count[0] = (hsize_t)rows;
    hid_t to = H5Dget_space(state->set);
    hid_t from =
        array->rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(array->rank, count, NULL);
    bool fine = to >= 0 && from >= 0 &&
                (array->rank == 0 ||
                 H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) &&
                H5Dwrite(state->set, state->type, from, to, H5P_DEFAULT, data) >= 0;
    if (!fine)
        cannot_write(writer, first_row, rows, error);
    if (to >= 0)
        H5Sclose(to);
    if (from >= 0)
        H5Sclose(from);
    return fine;
}

static bool hdf5_write(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                       struct ps_error *error)
{
    struct state *state = writer->state;
    size_t row_bytes = ps_array_row_bytes(writer->array), bytes = row_bytes * (size_t)rows;
    if (bytes == 0)
        return true;
    if (state->raw >= 0)
        return ps_file_write(state->raw, writer->path,
                             state->offset + (uint64_t)first_row * row_bytes, data, bytes, error);
    ps_hdf5_lock();
    bool fine = write_library(writer, first_row, rows, data, error);
    ps_hdf5_unlock();
    return fine;
}

// error NULL: the file is thrown away.
static bool close_handles(const struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = writer->state;
    hid_t *handles[] = {&state->type, &state->set, &state->file};
    bool fine = true;
    for (int i = 0; i < 3; i++) {
        if (*handles[i] < 0)
            continue;
        bool closed = i == 0   ? H5Tclose(*handles[i]) >= 0
                      : i == 1 ? H5Dclose(*handles[i]) >= 0
                               : H5Idec_ref(*handles[i]) >= 0;
        if (!closed && error != NULL) // the first failure is the one that is told
            ps_hdf5_fail(error, PS_OUTPUT, "cannot complete %s", writer->path);
        fine = fine && closed;
        *handles[i] = -1;
    }
    return fine;
}

static bool hdf5_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct state *state = writer->state;
    int raw = state->raw;
    state->raw = -1;
    if (raw >= 0 && close(raw) != 0)
        return ps_fail_errno(error, PS_OUTPUT, "cannot write %s", writer->path);
    ps_hdf5_lock();
    bool fine = !state->grows || state->rows == rows || grow(writer, rows) ||
                ps_hdf5_fail(error, PS_OUTPUT, "cannot complete %s", writer->path);
    fine = close_handles(writer, error) && fine; // what the library still held is written here
    ps_hdf5_unlock();
    return fine;
}

static void hdf5_close(struct ps_writer *writer)
{
    struct state *state = writer->state;
    if (state == NULL)
        return;
    ps_hdf5_lock();
    close_handles(writer, NULL);
    H5Eclear2(H5E_DEFAULT);
    ps_hdf5_unlock();
    if (state->raw >= 0)
        close(state->raw);
    free(state);
}

static bool hdf5_check(const struct ps_values *options, const struct ps_array *array,
                       struct ps_error *error)
{
    struct ps_hdf5_layout layout;
    ps_hdf5_lock();
    bool fine = ps_hdf5_layout_choose(options, array, &layout, error);
    ps_hdf5_unlock();
    return fine;
}

const struct ps_format_writer ps_hdf5_writer = {hdf5_create, hdf5_write, hdf5_finish,
                                                hdf5_close,  hdf5_check, ps_hdf5_may_share};
