// SPDX-License-Identifier: Apache-2.0
// Shapes of expressions: how the arrays of a map align, and how each one is addressed.
#ifndef PS_KERNELS_MAP_SHAPE_H
#define PS_KERNELS_MAP_SHAPE_H

#include "kernels/map/map.h"

// What the arrays seen so far broadcast to. With any streamed array, dims are those of a row;
// else of the whole result.
struct ps_map_shape {
    bool any, streamed;
    int64_t rows; // of the streamed ones
    int rank;
    int64_t dims[PS_RANK_MAX];
    // Whole arrays are judged against the streamed ones once all of those are known.
    int whole_count;
    const struct ps_port *wholes[2 * PS_STAGE_INPUTS_MAX]; // each port once, its columns once
    bool whole_columns[2 * PS_STAGE_INPUTS_MAX];
    char text[512]; // of the last fault
};

// NULL, or what does not fit (text in shape).
const char *ps_map_shape_add(struct ps_map_shape *shape, const struct ps_port *port, bool column);
// After the last add. NULL, or what does not fit and whose fault it is.
const char *ps_map_shape_settle(struct ps_map_shape *shape, const struct ps_port **culprit_out);
// How the port (its column, or all of it when column < 0) is addressed in the settled shape.
void ps_map_leaf(const struct ps_map_shape *shape, const struct ps_port *port, int port_index,
                 int column, struct ps_leaf *leaf_out);
// A whole array (its column, or all of it when column < 0) whose elements are read by number. NULL,
// or what is wrong with it (text in shape).
const char *ps_map_table(struct ps_map_shape *shape, const struct ps_port *port, int port_index,
                         int column, struct ps_leaf *leaf_out);
bool ps_map_shape_finish(const struct ps_map_shape *shape, struct ps_stage *stage,
                         const struct ps_scope *scope, enum ps_dtype dtype,
                         struct ps_map_detail *detail, struct ps_error *error);

#endif
