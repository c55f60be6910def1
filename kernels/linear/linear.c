// SPDX-License-Identifier: Apache-2.0
// Planning, states and programs of the stages that keep second moments.
#include "kernels/linear/linear.h"

#include "kernels/linear/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ps_linear *ps_linear_begin(struct ps_stage *stage, struct ps_problems *problems)
{
    struct ps_linear *linear = stage->detail = calloc(1, sizeof *linear);
    if (linear == NULL)
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
    return linear;
}

const struct ps_port *ps_linear_source(struct ps_stage *stage, const struct ps_scope *scope,
                                       const char *key, struct ps_problems *problems)
{
    struct ps_linear *linear = stage->detail;
    const struct ps_value *value = ps_values_get(stage->options, key);
    struct ps_place place = value->place.line > 0 ? value->place : stage->place;
    char text[PS_ARRAY_TEXT];
    int position = strcmp(key, "in") == 0
                       ? ps_stage_use_in(stage, scope, problems)
                       : ps_stage_use(stage, scope, value->text, place, problems);
    if (position < 0)
        return NULL;
    const struct ps_port *port = ps_stage_input(stage, scope, position);
    if (port->array.rank == 0 || ps_array_row_elements(&port->array) == 0) {
        ps_problem_add(problems, PS_USAGE, place,
                       "%s: '%s' is %s, expected rows of at least one number", stage->type->name,
                       port->name, ps_array_text(&port->array, text));
        return NULL;
    }
    int s = linear->moments.source_count++;
    linear->positions[s] = position;
    linear->moments.dtypes[s] = (int)port->array.dtype;
    linear->moments.columns[s] = ps_array_row_elements(&port->array);
    return port;
}

// Accumulators for products of the dtype, and slices that hold a column whose magnitudes (above 0)
// are within 2^19, 2^42 and 2^57 of f16, f32 and f64.
static void size_accumulators(struct ps_moments *moments, enum ps_dtype dtype)
{
    bool wide = dtype == PS_I64 || dtype == PS_U64, middle = dtype == PS_I32 || dtype == PS_U32;
    moments->low = dtype == PS_F64 ? -2148 : dtype == PS_F32 ? -298 : dtype == PS_F16 ? -48 : 0;
    moments->limbs = dtype == PS_F64 ? 136 : dtype == PS_F32 ? 21 : 7;
    moments->slices = dtype == PS_F64             ? 5
                      : dtype == PS_F32 || wide   ? 3
                      : dtype == PS_F16 || middle ? 2
                                                  : 1;
}

bool ps_linear_output(struct ps_stage *stage, const struct ps_scope *scope, int rank,
                      const int64_t *dims, struct ps_problems *problems)
{
    struct ps_linear *linear = stage->detail;
    struct ps_moments *m = &linear->moments;
    const struct ps_port *first = ps_stage_input(stage, scope, linear->positions[0]);
    enum ps_dtype dtype = first->array.dtype;
    char a[PS_ARRAY_TEXT], b[PS_ARRAY_TEXT];
    for (int s = 0; s < m->source_count; s++) {
        const struct ps_port *port = ps_stage_input(stage, scope, linear->positions[s]);
        dtype = ps_dtype_promote(dtype, port->array.dtype);
        linear->columns += m->columns[s];
        int64_t rows = port->array.dims[0], others = first->array.dims[0];
        bool unlike = port->streamed != first->streamed ||
                      (rows != others && rows != PS_ROWS_UNKNOWN && others != PS_ROWS_UNKNOWN);
        if (unlike) {
            ps_problem_add(problems, PS_USAGE, stage->place,
                           "%s: '%s' is %s%s, but '%s' is %s%s; each row of one belongs to a row "
                           "of the other: both must come row by row, or both be whole",
                           stage->type->name, first->name, ps_array_text(&first->array, a),
                           first->streamed ? "" : ", whole", port->name,
                           ps_array_text(&port->array, b), port->streamed ? "" : ", whole");
            return false;
        }
    }
    if (linear->columns > 1 << 24) {
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "%s: %lld columns have more pairs than can be kept; choose columns first",
                       stage->type->name, (long long)linear->columns);
        return false;
    }
    size_accumulators(m, dtype);
    m->width = linear->columns + 1;
    m->pairs = m->width * (m->width + 1) / 2;
    stage->reduces_rows = true;
    stage->whole_rows = ps_array_rows(&first->array);
    ps_array_init(&stage->output, PS_F64, rank, dims);
    return true;
}

bool ps_linear_name_columns(struct ps_stage *stage, const struct ps_port *port, const char *extra,
                            struct ps_problems *problems)
{
    int count = port->array.column_count;
    struct ps_error error = {0};
    if (count == 0 || port->array.rank != 2)
        return true;
    const char **names = calloc((size_t)count + 1, sizeof *names);
    bool fine = names != NULL || ps_fail_memory(&error, sizeof *names, "column names");
    for (int i = 0; fine && i < count; i++) {
        names[i] = port->array.columns[i];
        if (extra != NULL && strcmp(names[i], extra) == 0) { // names are unique
            free(names);
            return true;
        }
    }
    if (fine) {
        names[count] = extra;
        fine = ps_array_set_columns(&stage->output, count + (extra != NULL), names, &error);
    }
    free(names);
    if (!fine)
        ps_problem_add(problems, error.status, stage->place, "%s", error.text);
    return fine;
}

char *ps_linear_column_text(const struct ps_step *step, const struct ps_linear *linear,
                            int64_t column, char *out, size_t size)
{
    int s = 0;
    char shown[160], name[160];
    while (column >= linear->moments.columns[s] && s + 1 < linear->moments.source_count)
        column -= linear->moments.columns[s++];
    const struct ps_port *port = &step->ports[step->stages[0]->inputs[linear->positions[s]]];
    ps_escape(port->name, strlen(port->name), name, sizeof name);
    if (port->array.column_count > 0 && port->array.rank == 2) {
        const char *own = port->array.columns[column];
        snprintf(out, size, "column '%s' of '%s'", ps_escape(own, strlen(own), shown, sizeof shown),
                 name);
    } else {
        snprintf(out, size, "element %lld of the row of '%s'", (long long)column, name);
    }
    return out;
}

void ps_linear_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

void ps_linear_release(struct ps_program *program)
{
#if PS_HAVE_CUDA
    if (program->cuda != NULL)
        ps_linear_cuda_release(program);
#endif
    free(program);
}

bool ps_linear_compile(const struct ps_step *step, struct ps_device *device,
                       struct ps_program **program_out, struct ps_error *error)
{
    const struct ps_stage *stage = step->stages[0];
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "sums of products");
    program->linear = *(const struct ps_linear *)stage->detail;
    program->table = ps_slice_table();
    program->device = device;
    for (int s = 0; s < program->linear.moments.source_count; s++)
        program->inputs[s] =
            ps_step_input(step, step->ports[stage->inputs[program->linear.positions[s]]].name);
    if (program->linear.projects)
        program->fit = ps_step_input(step, step->ports[stage->inputs[program->linear.fit]].name);
#if PS_HAVE_CUDA
    if (device->backend->id == PS_CUDA && !ps_linear_cuda_compile(program, error)) {
        ps_linear_release(program);
        return false;
    }
#endif
    *program_out = program;
    return true;
}

size_t ps_linear_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    const struct ps_linear *linear = step->stages[0]->detail;
    (void)rows;
#if PS_HAVE_CUDA
    if (backend == PS_CUDA)
        return ps_linear_cuda_scratch(linear);
#endif
    (void)backend;
    return linear->projects ? ps_project_cpu_scratch(linear)
                            : ps_moments_cpu_scratch(&linear->moments);
}

// ---- The state ----

static size_t state_bytes(const struct ps_step *step)
{
    const struct ps_linear *linear = step->stages[0]->detail;
    return (size_t)ps_moments_state_bytes(&linear->moments);
}

void ps_moments_carry(const struct ps_moments *moments, void *state)
{
    for (int64_t pair = 0; pair < moments->pairs; pair++)
        ps_exact_carry(ps_moments_limbs(moments, state, pair), 1, moments->limbs);
    ((struct ps_moments_head *)state)->pending = 0;
}

// Limbs of at most 2^61 each: their sum fits, and the carries make them small again.
static void merge(const struct ps_step *step, void *into, const void *from)
{
    const struct ps_moments *m = &((const struct ps_linear *)step->stages[0]->detail)->moments;
    struct ps_moments_head *head = into;
    const struct ps_moments_head *other = from;
    int64_t *to = ps_moments_flags(into);
    const int64_t *more = ps_moments_flags((void *)from); // only read
    for (int64_t i = 0; i < m->pairs; i++)
        to[i] |= more[i];
    for (int64_t i = m->pairs; i < m->pairs * (1 + m->limbs); i++)
        to[i] += more[i];
    head->rows += other->rows;
    head->pending += other->pending;
    if (head->pending > PS_EXACT_ADDS_MAX / 2)
        ps_moments_carry(m, into);
}

static bool finish(const struct ps_step *step, const void *state, void *output,
                   struct ps_error *error)
{
    const struct ps_linear *linear = step->stages[0]->detail;
    return linear->finish(step, linear, (void *)state, output, error); // only read
}

const struct ps_stage_reduction ps_linear_reduction = {
    .state_bytes = state_bytes,
    .merge = merge,
    .finish = finish,
};
