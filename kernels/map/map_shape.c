// SPDX-License-Identifier: Apache-2.0
// NumPy's broadcasting, per row: a streamed array takes part with the shape of its row, a whole
// array with all of its shape (leading axes of size 1 are dropped when a row has fewer).
#include "kernels/map/map_shape.h"

#include <stdio.h>
#include <string.h>

struct part { // the shape an array takes part with, and its element strides
    int rank;
    int64_t dims[PS_RANK_MAX], strides[PS_RANK_MAX];
    int64_t row_stride;
};

static struct part part_of(const struct ps_port *port, bool column)
{
    const struct ps_array *array = &port->array;
    struct part part = {0};
    int first = port->streamed ? 1 : 0, last = array->rank - (column ? 1 : 0);
    int64_t stride = 1;
    for (int axis = array->rank - 1; axis >= first; axis--) {
        if (axis < last) {
            part.dims[axis - first] = array->dims[axis];
            part.strides[axis - first] = stride;
        }
        stride *= array->dims[axis];
    }
    part.rank = last > first ? last - first : 0;
    part.row_stride = port->streamed ? stride : 0;
    return part;
}

static void drop_leading_ones(struct part *part, int rank)
{
    int drop = 0;
    while (part->rank - drop > rank && part->dims[drop] == 1)
        drop++;
    part->rank -= drop;
    memmove(part->dims, part->dims + drop, (size_t)part->rank * sizeof part->dims[0]);
    memmove(part->strides, part->strides + drop, (size_t)part->rank * sizeof part->strides[0]);
}

static const char *mismatch(struct ps_map_shape *shape, const struct ps_port *port)
{
    char own[PS_ARRAY_TEXT], other[PS_ARRAY_TEXT];
    struct ps_array row = {.rank = shape->rank};
    memcpy(row.dims, shape->dims, sizeof row.dims);
    ps_array_text(&port->array, own);
    ps_array_text(&row, other);
    bool like_stream = !port->streamed && shape->streamed && port->array.rank > 0 &&
                       port->array.rank == shape->rank + 1 && port->array.dims[0] == shape->rows;
    snprintf(shape->text, sizeof shape->text,
             "the shape of '%s', %s, does not fit %s %s of the others%s", port->name, own,
             shape->streamed ? "the row shape" : "the shape", strchr(other, '['),
             like_stream ? "; it has a row for every row of the stream: remove its `load: whole` "
                           "so that it is streamed too"
                         : "");
    return shape->text;
}

static const char *merge(struct ps_map_shape *shape, const struct ps_port *port, bool column)
{
    struct part part = part_of(port, column);
    if (shape->streamed && !port->streamed)
        drop_leading_ones(&part, shape->rank);
    int rank = part.rank > shape->rank ? part.rank : shape->rank;
    if (shape->streamed && !port->streamed && part.rank > shape->rank)
        return mismatch(shape, port);
    int64_t dims[PS_RANK_MAX];
    for (int i = 1; i <= rank; i++) {
        int64_t a = i <= part.rank ? part.dims[part.rank - i] : 1;
        int64_t b = i <= shape->rank ? shape->dims[shape->rank - i] : 1;
        if (a != b && a != 1 && b != 1)
            return mismatch(shape, port);
        dims[rank - i] = a == 1 ? b : a;
    }
    memcpy(shape->dims, dims, (size_t)rank * sizeof dims[0]);
    shape->rank = rank;
    return NULL;
}

static const char *add_streamed(struct ps_map_shape *shape, const struct ps_port *port, bool column)
{
    int64_t rows = port->array.dims[0];
    if (port->array.rank < 2 && column) {
        snprintf(shape->text, sizeof shape->text,
                 "'%s' has one number per row, so it has no columns", port->name);
        return shape->text;
    }
    if (shape->streamed) {
        if (rows >= 0 && shape->rows >= 0 && rows != shape->rows) {
            snprintf(shape->text, sizeof shape->text, "'%s' has %lld rows, the others %lld",
                     port->name, (long long)rows, (long long)shape->rows);
            return shape->text;
        }
        shape->rows = shape->rows < 0 ? rows : shape->rows;
        return merge(shape, port, column);
    }
    // The first streamed array: from now on shapes are those of a row.
    shape->streamed = true;
    shape->rows = rows;
    shape->rank = 0;
    return merge(shape, port, column);
}

static const char *note_whole(struct ps_map_shape *shape, const struct ps_port *port, bool column)
{
    for (int i = 0; i < shape->whole_count; i++)
        if (shape->wholes[i] == port && shape->whole_columns[i] == column)
            return NULL;
    if (shape->whole_count == 2 * PS_STAGE_INPUTS_MAX) {
        snprintf(shape->text, sizeof shape->text, "more than %d arrays in one expression",
                 PS_STAGE_INPUTS_MAX);
        return shape->text;
    }
    shape->wholes[shape->whole_count] = port;
    shape->whole_columns[shape->whole_count++] = column;
    return NULL;
}

const char *ps_map_shape_add(struct ps_map_shape *shape, const struct ps_port *port, bool column)
{
    shape->any = true;
    if (port->streamed)
        return add_streamed(shape, port, column);
    if (port->array.rank < 1 && column) {
        snprintf(shape->text, sizeof shape->text, "'%s' is one number and has no columns",
                 port->name);
        return shape->text;
    }
    const char *fault = note_whole(shape, port, column);
    if (fault != NULL)
        return fault;
    return shape->streamed ? NULL : merge(shape, port, column);
}

// [N] with a whole [256] gives rows of 256; but a whole array that is as long as the stream was
// meant to be streamed with it.
static const char *widen(struct ps_map_shape *shape, const struct ps_port *port,
                         const struct part *part)
{
    if (part->rank == 1 && part->dims[0] == shape->rows)
        return mismatch(shape, port);
    shape->rank = part->rank;
    memcpy(shape->dims, part->dims, sizeof part->dims);
    return NULL;
}

const char *ps_map_shape_settle(struct ps_map_shape *shape, const struct ps_port **culprit_out)
{
    const char *fault = NULL;
    for (int i = 0; shape->streamed && i < shape->whole_count && fault == NULL; i++) {
        struct part part = part_of(shape->wholes[i], shape->whole_columns[i]);
        drop_leading_ones(&part, 0);
        *culprit_out = shape->wholes[i];
        if (shape->rank == 0 && part.rank > 0)
            fault = widen(shape, shape->wholes[i], &part);
        else
            fault = merge(shape, shape->wholes[i], shape->whole_columns[i]);
    }
    return fault;
}

void ps_map_leaf(const struct ps_map_shape *shape, const struct ps_port *port, int port_index,
                 int column, struct ps_leaf *leaf)
{
    struct part part = part_of(port, column >= 0);
    drop_leading_ones(&part, shape->rank);
    memset(leaf, 0, sizeof *leaf); // padding too: leaves are compared as bytes
    leaf->port = port_index;
    leaf->dtype = port->array.dtype;
    leaf->offset = column > 0 ? column : 0;
    leaf->row_stride = part.row_stride;
    bool same = part.rank == shape->rank && column < 0, scalar = true;
    for (int i = 0; i < part.rank; i++) {
        int axis = shape->rank - part.rank + i;
        leaf->strides[axis] = part.dims[i] == 1 ? 0 : part.strides[i];
        same = same && part.dims[i] == shape->dims[axis];
        scalar = scalar && leaf->strides[axis] == 0;
    }
    leaf->mode = same && shape->rank > 0 ? (port->streamed ? PS_ACCESS_SAME : PS_ACCESS_ROW)
                 : scalar                ? PS_ACCESS_SCALAR
                                         : PS_ACCESS_GENERAL;
    if (same && shape->rank == 0 && port->streamed)
        leaf->mode = PS_ACCESS_SAME;
}

const char *ps_map_table(struct ps_map_shape *shape, const struct ps_port *port, int port_index,
                         int column, struct ps_leaf *leaf)
{
    struct part part = part_of(port, column >= 0);
    drop_leading_ones(&part, 1);
    memset(leaf, 0, sizeof *leaf);
    leaf->port = port_index;
    leaf->dtype = port->array.dtype;
    leaf->offset = column > 0 ? column : 0;
    leaf->mode = PS_ACCESS_TABLE;
    leaf->strides[0] = part.rank == 1 ? part.strides[0] : 0;
    leaf->count = part.rank == 1 ? part.dims[0] : 1;
    char own[PS_ARRAY_TEXT];
    if (part.rank <= 1 && leaf->count > 0)
        return NULL;
    snprintf(shape->text, sizeof shape->text,
             part.rank <= 1 ? "'%s' has no elements (%s)"
                            : "'%s' is %s, and one axis is needed here: name a column, as in %s[0]",
             port->name, ps_array_text(&port->array, own), port->name);
    return shape->text;
}

static bool keep_columns(struct ps_stage *stage, const struct ps_scope *scope,
                         const struct ps_map_detail *detail, struct ps_error *error)
{
    const struct ps_array *from = NULL;
    for (int i = 0; i < detail->code.leaf_count; i++) {
        const struct ps_leaf *leaf = &detail->code.leaves[i];
        const struct ps_array *array = &scope->ports[leaf->port].array;
        bool whole_shape = leaf->mode == PS_ACCESS_SAME || leaf->mode == PS_ACCESS_ROW;
        if (from == NULL && whole_shape && array->column_count > 0 && stage->output.rank > 0 &&
            array->column_count == stage->output.dims[stage->output.rank - 1])
            from = array;
    }
    return from == NULL || ps_array_set_columns(&stage->output, from->column_count,
                                                (const char *const *)from->columns, error);
}

// The first array of the result's shape gives all axes; else the first streamed one gives the rows.
static void find_axes(struct ps_stage *stage, const struct ps_scope *scope,
                      const struct ps_map_detail *detail)
{
    int rows = -1;
    for (int i = 0; i < detail->code.leaf_count; i++) {
        const struct ps_leaf *leaf = &detail->code.leaves[i];
        const struct ps_port *port = &scope->ports[leaf->port];
        if (leaf->mode == PS_ACCESS_TABLE)
            continue;
        bool same = port->array.rank == stage->output.rank && port->streamed == stage->streamed;
        for (int d = 0; same && d < stage->output.rank; d++)
            same = port->array.dims[d] == stage->output.dims[d];
        if (same) {
            for (int d = 0; d < stage->output.rank; d++)
                stage->axes[d] = (struct ps_axis_source){leaf->port, d};
            stage->elementwise = true;
            return;
        }
        if (rows < 0 && stage->streamed && port->streamed)
            rows = leaf->port;
    }
    if (rows >= 0)
        stage->axes[0] = (struct ps_axis_source){rows, 0};
}

bool ps_map_shape_finish(const struct ps_map_shape *shape, struct ps_stage *stage,
                         const struct ps_scope *scope, enum ps_dtype dtype,
                         struct ps_map_detail *detail, struct ps_error *error)
{
    int first = shape->streamed ? 1 : 0;
    if (shape->rank + first > PS_RANK_MAX)
        return ps_fail(error, PS_USAGE, "the result would have %d axes; at most %d are supported",
                       shape->rank + first, PS_RANK_MAX);
    ps_array_init(&stage->output, dtype, shape->rank + first, (int64_t[PS_RANK_MAX]){0});
    if (shape->streamed)
        stage->output.dims[0] = shape->rows;
    for (int i = 0; i < shape->rank; i++)
        stage->output.dims[first + i] = shape->dims[i];
    stage->streamed = shape->streamed;
    stage->whole_rows = 1;
    detail->row_rank = shape->rank;
    memcpy(detail->row_dims, shape->dims, sizeof detail->row_dims);
    if (!ps_array_check(&stage->output, "the result", error))
        return false;
    find_axes(stage, scope, detail);
    return keep_columns(stage, scope, detail, error);
}
