// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX 64 // followed one after the other: more than that is a circle

struct walk {
    const struct ps_hdf5_places *places;
    hid_t group;                // where we are
    struct ps_text at;          // its path in its file
    char *rest;                 // of the path
    size_t asked;               // so many last bytes of `rest` are of the name that was asked for
    int links;                  // followed so far
    char first[800], last[800]; // of these: "'/a' is a soft link to '/b'"
    struct ps_error *error;
};

// ---- Messages ----

// "'/a/b'", and of which file, unless it is the input's own.
static const char *place_of(const struct walk *walk, const char *part, char out[700])
{
    char file[PATH_MAX], shown[300], shown_file[300] = "";
    struct ps_text path = {0};
    ps_text_printf(&path, "%s/%s", walk->at.data != NULL ? walk->at.data : "", part);
    ps_escape(path.data != NULL ? path.data : part, path.length, shown, sizeof shown);
    ps_text_free(&path);
    bool own =
        H5Fget_name(walk->group, file, sizeof file) <= 0 || strcmp(file, walk->places->path) == 0;
    char *real = own ? NULL : realpath(file, NULL);
    if (real != NULL)
        ps_escape(real, strlen(real), shown_file, sizeof shown_file);
    free(real);
    snprintf(out, 700, "'%s'%s%s%s", shown, own ? "" : " of the file '", shown_file,
             own ? "" : "'");
    return out;
}

static void remember(struct walk *walk, const char *description)
{
    snprintf(walk->links == 0 ? walk->first : walk->last, sizeof walk->last, "%s", description);
    walk->links++;
}

static enum ps_hdf5_end broken(const struct walk *walk, const char *why)
{
    H5Eclear2(H5E_DEFAULT);
    ps_fail(walk->error, PS_INPUT, "%s: %s%s%s, which %s", walk->places->path, walk->first,
            walk->links > 1 ? "; in the end " : "", walk->links > 1 ? walk->last : "", why);
    return PS_HDF5_BROKEN;
}

static enum ps_hdf5_end circle(const struct walk *walk)
{
    ps_fail(walk->error, PS_INPUT, "%s: %s, which leads in a circle", walk->places->path,
            walk->first);
    return PS_HDF5_BROKEN;
}

static enum ps_hdf5_end no_memory(const struct walk *walk)
{
    ps_fail_memory(walk->error, strlen(walk->rest), "a path of links");
    return PS_HDF5_BROKEN;
}

static enum ps_hdf5_end missing(const struct walk *walk, const char *from)
{
    if (walk->links == 0 || strlen(from) <= walk->asked) {
        H5Eclear2(H5E_DEFAULT);
        return PS_HDF5_NO_SUCH_NAME;
    }
    return broken(walk, "does not exist");
}

// ---- Steps ----

static void move_to(struct walk *walk, hid_t group)
{
    H5Oclose(walk->group);
    walk->group = group;
}

// The way goes on along `target` and then along what was left behind the link.
static bool turn_to(struct walk *walk, const char *target, const char *left)
{
    size_t size = strlen(target) + strlen(left) + 2;
    char *rest = malloc(size);
    if (rest == NULL)
        return false;
    snprintf(rest, size, "%s/%s", target, left);
    if (strlen(left) < walk->asked)
        walk->asked = strlen(left);
    free(walk->rest);
    walk->rest = rest;
    return true;
}

static bool go_to_root(struct walk *walk, hid_t of)
{
    hid_t root = H5Gopen2(of, "/", H5P_DEFAULT);
    if (root < 0)
        return false;
    move_to(walk, root);
    ps_text_free(&walk->at);
    return true;
}

static enum ps_hdf5_end step_soft(struct walk *walk, const char *part, const char *target,
                                  const char *left)
{
    char text[800], place[700], shown[80];
    snprintf(text, sizeof text, "%s is a soft link to '%s'", place_of(walk, part, place),
             ps_escape(target, strlen(target), shown, sizeof shown));
    remember(walk, text);
    if (walk->links > LINKS_MAX)
        return circle(walk);
    if (target[0] == '/' && !go_to_root(walk, walk->group))
        return broken(walk, "cannot be followed");
    return turn_to(walk, target, left) ? PS_HDF5_FOUND : no_memory(walk);
}

static enum ps_hdf5_end step_external(struct walk *walk, const char *part, const char *file_name,
                                      const char *target, const char *left)
{
    char text[800], place[700], shown[80], shown_file[200], found[PATH_MAX];
    const struct ps_hdf5_places *places = walk->places;
    snprintf(text, sizeof text, "%s is an external link to '%s' in the file '%s'",
             place_of(walk, part, place), ps_escape(target, strlen(target), shown, sizeof shown),
             ps_escape(file_name, strlen(file_name), shown_file, sizeof shown_file));
    remember(walk, text);
    if (walk->links > LINKS_MAX)
        return circle(walk);
    snprintf(text, sizeof text, "the external link %s", place);
    enum ps_hdf5_place where = ps_hdf5_place_find(places, walk->group, PS_HDF5_LINKED, file_name,
                                                  text, found, walk->error);
    if (where == PS_HDF5_REFUSED)
        return PS_HDF5_BROKEN;
    if (where == PS_HDF5_MISSING)
        return broken(walk, "is not there");
    hid_t file = ps_hdf5_file(found, places->flags);
    if (file < 0) {
        ps_hdf5_fail(walk->error, PS_INPUT, "%s: %s, which cannot be opened", places->path,
                     walk->links > 1 ? walk->last : walk->first);
        return PS_HDF5_BROKEN;
    }
    bool fine = go_to_root(walk, file);
    H5Fclose(file); // stays open as long as the group
    if (!fine)
        return broken(walk, "cannot be read");
    return turn_to(walk, target, left) ? PS_HDF5_FOUND : no_memory(walk);
}

static enum ps_hdf5_end step_link(struct walk *walk, const char *part, const H5L_info_t *info,
                                  const char *left)
{
    char place[700];
    if (info->type != H5L_TYPE_SOFT && info->type != H5L_TYPE_EXTERNAL) {
        ps_fail(walk->error, PS_INPUT,
                "%s: %s is a user-defined link (class %d), which only the program that made it can "
                "follow",
                walk->places->path, place_of(walk, part, place), (int)info->type);
        return PS_HDF5_BROKEN;
    }
    char *value = calloc(1, info->u.val_size + 1);
    const char *file = NULL, *target = value;
    bool fine = value != NULL &&
                H5Lget_val(walk->group, part, value, info->u.val_size, H5P_DEFAULT) >= 0 &&
                (info->type == H5L_TYPE_SOFT ||
                 H5Lunpack_elink_val(value, info->u.val_size, NULL, &file, &target) >= 0);
    enum ps_hdf5_end end = PS_HDF5_BROKEN;
    if (!fine)
        ps_hdf5_fail(walk->error, PS_INPUT, "%s: the link %s cannot be read", walk->places->path,
                     place_of(walk, part, place));
    else if (file != NULL)
        end = step_external(walk, part, file, target, left);
    else
        end = step_soft(walk, part, target, left);
    free(value);
    return end;
}

// Into the group behind a hard link.
static enum ps_hdf5_end step_into(struct walk *walk, const char *part, const char *from,
                                  const char *left)
{
    hid_t next = H5Oopen(walk->group, part, H5P_DEFAULT);
    if (next >= 0 && H5Iget_type(next) != H5I_GROUP) {
        H5Oclose(next);
        return missing(walk, from); // a dataset or type has nothing inside
    }
    if (next < 0) {
        char place[700];
        ps_hdf5_fail(walk->error, PS_INPUT, "%s: %s cannot be opened", walk->places->path,
                     place_of(walk, part, place));
        return PS_HDF5_BROKEN;
    }
    ps_text_printf(&walk->at, "/%s", part);
    move_to(walk, next);
    memmove(walk->rest, left, strlen(left) + 1);
    return PS_HDF5_FOUND;
}

// "/" and "." mean where we are.
static const char *skip_here(const char *text)
{
    for (;; text++) {
        text += strspn(text, "/");
        if (text[0] != '.' || (text[1] != '/' && text[1] != '\0'))
            return text;
    }
}

static enum ps_hdf5_end step_part(struct walk *walk, const char *from, char *part,
                                  struct ps_hdf5_found *found)
{
    H5L_info_t info;
    const char *left = skip_here(from + strlen(part));
    htri_t there = H5Lexists(walk->group, part, H5P_DEFAULT);
    if (there == 0)
        return missing(walk, from);
    if (there < 0 || H5Lget_info(walk->group, part, &info, H5P_DEFAULT) < 0) {
        char place[700];
        ps_hdf5_fail(walk->error, PS_INPUT, "%s: %s cannot be looked up", walk->places->path,
                     place_of(walk, part, place));
        return PS_HDF5_BROKEN;
    }
    if (info.type != H5L_TYPE_HARD)
        return step_link(walk, part, &info, left);
    if (*left != '\0')
        return step_into(walk, part, from, left);
    found->last = ps_strdup(part);
    return found->last != NULL ? PS_HDF5_FOUND : no_memory(walk);
}

static enum ps_hdf5_end step(struct walk *walk, struct ps_hdf5_found *found)
{
    const char *from = skip_here(walk->rest);
    size_t length = strcspn(from, "/");
    char *part = length > 0 ? strndup(from, length) : ps_strdup(".");
    if (part == NULL)
        return no_memory(walk);
    enum ps_hdf5_end end = PS_HDF5_FOUND;
    if (length > 0)
        end = step_part(walk, from, part, found);
    else
        found->last = ps_strdup(part);
    free(part);
    return end == PS_HDF5_FOUND && length == 0 && found->last == NULL ? no_memory(walk) : end;
}

enum ps_hdf5_end ps_hdf5_follow(const struct ps_hdf5_places *places, hid_t start, const char *name,
                                struct ps_hdf5_found *found_out, struct ps_error *error)
{
    struct walk walk = {.places = places, .asked = strlen(name), .error = error};
    enum ps_hdf5_end end = PS_HDF5_FOUND;
    *found_out = (struct ps_hdf5_found){.group = -1};
    if (name[0] == '\0')
        return PS_HDF5_NO_SUCH_NAME;
    walk.group = H5Gopen2(start, name[0] == '/' ? "/" : ".", H5P_DEFAULT);
    walk.rest = ps_strdup(name);
    if (walk.group < 0 || walk.rest == NULL) {
        ps_hdf5_fail(error, PS_INPUT, "%s: the root cannot be opened", places->path);
        end = PS_HDF5_BROKEN;
    }
    while (end == PS_HDF5_FOUND && found_out->last == NULL)
        end = step(&walk, found_out);
    if (end == PS_HDF5_FOUND)
        found_out->group = walk.group;
    else if (walk.group >= 0)
        H5Gclose(walk.group);
    free(walk.rest);
    ps_text_free(&walk.at);
    return end;
}

void ps_hdf5_found_free(struct ps_hdf5_found *found)
{
    if (found->group >= 0)
        H5Gclose(found->group);
    free(found->last);
    *found = (struct ps_hdf5_found){.group = -1};
}

H5O_type_t ps_hdf5_found_type(const struct ps_hdf5_found *found)
{
    H5O_info_t info;
    return H5Oget_info_by_name(found->group, found->last, &info, H5P_DEFAULT) < 0 ? H5O_TYPE_UNKNOWN
                                                                                  : info.type;
}

hid_t ps_hdf5_found_open(const struct ps_hdf5_found *found, hid_t access)
{
    return H5Dopen2(found->group, found->last, access);
}
