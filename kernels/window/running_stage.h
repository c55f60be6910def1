// SPDX-License-Identifier: Apache-2.0
// The stage cumulative inside.
#ifndef PS_KERNELS_WINDOW_RUNNING_STAGE_H
#define PS_KERNELS_WINDOW_RUNNING_STAGE_H

#include "kernels/stages.h"
#include "kernels/window/running.h"

struct ps_program {
    struct ps_running_job job; // all but what a launch says
    const char *input;         // name, for messages
};

// The job of a launch.
void ps_running_job_of(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_running_job *job_out);
#if PS_HAVE_CUDA
bool ps_running_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                         struct ps_error *error);
#endif

#endif
