// SPDX-License-Identifier: Apache-2.0
// Windows on the cpu backend, computed at once in the calling thread. One loop over the shared
// arithmetic of window.h, compiled once per kind of node.
#include "kernels/window/stage.h"

// A copy of the job in which the compiler knows the node (and most often the dtype), so that the
// shared functions become straight loops.
#define LOOPS(NAME, NODE)                                                                          \
    static void build_##NAME(const struct ps_window_job *given)                                    \
    {                                                                                              \
        struct ps_window_job job = *given;                                                         \
        job.node = NODE;                                                                           \
        for (int level = 0; level < job.levels; level++)                                           \
            for (int64_t node = job.first[level]; node < job.end[level]; node++)                   \
                for (int64_t column = 0; column < job.columns; column++)                           \
                    ps_window_build(&job, level, node, column);                                    \
    }                                                                                              \
    static int64_t results_##NAME(const struct ps_window_job *given)                               \
    {                                                                                              \
        struct ps_window_job job = *given;                                                         \
        job.node = NODE;                                                                           \
        for (int64_t row = 0; row < job.rows; row++)                                               \
            for (int64_t column = 0; column < job.columns; column++)                               \
                if (!ps_window_result(&job, row, column))                                          \
                    return row;                                                                    \
        return -1;                                                                                 \
    }

LOOPS(f64, PS_NODE_F64)
LOOPS(i128, PS_NODE_I128)
LOOPS(moments, PS_NODE_MOMENTS)
LOOPS(least, PS_NODE_LEAST)
LOOPS(most, PS_NODE_MOST)
LOOPS(numbers, PS_NODE_NUMBERS)

static void build_none(const struct ps_window_job *given)
{
    (void)given;
}

static int64_t results_none(const struct ps_window_job *given)
{
    return results_numbers(given); // first, last: no node is looked at
}

static const struct {
    void (*build)(const struct ps_window_job *);
    int64_t (*results)(const struct ps_window_job *); // the row of an overflow, or -1
} loops[] = {
    [PS_NODE_F64] = {build_f64, results_f64},
    [PS_NODE_I128] = {build_i128, results_i128},
    [PS_NODE_MOMENTS] = {build_moments, results_moments},
    [PS_NODE_LEAST] = {build_least, results_least},
    [PS_NODE_MOST] = {build_most, results_most},
    [PS_NODE_NUMBERS] = {build_numbers, results_numbers},
    [PS_NODE_NONE] = {build_none, results_none},
};

bool ps_window_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    for (int kind = 0; kind < program->window.kind_count; kind++) {
        struct ps_window_job job;
        ps_window_job_of(&program->window, launch, kind, &job);
        if (job.kind == PS_WINDOW_MEDIAN) {
            int64_t lanes = (job.rows + job.lane_rows - 1) / job.lane_rows * job.columns;
            for (int64_t lane = 0; lane < lanes; lane++)
                ps_window_medians(&job, lane, 0);
            continue;
        }
        loops[job.node].build(&job);
        int64_t row = loops[job.node].results(&job);
        if (row >= 0)
            return ps_fail(error, PS_INPUT,
                           "the sum of the window at row %lld of '%s' is beyond 64 bits; ask for "
                           "the mean, or make it f64 by a map stage",
                           (long long)(job.first_row + row), program->window.input);
    }
    return true;
}
