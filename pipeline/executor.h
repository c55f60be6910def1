// SPDX-License-Identifier: Apache-2.0
// An executor runs a plan's steps on one backend: device, compiled programs, whole arrays, and
// per slot a queue with its buffers. The runner has one (or two, to compare backends) and decides
// what block goes where; an executor knows nothing of files.
#ifndef PS_PIPELINE_EXECUTOR_H
#define PS_PIPELINE_EXECUTOR_H

#include "pipeline/plan.h"
#include "pipeline/timing.h"

#include <pthread.h>

struct ps_lane { // what one slot has of an executor; used by that slot's thread only
    struct ps_queue *queue;
    char *host; // == device on a unified backend
    char *device;
    // Of the block that is in it:
    struct ps_row_range *own;  // per domain: its rows
    struct ps_row_range *held; // per streamed port: the rows in its buffer, neighbours included
};

// Blocks of ordered stages follow one another.
struct ps_order {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int64_t *next;      // per step: the block whose turn it is
    int64_t *rows;      // per domain with chosen rows: how many there are before that block
    int64_t stopped_at; // this block failed: it and those after it need not wait
};

// All rows of an input, for the passes after the first one that reads it.
struct ps_kept {
    char *data; // where plan->keep says; NULL: not kept
    size_t bytes;
    bool lost;  // there were more rows than it has room for
    bool ready; // it holds all rows
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
    struct ps_order order;
    struct ps_kept *kept; // per input
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

// One block of input rows.
struct ps_block_range {
    int pass; // from 0
    int64_t block, first_row, rows;
    int64_t total; // rows of the inputs; PS_ROWS_UNKNOWN while more may come
    int slot;
};
// The rows of a streamed input that the pass needs at hand for the block: its own and neighbours.
struct ps_row_range ps_pass_input_rows(const struct ps_pass *pass, int port,
                                       const struct ps_block_range *range);
// Where they lie in the slot's host memory, the first one first.
void *ps_executor_host(const struct ps_executor *executor, int slot, int port);

// Copies in, runs all steps of the pass, copies kept arrays out, waits, notes the times. Blocks of
// a pass with ordered steps must be started in order.
bool ps_executor_run(struct ps_executor *executor, const struct ps_block_range *range,
                     struct ps_timing *timing, struct ps_error *error);
// After that, until the slot's next block: a kept (or input) array's own rows of the block.
const void *ps_executor_result(const struct ps_executor *executor, int slot, int port,
                               struct ps_row_range *rows_out);
// Block `block` failed: those after it that wait for their turn fail as well (PS_INTERRUPTED).
void ps_executor_stop(struct ps_executor *executor, int64_t block);

// ---- Inputs kept between passes (executor_keep.c) ----
// Whether the running pass has the input's rows in memory: no file is read.
bool ps_executor_has(const struct ps_executor *executor, int port);
// Such rows into the slot's host memory, where the stages do not read them in place.
void ps_executor_fetch(const struct ps_executor *executor, int slot, int port,
                       struct ps_row_range rows);
// Where rows from `first` on are to be read to so that nothing needs to be copied; NULL: to the
// slot's host memory.
char *ps_executor_direct(const struct ps_executor *executor, int port, int64_t first);
// Rows that were read, for later passes; does nothing where they are not kept, or not in host
// memory. Blocks of an input of unknown length are kept one at a time.
void ps_executor_keep(struct ps_executor *executor, int port, struct ps_row_range rows,
                      const void *data);

// ---- Inside (executor_keep.c) ----
bool ps_kept_open(struct ps_executor *executor, struct ps_error *error);
void ps_kept_close(struct ps_executor *executor);
void ps_kept_end_pass(struct ps_executor *executor); // what was filled is ready
// Enqueues copies of the block's own rows to what is kept in device memory.
bool ps_kept_copy(struct ps_executor *executor, const struct ps_block_range *range,
                  struct ps_error *error);
// Where stages of the running pass find the row of an input outside the slot's memory; else NULL.
char *ps_kept_in_place(const struct ps_executor *executor, int port, int64_t row);

// ---- Inside (executor_rows.c) ----
bool ps_order_open(struct ps_executor *executor, struct ps_error *error);
void ps_order_close(struct ps_executor *executor);
void ps_order_begin_pass(struct ps_executor *executor);
// Waits until it is the block's turn in step s; false when that will not come. Then passes it on.
bool ps_order_take(struct ps_executor *executor, int s, int64_t block);
void ps_order_pass(struct ps_executor *executor, int s);
// Rows of the block's inputs; of a step's output and input (own, held, needed) before its launch.
void ps_rows_begin(struct ps_executor *executor, const struct ps_block_range *range);
void ps_rows_of_step(struct ps_executor *executor, int s, const struct ps_block_range *range,
                     struct ps_launch *launch);
// After the launch of a step with chosen rows, of which `count` were made.
void ps_rows_chosen(struct ps_executor *executor, int s, int slot, int64_t count);
// Where a row of a streamed port lies in the slot's device memory.
char *ps_executor_device(const struct ps_executor *executor, int slot, int port, int64_t row);

#endif
