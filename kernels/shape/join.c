// SPDX-License-Identifier: Apache-2.0
// The stages concat and stack: several arrays side by side, along an axis or along a new one.
#include "kernels/shape/gather_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ps_option concat_options[] = {
    {.key = "in",
     .kind = PS_NAMES,
     .required = true,
     .help = "the arrays, in order; alike but for their size along the axis"},
    PS_SHAPE_AXIS_OPTION,
    {0},
};

static const struct ps_option stack_options[] = {
    {.key = "in", .kind = PS_NAMES, .required = true, .help = "the arrays, in order; of one shape"},
    {.key = "axis",
     .kind = PS_INTEGER,
     .fallback = "-1",
     .min = -8,
     .max = 7,
     .help = "which axis of the result is the new one, counted from 0 (the rows, of streamed "
             "arrays not allowed here), or from the end: -1 is the last, whose columns are named "
             "after the arrays"},
    {0},
};

struct parts {
    const struct ps_port *ports[PS_STAGE_INPUTS_MAX]; // as listed, maybe one twice
    int inputs[PS_STAGE_INPUTS_MAX];                  // positions among the stage's
    int count;
    enum ps_dtype dtype;
};

// NumPy's result_type of them all: floats first, so that i16 and u16 beside f32 stay f32.
static enum ps_dtype promote(const struct parts *parts)
{
    enum ps_dtype dtype = PS_BOOL;
    for (int floats = 1; floats >= 0; floats--)
        for (int i = 0; i < parts->count; i++)
            if (ps_dtype_is_float(parts->ports[i]->array.dtype) == (floats == 1))
                dtype = ps_dtype_promote(dtype, parts->ports[i]->array.dtype);
    return dtype;
}

static bool read_parts(struct ps_stage *stage, const struct ps_scope *scope, struct parts *parts,
                       struct ps_problems *problems)
{
    const struct ps_value *in = ps_values_get(stage->options, "in");
    bool fine = in->given;
    if (in->count > PS_STAGE_INPUTS_MAX) {
        ps_problem_add(problems, PS_USAGE, in->place,
                       "in: %d arrays; a stage takes at most %d, join the results of several",
                       in->count, PS_STAGE_INPUTS_MAX);
        return false;
    }
    for (int i = 0; i < in->count; i++) {
        struct ps_place place = in->places != NULL ? in->places[i] : in->place;
        int position = parts->inputs[i] = ps_stage_use(stage, scope, in->words[i], place, problems);
        if (position < 0) {
            fine = false;
            continue;
        }
        const struct ps_port *port = parts->ports[i] = ps_stage_input(stage, scope, position);
        if (fine && port->streamed != parts->ports[0]->streamed) {
            ps_problem_add(problems, PS_USAGE, place,
                           "in: '%s' is %s but '%s' is %s; they have no rows in common", port->name,
                           port->streamed ? "streamed" : "whole", parts->ports[0]->name,
                           port->streamed ? "whole" : "streamed");
            fine = false;
        }
    }
    parts->count = in->count;
    parts->dtype = fine ? promote(parts) : PS_BOOL;
    return fine;
}

// All like the first one, but for the sizes along `axis` (-1: in everything).
static bool alike(const struct ps_stage *stage, const struct parts *parts, int axis,
                  struct ps_problems *problems)
{
    const struct ps_value *in = ps_values_get(stage->options, "in");
    const struct ps_array *first = &parts->ports[0]->array;
    char one[PS_ARRAY_TEXT], other[PS_ARRAY_TEXT];
    for (int i = 1; i < parts->count; i++) {
        const struct ps_array *array = &parts->ports[i]->array;
        bool same = array->rank == first->rank;
        for (int d = 0; same && d < first->rank; d++)
            same = d == axis || array->dims[d] == first->dims[d] ||
                   (d == 0 && (array->dims[0] < 0 || first->dims[0] < 0));
        if (same)
            continue;
        char but[40] = "";
        if (axis >= 0)
            snprintf(but, sizeof but, " but for axis %d", axis);
        ps_problem_add(problems, PS_USAGE, in->places != NULL ? in->places[i] : in->place,
                       "in: '%s' is %s, '%s' is %s: they must be alike%s", parts->ports[i]->name,
                       ps_array_text(array, other), parts->ports[0]->name,
                       ps_array_text(first, one), but);
        return false;
    }
    return true;
}

// What concat and stack begin with; the output is like the first array.
static struct ps_gather *begin(struct ps_stage *stage, const struct parts *parts,
                               struct ps_problems *problems)
{
    ps_shape_output(stage, parts->ports[0], parts->dtype);
    for (int i = 1; i < parts->count; i++)
        if (stage->output.dims[0] < 0)
            stage->output.dims[0] = parts->ports[i]->array.dims[0];
    return ps_gather_begin(stage, !parts->ports[0]->streamed, problems);
}

// ---- concat ----

// All names one after the other, when all arrays have names.
static bool concat_columns(struct ps_stage *stage, const struct parts *parts,
                           struct ps_problems *problems)
{
    int64_t count = stage->output.dims[stage->output.rank - 1];
    const char **names;
    int at = 0;
    for (int i = 0; i < parts->count; i++)
        if (parts->ports[i]->array.column_count == 0 &&
            parts->ports[i]->array.dims[stage->output.rank - 1] > 0)
            return true;
    names = calloc((size_t)count + 1, sizeof *names);
    if (names == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return false;
    }
    for (int i = 0; i < parts->count; i++)
        for (int k = 0; k < parts->ports[i]->array.column_count; k++)
            names[at++] = parts->ports[i]->array.columns[k];
    bool fine = ps_shape_set_columns(stage, names, at, problems);
    free(names);
    return fine;
}

static bool concat_plan(struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_problems *problems)
{
    struct parts parts = {0};
    if (!read_parts(stage, scope, &parts, problems))
        return false;
    const struct ps_port *first = parts.ports[0];
    if (first->array.rank == ps_shape_first(first)) {
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "'%s' has one number per row and no axis to join along; the stage stack "
                       "makes columns of such arrays",
                       first->name);
        return false;
    }
    int axis = ps_shape_axis_option(stage, first, first->array.rank, problems);
    if (axis < 0 || !alike(stage, &parts, axis, problems))
        return false;
    struct ps_gather *gather = begin(stage, &parts, problems);
    if (gather == NULL)
        return false;
    int64_t total = 0, at = 0;
    for (int i = 0; i < parts.count; i++) {
        if (__builtin_add_overflow(total, parts.ports[i]->array.dims[axis], &total))
            total = INT64_MAX; // refused with the array's size
    }
    stage->output.dims[axis] = total;
    stage->axes[axis].port = -1;
    for (int i = 0; i < parts.count; i++) {
        struct ps_gather_piece *piece =
            ps_gather_add(gather, parts.ports[i], parts.inputs[i], stage->output.dims);
        piece->to_base = at * piece->to[axis - ps_shape_first(first)];
        at += parts.ports[i]->array.dims[axis];
    }
    ps_gather_finish(stage, gather);
    return axis == stage->output.rank - 1 ? concat_columns(stage, &parts, problems)
                                          : ps_shape_columns(stage, &first->array, NULL, problems);
}

// ---- stack ----

static void insert_axis(struct ps_stage *stage, int axis, int count)
{
    struct ps_array *output = &stage->output;
    for (int i = output->rank; i > axis; i--) {
        output->dims[i] = output->dims[i - 1];
        stage->axes[i] = stage->axes[i - 1];
    }
    output->rank++;
    output->dims[axis] = count;
    stage->axes[axis].port = -1;
}

static bool stack_plan(struct ps_stage *stage, const struct ps_scope *scope,
                       struct ps_problems *problems)
{
    struct parts parts = {0};
    const char *names[PS_STAGE_INPUTS_MAX];
    if (!read_parts(stage, scope, &parts, problems))
        return false;
    const struct ps_port *first = parts.ports[0];
    if (first->array.rank == PS_RANK_MAX) {
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "'%s' has %d axes, the most that an array has", first->name, PS_RANK_MAX);
        return false;
    }
    int axis = ps_shape_axis_option(stage, first, first->array.rank + 1, problems);
    if (axis < 0 || !alike(stage, &parts, -1, problems))
        return false;
    struct ps_gather *gather = begin(stage, &parts, problems);
    if (gather == NULL)
        return false;
    insert_axis(stage, axis, parts.count);
    int own = axis - ps_shape_first(first);
    for (int i = 0; i < parts.count; i++) {
        struct ps_gather_piece *piece =
            ps_gather_add(gather, parts.ports[i], parts.inputs[i], parts.ports[i]->array.dims);
        piece->to_base = i;
        for (int d = own; d < piece->rank; d++)
            piece->to_base *= piece->dims[d];
        for (int d = 0; d < own; d++)
            piece->to[d] *= parts.count;
        names[i] = parts.ports[i]->name;
    }
    ps_gather_finish(stage, gather);
    return axis == stage->output.rank - 1
               ? ps_shape_set_columns(stage, names, parts.count, problems)
               : ps_shape_columns(stage, &first->array, NULL, problems);
}

const struct ps_stage_type ps_stage_concat = {
    .name = "concat",
    .help = "Arrays of the same rows joined along an axis of the row",
    .options = concat_options,
    .plan = concat_plan,
    .unplan = ps_gather_unplan,
    .compile = ps_gather_compile,
    .release = ps_gather_release,
    .run = PS_GATHER_RUN,
};

const struct ps_stage_type ps_stage_stack = {
    .name = "stack",
    .help = "Arrays of the same rows and shape joined along a new axis, such as columns out of "
            "arrays of one number per row",
    .options = stack_options,
    .plan = stack_plan,
    .unplan = ps_gather_unplan,
    .compile = ps_gather_compile,
    .release = ps_gather_release,
    .run = PS_GATHER_RUN,
};
