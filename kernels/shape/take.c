// SPDX-License-Identifier: Apache-2.0
// The stage take: chosen columns, or chosen places along one axis of a row.
#include "kernels/shape/gather_stage.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "columns",
     .kind = PS_WORDS,
     .help = "names of columns, in the order wanted; they are those of the last axis"},
    {.key = "indices",
     .kind = PS_WORDS,
     .help = "positions along the axis, counted from 0, negative: from the end; may come twice"},
    PS_SHAPE_AXIS_OPTION,
    {0},
};

static bool find_column(const struct ps_value *columns, int i, const struct ps_port *in,
                        int64_t *at_out, struct ps_problems *problems)
{
    const struct ps_array *array = &in->array;
    const char *word = columns->words[i], *near;
    char shown[100];
    struct ps_text list = {0};
    struct ps_place place = columns->places != NULL ? columns->places[i] : columns->place;
    int64_t number;
    *at_out = ps_array_find_column(array, word);
    if (*at_out >= 0)
        return true;
    near = ps_nearest(word, (const char *const *)array->columns, (size_t)array->column_count);
    for (int k = 0; k < array->column_count && k < 20; k++)
        ps_text_printf(
            &list, "%s%s", k > 0 ? ", " : "",
            ps_escape(array->columns[k], strlen(array->columns[k]), shown, sizeof shown));
    ps_escape(word, strlen(word), shown, sizeof shown);
    ps_problem_add(problems, PS_USAGE, place,
                   "columns: '%s' has no column '%s' (columns: %s%s)%s%s%s", in->name, shown,
                   list.data ? list.data : "none", array->column_count > 20 ? ", ..." : "",
                   near != NULL                      ? "; did you mean '"
                   : ps_integer_parse(word, &number) ? "; positions are given as `indices`"
                                                     : "",
                   near != NULL ? near : "", near != NULL ? "'?" : "");
    ps_text_free(&list);
    return false;
}

static bool find_index(const struct ps_value *indices, int i, const struct ps_port *in, int axis,
                       int64_t *at_out, struct ps_problems *problems)
{
    const char *word = indices->words[i];
    struct ps_place place = indices->places != NULL ? indices->places[i] : indices->place;
    int64_t size = in->array.dims[axis], number;
    if (indices->quoted[i] || !ps_integer_parse(word, &number)) {
        ps_problem_add(problems, PS_USAGE, place,
                       "indices: '%s' is no whole number; columns by name are given as `columns`, "
                       "ranges by the stage slice",
                       word);
        return false;
    }
    *at_out = number < 0 ? number + size : number;
    if (*at_out >= 0 && *at_out < size)
        return true;
    ps_problem_add(
        problems, PS_USAGE, place,
        "indices: %lld is beyond axis %d of '%s', which has %lld elements (%lld to %lld)",
        (long long)number, axis, in->name, (long long)size, (long long)-size, (long long)size - 1);
    return false;
}

// Which of the two options says what is taken; NULL after reporting.
static const struct ps_value *which(const struct ps_stage *stage, const struct ps_port *in,
                                    int axis, struct ps_problems *problems)
{
    const struct ps_value *columns = ps_values_get(stage->options, "columns");
    const struct ps_value *indices = ps_values_get(stage->options, "indices");
    if (columns->given == indices->given) {
        ps_problem_add(problems, PS_USAGE, columns->given ? indices->place : stage->place,
                       columns->given
                           ? "indices: `columns` are given as well; leave one of them out"
                           : "take needs `columns` (names) or `indices` (positions)");
        return NULL;
    }
    if (indices->given)
        return indices;
    if (in->array.column_count == 0 || axis != in->array.rank - 1) {
        ps_problem_add(problems, PS_USAGE, columns->place,
                       in->array.column_count == 0
                           ? "columns: the columns of '%s' have no names; use `indices`"
                           : "columns: only the last axis of '%s' has names; use `indices`",
                       in->name);
        return NULL;
    }
    return columns;
}

static bool take_plan(struct ps_stage *stage, const struct ps_scope *scope,
                      struct ps_problems *problems)
{
    const struct ps_port *in = ps_shape_input(stage, scope, 1, problems);
    int axis = in != NULL ? ps_shape_axis_option(stage, in, in->array.rank, problems) : -1;
    const struct ps_value *chosen = axis < 0 ? NULL : which(stage, in, axis, problems);
    struct ps_gather *gather =
        chosen != NULL ? ps_gather_begin(stage, !in->streamed, problems) : NULL;
    if (gather == NULL || !ps_gather_list(stage, gather, chosen->count, problems))
        return false;
    bool fine = true, by_name = strcmp(chosen->option->key, "columns") == 0;
    for (int i = 0; i < chosen->count; i++)
        fine = (by_name ? find_column(chosen, i, in, &gather->list[i], problems)
                        : find_index(chosen, i, in, axis, &gather->list[i], problems)) &&
               fine;
    if (!fine)
        return false;
    ps_shape_output(stage, in, in->array.dtype);
    stage->output.dims[axis] = chosen->count;
    stage->axes[axis].port = -1;
    if (!ps_shape_columns(stage, &in->array, axis == in->array.rank - 1 ? gather->list : NULL,
                          problems))
        return false;
    int own = axis - ps_shape_first(in);
    struct ps_gather_piece *piece = ps_gather_add(gather, in, 0, stage->output.dims);
    piece->dims[own] = chosen->count;
    piece->listed = own;
    for (int64_t i = 0; i < gather->list_count; i++)
        gather->list[i] *= piece->from[own];
    ps_gather_finish(stage, gather);
    return true;
}

const struct ps_stage_type ps_stage_take = {
    .name = "take",
    .help = "Chosen columns, or chosen places along an axis of each row",
    .options = options,
    .plan = take_plan,
    .unplan = ps_gather_unplan,
    .compile = ps_gather_compile,
    .release = ps_gather_release,
    .run = PS_GATHER_RUN,
};
