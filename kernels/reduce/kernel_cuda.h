// SPDX-License-Identifier: Apache-2.0
// The kernels of reduce, as the host launches them (cudaLaunchKernel). Plain C.
#ifndef PS_KERNELS_REDUCE_KERNEL_CUDA_H
#define PS_KERNELS_REDUCE_KERNEL_CUDA_H

#include "kernels/reduce/reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PS_REDUCE_WARP 32

// Arguments of a rows kernel: rows x columns values are added to the state, whose head counts
// them. Any grid; threads a multiple of 32. A warp takes rows_per_job rows of 32 columns at a time.
struct ps_reduce_rows_job {
    struct ps_reduce_form form;
    void *state;
    const void *data;
    int64_t rows, columns, rows_per_job;
};

// Arguments of a kernel over inner axes: rows x kept_count outputs, one warp each. Dynamic shared
// memory: warp_bytes for every warp of the block.
struct ps_reduce_inner_job {
    struct ps_reduce reduce; // with form.outputs = 1
    const void *data;
    void *output;
    int64_t rows;
    int warp_bytes;
};

// Arguments of the carry kernel: makes room for `elements` more additions when there is none. Must
// come before each rows kernel on the same queue. One thread per output or fewer.
struct ps_reduce_carry_job {
    struct ps_reduce_form form;
    void *state;
    int64_t elements;
};

// Host symbols of kernels; each takes one argument, the struct above by value. NULL: not this
// file's dtype.
const void *ps_reduce_kernel_float(int dtype, bool inner);
const void *ps_reduce_kernel_signed(int dtype, bool inner);
const void *ps_reduce_kernel_unsigned(int dtype, bool inner);
const void *ps_reduce_kernel_carry(void);

#ifdef __cplusplus
}
#endif
#endif
