// SPDX-License-Identifier: Apache-2.0
// The stage `reduce`: sums, means, extremes, moments, truths, products over rows, over everything
// or over axes of the row. This file holds the row; the arithmetic is in kernels/exact.h.
#include "kernels/reduce/stage.h"

#include <stdlib.h>

#define CHOICE(id, name, source, type, sums, squares) "|" name

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array to reduce; default: the stage before"},
    {.key = "axis",
     .kind = PS_AXES,
     .fallback = "rows",
     .help = "rows (axis 0), all, or axes of the row counted from 1, as [1, 2]"},
    {.key = "of",
     .kind = PS_CHOICES,
     .choices = "sum" PS_REDUCE_OTHER_KINDS(CHOICE),
     .required = true,
     .help = "what to compute; a list makes a last axis with these names as columns"},
    {.key = "ddof",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .help = "var and std divide by the number of elements (or the weights' sum) minus this"},
    {.key = "weights",
     .kind = PS_NAME,
     .help = "an array of weights for sum, mean, var and std: one for each row, for each element "
             "of a row, or for each element"},
    {.key = "keepdims",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "axes of the row that are reduced stay, with size 1"},
    {0},
};

void ps_reduce_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

static void reduce_release(struct ps_program *program)
{
    free(program);
}

static bool reduce_compile(const struct ps_step *step, struct ps_device *device,
                           struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "a reduction");
    program->reduce = step->stages[0]->detail;
    program->tile = ps_reduce_tile();
    program->device = device;
    program->input = step->inputs[0];
    if (program->reduce->weights >= 0)
        program->weight_dtype = (int)step->inputs[program->reduce->weights]->array.dtype;
#if PS_HAVE_CUDA
    if (device->backend->id == PS_CUDA && !ps_reduce_shape_cuda(program, error)) {
        reduce_release(program);
        return false;
    }
#endif
    *program_out = program;
    return true;
}

static int reduce_kernels(const struct ps_program *program, struct ps_kernel_info *infos_out,
                          int max)
{
    if (program->kernel.threads == 0)
        return 0;
    if (max > 0)
        infos_out[0] = program->kernel;
    return 1;
}

static const struct ps_stage_reduction reduction = {
    .state_bytes = ps_reduce_step_state_bytes,
    .merge = ps_reduce_merge,
    .finish = ps_reduce_step_finish,
};

const struct ps_stage_type ps_stage_reduce = {
    .name = "reduce",
    .help = "sums, means, extremes and their places, moments, norms, truths and products over rows, "
            "everything or axes of the row; exact sums, so the same bits however the data is cut",
    .options = options,
    .phases = ps_reduce_phases,
    .plan = ps_reduce_plan,
    .unplan = ps_reduce_unplan,
    .compile = reduce_compile,
    .release = reduce_release,
    .run =
        {
            [PS_CPU] = ps_reduce_run_cpu,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_reduce_run_cuda,
#endif
        },
    .scratch_bytes = ps_reduce_scratch_bytes,
    .kernels = reduce_kernels,
    .reduction = &reduction,
};
