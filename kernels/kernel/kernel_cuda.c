// SPDX-License-Identifier: Apache-2.0
// A user's kernel on a GPU: compiled when the job starts, its launch checked against what the
// compiled function allows, launched once per block (twice under guard).
#include "kernels/cuda/driver.h"
#include "kernels/kernel/guard_cuda.h"
#include "kernels/kernel/kernel.h"

#include <limits.h>
#include <stdlib.h>

#define PLAIN_SHARED_BYTES (48u << 10) // beyond, a kernel has to ask; CUDA C++ Guide, 16.4.3

struct cuda_kernel {
    struct ps_cuda_module *module;
    CUfunction function;
    struct ps_kernel_info info;
};

static bool attribute(CUfunction function, CUfunction_attribute which, int *out,
                      struct ps_error *error)
{
    return ps_cu_check(ps_driver(error)->cuFuncGetAttribute(out, which, function),
                       "cuFuncGetAttribute", error);
}

// The threads that the stage asks for against the kernel's registers and __launch_bounds__.
static bool check_threads(const struct ps_kernel *kernel, CUfunction function,
                          struct ps_error *error)
{
    int most = 0, registers = 0;
    if (!attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most, error) ||
        !attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, &registers, error))
        return false;
    if (kernel->threads <= most)
        return true;
    return ps_fail(error, PS_USAGE,
                   "threads: %d, but kernel %s runs with at most %d per block (%d registers each, "
                   "or its __launch_bounds__): set threads lower, or leave it out",
                   kernel->threads, kernel->function, most, registers);
}

static bool allow_shared(const struct ps_kernel *kernel, struct ps_device *device,
                         CUfunction function, struct ps_error *error)
{
    int most = 0, fixed = 0;
    if (!attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &fixed, error) ||
        !ps_cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                              ps_cuda_device(device)->index),
                       "cudaDeviceGetAttribute", error))
        return false;
    if (kernel->shared_bytes + (size_t)fixed > (size_t)most)
        return ps_fail(error, PS_USAGE,
                       "shared: kernel %s would have %zu bytes of shared memory per block (%d of "
                       "its own and %zu by `shared`), but this GPU has %d",
                       kernel->function, kernel->shared_bytes + (size_t)fixed, fixed,
                       kernel->shared_bytes, most);
    return kernel->shared_bytes + (size_t)fixed <= PLAIN_SHARED_BYTES ||
           ps_cu_check(ps_driver(error)->cuFuncSetAttribute(
                           function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           (int)kernel->shared_bytes),
                       "cuFuncSetAttribute of the shared memory", error);
}

static bool find_function(const struct ps_kernel *kernel, struct cuda_kernel *cuda,
                          const char *lowered, struct ps_error *error)
{
    struct ps_error own = {0};
    if (ps_cuda_module_kernel(cuda->module, lowered, &cuda->function, &own))
        return true;
    return ps_fail(error, PS_USAGE,
                   "kernel %s is declared but not defined, or is no __global__ function: %s",
                   kernel->function, own.text);
}

static bool compile(const struct ps_kernel *kernel, struct ps_device *device,
                    struct cuda_kernel *cuda, const struct ps_cuda_user_code *code,
                    struct ps_error *error)
{
    char lowered[PS_LOWERED_MAX];
    struct ps_cuda_device own = *ps_cuda_device(device);
    if (kernel->threads > 0)
        own.base.request.threads_per_block = kernel->threads;
    return ps_cuda_module_compile_user(device, code, &cuda->module, lowered, error) &&
           find_function(kernel, cuda, lowered, error) &&
           check_threads(kernel, cuda->function, error) &&
           allow_shared(kernel, device, cuda->function, error) &&
           ps_cuda_shape(&own.base, cuda->function, kernel->function, kernel->shared_bytes,
                         &cuda->info, error);
}

bool ps_kernel_cuda_compile(struct ps_program *program, struct ps_error *error)
{
    const struct ps_kernel *kernel = program->kernel;
    struct ps_text source = {0}, signature = {0}, expression = {0};
    struct cuda_kernel *cuda = program->cuda = calloc(1, sizeof *cuda);
    ps_kernel_signature(kernel, true, &signature);
    ps_kernel_expression(kernel, &expression);
    bool fine = (cuda != NULL && !signature.failed && !expression.failed &&
                 ps_kernel_cuda_source(kernel, &source)) ||
                ps_fail_memory(error, source.length, "the source of a kernel");
    struct ps_cuda_user_code code = {source.data, kernel->function, expression.data,
                                     signature.data};
    fine = fine && compile(kernel, program->device, cuda, &code, error);
    ps_text_free(&source);
    ps_text_free(&signature);
    ps_text_free(&expression);
    return fine;
}

void ps_kernel_cuda_release(struct ps_program *program)
{
    struct cuda_kernel *cuda = program->cuda;
    if (cuda == NULL)
        return;
    ps_cuda_module_free(cuda->module);
    free(cuda);
    program->cuda = NULL;
}

// Blocks of threads; 0 after reporting that there would be too many for a launch.
static unsigned grid_of(const struct ps_kernel *kernel, int threads, int64_t rows,
                        struct ps_error *error)
{
    int64_t items =
        kernel->launch == PS_THREAD_PER_ELEMENT ? rows * kernel->out_row_elements : rows;
    int64_t per_block = kernel->launch == PS_BLOCK_PER_ROW ? 1 : threads;
    int64_t blocks = (items + per_block - 1) / per_block;
    if (blocks <= INT_MAX)
        return (unsigned)blocks;
    ps_fail(error, PS_USAGE,
            "kernel %s would need %lld blocks of threads, but a launch has at most %d: set "
            "run.block lower",
            kernel->function, (long long)blocks, INT_MAX);
    return 0;
}

static bool launch_once(const struct ps_program *program, const struct ps_launch *launch, void *out,
                        struct ps_error *error)
{
    const struct ps_kernel *kernel = program->kernel;
    const struct cuda_kernel *cuda = program->cuda;
    const void *inputs[PS_STAGE_INPUTS_MAX];
    void *arguments[PS_STAGE_INPUTS_MAX + 3 + PS_KERNEL_PARAMS_MAX];
    long long rows = launch->rows, first_row = launch->first_row;
    int count = 0;
    for (int i = 0; i < kernel->input_count; i++) {
        inputs[i] = launch->inputs[program->inputs[i]];
        arguments[count++] = &inputs[i];
    }
    arguments[count++] = &out;
    arguments[count++] = &rows;
    arguments[count++] = &first_row;
    for (int i = 0; i < kernel->param_count; i++)
        arguments[count++] = (void *)ps_kernel_param_value(&kernel->params[i]);
    unsigned grid = grid_of(kernel, cuda->info.threads, rows, error);
    return grid > 0 &&
           ps_cuda_launch(launch->queue, cuda->function, grid, (unsigned)cuda->info.threads,
                          (unsigned)kernel->shared_bytes, arguments, kernel->function, error);
}

static bool set(void *at, int byte, size_t bytes, cudaStream_t stream, struct ps_error *error)
{
    return ps_cuda_check(cudaMemsetAsync(at, byte, bytes, stream), "cudaMemsetAsync", error);
}

// Run number `second`, over a pattern, and the kernel that looks at what became of it.
static bool watch(const struct ps_program *program, const struct ps_launch *launch, size_t bytes,
                  bool second, struct ps_error *error)
{
    char *region = launch->scratch, *out = region + PS_GUARD_MARGIN;
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    struct ps_guard_counts *counts =
        (struct ps_guard_counts *)(void *)(region + ps_guard_counts_at(bytes)) + second;
    unsigned char pattern = second ? PS_GUARD_SECOND : PS_GUARD_FIRST;
    struct ps_guard_look look = {(unsigned char *)region, bytes, pattern,
                                 program->kernel->out_dtype == PS_BOOL,
                                 second ? launch->outputs[0] : NULL};
    return set(region, pattern, bytes + 2 * (size_t)PS_GUARD_MARGIN, stream, error) &&
           set(counts->count, 0, sizeof counts->count, stream, error) &&
           set(counts->nearest, 0xff, sizeof counts->nearest, stream, error) &&
           launch_once(program, launch, out, error) &&
           ps_cuda_check(ps_guard_look_cuda(&look, counts, stream), "launching the guard", error) &&
           (second || ps_cuda_check(cudaMemcpyAsync(launch->outputs[0], out, bytes,
                                                    cudaMemcpyDeviceToDevice, stream),
                                    "cudaMemcpyAsync", error));
}

// The one place that waits in run(): what the guard saw belongs to this block, and the job must end
// before its output is used.
static bool run_guarded(const struct ps_program *program, const struct ps_launch *launch,
                        size_t bytes, struct ps_error *error)
{
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    const char *counts_at = (const char *)launch->scratch + ps_guard_counts_at(bytes);
    struct ps_guard_counts counts[2];
    struct ps_guard_output output = ps_kernel_guard_output(program->kernel, launch, bytes);
    return ps_cuda_use(launch->queue->device, error) &&
           watch(program, launch, bytes, false, error) &&
           watch(program, launch, bytes, true, error) &&
           ps_cuda_check(
               cudaMemcpyAsync(counts, counts_at, sizeof counts, cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync", error) &&
           ps_cuda_check(cudaStreamSynchronize(stream), "waiting for the guard", error) &&
           ps_guard_verdict(&counts[0], &output, error) &&
           ps_guard_verdict(&counts[1], &output, error);
}

bool ps_kernel_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error)
{
    const struct ps_kernel *kernel = program->kernel;
    size_t bytes =
        (size_t)launch->rows * (size_t)kernel->out_row_elements * ps_dtype_bytes(kernel->out_dtype);
    if (bytes == 0)
        return true;
    if (kernel->guard)
        return run_guarded(program, launch, bytes, error);
    return launch_once(program, launch, launch->outputs[0], error);
}

int ps_kernel_cuda_kernels(const struct ps_program *program, struct ps_kernel_info *infos, int max)
{
    const struct cuda_kernel *cuda = program->cuda;
    if (cuda == NULL)
        return 0;
    if (max > 0)
        infos[0] = cuda->info;
    return 1;
}
