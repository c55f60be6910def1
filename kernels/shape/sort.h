// SPDX-License-Identifier: Apache-2.0
// Sorting lines: keys that order as the values do, NaN last, and equal values in their old order,
// so that there is one right result. One source for host and device.
#ifndef PS_KERNELS_SHAPE_SORT_H
#define PS_KERNELS_SHAPE_SORT_H

#include "kernels/shape/lines.h"
#include "kernels/window/element.h"

#define PS_SORT_ELEMENTS_MAX ((int64_t)1 << 31) // of a line; its places are kept in 32 bits
#define PS_SORT_TILE 2048                       // what a block on a GPU sorts in shared memory

struct ps_sort_job {
    struct ps_lines lines;
    int dtype;
    bool descending, indices;
    int64_t count; // lines of the launch
    const void *in;
    void *out;
};

// Both zeros have one key. No value but a NaN or the largest 64-bit integer has the key ~0.
PS_EXACT uint64_t ps_sort_key(const struct ps_sort_job *job, uint64_t raw)
{
    struct ps_element_class of = ps_element_class(job->dtype);
    uint64_t sign = 1ull << (8 * of.bytes - 1), key;
    if (ps_element_is_nan(job->dtype, raw))
        return ~0ull;
    key = ps_element_key(job->dtype, of.is_float && raw == sign ? 0 : raw);
    return job->descending ? ~key & (sign | (sign - 1)) : key;
}

PS_EXACT bool ps_sort_less(uint64_t a_key, uint32_t a_place, uint64_t b_key, uint32_t b_place)
{
    return a_key < b_key || (a_key == b_key && a_place < b_place);
}

// Element i of the sorted line is the one that was at `place`.
PS_EXACT void ps_sort_store(const struct ps_sort_job *job, int64_t line, int64_t i, int64_t place)
{
    int64_t to = ps_lines_at(&job->lines, job->lines.n, line, i);
    if (job->indices)
        ((int64_t *)job->out)[to] = place;
    else
        ps_element_store_raw(job->dtype, job->out, to,
                             ps_element_raw(job->dtype, job->in,
                                            ps_lines_at(&job->lines, job->lines.n, line, place)));
}

PS_EXACT uint64_t ps_sort_key_at(const struct ps_sort_job *job, int64_t line, int64_t i)
{
    return ps_sort_key(
        job, ps_element_raw(job->dtype, job->in, ps_lines_at(&job->lines, job->lines.n, line, i)));
}

#endif
