// SPDX-License-Identifier: Apache-2.0
// reduce on the cuda backend: shapes and launches of the kernels (reduce_*.cu). Only enqueues.
#include "kernels/cuda/cuda.h"
#include "kernels/reduce/kernel_cuda.h"
#include "kernels/reduce/stage.h"

#define SHARED_BYTES_MAX (48 << 10) // of a block, without asking for more
#define ROWS_OF_LANE_LEAST 128      // so that emptying a lane costs little
#define ROWS_OF_LANE_MOST (1 << 20)
#define ROWS_OF_LAUNCH (PS_EXACT_ADDS_MAX / 2)
#define WARPS_PER_MULTIPROCESSOR 32

static const void *kernel_of(const struct ps_reduce *reduce)
{
    const void *kernel = ps_reduce_kernel_float(reduce->form.dtype, reduce->inner);
    if (kernel == NULL)
        kernel = ps_reduce_kernel_signed(reduce->form.dtype, reduce->inner);
    if (kernel == NULL)
        kernel = ps_reduce_kernel_unsigned(reduce->form.dtype, reduce->inner);
    return kernel;
}

// What one warp of the inner kernel has in shared memory: a state of one output, and workspace.
static int warp_bytes(const struct ps_reduce *reduce)
{
    struct ps_reduce_form one = reduce->form;
    one.outputs = 1;
    int64_t work = 4 * (int64_t)PS_EXACT_WORK(one.sum_limbs, one.square_limbs);
    return (int)((ps_reduce_state_bytes(&one) + work + 7) / 8 * 8);
}

bool ps_reduce_shape_cuda(struct ps_program *program, struct ps_error *error)
{
    const struct ps_reduce *reduce = &program->reduce;
    int each = reduce->inner ? warp_bytes(reduce) : 0;
    int asked = program->device->request.threads_per_block;
    int warps = (asked == 0 ? 256 : asked) / PS_REDUCE_WARP;
    warps = warps < 1 ? 1 : warps;
    if (warps * each > SHARED_BYTES_MAX)
        warps = SHARED_BYTES_MAX / each;
    if (!ps_cuda_shape_static(program->device, kernel_of(reduce),
                              reduce->inner ? "reduce_inner" : "reduce_rows",
                              (size_t)(warps * each), &program->kernel, error))
        return false;
    program->kernel.threads = warps * PS_REDUCE_WARP; // whole warps that fit in shared memory
    return true;
}

static bool start(const struct ps_launch *launch, const void *kernel, int64_t grid, int threads,
                  size_t shared_bytes, void *job, const char *name, struct ps_error *error)
{
    dim3 blocks = {(unsigned)grid, 1, 1}, block = {(unsigned)threads, 1, 1};
    void *arguments[] = {job};
    return ps_cuda_check(cudaLaunchKernel(kernel, blocks, block, arguments, shared_bytes,
                                          ps_cuda_queue(launch->queue)->stream),
                         name, error);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Rows that a warp takes: enough warps to fill the GPU, enough rows to make emptying cheap.
static int64_t rows_per_job(const struct ps_program *program, int64_t rows, int64_t columns)
{
    int64_t side = columns < PS_REDUCE_WARP ? PS_REDUCE_WARP / columns : 1;
    int64_t tiles = (columns + PS_REDUCE_WARP - 1) / PS_REDUCE_WARP;
    int64_t warps =
        (int64_t)ps_cuda_device(program->device)->multiprocessors * WARPS_PER_MULTIPROCESSOR;
    int64_t per_lane = (rows / side * tiles) / warps + 1;
    per_lane = per_lane < ROWS_OF_LANE_LEAST ? ROWS_OF_LANE_LEAST : per_lane;
    return smaller((per_lane + 7) / 8 * 8, ROWS_OF_LANE_MOST) * side;
}

static bool add_rows(const struct ps_program *program, const struct ps_launch *launch,
                     const void *data, int64_t rows, int64_t columns, struct ps_error *error)
{
    const struct ps_reduce_form *form = &program->reduce.form;
    struct ps_reduce_carry_job carry = {*form, launch->state, rows};
    struct ps_reduce_rows_job job = {*form, launch->state, data,
                                     rows,  columns,       rows_per_job(program, rows, columns)};
    int64_t tiles = (columns + PS_REDUCE_WARP - 1) / PS_REDUCE_WARP;
    int64_t jobs = tiles * ((rows + job.rows_per_job - 1) / job.rows_per_job);
    int threads = program->kernel.threads, warps = threads / PS_REDUCE_WARP;
    return start(launch, ps_reduce_kernel_carry(), smaller((form->outputs + 255) / 256, 1024), 256,
                 0, &carry, "launch of reduce_carry", error) &&
           start(launch, kernel_of(&program->reduce), smaller((jobs + warps - 1) / warps, 1 << 20),
                 threads, 0, &job, "launch of reduce_rows", error);
}

static bool run_inner(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error)
{
    struct ps_reduce_inner_job job = {program->reduce, launch->inputs[0], launch->outputs[0],
                                      launch->rows, warp_bytes(&program->reduce)};
    int threads = program->kernel.threads, warps = threads / PS_REDUCE_WARP;
    int64_t outputs = launch->rows * job.reduce.kept_count;
    job.reduce.form.outputs = 1;
    if (outputs == 0)
        return true;
    return start(launch, kernel_of(&program->reduce),
                 smaller((outputs + warps - 1) / warps, 1 << 20), threads,
                 (size_t)(warps * job.warp_bytes), &job, "launch of reduce_inner", error);
}

bool ps_reduce_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error)
{
    const struct ps_reduce *reduce = &program->reduce;
    if (launch->rows == 0)
        return true;
    if (reduce->inner)
        return run_inner(program, launch, error);
    bool all = reduce->form.outputs == 1; // of rows of one element as well
    int64_t rows = all ? launch->rows * reduce->row_elements : launch->rows;
    int64_t columns = all ? 1 : reduce->row_elements;
    const char *data = launch->inputs[0];
    size_t row_bytes = (size_t)columns * ps_dtype_bytes(reduce->form.dtype);
    for (int64_t some; columns > 0 && rows > 0; rows -= some) {
        some = smaller(rows, ROWS_OF_LAUNCH);
        if (!add_rows(program, launch, data, some, columns, error))
            return false;
        data += (size_t)some * row_bytes;
    }
    return true;
}
