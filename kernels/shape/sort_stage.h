// SPDX-License-Identifier: Apache-2.0
// The stage sort inside.
#ifndef PS_KERNELS_SHAPE_SORT_STAGE_H
#define PS_KERNELS_SHAPE_SORT_STAGE_H

#include "kernels/shape/sort.h"
#include "kernels/stages.h"

struct ps_program {
    struct ps_sort_job job; // all but what a launch says
    bool whole;
};

// The job of a launch.
void ps_sort_job_of(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_sort_job *job_out);
#if PS_HAVE_CUDA
size_t ps_sort_cuda_scratch(const struct ps_sort_job *job, int64_t lines);
bool ps_sort_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error);
#endif

#endif
