// SPDX-License-Identifier: Apache-2.0
// Axes and outputs of the stages over the axes of a row.
#include "kernels/shape/shape.h"

#include <stdlib.h>
#include <string.h>

int ps_shape_first(const struct ps_port *port)
{
    return port->streamed ? 1 : 0;
}

struct ps_place ps_shape_place(const struct ps_stage *stage, const struct ps_value *value)
{
    return value->place.line > 0 ? value->place : stage->place;
}

int64_t ps_shape_product(const int64_t *dims, int first, int end)
{
    int64_t product = 1;
    for (int i = first; i < end; i++)
        product *= dims[i];
    return product;
}

struct ps_lines ps_shape_lines(const struct ps_port *port, int axis)
{
    const struct ps_array *array = &port->array;
    struct ps_lines lines = {array->dims[axis],
                             ps_shape_product(array->dims, axis + 1, array->rank), 0};
    lines.per_row = ps_shape_product(array->dims, ps_shape_first(port), axis) * lines.inner;
    return lines;
}

const struct ps_port *ps_shape_input(struct ps_stage *stage, const struct ps_scope *scope,
                                     int least, struct ps_problems *problems)
{
    if (ps_stage_use_in(stage, scope, problems) < 0)
        return NULL;
    const struct ps_port *in = ps_stage_input(stage, scope, 0);
    char text[PS_ARRAY_TEXT];
    if (in->array.rank - ps_shape_first(in) >= least)
        return in;
    ps_problem_add(problems, PS_USAGE, ps_shape_place(stage, ps_values_get(stage->options, "in")),
                   in->streamed ? "'%s' is %s: it has rows of one number and no further axis"
                                : "'%s' is %s: one number, which has no axes",
                   in->name, ps_array_text(&in->array, text));
    return NULL;
}

int ps_shape_axis(const struct ps_value *value, int64_t number, struct ps_place place,
                  const struct ps_port *port, int rank, struct ps_problems *problems)
{
    int64_t axis = number < 0 ? number + rank : number;
    char text[PS_ARRAY_TEXT];
    if (axis >= ps_shape_first(port) && axis < rank)
        return (int)axis;
    ps_array_text(&port->array, text);
    if (axis == 0 && rank > 0)
        ps_problem_add(problems, PS_USAGE, place,
                       "%s: axis 0 of '%s' (%s) are its rows, which come block by block; this "
                       "stage works within rows, on axes 1 and on",
                       value->option->key, port->name, text);
    else
        ps_problem_add(problems, PS_USAGE, place,
                       "%s: there is no axis %lld: '%s' is %s; axes are counted from 0 (rows), or "
                       "from the end as -1",
                       value->option->key, (long long)number, port->name, text);
    return -1;
}

int ps_shape_axis_option(const struct ps_stage *stage, const struct ps_port *port, int rank,
                         struct ps_problems *problems)
{
    const struct ps_value *axis = ps_values_get(stage->options, "axis");
    return ps_shape_axis(axis, axis->integer, ps_shape_place(stage, axis), port, rank, problems);
}

void ps_shape_output(struct ps_stage *stage, const struct ps_port *in, enum ps_dtype dtype)
{
    ps_array_init(&stage->output, dtype, in->array.rank, in->array.dims);
    stage->streamed = in->streamed;
    stage->whole_rows = 1;
    for (int i = 0; i < in->array.rank; i++)
        stage->axes[i] = (struct ps_axis_source){stage->inputs[0], i};
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool distinct(const char *const *names, int count)
{
    const char **sorted = malloc((size_t)count * sizeof *sorted);
    bool fine = sorted != NULL;
    if (fine) {
        memcpy(sorted, names, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    }
    for (int i = 1; fine && i < count; i++)
        fine = strcmp(sorted[i - 1], sorted[i]) != 0;
    free(sorted);
    return fine;
}

bool ps_shape_set_columns(struct ps_stage *stage, const char *const *names, int count,
                          struct ps_problems *problems)
{
    struct ps_error error = {0};
    if (count == 0 || !distinct(names, count) ||
        ps_array_set_columns(&stage->output, count, names, &error))
        return true;
    ps_problem_add(problems, error.status, stage->place, "%s", error.text);
    return false;
}

bool ps_shape_columns(struct ps_stage *stage, const struct ps_array *from, const int64_t *chosen,
                      struct ps_problems *problems)
{
    if (from->column_count == 0)
        return true;
    if (chosen == NULL)
        return ps_shape_set_columns(stage, (const char *const *)from->columns, from->column_count,
                                    problems);
    int count = (int)stage->output.dims[stage->output.rank - 1];
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (names == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return false;
    }
    for (int i = 0; i < count; i++)
        names[i] = from->columns[chosen[i]];
    bool fine = ps_shape_set_columns(stage, names, count, problems);
    free(names);
    return fine;
}
