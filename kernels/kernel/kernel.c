// SPDX-License-Identifier: Apache-2.0
// The stage kernel: CUDA C of the user's own, with an optional twin for the cpu. Options, plan and
// the row; texts and compilers are in the files beside this one.
#include "kernels/kernel/kernel.h"
#include "kernels/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in",
     .kind = PS_NAMES,
     .help = "The arrays that it reads, in the order of its arguments; the stage before if unset"},
    {.key = "source", .kind = PS_TEXT, .help = "Its CUDA C, as a block of text (`source: |`)"},
    {.key = "file", .kind = PS_PATH, .help = "Instead of source: the file that holds it"},
    {.key = "function",
     .kind = PS_TEXT,
     .help = "The name of the __global__ function; the stage's name if unset"},
    {.key = "launch",
     .kind = PS_CHOICE,
     .fallback = "thread_per_element",
     .choices = "thread_per_element|thread_per_row|block_per_row",
     .help = "How many threads there are: for each element of the output, for each of its rows, or "
             "a block of threads for each row"},
    {.key = "dtype",
     .kind = PS_DTYPE,
     .help = "Dtype of the output; that of the first (streamed) input if unset"},
    {.key = "shape",
     .kind = PS_SHAPE,
     .help = "Shape of a row of the output ([] for a number), or of all of it where no input is "
             "streamed; that of the first (streamed) input if unset"},
    {.key = "params", .kind = PS_PARAMS, .help = "Numbers that it gets as its last arguments"},
    {.key = "param_types",
     .kind = PS_TYPES,
     .fallback = "f64",
     .choices = "f64|f32|i64|i32",
     .help = "The types of all params, or {name: type}; those not named are f64"},
    {.key = "threads",
     .kind = PS_COUNT,
     .fallback = "auto",
     .min = 1,
     .max = 1024,
     .help = "Threads per block; auto: run.cuda.threads, or by occupancy"},
    {.key = "shared",
     .kind = PS_SIZE,
     .fallback = "0",
     .min = 0,
     .max = 1 << 20,
     .help = "Dynamic shared memory of a block of threads"},
    {.key = "guard",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "Runs it twice and watches for writes outside the output and for what it leaves "
             "unwritten; slow"},
    {.key = "cpu_source", .kind = PS_TEXT, .help = "The same function in C, for the cpu backend"},
    {.key = "cpu_file", .kind = PS_PATH, .help = "Instead of cpu_source: the file that holds it"},
    {.key = "cpu_expr",
     .kind = PS_TEXT,
     .help = "Or what it computes as an expression, as in map, for the cpu backend"},
    {.key = "tolerance",
     .kind = PS_NUMBER,
     .fallback = "4",
     .min = 0,
     .max = 1e15,
     .help = "By how many units in the last place --compare lets it differ from the twin"},
    {0},
};

static bool fault(struct ps_problems *problems, struct ps_place place, const char *text)
{
    ps_problem_add(problems, PS_USAGE, place, "%s", text);
    return false;
}

static void free_code(struct ps_kernel_code *code)
{
    free(code->text);
    free(code->file);
    free(code->folder);
}

static void kernel_unplan(struct ps_stage *stage)
{
    struct ps_kernel *kernel = stage->detail;
    if (kernel == NULL)
        return;
    if (kernel->map.type != NULL)
        kernel->map.type->unplan(&kernel->map);
    ps_array_free(&kernel->map.output);
    ps_values_free(&kernel->map_options);
    for (int i = 0; i < kernel->input_count; i++)
        free(kernel->inputs[i].name);
    free_code(&kernel->cuda);
    free_code(&kernel->c);
    free(kernel);
    stage->detail = NULL;
}

// ---- The rest of the options ----

static bool is_identifier(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && length <= 128 && text[length] == '\0' && (*text < '0' || *text > '9');
}

static bool read_launch(const struct ps_stage *stage, struct ps_kernel *kernel,
                        struct ps_problems *problems)
{
    const struct ps_value *function = ps_values_get(stage->options, "function");
    const struct ps_value *threads = ps_values_get(stage->options, "threads");
    kernel->stage = stage->name;
    kernel->function = function->given ? function->text : stage->name;
    kernel->launch = (enum ps_kernel_launch)ps_values_get(stage->options, "launch")->choice;
    kernel->threads = threads->automatic ? 0 : (int)threads->integer;
    kernel->shared_bytes = ps_values_get(stage->options, "shared")->bytes;
    kernel->guard = ps_values_get(stage->options, "guard")->truth;
    if (is_identifier(kernel->function))
        return true;
    char shown[80];
    ps_problem_add(problems, PS_USAGE, function->given ? function->place : stage->place,
                   "function: '%s' is not the name of a function: letters, digits and _, no digit "
                   "first, at most 128",
                   ps_escape(kernel->function, strlen(kernel->function), shown, sizeof shown));
    return false;
}

static bool kernel_plan(struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_problems *problems)
{
    struct ps_kernel *kernel = stage->detail = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return fault(problems, stage->place, "out of memory");
    bool fine = read_launch(stage, kernel, problems);
    fine = ps_kernel_read_code(stage, kernel, problems) && fine;
    fine = ps_kernel_read_params(stage, kernel, problems) && fine;
    fine = ps_kernel_use_inputs(stage, scope, kernel, problems) &&
           ps_kernel_make_output(stage, scope, kernel, problems) && fine;
    if (!fine || kernel->twin != PS_TWIN_EXPR)
        return fine;
    return ps_kernel_plan_map(stage, scope, kernel, problems);
}

static bool kernel_offered(const struct ps_stage *stage, enum ps_backend_id backend, char *why,
                           size_t size)
{
    const struct ps_kernel *kernel = stage->detail;
    if (backend != PS_CPU || kernel->twin != PS_TWIN_NONE)
        return true;
    snprintf(why, size,
             "stage '%.80s' (kernel) has no twin for the cpu: write one as `cpu_source` (C), "
             "`cpu_file` or `cpu_expr`, or run it on a GPU",
             stage->name);
    return false;
}

// ---- Programs ----

// The map of an expression as a step of its own. Its program's struct is the map's.
static struct ps_step map_step(const struct ps_step *step, struct ps_stage **map)
{
    struct ps_step own = *step;
    *map = &((struct ps_kernel *)step->stages[0]->detail)->map;
    own.type = &ps_stage_map;
    own.stages = own.outputs = map;
    return own;
}

static void kernel_release(struct ps_program *program)
{
#if PS_HAVE_CUDA
    ps_kernel_cuda_release(program);
#endif
    if (program->map != NULL)
        ps_stage_map.release(program->map);
    ps_twin_close(&program->twin);
    free(program);
}

static bool compile_for(const struct ps_step *step, struct ps_program *program,
                        struct ps_error *error)
{
    char why[256];
    const struct ps_kernel *kernel = program->kernel;
#if PS_HAVE_CUDA
    if (program->device->backend->id == PS_CUDA)
        return ps_kernel_cuda_compile(program, error);
#endif
    if (!kernel_offered(step->stages[0], PS_CPU, why, sizeof why))
        return ps_fail(error, PS_USAGE, "%s", why);
    if (kernel->twin == PS_TWIN_C)
        return ps_twin_open(kernel, &program->twin, error);
    struct ps_stage *map;
    struct ps_step own = map_step(step, &map);
    return ps_stage_map.compile(&own, program->device, &program->map, error);
}

static bool kernel_compile(const struct ps_step *step, struct ps_device *device,
                           struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "a kernel");
    program->kernel = step->stages[0]->detail;
    program->device = device;
    for (int i = 0; i < program->kernel->input_count; i++)
        program->inputs[i] = ps_step_input(step, program->kernel->inputs[i].name);
    if (!compile_for(step, program, error)) {
        kernel_release(program);
        return false;
    }
    *program_out = program;
    return true;
}

static size_t kernel_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    const struct ps_kernel *kernel = step->stages[0]->detail;
    size_t bytes = 0;
    if (backend == PS_CPU && kernel->twin == PS_TWIN_EXPR) {
        struct ps_stage *map;
        struct ps_step own = map_step(step, &map);
        return ps_stage_map.scratch_bytes(&own, backend, rows);
    }
    if (!kernel->guard)
        return 0;
    size_t row_bytes = (size_t)kernel->out_row_elements * ps_dtype_bytes(kernel->out_dtype);
    return rows < 0 || __builtin_mul_overflow(row_bytes, (size_t)rows, &bytes) ||
                   bytes > SIZE_MAX / 4
               ? SIZE_MAX / 4
               : ps_guard_bytes(bytes);
}

const struct ps_stage_type ps_stage_kernel = {
    .name = "kernel",
    .help = "Runs a CUDA kernel of your own, and its twin where there is no GPU",
    .options = options,
    .plan = kernel_plan,
    .unplan = kernel_unplan,
    .offered = kernel_offered,
    .compile = kernel_compile,
    .release = kernel_release,
    .run = {[PS_CPU] = ps_kernel_cpu_run,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_kernel_cuda_run
#endif
    },
    .scratch_bytes = kernel_scratch,
#if PS_HAVE_CUDA
    .kernels = ps_kernel_cuda_kernels,
#endif
};
