// SPDX-License-Identifier: Apache-2.0
// Differences between what two backends computed, stage by stage.
#ifndef PS_PIPELINE_COMPARE_H
#define PS_PIPELINE_COMPARE_H

#include "pipeline/plan.h"
#include "pipeline/timing.h"

// Largest differences seen so far of one array. Equal bits, and NaN against NaN, differ by
// nothing. Relative: |a-b| / max(|a|,|b|). ulp: units in the last place of the array's dtype
// between a and b, counted over the representable numbers.
struct ps_difference {
    double absolute, relative, ulp;
    double scale;  // largest finite |a|
    int64_t worst; // element with the largest ulp difference; -1: none differs
    uint64_t elements, different;
    bool nan_mismatch; // NaN on one side only
};
void ps_difference_add(struct ps_difference *difference, enum ps_dtype dtype, const void *a,
                       const void *b, size_t count, int64_t first_element);

struct ps_compare;
struct ps_compare *ps_compare_open(const struct ps_plan *plan, struct ps_error *error);
void ps_compare_free(struct ps_compare *compare);
// a: cpu's, b: cuda's data of the stage at `port`; thread-safe.
void ps_compare_add(struct ps_compare *compare, int port, const void *a, const void *b,
                    size_t count, int64_t first_element);
// Bound in ulp under which a stage matches: integers and reductions 0 (they are exact), maps 4
// (elementary functions differ by library), matmul 2 sqrt(K) + 8 (another order of the sums),
// kernels their `tolerance`.
// It is counted at each value, or else at the array's largest: where terms cancel, a small result
// carries the rounding errors of large ones.
double ps_compare_bound(const struct ps_stage *stage, const struct ps_plan *plan);
bool ps_compare_matched(const struct ps_compare *compare);
void ps_compare_print(const struct ps_compare *compare, const struct ps_timing *timing,
                      struct ps_text *out);

#endif
