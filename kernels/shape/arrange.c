// SPDX-License-Identifier: Apache-2.0
// The stages reshape and transpose: all elements of a row in another shape or order of axes.
#include "kernels/shape/gather_stage.h"

#include <string.h>

static const struct ps_option reshape_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "shape",
     .kind = PS_SHAPE,
     .required = true,
     .help = "the new shape of a row, without the rows (of a whole array: of all of it); one "
             "axis may be -1: as many as are left"},
    {0},
};

static const struct ps_option transpose_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "axes",
     .kind = PS_SHAPE,
     .help = "the input's axes in their new order, counted from 0 (rows), which stay first and "
             "are left out: [2, 1]; of a whole array all axes, [1, 0]; reversed if unset"},
    {0},
};

// ---- reshape ----

static void shape_text(const int64_t *dims, int count, struct ps_text *text)
{
    ps_text_add(text, "[");
    for (int i = 0; i < count; i++)
        ps_text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)dims[i]);
    ps_text_add(text, "]");
}

static bool misfit(const struct ps_value *shape, const struct ps_port *in, int64_t have,
                   int64_t want, bool open, struct ps_problems *problems)
{
    struct ps_text to = {0};
    char from[PS_ARRAY_TEXT];
    shape_text(shape->integers, shape->count, &to);
    ps_problem_add(problems, PS_USAGE, shape->place,
                   "shape: %s of '%s' (%s) has %lld elements, but %s %s %lld%s",
                   in->streamed ? "a row" : "all", in->name, ps_array_text(&in->array, from),
                   (long long)have, to.data ? to.data : "the shape",
                   open ? "asks for a multiple of" : "has", (long long)want,
                   in->streamed ? "; rows are not part of the shape" : "");
    ps_text_free(&to);
    return false;
}

// dims_out: the new shape without -1.
static bool settle_shape(const struct ps_value *shape, const struct ps_port *in, int64_t *dims_out,
                         struct ps_problems *problems)
{
    int first = ps_shape_first(in), open = -1;
    int64_t have = ps_shape_product(in->array.dims, first, in->array.rank), want = 1;
    bool too_many = false;
    if (first + shape->count > PS_RANK_MAX) {
        ps_problem_add(problems, PS_USAGE, shape->place, "shape: an array has at most %d axes",
                       PS_RANK_MAX);
        return false;
    }
    for (int i = 0; i < shape->count; i++) {
        dims_out[i] = shape->integers[i];
        if (dims_out[i] >= 0) {
            too_many = too_many || __builtin_mul_overflow(want, dims_out[i], &want);
            continue;
        }
        if (open >= 0) {
            ps_problem_add(problems, PS_USAGE,
                           shape->places != NULL ? shape->places[i] : shape->place,
                           "shape: only one axis can be -1");
            return false;
        }
        open = i;
    }
    if (too_many)
        want = INT64_MAX;
    if (open >= 0 && want > 0 && have % want == 0)
        dims_out[open] = have / want;
    else if (open >= 0 || have != want || too_many)
        return misfit(shape, in, have, want, open >= 0, problems);
    return true;
}

// An axis of the output is one of the input when as many elements come before and after it.
static void shape_axes(struct ps_stage *stage, const struct ps_array *from, int first)
{
    const struct ps_array *to = &stage->output;
    for (int i = first; i < PS_RANK_MAX; i++)
        stage->axes[i].port = -1;
    for (int i = first; i < to->rank; i++)
        for (int k = first; k < from->rank; k++)
            if (to->dims[i] == from->dims[k] && to->dims[i] != 1 &&
                ps_shape_product(to->dims, i + 1, to->rank) ==
                    ps_shape_product(from->dims, k + 1, from->rank))
                stage->axes[i] = (struct ps_axis_source){stage->inputs[0], k};
}

static bool reshape_plan(struct ps_stage *stage, const struct ps_scope *scope,
                         struct ps_problems *problems)
{
    const struct ps_port *in = ps_shape_input(stage, scope, 0, problems);
    const struct ps_value *shape = ps_values_get(stage->options, "shape");
    int64_t dims[PS_RANK_MAX];
    if (in == NULL || !shape->given || !settle_shape(shape, in, dims, problems))
        return false;
    struct ps_gather *gather = ps_gather_begin(stage, !in->streamed, problems);
    if (gather == NULL)
        return false;
    int first = ps_shape_first(in);
    ps_shape_output(stage, in, in->array.dtype);
    stage->output.rank = first + shape->count;
    memcpy(&stage->output.dims[first], dims, (size_t)shape->count * sizeof dims[0]);
    shape_axes(stage, &in->array, first);
    ps_gather_add(gather, in, 0, in->array.dims);
    ps_gather_finish(stage, gather);
    bool keeps = stage->output.rank > 0 && in->array.rank > 0 &&
                 stage->output.dims[stage->output.rank - 1] == in->array.dims[in->array.rank - 1];
    return !keeps || ps_shape_columns(stage, &in->array, NULL, problems);
}

// ---- transpose ----

static bool settle_axes(const struct ps_stage *stage, const struct ps_port *in,
                        int order[PS_RANK_MAX], struct ps_problems *problems)
{
    const struct ps_value *axes = ps_values_get(stage->options, "axes");
    int first = ps_shape_first(in), rank = in->array.rank, own = rank - first;
    bool used[PS_RANK_MAX] = {false};
    char text[PS_ARRAY_TEXT];
    for (int i = 0; i < own && !axes->given; i++)
        order[first + i] = rank - 1 - i;
    if (axes->given && axes->count != own) {
        ps_problem_add(problems, PS_USAGE, axes->place,
                       "axes: %d axes are listed, but '%s' (%s) has %d%s", axes->count, in->name,
                       ps_array_text(&in->array, text), own,
                       in->streamed ? " besides its rows, which stay first and are left out" : "");
        return false;
    }
    for (int i = 0; i < own && axes->given; i++) {
        struct ps_place place = axes->places != NULL ? axes->places[i] : axes->place;
        int axis = ps_shape_axis(axes, axes->integers[i], place, in, rank, problems);
        if (axis < 0)
            return false;
        if (used[axis]) {
            ps_problem_add(problems, PS_USAGE, place, "axes: axis %d is listed twice", axis);
            return false;
        }
        used[axis] = true;
        order[first + i] = axis;
    }
    return true;
}

static bool transpose_plan(struct ps_stage *stage, const struct ps_scope *scope,
                           struct ps_problems *problems)
{
    const struct ps_port *in = ps_shape_input(stage, scope, 1, problems);
    int order[PS_RANK_MAX] = {0}, last = in != NULL ? in->array.rank - 1 : 0;
    if (in == NULL || !settle_axes(stage, in, order, problems))
        return false;
    struct ps_gather *gather = ps_gather_begin(stage, !in->streamed, problems);
    if (gather == NULL)
        return false;
    int first = ps_shape_first(in);
    ps_shape_output(stage, in, in->array.dtype);
    for (int i = first; i <= last; i++) {
        stage->output.dims[i] = in->array.dims[order[i]];
        stage->axes[i] = (struct ps_axis_source){stage->inputs[0], order[i]};
    }
    struct ps_gather_piece *piece = ps_gather_add(gather, in, 0, in->array.dims), old = *piece;
    int64_t step = 1;
    for (int i = last; i >= first; i--) {
        piece->dims[i - first] = old.dims[order[i] - first];
        piece->from[i - first] = old.from[order[i] - first];
        piece->to[i - first] = step;
        step *= piece->dims[i - first];
    }
    ps_gather_finish(stage, gather);
    return order[last] != last || ps_shape_columns(stage, &in->array, NULL, problems);
}

const struct ps_stage_type ps_stage_reshape = {
    .name = "reshape",
    .help = "Each row in another shape; its elements stay in their order",
    .options = reshape_options,
    .plan = reshape_plan,
    .unplan = ps_gather_unplan,
    .compile = ps_gather_compile,
    .release = ps_gather_release,
    .run = PS_GATHER_RUN,
};

const struct ps_stage_type ps_stage_transpose = {
    .name = "transpose",
    .help = "The axes of each row in another order",
    .options = transpose_options,
    .plan = transpose_plan,
    .unplan = ps_gather_unplan,
    .compile = ps_gather_compile,
    .release = ps_gather_release,
    .run = PS_GATHER_RUN,
};
