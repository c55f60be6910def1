// SPDX-License-Identifier: Apache-2.0
// What the files of one pass share: the stream of its blocks and the slots that carry them. For
// pipeline/runner_pass.c and runner_read.c only.
#ifndef PS_PIPELINE_RUNNER_STREAM_H
#define PS_PIPELINE_RUNNER_STREAM_H

#include "pipeline/readers.h"
#include "pipeline/runner_pass.h"

#include <pthread.h>

enum ps_slot_state { PS_SLOT_WORKING, PS_SLOT_READY, PS_SLOT_WRITTEN };

struct ps_slot {
    struct ps_stream *stream;
    int number;
    pthread_t thread;
    pthread_cond_t wake; // its turn to read, its block written, or the end
    enum ps_slot_state state;
    bool has_hand;
    struct ps_block_range range;
};

// The last rows that were read of an input, for the next block; see ps_plan_keeps_tail.
struct ps_tail {
    char *data; // NULL: not kept
    int64_t first, end;
};

struct ps_stream {
    struct ps_run *run;
    const struct ps_pass *pass;
    int pass_number;
    struct ps_output **outputs;
    struct ps_readers *readers; // threads that share large reads; NULL: the slot reads alone
    bool in_order;              // some input must be read block after block
    struct ps_tail *tails;      // per input of the pass; whose turn it is to read has them

    pthread_mutex_t lock; // of everything below, and of the slots' states
    pthread_cond_t ready; // the writer's block may be there, or the end
    pthread_cond_t free_hand;
    int hands;            // slots that may yet start to read, and on the cpu to compute
    int64_t next_block;   // to be taken by a slot
    int64_t next_read;    // whose turn it is to read, when in_order
    int64_t end_block;    // blocks there are; INT64_MAX until it is known
    int64_t rows;         // rows there are; PS_ROWS_UNKNOWN until it is known
    int64_t done;         // blocks done; with outputs: written, in order
    bool failed;
    int64_t failed_block; // the earliest; its error is kept
    struct ps_error error;
    struct ps_slot *slots;
};

// Wakes every thread that waits; the lock is held.
void ps_stream_wake_all(struct ps_stream *stream);
bool ps_stream_unknown(const struct ps_stream *stream, int port); // rows not in its header

// Reads all inputs of the slot's block, when it is the block's turn and one of run.threads hands is
// free, which the slot keeps. range.rows becomes what there was; 0 at the end of the stream, or
// when it failed elsewhere.
bool ps_stream_read(struct ps_stream *stream, struct ps_slot *slot, struct ps_error *error);
void ps_stream_give_hand(struct ps_stream *stream, struct ps_slot *slot); // if it has one
// That inputs of unknown length have no row `rows`, where the others end.
bool ps_stream_check_end(struct ps_stream *stream, int64_t rows, struct ps_error *error);

#endif
