// SPDX-License-Identifier: Apache-2.0
// The stages rolling (windows that move row by row) and downsample (windows side by side).
#include "kernels/window/across.h"
#include "kernels/window/stage.h"

#include <stdlib.h>
#include <string.h>

#define KINDS "sum|mean|min|max|var|std|median|count|first|last"

static const struct ps_option rolling_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "window",
     .kind = PS_INTEGER,
     .required = true,
     .min = 1,
     .max = 1e9,
     .help = "rows that each result looks at, its own included"},
    {.key = "of",
     .kind = PS_CHOICES,
     .choices = KINDS,
     .required = true,
     .help = "what to compute of each window; a list makes a last axis with these names as "
             "columns"},
    {.key = "align",
     .kind = PS_CHOICE,
     .fallback = "trailing",
     .choices = "trailing|centered|leading",
     .help = "the window ends at its row, has it in the middle (of an even number: one more "
             "before), or begins there"},
    PS_ACROSS_EDGES_OPTIONS("fill|partial|drop", "fill"),
    {.key = "ddof",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .help = "var and std divide by the number of rows minus this"},
    {0},
};

static const struct ps_option downsample_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "by",
     .kind = PS_INTEGER,
     .required = true,
     .min = 1,
     .max = 1e9,
     .help = "rows that become one"},
    {.key = "of",
     .kind = PS_CHOICES,
     .choices = KINDS,
     .required = true,
     .help = "what to compute of these rows; a list makes a last axis with these names as "
             "columns"},
    {.key = "rest",
     .kind = PS_CHOICE,
     .fallback = "keep",
     .choices = "keep|drop",
     .help = "rows left over at the end make one more row, or none"},
    {.key = "ddof",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .help = "var and std divide by the number of rows minus this"},
    {0},
};

static enum ps_dtype dtype_of(int kind, enum ps_dtype input)
{
    switch (kind) {
    case PS_WINDOW_MIN:
    case PS_WINDOW_MAX:
    case PS_WINDOW_FIRST:
    case PS_WINDOW_LAST:
        return input;
    case PS_WINDOW_COUNT:
        return PS_I64;
    case PS_WINDOW_SUM:
        if (ps_dtype_is_float(input))
            return PS_F64;
        return ps_dtype_info(input)->kind == PS_CLASS_SIGNED ? PS_I64 : PS_U64;
    default:
        return PS_F64;
    }
}

// One dtype for all kinds: f64 where they differ. Of integers of 64 bits it would round some.
static bool choose_dtype(const struct ps_stage *stage, const struct ps_port *in,
                         struct ps_window_detail *window, struct ps_problems *problems)
{
    const struct ps_value *of = ps_values_get(stage->options, "of");
    window->dtype = in->array.dtype;
    window->kind_count = of->count;
    for (int i = 0; i < of->count; i++) {
        enum ps_dtype own = dtype_of(window->kinds[i] = of->picks[i], window->dtype);
        if (i > 0 && own != window->out_dtype)
            own = PS_F64;
        window->out_dtype = own;
    }
    for (int i = 0; i < of->count; i++) {
        enum ps_dtype own = dtype_of(of->picks[i], window->dtype);
        if (window->out_dtype != PS_F64 || (own != PS_I64 && own != PS_U64) ||
            window->kinds[i] == PS_WINDOW_COUNT ||
            (window->kinds[i] == PS_WINDOW_SUM && ps_dtype_bytes(window->dtype) < 8))
            continue;
        ps_problem_add(problems, PS_USAGE, of->places != NULL ? of->places[i] : of->place,
                       "%s of %s beside others would be rounded to f64, the dtype they have in "
                       "common; ask for it in a stage of its own",
                       of->words[i], ps_dtype_name(window->dtype));
        return false;
    }
    return true;
}

static struct ps_window_detail *begin(struct ps_stage *stage, const struct ps_port *in,
                                      struct ps_problems *problems)
{
    struct ps_window_detail *window = stage->detail = calloc(1, sizeof *window);
    if (window == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return NULL;
    }
    window->columns = ps_array_row_elements(&in->array);
    window->input = in->name;
    window->ddof = (double)ps_values_get(stage->options, "ddof")->integer;
    return choose_dtype(stage, in, window, problems) ? window : NULL;
}

static bool finish(struct ps_stage *stage, const struct ps_port *in,
                   struct ps_window_detail *window, struct ps_problems *problems)
{
    const struct ps_value *of = ps_values_get(stage->options, "of");
    window->before = stage->rows.before;
    window->after = stage->rows.after;
    window->start = stage->rows.start;
    window->step = stage->rows.step;
    return ps_across_output(stage, in, window->out_dtype, of->count,
                            of->listed ? (const char *const *)of->words : NULL, problems);
}

static bool rolling_plan(struct ps_stage *stage, const struct ps_scope *scope,
                         struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    struct ps_window_detail *window = in != NULL ? begin(stage, in, problems) : NULL;
    struct ps_across_edges edges;
    if (window == NULL)
        return false;
    int64_t others = ps_values_get(stage->options, "window")->integer - 1;
    int align = ps_values_get(stage->options, "align")->choice;
    stage->rows.after = align == 0 ? 0 : align == 1 ? others / 2 : others;
    stage->rows.before = others - stage->rows.after;
    if (!ps_across_edges(stage, in, window->out_dtype, &edges, problems))
        return false;
    window->fill = edges.fill;
    window->filler = edges.filler;
    return finish(stage, in, window, problems);
}

static bool downsample_plan(struct ps_stage *stage, const struct ps_scope *scope,
                            struct ps_problems *problems)
{
    const struct ps_port *in = ps_across_input(stage, scope, problems);
    struct ps_window_detail *window = in != NULL ? begin(stage, in, problems) : NULL;
    if (window == NULL)
        return false;
    int64_t by = ps_values_get(stage->options, "by")->integer;
    stage->rows.before = stage->rows.start = by - 1;
    stage->rows.step = by;
    stage->rows.partial = strcmp(ps_values_get(stage->options, "rest")->text, "keep") == 0;
    return finish(stage, in, window, problems);
}

static void window_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

static bool window_compile(const struct ps_step *step, struct ps_device *device,
                           struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = calloc(1, sizeof *program);
    (void)device;
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "a window");
    program->window = *(const struct ps_window_detail *)step->stages[0]->detail;
    *program_out = program;
    return true;
}

static void window_release(struct ps_program *program)
{
    free(program);
}

#if PS_HAVE_CUDA
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = ps_window_run_cpu, [PS_CUDA] = ps_window_run_cuda                               \
    }
#else
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = ps_window_run_cpu                                                               \
    }
#endif

const struct ps_stage_type ps_stage_rolling = {
    .name = "rolling",
    .help = "sum, mean, min, max, var, std, median or count of a window of rows that moves along "
            "them; the same bits however the rows are cut into blocks",
    .options = rolling_options,
    .plan = rolling_plan,
    .unplan = window_unplan,
    .compile = window_compile,
    .release = window_release,
    .run = RUN,
    .scratch_bytes = ps_window_scratch,
};

const struct ps_stage_type ps_stage_downsample = {
    .name = "downsample",
    .help =
        "Every `by` rows become one: their mean, sum, min, max, var, std, median, first or last",
    .options = downsample_options,
    .plan = downsample_plan,
    .unplan = window_unplan,
    .compile = window_compile,
    .release = window_release,
    .run = RUN,
    .scratch_bytes = ps_window_scratch,
};
