// SPDX-License-Identifier: Apache-2.0
// What the plans of the stages across rows share.
#ifndef PS_KERNELS_WINDOW_ACROSS_H
#define PS_KERNELS_WINDOW_ACROSS_H

#include "kernels/stage.h"

// `in` as input 0 of the stage; it must have an axis of rows. NULL after reporting, or when the
// array failed itself.
const struct ps_port *ps_across_input(struct ps_stage *stage, const struct ps_scope *scope,
                                      struct ps_problems *problems);
// The stage's output out of its rows rule: rows, then the axes of a row, then a last axis of
// `count` named columns when names is not NULL. Else the input's names of columns stay. Fills in
// streamed, whole_rows and axes as well.
bool ps_across_output(struct ps_stage *stage, const struct ps_port *in, enum ps_dtype dtype,
                      int count, const char *const *names, struct ps_problems *problems);

// How the first and last rows are made, which have too few neighbours: the options `edges` and
// `fill`. filler: raw bits in dtype.
struct ps_across_edges {
    bool fill;
    uint64_t filler;
};
// `edges: drop` narrows stage->rows to the rows that have all of their neighbours. `neighbours`:
// the rows before and after are those of stage->rows. False after reporting.
bool ps_across_edges(struct ps_stage *stage, const struct ps_port *in, enum ps_dtype dtype,
                     struct ps_across_edges *edges_out, struct ps_problems *problems);
// number as an element of dtype, exactly. False: dtype cannot hold it.
bool ps_across_raw(double number, enum ps_dtype dtype, uint64_t *raw_out);

#define PS_ACROSS_EDGES_OPTIONS(choices_, fallback_)                                               \
    {.key = "edges",                                                                               \
     .kind = PS_CHOICE,                                                                            \
     .fallback = fallback_,                                                                        \
     .choices = choices_,                                                                          \
     .help = "rows that lack neighbours at the beginning or end: fill (with `fill`), partial "     \
             "(from those that there are), drop (no such rows)"},                                  \
    {                                                                                              \
        .key = "fill", .kind = PS_NUMBER,                                                          \
        .help = "the value of `edges: fill`; NaN if unset, which integers do not have"             \
    }

#endif
