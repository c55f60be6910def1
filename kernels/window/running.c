// SPDX-License-Identifier: Apache-2.0
// The stage cumulative: planning, and the cpu's loop over running.h.
#include "kernels/window/across.h"
#include "kernels/window/running_stage.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "of",
     .kind = PS_CHOICE,
     .choices = "sum|prod|min|max|count|last",
     .required = true,
     .help =
         "what to compute of all rows so far; count: of values that are not NaN; last: the last "
         "of those, which fills gaps forward"},
    {.key = "nan",
     .kind = PS_CHOICE,
     .fallback = "propagate",
     .choices = "propagate|skip",
     .help = "after a NaN all results are NaN, or it is passed over"},
    {0},
};

static bool cumulative_plan(struct ps_stage *stage, const struct ps_scope *scope,
                            struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    const struct ps_value *of = ps_values_get(stage->options, "of");
    if (in == NULL || !of->given)
        return false;
    struct ps_program *program = stage->detail = calloc(1, sizeof *program);
    if (program == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return false;
    }
    enum ps_dtype dtype = in->array.dtype, out = dtype;
    if (of->choice == PS_RUNNING_COUNT)
        out = PS_I64;
    else if (of->choice == PS_RUNNING_SUM || of->choice == PS_RUNNING_PROD)
        out = ps_dtype_is_float(dtype)                        ? PS_F64
              : ps_dtype_info(dtype)->kind == PS_CLASS_SIGNED ? PS_I64
                                                              : PS_U64;
    program->input = in->name;
    program->job =
        (struct ps_running_job){.kind = of->choice,
                                .dtype = (int)dtype,
                                .skips_nan = ps_values_get(stage->options, "nan")->choice == 1,
                                .columns = ps_array_row_elements(&in->array)};
    stage->rows.ordered = true;
    return ps_across_output(stage, in, out, 0, NULL, problems);
}

static void cumulative_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

static size_t cumulative_carry(const struct ps_step *step)
{
    const struct ps_program *program = step->stages[0]->detail;
    return (size_t)program->job.columns * sizeof(struct ps_carry);
}

static bool cumulative_compile(const struct ps_step *step, struct ps_device *device,
                               struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = malloc(sizeof *program);
    (void)device;
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "a running result");
    *program = *(const struct ps_program *)step->stages[0]->detail;
    *program_out = program;
    return true;
}

static void cumulative_release(struct ps_program *program)
{
    free(program);
}

void ps_running_job_of(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_running_job *job)
{
    *job = program->job;
    job->rows = launch->rows;
    job->in = launch->inputs[0];
    job->out = launch->outputs[0];
    job->carry = launch->state;
}

static bool run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    struct ps_running_job job;
    ps_running_job_of(program, launch, &job);
    for (int64_t row = 0; row < job.rows; row++)
        for (int64_t column = 0; column < job.columns; column++)
            if (!ps_running_step(&job, &job.carry[column], row, column))
                return ps_fail(error, PS_INPUT,
                               "the cumulative %s of '%s' is beyond 64 bits at row %lld; make it "
                               "f64 by a map stage",
                               job.kind == PS_RUNNING_SUM ? "sum" : "product", program->input,
                               (long long)(launch->first_row + row));
    return true;
}

const struct ps_stage_type ps_stage_cumulative = {
    .name = "cumulative",
    .help = "sum, product, smallest, largest or count of all rows so far; sums of floats carry "
            "their rounding error along, so they stay right however many rows there are",
    .options = options,
    .plan = cumulative_plan,
    .unplan = cumulative_unplan,
    .compile = cumulative_compile,
    .release = cumulative_release,
    .run =
        {
            [PS_CPU] = run_cpu,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_running_run_cuda,
#endif
        },
    .carry_bytes = cumulative_carry,
};
