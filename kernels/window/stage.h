// SPDX-License-Identifier: Apache-2.0
// The stages rolling and downsample inside: what a plan keeps, and how a launch becomes jobs.
#ifndef PS_KERNELS_WINDOW_STAGE_H
#define PS_KERNELS_WINDOW_STAGE_H

#include "kernels/stages.h"
#include "kernels/window/window.h"

struct ps_window_detail {
    int kind_count;
    int kinds[PS_WINDOW_KINDS];
    enum ps_dtype dtype, out_dtype; // of the input and the output
    int64_t columns;
    int64_t before, after, start, step;
    bool fill;
    uint64_t filler; // raw bits of out_dtype
    double ddof;
    const char *input; // name, for messages
};

struct ps_program {
    struct ps_window_detail window;
};

// The job of kind number `kind` of a launch.
void ps_window_job_of(const struct ps_window_detail *window, const struct ps_launch *launch,
                      int kind, struct ps_window_job *job_out);
// Scratch for a launch of up to `rows` input and output rows.
size_t ps_window_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows);
// How many lanes medians are computed in at once.
int64_t ps_window_lanes(enum ps_backend_id backend);

bool ps_window_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error);
#if PS_HAVE_CUDA
bool ps_window_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
#endif

#endif
