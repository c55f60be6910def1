// SPDX-License-Identifier: Apache-2.0
// reduce on the cpu backend: walks a block and hands matrices to the hot loop (tile.h). Computes
// at once in the calling thread; several threads may run it, each with its own state and scratch.
#include "kernels/reduce/stage.h"

#include <stdio.h>

#define TILE 4096 // elements of a term that are made at once

// Adds a matrix of any height, moving carries on in time.
static void add_counted(const struct ps_program *program, const struct ps_reduce_form *form,
                        void *state, const char *data, int64_t rows, int64_t columns)
{
    struct ps_reduce_planes planes = ps_reduce_planes(form, state);
    size_t bytes = ps_dtype_bytes((enum ps_dtype)form->dtype) * (size_t)columns;
    while (rows > 0) {
        int64_t some = rows < PS_EXACT_ADDS_MAX ? rows : PS_EXACT_ADDS_MAX;
        ps_reduce_count(form, state, some);
        program->tile->add[form->dtype](form, &planes, 0, data, some, columns);
        data += (size_t)some * bytes;
        rows -= some;
    }
}

// What the terms of one launch are made from.
struct source {
    const struct ps_reduce *reduce;
    const void *data;
    const double *means, *weights; // of the launch; NULL: not needed
    int weight_dtype;
};

static struct source source_of(const struct ps_program *program, const struct ps_launch *launch)
{
    const struct ps_reduce *reduce = program->reduce;
    struct source source = {.reduce = reduce, .data = launch->inputs[0]};
    source.means = reduce->mean >= 0 ? launch->inputs[reduce->mean] : NULL;
    source.weights = reduce->weights >= 0 ? launch->inputs[reduce->weights] : NULL;
    source.weight_dtype = program->weight_dtype;
    return source;
}

static double weight_of(const struct source *source, int64_t row, int64_t element)
{
    double weight;
    ps_term_load(source->weight_dtype, source->weights,
                 row * source->reduce->weight_row + element * source->reduce->weight_element, 1,
                 &weight);
    return weight;
}

// The term for elements [element, element + count) of a row. Over rows: means hold one number per
// element of a row, or one for all.
static void make_term(const struct source *source, int term, int64_t row, int64_t element,
                      int64_t count, double *values)
{
    const struct ps_reduce_shape *shape = &source->reduce->shape;
    int64_t first = row * shape->row_elements + element;
    if (term == PS_TERM_MAGNITUDE) {
        ps_term_magnitudes(shape->dtype, source->data, first, count, values);
        return;
    }
    ps_term_load(shape->dtype, source->data, first, count, values);
    for (int64_t i = 0; i < count; i++) {
        int64_t e = element + i, mean = shape->outputs == 1 ? 0 : e;
        if (shape->inner)
            mean = row * shape->kept_count + ps_reduce_index(&shape->kept, e);
        values[i] = ps_term_of(term, values[i],
                               ps_term_needs_mean(term) ? source->means[mean] : 0,
                               ps_term_needs_weight(term) ? weight_of(source, row, e) : 0);
    }
}

// Rows of few elements are put together in a tile, long rows cut in several.
static void add_term(const struct ps_program *program, const struct ps_launch *launch,
                     const struct ps_reduce_part *part, void *state)
{
    const struct ps_reduce_shape *shape = &program->reduce->shape;
    struct source source = source_of(program, launch);
    struct ps_reduce_planes planes = ps_reduce_planes(&part->form, state);
    double *values = launch->scratch;
    int64_t elements = shape->row_elements, high = elements > 0 && elements < TILE ? TILE / elements : 1;
    for (int64_t row = 0; elements > 0 && row < launch->rows; row += high) {
        int64_t rows = launch->rows - row < high ? launch->rows - row : high;
        bool all = shape->outputs == 1;
        int64_t wide = elements < TILE ? elements : TILE;
        if (!all)
            ps_reduce_count(&part->form, state, rows);
        for (int64_t e = 0; e < elements; e += wide) {
            int64_t columns = elements - e < wide ? elements - e : wide;
            for (int64_t r = 0; r < rows; r++)
                make_term(&source, part->term, row + r, e, columns, values + r * columns);
            if (all)
                ps_reduce_count(&part->form, state, rows * columns);
            program->tile->add[part->form.dtype](&part->form, &planes, all ? 0 : e, values,
                                                 all ? rows * columns : rows, all ? 1 : columns);
        }
    }
}

// ---- Over axes of the row ----

// The outputs of one place of the kept axes but the last: shape.outputs of them.
static void add_inner(const struct ps_program *program, const struct ps_reduce_form *form,
                      void *state, const char *data)
{
    const struct ps_reduce_shape *shape = &program->reduce->shape;
    size_t bytes = ps_dtype_bytes((enum ps_dtype)form->dtype);
    struct ps_reduce_axes outer = shape->reduced;
    int64_t rows = outer.size[--outer.count];
    memset(state, 0, (size_t)ps_reduce_state_bytes(form));
    for (int64_t i = 0; rows > 0 && i < shape->reduced_count / rows; i++)
        add_counted(program, form, state, data + (size_t)ps_reduce_offset(&outer, i) * bytes, rows,
                    shape->outputs);
}

// Where in the scratch what is: the state of a part, a row of a term, the row's basics.
struct inner_scratch {
    char *state;
    double *values, *basics;
};

static size_t inner_state_bytes(const struct ps_reduce *reduce)
{
    size_t most = 0;
    for (int i = 0; i < reduce->part_count; i++) {
        size_t bytes = (size_t)ps_reduce_part_bytes(&reduce->parts[i], reduce->shape.outputs);
        most = bytes > most ? bytes : most;
    }
    return (most + 7) / 8 * 8;
}

static size_t inner_values(const struct ps_reduce *reduce)
{
    bool terms = reduce->part_count > 1 || reduce->parts[0].term > PS_TERM_PICK;
    return terms ? (size_t)reduce->shape.row_elements : 0;
}

static struct inner_scratch inner_scratch(const struct ps_reduce *reduce, void *scratch)
{
    struct inner_scratch parts = {.state = scratch};
    parts.values = (double *)(parts.state + inner_state_bytes(reduce));
    parts.basics = parts.values + inner_values(reduce);
    return parts;
}

static enum ps_reduce_fault picks_of_row(const struct ps_reduce *reduce,
                                         const struct ps_reduce_part *part, const void *row,
                                         int64_t at, void *output, int64_t *place, int *kind)
{
    enum ps_reduce_fault fault = PS_REDUCE_FINE;
    bool products = ps_pick_wants_products(part);
    for (int64_t i = 0; fault == PS_REDUCE_FINE && i < reduce->shape.kept_count; i++) {
        struct ps_pick pick = ps_pick_places(reduce, products, row, i);
        *place = i;
        fault = ps_pick_finish(&pick, part->form.dtype, reduce->shape.reduced_count, &part->ask,
                               output, at + i, kind);
    }
    return fault;
}

// at: number of the row's first output.
static enum ps_reduce_fault sums_of_row(const struct ps_program *program,
                                        const struct ps_reduce_part *part, const char *row,
                                        const struct inner_scratch *scratch, int64_t at,
                                        void *output, int64_t *place, int *kind)
{
    const struct ps_reduce_shape *shape = &program->reduce->shape;
    size_t bytes = ps_dtype_bytes((enum ps_dtype)part->form.dtype);
    struct ps_reduce_axes outer = shape->kept;
    int64_t side = shape->outputs, places = side > 0 ? shape->kept_count / side : 0;
    enum ps_reduce_fault fault = PS_REDUCE_FINE;
    if (outer.count > 0 && outer.step[outer.count - 1] == 1)
        outer.count--; // the last axis: its places go together
    for (int64_t p = 0; p < places; p++) {
        add_inner(program, &part->form, scratch->state,
                  row + (size_t)ps_reduce_offset(&outer, p) * bytes);
        for (int64_t i = 0; i < side; i++) {
            *place = p * side + i;
            fault = ps_reduce_part_finish(part, scratch->state, i, at + *place, output,
                                          scratch->basics + *place * PS_REDUCE_BASICS, kind);
            if (fault != PS_REDUCE_FINE)
                return fault;
        }
    }
    return fault;
}

static bool run_inner(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error)
{
    const struct ps_reduce *reduce = program->reduce;
    struct inner_scratch scratch = inner_scratch(reduce, launch->scratch);
    struct source source = source_of(program, launch);
    size_t bytes = ps_dtype_bytes((enum ps_dtype)reduce->shape.dtype);
    for (int64_t row = 0; row < launch->rows; row++) {
        const char *data = (const char *)launch->inputs[0] +
                           (size_t)row * (size_t)reduce->shape.row_elements * bytes;
        int64_t at = row * reduce->shape.kept_count;
        for (int p = 0; p < reduce->part_count; p++) {
            const struct ps_reduce_part *part = &reduce->parts[p];
            int64_t place = 0;
            int kind = 0;
            if (part->term > PS_TERM_PICK)
                make_term(&source, part->term, row, 0, reduce->shape.row_elements, scratch.values);
            enum ps_reduce_fault fault =
                part->term == PS_TERM_PICK
                    ? picks_of_row(reduce, part, data, at, launch->outputs[0], &place, &kind)
                    : sums_of_row(program, part,
                                  part->term == PS_TERM_VALUE ? data : (char *)scratch.values,
                                  &scratch, at, launch->outputs[0], &place, &kind);
            char where[96];
            snprintf(where, sizeof where, ", row %lld, result %lld of the row,",
                     (long long)(launch->first_row + row), (long long)place);
            if (fault != PS_REDUCE_FINE)
                return ps_reduce_fail(fault, kind, where, program->input, error);
        }
        if (reduce->combined.kind_count > 0)
            for (int64_t i = 0; i < reduce->shape.kept_count; i++)
                ps_reduce_combine_all(reduce, scratch.basics + i * PS_REDUCE_BASICS, at + i,
                                      launch->outputs[0]);
    }
    return true;
}

bool ps_reduce_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    const struct ps_reduce *reduce = program->reduce;
    if (launch->rows == 0)
        return true;
    if (reduce->shape.inner)
        return run_inner(program, launch, error);
    bool all = reduce->shape.outputs == 1; // of rows of one element as well
    int64_t rows = all ? launch->rows * reduce->shape.row_elements : launch->rows;
    int64_t first = all ? launch->first_row * reduce->shape.row_elements : launch->first_row;
    for (int i = 0; i < reduce->part_count; i++) {
        const struct ps_reduce_part *part = &reduce->parts[i];
        void *state = (char *)launch->state + ps_reduce_part_at(reduce, i);
        if (part->term == PS_TERM_VALUE)
            add_counted(program, &part->form, state, launch->inputs[0], rows,
                        reduce->shape.outputs);
        else if (part->term == PS_TERM_PICK)
            ps_pick_add(part->form.dtype, ps_pick_wants_products(part), state,
                        reduce->shape.outputs, launch->inputs[0], rows, first);
        else
            add_term(program, launch, part, state);
    }
    return true;
}

static size_t scratch_cpu(const struct ps_reduce *reduce)
{
    if (!reduce->shape.inner)
        return TILE * sizeof(double);
    size_t basics = reduce->combined.kind_count > 0
                        ? (size_t)reduce->shape.kept_count * PS_REDUCE_BASICS * sizeof(double)
                        : 0;
    return inner_state_bytes(reduce) + inner_values(reduce) * sizeof(double) + basics;
}

size_t ps_reduce_scratch_bytes(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    const struct ps_reduce *reduce = step->stages[0]->detail;
    if (backend == PS_CPU)
        return scratch_cpu(reduce);
#if PS_HAVE_CUDA
    return ps_reduce_scratch_cuda(reduce, rows);
#else
    (void)rows;
    return 0;
#endif
}
