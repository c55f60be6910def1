// SPDX-License-Identifier: Apache-2.0
// Second moments on a GPU: tiles of rows are sliced by kernels and multiplied by cuBLAS. Only
// enqueues.
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/nvtx.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/linear_kernels.h"

#include <stdlib.h>

#define PANEL 1024          // slices that are multiplied by as many in one call
#define TILES_COUNTED 16384 // tiles between two moves of carries; 2^28 / 8448 is the most

// Slices of every column. Fewer than the cpu may take: what does not fit becomes rests.
static int slices_of(const struct ps_moments *m)
{
    return m->slices == 5 ? 4 : m->low == -298 ? 2 : m->slices;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static size_t column_bytes(const struct ps_moments *m, int columns)
{
    return aligned((size_t)m->width * (size_t)columns * PS_MOMENTS_ROWS * sizeof(double));
}

size_t ps_linear_cuda_scratch(const struct ps_linear *linear)
{
    const struct ps_moments *m = &linear->moments;
    if (linear->projects)
        return 0;
    return PS_CUBLAS_WORKSPACE + (size_t)PANEL * PANEL * sizeof(double) +
           column_bytes(m, slices_of(m)) + column_bytes(m, 1) +
           aligned((size_t)m->width * sizeof(int));
}

bool ps_linear_cuda_compile(struct ps_program *program, struct ps_error *error)
{
    struct ps_cublas_handle *own = program->cuda = calloc(1, sizeof *own);
    if (own == NULL)
        return ps_fail_memory(error, sizeof *own, "sums of products");
    return program->linear.projects ||
           ps_cublas_open(own, program->device, CUBLAS_PEDANTIC_MATH, error);
}

void ps_linear_cuda_release(struct ps_program *program)
{
    ps_cublas_close(program->cuda, program->device);
    free(program->cuda);
    program->cuda = NULL;
}

// products[second][first] = slices of the first panel' times those of the second; cuBLAS stores by
// columns, and a slice is one.
static bool multiply(const struct ps_program *program, const struct ps_moments_job *job,
                     cudaStream_t stream, void *workspace, struct ps_error *error)
{
    struct ps_cublas_handle *own = program->cuda;
    const double one = 1, zero = 0;
    int64_t panel = (int64_t)job->slices * PS_MOMENTS_ROWS;
    const struct ps_cublas *cublas = ps_cublas_begin(own, stream, workspace, error);
    if (cublas == NULL)
        return false;
    bool fine = ps_cublas_check(
        cublas->cublasDgemm_v2(own->handle, CUBLAS_OP_T, CUBLAS_OP_N,
                               (int)job->firsts * job->slices, (int)job->seconds * job->slices,
                               (int)job->rows, &one, job->whole + job->first * panel,
                               PS_MOMENTS_ROWS, job->whole + job->second * panel, PS_MOMENTS_ROWS,
                               &zero, job->products, (int)job->stride),
        "cublasDgemm", error);
    ps_cublas_end(own);
    return fine;
}

static bool run_tile(const struct ps_program *program, struct ps_moments_job *job,
                     cudaStream_t stream, void *workspace, struct ps_error *error)
{
    int64_t columns = PANEL / job->slices, width = job->m.width;
    if (!ps_cuda_check(ps_moments_look(job, stream), "launching kernel look", error) ||
        !ps_cuda_check(ps_moments_slice(job, stream), "launching kernel slice", error) ||
        !ps_cuda_check(ps_moments_rest(job, stream), "launching kernel add_rests", error))
        return false;
    for (job->first = 0; job->first < width; job->first += columns)
        for (job->second = job->first; job->second < width; job->second += columns) {
            job->firsts = width - job->first < columns ? width - job->first : columns;
            job->seconds = width - job->second < columns ? width - job->second : columns;
            if (!multiply(program, job, stream, workspace, error) ||
                !ps_cuda_check(ps_moments_flush(job, stream), "launching kernel flush", error))
                return false;
        }
    return true;
}

static bool run_tiles(const struct ps_program *program, const struct ps_launch *launch,
                      cudaStream_t stream, struct ps_error *error)
{
    const struct ps_moments *m = &program->linear.moments;
    struct ps_moments_job job = {
        .m = *m, .slices = slices_of(m), .state = launch->state, .stride = PANEL};
    char *scratch = (char *)launch->scratch + PS_CUBLAS_WORKSPACE;
    job.products = (double *)scratch;
    scratch += (size_t)PANEL * PANEL * sizeof(double);
    job.whole = (double *)scratch;
    scratch += column_bytes(m, job.slices);
    job.rests = (double *)scratch;
    scratch += column_bytes(m, 1);
    job.exponents = (int *)scratch;
    int64_t counted = 0, end, tile = 0;
    for (int64_t first = 0; first < launch->rows; first = end) {
        job.rows = launch->rows - first < PS_MOMENTS_ROWS ? launch->rows - first : PS_MOMENTS_ROWS;
        end = first + job.rows;
        for (int s = 0; s < m->source_count; s++)
            job.data[s] =
                (const char *)launch->inputs[program->inputs[s]] +
                (size_t)(first * m->columns[s]) * ps_dtype_bytes((enum ps_dtype)m->dtypes[s]);
        if (!run_tile(program, &job, stream, launch->scratch, error))
            return false;
        if (++tile % TILES_COUNTED != 0 && end < launch->rows)
            continue;
        if (!ps_cuda_check(ps_moments_count(m, launch->state, end - counted, stream),
                           "launching kernel count_rows", error))
            return false;
        counted = end;
    }
    return true;
}

static bool run_projection(const struct ps_program *program, const struct ps_launch *launch,
                           cudaStream_t stream, struct ps_error *error)
{
    const struct ps_linear *linear = &program->linear;
    return ps_cuda_check(ps_moments_project(linear->moments.dtypes[0],
                                            launch->inputs[program->inputs[0]], launch->rows,
                                            linear->columns, launch->inputs[program->fit],
                                            linear->components, launch->outputs[0], stream),
                         "launching kernel project", error);
}

bool ps_linear_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error)
{
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    if (launch->rows == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    ps_nvtx_open("moments");
    bool fine = program->linear.projects ? run_projection(program, launch, stream, error)
                                         : run_tiles(program, launch, stream, error);
    ps_nvtx_close();
    return fine;
}
