// SPDX-License-Identifier: Apache-2.0
// Reading `select` and `axis`, and what they mean for a range of rows.
#include "io/hdf5_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ps_hdf5_shape_text(const struct ps_hdf5_view *view, char out[PS_HDF5_SHAPE_TEXT])
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < view->file_rank && used < PS_HDF5_SHAPE_TEXT; i++)
        used += (size_t)snprintf(out + used, PS_HDF5_SHAPE_TEXT - used, "%s%lld",
                                 i > 0 ? " x " : "", (long long)view->all[i].size);
    return out;
}

// ---- One entry of select ----

struct entry {
    const char *text;
    int axis; // of the dataset
    const struct ps_hdf5_view *view;
    const char *path, *name;
    struct ps_error *error;
};

static bool is_wrong(const struct entry *entry)
{
    char shown[80];
    return ps_fail(entry->error, PS_USAGE,
                   "%s: select: '%s' selects nothing of an axis; write an index (5), a range "
                   "(start:stop or start:stop:step) or ':' for all",
                   entry->path, ps_escape(entry->text, strlen(entry->text), shown, sizeof shown));
}

static bool is_outside(const struct entry *entry, int64_t value)
{
    char shown[80], shape[PS_HDF5_SHAPE_TEXT];
    long long size = entry->view->all[entry->axis].size;
    return ps_fail(entry->error, PS_INPUT,
                   "%s: select: %lld of '%s' is outside of axis %d, which has %lld elements (they "
                   "count from 0, or from -%lld): dataset %s has shape %s",
                   entry->path, (long long)value,
                   ps_escape(entry->text, strlen(entry->text), shown, sizeof shown), entry->axis,
                   size, size, entry->name, ps_hdf5_shape_text(entry->view, shape));
}

// Splits "a:b:c"; *count_out: how many parts. False: more than three, or too long.
static bool split(const char *text, char parts[3][32], int *count_out)
{
    *count_out = 0;
    for (;; text++) {
        size_t length = strcspn(text, ":");
        if (*count_out == 3 || length >= 32)
            return false;
        memcpy(parts[*count_out], text, length);
        parts[(*count_out)++][length] = '\0';
        text += length;
        if (*text == '\0')
            return true;
    }
}

// Negative numbers count from the end. last: the largest number that is allowed.
static bool read_bound(const struct entry *entry, const char *part, int64_t last, int64_t *out)
{
    int64_t size = entry->view->all[entry->axis].size, value;
    if (part[0] == '\0')
        return true; // the default, which is there
    if (!ps_integer_parse(part, &value))
        return is_wrong(entry);
    if (value < -size || value > last)
        return is_outside(entry, value);
    *out = value < 0 ? value + size : value;
    return true;
}

static bool read_range(const struct entry *entry, char parts[3][32], int parts_count,
                       struct ps_hdf5_axis *axis)
{
    int64_t step = 1;
    if (parts_count == 3 && parts[2][0] != '\0' &&
        (!ps_integer_parse(parts[2], &step) || step == 0 || step == INT64_MIN))
        return is_wrong(entry);
    bool down = step < 0;
    int64_t start = down ? axis->size - 1 : 0, stop = down ? -1 : axis->size;
    if (!read_bound(entry, parts[0], axis->size, &start) ||
        !read_bound(entry, parts[1], axis->size, &stop))
        return false;
    if (down && start == axis->size) // Python's meaning: the last element is the first there is
        start = axis->size - 1;
    int64_t length = down ? start - stop : stop - start, size = down ? -step : step;
    axis->start = start;
    axis->step = step;
    axis->count = length <= 0 ? 0 : (length - 1) / size + 1;
    return true;
}

static bool read_entry(const struct entry *entry, struct ps_hdf5_axis *axis)
{
    char parts[3][32];
    int count;
    if (entry->text[0] == '\0' || !split(entry->text, parts, &count))
        return is_wrong(entry);
    if (count > 1)
        return read_range(entry, parts, count, axis);
    if (!read_bound(entry, parts[0], axis->size - 1, &axis->start))
        return false;
    axis->count = 1;
    axis->dropped = true;
    return true;
}

static bool read_select(struct ps_hdf5_view *view, const struct ps_value *select, const char *path,
                        const char *name, struct ps_error *error)
{
    char shape[PS_HDF5_SHAPE_TEXT];
    if (select->count != view->file_rank)
        return ps_fail(error, PS_INPUT,
                       "%s: select has %d %s, but dataset %s has %d %s (shape %s): one for each is "
                       "needed, ':' takes all",
                       path, select->count, select->count == 1 ? "entry" : "entries", name,
                       view->file_rank, view->file_rank == 1 ? "axis" : "axes",
                       ps_hdf5_shape_text(view, shape));
    for (int i = 0; i < view->file_rank; i++) {
        struct entry entry = {select->words[i], i, view, path, name, error};
        if (!read_entry(&entry, &view->all[i]))
            return false;
    }
    return true;
}

// ---- The order of axes ----

static bool order_axes(struct ps_hdf5_view *view, int64_t front, const char *path, const char *name,
                       struct ps_error *error)
{
    char shape[PS_HDF5_SHAPE_TEXT];
    int64_t axis = front < 0 ? front + view->file_rank : front;
    bool any = view->file_rank > 0 || front != 0; // a single number has none, and needs none
    if (any && (axis < 0 || axis >= view->file_rank))
        return ps_fail(error, PS_INPUT, "%s: axis: %lld: dataset %s has %d axes (shape %s)", path,
                       (long long)front, name, view->file_rank, ps_hdf5_shape_text(view, shape));
    if (front != 0 && view->all[axis].dropped)
        return ps_fail(error, PS_INPUT,
                       "%s: axis: %lld: `select` takes only one index of this axis, so there is "
                       "nothing to stream along it",
                       path, (long long)front);
    view->rank = 0;
    view->moved = -1;
    if (any && !view->all[axis].dropped)
        view->axes[view->rank++] = (int)axis;
    for (int i = 0; i < view->file_rank; i++) {
        if (view->all[i].dropped || (view->rank > 0 && i == view->axes[0]))
            continue;
        if (view->rank > 0 && i < view->axes[0])
            view->moved = view->axes[0];
        view->axes[view->rank++] = i;
    }
    return true;
}

// Of a dataset with too many axes those of one element say nothing.
static void drop_single(struct ps_hdf5_view *view, bool keep_front)
{
    for (int i = 0; i < view->file_rank; i++)
        view->all[i].dropped =
            view->all[i].dropped || (view->all[i].size == 1 && view->all[i].count == 1 &&
                                     !(keep_front && i == view->axes[0]));
}

bool ps_hdf5_view_init(struct ps_hdf5_view *view, int rank, const hsize_t *dims,
                       const struct ps_value *select, const struct ps_value *axis, const char *path,
                       const char *name, struct ps_error *error)
{
    *view = (struct ps_hdf5_view){.file_rank = rank};
    for (int i = 0; i < rank; i++) {
        if (dims[i] > INT64_MAX)
            return ps_fail(error, PS_INPUT, "%s: dataset %s is too large", path, name);
        int64_t size = (int64_t)dims[i];
        view->all[i] = (struct ps_hdf5_axis){.size = size, .step = 1, .count = size};
    }
    int64_t front = axis->given ? axis->integer : 0;
    if ((select->given && !read_select(view, select, path, name, error)) ||
        !order_axes(view, front, path, name, error))
        return false;
    if (view->rank <= PS_HDF5_RANK_MAX)
        return true;
    drop_single(view, axis->given);
    return order_axes(view, front, path, name, error);
}

// ---- Rows ----

#define COVERED_STEP 8   // along an axis
#define COVERED_STEPS 16 // in all: so many times the bytes of a block

void ps_hdf5_view_cover(struct ps_hdf5_view *view, const hsize_t *chunk)
{
    int64_t all = 1;
    for (int i = 0; i < view->file_rank; i++) {
        struct ps_hdf5_axis *axis = &view->all[i];
        int64_t step = labs(axis->step);
        axis->covered = step > 1 && axis->count > 1 && step <= COVERED_STEP &&
                        all * step <= COVERED_STEPS && (chunk == NULL || (hsize_t)step < chunk[i]);
        all *= axis->covered ? step : 1;
    }
}

int64_t ps_hdf5_view_count(const struct ps_hdf5_view *view, int i, int64_t rows)
{
    const struct ps_hdf5_axis *axis = &view->all[i];
    int64_t count = view->rank > 0 && i == view->axes[0] ? rows : axis->count;
    return axis->covered && count > 0 ? (count - 1) * labs(axis->step) + 1 : count;
}

int64_t ps_hdf5_view_elements(const struct ps_hdf5_view *view, int64_t rows)
{
    int64_t all = 1;
    for (int i = 0; i < view->file_rank; i++)
        all *= ps_hdf5_view_count(view, i, rows);
    return all;
}

hid_t ps_hdf5_view_select(const struct ps_hdf5_view *view, hid_t space, int64_t first_row,
                          int64_t rows)
{
    hsize_t start[H5S_MAX_RANK], stride[H5S_MAX_RANK], count[H5S_MAX_RANK];
    if (view->file_rank == 0)
        return H5Screate(H5S_SCALAR);
    for (int i = 0; i < view->file_rank; i++) {
        const struct ps_hdf5_axis *axis = &view->all[i];
        bool streamed = view->rank > 0 && i == view->axes[0];
        int64_t first = streamed ? first_row : 0, all = streamed ? rows : axis->count;
        int64_t lowest = axis->step > 0 ? first : first + all - 1;
        count[i] = (hsize_t)ps_hdf5_view_count(view, i, rows);
        start[i] = (hsize_t)(axis->start + lowest * axis->step);
        // Of one element it may be anything, also more than the axis has.
        stride[i] = axis->covered || count[i] == 1 ? 1 : (hsize_t)labs(axis->step);
    }
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL) >= 0
               ? H5Screate_simple(view->file_rank, count, NULL)
               : -1;
}

bool ps_hdf5_view_is_in_order(const struct ps_hdf5_view *view)
{
    for (int i = 0; i < view->file_rank; i++)
        if (view->all[i].covered || (view->all[i].step < 0 && view->all[i].count > 1))
            return false;
    return view->moved < 0;
}

// A row lies in one piece when its outer axes have one element each, then comes one range without
// gaps, then axes that are taken whole. Axes before the streamed one have one element as well.
bool ps_hdf5_view_rows(const struct ps_hdf5_view *view, struct ps_hdf5_rows *rows)
{
    int64_t size = 1;
    bool whole = true; // all axes further in are
    *rows = (struct ps_hdf5_rows){.length = 1};
    for (int i = view->file_rank - 1; i >= 0; i--) {
        const struct ps_hdf5_axis *axis = &view->all[i];
        bool streamed = view->rank > 0 && i == view->axes[0];
        rows->first += axis->start * size;
        if (streamed)
            rows->stride = axis->step * size;
        else if (axis->count != 1 && (!whole || axis->step != 1 || rows->stride != 0))
            return false;
        else
            rows->length *= axis->count;
        whole = whole && axis->count == axis->size && (axis->step == 1 || axis->count == 1);
        if (__builtin_mul_overflow(size, axis->size, &size))
            return false;
    }
    return true;
}
