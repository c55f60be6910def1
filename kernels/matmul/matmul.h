// SPDX-License-Identifier: Apache-2.0
// The matmul stage inside. out[r, n] = activation(sum over k of in[r, k] * with[k, n] + bias[n]),
// where r runs over the rows and over all axes of `in` but the last. With a batch of matrices,
// out[r, b, n] = activation(sum over k of in[r, b, k] * with[b, k, n] + bias[b, n]), where b is the
// last axis but one of `in`.
//
// Bits do not depend on the block size: the library is always called with the same number of rows,
// and every row stands where its absolute number puts it in such a tile (libraries compute a row
// by another kernel, and so round otherwise, near the edges of a call); what a block does not fill
// is padded with zeros. The tiled engine adds in ascending k with fused multiply-adds on
// both backends, so that there cpu and cuda agree bit for bit.
#ifndef PS_KERNELS_MATMUL_MATMUL_H
#define PS_KERNELS_MATMUL_MATMUL_H

#include "kernels/matmul/epilogue.h"
#include "kernels/stage.h"

enum ps_matmul_engine { PS_MATMUL_LIBRARY, PS_MATMUL_TILED };

struct ps_matmul_shape { // kept in stage->detail
    enum ps_matmul_engine engine;
    enum ps_dtype dtype; // that is computed in and stored: f32 or f64
    enum ps_dtype in_dtype, with_dtype, bias_dtype;
    int64_t row_products; // products with each matrix per row: dims[1..-1) without the batch
    int64_t batch;        // matrices; 1 also for a plain 2-D one
    int64_t k, n;
    bool transpose;     // matrices are [n, k]
    int in, with, bias; // positions in stage->inputs; bias -1: none
    int64_t bias_count; // n, or batch * n
    enum ps_matmul_activation activation;
    enum ps_matmul_precision precision; // tf32, bf16: inputs are rounded to it, as f32
};

// Whether in / with is computed with as it is stored.
static inline bool ps_matmul_keeps(const struct ps_matmul_shape *shape, enum ps_dtype dtype)
{
    return dtype == shape->dtype && ps_matmul_drop(shape->precision) == 0;
}

struct ps_program {
    struct ps_matmul_shape shape;
    int in, with, bias; // positions in step->inputs
    struct ps_device *device;
    void *cuda; // kernels/matmul/matmul_cuda.c's own
};

// Rows of every call of the library: from the shape alone. cpu: what keeps a panel in the
// second-level cache; cuda: enough tiles for all multiprocessors.
int64_t ps_matmul_tile_rows(const struct ps_matmul_shape *shape, enum ps_backend_id backend);

size_t ps_matmul_cpu_scratch(const struct ps_matmul_shape *shape);
bool ps_matmul_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error);

size_t ps_matmul_cuda_scratch(const struct ps_matmul_shape *shape, int64_t rows);
bool ps_matmul_cuda_compile(struct ps_program *program, struct ps_error *error);
void ps_matmul_cuda_release(struct ps_program *program);
bool ps_matmul_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
int ps_matmul_cuda_kernels(const struct ps_program *program, struct ps_kernel_info *infos, int max);

#endif
