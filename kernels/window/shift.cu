// SPDX-License-Identifier: Apache-2.0
// lag, difference and convolve on the cuda backend: one thread per element. The arithmetic is in
// shift.h.
#undef NDEBUG // a fault on the device must never pass unseen
#include <cassert>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/window/shift_stage.h"
}

static const int THREADS = 256;

static __global__ void shift(const __grid_constant__ struct ps_shift_job job)
{
    int64_t count = job.rows * job.columns, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        bool fits = ps_shift_result(&job, i / job.columns, i % job.columns);
        assert(fits && "a difference of integers is beyond 64 bits; make the input f64 by a map "
                       "stage");
    }
}

extern "C" bool ps_shift_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                                  struct ps_error *error)
{
    struct ps_shift_job job;
    ps_shift_job_of(program, launch, &job);
    int64_t count = job.rows * job.columns, blocks = (count + THREADS - 1) / THREADS;
    if (count == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    shift<<<(unsigned)(blocks < 1 << 16 ? blocks : 1 << 16), THREADS, 0,
            ps_cuda_queue(launch->queue)->stream>>>(job);
    return ps_cuda_check(cudaGetLastError(), "launch of a stage across rows", error);
}
