// SPDX-License-Identifier: Apache-2.0
// Windows on the cuda backend: a kernel for the nodes of one level, one for the results, one for
// medians. The arithmetic is in window.h.
#undef NDEBUG // a fault on the device must never pass unseen
#include <cassert>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/window/stage.h"
}

namespace
{

const int THREADS = 256;

__global__ void build_level(const __grid_constant__ struct ps_window_job job, int level)
{
    int64_t count = (job.end[level] - job.first[level]) * job.columns;
    int64_t threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        ps_window_build(&job, level, job.first[level] + i / job.columns, i % job.columns);
}

__global__ void results(const __grid_constant__ struct ps_window_job job)
{
    int64_t count = job.rows * job.columns, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        bool fits = ps_window_result(&job, i / job.columns, i % job.columns);
        assert(fits && "the sum of a window is beyond 64 bits; ask for the mean, or make the "
                       "input f64 by a map stage");
    }
}

__global__ void medians(const __grid_constant__ struct ps_window_job job, int64_t lanes)
{
    int64_t threads = (int64_t)gridDim.x * blockDim.x; // at most job.lanes
    int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = thread; i < lanes; i += threads)
        ps_window_medians(&job, i, thread);
}

unsigned grid_of(int64_t items, int64_t most)
{
    int64_t blocks = (items + THREADS - 1) / THREADS;
    return (unsigned)(blocks < most ? blocks : most);
}

bool run_medians(const struct ps_window_job &job, cudaStream_t stream, struct ps_error *error)
{
    int64_t lanes = (job.rows + job.lane_rows - 1) / job.lane_rows * job.columns;
    medians<<<grid_of(lanes, job.lanes / THREADS), THREADS, 0, stream>>>(job, lanes);
    return ps_cuda_check(cudaGetLastError(), "launch of window medians", error);
}

bool run_nodes(const struct ps_window_job &job, cudaStream_t stream, struct ps_error *error)
{
    for (int level = 0; job.node != PS_NODE_NONE && level < job.levels; level++) {
        int64_t nodes = (job.end[level] - job.first[level]) * job.columns;
        if (nodes == 0)
            continue;
        build_level<<<grid_of(nodes, 1 << 16), THREADS, 0, stream>>>(job, level);
        if (!ps_cuda_check(cudaGetLastError(), "launch of window nodes", error))
            return false;
    }
    results<<<grid_of(job.rows * job.columns, 1 << 16), THREADS, 0, stream>>>(job);
    return ps_cuda_check(cudaGetLastError(), "launch of window results", error);
}

} // namespace

extern "C" bool ps_window_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                                   struct ps_error *error)
{
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    for (int kind = 0; kind < program->window.kind_count; kind++) {
        struct ps_window_job job;
        ps_window_job_of(&program->window, launch, kind, &job);
        if (job.rows * job.columns == 0)
            continue;
        bool fine = job.kind == PS_WINDOW_MEDIAN ? run_medians(job, stream, error)
                                                 : run_nodes(job, stream, error);
        if (!fine)
            return false;
    }
    return true;
}
