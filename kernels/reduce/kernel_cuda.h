// SPDX-License-Identifier: Apache-2.0
// The kernels of reduce, as the host launches them (cudaLaunchKernel). Plain C.
#ifndef PS_KERNELS_REDUCE_KERNEL_CUDA_H
#define PS_KERNELS_REDUCE_KERNEL_CUDA_H

#include "kernels/reduce/reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PS_REDUCE_WARP 32
#define PS_PICK_THREADS 256

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
    struct ps_reduce_shape shape;
    struct ps_reduce_part part; // with form.outputs = 1
    const void *data;
    void *output;
    double *basics; // PS_REDUCE_BASICS for each output
    int64_t rows;
    int warp_bytes;
};

// A term of rows x row_elements values into `out`: doubles, or u64 for magnitudes of integers.
struct ps_reduce_term_job {
    struct ps_reduce_shape shape;
    int term, weight_dtype;
    int64_t weight_row, weight_element, rows;
    const void *data, *weights;
    const double *means;
    void *out;
};

// Picks of rows x outputs values. The grid is segments x tiles of columns; each block leaves its
// picks of `segment_rows` rows in partial[segment][plane][output]; the merge kernel adds those of
// all segments to the state and counts the rows. first_row: number of the first.
struct ps_pick_rows_job {
    int dtype;
    bool products;
    int64_t rows, outputs, first_row, segment_rows, segments;
    const void *data;
    uint64_t *partial;
    void *state;
};

// Picks over inner axes: rows x kept_count outputs, a warp each.
struct ps_pick_inner_job {
    struct ps_reduce_shape shape;
    struct ps_reduce_part part;
    bool products;
    int64_t rows;
    const void *data;
    void *output;
};

struct ps_reduce_combine_job {
    struct ps_reduce_ask ask;
    const double *basics;
    void *output;
    int64_t outputs;
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
// Blocks of PS_PICK_THREADS threads, except term and combine: any.
const void *ps_reduce_kernel_term(void);
const void *ps_reduce_kernel_picks(void);
const void *ps_reduce_kernel_picks_merge(void);
const void *ps_reduce_kernel_picks_inner(void);
const void *ps_reduce_kernel_combine(void);

#ifdef __cplusplus
}
#endif
#endif
