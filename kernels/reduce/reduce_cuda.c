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

static const void *kernel_of(int dtype, bool inner)
{
    const void *kernel = ps_reduce_kernel_float(dtype, inner);
    if (kernel == NULL)
        kernel = ps_reduce_kernel_signed(dtype, inner);
    if (kernel == NULL)
        kernel = ps_reduce_kernel_unsigned(dtype, inner);
    return kernel;
}

// What one warp of the inner kernel has in shared memory: a state of one output, and workspace.
static int warp_bytes(const struct ps_reduce_part *part)
{
    int64_t work = 4 * (int64_t)PS_EXACT_WORK(part->form.sum_limbs, part->form.square_limbs);
    return (int)((ps_reduce_part_bytes(part, 1) + work + 7) / 8 * 8);
}

// Of the part that needs the most shared memory; the others run with as many threads.
bool ps_reduce_shape_cuda(struct ps_program *program, struct ps_error *error)
{
    const struct ps_reduce *reduce = program->reduce;
    bool inner = reduce->shape.inner;
    const struct ps_reduce_part *main = &reduce->parts[0];
    for (int i = 0; i < reduce->part_count; i++)
        if (reduce->parts[i].term != PS_TERM_PICK &&
            (main->term == PS_TERM_PICK || warp_bytes(&reduce->parts[i]) > warp_bytes(main)))
            main = &reduce->parts[i];
    if (main->term == PS_TERM_PICK)
        return ps_cuda_shape_static(
            program->device, inner ? ps_reduce_kernel_picks_inner() : ps_reduce_kernel_picks(),
            inner ? "reduce_picks_inner" : "reduce_picks", 0, &program->kernel, error);
    int each = inner ? warp_bytes(main) : 0;
    int asked = program->device->request.threads_per_block;
    int warps = (asked == 0 ? 256 : asked) / PS_REDUCE_WARP;
    warps = warps < 1 ? 1 : warps;
    if (warps * each > SHARED_BYTES_MAX)
        warps = SHARED_BYTES_MAX / each;
    if (!ps_cuda_shape_static(program->device, kernel_of(main->form.dtype, inner),
                              inner ? "reduce_inner" : "reduce_rows", (size_t)(warps * each),
                              &program->kernel, error))
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

static bool add_some_rows(const struct ps_program *program, const struct ps_launch *launch,
                          const struct ps_reduce_form *form, void *state, const void *data,
                          int64_t rows, int64_t columns, struct ps_error *error)
{
    struct ps_reduce_carry_job carry = {*form, state, rows};
    struct ps_reduce_rows_job job = {*form, state,   data,
                                     rows,  columns, rows_per_job(program, rows, columns)};
    int64_t tiles = (columns + PS_REDUCE_WARP - 1) / PS_REDUCE_WARP;
    int64_t jobs = tiles * ((rows + job.rows_per_job - 1) / job.rows_per_job);
    int threads = program->kernel.threads, warps = threads / PS_REDUCE_WARP;
    return start(launch, ps_reduce_kernel_carry(), smaller((form->outputs + 255) / 256, 1024), 256,
                 0, &carry, "launch of reduce_carry", error) &&
           start(launch, kernel_of(form->dtype, false),
                 smaller((jobs + warps - 1) / warps, 1 << 20), threads, 0, &job,
                 "launch of reduce_rows", error);
}

static bool add_rows(const struct ps_program *program, const struct ps_launch *launch,
                     const struct ps_reduce_form *form, void *state, const char *data, int64_t rows,
                     struct ps_error *error)
{
    int64_t columns = form->outputs;
    size_t row_bytes = (size_t)columns * ps_dtype_bytes((enum ps_dtype)form->dtype);
    for (int64_t some; columns > 0 && rows > 0; rows -= some) {
        some = smaller(rows, ROWS_OF_LAUNCH);
        if (!add_some_rows(program, launch, form, state, data, some, columns, error))
            return false;
        data += (size_t)some * row_bytes;
    }
    return true;
}

// ---- Scratch: a term's values, then picks of segments, then basics ----

static bool has_terms(const struct ps_reduce *reduce)
{
    for (int i = 0; i < reduce->part_count; i++)
        if (reduce->parts[i].term > PS_TERM_PICK)
            return true;
    return false;
}

static bool has_picks(const struct ps_reduce *reduce)
{
    for (int i = 0; i < reduce->part_count; i++)
        if (reduce->parts[i].term == PS_TERM_PICK)
            return true;
    return false;
}

// How many blocks share the rows of one tile of columns: enough to fill a GPU.
static int64_t pick_segments(const struct ps_reduce *reduce, int64_t rows)
{
    int64_t tiles = (reduce->shape.outputs + PS_REDUCE_WARP - 1) / PS_REDUCE_WARP;
    int64_t most = smaller(256 / (tiles > 0 ? tiles : 1) + 1, rows / 256 + 1);
    return most;
}

static int64_t rows_of_picks(const struct ps_reduce *reduce, int64_t rows)
{
    return reduce->shape.outputs == 1 ? rows * reduce->shape.row_elements : rows;
}

static size_t term_bytes(const struct ps_reduce *reduce, int64_t rows)
{
    return has_terms(reduce) ? (size_t)rows * (size_t)reduce->shape.row_elements * sizeof(double)
                             : 0;
}

static size_t pick_bytes(const struct ps_reduce *reduce, int64_t rows)
{
    if (!has_picks(reduce) || reduce->shape.inner)
        return 0;
    return (size_t)pick_segments(reduce, rows_of_picks(reduce, rows)) * PS_PICK_PLANES *
           (size_t)reduce->shape.outputs * sizeof(uint64_t);
}

size_t ps_reduce_scratch_cuda(const struct ps_reduce *reduce, int64_t rows)
{
    size_t basics = reduce->shape.inner && reduce->combined.kind_count > 0
                        ? (size_t)rows * (size_t)reduce->shape.kept_count * PS_REDUCE_BASICS *
                              sizeof(double)
                        : 0;
    return term_bytes(reduce, rows) + pick_bytes(reduce, rows) + basics;
}

static bool make_term(const struct ps_program *program, const struct ps_launch *launch, int term,
                      struct ps_error *error)
{
    const struct ps_reduce *reduce = program->reduce;
    struct ps_reduce_term_job job = {
        .shape = reduce->shape,
        .term = term,
        .weight_dtype = program->weight_dtype,
        .weight_row = reduce->weight_row,
        .weight_element = reduce->weight_element,
        .rows = launch->rows,
        .data = launch->inputs[0],
        .weights = reduce->weights >= 0 ? launch->inputs[reduce->weights] : NULL,
        .means = reduce->mean >= 0 ? launch->inputs[reduce->mean] : NULL,
        .out = launch->scratch,
    };
    int64_t elements = launch->rows * reduce->shape.row_elements;
    if (elements == 0)
        return true;
    return start(launch, ps_reduce_kernel_term(), smaller((elements + 255) / 256, 1 << 16), 256, 0,
                 &job, "launch of reduce_term", error);
}

// ---- Over rows ----

static bool pick_rows(const struct ps_program *program, const struct ps_launch *launch,
                      const struct ps_reduce_part *part, void *state, struct ps_error *error)
{
    const struct ps_reduce *reduce = program->reduce;
    int64_t rows = rows_of_picks(reduce, launch->rows), segments = pick_segments(reduce, rows);
    if (reduce->shape.outputs == 0 || rows == 0)
        return true;
    struct ps_pick_rows_job job = {
        .dtype = part->form.dtype,
        .products = ps_pick_wants_products(part),
        .rows = rows,
        .outputs = reduce->shape.outputs,
        .first_row = rows_of_picks(reduce, launch->first_row),
        .segment_rows = (rows + segments - 1) / segments,
        .segments = segments,
        .data = launch->inputs[0],
        .partial = (uint64_t *)((char *)launch->scratch + term_bytes(reduce, launch->rows)),
        .state = state,
    };
    int64_t tiles = (job.outputs + PS_REDUCE_WARP - 1) / PS_REDUCE_WARP;
    return start(launch, ps_reduce_kernel_picks(), smaller(tiles * segments, 1 << 20),
                 PS_PICK_THREADS, 0, &job, "launch of reduce_picks", error) &&
           start(launch, ps_reduce_kernel_picks_merge(), smaller((job.outputs + 255) / 256, 1024),
                 256, 0, &job, "launch of reduce_picks_merge", error);
}

static bool run_rows(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_error *error)
{
    const struct ps_reduce *reduce = program->reduce;
    for (int i = 0; i < reduce->part_count; i++) {
        const struct ps_reduce_part *part = &reduce->parts[i];
        void *state = (char *)launch->state + ps_reduce_part_at(reduce, i);
        if (part->term == PS_TERM_PICK) {
            if (!pick_rows(program, launch, part, state, error))
                return false;
            continue;
        }
        if (part->term > PS_TERM_PICK && !make_term(program, launch, part->term, error))
            return false;
        if (!add_rows(program, launch, &part->form, state,
                      part->term == PS_TERM_VALUE ? launch->inputs[0] : launch->scratch,
                      rows_of_picks(reduce, launch->rows), error))
            return false;
    }
    return true;
}

// ---- Over axes of the row ----

static bool sum_inner(const struct ps_program *program, const struct ps_launch *launch,
                      const struct ps_reduce_part *part, double *basics, struct ps_error *error)
{
    struct ps_reduce_inner_job job = {.shape = program->reduce->shape,
                                      .part = *part,
                                      .data = part->term == PS_TERM_VALUE ? launch->inputs[0]
                                                                          : launch->scratch,
                                      .output = launch->outputs[0],
                                      .basics = basics,
                                      .rows = launch->rows,
                                      .warp_bytes = warp_bytes(part)};
    int threads = program->kernel.threads, warps = threads / PS_REDUCE_WARP;
    int64_t outputs = launch->rows * job.shape.kept_count;
    job.part.form.outputs = 1;
    return start(launch, kernel_of(part->form.dtype, true),
                 smaller((outputs + warps - 1) / warps, 1 << 20), threads,
                 (size_t)(warps * job.warp_bytes), &job, "launch of reduce_inner", error);
}

static bool pick_inner(const struct ps_program *program, const struct ps_launch *launch,
                       const struct ps_reduce_part *part, struct ps_error *error)
{
    struct ps_pick_inner_job job = {.shape = program->reduce->shape,
                                    .part = *part,
                                    .products = ps_pick_wants_products(part),
                                    .rows = launch->rows,
                                    .data = launch->inputs[0],
                                    .output = launch->outputs[0]};
    int64_t outputs = launch->rows * job.shape.kept_count, warps = PS_PICK_THREADS / PS_REDUCE_WARP;
    return start(launch, ps_reduce_kernel_picks_inner(),
                 smaller((outputs + warps - 1) / warps, 1 << 20), PS_PICK_THREADS, 0, &job,
                 "launch of reduce_picks_inner", error);
}

static bool run_inner(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error)
{
    const struct ps_reduce *reduce = program->reduce;
    int64_t outputs = launch->rows * reduce->shape.kept_count;
    double *basics =
        (double *)((char *)launch->scratch + term_bytes(reduce, launch->rows));
    for (int i = 0; outputs > 0 && i < reduce->part_count; i++) {
        const struct ps_reduce_part *part = &reduce->parts[i];
        if (part->term > PS_TERM_PICK && !make_term(program, launch, part->term, error))
            return false;
        if (!(part->term == PS_TERM_PICK ? pick_inner(program, launch, part, error)
                                         : sum_inner(program, launch, part, basics, error)))
            return false;
    }
    struct ps_reduce_combine_job job = {reduce->combined, basics, launch->outputs[0], outputs};
    return outputs == 0 || reduce->combined.kind_count == 0 ||
           start(launch, ps_reduce_kernel_combine(), smaller((outputs + 255) / 256, 1 << 16), 256,
                 0, &job, "launch of reduce_combine", error);
}

bool ps_reduce_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error)
{
    if (launch->rows == 0)
        return true;
    return program->reduce->shape.inner ? run_inner(program, launch, error)
                                        : run_rows(program, launch, error);
}
