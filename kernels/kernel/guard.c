// SPDX-License-Identifier: Apache-2.0
// The guard's arithmetic and its words.
#include "kernels/kernel/guard.h"

#include <stdio.h>

static size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

size_t ps_guard_counts_at(size_t out_bytes)
{
    return aligned(2 * (size_t)PS_GUARD_MARGIN + out_bytes);
}

size_t ps_guard_bytes(size_t out_bytes)
{
    return ps_guard_counts_at(out_bytes) + aligned(2 * sizeof(struct ps_guard_counts));
}

static void note(struct ps_guard_counts *counts, int kind, unsigned long long distance)
{
    counts->count[kind]++;
    if (distance < counts->nearest[kind])
        counts->nearest[kind] = distance;
}

void ps_guard_look(const unsigned char *region, size_t out_bytes, unsigned char pattern,
                   const unsigned char *reference, struct ps_guard_counts *counts)
{
    const unsigned char *out = region + PS_GUARD_MARGIN, *after = out + out_bytes;
    for (size_t i = 0; i < PS_GUARD_MARGIN; i++) {
        if (region[i] != pattern)
            note(counts, PS_GUARD_BEFORE, PS_GUARD_MARGIN - i);
        if (after[i] != pattern)
            note(counts, PS_GUARD_AFTER, i);
    }
    for (size_t i = 0; reference != NULL && i < out_bytes; i++)
        if (out[i] != reference[i])
            note(counts, PS_GUARD_OUTPUT, i);
}

static void tell_outside(const struct ps_guard_counts *counts, char *out, size_t size)
{
    const char *join = "";
    int used = 0;
    if (counts->count[PS_GUARD_BEFORE] > 0) {
        used = snprintf(out, size, "%llu bytes before it (the nearest %llu bytes before its start)",
                        counts->count[PS_GUARD_BEFORE], counts->nearest[PS_GUARD_BEFORE]);
        join = " and ";
    }
    if (counts->count[PS_GUARD_AFTER] > 0)
        snprintf(out + used, size - (size_t)used,
                 "%s%llu bytes after it (the nearest %llu bytes after its end)", join,
                 counts->count[PS_GUARD_AFTER], counts->nearest[PS_GUARD_AFTER]);
}

bool ps_guard_verdict(const struct ps_guard_counts *counts, const struct ps_guard_output *output,
                      struct ps_error *error)
{
    char text[256];
    if (counts->count[PS_GUARD_BEFORE] > 0 || counts->count[PS_GUARD_AFTER] > 0) {
        tell_outside(counts, text, sizeof text);
        return ps_fail(error, PS_USAGE,
                       "guard: %s wrote outside its output of %zu bytes: %s; the index is too "
                       "large or negative, or is not compared with `rows`",
                       output->function, output->bytes, text);
    }
    if (counts->count[PS_GUARD_OUTPUT] == 0)
        return true;
    unsigned long long first = counts->nearest[PS_GUARD_OUTPUT];
    return ps_fail(error, PS_USAGE,
                   "guard: %s left %llu of %zu bytes of its output as they were, or gives another "
                   "result each time it runs; the first is in row %lld, element %llu",
                   output->function, counts->count[PS_GUARD_OUTPUT], output->bytes,
                   (long long)output->first_row + (long long)(first / output->row_bytes),
                   first % output->row_bytes / output->element_bytes);
}
