// SPDX-License-Identifier: Apache-2.0
// The tiled engine on the cpu: out[rows, n] = in[rows, k] * with[k, n], each number in ascending k
// with one fused multiply-add each, so that the bits are the same everywhere.
#ifndef PS_KERNELS_MATMUL_TILED_H
#define PS_KERNELS_MATMUL_TILED_H

#include <stdint.h>

struct ps_tiled_table {
    void (*f32)(int64_t rows, int64_t n, int64_t k, const float *in, const float *with, float *out);
    void (*f64)(int64_t rows, int64_t n, int64_t k, const double *in, const double *with,
                double *out);
};
extern const struct ps_tiled_table ps_tiled_baseline, ps_tiled_v3, ps_tiled_v4;
const struct ps_tiled_table *ps_tiled_table(void); // of this machine

#endif
