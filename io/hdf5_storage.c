// SPDX-License-Identifier: Apache-2.0
// Whether all that a dataset consists of is there: filters, source files of a virtual dataset,
// external files. The library itself would give fill values for what is missing. Reads no data.
#include "io/hdf5_common.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LZF 32000 // H5PY_FILTER_LZF
#define NAME_BYTES 2048

static bool filters_are_there(hid_t properties, const char *path, const char *name,
                              struct ps_error *error)
{
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        unsigned flags, config;
        size_t values = 0;
        char own[80] = "", shown[120];
        const char *from = NULL;
        H5Z_filter_t id = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, sizeof own,
                                         own, &config);
        if (id < 0 || H5Zfilter_avail(id) > 0)
            continue;
        H5Eclear2(H5E_DEFAULT);
        const char *known = ps_hdf5_filter_name(id, &from);
        ps_escape(own, strlen(own), shown, sizeof shown);
        if (id == LZF)
            return ps_fail(error, PS_INPUT,
                           "%s: dataset %s is compressed with filter %d (lzf), which is "
                           "part of h5py only; write it with h5py's compression='gzip'",
                           path, name, (int)id);
        return ps_fail(error, PS_INPUT,
                       "%s: dataset %s is compressed with filter %d (%s), which is "
                       "not installed; %s%s%s and set HDF5_PLUGIN_PATH to its folder",
                       path, name, (int)id,
                       known    ? known
                       : own[0] ? shown
                                : "unknown",
                       from ? "install " : "install its plugin", from ? from : "",
                       from ? " (for example: pip install hdf5plugin)" : "");
    }
    return true;
}

// The folder of the file that holds the dataset, with "/", or "".
static void folder_of(hid_t set, char folder[NAME_BYTES])
{
    ssize_t length = H5Fget_name(set, folder, NAME_BYTES);
    char *slash = length > 0 && length < NAME_BYTES ? strrchr(folder, '/') : NULL;
    *(slash != NULL ? slash + 1 : folder) = '\0';
}

// ---- Virtual datasets ----

// The places where the library looks for a source (H5F_prefix_open_file), in its order: for a name
// with a root only its last part is looked for elsewhere.
static bool find_source(hid_t set, const char *name, char found[PATH_MAX])
{
    const char *last = name[0] == '/' ? strrchr(name, '/') + 1 : name;
    const char *prefixes = getenv("HDF5_VDS_PREFIX");
    char folder[NAME_BYTES], list[NAME_BYTES];
    snprintf(found, PATH_MAX, "%s", name);
    if (name[0] == '/' && access(found, R_OK) == 0)
        return true;
    snprintf(list, sizeof list, "%s", prefixes ? prefixes : "");
    char *rest = list;
    for (char *prefix; (prefix = strsep(&rest, ":")) != NULL;) {
        snprintf(found, PATH_MAX, "%s/%s", prefix, last);
        if (prefix[0] != '\0' && access(found, R_OK) == 0)
            return true;
    }
    folder_of(set, folder);
    snprintf(found, PATH_MAX, "%s%s", folder, last);
    if (access(found, R_OK) == 0)
        return true;
    snprintf(found, PATH_MAX, "%s", last);
    return access(found, R_OK) == 0;
}

static bool source_has(const char *path, hid_t own, const char *dataset)
{
    hid_t file = path != NULL ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : own;
    bool has = file >= 0 && ps_hdf5_exists(file, dataset);
    if (path != NULL && file >= 0)
        H5Fclose(file);
    return has;
}

static bool check_source(hid_t set, hid_t properties, size_t i, const char *path, const char *name,
                         struct ps_error *error)
{
    char file[NAME_BYTES], dataset[NAME_BYTES], found[PATH_MAX], shown[2][300];
    ssize_t a = H5Pget_virtual_filename(properties, i, file, sizeof file);
    ssize_t b = H5Pget_virtual_dsetname(properties, i, dataset, sizeof dataset);
    if (a < 0 || b < 0 || a >= NAME_BYTES || b >= NAME_BYTES)
        return ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the sources of dataset %s", path,
                            name);
    if (strstr(file, "%b") != NULL || strstr(dataset, "%b") != NULL)
        return true; // a series that ends with the first file that is missing
    ps_escape(file, strlen(file), shown[0], sizeof shown[0]);
    ps_escape(dataset, strlen(dataset), shown[1], sizeof shown[1]);
    bool own = strcmp(file, ".") == 0;
    if (!own && !find_source(set, file, found))
        return ps_fail(error, PS_INPUT,
                       "%s: virtual dataset %s needs the file '%s', which is not there; "
                       "HDF5 would give fill values for it",
                       path, name, shown[0]);
    hid_t holder = own ? H5Iget_file_id(set) : -1;
    bool has = source_has(own ? NULL : found, holder, dataset);
    if (holder >= 0)
        H5Fclose(holder);
    H5Eclear2(H5E_DEFAULT);
    return has || ps_fail(error, PS_INPUT,
                          "%s: virtual dataset %s needs the dataset '%s' of the file "
                          "'%s', which cannot be opened; HDF5 would give fill values for it",
                          path, name, shown[1], shown[0]);
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

bool ps_hdf5_parts_are_beside(hid_t set, hid_t properties)
{
    char folder[NAME_BYTES], beside[PATH_MAX];
    struct part part;
    int count = H5Pget_external_count(properties);
    if (count <= 0 || getenv("HDF5_EXTFILE_PREFIX") != NULL)
        return false;
    folder_of(set, folder);
    for (int i = 0; i < count; i++) {
        if (!get_part(properties, (unsigned)i, &part) || part.name[0] == '/')
            continue;
        snprintf(beside, sizeof beside, "%s%s", folder, part.name);
        if (access(part.name, F_OK) == 0 || access(beside, F_OK) != 0)
            return false;
    }
    return true;
}

static bool check_part(hid_t set, hid_t properties, unsigned i, const char *path, const char *name,
                       struct ps_error *error)
{
    char folder[NAME_BYTES], place[PATH_MAX], shown[300];
    struct part part;
    struct stat status;
    if (!get_part(properties, i, &part))
        return ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the external files of dataset %s",
                            path, name);
    if (getenv("HDF5_EXTFILE_PREFIX") != NULL)
        return true; // the library knows
    folder_of(set, folder);
    bool beside = ps_hdf5_parts_are_beside(set, properties) && part.name[0] != '/';
    snprintf(place, sizeof place, "%s%s", beside ? folder : "", part.name);
    ps_escape(part.name, strlen(part.name), shown, sizeof shown);
    if (stat(place, &status) != 0)
        return ps_fail(error, PS_INPUT,
                       "%s: dataset %s lies in the external file '%s', which is neither "
                       "in the working folder nor beside it; HDF5_EXTFILE_PREFIX tells where",
                       path, name, shown);
    if (part.bytes == H5F_UNLIMITED)
        return true;
    uint64_t size = (uint64_t)status.st_size;
    return (part.offset <= size && part.bytes <= size - part.offset) ||
           ps_fail(error, PS_INPUT,
                   "%s: dataset %s lies in bytes %llu to %llu of the external file '%s', "
                   "which has %llu; HDF5 would give zeros for the rest",
                   path, name, (unsigned long long)part.offset,
                   (unsigned long long)(part.offset + part.bytes), shown, (unsigned long long)size);
}

bool ps_hdf5_check_storage(hid_t set, hid_t properties, const char *path, const char *name,
                           struct ps_error *error)
{
    size_t sources = 0;
    if (properties < 0)
        return ps_hdf5_fail(error, PS_INPUT, "%s: cannot read how dataset %s is stored", path,
                            name);
    if (H5Pget_layout(properties) == H5D_VIRTUAL && H5Pget_virtual_count(properties, &sources) < 0)
        return ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the sources of dataset %s", path,
                            name);
    for (size_t i = 0; i < sources; i++)
        if (!check_source(set, properties, i, path, name, error))
            return false;
    int parts = H5Pget_external_count(properties);
    for (int i = 0; i < parts; i++)
        if (!check_part(set, properties, (unsigned)i, path, name, error))
            return false;
    return filters_are_there(properties, path, name, error);
}
