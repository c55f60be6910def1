// SPDX-License-Identifier: Apache-2.0
// The guard of user kernels: the output is written into a region of its own between two margins
// filled with a pattern. After each run the margins are looked at; a second run over another
// pattern shows what of the output itself was not written.
#ifndef PS_KERNELS_KERNEL_GUARD_H
#define PS_KERNELS_KERNEL_GUARD_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define PS_GUARD_MARGIN (1u << 20) // bytes before and after the output
#define PS_GUARD_FIRST 0xA5        // patterns of the two runs
#define PS_GUARD_SECOND 0x5A

enum { PS_GUARD_BEFORE, PS_GUARD_AFTER, PS_GUARD_OUTPUT, PS_GUARD_TRUTH, PS_GUARD_KINDS };

// Bytes that are not as they should be, and how far from the output's end of it (before, after) or
// from its start (output, truth) the first is; UINT64_MAX: none. Truth: of bools, neither 0 nor 1.
struct ps_guard_counts {
    unsigned long long count[PS_GUARD_KINDS], nearest[PS_GUARD_KINDS];
};

// Scratch for an output of so many bytes: margin, output, margin, counts of both runs (aligned to
// 256).
size_t ps_guard_bytes(size_t out_bytes);
size_t ps_guard_counts_at(size_t out_bytes);

// What an output is, for messages.
struct ps_guard_output {
    const char *function;
    int64_t first_row;
    size_t bytes, row_bytes, element_bytes;
};
// True when all counts are 0; else the fault in words, PS_USAGE.
bool ps_guard_verdict(const struct ps_guard_counts *counts, const struct ps_guard_output *output,
                      struct ps_error *error);

// What one look is at. reference: the output of the first run, or NULL in the first.
struct ps_guard_look {
    const unsigned char *region;
    size_t out_bytes;
    unsigned char pattern;
    bool truths; // the output is of bools
    const unsigned char *reference;
};
// On the cpu: adds to counts.
void ps_guard_look_cpu(const struct ps_guard_look *look, struct ps_guard_counts *counts);

#endif
