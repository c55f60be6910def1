// SPDX-License-Identifier: Apache-2.0
// What an HDF5 file holds, as a tree. Links to elsewhere are named, never followed.
#include "io/hdf5_common.h"
#include "io/hdf5_filters.h"

#include "io/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct tree {
    struct ps_text *out;
    char *largest; // path of the largest numeric dataset
    uint64_t largest_bytes;
};

static void print_filters(hid_t properties, struct ps_text *out)
{
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        unsigned flags, config, values[8] = {0};
        size_t count = 8;
        char own[80] = "";
        H5Z_filter_t id = H5Pget_filter2(properties, (unsigned)i, &flags, &count, values, sizeof own,
                                         own, &config);
        const struct ps_hdf5_filter *filter = ps_hdf5_filter(id);
        const char *known = filter != NULL ? filter->name : NULL;
        ps_text_printf(out, ", %s", known ? known : own[0] ? own : "filter");
        if (id == H5Z_FILTER_DEFLATE && count > 0)
            ps_text_printf(out, "-%u", values[0]);
        if (known == NULL)
            ps_text_printf(out, " %d", (int)id);
        if (!ps_hdf5_filter_is_there(id))
            ps_text_add(out, " (not installed)");
    }
}

static void print_layout(hid_t set, uint64_t bytes, struct ps_text *out)
{
    static const char *const names[] = {"compact", "contiguous", "chunks", "virtual"};
    hid_t properties = H5Dget_create_plist(set);
    H5D_layout_t layout = properties >= 0 ? H5Pget_layout(properties) : H5D_LAYOUT_ERROR;
    hsize_t chunk[H5S_MAX_RANK];
    if (layout >= 0 && layout < 4)
        ps_text_printf(out, ", %s", names[layout]);
    if (layout == H5D_CHUNKED) {
        int rank = H5Pget_chunk(properties, H5S_MAX_RANK, chunk);
        for (int i = 0; i < rank; i++)
            ps_text_printf(out, "%s%llu", i > 0 ? "x" : " ", (unsigned long long)chunk[i]);
        print_filters(properties, out);
        hsize_t stored = H5Dget_storage_size(set);
        if (stored > 0 && bytes > 0)
            ps_text_printf(out, ", ratio %.2f", (double)bytes / (double)stored);
    }
    if (properties >= 0)
        H5Pclose(properties);
}

static void print_dataset(hid_t root, const char *name, struct tree *tree)
{
    enum ps_dtype dtype = PS_F64;
    const char *what = "?";
    hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
    char shown[300];
    hid_t memory = -1, set = H5Dopen2(root, name, H5P_DEFAULT);
    hid_t type = set >= 0 ? H5Dget_type(set) : -1, space = set >= 0 ? H5Dget_space(set) : -1;
    bool numeric = type >= 0 && ps_hdf5_dtype(type, &dtype, &memory, &what);
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, dims, most) : 0;
    uint64_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    ps_text_printf(tree->out, "  /%s  %s[", ps_escape(name, strlen(name), shown, sizeof shown),
                   numeric ? ps_dtype_name(dtype) : what);
    for (int i = 0; i < rank; i++) {
        ps_text_printf(tree->out, "%s%llu%s", i > 0 ? ", " : "", (unsigned long long)dims[i],
                       most[i] == H5S_UNLIMITED ? " of unlimited" : "");
        bytes *= dims[i];
    }
    ps_text_add(tree->out, "]");
    if (set >= 0)
        print_layout(set, bytes, tree->out);
    ps_text_add(tree->out, "\n");
    if (numeric && (tree->largest == NULL || bytes > tree->largest_bytes)) {
        free(tree->largest);
        size_t size = strlen(name) + 2;
        tree->largest = malloc(size);
        if (tree->largest != NULL)
            snprintf(tree->largest, size, "/%s", name);
        tree->largest_bytes = bytes;
    }
    if (memory >= 0)
        H5Tclose(memory);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
}

static herr_t print_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    struct tree *tree = context;
    char shown[200];
    (void)object;
    ps_text_printf(tree->out, "      @%s (%llu bytes)\n",
                   ps_escape(name, strlen(name), shown, sizeof shown),
                   (unsigned long long)info->data_size);
    return 0;
}

// Each object once, so loops of links end.
static herr_t print_object(hid_t root, const char *name, const H5O_info_t *info, void *context)
{
    struct tree *tree = context;
    char shown[300];
    if (info->type == H5O_TYPE_DATASET)
        print_dataset(root, name, tree);
    else if (info->type == H5O_TYPE_GROUP && strcmp(name, ".") != 0)
        ps_text_printf(tree->out, "  /%s/\n", ps_escape(name, strlen(name), shown, sizeof shown));
    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    if (object >= 0) {
        H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, print_attribute, tree);
        H5Oclose(object);
    }
    return 0;
}

static herr_t print_link(hid_t root, const char *name, const H5L_info_t *info, void *context)
{
    struct tree *tree = context;
    char shown[300], target[300], *value;
    if (info->type == H5L_TYPE_HARD || (value = calloc(1, info->u.val_size + 1)) == NULL)
        return 0;
    if (H5Lget_val(root, name, value, info->u.val_size, H5P_DEFAULT) >= 0) {
        const char *file = NULL, *path = value;
        if (info->type == H5L_TYPE_EXTERNAL)
            H5Lunpack_elink_val(value, info->u.val_size, NULL, &file, &path);
        ps_text_printf(tree->out, "  /%s -> %s%s", ps_escape(name, strlen(name), shown, sizeof shown),
                       file ? file : "", file ? ":" : "");
        ps_text_printf(tree->out, "%s (%s link)\n",
                       ps_escape(path, strlen(path), target, sizeof target),
                       info->type == H5L_TYPE_EXTERNAL ? "external" : "soft");
    }
    free(value);
    return 0;
}

bool ps_hdf5_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    struct stat status;
    struct tree tree = {.out = out};
    ps_hdf5_lock();
    hid_t file = ps_hdf5_open(path, error);
    bool fine = file >= 0;
    if (fine) {
        ps_inspect_file(path, "hdf5", stat(path, &status) == 0 ? (uint64_t)status.st_size : 0, out);
        fine = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, print_object, &tree) >= 0 &&
               H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, print_link, &tree) >= 0;
        if (!fine)
            ps_hdf5_fail(error, PS_INPUT, "%s: cannot walk through the file", path);
        H5Fclose(file);
    }
    ps_hdf5_unlock();
    if (fine && tree.largest != NULL) {
        struct ps_text more = {0};
        ps_text_printf(&more, "dataset: \"%s\"", tree.largest);
        ps_inspect_entry(path, more.data, out);
        ps_text_free(&more);
    }
    free(tree.largest);
    return fine;
}
