// SPDX-License-Identifier: Apache-2.0
// The runner streams a plan: one thread per slot reads a block, runs it and hands it to the one
// writer thread, which writes blocks in order. It waits only on events and on its turn.
#ifndef PS_PIPELINE_RUNNER_H
#define PS_PIPELINE_RUNNER_H

#include "pipeline/compare.h"
#include "pipeline/executor.h"

struct ps_run {
    struct ps_plan *plan;
    struct ps_executor *executors; // [0] makes the outputs; [1], if any, is compared with it
    int executor_count;
    struct ps_timing *timing;
    struct ps_compare *compare; // NULL without compare
    const volatile int *stop;   // may be NULL
    int64_t rows, blocks;       // filled in: streamed rows of the last pass, blocks of all
};

// Runs every pass; outputs are opened before, finished and committed after. On failure nothing
// is left under a final name.
bool ps_run_job(struct ps_run *run, struct ps_error *error);

#endif
