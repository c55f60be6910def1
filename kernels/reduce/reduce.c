// SPDX-License-Identifier: Apache-2.0
// The stage `reduce`: sums, means, extremes, variances and counts over rows, over everything or
// over axes of the row. This file plans and holds the row; the arithmetic is in kernels/exact.h.
#include "kernels/reduce/stage.h"

#include <stdlib.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array to reduce; default: the stage before"},
    {.key = "axis",
     .kind = PS_AXES,
     .fallback = "rows",
     .help = "rows (axis 0), all, or axes of the row counted from 1, as [1, 2]"},
    {.key = "of",
     .kind = PS_CHOICES,
     .choices = "sum|mean|min|max|var|std|count",
     .required = true,
     .help = "what to compute; a list makes a last axis with these names as columns"},
    {.key = "ddof",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .help = "var and std divide by the number of elements minus this"},
    {0},
};

// Which axes of the input are reduced; false after reporting.
static bool choose_axes(const struct ps_value *axis, const struct ps_port *port,
                        bool reduced[PS_RANK_MAX], struct ps_problems *problems)
{
    int rank = port->array.rank, count = 0;
    for (int i = 0; i < PS_RANK_MAX; i++)
        reduced[i] = axis->count < 0 && i < rank;
    for (int i = 0; i < axis->count; i++) {
        int64_t number = axis->integers[i];
        struct ps_place place =
            axis->listed && axis->places != NULL ? axis->places[i] : axis->place;
        if (number >= rank) {
            char text[PS_ARRAY_TEXT];
            ps_problem_add(problems, PS_USAGE, place,
                           rank == 0
                               ? "axis: '%s' is one number (%s) and has no axes; write axis: "
                                 "all"
                               : "axis: '%s' is %s and has no axis %lld; its axes are counted "
                                 "from 0 (rows)",
                           port->name, ps_array_text(&port->array, text), (long long)number);
            return false;
        }
        if (reduced[number]) {
            ps_problem_add(problems, PS_USAGE, place, "axis: %lld is listed twice",
                           (long long)number);
            return false;
        }
        reduced[number] = true;
    }
    for (int i = 0; i < rank; i++)
        count += reduced[i];
    if (rank > 0 && reduced[0] && count > 1 && count < rank) {
        ps_problem_add(problems, PS_USAGE, axis->place,
                       "axis: rows (axis 0) together with some but not all axes of the row is not "
                       "there yet; reduce the axes of the row in one stage and rows in the next");
        return false;
    }
    return true;
}

// The axes of the row as joined runs of kept and reduced ones.
static void join_axes(struct ps_reduce *reduce, const struct ps_array *array, const bool *reduced)
{
    int64_t step = 1;
    int last = -1;                               // 1: reduced, 0: kept
    struct ps_reduce_axes lists[2] = {{0}, {0}}; // innermost first
    reduce->kept_count = reduce->reduced_count = 1;
    for (int i = array->rank - 1; i > 0; i--) {
        int64_t size = array->dims[i];
        struct ps_reduce_axes *list = &lists[reduced[i]];
        *(reduced[i] ? &reduce->reduced_count : &reduce->kept_count) *= size;
        if (size != 1 && last == reduced[i]) {
            list->size[list->count - 1] *= size;
        } else if (size != 1) {
            list->step[list->count] = step;
            list->size[list->count++] = size;
            last = reduced[i];
        }
        step *= size;
    }
    bool last_is_kept = lists[0].count > 0 && lists[0].step[0] == 1;
    reduce->form.outputs = last_is_kept ? lists[0].size[0] : 1;
    if (lists[1].count == 0) {
        lists[1].size[0] = 1;
        lists[1].step[0] = reduce->form.outputs;
        lists[1].count = 1;
    }
    for (int k = 0; k < 2; k++) { // outermost first
        struct ps_reduce_axes *to = k == 0 ? &reduce->kept : &reduce->reduced;
        to->count = lists[k].count;
        for (int i = 0; i < to->count; i++) {
            to->size[i] = lists[k].size[to->count - 1 - i];
            to->step[i] = lists[k].step[to->count - 1 - i];
        }
    }
}

static enum ps_dtype dtype_of_kind(int kind, enum ps_dtype input)
{
    switch (kind) {
    case PS_REDUCE_MIN:
    case PS_REDUCE_MAX:
        return input;
    case PS_REDUCE_COUNT:
        return PS_I64;
    case PS_REDUCE_SUM:
        if (ps_dtype_is_float(input))
            return PS_F64;
        return ps_dtype_info(input)->kind == PS_CLASS_SIGNED ? PS_I64 : PS_U64;
    default:
        return PS_F64;
    }
}

static void fill_form(struct ps_reduce *reduce, enum ps_dtype dtype, const struct ps_value *of)
{
    static const struct {
        int low, sums, squares;
    } sizes[] = {[PS_F16] = {-24, 5, 7}, [PS_F32] = {-149, 12, 21}, [PS_F64] = {-1074, 69, 136}};
    bool is_float = ps_dtype_is_float(dtype), sums = false, squares = false;
    reduce->ask.kind_count = of->count;
    for (int i = 0; i < of->count; i++) {
        int kind = reduce->ask.kinds[i] = of->picks[i];
        enum ps_dtype own = dtype_of_kind(kind, dtype);
        reduce->ask.dtype = i == 0 ? own : ps_dtype_promote((enum ps_dtype)reduce->ask.dtype, own);
        squares = squares || kind == PS_REDUCE_VAR || kind == PS_REDUCE_STD;
        sums = sums || squares || kind == PS_REDUCE_SUM || kind == PS_REDUCE_MEAN;
    }
    reduce->form.dtype = (int)dtype;
    reduce->form.low = is_float ? sizes[dtype].low : 0;
    reduce->form.sum_limbs = !sums ? 0 : is_float ? sizes[dtype].sums : 5;
    reduce->form.square_limbs = !squares ? 0 : is_float ? sizes[dtype].squares : 7;
}

// min and max have no answer without elements; better to say so before data moves.
static bool check_empty(const struct ps_stage *stage, const struct ps_reduce *reduce,
                        const struct ps_port *port, struct ps_problems *problems)
{
    bool empty = reduce->inner ? reduce->reduced_count == 0 && reduce->kept_count > 0
                               : reduce->row_elements == 0 && reduce->form.outputs == 1;
    for (int i = 0; empty && i < reduce->ask.kind_count; i++) {
        int kind = reduce->ask.kinds[i];
        if (kind == PS_REDUCE_MIN || kind == PS_REDUCE_MAX) {
            char text[PS_ARRAY_TEXT];
            ps_problem_add(problems, PS_USAGE, stage->place,
                           "%s of nothing: '%s' is %s, and the axes to reduce have no element",
                           ps_reduce_kind_name(kind), port->name,
                           ps_array_text(&port->array, text));
            return false;
        }
    }
    return true;
}

// The kept axes, then the kinds when they were listed.
static bool make_output(struct ps_stage *stage, const struct ps_port *port, const bool *reduced,
                        const struct ps_reduce *reduce, bool listed, struct ps_error *error)
{
    const struct ps_array *in = &port->array;
    int64_t dims[PS_RANK_MAX];
    int rank = 0;
    for (int i = 0; i < in->rank; i++) {
        if (reduced[i])
            continue;
        stage->axes[rank] = (struct ps_axis_source){stage->inputs[0], i};
        dims[rank++] = in->dims[i];
    }
    bool keeps_columns = in->column_count > 0 && !reduced[in->rank - 1];
    if (listed && rank == PS_RANK_MAX)
        return ps_fail(error, PS_USAGE, "the result would have more than %d axes", PS_RANK_MAX);
    if (listed)
        dims[rank++] = reduce->ask.kind_count;
    ps_array_init(&stage->output, (enum ps_dtype)reduce->ask.dtype, rank, dims);
    if (listed) {
        const char *names[PS_REDUCE_KINDS];
        for (int i = 0; i < reduce->ask.kind_count; i++)
            names[i] = ps_reduce_kind_name(reduce->ask.kinds[i]);
        return ps_array_set_columns(&stage->output, reduce->ask.kind_count, names, error);
    }
    return !keeps_columns || ps_array_set_columns(&stage->output, in->column_count,
                                                  (const char *const *)in->columns, error);
}

bool ps_reduce_plan(struct ps_stage *stage, const struct ps_scope *scope,
                    struct ps_problems *problems)
{
    int position = ps_stage_use_in(stage, scope, problems);
    if (position < 0)
        return false;
    const struct ps_port *port = ps_stage_input(stage, scope, position);
    const struct ps_value *axis = ps_values_get(stage->options, "axis");
    const struct ps_value *of = ps_values_get(stage->options, "of");
    bool reduced[PS_RANK_MAX];
    if (!choose_axes(axis, port, reduced, problems))
        return false;
    struct ps_reduce *reduce = calloc(1, sizeof *reduce);
    struct ps_error error = {0};
    stage->detail = reduce;
    if (reduce == NULL) {
        ps_fail_memory(&error, sizeof *reduce, "a reduction");
        ps_problem_add(problems, error.status, stage->place, "%s", error.text);
        return false;
    }
    bool over_rows = port->array.rank == 0 || reduced[0];
    bool all = true;
    for (int i = 0; i < port->array.rank; i++)
        all = all && reduced[i];
    reduce->inner = !over_rows;
    reduce->row_elements = ps_array_row_elements(&port->array);
    reduce->ask.ddof = (uint64_t)ps_values_get(stage->options, "ddof")->integer;
    fill_form(reduce, port->array.dtype, of);
    if (reduce->inner)
        join_axes(reduce, &port->array, reduced);
    else
        reduce->form.outputs = all ? 1 : reduce->row_elements;
    stage->reduces_rows = over_rows;
    stage->streamed = !over_rows && port->streamed;
    stage->whole_rows = ps_array_rows(&port->array);
    if (!check_empty(stage, reduce, port, problems))
        return false;
    if (make_output(stage, port, reduced, reduce, of->listed, &error))
        return true;
    ps_problem_add(problems, error.status, stage->place, "%s", error.text);
    return false;
}

void ps_reduce_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

static void reduce_release(struct ps_program *program)
{
    free(program);
}

static bool reduce_compile(const struct ps_step *step, struct ps_device *device,
                           struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "a reduction");
    program->reduce = *(const struct ps_reduce *)step->stages[0]->detail;
    program->tile = ps_reduce_tile();
    program->device = device;
    program->input = step->inputs[0];
#if PS_HAVE_CUDA
    if (device->backend->id == PS_CUDA && !ps_reduce_shape_cuda(program, error)) {
        reduce_release(program);
        return false;
    }
#endif
    *program_out = program;
    return true;
}

static int reduce_kernels(const struct ps_program *program, struct ps_kernel_info *infos_out,
                          int max)
{
    if (program->kernel.threads == 0)
        return 0;
    if (max > 0)
        infos_out[0] = program->kernel;
    return 1;
}

static const struct ps_stage_reduction reduction = {
    .state_bytes = ps_reduce_step_state_bytes,
    .merge = ps_reduce_merge,
    .finish = ps_reduce_step_finish,
};

const struct ps_stage_type ps_stage_reduce = {
    .name = "reduce",
    .help = "sum, mean, min, max, var, std or count over rows, everything or axes of the row; "
            "exact sums, so the same bits however the data is cut",
    .options = options,
    .plan = ps_reduce_plan,
    .unplan = ps_reduce_unplan,
    .compile = reduce_compile,
    .release = reduce_release,
    .run =
        {
            [PS_CPU] = ps_reduce_run_cpu,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_reduce_run_cuda,
#endif
        },
    .scratch_bytes = ps_reduce_scratch_bytes,
    .kernels = reduce_kernels,
    .reduction = &reduction,
};
