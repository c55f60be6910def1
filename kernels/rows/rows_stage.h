// SPDX-License-Identifier: Apache-2.0
// The stages rows, repeat and select inside.
#ifndef PS_KERNELS_ROWS_ROWS_STAGE_H
#define PS_KERNELS_ROWS_ROWS_STAGE_H

#include "kernels/rows/pick.h"
#include "kernels/stages.h"

struct ps_program {
    struct ps_pick_job job; // all but what a launch says
    int in, where;          // select: positions in the step's inputs
};

// The words of a row: as wide as its elements.
void ps_pick_words(const struct ps_array *array, struct ps_pick_job *job);
void ps_pick_job_of(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_pick_job *job_out);
void ps_rows_unplan(struct ps_stage *stage);
void ps_rows_release(struct ps_program *program);
bool ps_rows_compile(const struct ps_step *step, struct ps_device *device,
                     struct ps_program **program_out, struct ps_error *error);

// select, scratch on cuda: where each chosen row goes, then a count per tile of rows.
#define PS_SELECT_TILE 1024
#if PS_HAVE_CUDA
bool ps_pick_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error);
bool ps_select_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
#endif

#endif
