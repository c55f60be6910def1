// SPDX-License-Identifier: Apache-2.0
// The texts of a map stage: its `let`, one after the other, and last its `expr`.
#ifndef PS_KERNELS_MAP_PARTS_H
#define PS_KERNELS_MAP_PARTS_H

#include "kernels/map/expr.h"
#include "kernels/map/fold.h"
#include "kernels/stage.h"

struct ps_map_part {
    const char *name; // NULL: the stage's expr
    const char *text;
    struct ps_place name_place, place;
    struct ps_expr expr;
    bool used;             // by the result; others are not computed
    struct ps_typed value; // once it is typed
};

struct ps_map_parts {
    struct ps_map_part *list;
    int count;
};

// Parses all texts and finds out which are used. False after reporting.
bool ps_map_parts_make(const struct ps_stage *stage, const struct ps_scope *scope,
                       struct ps_map_parts *parts_out, struct ps_problems *problems);
void ps_map_parts_free(struct ps_map_parts *parts);
// The part of that name; -1: there is none.
int ps_map_parts_find(const struct ps_map_parts *parts, const char *name);

// Reports a fault at characters [start, start + length) of the part.
void ps_map_part_fault(const struct ps_map_part *part, int start, int length, const char *text,
                       struct ps_problems *problems);

#endif
