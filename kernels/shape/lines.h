// SPDX-License-Identifier: Apache-2.0
// Lines along one axis of each row: what sort, fill and fft work on one by one. One source for host
// and device.
#ifndef PS_KERNELS_SHAPE_LINES_H
#define PS_KERNELS_SHAPE_LINES_H

#include "kernels/exact.h"

struct ps_lines {
    int64_t n;       // elements of a line
    int64_t inner;   // elements from one to the next of them
    int64_t per_row; // lines; of a whole array, which is one row, all of them
};

// Where element i of a line lies, lines of all rows counted through; n may differ from lines->n.
PS_EXACT int64_t ps_lines_at(const struct ps_lines *lines, int64_t n, int64_t line, int64_t i)
{
    if (lines->inner == 1) // divisions cost more than all else
        return line * n + i;
    return (line / lines->inner * n + i) * lines->inner + line % lines->inner;
}

#endif
