// SPDX-License-Identifier: Apache-2.0
#include "io/npz.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define LISTED_MAX 20

bool ps_npz_is_array(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npy") == 0;
}

static bool is_named(const struct ps_zip_member *member, const char *wanted)
{
    size_t length = strlen(wanted);
    return strcmp(member->name, wanted) == 0 || (strncmp(member->name, wanted, length) == 0 &&
                                                 strcmp(member->name + length, ".npy") == 0);
}

// The names without ".npy", as NumPy shows them.
static void list_members(const struct ps_zip *zip, struct ps_text *out)
{
    char shown[100];
    int listed = 0;
    for (int i = 0; i < zip->count && listed < LISTED_MAX; i++) {
        const char *name = zip->members[i].name;
        if (ps_npz_is_array(name))
            ps_text_printf(out, "%s%s", listed++ > 0 ? ", " : "",
                           ps_escape(name, strlen(name) - 4, shown, sizeof shown));
    }
    if (listed == LISTED_MAX)
        ps_text_add(out, ", ...");
}

// "; did you mean 'x'?", or nothing.
static void add_near(const struct ps_zip *zip, const char *wanted, struct ps_text *out)
{
    char **names = calloc((size_t)zip->count + 1, sizeof *names), shown[100];
    size_t count = 0;
    for (int i = 0; names != NULL && i < zip->count; i++)
        if (ps_npz_is_array(zip->members[i].name) &&
            (names[count] = strndup(zip->members[i].name, strlen(zip->members[i].name) - 4)) !=
                NULL)
            count++;
    const char *near = ps_nearest(wanted, (const char *const *)names, count);
    if (near != NULL)
        ps_text_printf(out, "; did you mean '%s'?", ps_escape(near, strlen(near), shown, 100));
    while (count > 0)
        free(names[--count]);
    free(names);
}

static const struct ps_zip_member *not_found(const struct ps_zip *zip, const char *wanted,
                                             int found, struct ps_error *error)
{
    struct ps_text list = {0}, near = {0};
    char shown[100];
    list_members(zip, &list);
    const char *names = list.length > 0 ? list.data : "none";
    if (wanted != NULL && found == 0)
        add_near(zip, wanted, &near);
    if (wanted == NULL && found == 0)
        ps_fail(error, PS_INPUT, "%s holds no arrays (.npy files)", zip->path);
    else if (wanted == NULL)
        ps_fail(error, PS_INPUT, "%s holds %d arrays: choose one by `member:` (members: %s)",
                zip->path, found, names);
    else
        ps_fail(error, PS_INPUT, "%s member '%s' in %s (members: %s)%s",
                found > 1 ? "more than one" : "no",
                ps_escape(wanted, strlen(wanted), shown, sizeof shown), zip->path, names,
                near.length > 0 ? near.data : "");
    ps_text_free(&near);
    ps_text_free(&list);
    return NULL;
}

const struct ps_zip_member *ps_npz_find(const struct ps_zip *zip, const char *wanted,
                                        struct ps_error *error)
{
    const struct ps_zip_member *found = NULL;
    int count = 0;
    for (int i = 0; i < zip->count; i++) {
        const struct ps_zip_member *member = &zip->members[i];
        if (wanted != NULL ? !is_named(member, wanted) : !ps_npz_is_array(member->name))
            continue;
        found = member;
        count++;
    }
    return count == 1 ? found : not_found(zip, wanted, count, error);
}
