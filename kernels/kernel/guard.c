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

void ps_guard_look_cpu(const struct ps_guard_look *look, struct ps_guard_counts *counts)
{
    const unsigned char *region = look->region, *out = region + PS_GUARD_MARGIN;
    const unsigned char *after = out + look->out_bytes;
    for (size_t i = 0; i < PS_GUARD_MARGIN; i++) {
        if (region[i] != look->pattern)
            note(counts, PS_GUARD_BEFORE, PS_GUARD_MARGIN - i);
        if (after[i] != look->pattern)
            note(counts, PS_GUARD_AFTER, i);
    }
    for (size_t i = 0; look->reference != NULL && i < look->out_bytes; i++) {
        if (out[i] != look->reference[i])
            note(counts, PS_GUARD_OUTPUT, i);
        else if (look->truths && out[i] > 1)
            note(counts, PS_GUARD_TRUTH, i);
    }
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
    int kind = counts->count[PS_GUARD_OUTPUT] > 0 ? PS_GUARD_OUTPUT : PS_GUARD_TRUTH;
    if (counts->count[kind] == 0)
        return true;
    unsigned long long first = counts->nearest[kind];
    snprintf(text, sizeof text, "the first is in row %lld, element %llu",
             (long long)output->first_row + (long long)(first / output->row_bytes),
             first % output->row_bytes / output->element_bytes);
    if (kind == PS_GUARD_TRUTH)
        return ps_fail(error, PS_USAGE, "guard: %s made %llu bools that are neither 0 nor 1; %s",
                       output->function, counts->count[kind], text);
    return ps_fail(error, PS_USAGE,
                   "guard: %s left %llu of %zu bytes of its output as they were, or gives another "
                   "result each time it runs; %s",
                   output->function, counts->count[kind], output->bytes, text);
}
