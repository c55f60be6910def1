// SPDX-License-Identifier: Apache-2.0
// Whether all that a dataset consists of is there: filters, source files of a virtual dataset,
// external files. The library itself would give fill values for what is missing. Reads no data.
#include "io/hdf5_filters.h"
#include "io/hdf5_find.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_BYTES 2048
#define CHUNKS_ASKED 1000 // asking is linear in their number

// An optional filter is left out where it did not help; then nobody misses it.
static bool is_left_out(hid_t set, int position)
{
    hsize_t count = 0;
    hid_t space = H5Dget_space(set);
    bool unused = space >= 0 && H5Dget_num_chunks(set, space, &count) >= 0 && count <= CHUNKS_ASKED;
    for (hsize_t i = 0; unused && i < count; i++) {
        hsize_t offset[H5S_MAX_RANK], size;
        haddr_t address;
        unsigned mask = 0;
        unused = H5Dget_chunk_info(set, space, i, offset, &mask, &address, &size) >= 0 &&
                 (mask >> position & 1) != 0;
    }
    if (space >= 0)
        H5Sclose(space);
    H5Eclear2(H5E_DEFAULT);
    return unused;
}

static bool filters_are_there(hid_t set, hid_t properties, const char *path, const char *name,
                              struct ps_error *error)
{
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        unsigned flags = 0, config;
        size_t values = 0;
        char own[80] = "", shown[120], advice[300];
        H5Z_filter_t id = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, sizeof own,
                                         own, &config);
        if (id < 0 || ps_hdf5_filter_is_there(id) ||
            ((flags & H5Z_FLAG_OPTIONAL) != 0 && is_left_out(set, i)))
            continue;
        const struct ps_hdf5_filter *filter = ps_hdf5_filter(id);
        ps_escape(own, strlen(own), shown, sizeof shown);
        ps_hdf5_filter_advice(id, advice, sizeof advice);
        return ps_fail(error, PS_INPUT,
                       "%s: dataset %s needs HDF5 filter %d (%s), which is not installed: %s", path,
                       name, (int)id,
                       filter != NULL ? filter->name
                       : own[0]       ? shown
                                      : "unknown",
                       advice);
    }
    return true;
}

// ---- External files ----

struct part {
    char name[NAME_BYTES];
    uint64_t offset, bytes;
};

static bool get_part(hid_t properties, unsigned i, struct part *part)
{
    off_t offset;
    hsize_t bytes;
    if (H5Pget_external(properties, i, sizeof part->name, part->name, &offset, &bytes) < 0)
        return false;
    part->name[sizeof part->name - 1] = '\0';
    part->offset = (uint64_t)offset;
    part->bytes = bytes;
    return true;
}

// Bytes of the dataset; 0: unknown, or more than can be counted.
static uint64_t set_bytes(hid_t set)
{
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    uint64_t bytes = 0;
    if (type < 0 || points < 0 ||
        __builtin_mul_overflow((uint64_t)points, H5Tget_size(type), &bytes))
        bytes = 0;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return bytes;
}

static bool check_part(const struct ps_hdf5_places *places, hid_t set, hid_t properties, unsigned i,
                       uint64_t *left, const char *name, struct ps_error *error)
{
    char place[PATH_MAX], shown[300], what[400];
    struct part part;
    struct stat status;
    if (!get_part(properties, i, &part))
        return ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the external files of dataset %s",
                            places->path, name);
    ps_escape(part.name, strlen(part.name), shown, sizeof shown);
    snprintf(what, sizeof what, "dataset %s", name);
    enum ps_hdf5_place where =
        ps_hdf5_place_find(places, set, PS_HDF5_EXTERNAL, part.name, what, place, error);
    if (where == PS_HDF5_MISSING || (where == PS_HDF5_HERE && stat(place, &status) != 0))
        return ps_fail(error, PS_INPUT,
                       "%s: dataset %s lies in the external file '%s', which is not there (names "
                       "are relative to the folder of the HDF5 file that has them, or to "
                       "HDF5_EXTFILE_PREFIX)",
                       places->path, name, shown);
    if (where != PS_HDF5_HERE)
        return false;
    uint64_t size = (uint64_t)status.st_size, needed = part.bytes < *left ? part.bytes : *left;
    *left -= needed; // the last part may be larger than what is left of the dataset
    return needed == 0 || (part.offset <= size && needed <= size - part.offset) ||
           ps_fail(error, PS_INPUT,
                   "%s: dataset %s lies in bytes %llu to %llu of the external file '%s', which has "
                   "%llu; HDF5 would give zeros for the rest",
                   places->path, name, (unsigned long long)part.offset,
                   (unsigned long long)(part.offset + needed), shown, (unsigned long long)size);
}

static bool check_parts(const struct ps_hdf5_places *places, hid_t set, hid_t properties,
                        const char *name, struct ps_error *error)
{
    int count = H5Pget_external_count(properties);
    uint64_t left = count > 0 ? set_bytes(set) : 0;
    bool fine = true;
    for (int i = 0; fine && i < count; i++)
        fine = check_part(places, set, properties, (unsigned)i, &left, name, error);
    return fine;
}

bool ps_hdf5_check_storage(struct ps_hdf5_places *places, hid_t set, const char *name,
                           struct ps_error *error)
{
    hid_t properties = H5Dget_create_plist(set);
    if (places->depth == 0)
        places->name = name;
    bool fine =
        properties >= 0 || ps_hdf5_fail(error, PS_INPUT, "%s: cannot read how dataset %s is stored",
                                        places->path, name);
    if (fine && H5Pget_layout(properties) == H5D_VIRTUAL)
        fine = ps_hdf5_check_sources(places, set, properties, name, error);
    fine = fine && check_parts(places, set, properties, name, error) &&
           filters_are_there(set, properties, places->path, name, error);
    if (properties >= 0)
        H5Pclose(properties);
    return fine;
}
