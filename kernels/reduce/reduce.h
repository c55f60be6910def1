// SPDX-License-Identifier: Apache-2.0
// What the parts of the stage `reduce` share: the plan of one reduction, and its functions.
//
// A reduction keeps one accumulator (a part) for each thing that is summed: the values, magnitudes,
// powers of the distance from the mean, ... (term.h). Most reductions have one part.
#ifndef PS_KERNELS_REDUCE_REDUCE_H
#define PS_KERNELS_REDUCE_REDUCE_H

#include "kernels/reduce/term.h"

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

// The place along these axes of an element of the row.
PS_EXACT int64_t ps_reduce_index(const struct ps_reduce_axes *axes, int64_t element)
{
    int64_t index = 0;
    for (int i = 0; i < axes->count; i++)
        index = index * axes->size[i] + element / axes->step[i] % axes->size[i];
    return index;
}

// What is reduced to what.
struct ps_reduce_shape {
    bool inner; // over axes of the row; else over rows (or everything)
    int dtype;  // of the input
    int64_t row_elements;
    int64_t outputs; // accumulators side by side: rows: a row's elements; all: 1; inner: see below
    // Inner: each row gives `kept_count` outputs out of `reduced_count` elements each. Neighbouring
    // axes of one sort are joined. outputs: the size of the last axis if kept, else 1.
    struct ps_reduce_axes kept, reduced;
    int64_t kept_count, reduced_count;
};

// One accumulator. Plain numbers: kernels get a copy.
struct ps_reduce_part {
    int term;                   // enum ps_reduce_term
    struct ps_reduce_form form; // of the numbers summed; not of PS_TERM_PICK
    struct ps_reduce_ask ask;   // results that come from this part alone
};

struct ps_reduce {
    struct ps_reduce_shape shape;
    int part_count;
    struct ps_reduce_part parts[PS_REDUCE_TERMS];
    struct ps_reduce_ask combined; // results put together from basics of several parts
    int kind_count;
    int kinds[PS_REDUCE_KINDS]; // as listed
    int dtype;                  // of the output
    int mean, weights;          // positions of further inputs; -1: not needed
    // The weight of element e of row r is number r * weight_row + e * weight_element.
    int64_t weight_row, weight_element;
};

// A part's accumulators of `outputs` outputs.
PS_EXACT int64_t ps_reduce_part_bytes(const struct ps_reduce_part *part, int64_t outputs)
{
    struct ps_reduce_form form = part->form;
    form.outputs = outputs;
    return part->term == PS_TERM_PICK ? ps_pick_state_bytes(outputs) : ps_reduce_state_bytes(&form);
}

// The ask for what ps_reduce_combine takes from this part, as row of PS_REDUCE_BASICS doubles.
PS_EXACT struct ps_reduce_ask ps_reduce_basic_ask(const struct ps_reduce_part *part)
{
    struct ps_reduce_ask ask;
    ask.kind_count = ps_term_has_basic(part->term) ? 1 : 0;
    ask.kinds[0] = ps_term_basic_kind(part->term);
    ask.at[0] = part->term;
    ask.width = PS_REDUCE_BASICS;
    ask.dtype = PS_F64;
    ask.ddof = 0;
    return ask;
}

#endif
