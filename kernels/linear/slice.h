// SPDX-License-Identifier: Apache-2.0
// The hot loops of second moments on the cpu, one table per instruction set; same bits in each.
#ifndef PS_KERNELS_LINEAR_SLICE_H
#define PS_KERNELS_LINEAR_SLICE_H

#include <stdbool.h>
#include <stdint.h>

struct ps_slice_table {
    // The largest magnitude of finite values; the others become 0. *others_out: whether any were.
    double (*look)(double *values, int64_t rows, bool *others_out);
    // Rounds each value to a whole number of `unit` = 2^exponent, into whole_out; keeps what is
    // left in values. Magnitudes are at most 2^22 units. Returns whether any whole number is not
    // zero; *left_out: whether anything is left.
    bool (*slice)(double *values, int64_t rows, int exponent, double *whole_out, bool *left_out);
};
extern const struct ps_slice_table ps_slice_baseline, ps_slice_v3, ps_slice_v4;
const struct ps_slice_table *ps_slice_table(void); // of this machine

#endif
