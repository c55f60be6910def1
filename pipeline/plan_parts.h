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
void ps_pass_free(struct ps_pass *pass);

#endif
