// SPDX-License-Identifier: Apache-2.0
// Rows by their number: which element of the input each element of the output is a copy of. One
// source for host and device.
#ifndef PS_KERNELS_ROWS_PICK_H
#define PS_KERNELS_ROWS_PICK_H

#include "kernels/exact.h"

struct ps_pick_job {
    int64_t row_words; // a row in words of word_bytes: 1, 2, 4 or 8
    int word_bytes;
    int64_t first_row, rows, in_first;
    int64_t start, step, times; // output row r is input row start + r / times * step
    const void *in;
    void *out;
};

PS_EXACT void ps_pick_copy(int bytes, void *to, int64_t to_word, const void *from,
                           int64_t from_word)
{
    switch (bytes) {
    case 1:
        ((uint8_t *)to)[to_word] = ((const uint8_t *)from)[from_word];
        break;
    case 2:
        ((uint16_t *)to)[to_word] = ((const uint16_t *)from)[from_word];
        break;
    case 4:
        ((uint32_t *)to)[to_word] = ((const uint32_t *)from)[from_word];
        break;
    default:
        ((uint64_t *)to)[to_word] = ((const uint64_t *)from)[from_word];
        break;
    }
}

PS_EXACT int64_t ps_pick_row(const struct ps_pick_job *job, int64_t row)
{
    return job->start + (job->first_row + row) / job->times * job->step - job->in_first;
}

#endif
