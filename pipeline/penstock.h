// SPDX-License-Identifier: Apache-2.0
// libpenstock: the library's public face. Load a config, plan it, run it, read the summary.
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include "base/error.h"
#include "base/problem.h"
#include "base/text.h"
#include "base/version.h"

#include <stdbool.h>
#include <stdint.h>

struct ps_job; // one run of one config

// Reads and checks a config. Faults, all of them, go to `problems`; ps_job_problems_text prints
// them. The job is NULL only when out of memory; one with errors can only be printed and freed.
struct ps_job *ps_job_load(const char *config_path, const char *const *sets, size_t set_count,
                           struct ps_problems *problems);
void ps_job_free(struct ps_job *job);
// As a compiler prints errors, with the lines of the config.
void ps_job_problems_text(const struct ps_job *job, const struct ps_problems *problems,
                          struct ps_text *out);

// Opens the inputs (headers only), agrees shapes, chooses backend, block and slots, checks the
// outputs. Moves no data. Faults of the config go to problems, others to error; false on either.
bool ps_job_plan(struct ps_job *job, struct ps_problems *problems, struct ps_error *error);
// The plan for people: arrays, passes, steps and fusion, bytes, kernels, backend and why.
bool ps_job_plan_text(struct ps_job *job, struct ps_text *out, struct ps_error *error);

// Streams, once per loaded job. Set *stop (from a signal handler) to end early with PS_INTERRUPTED; may be NULL. On
// failure no output exists under its final name and none that was there has changed; the one
// exception is a rename that the file system refuses after another output's has succeeded.
bool ps_job_run(struct ps_job *job, const volatile int *stop, struct ps_error *error);
// After a run: time, rates, totals per step, what bounded the run, comparison of backends.
void ps_job_summary_text(const struct ps_job *job, struct ps_text *out);
// Whether an output of the job goes to standard output, where nothing else may then be printed.
bool ps_job_uses_stdout(const struct ps_job *job);
// After a run with compare: whether all stages matched.
bool ps_job_compare_matched(const struct ps_job *job);

// Wall time and bytes of the last run, for benchmarks.
struct ps_job_totals {
    double wall_ms;
    int64_t rows, blocks;
    uint64_t bytes_read, bytes_written;
    const char *backend;
};
struct ps_job_totals ps_job_totals(const struct ps_job *job);

#endif
