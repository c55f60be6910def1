// SPDX-License-Identifier: Apache-2.0
// What the stages over the axes of a row share: which axes they may touch, and their output.
//
// Of a streamed array these are the axes of a row, 1 and on. A whole array is taken as one row:
// all of its axes are theirs. Axes are named by their number in the array either way.
#ifndef PS_KERNELS_SHAPE_SHAPE_H
#define PS_KERNELS_SHAPE_SHAPE_H

#include "kernels/shape/lines.h"
#include "kernels/stage.h"

// The first axis that the stages may touch: 1 or 0.
int ps_shape_first(const struct ps_port *port);
// The stage's `in` as input 0, with at least `least` axes of its own. NULL after reporting.
const struct ps_port *ps_shape_input(struct ps_stage *stage, const struct ps_scope *scope,
                                     int least, struct ps_problems *problems);
// A number of an axis as written (negative: counted from the last one) of `rank` axes; -1 after
// reporting. `what` names the array.
int ps_shape_axis(const struct ps_value *value, int64_t number, struct ps_place place,
                  const struct ps_port *port, int rank, struct ps_problems *problems);
// The option `axis`.
int ps_shape_axis_option(const struct ps_stage *stage, const struct ps_port *port, int rank,
                         struct ps_problems *problems);
// Begins the output like the input, which it is made from row by row: dtype, dims, axes; the
// caller then changes what is different.
void ps_shape_output(struct ps_stage *stage, const struct ps_port *in, enum ps_dtype dtype);
// The names of the last axis: of the chosen columns (NULL: all, in order). Without effect when
// the input has none, or when a name would come twice. False after reporting.
bool ps_shape_columns(struct ps_stage *stage, const struct ps_array *from, const int64_t *chosen,
                      struct ps_problems *problems);
// Likewise, names of one's own.
bool ps_shape_set_columns(struct ps_stage *stage, const char *const *names, int count,
                          struct ps_problems *problems);
// Elements of dims[first ... end).
int64_t ps_shape_product(const int64_t *dims, int first, int end);
// The lines of an array along an axis.
struct ps_lines ps_shape_lines(const struct ps_port *port, int axis);
// The place of a value that was written, else of the stage.
struct ps_place ps_shape_place(const struct ps_stage *stage, const struct ps_value *value);

#define PS_SHAPE_AXIS_OPTION                                                                       \
    {                                                                                              \
        .key = "axis", .kind = PS_INTEGER, .fallback = "-1", .min = -8, .max = 7,                  \
        .help = "which axis, counted from 0 (the rows, of a streamed array not allowed here), or " \
                "from the end: -1 is the last"                                                     \
    }

#endif
