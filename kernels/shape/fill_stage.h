// SPDX-License-Identifier: Apache-2.0
// The stage fill inside.
#ifndef PS_KERNELS_SHAPE_FILL_STAGE_H
#define PS_KERNELS_SHAPE_FILL_STAGE_H

#include "kernels/shape/fill.h"
#include "kernels/stages.h"

struct ps_program {
    struct ps_fill_job job; // all but what a launch says
    bool whole;
};

// The job of a launch.
void ps_fill_job_of(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_fill_job *job_out);
#if PS_HAVE_CUDA
bool ps_fill_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error);
#endif

#endif
