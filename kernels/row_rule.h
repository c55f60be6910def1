// SPDX-License-Identifier: Apache-2.0
// How the rows of a stage's output come from those of its streamed inputs.
//
// Output row r belongs to an input row, its anchor: start + r / times * step. It is computed from
// the input rows anchor - before ... anchor + after, as far as they exist. So the runner knows, for
// any block of input rows, which output rows are its own and what must be at hand to compute them,
// and no result depends on where a block ends.
#ifndef PS_KERNELS_ROW_RULE_H
#define PS_KERNELS_ROW_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct ps_row_rule {
    int64_t before, after; // >= 0
    int64_t start, stop;   // anchors lie in [start, stop)
    int64_t step, times;   // >= 1
    bool partial; // rows after the last anchor make one more output row at the end of the input
    // Blocks run one after another; launch->state is one for all of them and carries on from block
    // to block. Such a stage has no `after` rows asked of it.
    bool ordered;
    // Which rows there are, only the data tells (select): the stage writes how many rows of the
    // block it made to launch->rows_out. Implies ordered; start, step and times are not used.
    bool chosen;
};

// Every input row gives one output row and needs no other.
#define PS_ROWS_ONE_TO_ONE ((struct ps_row_rule){.stop = INT64_MAX, .step = 1, .times = 1})

struct ps_row_range {
    int64_t first, end;
};

// Whether output row r is that of input row r.
bool ps_row_rule_keeps(const struct ps_row_rule *rule);
// Output rows whose anchor is below `end`; at_end: the input ends there. Not for chosen rows.
int64_t ps_row_rule_count(const struct ps_row_rule *rule, int64_t end, bool at_end);
// Input rows that the output rows need; may reach below 0 and beyond the input's end. Empty for
// none.
struct ps_row_range ps_row_rule_needs(const struct ps_row_rule *rule, struct ps_row_range output);
// The most output rows of any `rows` neighbouring input rows.
int64_t ps_row_rule_most(const struct ps_row_rule *rule, int64_t rows);
// How many rows before / after a block's own ones the input must have at hand, when as many of the
// output are wanted before and after.
int64_t ps_row_rule_before(const struct ps_row_rule *rule, int64_t output_before);
int64_t ps_row_rule_after(const struct ps_row_rule *rule, int64_t output_after);

#endif
