// SPDX-License-Identifier: Apache-2.0
// The stages lag, difference and convolve: planning, and the cpu's loop over shift.h.
#include "kernels/window/across.h"
#include "kernels/window/shift_stage.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option lag_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "by",
     .kind = PS_INTEGER,
     .fallback = "1",
     .min = -1e9,
     .max = 1e9,
     .help = "rows back; negative: rows ahead"},
    PS_ACROSS_EDGES_OPTIONS("fill|drop", "fill"),
    {0},
};

static const struct ps_option difference_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "by",
     .kind = PS_INTEGER,
     .fallback = "1",
     .min = 1,
     .max = 1e9,
     .help = "each row minus the one this many rows before"},
    PS_ACROSS_EDGES_OPTIONS("fill|drop", "fill"),
    {0},
};

static const struct ps_option convolve_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "with",
     .kind = PS_WORDS,
     .required = true,
     .help = "the filter's taps: up to 256 numbers, or the name of a whole array of one axis"},
    {.key = "align",
     .kind = PS_CHOICE,
     .fallback = "trailing",
     .choices = "trailing|centered|leading",
     .help = "tap 0 falls on the row itself (a causal filter), the middle tap does (of an even "
             "number the later one), or the last tap does"},
    PS_ACROSS_EDGES_OPTIONS("fill|zero|drop", "fill"),
    {0},
};

static struct ps_program *begin(struct ps_stage *stage, const struct ps_port *in, int kind,
                                struct ps_problems *problems)
{
    struct ps_program *program = stage->detail = calloc(1, sizeof *program);
    if (program == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return NULL;
    }
    program->taps_input = -1;
    program->input = in->name;
    program->job = (struct ps_shift_job){.kind = kind,
                                         .dtype = (int)in->array.dtype,
                                         .out_dtype = (int)in->array.dtype,
                                         .columns = ps_array_row_elements(&in->array)};
    return program;
}

static bool finish(struct ps_stage *stage, const struct ps_port *in, struct ps_program *program,
                   struct ps_problems *problems)
{
    struct ps_across_edges edges;
    enum ps_dtype dtype = (enum ps_dtype)program->job.out_dtype;
    if (!ps_across_edges(stage, in, dtype, &edges, problems))
        return false;
    program->job.fill = edges.fill;
    program->job.filler = edges.filler;
    program->job.start = stage->rows.start;
    return ps_across_output(stage, in, dtype, 0, NULL, problems);
}

static bool lag_plan(struct ps_stage *stage, const struct ps_scope *scope,
                     struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    struct ps_program *program = in ? begin(stage, in, PS_SHIFT_LAG, problems) : NULL;
    if (program == NULL)
        return false;
    int64_t by = program->job.by = ps_values_get(stage->options, "by")->integer;
    stage->rows.before = by > 0 ? by : 0;
    stage->rows.after = by < 0 ? -by : 0;
    return finish(stage, in, program, problems);
}

static bool difference_plan(struct ps_stage *stage, const struct ps_scope *scope,
                            struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    struct ps_program *program = in ? begin(stage, in, PS_SHIFT_DIFFERENCE, problems) : NULL;
    if (program == NULL)
        return false;
    enum ps_dtype dtype = in->array.dtype;
    stage->rows.before = program->job.by = ps_values_get(stage->options, "by")->integer;
    program->job.out_dtype = !ps_dtype_is_float(dtype) ? PS_I64 : dtype == PS_F64 ? PS_F64 : PS_F32;
    return finish(stage, in, program, problems);
}

// ---- Taps ----

static bool taps_of_array(struct ps_stage *stage, const struct ps_scope *scope,
                          const struct ps_value *with, struct ps_program *program,
                          struct ps_problems *problems)
{
    int position = ps_stage_use(stage, scope, with->words[0], with->place, problems);
    if (position < 0)
        return false;
    const struct ps_port *taps = ps_stage_input(stage, scope, position);
    char text[PS_ARRAY_TEXT];
    if (taps->streamed || taps->array.rank != 1 || taps->array.dims[0] < 1 || position == 0) {
        ps_problem_add(problems, PS_USAGE, with->place,
                       "with: the taps are a whole array of one axis, but '%s' is %s%s", taps->name,
                       taps->streamed ? "streamed: " : "", ps_array_text(&taps->array, text));
        return false;
    }
    program->taps_input = position;
    program->job.tap_dtype = (int)taps->array.dtype;
    program->job.tap_count = taps->array.dims[0];
    return true;
}

static bool taps_of_list(const struct ps_value *with, struct ps_program *program,
                         struct ps_problems *problems)
{
    struct ps_place place = with->place;
    if (with->count < 1 || with->count > PS_SHIFT_TAPS_MAX) {
        ps_problem_add(problems, PS_USAGE, place,
                       "with: %d taps; write 1 to %d of them here, or put them in a file and give "
                       "its name as a `load: whole` input",
                       with->count, PS_SHIFT_TAPS_MAX);
        return false;
    }
    program->job.tap_count = with->count;
    for (int i = 0; i < with->count; i++) {
        if (!with->quoted[i] && ps_number_parse(with->words[i], &program->job.own_taps[i]))
            continue;
        ps_problem_add(problems, PS_USAGE, with->places != NULL ? with->places[i] : place,
                       "with: '%s' is not a number", with->words[i]);
        return false;
    }
    return true;
}

static bool convolve_plan(struct ps_stage *stage, const struct ps_scope *scope,
                          struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    struct ps_program *program = in ? begin(stage, in, PS_SHIFT_CONVOLVE, problems) : NULL;
    const struct ps_value *with = ps_values_get(stage->options, "with");
    double number;
    if (program == NULL || !with->given)
        return false;
    bool by_name = !with->listed && with->count == 1 &&
                   (with->quoted[0] || !ps_number_parse(with->words[0], &number));
    if (by_name ? !taps_of_array(stage, scope, with, program, problems)
                : !taps_of_list(with, program, problems))
        return false;
    int64_t others = program->job.tap_count - 1;
    int align = ps_values_get(stage->options, "align")->choice;
    program->job.after = align == 0 ? 0 : align == 1 ? others / 2 : others;
    stage->rows.after = program->job.after;
    stage->rows.before = others - program->job.after;
    program->job.out_dtype =
        in->array.dtype == PS_F32 || in->array.dtype == PS_F16 ? PS_F32 : PS_F64;
    return finish(stage, in, program, problems);
}

static void shift_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

// ---- Running ----

static bool shift_compile(const struct ps_step *step, struct ps_device *device,
                          struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = malloc(sizeof *program);
    (void)device;
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "a stage across rows");
    *program = *(const struct ps_program *)step->stages[0]->detail;
    *program_out = program;
    return true;
}

static void shift_release(struct ps_program *program)
{
    free(program);
}

void ps_shift_job_of(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_shift_job *job)
{
    *job = program->job;
    job->first_row = launch->first_row;
    job->rows = launch->rows;
    job->in_first = launch->in_first;
    job->in_end = launch->in_first + launch->in_rows;
    job->in = launch->inputs[0];
    job->out = launch->outputs[0];
    job->taps = program->taps_input >= 0 ? launch->inputs[program->taps_input] : NULL;
}

bool ps_shift_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error)
{
    struct ps_shift_job job;
    ps_shift_job_of(program, launch, &job);
    for (int64_t row = 0; row < job.rows; row++)
        for (int64_t column = 0; column < job.columns; column++)
            if (!ps_shift_result(&job, row, column))
                return ps_fail(error, PS_INPUT,
                               "the difference at row %lld of '%s' is beyond 64 bits; make it f64 "
                               "by a map stage",
                               (long long)(job.first_row + row), program->input);
    return true;
}

#if PS_HAVE_CUDA
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = ps_shift_run_cpu, [PS_CUDA] = ps_shift_run_cuda                                 \
    }
#else
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = ps_shift_run_cpu                                                                \
    }
#endif

const struct ps_stage_type ps_stage_lag = {
    .name = "lag",
    .help = "Each row becomes the one `by` rows before it",
    .options = lag_options,
    .plan = lag_plan,
    .unplan = shift_unplan,
    .compile = shift_compile,
    .release = shift_release,
    .run = RUN,
};

const struct ps_stage_type ps_stage_difference = {
    .name = "difference",
    .help = "Each row minus the one `by` rows before it; of integers in i64, exactly",
    .options = difference_options,
    .plan = difference_plan,
    .unplan = shift_unplan,
    .compile = shift_compile,
    .release = shift_release,
    .run = RUN,
};

const struct ps_stage_type ps_stage_convolve = {
    .name = "convolve",
    .help =
        "Filters along the rows with given taps (FIR): the sum of tap j times the row j before, "
        "in f64",
    .options = convolve_options,
    .plan = convolve_plan,
    .unplan = shift_unplan,
    .compile = shift_compile,
    .release = shift_release,
    .run = RUN,
};
