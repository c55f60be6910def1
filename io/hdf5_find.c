// SPDX-License-Identifier: Apache-2.0
// Finding the dataset to read by its path, and saying why it is not found: another name was meant,
// a link leads nowhere. Reads no data.
#include "io/hdf5_common.h"

#include <stdlib.h>
#include <string.h>

static void list_names(const struct ps_hdf5_names *names, struct ps_text *out)
{
    char shown[200];
    for (int i = 0; i < names->count && i < 20; i++)
        ps_text_printf(out, "%s%s", i > 0 ? ", " : "",
                       ps_escape(names->list[i], strlen(names->list[i]), shown, sizeof shown));
    if (names->count > 20)
        ps_text_add(out, ", ...");
}

static void no_such_dataset(hid_t file, const char *path, const char *name, struct ps_error *error)
{
    struct ps_hdf5_names names;
    struct ps_text list = {0};
    char shown[300], near_shown[300] = "";
    ps_hdf5_datasets(file, &names);
    list_names(&names, &list);
    const char *near = ps_nearest(name, (const char *const *)names.list, (size_t)names.count);
    if (near != NULL)
        ps_escape(near, strlen(near), near_shown, sizeof near_shown);
    ps_fail(error, PS_INPUT, "%s has no dataset '%s'%s%s%s; numeric datasets: %s", path,
            ps_escape(name, strlen(name), shown, sizeof shown), near ? ", did you mean '" : "",
            near_shown, near ? "'?" : "", list.data ? list.data : "none");
    ps_text_free(&list);
    ps_hdf5_names_free(&names);
}

// The only numeric dataset there is.
static char *only_dataset(hid_t file, const char *path, struct ps_error *error)
{
    struct ps_hdf5_names names;
    struct ps_text list = {0};
    char *name = NULL;
    if (!ps_hdf5_datasets(file, &names)) {
        ps_hdf5_fail(error, PS_INPUT, "cannot list the datasets of %s", path);
    } else if (names.count == 1) {
        name = ps_strdup(names.list[0]);
        if (name == NULL)
            ps_fail_memory(error, strlen(names.list[0]), "a name");
    } else {
        list_names(&names, &list);
        ps_fail(error, PS_INPUT, "%s holds %d numeric datasets%s%s%s", path, names.count,
                names.count > 0 ? ": say which with `dataset:`; there are " : "",
                list.data ? list.data : "", names.count > 0 ? "" : "; there is nothing to read");
    }
    ps_text_free(&list);
    ps_hdf5_names_free(&names);
    return name;
}

// The bytes of `name` up to the end of the part that begins behind `from`.
static size_t part_end(const char *name, size_t from)
{
    while (name[from] == '/')
        from++;
    while (name[from] != '/' && name[from] != '\0')
        from++;
    return from;
}

// Length of the first leading part of the path that is missing (its link is there, when *broken_out
// is true, but leads nowhere); 0: all is there. The library's own message names none of them.
static size_t missing_part(hid_t file, const char *name, bool *broken_out)
{
    char *part = ps_strdup(name);
    size_t length = 0;
    *broken_out = false;
    for (size_t end = 0; part != NULL && length == 0 && name[end] != '\0';) {
        end = part_end(name, end);
        part[end] = '\0';
        if (strspn(part, "/") != end) {
            bool linked = H5Lexists(file, part, H5P_DEFAULT) > 0;
            bool there = linked && H5Oexists_by_name(file, part, H5P_DEFAULT) > 0;
            *broken_out = linked && !there;
            length = there ? 0 : end;
        }
        part[end] = name[end];
    }
    free(part);
    H5Eclear2(H5E_DEFAULT);
    return length;
}

bool ps_hdf5_exists(hid_t file, const char *name)
{
    bool broken;
    return name[0] != '\0' && missing_part(file, name, &broken) == 0;
}

static bool broken_link(hid_t file, const char *path, const char *part, struct ps_error *error)
{
    char shown[300], to_file[300] = "", to[300] = "?";
    H5L_info_t info;
    char *value = NULL;
    bool external = false;
    if (H5Lget_info(file, part, &info, H5P_DEFAULT) >= 0 && info.type != H5L_TYPE_HARD)
        value = calloc(1, info.u.val_size + 1);
    if (value != NULL && H5Lget_val(file, part, value, info.u.val_size, H5P_DEFAULT) >= 0) {
        const char *target_file = "", *target = value;
        external = info.type == H5L_TYPE_EXTERNAL &&
                   H5Lunpack_elink_val(value, info.u.val_size, NULL, &target_file, &target) >= 0;
        ps_escape(target_file, strlen(target_file), to_file, sizeof to_file);
        ps_escape(target, strlen(target), to, sizeof to);
    }
    free(value);
    ps_escape(part, strlen(part), shown, sizeof shown);
    if (external)
        return ps_fail(error, PS_INPUT,
                       "%s: '%s' is an external link to '%s' in the file '%s', which "
                       "cannot be opened",
                       path, shown, to, to_file);
    return ps_fail(error, PS_INPUT, "%s: '%s' is a soft link to '%s', which does not exist", path,
                   shown, to);
}

static bool explain_missing(hid_t file, const char *path, const char *name, struct ps_error *error)
{
    bool broken = false;
    size_t length = missing_part(file, name, &broken);
    char *part = broken ? ps_strdup(name) : NULL;
    if (part != NULL) {
        part[length] = '\0';
        broken_link(file, path, part, error);
        free(part);
    } else {
        no_such_dataset(file, path, name, error);
    }
    return false;
}

// MATLAB stores an empty array as the list of its sizes, marked by an attribute.
static bool is_empty_matlab(hid_t set)
{
    int64_t mark = 0;
    hid_t attribute =
        H5Aexists(set, "MATLAB_empty") > 0 ? H5Aopen(set, "MATLAB_empty", H5P_DEFAULT) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    if (space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
        H5Aread(attribute, H5T_NATIVE_INT64, &mark) < 0)
        mark = 0;
    if (space >= 0)
        H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return mark != 0;
}

static hid_t open_dataset(hid_t file, const char *path, const char *name, struct ps_error *error)
{
    H5O_info_t info;
    char shown[300];
    ps_escape(name, strlen(name), shown, sizeof shown);
    if (!ps_hdf5_exists(file, name)) {
        explain_missing(file, path, name, error);
        return -1;
    }
    if (H5Oget_info_by_name(file, name, &info, H5P_DEFAULT) >= 0 && info.type != H5O_TYPE_DATASET) {
        ps_fail(error, PS_INPUT, "%s: '%s' is a %s, not a dataset", path, shown,
                info.type == H5O_TYPE_GROUP ? "group" : "named type");
        return -1;
    }
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0) {
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot open dataset %s", path, shown);
    } else if (is_empty_matlab(set)) {
        ps_fail(error, PS_INPUT,
                "%s: dataset %s is an empty MATLAB array: what it holds are its sizes", path,
                shown);
        H5Dclose(set);
        set = -1;
    }
    return set;
}

hid_t ps_hdf5_find(hid_t file, const char *path, const char *wanted, char **name_out,
                   struct ps_error *error)
{
    *name_out = wanted != NULL ? ps_strdup(wanted) : only_dataset(file, path, error);
    if (*name_out == NULL) {
        if (wanted != NULL)
            ps_fail_memory(error, strlen(wanted), "a name");
        return -1;
    }
    hid_t set = open_dataset(file, path, *name_out, error);
    if (set < 0) {
        free(*name_out);
        *name_out = NULL;
    }
    return set;
}
