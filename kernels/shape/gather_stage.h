// SPDX-License-Identifier: Apache-2.0
// The stages that move elements inside: how a plan makes pieces, and what the stages share.
#ifndef PS_KERNELS_SHAPE_GATHER_STAGE_H
#define PS_KERNELS_SHAPE_GATHER_STAGE_H

#include "kernels/shape/gather.h"
#include "kernels/shape/shape.h"
#include "kernels/stages.h"

// stage->detail of those stages.
struct ps_gather {
    struct ps_gather_piece pieces[PS_STAGE_INPUTS_MAX];
    int piece_count;
    int word_bytes, out_dtype;
    bool whole;    // the array is one row
    bool empty;    // has no elements
    int64_t *list; // owned
    int64_t list_count;
};

struct ps_program {
    struct ps_gather gather; // inputs are those of the step
    struct ps_device *device;
    int64_t *device_list; // cuda: where the list lies there
};

// Begins stage->detail. NULL after reporting.
struct ps_gather *ps_gather_begin(struct ps_stage *stage, bool whole, struct ps_problems *problems);
// Room for a list of count places. False after reporting.
bool ps_gather_list(struct ps_stage *stage, struct ps_gather *gather, int64_t count,
                    struct ps_problems *problems);
// A piece that copies all of the input at `position` to the same place in rows of `to_dims`, as if
// both had the input's axes. Steps are in elements; the caller changes what is different.
struct ps_gather_piece *ps_gather_add(struct ps_gather *gather, const struct ps_port *in,
                                      int position, const int64_t *to_dims);
// When stage->output and the pieces are there: widens words and fills in rows.
void ps_gather_finish(const struct ps_stage *stage, struct ps_gather *gather);

void ps_gather_unplan(struct ps_stage *stage);
bool ps_gather_compile(const struct ps_step *step, struct ps_device *device,
                       struct ps_program **program_out, struct ps_error *error);
void ps_gather_release(struct ps_program *program);

// The job of a piece and a launch, axes joined where they lie behind one another.
void ps_gather_job_of(const struct ps_program *program, int piece, const struct ps_launch *launch,
                      struct ps_gather_job *job_out);
// Whether input and output are fast along different axes, and then which one the input is.
bool ps_gather_turns(const struct ps_gather_piece *piece, int *axis_out);

bool ps_gather_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error);
#if PS_HAVE_CUDA
bool ps_gather_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
#define PS_GATHER_RUN                                                                              \
    {                                                                                              \
        [PS_CPU] = ps_gather_run_cpu, [PS_CUDA] = ps_gather_run_cuda                               \
    }
#else
#define PS_GATHER_RUN                                                                              \
    {                                                                                              \
        [PS_CPU] = ps_gather_run_cpu                                                               \
    }
#endif

#endif
