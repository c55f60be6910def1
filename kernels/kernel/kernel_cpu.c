// SPDX-License-Identifier: Apache-2.0
// Running the cpu twin on one block: the function in C, guarded if asked for, or the map.
#include "kernels/kernel/kernel.h"
#include "kernels/stages.h"

#include <string.h>

struct ps_guard_output ps_kernel_guard_output(const struct ps_kernel *kernel,
                                              const struct ps_launch *launch, size_t bytes)
{
    size_t element_bytes = ps_dtype_bytes(kernel->out_dtype);
    return (struct ps_guard_output){kernel->function, launch->first_row, bytes,
                                    (size_t)kernel->out_row_elements * element_bytes,
                                    element_bytes};
}

static void call(const struct ps_program *program, const struct ps_launch *launch, void *out)
{
    const struct ps_kernel *kernel = program->kernel;
    const void *inputs[PS_STAGE_INPUTS_MAX], *params[PS_KERNEL_PARAMS_MAX];
    for (int i = 0; i < kernel->input_count; i++)
        inputs[i] = launch->inputs[program->inputs[i]];
    for (int i = 0; i < kernel->param_count; i++)
        params[i] = ps_kernel_param_value(&kernel->params[i]);
    program->twin.run(inputs, out, launch->rows, launch->first_row, params);
}

// One of the two runs: over a pattern, then a look at what became of it.
static bool run_watched(const struct ps_program *program, const struct ps_launch *launch,
                        size_t bytes, unsigned char pattern, const unsigned char *reference,
                        struct ps_error *error)
{
    const struct ps_kernel *kernel = program->kernel;
    unsigned char *region = launch->scratch;
    struct ps_guard_counts counts = {.nearest = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    struct ps_guard_output output = ps_kernel_guard_output(kernel, launch, bytes);
    memset(region, pattern, bytes + 2 * (size_t)PS_GUARD_MARGIN);
    call(program, launch, region + PS_GUARD_MARGIN);
    struct ps_guard_look look = {region, bytes, pattern, kernel->out_dtype == PS_BOOL, reference};
    ps_guard_look_cpu(&look, &counts);
    return ps_guard_verdict(&counts, &output, error);
}

static bool run_guarded(const struct ps_program *program, const struct ps_launch *launch,
                        size_t bytes, struct ps_error *error)
{
    unsigned char *region = launch->scratch, *out = launch->outputs[0];
    if (!run_watched(program, launch, bytes, PS_GUARD_FIRST, NULL, error))
        return false;
    memcpy(out, region + PS_GUARD_MARGIN, bytes);
    return run_watched(program, launch, bytes, PS_GUARD_SECOND, out, error);
}

static bool run_map(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    struct ps_launch own = *launch;
    if (!program->kernel->map.streamed)
        own.rows = program->kernel->map.whole_rows; // a map takes a whole shape as one row
    return ps_stage_map.run[PS_CPU](program->map, &own, error);
}

bool ps_kernel_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    const struct ps_kernel *kernel = program->kernel;
    size_t bytes =
        (size_t)launch->rows * (size_t)kernel->out_row_elements * ps_dtype_bytes(kernel->out_dtype);
    if (bytes == 0)
        return true;
    if (kernel->twin == PS_TWIN_EXPR)
        return run_map(program, launch, error);
    if (kernel->guard)
        return run_guarded(program, launch, bytes, error);
    call(program, launch, launch->outputs[0]);
    return true;
}
