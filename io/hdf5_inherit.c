// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_inherit.h"

#include "base/log.h"
#include "io/formats.h"
#include "io/hdf5_find.h"
#include "io/hdf5_view.h"

#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_BYTES_MAX (256u << 20)
#define NAME_BYTES 1024

// The dataset of an input, opened once more.
struct source {
    const struct ps_origin *origin;
    hid_t file, set;
    struct ps_hdf5_places places;
    struct ps_hdf5_found found;
    struct ps_hdf5_view view;
};

static void close_source(struct source *source)
{
    if (source->set >= 0)
        H5Dclose(source->set);
    ps_hdf5_found_free(&source->found);
    if (source->file >= 0)
        H5Fclose(source->file);
    ps_hdf5_places_free(&source->places);
    H5Eclear2(H5E_DEFAULT);
}

// False when it cannot be opened as the reader opened it: then nothing is taken over.
static bool open_source(const struct ps_origin *origin, struct source *source)
{
    const struct ps_values *options = origin->options;
    const struct ps_value *dataset = ps_values_get(options, "dataset");
    bool anywhere = ps_values_get(options, "follow")->choice == 1;
    unsigned flags = H5F_ACC_RDONLY;
    if (ps_values_get(options, "swmr")->truth)
        flags |= H5F_ACC_SWMR_READ;
    struct ps_error ignored = {0};
    hsize_t dims[H5S_MAX_RANK];
    char *name = NULL;
    *source = (struct source){.origin = origin, .set = -1};
    source->found.group = -1;
    source->file = ps_hdf5_open(origin->path, flags, &ignored);
    if (source->file < 0 ||
        !ps_hdf5_places_init(&source->places, origin->path, anywhere, flags, &ignored))
        return false;
    source->set = ps_hdf5_find(source->file, &source->places, dataset->given ? dataset->text : NULL,
                               &source->found, &name, &ignored);
    hid_t space = source->set >= 0 ? H5Dget_space(source->set) : -1;
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, dims, NULL) : -1;
    if (space >= 0)
        H5Sclose(space);
    bool fine =
        rank >= 0 && ps_hdf5_view_init(&source->view, rank, dims, ps_values_get(options, "select"),
                                       ps_values_get(options, "axis"), origin->path,
                                       name != NULL ? name : "", &ignored);
    free(name);
    return fine;
}

// ---- Attributes ----

static bool is_listed(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

// Made by the library, by netCDF, or by this program for another array.
static bool is_structure(const char *name)
{
    static const char *const own[] = {
        "CLASS",          "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "columns",
        "penstock_array", NULL};
    return is_listed(name, own) || strncmp(name, "_Netcdf4", 8) == 0 ||
           strncmp(name, "_nc3_", 5) == 0 || strcmp(name, "_NCProperties") == 0;
}

static const char *const packing[] = {"_FillValue", "missing_value", "scale_factor",
                                      "add_offset", "valid_range",   "valid_min",
                                      "valid_max",  "_Unsigned",     NULL};
static const char *const meaning[] = {"units",        "standard_name", "long_name",
                                      "cell_methods", "actual_range",  "flag_values",
                                      "flag_masks",   "flag_meanings", NULL};

struct attributes {
    hid_t to;
    bool drops_packing, drops_meaning;
};

// References mean nothing in another file.
static bool can_move(hid_t type)
{
    return H5Tdetect_class(type, H5T_REFERENCE) <= 0 &&
           (H5Tget_class(type) == H5T_STRING || H5Tdetect_class(type, H5T_VLEN) <= 0);
}

static bool copy_value(hid_t from, hid_t to, const char *name)
{
    hid_t type = H5Aget_type(from), space = H5Aget_space(from), attribute = -1;
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    char *values = NULL;
    bool fine =
        count >= 0 && bytes > 0 && can_move(type) && (size_t)count < (1u << 20) / bytes + 1 &&
        (values = calloc((size_t)count + 1, bytes)) != NULL && H5Aread(from, type, values) >= 0;
    if (fine) {
        attribute = H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        fine = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
        if (H5Tis_variable_str(type) > 0)
            H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
    }
    free(values);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    return fine;
}

static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *context)
{
    const struct attributes *attributes = context;
    char shown[200];
    (void)info;
    if (is_structure(name) || (attributes->drops_packing && is_listed(name, packing)) ||
        (attributes->drops_meaning && is_listed(name, meaning)) ||
        H5Aexists(attributes->to, name) > 0)
        return 0;
    hid_t attribute = H5Aopen(from, name, H5P_DEFAULT);
    if (attribute < 0 || !copy_value(attribute, attributes->to, name))
        ps_log(PS_LOG_NOTE, "attribute %s is not copied: its type means nothing in another file",
               ps_escape(name, strlen(name), shown, sizeof shown));
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Eclear2(H5E_DEFAULT);
    return 0;
}

static void copy_attributes(hid_t from, hid_t to, bool drops_packing, bool drops_meaning)
{
    struct attributes attributes = {to, drops_packing, drops_meaning};
    H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &attributes);
}

// ---- Scales ----

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

struct scale {
    const struct ps_writer *writer;
    const struct ps_hdf5_axis *axis; // what is selected of it
    hid_t file, set;                 // that are written
    int target;                      // axis of the array
    bool done, failed;
};

// The selected values of a scale (malloc'ed).
static char *read_scale(const struct scale *scale, hid_t from, hid_t type)
{
    const struct ps_hdf5_axis *axis = scale->axis;
    size_t bytes = H5Tget_size(type);
    hid_t space = H5Dget_space(from);
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_npoints(space) == axis->size && can_move(type) &&
                H5Tis_variable_str(type) <= 0 && (uint64_t)axis->size * bytes <= SCALE_BYTES_MAX;
    char *all = fits ? malloc((size_t)axis->size * bytes + 1) : NULL;
    char *chosen = all != NULL ? malloc((size_t)axis->count * bytes + 1) : NULL;
    bool fine = chosen != NULL &&
                (axis->size == 0 || H5Dread(from, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    for (int64_t i = 0; fine && i < axis->count; i++)
        memcpy(chosen + (size_t)i * bytes, all + (size_t)(axis->start + i * axis->step) * bytes,
               bytes);
    free(all);
    if (space >= 0)
        H5Sclose(space);
    if (!fine)
        free(chosen);
    return fine ? chosen : NULL;
}

// "GROUP/NAME" beside the dataset; with the dataset's name in front when that is taken.
static bool target_name(const struct scale *scale, const char *name, char out[NAME_BYTES])
{
    char own[NAME_BYTES];
    if (H5Iget_name(scale->set, own, sizeof own) <= 0)
        return false;
    int group = (int)(last_part(own) - own);
    int length = snprintf(out, NAME_BYTES, "%.*s%s", group, own, name);
    if (length < NAME_BYTES && H5Lexists(scale->file, out, H5P_DEFAULT) > 0)
        length = snprintf(out, NAME_BYTES, "%s_%s", own, name);
    return length < NAME_BYTES && H5Lexists(scale->file, out, H5P_DEFAULT) == 0;
}

static bool write_scale(const struct scale *scale, hid_t from, const char *name, hid_t type,
                        const char *values)
{
    char path[NAME_BYTES], label[NAME_BYTES] = "";
    hsize_t count = (hsize_t)scale->axis->count;
    if (!target_name(scale, name, path))
        return false;
    hid_t space = H5Screate_simple(1, &count, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
    bool fine = space >= 0 && create >= 0 && H5Pset_obj_track_times(create, 0) >= 0;
    hid_t to =
        fine ? H5Dcreate2(scale->file, path, type, space, H5P_DEFAULT, create, H5P_DEFAULT) : -1;
    fine = to >= 0 && H5Dwrite(to, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    H5DSget_scale_name(from, label, sizeof label);
    fine = fine && H5DSset_scale(to, label[0] != '\0' ? label : NULL) >= 0 &&
           H5DSattach_scale(scale->set, to, (unsigned)scale->target) >= 0;
    if (fine)
        copy_attributes(from, to, false, false);
    if (to >= 0)
        H5Dclose(to);
    if (create >= 0)
        H5Pclose(create);
    if (space >= 0)
        H5Sclose(space);
    return fine;
}

// Called for the first scale of an axis.
static herr_t copy_scale(hid_t set, unsigned axis, hid_t from, void *context)
{
    struct scale *scale = context;
    char name[NAME_BYTES] = "", shown[200];
    (void)set, (void)axis;
    scale->done = true;
    hid_t type = H5Dget_type(from);
    char *values = type >= 0 && H5Iget_name(from, name, sizeof name) > 0
                       ? read_scale(scale, from, type)
                       : NULL;
    if (values == NULL || !write_scale(scale, from, last_part(name), type, values))
        ps_log(PS_LOG_WARNING, "%s: the scale %s of axis %d is not copied", scale->writer->path,
               ps_escape(name, strlen(name), shown, sizeof shown), scale->target);
    free(values);
    if (type >= 0)
        H5Tclose(type);
    H5Eclear2(H5E_DEFAULT);
    return 1; // no further ones
}

static void inherit_axis(const struct ps_writer *writer, hid_t file, hid_t set, int target)
{
    const struct ps_origin *origin = &writer->origins[target];
    struct source source;
    char label[NAME_BYTES] = "";
    if (open_source(origin, &source) && origin->axis < source.view.rank) {
        int axis = source.view.axes[origin->axis];
        struct scale scale = {writer, &source.view.all[axis], file, set, target, false, false};
        if (scale.axis->count == writer->array->dims[target]) {
            H5DSiterate_scales(source.set, (unsigned)axis, NULL, copy_scale, &scale);
            if (H5DSget_label(source.set, (unsigned)axis, label, sizeof label) > 0)
                H5DSset_label(set, (unsigned)target, label);
        }
    }
    close_source(&source);
}

static void inherit_attributes(const struct ps_writer *writer, hid_t set)
{
    struct source source;
    bool decoded = ps_values_get(writer->origins[0].options, "cf")->truth;
    if (open_source(&writer->origins[0], &source))
        copy_attributes(source.set, set, decoded || writer->computed, writer->computed);
    close_source(&source);
}

bool ps_hdf5_inherit(const struct ps_writer *writer, hid_t file, hid_t set, struct ps_error *error)
{
    (void)error; // what is not there to be taken over is no fault of the output
    if (writer->origins == NULL)
        return true;
    for (int i = 0; i < writer->array->rank; i++)
        if (writer->origins[i].format == &ps_format_hdf5)
            inherit_axis(writer, file, set, i);
    if (writer->keeps_elements && writer->array->rank > 0 &&
        writer->origins[0].format == &ps_format_hdf5)
        inherit_attributes(writer, set);
    return true;
}
