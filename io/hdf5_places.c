// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ps_hdf5_places_init(struct ps_hdf5_places *places, const char *path, bool anywhere,
                         unsigned flags, struct ps_error *error)
{
    *places = (struct ps_hdf5_places){.path = path, .anywhere = anywhere, .flags = flags};
    places->folder = realpath(path, NULL);
    if (places->folder == NULL)
        return ps_fail_errno(error, PS_INPUT, "cannot open %s", path);
    char *slash = strrchr(places->folder, '/');
    *(slash == places->folder ? slash + 1 : slash) = '\0';
    return true;
}

void ps_hdf5_places_free(struct ps_hdf5_places *places)
{
    free(places->folder);
    places->folder = NULL;
}

// ---- Where the library looks ----

// The folder of the file that holds the object, without its last '/'; "" for the working folder.
static void folder_of(hid_t holder, char folder[PATH_MAX])
{
    ssize_t length = H5Fget_name(holder, folder, PATH_MAX);
    char *slash = length > 0 && length < PATH_MAX ? strrchr(folder, '/') : NULL;
    if (slash == folder)
        slash++;
    *(slash != NULL ? slash : folder) = '\0';
}

static bool is_there(const char *folder, const char *name, char found[PATH_MAX])
{
    struct stat status;
    int length = snprintf(found, PATH_MAX, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    return length < PATH_MAX && stat(found, &status) == 0;
}

// In a folder of a list: "${ORIGIN}" is the folder of the holder's file.
static bool in_folders(const char *list, const char *separators, hid_t holder, const char *name,
                       char found[PATH_MAX])
{
    static const char origin[] = "${ORIGIN}";
    char *copy = list != NULL ? ps_strdup(list) : NULL, *rest = copy;
    bool there = false;
    for (char *prefix; !there && (prefix = strsep(&rest, separators)) != NULL;) {
        char own[PATH_MAX], folder[2 * PATH_MAX];
        snprintf(folder, sizeof folder, "%s", prefix);
        if (strncmp(prefix, origin, sizeof origin - 1) == 0) {
            folder_of(holder, own);
            snprintf(folder, sizeof folder, "%s%s", own, prefix + sizeof origin - 1);
        }
        there = folder[0] != '\0' && is_there(folder, name, found);
    }
    free(copy);
    return there;
}

// In the order of the library (H5F_prefix_open_file): of a name with a root only the last part is
// looked for elsewhere; beside the file under the name it was opened by, in the working folder,
// beside what a link to the file leads to.
static bool find_hdf5(hid_t holder, enum ps_hdf5_need need, const char *name, char found[PATH_MAX])
{
    char folder[PATH_MAX], *real;
    if (name[0] == '/' && is_there("", name, found))
        return true;
    const char *last = name[0] == '/' ? strrchr(name, '/') + 1 : name;
    const char *list = getenv(need == PS_HDF5_SOURCE ? "HDF5_VDS_PREFIX" : "HDF5_EXT_PREFIX");
    folder_of(holder, folder);
    if (in_folders(list, ":", holder, last, found) || is_there(folder, last, found) ||
        is_there("", last, found))
        return true;
    if (H5Fget_name(holder, folder, PATH_MAX) <= 0 || (real = realpath(folder, NULL)) == NULL)
        return false;
    *strrchr(real, '/') = '\0';
    bool there = is_there(real, last, found);
    free(real);
    return there;
}

static bool find_external(hid_t holder, const char *name, char found[PATH_MAX])
{
    if (name[0] == '/')
        return is_there("", name, found);
    return in_folders(getenv(PS_HDF5_EXTERNAL_PREFIX), "", holder, name, found);
}

// ---- Whether it may be opened ----

static bool is_under(const char *folder, const char *path)
{
    size_t length = strlen(folder);
    if (length > 0 && folder[length - 1] == '/')
        length--;
    return strncmp(folder, path, length) == 0 && path[length] == '/';
}

static bool is_allowed(const struct ps_hdf5_places *places, const char *found, const char *name,
                       const char *what, struct ps_error *error)
{
    struct stat status;
    char shown[300], place[300];
    ps_escape(name, strlen(name), shown, sizeof shown);
    char *real = realpath(found, NULL);
    if (real == NULL)
        return ps_fail_errno(error, PS_INPUT, "%s: %s needs the file '%s'", places->path, what,
                             shown);
    ps_escape(real, strlen(real), place, sizeof place);
    bool fine = places->anywhere || is_under(places->folder, real);
    if (!fine)
        ps_fail(error, PS_INPUT,
                "%s: %s needs the file '%s' (%s), which is not under the folder of this file; if "
                "you trust it, `follow: anywhere` in the input allows that",
                places->path, what, shown, place);
    else if (stat(real, &status) != 0 || !S_ISREG(status.st_mode))
        fine = ps_fail(error, PS_INPUT, "%s: %s needs '%s' (%s), which is not a regular file",
                       places->path, what, shown, place);
    free(real);
    return fine;
}

enum ps_hdf5_place ps_hdf5_place_find(const struct ps_hdf5_places *places, hid_t holder,
                                      enum ps_hdf5_need need, const char *name, const char *what,
                                      char found[PATH_MAX], struct ps_error *error)
{
    bool there =
        name[0] != '\0' && (need == PS_HDF5_EXTERNAL ? find_external(holder, name, found)
                                                     : find_hdf5(holder, need, name, found));
    if (!there)
        return PS_HDF5_MISSING;
    return is_allowed(places, found, name, what, error) ? PS_HDF5_HERE : PS_HDF5_REFUSED;
}
