// SPDX-License-Identifier: Apache-2.0
// The stages rows (some rows by their number) and repeat (each row several times).
#include "kernels/rows/rows_stage.h"
#include "kernels/window/across.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option rows_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "from",
     .kind = PS_INTEGER,
     .fallback = "0",
     .help = "the first row; negative: counted from the end"},
    {.key = "to",
     .kind = PS_INTEGER,
     .help = "the row after the last one; negative: counted from the end; to the end if unset"},
    {.key = "step",
     .kind = PS_INTEGER,
     .fallback = "1",
     .min = 1,
     .max = 1e15,
     .help = "every so many rows"},
    {0},
};

static const struct ps_option repeat_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "times",
     .kind = PS_INTEGER,
     .required = true,
     .min = 1,
     .max = 1e6,
     .help = "how often each row comes, one after the other"},
    {0},
};

void ps_pick_words(const struct ps_array *array, struct ps_pick_job *job)
{
    job->word_bytes = (int)ps_dtype_bytes(array->dtype);
    job->row_words = ps_array_row_elements(array);
}

static bool finish(struct ps_stage *stage, const struct ps_port *in, struct ps_problems *problems)
{
    struct ps_program *program = stage->detail = calloc(1, sizeof *program);
    if (program == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return false;
    }
    ps_pick_words(&in->array, &program->job);
    program->job.start = stage->rows.start;
    program->job.step = stage->rows.step;
    program->job.times = stage->rows.times;
    return ps_across_output(stage, in, in->array.dtype, 0, NULL, problems);
}

// A row number of the config; one from the end needs to know where that is.
static bool absolute(const struct ps_port *in, const struct ps_value *value, int64_t *row_out,
                     struct ps_problems *problems)
{
    int64_t rows = in->array.dims[0];
    *row_out = value->integer;
    if (value->integer >= 0)
        return true;
    if (rows < 0) {
        ps_problem_add(problems, PS_USAGE, value->place,
                       "%s: %lld counts from the end, but how many rows '%s' has is not known "
                       "before",
                       value->option->key, (long long)value->integer, in->name);
        return false;
    }
    *row_out = rows + value->integer > 0 ? rows + value->integer : 0;
    return true;
}

static bool rows_plan(struct ps_stage *stage, const struct ps_scope *scope,
                      struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    const struct ps_value *to = ps_values_get(stage->options, "to");
    if (in == NULL ||
        !absolute(in, ps_values_get(stage->options, "from"), &stage->rows.start, problems))
        return false;
    if (to->given && !absolute(in, to, &stage->rows.stop, problems))
        return false;
    stage->rows.step = ps_values_get(stage->options, "step")->integer;
    if (to->given && to->integer >= 0 && stage->rows.start > stage->rows.stop) {
        ps_problem_add(problems, PS_USAGE, to->place, "to: %lld is before from: %lld",
                       (long long)stage->rows.stop, (long long)stage->rows.start);
        return false;
    }
    return finish(stage, in, problems);
}

static bool repeat_plan(struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    stage->rows.times = ps_values_get(stage->options, "times")->integer;
    return in != NULL && finish(stage, in, problems);
}

void ps_rows_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

bool ps_rows_compile(const struct ps_step *step, struct ps_device *device,
                     struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = malloc(sizeof *program);
    (void)device;
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "rows");
    *program = *(const struct ps_program *)step->stages[0]->detail;
    *program_out = program;
    return true;
}

void ps_rows_release(struct ps_program *program)
{
    free(program);
}

void ps_pick_job_of(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_pick_job *job)
{
    *job = program->job;
    job->first_row = launch->first_row;
    job->rows = launch->rows;
    job->in_first = launch->in_first;
    job->in = launch->inputs[program->in];
    job->out = launch->outputs[0];
}

static bool run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    struct ps_pick_job job;
    (void)error;
    ps_pick_job_of(program, launch, &job);
    size_t bytes = (size_t)job.row_words * (size_t)job.word_bytes;
    for (int64_t row = 0; row < job.rows; row++)
        memcpy((char *)job.out + (size_t)row * bytes,
               (const char *)job.in + (size_t)ps_pick_row(&job, row) * bytes, bytes);
    return true;
}

#if PS_HAVE_CUDA
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = run_cpu, [PS_CUDA] = ps_pick_run_cuda                                           \
    }
#else
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = run_cpu                                                                         \
    }
#endif

const struct ps_stage_type ps_stage_rows = {
    .name = "rows",
    .help = "Some of the rows, by their numbers",
    .options = rows_options,
    .plan = rows_plan,
    .unplan = ps_rows_unplan,
    .compile = ps_rows_compile,
    .release = ps_rows_release,
    .run = RUN,
};

const struct ps_stage_type ps_stage_repeat = {
    .name = "repeat",
    .help = "Each row several times",
    .options = repeat_options,
    .plan = repeat_plan,
    .unplan = ps_rows_unplan,
    .compile = ps_rows_compile,
    .release = ps_rows_release,
    .run = RUN,
};
