// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_names.h"

#include <stdlib.h>
#include <string.h>

// "a/b" of "/a//./b/": as the library finds it.
static char *plain_path(const char *name)
{
    struct ps_text text = {0};
    while (*name != '\0') {
        size_t length = strcspn(name, "/");
        if (length > 0 && !(length == 1 && *name == '.')) {
            ps_text_add(&text, text.length > 0 ? "/" : "");
            ps_text_append(&text, name, length);
        }
        name += length + (name[length] == '/');
    }
    ps_text_add(&text, "");
    return text.data != NULL ? text.data : ps_strdup("");
}

static bool is_within(const char *path, const char *group)
{
    size_t length = strlen(group);
    return strncmp(path, group, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool ps_hdf5_may_share(const struct ps_values *a, const struct ps_values *b, struct ps_error *error)
{
    const char *names[] = {ps_values_get(a, "dataset")->text, ps_values_get(b, "dataset")->text};
    char *x = plain_path(names[0]), *y = plain_path(names[1]);
    bool fine = x != NULL && y != NULL;
    if (!fine)
        ps_fail_memory(error, strlen(names[0]), "names of datasets");
    else if (strcmp(x, y) == 0)
        fine = ps_fail(error, PS_USAGE,
                       "both would be its dataset '%s'; name another one by `dataset:`", names[0]);
    else if (is_within(x, y) || is_within(y, x))
        fine =
            ps_fail(error, PS_USAGE, "'%s' cannot be a dataset and hold '%s' as a group",
                    is_within(x, y) ? names[1] : names[0], is_within(x, y) ? names[0] : names[1]);
    free(x);
    free(y);
    return fine;
}

bool ps_hdf5_make_groups(hid_t file, const char *name)
{
    hid_t create = H5Pcreate(H5P_GROUP_CREATE);
    char *path = plain_path(name);
    bool fine = path != NULL && create >= 0 && H5Pset_obj_track_times(create, 0) >= 0;
    for (char *slash = path; fine && (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        htri_t there = H5Lexists(file, path, H5P_DEFAULT);
        hid_t group = there == 0 ? H5Gcreate2(file, path, H5P_DEFAULT, create, H5P_DEFAULT) : -1;
        fine = there > 0 || group >= 0;
        if (group >= 0)
            H5Gclose(group);
    }
    free(path);
    if (create >= 0)
        H5Pclose(create);
    return fine;
}
