// SPDX-License-Identifier: Apache-2.0
// The stage slice: start:stop:step along the axes of a row, as Python and NumPy read it.
#include "kernels/shape/gather_stage.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "index",
     .kind = PS_WORDS,
     .required = true,
     .help = "one \"start:stop:step\" per axis from axis 1 on (of a whole array from axis 0 on), "
             "as in Python; a number picks one element and the axis goes; axes not listed stay"},
    {0},
};

struct slice {
    bool picks; // one element, no axis
    int64_t start, step, count;
};

// Python's PySlice_AdjustIndices: bounds beyond the ends are clipped.
static int64_t clip(int64_t bound, int64_t size, bool down)
{
    if (bound < 0) {
        bound = bound < -size ? -1 : bound + size; // no overflow: size >= 0
        return bound < 0 ? (down ? -1 : 0) : bound;
    }
    return bound < size ? bound : down ? size - 1 : size;
}

static void resolve(const int64_t *bounds, const bool *given, int64_t size, struct slice *slice)
{
    int64_t step = given[2] ? bounds[2] : 1;
    bool down = step < 0;
    int64_t start = given[0] ? clip(bounds[0], size, down) : down ? size - 1 : 0;
    int64_t stop = given[1] ? clip(bounds[1], size, down) : down ? -1 : size;
    uint64_t way = 0, stride = down ? 0 - (uint64_t)step : (uint64_t)step;
    if (down ? start > stop : start < stop)
        way = (uint64_t)(down ? start - stop : stop - start);
    slice->count = way == 0 ? 0 : (int64_t)((way - 1) / stride) + 1;
    slice->start = slice->count == 0 ? 0 : start;
    slice->step = slice->count <= 1 ? 1 : step; // a step that is never taken may be any
}

// "2:10:2" into bounds. False: it is none.
static bool parse_bounds(const char *text, int64_t bounds[3], bool given[3])
{
    char part[32];
    for (int i = 0; i < 3; i++) {
        size_t length = strcspn(text, ":");
        while (length > 0 && text[0] == ' ') {
            text++;
            length--;
        }
        size_t used = length;
        while (used > 0 && text[used - 1] == ' ')
            used--;
        if (used >= sizeof part)
            return false;
        memcpy(part, text, used);
        part[used] = '\0';
        given[i] = used > 0;
        if (given[i] && !ps_integer_parse(part, &bounds[i]))
            return false;
        if (text[length] == '\0')
            return i > 0;
        text += length + 1;
    }
    return false;
}

static bool parse(const char *text, const struct ps_port *in, int axis, struct ps_place place,
                  struct slice *slice, struct ps_problems *problems)
{
    int64_t bounds[3], number, size = in->array.dims[axis];
    bool given[3] = {false};
    if (ps_integer_parse(text, &number)) {
        *slice = (struct slice){true, number < 0 ? number + size : number, 1, 1};
        if (slice->start >= 0 && slice->start < size)
            return true;
        ps_problem_add(problems, PS_USAGE, place,
                       "index: %lld is beyond axis %d of '%s', which has %lld elements",
                       (long long)number, axis, in->name, (long long)size);
        return false;
    }
    *slice = (struct slice){0};
    if (!parse_bounds(text, bounds, given)) {
        ps_problem_add(problems, PS_USAGE, place,
                       "index: '%s' is no slice; expected start:stop or start:stop:step, such as "
                       "\"2:10:2\", \"::-1\" or \":\", or one whole number",
                       text);
        return false;
    }
    if (given[2] && bounds[2] == 0) {
        ps_problem_add(problems, PS_USAGE, place, "index: '%s' has a step of 0", text);
        return false;
    }
    resolve(bounds, given, size, slice);
    return true;
}

static bool parse_all(const struct ps_value *index, const struct ps_port *in,
                      struct slice slices[PS_RANK_MAX], struct ps_problems *problems)
{
    int first = ps_shape_first(in), own = in->array.rank - first;
    char text[PS_ARRAY_TEXT];
    bool fine = true;
    if (index->count > own) {
        ps_problem_add(problems, PS_USAGE, index->place,
                       "index: %d slices for '%s', %s, which has %d %s", index->count, in->name,
                       ps_array_text(&in->array, text), own,
                       in->streamed ? "axes besides its rows" : "axes");
        return false;
    }
    for (int i = 0; i < own; i++)
        slices[first + i] = (struct slice){false, 0, 1, in->array.dims[first + i]};
    for (int i = 0; i < index->count; i++)
        fine =
            parse(index->words[i], in, first + i, index->places ? index->places[i] : index->place,
                  &slices[first + i], problems) &&
            fine;
    return fine;
}

// Output axes: those that are not picked away.
static bool shape_output(struct ps_stage *stage, const struct ps_port *in,
                         const struct slice *slices, struct ps_problems *problems)
{
    const struct ps_array *from = &in->array;
    int rank = ps_shape_first(in), last = from->rank - 1;
    ps_shape_output(stage, in, from->dtype);
    for (int i = rank; i < from->rank; i++) {
        stage->axes[i].port = -1;
        if (slices[i].picks)
            continue;
        bool all = slices[i].start == 0 && slices[i].count == from->dims[i] && slices[i].step == 1;
        stage->output.dims[rank] = slices[i].count;
        stage->axes[rank++] = (struct ps_axis_source){all ? stage->inputs[0] : -1, i};
    }
    stage->output.rank = rank;
    if (from->column_count == 0 || slices[last].picks)
        return true;
    int64_t *chosen = calloc((size_t)slices[last].count + 1, sizeof *chosen);
    for (int64_t i = 0; chosen != NULL && i < slices[last].count; i++)
        chosen[i] = slices[last].start + i * slices[last].step;
    bool fine = chosen != NULL && ps_shape_columns(stage, from, chosen, problems);
    if (chosen == NULL)
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
    free(chosen);
    return fine;
}

static bool slice_plan(struct ps_stage *stage, const struct ps_scope *scope,
                       struct ps_problems *problems)
{
    const struct ps_port *in = ps_shape_input(stage, scope, 1, problems);
    const struct ps_value *index = ps_values_get(stage->options, "index");
    struct slice slices[PS_RANK_MAX];
    if (in == NULL || !index->given || !parse_all(index, in, slices, problems) ||
        !shape_output(stage, in, slices, problems))
        return false;
    struct ps_gather *gather = ps_gather_begin(stage, !in->streamed, problems);
    if (gather == NULL)
        return false;
    // Steps in the output of the axes as they would be with none picked away.
    int64_t dims[PS_RANK_MAX] = {0};
    int first = ps_shape_first(in);
    for (int i = first; i < in->array.rank; i++)
        dims[i] = slices[i].count;
    struct ps_gather_piece *piece = ps_gather_add(gather, in, 0, dims);
    for (int i = 0; i < piece->rank; i++) {
        piece->from_base += slices[first + i].start * piece->from[i];
        piece->from[i] *= slices[first + i].step;
        piece->dims[i] = slices[first + i].count;
    }
    ps_gather_finish(stage, gather);
    return true;
}

const struct ps_stage_type ps_stage_slice = {
    .name = "slice",
    .help = "A part of each row: start:stop:step along its axes, as in NumPy",
    .options = options,
    .plan = slice_plan,
    .unplan = ps_gather_unplan,
    .compile = ps_gather_compile,
    .release = ps_gather_release,
    .run = PS_GATHER_RUN,
};
