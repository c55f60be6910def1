// SPDX-License-Identifier: Apache-2.0
// The stage sort: planning, and merge sort on the cpu.
#include "kernels/shape/shape.h"
#include "kernels/shape/sort_stage.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    PS_SHAPE_AXIS_OPTION,
    {.key = "order",
     .kind = PS_CHOICE,
     .fallback = "ascending",
     .choices = "ascending|descending",
     .help = "NaN comes last either way; equal values stay in their order"},
    {.key = "indices",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "instead of the sorted values, where they were along the axis (argsort), in i64"},
    {0},
};

static bool sort_plan(struct ps_stage *stage, const struct ps_scope *scope,
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
    program->whole = !in->streamed;
    program->job = (struct ps_sort_job){
        .lines = ps_shape_lines(in, axis),
        .dtype = (int)in->array.dtype,
        .descending = ps_values_get(stage->options, "order")->choice == 1,
        .indices = ps_values_get(stage->options, "indices")->truth,
    };
    if (program->job.lines.n >= PS_SORT_ELEMENTS_MAX) {
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "sort takes at most %lld elements along the axis; '%s' has %lld",
                       (long long)PS_SORT_ELEMENTS_MAX - 1, in->name,
                       (long long)program->job.lines.n);
        return false;
    }
    ps_shape_output(stage, in, program->job.indices ? PS_I64 : in->array.dtype);
    stage->axes[axis].port = -1;
    return axis == in->array.rank - 1 || ps_shape_columns(stage, &in->array, NULL, problems);
}

static void sort_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

static bool sort_compile(const struct ps_step *step, struct ps_device *device,
                         struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = malloc(sizeof *program);
    (void)device;
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "sort");
    *program = *(const struct ps_program *)step->stages[0]->detail;
    *program_out = program;
    return true;
}

static void sort_release(struct ps_program *program)
{
    free(program);
}

void ps_sort_job_of(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_sort_job *job)
{
    *job = program->job;
    job->count = job->lines.per_row * (program->whole ? 1 : launch->rows);
    job->in = launch->inputs[0];
    job->out = launch->outputs[0];
}

// ---- On the cpu ----

#define RUN_ELEMENTS 16 // sorted by insertion before merging begins

struct item {
    uint64_t key;
    uint32_t place;
};

// Stable, as places ascend from the beginning: an item moves before greater keys only.
static void insertion(struct item *items, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        struct item item = items[i];
        int64_t k = i;
        for (; k > 0 && items[k - 1].key > item.key; k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

static void merge(struct item *to, const struct item *a, int64_t a_count, const struct item *b,
                  int64_t b_count)
{
    const struct item *a_end = a + a_count, *b_end = b + b_count;
    while (a < a_end && b < b_end)
        *to++ = b->key < a->key ? *b++ : *a++;
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

// Returns which of the two buffers has the result.
static struct item *merge_sort(struct item *items, struct item *other, int64_t count)
{
    for (int64_t at = 0; at < count; at += RUN_ELEMENTS)
        insertion(items + at, count - at < RUN_ELEMENTS ? count - at : RUN_ELEMENTS);
    for (int64_t width = RUN_ELEMENTS; width < count; width *= 2) {
        for (int64_t at = 0; at < count; at += 2 * width) {
            int64_t middle = at + width < count ? at + width : count;
            int64_t end = middle + width < count ? middle + width : count;
            merge(other + at, items + at, middle - at, items + middle, end - middle);
        }
        struct item *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

static bool run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    struct ps_sort_job job;
    (void)error;
    ps_sort_job_of(program, launch, &job);
    struct item *items = launch->scratch, *other = items + job.lines.n;
    for (int64_t line = 0; line < job.count; line++) {
        for (int64_t i = 0; i < job.lines.n; i++)
            items[i] = (struct item){ps_sort_key_at(&job, line, i), (uint32_t)i};
        const struct item *sorted = merge_sort(items, other, job.lines.n);
        for (int64_t i = 0; i < job.lines.n; i++)
            ps_sort_store(&job, line, i, sorted[i].place);
    }
    return true;
}

static size_t sort_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    const struct ps_program *program = step->stages[0]->detail;
    const struct ps_sort_job *job = &program->job;
#if PS_HAVE_CUDA
    if (backend == PS_CUDA)
        return ps_sort_cuda_scratch(job, job->lines.per_row * (program->whole ? 1 : rows));
#endif
    (void)backend;
    (void)rows;
    return (size_t)job->lines.n * 2 * sizeof(struct item);
}

#if PS_HAVE_CUDA
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = run_cpu, [PS_CUDA] = ps_sort_run_cuda                                           \
    }
#else
#define RUN                                                                                        \
    {                                                                                              \
        [PS_CPU] = run_cpu                                                                         \
    }
#endif

const struct ps_stage_type ps_stage_sort = {
    .name = "sort",
    .help = "Sorts along an axis of each row, or tells the order that sorts it; stable, NaN last",
    .options = options,
    .plan = sort_plan,
    .unplan = sort_unplan,
    .compile = sort_compile,
    .release = sort_release,
    .run = RUN,
    .scratch_bytes = sort_scratch,
};
