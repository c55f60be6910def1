// SPDX-License-Identifier: Apache-2.0
// The arrays of a kernel stage: what it reads, and the shape of what it makes.
#include "kernels/kernel/kernel.h"

static bool fault(struct ps_problems *problems, struct ps_place place, const char *text)
{
    ps_problem_add(problems, PS_USAGE, place, "%s", text);
    return false;
}

static bool use_names(struct ps_stage *stage, const struct ps_scope *scope,
                      struct ps_problems *problems)
{
    const struct ps_value *in = ps_values_get(stage->options, "in");
    for (int i = 0; i < in->count; i++) {
        int position = ps_stage_use(stage, scope, in->words[i], in->places[i], problems);
        if (position < 0)
            return false;
        if (position == i)
            continue;
        ps_problem_add(problems, PS_USAGE, in->places[i], "in: '%s' is listed twice", in->words[i]);
        return false;
    }
    return true;
}

bool ps_kernel_use_inputs(struct ps_stage *stage, const struct ps_scope *scope,
                          struct ps_kernel *kernel, struct ps_problems *problems)
{
    if (ps_values_get(stage->options, "in")->given) {
        if (!use_names(stage, scope, problems))
            return false;
    } else if (scope->previous < 0) {
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "stage '%s' needs `in`: there is no stage before it, and not exactly one "
                       "input",
                       stage->name);
        return false;
    } else if (ps_stage_use(stage, scope, scope->ports[scope->previous].name, stage->place,
                            problems) < 0) {
        return false;
    }
    for (int i = 0; i < stage->input_count; i++) {
        const struct ps_port *port = ps_stage_input(stage, scope, i);
        struct ps_kernel_input *input = &kernel->inputs[kernel->input_count++];
        *input = (struct ps_kernel_input){ps_strdup(port->name), port->array.dtype,
                                          ps_array_row_elements(&port->array),
                                          port->streamed ? -1 : ps_array_rows(&port->array)};
        if (input->name == NULL)
            return fault(problems, stage->place, "out of memory");
    }
    return stage->input_count > 0;
}

// The first streamed input, else the first: rows, and what is not said, come from it.
static int leading_input(const struct ps_stage *stage, const struct ps_scope *scope)
{
    for (int i = 0; i < stage->input_count; i++)
        if (ps_stage_input(stage, scope, i)->streamed)
            return i;
    return 0;
}

// Keeps the columns where the shape is the leading input's.
static bool output_like(struct ps_stage *stage, const struct ps_port *lead, enum ps_dtype dtype,
                        struct ps_problems *problems)
{
    struct ps_error error = {0};
    if (!ps_array_copy(&stage->output, &lead->array, &error))
        return fault(problems, stage->place, error.text);
    stage->output.dtype = dtype;
    return true;
}

static bool output_of_shape(struct ps_stage *stage, const struct ps_port *lead, enum ps_dtype dtype,
                            const struct ps_value *shape, struct ps_problems *problems)
{
    int64_t dims[PS_RANK_MAX] = {0};
    int rank = shape->count + lead->streamed;
    if (rank > PS_RANK_MAX) {
        ps_problem_add(problems, PS_USAGE, shape->place, "shape: at most %d axes, rows included",
                       PS_RANK_MAX);
        return false;
    }
    dims[0] = lead->streamed ? lead->array.dims[0] : 0;
    for (int i = 0; i < shape->count; i++) {
        if (shape->integers[i] < 0)
            return fault(problems, shape->place, "shape: sizes cannot be negative here");
        dims[i + lead->streamed] = shape->integers[i];
    }
    ps_array_init(&stage->output, dtype, rank, dims);
    return true;
}

bool ps_kernel_make_output(struct ps_stage *stage, const struct ps_scope *scope,
                           struct ps_kernel *kernel, struct ps_problems *problems)
{
    const struct ps_value *shape = ps_values_get(stage->options, "shape");
    const struct ps_value *dtype = ps_values_get(stage->options, "dtype");
    struct ps_error error = {0};
    int position = leading_input(stage, scope);
    const struct ps_port *lead = ps_stage_input(stage, scope, position);
    kernel->out_dtype = dtype->given ? dtype->dtype : lead->array.dtype;
    stage->streamed = lead->streamed;
    if (!(shape->given ? output_of_shape(stage, lead, kernel->out_dtype, shape, problems)
                       : output_like(stage, lead, kernel->out_dtype, problems)))
        return false;
    int kept = shape->given ? lead->streamed : stage->output.rank;
    for (int i = 0; i < kept; i++)
        stage->axes[i] = (struct ps_axis_source){stage->inputs[position], i};
    if (!ps_array_check(&stage->output, stage->name, &error)) {
        ps_problem_add(problems, PS_USAGE, shape->given ? shape->place : stage->place, "shape: %s",
                       error.text);
        return false;
    }
    stage->whole_rows = stage->streamed ? 0 : ps_array_rows(&stage->output);
    kernel->out_row_elements = ps_array_row_elements(&stage->output);
    return true;
}
