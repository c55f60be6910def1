// SPDX-License-Identifier: Apache-2.0
// The cpu's vector code: one function per operation and dtype, over n elements. The same source
// (vector_code.h) is compiled for several instruction sets; the best one is chosen at run time.
#ifndef PS_KERNELS_MAP_VECTOR_H
#define PS_KERNELS_MAP_VECTOR_H

#include "base/dtype.h"
#include "kernels/map/ops.h"

#include <stddef.h>

// to[i] = op(a[i], b[i], c[i]); to may be one of the arguments.
typedef void ps_vector_function(void *to, const void *a, const void *b, const void *c, size_t n);

// The first i of n for which the operation's result does not fit, or there is none; else n.
typedef size_t ps_vector_check(const void *a, const void *b, size_t n);

struct ps_vector_table {
    ps_vector_function *ops[PS_OP_COUNT][PS_DTYPE_COUNT];      // by the arguments' register dtype
    ps_vector_function *casts[PS_DTYPE_COUNT][PS_DTYPE_COUNT]; // [from][to], registers
    ps_vector_check *over[PS_OP_COUNT][PS_DTYPE_COUNT];        // as ops, of integers
    ps_vector_check *lost[PS_DTYPE_COUNT][PS_DTYPE_COUNT];     // as casts, to integers
    ps_vector_function *half_load;                             // f16 memory to f32 register
    ps_vector_function *half_store;                            // f32 register to f16 memory
};

const struct ps_vector_table *ps_vector_table(void); // of the best instruction set here

extern const struct ps_vector_table ps_vector_baseline;
extern const struct ps_vector_table ps_vector_v3; // x86-64-v3: AVX2 and FMA
extern const struct ps_vector_table ps_vector_v4; // x86-64-v4: AVX-512

#endif
