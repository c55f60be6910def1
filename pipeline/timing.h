// SPDX-License-Identifier: Apache-2.0
// What every step of every block cost: one log line each, totals per step, and what bounded the
// run. Called from many threads; memory stays bounded however many blocks there are.
#ifndef PS_PIPELINE_TIMING_H
#define PS_PIPELINE_TIMING_H

#include "base/error.h"
#include "base/text.h"

#include <stdint.h>

enum ps_step_kind {
    PS_STEP_READ,   // bytes out of the file (and of the page cache)
    PS_STEP_DECODE, // to native numbers, on the cpu
    PS_STEP_H2D,
    PS_STEP_STAGE,
    PS_STEP_D2H,
    PS_STEP_WRITE,
    PS_STEP_KINDS
};

struct ps_timing_entry {
    int pass;      // from 1
    int64_t block; // from 0; -1: once per pass (whole arrays, merging)
    int slot;
    enum ps_step_kind kind;
    const char *name; // of the array or the stages; must stay valid
    int64_t first_row, rows;
    uint64_t bytes;
    double start_ms; // ps_clock_ms
    double duration_ms;
    const char *backend; // "cpu", "cuda", "io", or "memory" for what an earlier pass read
};

struct ps_timing;

// log_path NULL: no log. A path ending in .jsonl gives JSON lines, else CSV with a header line.
// The log is a log: it replaces an older one at once and keeps what was written when a job fails.
struct ps_timing *ps_timing_open(const char *log_path, struct ps_error *error);
void ps_timing_add(struct ps_timing *timing, const struct ps_timing_entry *entry);
// Ends the measured time; writes what is left of the log. Fails with PS_OUTPUT.
bool ps_timing_close_log(struct ps_timing *timing, struct ps_error *error);
void ps_timing_free(struct ps_timing *timing);

double ps_timing_wall_ms(const struct ps_timing *timing); // from open to close_log
uint64_t ps_timing_bytes(const struct ps_timing *timing, enum ps_step_kind kind);
// Sum of durations of one stage step on one backend; 0 when there is none.
double ps_timing_stage_ms(const struct ps_timing *timing, const char *name, const char *backend);
// A line per step, then "bound by": the fullest of reading, decoding, copies in, the cpu's stages,
// the GPU's stages, copies out and writing, each taken over all arrays and stages. What all slots
// can do at once is measured by `lanes`; the writer, the GPU's engines and what never ran twice at
// once (a format that is read in order) by `busy`.
// slots: lanes that work at the same time.
//   busy: the part of the wall time in which at least one slot was in this step.
//   lanes: summed durations over wall time times slots: how full the slots were.
void ps_timing_print(const struct ps_timing *timing, int slots, struct ps_text *out);

#endif
