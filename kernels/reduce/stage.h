// SPDX-License-Identifier: Apache-2.0
// The functions behind the row of the stage `reduce` (reduce.c).
#ifndef PS_KERNELS_REDUCE_STAGE_H
#define PS_KERNELS_REDUCE_STAGE_H

#include "kernels/reduce/reduce.h"
#include "kernels/reduce/tile.h"
#include "kernels/stages.h"

struct ps_program {
    const struct ps_reduce *reduce; // of the stage
    const struct ps_reduce_tile *tile; // cpu
    struct ps_device *device;
    const struct ps_port *input;
    int weight_dtype;
    struct ps_kernel_info kernel; // cuda
};

int ps_reduce_phases(const struct ps_stage *stage, const struct ps_scope *scope,
                     struct ps_problems *problems);
bool ps_reduce_plan(struct ps_stage *stage, const struct ps_scope *scope,
                    struct ps_problems *problems);
void ps_reduce_unplan(struct ps_stage *stage);

size_t ps_reduce_step_state_bytes(const struct ps_step *step);
void ps_reduce_merge(const struct ps_step *step, void *into, const void *from);
// Byte in a state where part number `part` (or the end) is.
int64_t ps_reduce_part_at(const struct ps_reduce *reduce, int part);
// The results of one part for one of its outputs, as output number `at` of array; its share in
// that output's basics.
enum ps_reduce_fault ps_reduce_part_finish(const struct ps_reduce_part *part, const void *state,
                                           int64_t output, int64_t at, void *array, double *basics,
                                           int *kind_out);
// The results put together from basics, as output number `at`.
void ps_reduce_combine_all(const struct ps_reduce *reduce, const double *basics, int64_t at,
                           void *array);
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
// ---- cpu: terms and picks (reduce_terms.c) ----

// values[i] = element first + i of data as a number, or its magnitude (integers: as u64).
void ps_term_load(int dtype, const void *data, int64_t first, int64_t count, double *values);
void ps_term_magnitudes(int dtype, const void *data, int64_t first, int64_t count, void *values);
// Adds rows x outputs values to the picks; row i of them is number first_row + i.
void ps_pick_add(int dtype, bool products, void *state, int64_t outputs, const void *data,
                 int64_t rows, int64_t first_row);
// One output of inner axes: place of the kept axes, row: the row's first element.
struct ps_pick ps_pick_places(const struct ps_reduce *reduce, bool products, const void *row,
                              int64_t place);
bool ps_pick_wants_products(const struct ps_reduce_part *part);

size_t ps_reduce_scratch_bytes(const struct ps_step *step, enum ps_backend_id backend,
                               int64_t rows);
#if PS_HAVE_CUDA
bool ps_reduce_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
size_t ps_reduce_scratch_cuda(const struct ps_reduce *reduce, int64_t rows);
// Chooses the launch shape of the main kernel: program->kernel.
bool ps_reduce_shape_cuda(struct ps_program *program, struct ps_error *error);
#endif

#endif
