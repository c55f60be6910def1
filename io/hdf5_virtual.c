// SPDX-License-Identifier: Apache-2.0
// The sources of virtual datasets, and theirs in turn: whether each is there, may be opened, and is
// as large as the part of it that is mapped. The library itself gives fill values for what is not.
#include "io/hdf5_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16        // virtual in virtual; the library would go round in a circle
#define SOURCES_MAX 1000000 // in all
#define SERIES_GAP 100      // files looked for behind the first one that is missing from a series

struct mapping {
    char *file, *dataset; // as written
    hid_t from, to;       // selections: of the source, of the virtual dataset
};

struct check {
    struct ps_hdf5_places *places;
    hid_t set; // virtual
    const char *name;
    char *open_name; // of the source file that is open: often the same for many mappings
    hid_t open_file;
    struct ps_error *error;
};

// ---- Names ----

static char *mapping_text(hid_t properties, size_t i, bool dataset)
{
    ssize_t length = dataset ? H5Pget_virtual_dsetname(properties, i, NULL, 0)
                             : H5Pget_virtual_filename(properties, i, NULL, 0);
    char *text = length >= 0 ? calloc(1, (size_t)length + 1) : NULL;
    if (text != NULL)
        (void)(dataset ? H5Pget_virtual_dsetname(properties, i, text, (size_t)length + 1)
                       : H5Pget_virtual_filename(properties, i, text, (size_t)length + 1));
    return text;
}

static bool is_series(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '%' && text[1] == 'b')
            return true;
        if (*text == '%' && text[1] == '%')
            text++;
    }
    return false;
}

// "%b" is the number of the block, "%%" one "%".
static char *expand(const char *text, uint64_t block)
{
    struct ps_text out = {0};
    for (; *text != '\0'; text++) {
        bool special = *text == '%' && (text[1] == 'b' || text[1] == '%');
        if (special && text[1] == 'b')
            ps_text_printf(&out, "%llu", (unsigned long long)block);
        else
            ps_text_append(&out, text, 1);
        text += special;
    }
    if (out.data == NULL || out.failed) {
        ps_text_free(&out);
        return ps_strdup("");
    }
    return out.data;
}

// ---- One source ----

static bool is_lost(const struct check *check, const char *file, const char *dataset,
                    const char *why)
{
    char shown[300], shown_file[300];
    H5Eclear2(H5E_DEFAULT);
    ps_escape(file, strlen(file), shown_file, sizeof shown_file);
    if (dataset == NULL)
        return ps_fail(check->error, PS_INPUT,
                       "%s: virtual dataset %s needs the file '%s', which %s; HDF5 would give fill "
                       "values for it",
                       check->places->path, check->name, shown_file, why);
    return ps_fail(check->error, PS_INPUT,
                   "%s: virtual dataset %s needs the dataset '%s' of the file '%s', which %s; HDF5 "
                   "would give fill values for it",
                   check->places->path, check->name,
                   ps_escape(dataset, strlen(dataset), shown, sizeof shown), shown_file, why);
}

static void close_file(struct check *check)
{
    if (check->open_file >= 0)
        H5Fclose(check->open_file);
    free(check->open_name);
    check->open_name = NULL;
    check->open_file = -1;
}

// *missing_out: it is not there, which for a series is its end.
static bool open_file(struct check *check, const char *file, bool *missing_out)
{
    char found[PATH_MAX], what[400];
    *missing_out = false;
    if (check->open_name != NULL && strcmp(check->open_name, file) == 0)
        return true;
    close_file(check);
    if (strcmp(file, ".") == 0) {
        check->open_file = H5Iget_file_id(check->set);
    } else {
        snprintf(what, sizeof what, "virtual dataset %s", check->name);
        enum ps_hdf5_place place = ps_hdf5_place_find(check->places, check->set, PS_HDF5_SOURCE,
                                                      file, what, found, check->error);
        *missing_out = place == PS_HDF5_MISSING;
        if (place != PS_HDF5_HERE)
            return false;
        check->open_file = ps_hdf5_file(found, check->places->flags);
    }
    check->open_name = ps_strdup(file);
    return (check->open_file >= 0 && check->open_name != NULL) ||
           is_lost(check, file, NULL, "cannot be opened");
}

// Whether the mapped part lies inside of the source.
static bool is_large_enough(const struct check *check, const struct mapping *mapping, hid_t source,
                            const char *file, const char *dataset)
{
    hsize_t first[H5S_MAX_RANK], last[H5S_MAX_RANK], dims[H5S_MAX_RANK];
    char why[160];
    hid_t space = H5Dget_space(source);
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, dims, NULL) : -1;
    hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0)
        H5Sclose(space);
    if (rank < 0)
        return is_lost(check, file, dataset, "cannot be read");
    if (H5Sget_select_type(mapping->from) == H5S_SEL_ALL) {
        hssize_t wanted = H5Sget_select_npoints(mapping->to);
        snprintf(why, sizeof why, "has %lld elements where %lld are mapped", (long long)points,
                 (long long)wanted);
        return wanted < 0 || wanted == points || is_lost(check, file, dataset, why);
    }
    int mapped = H5Sget_simple_extent_ndims(mapping->from);
    snprintf(why, sizeof why, "has %d axes where %d are mapped", rank, mapped);
    if (mapped != rank)
        return is_lost(check, file, dataset, why);
    if (H5Sget_select_npoints(mapping->from) == 0 ||
        H5Sget_select_bounds(mapping->from, first, last) < 0)
        return true; // nothing of it, or as much as there is
    for (int i = 0; i < rank; i++) {
        snprintf(why, sizeof why, "is too short: axis %d has %llu elements, and %llu are mapped", i,
                 (unsigned long long)dims[i], (unsigned long long)last[i] + 1);
        if (last[i] != H5S_UNLIMITED && last[i] >= dims[i])
            return is_lost(check, file, dataset, why);
    }
    return true;
}

static bool check_dataset(struct check *check, const struct mapping *mapping, const char *file,
                          const char *dataset, bool *missing_out)
{
    struct ps_hdf5_found found;
    char name[800], shown[200], shown_file[200];
    enum ps_hdf5_end end =
        ps_hdf5_follow(check->places, check->open_file, dataset, &found, check->error);
    *missing_out = end == PS_HDF5_NO_SUCH_NAME;
    if (end != PS_HDF5_FOUND)
        return false;
    hid_t source = ps_hdf5_found_open(&found, H5P_DEFAULT);
    ps_hdf5_found_free(&found);
    if (source < 0)
        return is_lost(check, file, dataset, "cannot be opened");
    snprintf(name, sizeof name, "'%s' of '%s' (a source of %s)",
             ps_escape(dataset, strlen(dataset), shown, sizeof shown),
             ps_escape(file, strlen(file), shown_file, sizeof shown_file), check->places->name);
    check->places->depth++;
    bool fine = ps_hdf5_check_storage(check->places, source, name, check->error) &&
                is_large_enough(check, mapping, source, file, dataset);
    check->places->depth--;
    H5Dclose(source);
    return fine;
}

static bool check_source(struct check *check, const struct mapping *mapping, const char *file,
                         const char *dataset, bool *missing_out)
{
    *missing_out = false;
    if (++check->places->sources > SOURCES_MAX)
        return ps_fail(check->error, PS_INPUT,
                       "%s: virtual dataset %s has more than %d sources, with those of its sources",
                       check->places->path, check->name, SOURCES_MAX);
    return open_file(check, file, missing_out) &&
           check_dataset(check, mapping, file, dataset, missing_out);
}

// ---- All of them ----

static bool check_single(struct check *check, const struct mapping *mapping)
{
    bool missing;
    char *file = expand(mapping->file, 0), *dataset = expand(mapping->dataset, 0);
    bool fine = file != NULL && dataset != NULL;
    if (!fine)
        ps_fail_memory(check->error, strlen(mapping->file), "the sources of a virtual dataset");
    fine = fine && check_source(check, mapping, file, dataset, &missing);
    if (!fine && check->error->status == PS_OK) {
        bool no_file = check->open_name == NULL;
        is_lost(check, file, no_file ? NULL : dataset, no_file ? "is not there" : "does not exist");
    }
    free(file);
    free(dataset);
    return fine;
}

// A series ends with the first block that is missing, so a lost one in the middle would make the
// dataset shorter without a word.
static bool check_series(struct check *check, const struct mapping *mapping)
{
    uint64_t first_missing = UINT64_MAX;
    bool fine = true;
    for (uint64_t block = 0; fine; block++) {
        bool missing = false;
        char *file = expand(mapping->file, block), *dataset = expand(mapping->dataset, block);
        if (file == NULL || dataset == NULL)
            fine = ps_fail_memory(check->error, strlen(mapping->file), "a series of sources");
        else if (check_source(check, mapping, file, dataset, &missing))
            fine = first_missing == UINT64_MAX;
        else
            fine = missing;
        free(file);
        free(dataset);
        if (fine && missing && first_missing == UINT64_MAX)
            first_missing = block;
        if (first_missing != UINT64_MAX && block - first_missing >= SERIES_GAP)
            break;
    }
    bool lost = first_missing == 0 || (!fine && first_missing != UINT64_MAX);
    if (!lost || check->error->status != PS_OK)
        return fine;
    char *file = expand(mapping->file, first_missing);
    char *dataset = expand(mapping->dataset, first_missing);
    is_lost(check, file != NULL ? file : "", is_series(mapping->file) ? NULL : dataset,
            first_missing == 0 ? "is the first of its series and is not there"
                               : "is missing from the middle of its series");
    free(file);
    free(dataset);
    return false;
}

static bool check_mapping(struct check *check, hid_t properties, size_t i)
{
    struct mapping mapping = {.file = mapping_text(properties, i, false),
                              .dataset = mapping_text(properties, i, true),
                              .from = H5Pget_virtual_srcspace(properties, i),
                              .to = H5Pget_virtual_vspace(properties, i)};
    bool fine =
        mapping.file != NULL && mapping.dataset != NULL && mapping.from >= 0 && mapping.to >= 0;
    if (!fine)
        ps_hdf5_fail(check->error, PS_INPUT, "%s: cannot read the sources of dataset %s",
                     check->places->path, check->name);
    else
        fine = is_series(mapping.file) || is_series(mapping.dataset)
                   ? check_series(check, &mapping)
                   : check_single(check, &mapping);
    if (mapping.from >= 0)
        H5Sclose(mapping.from);
    if (mapping.to >= 0)
        H5Sclose(mapping.to);
    free(mapping.file);
    free(mapping.dataset);
    return fine;
}

bool ps_hdf5_check_sources(struct ps_hdf5_places *places, hid_t set, hid_t properties,
                           const char *name, struct ps_error *error)
{
    struct check check = {places, set, name, NULL, -1, error};
    size_t count = 0;
    if (places->depth > DEPTH_MAX)
        return ps_fail(error, PS_INPUT,
                       "%s: virtual dataset %s consists of itself, or of more than %d virtual "
                       "datasets inside of each other",
                       places->path, places->name, DEPTH_MAX);
    bool fine = H5Pget_virtual_count(properties, &count) >= 0 ||
                ps_hdf5_fail(error, PS_INPUT, "%s: cannot read the sources of dataset %s",
                             places->path, name);
    for (size_t i = 0; fine && i < count; i++)
        fine = check_mapping(&check, properties, i);
    close_file(&check);
    return fine;
}
