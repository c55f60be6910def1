// SPDX-License-Identifier: Apache-2.0
// cumulative on the cuda backend: one thread per column, row after row, since rounding makes the
// order part of the result. Many columns fill the GPU; one column runs at the speed of one thread.
#undef NDEBUG // a fault on the device must never pass unseen
#include <cassert>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/window/running_stage.h"
}

static const int THREADS = 32;

static __global__ void running(const struct ps_running_job job)
{
    int64_t column = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= job.columns)
        return;
    struct ps_carry carry = job.carry[column];
    for (int64_t row = 0; row < job.rows; row++) {
        bool fits = ps_running_step(&job, &carry, row, column);
        assert(fits && "a cumulative sum or product of integers is beyond 64 bits; make the input "
                       "f64 by a map stage");
    }
    job.carry[column] = carry;
}

extern "C" bool ps_running_run_cuda(const struct ps_program *program,
                                    const struct ps_launch *launch, struct ps_error *error)
{
    struct ps_running_job job;
    ps_running_job_of(program, launch, &job);
    if (job.rows * job.columns == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    running<<<(unsigned)((job.columns + THREADS - 1) / THREADS), THREADS, 0,
              ps_cuda_queue(launch->queue)->stream>>>(job);
    return ps_cuda_check(cudaGetLastError(), "launch of a running result", error);
}
