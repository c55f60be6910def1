// SPDX-License-Identifier: Apache-2.0
// reduce on the cpu backend: walks a block and hands matrices to the hot loop (tile.h). Computes
// at once in the calling thread; several threads may run it, each with its own state and scratch.
#include "kernels/reduce/stage.h"

#include <stdio.h>

static void add(const struct ps_program *program, const struct ps_reduce_planes *planes,
                const char *data, int64_t rows, int64_t columns)
{
    const struct ps_reduce_form *form = &program->reduce.form;
    program->tile->add[form->dtype](form, planes, 0, data, rows, columns);
}

// Adds a matrix of any height, moving carries on in time.
static void add_counted(const struct ps_program *program, void *state, const char *data,
                        int64_t rows, int64_t columns)
{
    const struct ps_reduce_form *form = &program->reduce.form;
    struct ps_reduce_planes planes = ps_reduce_planes(form, state);
    size_t bytes = ps_dtype_bytes(form->dtype) * (size_t)columns;
    while (rows > 0) {
        int64_t some = rows < PS_EXACT_ADDS_MAX ? rows : PS_EXACT_ADDS_MAX;
        ps_reduce_count(form, state, some);
        add(program, &planes, data, some, columns);
        data += (size_t)some * bytes;
        rows -= some;
    }
}

// The outputs of one place of the kept axes but the last: form.outputs of them.
static void add_inner(const struct ps_program *program, void *state, const char *data)
{
    const struct ps_reduce *reduce = &program->reduce;
    size_t bytes = ps_dtype_bytes(reduce->form.dtype);
    struct ps_reduce_axes outer = reduce->reduced;
    int64_t rows = outer.size[--outer.count];
    memset(state, 0, (size_t)ps_reduce_state_bytes(&reduce->form));
    for (int64_t i = 0; rows > 0 && i < reduce->reduced_count / rows; i++)
        add_counted(program, state, data + (size_t)ps_reduce_offset(&outer, i) * bytes, rows,
                    reduce->form.outputs);
}

static bool run_inner(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error)
{
    const struct ps_reduce *reduce = &program->reduce;
    size_t bytes = ps_dtype_bytes(reduce->form.dtype);
    struct ps_reduce_axes outer = reduce->kept;
    int64_t side = reduce->form.outputs, places = side > 0 ? reduce->kept_count / side : 0;
    uint32_t work[PS_REDUCE_WORK];
    if (outer.count > 0 && outer.step[outer.count - 1] == 1)
        outer.count--; // the last axis: its places go together
    for (int64_t row = 0; row < launch->rows; row++) {
        const char *data =
            (const char *)launch->inputs[0] + (size_t)row * (size_t)reduce->row_elements * bytes;
        for (int64_t place = 0; place < places; place++) {
            add_inner(program, launch->scratch,
                      data + (size_t)ps_reduce_offset(&outer, place) * bytes);
            struct ps_reduce_planes planes = ps_reduce_planes(&reduce->form, launch->scratch);
            for (int64_t i = 0; i < side; i++) {
                int kind = 0;
                int64_t at = place * side + i;
                enum ps_reduce_fault fault =
                    ps_reduce_finish(&reduce->form, &planes, i, &reduce->ask, launch->outputs[0],
                                     row * reduce->kept_count + at, work, &kind);
                char where[96];
                snprintf(where, sizeof where, ", row %lld, result %lld of the row,",
                         (long long)(launch->first_row + row), (long long)at);
                if (fault != PS_REDUCE_FINE)
                    return ps_reduce_fail(fault, kind, where, program->input, error);
            }
        }
    }
    return true;
}

bool ps_reduce_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    const struct ps_reduce *reduce = &program->reduce;
    if (launch->rows == 0)
        return true;
    if (reduce->inner)
        return run_inner(program, launch, error);
    bool all = reduce->form.outputs == 1; // of rows of one element as well
    add_counted(program, launch->state, launch->inputs[0],
                all ? launch->rows * reduce->row_elements : launch->rows,
                all ? 1 : reduce->row_elements);
    return true;
}

size_t ps_reduce_scratch_bytes(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    (void)rows;
    const struct ps_reduce *reduce = step->stages[0]->detail;
    return reduce->inner && backend == PS_CPU ? (size_t)ps_reduce_state_bytes(&reduce->form) : 0;
}
