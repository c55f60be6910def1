// SPDX-License-Identifier: Apache-2.0
// What the parts of the stage `reduce` share: the plan of one reduction, and its functions.
#ifndef PS_KERNELS_REDUCE_REDUCE_H
#define PS_KERNELS_REDUCE_REDUCE_H

#include "kernels/reduce/finish.h"

#define PS_REDUCE_AXES_MAX 8

// Axes of a row, outermost first: an index counts through them, the last one fastest.
struct ps_reduce_axes {
    int count;
    int64_t size[PS_REDUCE_AXES_MAX];
    int64_t step[PS_REDUCE_AXES_MAX]; // in elements
};

// Where in the row the index-th place is.
PS_EXACT int64_t ps_reduce_offset(const struct ps_reduce_axes *axes, int64_t index)
{
    int64_t offset = 0;
    for (int i = axes->count - 1; i >= 0; i--) {
        offset += index % axes->size[i] * axes->step[i];
        index /= axes->size[i];
    }
    return offset;
}

// One planned reduction. Plain numbers: kernels get a copy.
struct ps_reduce {
    struct ps_reduce_form form; // rows: outputs = a row's elements; all: 1; inner: see below
    struct ps_reduce_ask ask;
    bool inner; // over axes of the row; else over rows (or everything)
    int64_t row_elements;
    // Inner: each row gives `kept_count` outputs out of `reduced_count` elements each. Neighbouring
    // axes of one sort are joined. form.outputs: the size of the last axis if kept, else 1.
    struct ps_reduce_axes kept, reduced;
    int64_t kept_count, reduced_count;
};

#endif
