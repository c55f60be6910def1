// SPDX-License-Identifier: Apache-2.0
// The stage fill: planning, and the cpu's loop over fill.h.
#include "kernels/shape/fill_stage.h"
#include "kernels/shape/shape.h"
#include "kernels/window/across.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array of floats; default: the stage before"},
    {.key = "with",
     .kind = PS_CHOICE,
     .required = true,
     .choices = "value|previous|next|linear",
     .help = "what a NaN becomes: `value`; the number before or after it along the axis; or what "
             "lies between both on a straight line. From row to row: cumulative of: last"},
    {.key = "value", .kind = PS_NUMBER, .help = "the number of `with: value`"},
    PS_SHAPE_AXIS_OPTION,
    {.key = "ends",
     .kind = PS_CHOICE,
     .fallback = "keep",
     .choices = "keep|nearest",
     .help = "NaN with no number before (or after) it, where one is needed: stay, or become the "
             "nearest number"},
    {.key = "longest",
     .kind = PS_INTEGER,
     .min = 1,
     .max = 1e15,
     .help = "gaps of more NaN than this stay as they are; any is filled if unset"},
    {0},
};

static bool check(const struct ps_stage *stage, const struct ps_port *in, struct ps_fill_job *job,
                  struct ps_problems *problems)
{
    const struct ps_value *with = ps_values_get(stage->options, "with");
    const struct ps_value *value = ps_values_get(stage->options, "value");
    const struct ps_value *ends = ps_values_get(stage->options, "ends");
    if (!with->given)
        return false;
    if (!ps_dtype_is_float(in->array.dtype)) {
        ps_problem_add(problems, PS_USAGE,
                       ps_shape_place(stage, ps_values_get(stage->options, "in")),
                       "fill of '%s' (%s): only floats have NaN, so nothing is missing here",
                       in->name, ps_dtype_name(in->array.dtype));
        return false;
    }
    if (value->given != (with->choice == PS_FILL_VALUE)) {
        ps_problem_add(problems, PS_USAGE, value->given ? value->place : with->place,
                       value->given ? "value: has no meaning with `with: %s`; leave it out"
                                    : "with: %s needs `value`, the number to fill with",
                       with->text);
        return false;
    }
    if (ends->given && with->choice == PS_FILL_VALUE) {
        ps_problem_add(problems, PS_USAGE, ends->place,
                       "ends: has no meaning with `with: value`, which fills them too");
        return false;
    }
    if (value->given && !ps_across_raw(value->number, in->array.dtype, &job->filler)) {
        ps_problem_add(problems, PS_USAGE, value->place, "value: %g is beyond %s", value->number,
                       ps_dtype_name(in->array.dtype));
        return false;
    }
    job->method = with->choice;
    job->nearest = ends->choice == 1;
    job->longest = ps_values_get(stage->options, "longest")->integer;
    if (in->array.dtype == PS_F16 && job->method == PS_FILL_LINEAR) {
        ps_problem_add(problems, PS_USAGE, with->place,
                       "with: linear of f16 ('%s') is not there; make it f32 by a map of `dtype: "
                       "f32`",
                       in->name);
        return false;
    }
    return true;
}

static bool fill_plan(struct ps_stage *stage, const struct ps_scope *scope,
                      struct ps_problems *problems)
{
    const struct ps_port *in = ps_shape_input(stage, scope, 1, problems);
    int axis = in != NULL ? ps_shape_axis_option(stage, in, in->array.rank, problems) : -1;
    if (axis < 0)
        return false;
    struct ps_program *program = stage->detail = calloc(1, sizeof *program);
    if (program == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return false;
    }
    if (!check(stage, in, &program->job, problems))
        return false;
    program->whole = !in->streamed;
    program->job.lines = ps_shape_lines(in, axis);
    program->job.dtype = (int)in->array.dtype;
    ps_shape_output(stage, in, in->array.dtype);
    stage->elementwise = true;
    return ps_shape_columns(stage, &in->array, NULL, problems);
}

static void fill_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

static bool fill_compile(const struct ps_step *step, struct ps_device *device,
                         struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = malloc(sizeof *program);
    (void)device;
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "fill");
    *program = *(const struct ps_program *)step->stages[0]->detail;
    *program_out = program;
    return true;
}

static void fill_release(struct ps_program *program)
{
    free(program);
}

void ps_fill_job_of(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_fill_job *job)
{
    *job = program->job;
    job->count = job->lines.per_row * (program->whole ? 1 : launch->rows);
    job->in = launch->inputs[0];
    job->out = launch->outputs[0];
}

static bool run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    struct ps_fill_job job;
    (void)error;
    ps_fill_job_of(program, launch, &job);
    for (int64_t line = 0; line < job.count; line++)
        ps_fill_line(&job, line);
    return true;
}

#if PS_HAVE_CUDA
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = run_cpu, [PS_CUDA] = ps_fill_run_cuda                                           \
    }
#else
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = run_cpu                                                                         \
    }
#endif

const struct ps_stage_type ps_stage_fill = {
    .name = "fill",
    .help = "Puts numbers where NaN are, along an axis of each row",
    .options = options,
    .plan = fill_plan,
    .unplan = fill_unplan,
    .compile = fill_compile,
    .release = fill_release,
    .run = RUN,
};
