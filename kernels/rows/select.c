// SPDX-License-Identifier: Apache-2.0
// The stage select: the rows for which a condition holds, in their order. The condition is a hidden
// map; how many rows there are is known only at the end.
#include "kernels/rows/rows_stage.h"
#include "kernels/window/across.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "where",
     .kind = PS_TEXT,
     .required = true,
     .help = "the condition: an expression as in map that is true or false for each row"},
    {.key = "params", .kind = PS_PARAMS, .help = "numbers that the condition names"},
    {0},
};

static int select_phases(const struct ps_stage *stage, const struct ps_scope *scope,
                         struct ps_problems *problems)
{
    (void)scope;
    (void)problems;
    return ps_values_get(stage->options, "where")->given ? 2 : 0; // 0: reported as missing
}

// Phase 0 is a map with `where` as its expression.
static const struct ps_stage_type *select_phase_as(const struct ps_stage *stage, int phase,
                                                   struct ps_values *options_out,
                                                   struct ps_problems *problems)
{
    struct ps_error error = {0};
    if (phase != 0)
        return NULL;
    if (!ps_values_default(options_out, ps_stage_map.options, &error)) {
        ps_problem_add(problems, error.status, stage->place, "%s", error.text);
        return NULL;
    }
    const struct ps_value *where = ps_values_get(stage->options, "where");
    const struct ps_value *params = ps_values_get(stage->options, "params");
    struct ps_value *expr = (struct ps_value *)ps_values_get(options_out, "expr");
    struct ps_value *own = (struct ps_value *)ps_values_get(options_out, "params");
    ps_value_from_scalar(expr, where->text, true, where->place, problems);
    if (params->given)
        ps_value_begin_list(own, params->place);
    for (int i = 0; i < params->count; i++) {
        char number[32];
        if (params->quoted[i]) // not a whole number
            snprintf(number, sizeof number, "%.17g", params->numbers[i]);
        else
            snprintf(number, sizeof number, "%lld", (long long)params->integers[i]);
        ps_value_add_param(own, params->words[i], params->place, number, params->place, problems);
    }
    return &ps_stage_map;
}

static bool check_condition(const struct ps_stage *stage, const struct ps_port *in,
                            const struct ps_port *where, struct ps_problems *problems)
{
    char text[PS_ARRAY_TEXT];
    const struct ps_value *value = ps_values_get(stage->options, "where");
    if (where->streamed && where->array.rank == 1 && where->array.dtype == PS_BOOL)
        return true;
    ps_problem_add(problems, PS_USAGE, value->place,
                   where->array.dtype != PS_BOOL
                       ? "where: the condition gives %s; write a comparison, such as %s.NAME > 0"
                   : where->streamed
                       ? "where: the condition gives %s, but a row is chosen by one truth: name a "
                         "column, as in %s.NAME > 0"
                       : "where: the condition gives %s and does not depend on the row of '%s'",
                   ps_array_text(&where->array, text), in->name);
    return false;
}

static bool select_plan(struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    int position = in != NULL ? ps_stage_use_phase(stage, 0, problems) : -1;
    if (position < 0)
        return false;
    const struct ps_port *where = ps_stage_input(stage, scope, position);
    if (!in->streamed) {
        ps_problem_add(
            problems, PS_USAGE, stage->place,
            "select: '%s' is whole, and how many of its rows are chosen would have to be "
            "known before; leave out `load: whole`",
            in->name);
        return false;
    }
    struct ps_program *program = stage->detail = calloc(1, sizeof *program);
    if (program == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return false;
    }
    if (!check_condition(stage, in, where, problems))
        return false;
    program->where = position;
    ps_pick_words(&in->array, &program->job);
    stage->rows.ordered = stage->rows.chosen = true;
    if (!ps_across_output(stage, in, in->array.dtype, 0, NULL, problems))
        return false;
    stage->output.dims[0] = PS_ROWS_UNKNOWN;
    return true;
}

static bool run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    struct ps_pick_job job;
    const unsigned char *where = launch->inputs[program->where];
    int64_t made = 0;
    (void)error;
    ps_pick_job_of(program, launch, &job);
    size_t bytes = (size_t)job.row_words * (size_t)job.word_bytes;
    for (int64_t row = 0; row < launch->in_rows; row++)
        if (where[row])
            memcpy((char *)job.out + (size_t)made++ * bytes,
                   (const char *)job.in + (size_t)row * bytes, bytes);
    *launch->rows_out = made;
    return true;
}

static size_t select_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    (void)step;
    if (backend == PS_CPU)
        return 0;
    return ((size_t)rows + (size_t)rows / PS_SELECT_TILE + 2) * sizeof(int64_t);
}

const struct ps_stage_type ps_stage_select = {
    .name = "select",
    .help = "The rows for which a condition holds, in their order",
    .options = options,
    .phases = select_phases,
    .phase_as = select_phase_as,
    .plan = select_plan,
    .unplan = ps_rows_unplan,
    .compile = ps_rows_compile,
    .release = ps_rows_release,
    .run =
        {
            [PS_CPU] = run_cpu,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_select_run_cuda,
#endif
        },
    .scratch_bytes = select_scratch,
};
