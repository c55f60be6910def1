// SPDX-License-Identifier: Apache-2.0
// Finding the dataset to read by its path, and saying why it is not found. Reads no data.
#include "io/hdf5_find.h"

#include "io/hdf5_element.h"

#include "io/hdf5_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- What there is ----

struct names { // of numeric datasets, then of links to elsewhere (which are not followed)
    char **list;
    size_t count, numeric_count;
    const char *prefix;
};

static bool is_numeric(hid_t group, const char *name)
{
    const char *what;
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    hid_t type = set >= 0 ? H5Dget_type(set) : -1;
    bool numeric = type >= 0 && ps_hdf5_is_readable(type, &what);
    if (type >= 0)
        H5Tclose(type);
    if (set >= 0)
        H5Dclose(set);
    return numeric;
}

static bool add_name(const struct ps_hdf5_item *item, void *context)
{
    struct names *names = context;
    bool numeric =
        item->type == H5O_TYPE_DATASET && !item->again && is_numeric(item->group, item->last);
    if (!numeric && item->link.type == H5L_TYPE_HARD)
        return true;
    char **list = realloc(names->list, (names->count + 1) * sizeof *list);
    struct ps_text name = {0};
    ps_text_printf(&name, "%s/%s", names->prefix, item->path);
    if (list == NULL || name.failed)
        return false;
    names->list = list;
    list[names->count] = name.data;
    if (numeric) {
        list[names->count] = list[names->numeric_count];
        list[names->numeric_count++] = name.data;
    }
    names->count++;
    return true;
}

static bool get_names(hid_t start, const char *prefix, struct names *names)
{
    *names = (struct names){.prefix = prefix};
    return ps_hdf5_walk(start, add_name, names);
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static void list_names(const struct names *names, struct ps_text *out)
{
    char shown[64];
    for (size_t i = 0; i < names->numeric_count && i < 20; i++)
        ps_text_printf(out, "%s%s", i > 0 ? ", " : "",
                       ps_escape(names->list[i], strlen(names->list[i]), shown, sizeof shown));
    if (names->numeric_count > 20)
        ps_text_add(out, ", ...");
}

// By its letters, else by its last part alone ("/inner" for "/group/inner").
static const char *nearest(const struct names *names, const char *wanted)
{
    const char *near = ps_nearest(wanted, (const char *const *)names->list, names->count);
    const char *last = strrchr(wanted, '/');
    for (size_t i = 0; near == NULL && last != NULL && last[1] != '\0' && i < names->count; i++)
        if (strcmp(strrchr(names->list[i], '/'), last) == 0)
            near = names->list[i];
    return near;
}

// The names in the group that all but the last part of `parent` (which is cut off) leads to,
// through links as well.
static bool names_around(hid_t file, const struct ps_hdf5_places *places, char *parent,
                         struct names *names)
{
    struct ps_hdf5_found found;
    struct ps_error ignored = {0};
    char *slash = strrchr(parent, '/');
    *names = (struct names){0};
    if (slash == NULL || slash == parent)
        return false;
    *slash = '\0';
    bool fine = ps_hdf5_follow(places, file, parent, &found, &ignored) == PS_HDF5_FOUND;
    hid_t group = fine && ps_hdf5_found_type(&found) == H5O_TYPE_GROUP
                      ? H5Gopen2(found.group, found.last, H5P_DEFAULT)
                      : -1;
    fine = group >= 0 && get_names(group, parent, names);
    if (group >= 0)
        H5Gclose(group);
    ps_hdf5_found_free(&found);
    return fine;
}

static void no_such_dataset(hid_t file, const struct ps_hdf5_places *places, const char *name,
                            struct ps_error *error)
{
    struct names names, around;
    struct ps_text list = {0}, rooted = {0};
    char shown[300], near_shown[300] = "";
    get_names(file, "", &names);
    list_names(&names, &list);
    ps_text_printf(&rooted, "%s%s", name[0] == '/' ? "" : "/", name);
    char *parent = rooted.failed ? NULL : ps_strdup(rooted.data);
    bool known = parent != NULL && names_around(file, places, parent, &around);
    const char *near = known ? nearest(&around, rooted.data) : NULL;
    if (near == NULL && parent != NULL)
        near = nearest(&names, rooted.data);
    if (near != NULL)
        ps_escape(near, strlen(near), near_shown, sizeof near_shown);
    ps_fail(error, PS_INPUT, "%s has no dataset '%s'%s%s%s; numeric datasets: %s", places->path,
            ps_escape(name, strlen(name), shown, sizeof shown), near ? ", did you mean '" : "",
            near_shown, near ? "'?" : "", list.data ? list.data : "none");
    ps_text_free(&list);
    ps_text_free(&rooted);
    if (parent != NULL)
        free_names(&around);
    free(parent);
    free_names(&names);
    H5Eclear2(H5E_DEFAULT);
}

// The only numeric dataset there is.
static char *only_dataset(hid_t file, const char *path, struct ps_error *error)
{
    struct names names;
    struct ps_text list = {0};
    char *name = NULL;
    if (!get_names(file, "", &names)) {
        ps_hdf5_fail(error, PS_INPUT, "cannot list the datasets of %s", path);
    } else if (names.numeric_count == 1) {
        name = ps_strdup(names.list[0]);
        if (name == NULL)
            ps_fail_memory(error, strlen(names.list[0]), "a name");
    } else {
        list_names(&names, &list);
        bool none = names.numeric_count == 0;
        ps_fail(error, PS_INPUT, "%s holds %zu numeric datasets%s%s%s", path, names.numeric_count,
                none ? "" : ": say which with `dataset:`; there are ", list.data ? list.data : "",
                none ? "; there is nothing to read" : "");
    }
    ps_text_free(&list);
    free_names(&names);
    return name;
}

// ---- Opening it ----

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

static void not_a_dataset(const struct ps_hdf5_found *found, const char *path, const char *name,
                          H5O_type_t type, struct ps_error *error)
{
    char shown[300];
    struct names names = {0};
    struct ps_text list = {0};
    ps_escape(name, strlen(name), shown, sizeof shown);
    hid_t group = type == H5O_TYPE_GROUP ? H5Gopen2(found->group, found->last, H5P_DEFAULT) : -1;
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] == '/')
        length--;
    char *prefix = strndup(name, length);
    if (group >= 0 && prefix != NULL && get_names(group, prefix, &names))
        list_names(&names, &list);
    if (group >= 0)
        H5Gclose(group);
    if (type == H5O_TYPE_GROUP)
        ps_fail(error, PS_INPUT, "%s: '%s' is a group, not a dataset; numeric datasets in it: %s",
                path, shown, list.data != NULL ? list.data : "none");
    else
        ps_fail(error, PS_INPUT, "%s: '%s' is a %s, not a dataset", path, shown,
                type == H5O_TYPE_NAMED_DATATYPE ? "committed type (it has no data)"
                                                : "broken or unknown object");
    ps_text_free(&list);
    free_names(&names);
    free(prefix);
}

static hid_t open_found(const struct ps_hdf5_found *found, const char *path, const char *name,
                        struct ps_error *error)
{
    char shown[300];
    H5O_type_t type = ps_hdf5_found_type(found);
    ps_escape(name, strlen(name), shown, sizeof shown);
    if (type != H5O_TYPE_DATASET && type != H5O_TYPE_UNKNOWN) {
        not_a_dataset(found, path, name, type, error);
        return -1;
    }
    hid_t set = ps_hdf5_found_open(found, H5P_DEFAULT);
    if (set < 0) {
        ps_hdf5_fail(error, PS_INPUT, "%s: cannot open dataset %s", path, shown);
    } else if (is_empty_matlab(set)) {
        ps_fail(
            error, PS_INPUT,
            "%s: dataset %s is an empty MATLAB array (MATLAB_empty): what it holds are its sizes",
            path, shown);
        H5Dclose(set);
        set = -1;
    }
    return set;
}

// Bytes that no config can hold, as YAML is UTF-8, can be written as messages show them: "\xE9".
static bool take_escapes_back(char *name)
{
    char *to = name;
    bool any = false;
    for (const char *from = name; *from != '\0';) {
        unsigned byte;
        int length = 0;
        if (sscanf(from, "\\x%2x%n", &byte, &length) == 1 && length == 4 && byte != 0) {
            *to++ = (char)byte;
            from += length;
            any = true;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return any;
}

static enum ps_hdf5_end follow(hid_t file, const struct ps_hdf5_places *places, const char *name,
                               struct ps_hdf5_found *found_out, struct ps_error *error)
{
    enum ps_hdf5_end end = ps_hdf5_follow(places, file, name, found_out, error);
    char *bytes = end == PS_HDF5_NO_SUCH_NAME ? ps_strdup(name) : NULL;
    if (bytes != NULL && take_escapes_back(bytes))
        end = ps_hdf5_follow(places, file, bytes, found_out, error);
    free(bytes);
    return end;
}

hid_t ps_hdf5_find(hid_t file, const struct ps_hdf5_places *places, const char *wanted,
                   struct ps_hdf5_found *found_out, char **name_out, struct ps_error *error)
{
    *found_out = (struct ps_hdf5_found){.group = -1};
    *name_out = wanted != NULL ? ps_strdup(wanted) : only_dataset(file, places->path, error);
    if (*name_out == NULL) {
        if (wanted != NULL)
            ps_fail_memory(error, strlen(wanted), "a name");
        return -1;
    }
    hid_t set = -1;
    enum ps_hdf5_end end = follow(file, places, *name_out, found_out, error);
    if (end == PS_HDF5_NO_SUCH_NAME)
        no_such_dataset(file, places, *name_out, error);
    else if (end == PS_HDF5_FOUND)
        set = open_found(found_out, places->path, *name_out, error);
    if (set < 0) {
        free(*name_out);
        *name_out = NULL;
    }
    return set;
}
