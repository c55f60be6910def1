// SPDX-License-Identifier: Apache-2.0
// The functions behind the row of the stage `reduce` (reduce.c).
#ifndef PS_KERNELS_REDUCE_STAGE_H
#define PS_KERNELS_REDUCE_STAGE_H

#include "kernels/reduce/reduce.h"
#include "kernels/reduce/tile.h"
#include "kernels/stages.h"

struct ps_program {
    struct ps_reduce reduce;
    const struct ps_reduce_tile *tile; // cpu
    struct ps_device *device;
    const struct ps_port *input;
    struct ps_kernel_info kernel; // cuda
};

bool ps_reduce_plan(struct ps_stage *stage, const struct ps_scope *scope,
                    struct ps_problems *problems);
void ps_reduce_unplan(struct ps_stage *stage);

size_t ps_reduce_step_state_bytes(const struct ps_step *step);
void ps_reduce_merge(const struct ps_step *step, void *into, const void *from);
bool ps_reduce_step_finish(const struct ps_step *step, const void *state, void *output,
                           struct ps_error *error);
// Makes room for `elements` more additions to each output, and counts them.
void ps_reduce_count(const struct ps_reduce_form *form, void *state, int64_t elements);
// The message of a fault. `where`: "row 5, element 2"; array: the input.
bool ps_reduce_fail(enum ps_reduce_fault fault, int kind, const char *where,
                    const struct ps_port *input, struct ps_error *error);
const char *ps_reduce_kind_name(int kind);

bool ps_reduce_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error);
size_t ps_reduce_scratch_bytes(const struct ps_step *step, enum ps_backend_id backend,
                               int64_t rows);
#if PS_HAVE_CUDA
bool ps_reduce_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
// Chooses the launch shape of the one kernel: program->kernel.
bool ps_reduce_shape_cuda(struct ps_program *program, struct ps_error *error);
#endif

#endif
