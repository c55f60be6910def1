// SPDX-License-Identifier: Apache-2.0
// The stages lag, difference and convolve inside.
#ifndef PS_KERNELS_WINDOW_SHIFT_STAGE_H
#define PS_KERNELS_WINDOW_SHIFT_STAGE_H

#include "kernels/stages.h"
#include "kernels/window/shift.h"

struct ps_program {
    struct ps_shift_job job; // all but what a launch says
    int taps_input;          // of the step; -1: the job has its own
    const char *input;       // name, for messages
};

// The job of a launch.
void ps_shift_job_of(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_shift_job *job_out);
bool ps_shift_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error);
#if PS_HAVE_CUDA
bool ps_shift_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error);
#endif

#endif
