// SPDX-License-Identifier: Apache-2.0
// What the files of the plan share. For pipeline/plan*.c only.
#ifndef PS_PIPELINE_PLAN_PARTS_H
#define PS_PIPELINE_PLAN_PARTS_H

#include "pipeline/plan.h"

void *ps_zeroed(size_t count, size_t size); // calloc of at least one element

// Opens every input, fills in its port and plan->rows. Counts the rows of `load: whole` inputs
// whose format does not know them, by reading through them once.
void ps_plan_open_inputs(struct ps_plan *plan, struct ps_problems *problems);
// Fills in pass_of and passes. False: out of memory.
bool ps_plan_build_passes(struct ps_plan *plan);
// One line on what will bound the job, and the rates it assumes.
void ps_plan_print_prediction(const struct ps_plan *plan, struct ps_text *out);
// Fills in the pass's before and after, from what its results need back to the inputs. Returns a
// stage whose rows after a block would have to be known before it (see ps_row_rule.ordered), or
// NULL.
const struct ps_stage *ps_pass_extend(const struct ps_plan *plan, struct ps_pass *pass);
// The most rows of the port that are at hand at once, for blocks of `rows` input rows.
int64_t ps_plan_most_rows(const struct ps_plan *plan, const struct ps_pass *pass, int port,
                          int64_t rows);
// Rows beyond its own that a block of the pass reads of every input, before and after.
int64_t ps_pass_neighbours(const struct ps_pass *pass);
// Whether the last rows of a block are kept for the next one, as the input cannot be read again.
bool ps_plan_keeps_tail(const struct ps_plan *plan, const struct ps_pass *pass, int port);
// After a pass over `rows` input rows: the rows of every domain; chosen: those the data told.
void ps_plan_count_domains(struct ps_plan *plan, const struct ps_pass *pass, int64_t rows,
                           const int64_t *chosen);
// Decides which inputs are kept between passes, in the memory that blocks and slots leave over.
// Fails when one that can be read only once has no room.
bool ps_plan_keep(struct ps_plan *plan, struct ps_error *error);
void ps_pass_free(struct ps_pass *pass);

#endif
