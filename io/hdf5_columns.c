// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_reader.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 1000000

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool all_differ(char *const *names, size_t count)
{
    char **sorted = malloc((count + 1) * sizeof *sorted);
    bool differ = sorted != NULL;
    if (differ) {
        memcpy(sorted, names, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_text);
    }
    for (size_t i = 1; differ && i < count; i++)
        differ = strcmp(sorted[i - 1], sorted[i]) != 0;
    free(sorted);
    return differ;
}

// The selected ones of names (of all elements of the axis).
static void set_columns(struct ps_reader *reader, const struct ps_hdf5_axis *axis,
                        char *const *names)
{
    struct ps_error ignored = {0};
    char **chosen = calloc((size_t)axis->count + 1, sizeof *chosen);
    bool complete = chosen != NULL;
    for (int64_t i = 0; complete && i < axis->count; i++) {
        chosen[i] = names[axis->start + i * axis->step];
        complete = chosen[i] != NULL;
    }
    if (complete && all_differ(chosen, (size_t)axis->count))
        ps_array_set_columns(&reader->array, (int)axis->count, (const char *const *)chosen,
                             &ignored);
    free(chosen);
}

// The number of texts is checked against the axis before anything is allocated.
static bool are_names(hid_t type, hid_t space, int64_t wanted)
{
    hsize_t count = 0;
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0 &&
           H5Sget_simple_extent_ndims(space) == 1 &&
           H5Sget_simple_extent_dims(space, &count, NULL) == 1 && (int64_t)count == wanted &&
           count <= COLUMNS_MAX;
}

void ps_hdf5_read_columns(struct ps_reader *reader)
{
    const struct ps_hdf5_state *state = reader->state;
    const struct ps_hdf5_view *view = &state->view;
    int last = view->file_rank - 1;
    if (view->rank == 0 || view->axes[view->rank - 1] != last ||
        H5Aexists(state->set, "columns") <= 0)
        return;
    const struct ps_hdf5_axis *axis = &view->all[last];
    hid_t attribute = H5Aopen(state->set, "columns", H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    char **names = type >= 0 && space >= 0 && are_names(type, space, axis->size)
                       ? calloc((size_t)axis->size + 1, sizeof *names)
                       : NULL;
    if (names != NULL && H5Aread(attribute, type, names) >= 0) {
        set_columns(reader, axis, names);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, names);
    }
    free(names);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
}
