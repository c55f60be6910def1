// SPDX-License-Identifier: Apache-2.0
// Stages small enough to be right by looking at them, of i64.
#ifndef PS_TESTS_TOY_STAGES_H
#define PS_TESTS_TOY_STAGES_H

#include "toy_formats.h"

// ---- Stages. scale: in * by, fused with its like; add: in + with; total: sums over rows ----

static const struct ps_option toy_stage_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "what it reads"},
    {.key = "with", .kind = PS_NAME, .help = "add: the other"},
    {.key = "by", .kind = PS_INTEGER, .fallback = "1", .help = "scale: the factor"},
    {.key = "fail_at", .kind = PS_INTEGER, .fallback = "-1", .help = "this row fails"},
    {.key = "stop_at", .kind = PS_INTEGER, .fallback = "-1", .help = "this row sets the stop flag"},
    {.key = "pause",
     .kind = PS_INTEGER,
     .fallback = "0",
     .help = "microseconds of every other block"},
    {.key = "before", .kind = PS_INTEGER, .fallback = "0", .help = "window: rows before"},
    {.key = "after", .kind = PS_INTEGER, .fallback = "0", .help = "window: rows after"},
    {.key = "start", .kind = PS_INTEGER, .fallback = "0", .help = "window: the first anchor"},
    {.key = "step", .kind = PS_INTEGER, .fallback = "1", .help = "window: from anchor to anchor"},
    {.key = "times", .kind = PS_INTEGER, .fallback = "1", .help = "window: rows of an anchor"},
    {.key = "partial", .kind = PS_TRUTH, .fallback = "false", .help = "window: one for the rest"},
    {.key = "scratch", .kind = PS_INTEGER, .fallback = "0", .help = "scratch bytes"},
    {.key = NULL},
};

static bool toy_plan(struct ps_stage *stage, const struct ps_scope *scope,
                     struct ps_problems *problems)
{
    if (ps_stage_use_in(stage, scope, problems) < 0)
        return false;
    const struct ps_port *in = ps_stage_input(stage, scope, 0);
    const struct ps_value *with = ps_values_get(stage->options, "with");
    if (with->given && ps_stage_use(stage, scope, with->text, with->place, problems) < 0)
        return false;
    stage->streamed = in->streamed;
    for (int i = 1; i < stage->input_count; i++)
        stage->streamed = stage->streamed || ps_stage_input(stage, scope, i)->streamed;
    ps_array_init(&stage->output, PS_I64, in->array.rank, in->array.dims);
    stage->whole_rows = stage->streamed ? 0 : ps_array_rows(&in->array);
    return true;
}

static bool toy_plan_total(struct ps_stage *stage, const struct ps_scope *scope,
                           struct ps_problems *problems)
{
    if (!toy_plan(stage, scope, problems))
        return false;
    const struct ps_port *in = ps_stage_input(stage, scope, 0);
    stage->whole_rows = in->streamed ? 0 : in->array.dims[0];
    stage->streamed = false;
    stage->reduces_rows = true;
    ps_array_init(&stage->output, PS_I64, 1, &in->array.dims[1]);
    return true;
}

static bool toy_joins(const struct ps_step *step, const struct ps_stage *stage)
{
    (void)step;
    (void)stage;
    return true;
}

static atomic_int toy_programs;
static atomic_int toy_working, toy_most; // stages that run at this moment; the most so far

static bool toy_compile(const struct ps_step *step, struct ps_device *device,
                        struct ps_program **program, struct ps_error *error)
{
    const struct ps_step **own = malloc(sizeof *own);
    (void)device;
    if (own == NULL)
        return ps_fail_memory(error, sizeof *own, "a program");
    *own = step;
    *program = (struct ps_program *)own;
    toy_programs++;
    return true;
}

static void toy_release(struct ps_program *program)
{
    free(program);
    toy_programs--;
}

static const struct ps_step *toy_step(const struct ps_program *program)
{
    return *(const struct ps_step *const *)program;
}

// Value of element e of port in the step: a result of an earlier stage, or an input.
static int64_t toy_value(const struct ps_step *step, const struct ps_launch *launch, int port,
                         int64_t e, const int64_t *results)
{
    for (int s = 0; s < step->stage_count; s++)
        if (step->stages[s]->port == port)
            return results[s];
    const struct ps_port *found = &step->ports[port];
    int64_t at = found->array.rank == 1 && !found->streamed ? e % found->array.dims[0] : e;
    return ((const int64_t *)launch->inputs[ps_step_input(step, found->name)])[at];
}

static bool toy_events(const struct ps_stage *stage, const struct ps_launch *launch,
                       struct ps_error *error)
{
    int64_t fail_at = toy_integer(stage->options, "fail_at");
    int64_t stop_at = toy_integer(stage->options, "stop_at");
    int64_t pause = toy_integer(stage->options, "pause"), end = launch->first_row + launch->rows;
    size_t scratch = (size_t)toy_integer(stage->options, "scratch");
    int now = atomic_fetch_add(&toy_working, 1) + 1;
    for (int most = toy_most; now > most;)
        if (atomic_compare_exchange_weak(&toy_most, &most, now))
            break;
    if (pause > 0 && launch->first_row % 2 == 0)
        toy_pause((unsigned)pause);
    atomic_fetch_sub(&toy_working, 1);
    if (scratch > 0)
        memset(launch->scratch, 1, scratch * (size_t)launch->rows);
    if (stop_at >= launch->first_row && stop_at < end)
        __atomic_store_n(&toy_stop, 1, __ATOMIC_RELAXED);
    if (fail_at >= launch->first_row && fail_at < end)
        return ps_fail(error, PS_DEVICE, "broken stage");
    return true;
}

static bool toy_run(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    const struct ps_step *step = toy_step(program);
    int64_t width = ps_array_row_elements(&step->stages[0]->output);
    for (int64_t e = 0; e < launch->rows * width; e++) {
        int64_t results[16] = {0};
        for (int s = 0; s < step->stage_count; s++) {
            const struct ps_stage *stage = step->stages[s];
            results[s] = toy_value(step, launch, stage->inputs[0], e, results) *
                         toy_integer(stage->options, "by");
            if (stage->input_count > 1)
                results[s] += toy_value(step, launch, stage->inputs[1], e, results);
            int output = ps_step_output(step, stage);
            if (output >= 0)
                ((int64_t *)launch->outputs[output])[e] = results[s];
        }
    }
    for (int s = 0; s < step->stage_count; s++)
        if (!toy_events(step->stages[s], launch, error))
            return false;
    return true;
}

static size_t toy_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    (void)backend;
    return (size_t)toy_integer(step->stages[0]->options, "scratch") * (size_t)rows;
}

static size_t toy_state_bytes(const struct ps_step *step)
{
    return (size_t)step->stages[0]->output.dims[0] * 8;
}

static bool toy_run_total(const struct ps_program *program, const struct ps_launch *launch,
                          struct ps_error *error)
{
    const struct ps_step *step = toy_step(program);
    int64_t width = step->stages[0]->output.dims[0], *state = launch->state;
    for (int64_t e = 0; e < launch->rows * width; e++)
        state[e % width] += ((const int64_t *)launch->inputs[0])[e];
    return toy_events(step->stages[0], launch, error);
}

static void toy_merge(const struct ps_step *step, void *into, const void *from)
{
    for (int64_t i = 0; i < step->stages[0]->output.dims[0]; i++)
        ((int64_t *)into)[i] += ((const int64_t *)from)[i];
}

static bool toy_finish_total(const struct ps_step *step, const void *state, void *output,
                             struct ps_error *error)
{
    (void)error;
    memcpy(output, state, toy_state_bytes(step));
    return true;
}

static const struct ps_stage_reduction toy_reduction = {toy_state_bytes, toy_merge,
                                                        toy_finish_total};
static struct ps_stage_type toy_scale = {.name = "scale",
                                         .help = "scale",
                                         .options = toy_stage_options,
                                         .plan = toy_plan,
                                         .joins = toy_joins,
                                         .compile = toy_compile,
                                         .release = toy_release,
                                         .run = {[PS_CPU] = toy_run},
                                         .scratch_bytes = toy_scratch};
static struct ps_stage_type toy_add = {.name = "add",
                                       .help = "add",
                                       .options = toy_stage_options,
                                       .plan = toy_plan,
                                       .compile = toy_compile,
                                       .release = toy_release,
                                       .run = {[PS_CPU] = toy_run}};
static struct ps_stage_type toy_total = {.name = "total",
                                         .help = "total",
                                         .options = toy_stage_options,
                                         .plan = toy_plan_total,
                                         .compile = toy_compile,
                                         .release = toy_release,
                                         .run = {[PS_CPU] = toy_run_total},
                                         .reduction = &toy_reduction};

// rest: in minus the total of its column, as two phases.
static int toy_phases(const struct ps_stage *stage, const struct ps_scope *scope,
                      struct ps_problems *problems)
{
    (void)scope;
    if (toy_integer(stage->options, "by") != 0)
        return 2;
    ps_problem_add(problems, PS_USAGE, stage->place, "by nothing");
    return 0;
}

static bool toy_plan_rest(struct ps_stage *stage, const struct ps_scope *scope,
                          struct ps_problems *problems)
{
    if (stage->phase == 0)
        return toy_plan_total(stage, scope, problems);
    return toy_plan(stage, scope, problems) && ps_stage_use_phase(stage, 0, problems) >= 0;
}

static bool toy_run_rest(const struct ps_program *program, const struct ps_launch *launch,
                         struct ps_error *error)
{
    const struct ps_step *step = toy_step(program);
    if (step->stages[0]->phase == 0)
        return toy_run_total(program, launch, error);
    int64_t width = ps_array_row_elements(&step->stages[0]->output);
    for (int64_t e = 0; e < launch->rows * width; e++)
        ((int64_t *)launch->outputs[0])[e] =
            toy_value(step, launch, step->stages[0]->inputs[0], e, NULL) -
            ((const int64_t *)launch->inputs[1])[e % width];
    return true;
}

static struct ps_stage_type toy_rest = {.name = "rest",
                                        .help = "rest",
                                        .options = toy_stage_options,
                                        .phases = toy_phases,
                                        .plan = toy_plan_rest,
                                        .compile = toy_compile,
                                        .release = toy_release,
                                        .run = {[PS_CPU] = toy_run_rest},
                                        .reduction = &toy_reduction};

// ---- Across rows. window: the sum of the rows around an anchor, and the row's own number ----

static bool toy_plan_window(struct ps_stage *stage, const struct ps_scope *scope,
                            struct ps_problems *problems)
{
    if (!toy_plan(stage, scope, problems))
        return false;
    stage->rows.before = toy_integer(stage->options, "before");
    stage->rows.after = toy_integer(stage->options, "after");
    stage->rows.start = toy_integer(stage->options, "start");
    stage->rows.step = toy_integer(stage->options, "step");
    stage->rows.times = toy_integer(stage->options, "times");
    stage->rows.partial = ps_values_get(stage->options, "partial")->truth;
    int64_t *rows = &stage->output.dims[0];
    *rows = *rows < 0 ? *rows : ps_row_rule_count(&stage->rows, *rows, true);
    return true;
}

static bool toy_run_window(const struct ps_program *program, const struct ps_launch *launch,
                           struct ps_error *error)
{
    const struct ps_stage *stage = toy_step(program)->stages[0];
    const struct ps_row_rule *rule = &stage->rows;
    int64_t width = ps_array_row_elements(&stage->output);
    const int64_t *in = launch->inputs[0];
    for (int64_t r = 0; r < launch->rows; r++) {
        int64_t row = launch->first_row + r, anchor = rule->start + row / rule->times * rule->step;
        for (int64_t c = 0; c < width; c++) {
            int64_t sum = row;
            for (int64_t i = anchor - rule->before; i <= anchor + rule->after; i++)
                if (i >= launch->in_first && i < launch->in_first + launch->in_rows)
                    sum += in[(i - launch->in_first) * width + c];
            ((int64_t *)launch->outputs[0])[r * width + c] = sum;
        }
    }
    return toy_events(stage, launch, error);
}

// running: sums over all rows so far. choose: rows whose first value does not divide by three.

static bool toy_plan_running(struct ps_stage *stage, const struct ps_scope *scope,
                             struct ps_problems *problems)
{
    stage->rows.ordered = true;
    return toy_plan(stage, scope, problems);
}

static size_t toy_carry(const struct ps_step *step)
{
    return (size_t)ps_array_row_elements(&step->stages[0]->output) * 8;
}

static bool toy_run_running(const struct ps_program *program, const struct ps_launch *launch,
                            struct ps_error *error)
{
    const struct ps_stage *stage = toy_step(program)->stages[0];
    int64_t width = ps_array_row_elements(&stage->output), *state = launch->state;
    toy_broken += launch->in_first != launch->first_row || launch->in_rows != launch->rows;
    for (int64_t e = 0; e < launch->rows * width; e++) {
        state[e % width] += ((const int64_t *)launch->inputs[0])[e];
        ((int64_t *)launch->outputs[0])[e] = state[e % width];
    }
    return toy_events(stage, launch, error);
}

static bool toy_plan_choose(struct ps_stage *stage, const struct ps_scope *scope,
                            struct ps_problems *problems)
{
    stage->rows.ordered = stage->rows.chosen = true;
    bool fine = toy_plan(stage, scope, problems);
    stage->output.dims[0] = PS_ROWS_UNKNOWN;
    return fine;
}

static bool toy_run_choose(const struct ps_program *program, const struct ps_launch *launch,
                           struct ps_error *error)
{
    const struct ps_stage *stage = toy_step(program)->stages[0];
    int64_t width = ps_array_row_elements(&stage->output), made = 0;
    const int64_t *in = launch->inputs[0];
    for (int64_t r = 0; r < launch->in_rows; r++) {
        if (in[r * width] % 3 == 0)
            continue;
        memcpy((int64_t *)launch->outputs[0] + made * width, in + r * width, (size_t)width * 8);
        made++;
    }
    *launch->rows_out = made;
    return toy_events(stage, launch, error);
}

static struct ps_stage_type toy_window = {.name = "window",
                                          .help = "window",
                                          .options = toy_stage_options,
                                          .plan = toy_plan_window,
                                          .compile = toy_compile,
                                          .release = toy_release,
                                          .run = {[PS_CPU] = toy_run_window}};
static struct ps_stage_type toy_running = {.name = "running",
                                           .help = "running",
                                           .options = toy_stage_options,
                                           .plan = toy_plan_running,
                                           .compile = toy_compile,
                                           .release = toy_release,
                                           .run = {[PS_CPU] = toy_run_running},
                                           .carry_bytes = toy_carry};
static struct ps_stage_type toy_choose = {.name = "choose",
                                          .help = "choose",
                                          .options = toy_stage_options,
                                          .plan = toy_plan_choose,
                                          .compile = toy_compile,
                                          .release = toy_release,
                                          .run = {[PS_CPU] = toy_run_choose}};
const struct ps_stage_type *const ps_stage_types[] = {
    &toy_scale, &toy_add, &toy_total, &toy_rest, &toy_window, &toy_running, &toy_choose, NULL};
const struct ps_stage_type *ps_stage_type_find(const char *name)
{
    for (int i = 0; ps_stage_types[i] != NULL; i++)
        if (strcmp(ps_stage_types[i]->name, name) == 0)
            return ps_stage_types[i];
    return NULL;
}

#endif
