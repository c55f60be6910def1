// SPDX-License-Identifier: Apache-2.0
// fill on the cuda backend. Lines along the last axis: a warp each, 32 elements at a time, whose
// ballot tells the neighbours. Others: a thread each, whose neighbours' elements lie side by side.
#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/shape/fill_stage.h"
}

namespace
{

const int THREADS = 256;
const unsigned ALL = 0xffffffffu;

__global__ void fill_lines(const __grid_constant__ struct ps_fill_job job)
{
    for (int64_t line = (int64_t)blockIdx.x * THREADS + threadIdx.x; line < job.count;
         line += (int64_t)gridDim.x * THREADS)
        ps_fill_line(&job, line);
}

// Which of the 32 elements from `base` on are numbers.
__device__ unsigned numbers(const struct ps_fill_job &job, int64_t line, int64_t base, int lane)
{
    int64_t i = base + lane;
    bool number = i < job.lines.n && !ps_element_is_nan(job.dtype, ps_fill_raw(&job, line, i));
    return __ballot_sync(ALL, number);
}

__device__ int64_t next_number(const struct ps_fill_job &job, int64_t line, int64_t base, int lane)
{
    for (; base < job.lines.n; base += 32) {
        unsigned found = numbers(job, line, base, lane);
        if (found != 0)
            return base + __ffs((int)found) - 1;
    }
    return job.lines.n;
}

__global__ void fill_warps(const __grid_constant__ struct ps_fill_job job)
{
    const int lane = threadIdx.x % 32, warps = THREADS / 32;
    const int64_t n = job.lines.n;
    for (int64_t line = (int64_t)blockIdx.x * warps + threadIdx.x / 32; line < job.count;
         line += (int64_t)gridDim.x * warps) {
        int64_t before = -1,
                ahead = -1; // the last number of what was seen; the next after these 32
        for (int64_t base = 0; base < n; base += 32) {
            int64_t i = base + lane;
            unsigned found = numbers(job, line, base, lane);
            unsigned lower = found & (ALL >> (31 - lane)), upper = found & (ALL << lane);
            if (found >> 31 == 0 && ahead < base + 32) // the last of them is no number
                ahead = next_number(job, line, base + 32, lane);
            if (i < n) {
                int64_t previous = lower != 0 ? base + 31 - __clz((int)lower) : before;
                int64_t next = upper != 0 ? base + __ffs((int)upper) - 1 : ahead;
                uint64_t raw = previous == i ? ps_fill_raw(&job, line, i)
                                             : ps_fill_value(&job, line, i, previous, next);
                ps_element_store_raw(job.dtype, job.out, ps_lines_at(&job.lines, n, line, i), raw);
            }
            before = found != 0 ? base + 31 - __clz((int)found) : before;
        }
    }
}

} // namespace

extern "C" bool ps_fill_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                                 struct ps_error *error)
{
    struct ps_fill_job job;
    ps_fill_job_of(program, launch, &job);
    bool warps = job.lines.inner == 1 && job.lines.n >= 16;
    int64_t blocks = (job.count * (warps ? 32 : 1) + THREADS - 1) / THREADS;
    unsigned grid = (unsigned)(blocks < 1 << 16 ? blocks : 1 << 16);
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    if (job.count == 0 || job.lines.n == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    if (warps)
        fill_warps<<<grid, THREADS, 0, stream>>>(job);
    else
        fill_lines<<<grid, THREADS, 0, stream>>>(job);
    return ps_cuda_check(cudaGetLastError(), "launch of fill", error);
}
