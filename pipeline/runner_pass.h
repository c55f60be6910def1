// SPDX-License-Identifier: Apache-2.0
// The blocks of one pass.
#ifndef PS_PIPELINE_RUNNER_PASS_H
#define PS_PIPELINE_RUNNER_PASS_H

#include "pipeline/runner.h"

// Streams every block of the pass; outputs is indexed as plan->outputs. Sets run->rows and adds
// to run->blocks.
bool ps_run_blocks(struct ps_run *run, int pass, struct ps_output **outputs,
                   struct ps_error *error);

#endif
