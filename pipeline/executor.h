// SPDX-License-Identifier: Apache-2.0
// An executor runs a plan's steps on one backend: device, compiled programs, whole arrays, and
// per slot a queue with its buffers. The runner has one (or two, to compare backends) and decides
// what block goes where; an executor knows nothing of files.
#ifndef PS_PIPELINE_EXECUTOR_H
#define PS_PIPELINE_EXECUTOR_H

#include "pipeline/plan.h"
#include "pipeline/timing.h"

struct ps_lane { // what one slot has of an executor; used by that slot's thread only
    struct ps_queue *queue;
    char *host;   // == device on a unified backend
    char *device;
};

struct ps_executor {
    const struct ps_plan *plan;
    const struct ps_backend *backend;
    struct ps_device *device;
    struct ps_program ***programs; // [pass][step]
    void **whole;                  // per port: device memory of a whole array, or NULL
    void **whole_host;             // the same in host memory (pinned); == whole when unified
    struct ps_lane *lanes;         // plan->slots of them
    char *merged, *other;          // host memory to merge states in; NULL without reductions
    const struct ps_pass *pass;    // the pass that is running
    struct ps_layout layout;       // of that pass
};

// Opens the device only; ps_executor_compile makes the programs.
bool ps_executor_open(struct ps_executor *executor, const struct ps_plan *plan,
                      enum ps_backend_id backend, struct ps_error *error);
bool ps_executor_compile(struct ps_executor *executor, struct ps_error *error);
// Takes every buffer there will be: slots for the largest pass, whole arrays, states.
bool ps_executor_alloc(struct ps_executor *executor, struct ps_error *error);
void ps_executor_close(struct ps_executor *executor);

// Before the blocks of a pass: layout, empty states, whole steps.
bool ps_executor_begin_pass(struct ps_executor *executor, int pass, struct ps_timing *timing,
                            struct ps_error *error);
// After them: merges the slots' states and finishes reductions into whole arrays.
bool ps_executor_end_pass(struct ps_executor *executor, struct ps_timing *timing,
                          struct ps_error *error);
// Host memory of a whole array to the device; the caller has filled whole_host[port].
bool ps_executor_upload_whole(struct ps_executor *executor, int port, struct ps_error *error);

// Where block data of a port lies in the slot's host memory (inputs, kept stages).
void *ps_executor_host(const struct ps_executor *executor, int slot, int port);

// Copies in, runs all steps of the pass, copies kept arrays out, waits, notes the times.
struct ps_block_range {
    int pass; // from 0
    int64_t block, first_row, rows;
    int slot;
};
bool ps_executor_run(struct ps_executor *executor, const struct ps_block_range *range,
                     struct ps_timing *timing, struct ps_error *error);

#endif
