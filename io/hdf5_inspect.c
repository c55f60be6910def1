// SPDX-License-Identifier: Apache-2.0
// What an HDF5 file holds, as a tree. Links are named, not followed; sources of virtual datasets
// and external files are looked at under the file's own folder only.
#include "io/hdf5_describe.h"
#include "io/hdf5_element.h"
#include "io/hdf5_find.h"
#include "io/hdf5_probe.h"
#include "io/hdf5_storage.h"
#include "io/hdf5_walk.h"

#include "io/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct tree {
    struct ps_text *out;
    struct ps_hdf5_places places;
    char *largest; // path of the largest dataset that can be read
    struct ps_text keys; // and what its entry needs besides the path
    uint64_t largest_bytes;
};

static const char *shown(const char *text, char out[300])
{
    return ps_escape(text, strlen(text), out, 300);
}

static herr_t print_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    char text[300];
    (void)info;
    ps_text_printf(context, "      @%s = ", shown(name, text));
    ps_hdf5_describe_attribute(object, name, context);
    ps_text_add(context, "\n");
    return 0;
}

// ---- Datasets ----

struct shape {
    int rank; // -1: unknown
    hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
};

static void print_shape(const struct shape *shape, struct ps_text *out)
{
    ps_text_add(out, "[");
    for (int i = 0; i < shape->rank; i++)
        ps_text_printf(out, "%s%llu%s", i > 0 ? ", " : "", (unsigned long long)shape->dims[i],
                       shape->most[i] == H5S_UNLIMITED ? " of unlimited" : "");
    ps_text_add(out, shape->rank < 0 ? "?]" : "]");
}

// The largest is what the entry at the end reads.
static void remember_largest(struct tree *tree, const char *path, hid_t set, uint64_t bytes)
{
    struct ps_text name = {0};
    if (tree->largest != NULL && bytes <= tree->largest_bytes)
        return;
    ps_text_printf(&name, "/%s", path);
    free(tree->largest);
    tree->largest = name.data;
    tree->largest_bytes = bytes;
    tree->keys.length = 0;
    ps_hdf5_entry_keys(set, &tree->keys);
}

static void print_opened(const struct ps_hdf5_item *item, hid_t set, struct tree *tree)
{
    const char *what = "?";
    struct shape shape = {.rank = -1};
    struct ps_error error = {0};
    hid_t space = -1, type = H5Dget_type(set);
    bool readable = type >= 0 && ps_hdf5_is_readable(type, &what);
    uint64_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    bool whole = ps_hdf5_check_storage(&tree->places, set, item->path, &error);
    if (whole || !ps_hdf5_shape_needs_sources(set)) // else asking would open them
        space = H5Dget_space(set);
    if (space >= 0)
        shape.rank = H5Sget_simple_extent_dims(space, shape.dims, shape.most);
    for (int i = 0; i < shape.rank; i++)
        bytes = __builtin_mul_overflow(bytes, shape.dims[i], &bytes) ? UINT64_MAX : bytes;
    ps_hdf5_describe_type(type, tree->out);
    print_shape(&shape, tree->out);
    ps_hdf5_print_storage(set, space, bytes, tree->out);
    if (!whole)
        ps_text_printf(tree->out, "\n      cannot be read: %s", error.text);
    else if (readable)
        remember_largest(tree, item->path, set, bytes);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    H5Eclear2(H5E_DEFAULT);
}

static void print_dataset(const struct ps_hdf5_item *item, struct tree *tree)
{
    hid_t set = H5Dopen2(item->group, item->last, H5P_DEFAULT);
    if (set >= 0) {
        print_opened(item, set, tree);
        H5Dclose(set);
    } else {
        ps_text_add(tree->out, "cannot be opened");
    }
}

// ---- Links ----

static void print_link(const struct ps_hdf5_item *item, struct ps_text *out)
{
    char text[300];
    H5L_type_t type = item->link.type;
    if (type != H5L_TYPE_SOFT && type != H5L_TYPE_EXTERNAL) {
        ps_text_printf(out, "-> (user-defined link, class %d)", (int)type);
        return;
    }
    char *value = calloc(1, item->link.u.val_size + 1);
    const char *file = NULL, *path = value;
    bool fine = value != NULL &&
                H5Lget_val(item->group, item->last, value, item->link.u.val_size, H5P_DEFAULT) >= 0;
    if (fine && type == H5L_TYPE_EXTERNAL)
        fine = H5Lunpack_elink_val(value, item->link.u.val_size, NULL, &file, &path) >= 0;
    ps_text_add(out, "-> ");
    if (fine && file != NULL)
        ps_text_printf(out, "%s:", shown(file, text));
    ps_text_printf(out, "%s (%s link)", fine ? shown(path, text) : "?",
                   type == H5L_TYPE_EXTERNAL ? "external" : "soft");
    free(value);
}

static void print_attributes(const struct ps_hdf5_item *item, struct ps_text *out)
{
    hid_t object = H5Oopen(item->group, item->last, H5P_DEFAULT);
    if (object < 0)
        return;
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, print_attribute, out);
    H5Oclose(object);
}

static bool print_item(const struct ps_hdf5_item *item, void *context)
{
    struct tree *tree = context;
    char text[300];
    ps_text_printf(tree->out, "  /%s", shown(item->path, text));
    if (item->type == H5O_TYPE_GROUP)
        ps_text_add(tree->out, item->too_deep ? "/ (too deep: not entered)" : "/");
    else
        ps_text_add(tree->out, "  ");
    if (item->again)
        ps_text_add(tree->out, item->type == H5O_TYPE_GROUP ? " (again)" : "(again)");
    else if (item->type == H5O_TYPE_DATASET)
        print_dataset(item, tree);
    else if (item->type == H5O_TYPE_NAMED_DATATYPE)
        ps_text_add(tree->out, "committed type");
    else if (item->link.type != H5L_TYPE_HARD)
        print_link(item, tree->out);
    else if (item->type != H5O_TYPE_GROUP)
        ps_text_add(tree->out, "broken object");
    ps_text_add(tree->out, "\n");
    if (item->type != H5O_TYPE_UNKNOWN && !item->again)
        print_attributes(item, tree->out);
    H5Eclear2(H5E_DEFAULT);
    return !tree->out->failed;
}

// As YAML text; bytes that are no UTF-8 as `dataset` takes them: "\\xE9".
static void quote(const char *name, struct ps_text *out)
{
    size_t left = strlen(name);
    ps_text_add(out, "\"");
    while (left > 0) {
        size_t length = ps_utf8_length(name, left);
        unsigned char c = (unsigned char)*name;
        if (length == 0)
            ps_text_printf(out, "\\\\x%02X", c);
        else if (c < ' ' || c == 0x7f)
            ps_text_printf(out, "\\x%02X", c);
        else
            ps_text_printf(out, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", (int)length, name);
        length += length == 0;
        name += length;
        left -= length;
    }
    ps_text_add(out, "\"");
}

static bool print_tree(hid_t file, struct tree *tree)
{
    H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, print_attribute, tree->out);
    return ps_hdf5_walk(file, print_item, tree);
}

static bool inspect(void *context, struct ps_text *out, struct ps_error *error)
{
    const char *path = context;
    struct stat status;
    struct tree tree = {.out = out};
    bool beside = ps_hdf5_is_swmr(path); // being written, and its writer allows to read it
    unsigned flags = beside ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ : H5F_ACC_RDONLY;
    hid_t file = ps_hdf5_open(path, flags, error);
    bool fine = file >= 0 && ps_hdf5_places_init(&tree.places, path, false, flags, error);
    if (fine) {
        ps_inspect_file(path, "hdf5", stat(path, &status) == 0 ? (uint64_t)status.st_size : 0, out);
        if (beside)
            ps_text_add(out, "marked as open for writing: shown as it is beside its writer\n");
        fine = print_tree(file, &tree) ||
               ps_hdf5_fail(error, PS_INPUT, "%s: cannot walk through the file", path);
    }
    if (fine && tree.largest != NULL) {
        struct ps_text more = {0};
        ps_text_add(&more, "dataset: ");
        quote(tree.largest, &more);
        ps_text_append(&more, tree.keys.data, tree.keys.length);
        ps_text_add(&more, beside ? ", swmr: true" : "");
        ps_inspect_entry(path, more.data, out);
        ps_text_free(&more);
    }
    if (file >= 0)
        H5Fclose(file);
    ps_hdf5_places_free(&tree.places);
    free(tree.largest);
    ps_text_free(&tree.keys);
    return fine;
}

bool ps_hdf5_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    ps_hdf5_lock();
    bool fine = ps_hdf5_probe(path, inspect, (void *)path, out, error);
    ps_hdf5_unlock();
    return fine;
}
