// SPDX-License-Identifier: Apache-2.0
// Planning of `reduce`: which axes go, which accumulators the kinds need, what comes out.
#include "kernels/reduce/stage.h"

#include <stdlib.h>

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
static void join_axes(struct ps_reduce_shape *shape, const struct ps_array *array, const bool *reduced)
{
    int64_t step = 1;
    int last = -1;                               // 1: reduced, 0: kept
    struct ps_reduce_axes lists[2] = {{0}, {0}}; // innermost first
    shape->kept_count = shape->reduced_count = 1;
    for (int i = array->rank - 1; i > 0; i--) {
        int64_t size = array->dims[i];
        struct ps_reduce_axes *list = &lists[reduced[i]];
        *(reduced[i] ? &shape->reduced_count : &shape->kept_count) *= size;
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
    shape->outputs = last_is_kept ? lists[0].size[0] : 1;
    if (lists[1].count == 0) {
        lists[1].size[0] = 1;
        lists[1].step[0] = shape->outputs;
        lists[1].count = 1;
    }
    for (int k = 0; k < 2; k++) { // outermost first
        struct ps_reduce_axes *to = k == 0 ? &shape->kept : &shape->reduced;
        to->count = lists[k].count;
        for (int i = 0; i < to->count; i++) {
            to->size[i] = lists[k].size[to->count - 1 - i];
            to->step[i] = lists[k].step[to->count - 1 - i];
        }
    }
}

static enum ps_dtype type_of_result(enum ps_reduce_result_type type, enum ps_dtype input)
{
    switch (type) {
    case PS_RESULT_INPUT:
        return input;
    case PS_RESULT_I64:
        return PS_I64;
    case PS_RESULT_BOOL:
        return PS_BOOL;
    case PS_RESULT_WIDE:
        if (!ps_dtype_is_float(input))
            return ps_dtype_info(input)->kind == PS_CLASS_SIGNED ? PS_I64 : PS_U64;
        return PS_F64;
    default:
        return PS_F64;
    }
}

static bool has_weights(const struct ps_stage *stage)
{
    return ps_values_get(stage->options, "weights")->given;
}

// The terms that a kind is made of; how many.
static int terms_of_kind(int kind, bool weighted, int terms[4])
{
    int count = 0;
    enum ps_reduce_source source = ps_reduce_kinds[kind].source;
    if (weighted) {
        if (kind != PS_REDUCE_SUM)
            terms[count++] = PS_TERM_WEIGHT;
        terms[count++] =
            kind == PS_REDUCE_SUM || kind == PS_REDUCE_MEAN ? PS_TERM_WEIGHTED : PS_TERM_WEIGHTED2;
    } else if (source == PS_FROM_MOMENTS) {
        terms[count++] = PS_TERM_DISTANCE;
        terms[count++] = PS_TERM_DISTANCE2;
        terms[count++] = PS_TERM_DISTANCE3;
        if (kind == PS_REDUCE_KURTOSIS)
            terms[count++] = PS_TERM_DISTANCE4;
    } else {
        terms[count++] = source == PS_FROM_PICKS        ? PS_TERM_PICK
                         : source == PS_FROM_MAGNITUDES ? PS_TERM_MAGNITUDE
                                                        : PS_TERM_VALUE;
    }
    return count;
}

// Whether distances from the mean are summed, which then must be known before.
static bool needs_mean(const struct ps_value *of, bool weighted)
{
    for (int i = 0; i < of->count; i++) {
        int terms[4], count = terms_of_kind(of->picks[i], weighted, terms);
        for (int k = 0; k < count; k++)
            if (ps_term_needs_mean(terms[k]))
                return true;
    }
    return false;
}

int ps_reduce_phases(const struct ps_stage *stage, const struct ps_scope *scope,
                     struct ps_problems *problems)
{
    const struct ps_value *of = ps_values_get(stage->options, "of");
    (void)scope;
    (void)problems;
    return needs_mean(of, has_weights(stage)) ? 2 : 1;
}

static void size_form(struct ps_reduce_part *part, enum ps_dtype dtype, int64_t outputs)
{
    static const struct {
        int low, sums, squares;
    } sizes[] = {[PS_F16] = {-24, 5, 7}, [PS_F32] = {-149, 12, 21}, [PS_F64] = {-1074, 69, 136}};
    bool is_float = ps_dtype_is_float(dtype), sums = ps_term_has_basic(part->term), squares = false;
    for (int i = 0; i < part->ask.kind_count; i++) {
        sums = sums || ps_reduce_kinds[part->ask.kinds[i]].sums;
        squares = squares || ps_reduce_kinds[part->ask.kinds[i]].squares;
    }
    part->form = (struct ps_reduce_form){
        .dtype = (int)dtype,
        .low = is_float ? sizes[dtype].low : 0,
        .sum_limbs = !sums ? 0 : is_float ? sizes[dtype].sums : 5,
        .square_limbs = !squares ? 0 : is_float ? sizes[dtype].squares : 7,
        .outputs = outputs,
    };
}

static struct ps_reduce_part *part_of_term(struct ps_reduce *reduce, int term)
{
    for (int i = 0; i < reduce->part_count; i++)
        if (reduce->parts[i].term == term)
            return &reduce->parts[i];
    struct ps_reduce_part *part = &reduce->parts[reduce->part_count++];
    part->term = term;
    return part;
}

static void ask_for(struct ps_reduce_ask *ask, int kind, int at)
{
    ask->kinds[ask->kind_count] = kind;
    ask->at[ask->kind_count++] = at;
}

// Parts and asks for the listed kinds.
static void make_parts(struct ps_reduce *reduce, const int *kinds, int count, bool weighted,
                       uint64_t ddof)
{
    enum ps_dtype input = (enum ps_dtype)reduce->shape.dtype;
    reduce->kind_count = count;
    for (int i = 0; i < count; i++) {
        int terms[4], term_count = terms_of_kind(kinds[i], weighted, terms);
        enum ps_dtype own = weighted ? PS_F64
                                     : type_of_result(ps_reduce_kinds[kinds[i]].type, input);
        reduce->kinds[i] = kinds[i];
        reduce->dtype = i == 0 ? own : ps_dtype_promote((enum ps_dtype)reduce->dtype, own);
        for (int k = 0; k < term_count; k++)
            part_of_term(reduce, terms[k]);
        bool alone = term_count == 1 && !weighted;
        ask_for(alone ? &part_of_term(reduce, terms[0])->ask : &reduce->combined, kinds[i], i);
    }
    for (int i = 0; i < reduce->part_count; i++) {
        struct ps_reduce_part *part = &reduce->parts[i];
        enum ps_dtype summed = part->term == PS_TERM_VALUE || part->term == PS_TERM_PICK ? input
                               : part->term == PS_TERM_MAGNITUDE && !ps_dtype_is_float(input)
                                   ? PS_U64
                                   : PS_F64;
        size_form(part, summed, reduce->shape.outputs);
    }
    for (int i = 0; i <= reduce->part_count; i++) {
        struct ps_reduce_ask *ask =
            i < reduce->part_count ? &reduce->parts[i].ask : &reduce->combined;
        ask->width = count;
        ask->dtype = reduce->dtype;
        ask->ddof = ddof;
    }
}

static bool needs_element(int kind)
{
    switch (kind) {
    case PS_REDUCE_MIN:
    case PS_REDUCE_MAX:
    case PS_REDUCE_NANMIN:
    case PS_REDUCE_NANMAX:
    case PS_REDUCE_ARGMIN:
    case PS_REDUCE_ARGMAX:
    case PS_REDUCE_NANARGMIN:
    case PS_REDUCE_NANARGMAX:
        return true;
    default:
        return false;
    }
}

// min and max have no answer without elements; better to say so before data moves.
static bool check_empty(const struct ps_stage *stage, const struct ps_reduce *reduce,
                        const struct ps_port *port, struct ps_problems *problems)
{
    const struct ps_reduce_shape *shape = &reduce->shape;
    bool empty = shape->inner ? shape->reduced_count == 0 && shape->kept_count > 0
                              : shape->row_elements == 0 && shape->outputs == 1;
    for (int i = 0; empty && i < reduce->kind_count; i++) {
        if (needs_element(reduce->kinds[i])) {
            char text[PS_ARRAY_TEXT];
            ps_problem_add(problems, PS_USAGE, stage->place,
                           "%s of nothing: '%s' is %s, and the axes to reduce have no element",
                           ps_reduce_kind_name(reduce->kinds[i]), port->name,
                           ps_array_text(&port->array, text));
            return false;
        }
    }
    return true;
}

// The kept axes, then the kinds when they were listed.
static bool make_output(struct ps_stage *stage, const struct ps_port *port, const bool *reduced,
                        const struct ps_reduce *reduce, bool listed, bool keep,
                        struct ps_error *error)
{
    const struct ps_array *in = &port->array;
    int64_t dims[PS_RANK_MAX];
    int rank = 0;
    for (int i = 0; i < in->rank; i++) {
        if (reduced[i] && !keep)
            continue;
        if (!reduced[i])
            stage->axes[rank] = (struct ps_axis_source){stage->inputs[0], i};
        dims[rank++] = reduced[i] ? 1 : in->dims[i];
    }
    bool keeps_columns = in->column_count > 0 && !reduced[in->rank - 1];
    if (listed && rank == PS_RANK_MAX)
        return ps_fail(error, PS_USAGE, "the result would have more than %d axes", PS_RANK_MAX);
    if (listed)
        dims[rank++] = reduce->kind_count;
    ps_array_init(&stage->output, (enum ps_dtype)reduce->dtype, rank, dims);
    if (listed) {
        const char *names[PS_REDUCE_KINDS];
        for (int i = 0; i < reduce->kind_count; i++)
            names[i] = ps_reduce_kind_name(reduce->kinds[i]);
        return ps_array_set_columns(&stage->output, reduce->kind_count, names, error);
    }
    return !keeps_columns || ps_array_set_columns(&stage->output, in->column_count,
                                                  (const char *const *)in->columns, error);
}

// One weight for every row, for every element of the row, or for every element.
static bool use_weights(struct ps_stage *stage, const struct ps_scope *scope,
                        const struct ps_port *port, struct ps_reduce *reduce,
                        struct ps_problems *problems)
{
    const struct ps_value *weights = ps_values_get(stage->options, "weights");
    const struct ps_value *of = ps_values_get(stage->options, "of");
    for (int i = 0; i < of->count; i++) {
        int kind = of->picks[i];
        if (kind == PS_REDUCE_SUM || kind == PS_REDUCE_MEAN || kind == PS_REDUCE_VAR ||
            kind == PS_REDUCE_STD)
            continue;
        ps_problem_add(problems, PS_USAGE, of->listed && of->places ? of->places[i] : of->place,
                       "of: weights are for sum, mean, var and std; ask for %s in a stage without "
                       "`weights`",
                       ps_reduce_kind_name(kind));
        return false;
    }
    reduce->weights = ps_stage_use(stage, scope, weights->text, weights->place, problems);
    if (reduce->weights < 0)
        return false;
    const struct ps_port *w = ps_stage_input(stage, scope, reduce->weights);
    const struct ps_array *a = &w->array, *x = &port->array;
    int skip = w->streamed == port->streamed ? 0 : 1; // whole: the shape of a row
    bool same = a->rank == x->rank - skip && !(w->streamed && !port->streamed);
    for (int i = skip ? 0 : 1; same && i < a->rank; i++)
        same = a->dims[i] == x->dims[i + skip];
    bool per_row = !same && w->streamed == port->streamed && a->rank == 1;
    if (!port->streamed && a->rank > 0)
        same = same && a->dims[0] == x->dims[0], per_row = per_row && a->dims[0] == x->dims[0];
    if (same || per_row) {
        reduce->weight_row = per_row ? 1 : skip == 1 ? 0 : reduce->shape.row_elements;
        reduce->weight_element = per_row ? 0 : 1;
        return true;
    }
    char text[PS_ARRAY_TEXT], own[PS_ARRAY_TEXT];
    ps_problem_add(problems, PS_USAGE, weights->place,
                   "weights: '%s' is %s, but '%s' is %s: expected one number for each row, one for "
                   "each element of a row (whole), or the same shape",
                   w->name, ps_array_text(a, text), port->name, ps_array_text(x, own));
    return false;
}

static bool check_keep(const struct ps_stage *stage, bool over_rows, struct ps_problems *problems)
{
    const struct ps_value *keep = ps_values_get(stage->options, "keepdims");
    if (!keep->truth || !over_rows)
        return true;
    ps_problem_add(problems, PS_USAGE, keep->place,
                   "keepdims: only axes of the row can be kept as axes of size 1; a result over "
                   "rows fits the rows it came from without that");
    return false;
}

static void fill_shape(struct ps_reduce_shape *shape, const struct ps_array *array,
                       const bool *reduced, bool over_rows)
{
    bool all = true;
    for (int i = 0; i < array->rank; i++)
        all = all && reduced[i];
    shape->inner = !over_rows;
    shape->dtype = (int)array->dtype;
    shape->row_elements = ps_array_row_elements(array);
    if (shape->inner)
        join_axes(shape, array, reduced);
    else
        shape->outputs = all ? 1 : shape->row_elements;
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
    bool reduced[PS_RANK_MAX], weighted = has_weights(stage);
    // The first of two phases makes the mean that the second takes distances from.
    bool first = needs_mean(of, weighted) && stage->phase == 0;
    if (!choose_axes(axis, port, reduced, problems))
        return false;
    bool over_rows = port->array.rank == 0 || reduced[0];
    struct ps_reduce *reduce = calloc(1, sizeof *reduce);
    struct ps_error error = {0};
    stage->detail = reduce;
    if (reduce == NULL) {
        ps_fail_memory(&error, sizeof *reduce, "a reduction");
        ps_problem_add(problems, error.status, stage->place, "%s", error.text);
        return false;
    }
    fill_shape(&reduce->shape, &port->array, reduced, over_rows);
    reduce->mean = reduce->weights = -1;
    if (!check_keep(stage, over_rows, problems) ||
        (weighted && !use_weights(stage, scope, port, reduce, problems)))
        return false;
    if (!first && needs_mean(of, weighted)) {
        reduce->mean = ps_stage_use_phase(stage, 0, problems);
        if (reduce->mean < 0)
            return false;
    }
    static const int mean_only[] = {PS_REDUCE_MEAN};
    make_parts(reduce, first ? mean_only : of->picks, first ? 1 : of->count, weighted,
               (uint64_t)ps_values_get(stage->options, "ddof")->integer);
    stage->reduces_rows = over_rows;
    stage->streamed = !over_rows && port->streamed;
    stage->whole_rows = ps_array_rows(&port->array);
    if (!check_empty(stage, reduce, port, problems))
        return false;
    if (make_output(stage, port, reduced, reduce, of->listed && !first,
                    ps_values_get(stage->options, "keepdims")->truth, &error))
        return true;
    ps_problem_add(problems, error.status, stage->place, "%s", error.text);
    return false;
}
