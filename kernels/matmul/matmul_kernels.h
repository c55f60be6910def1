// SPDX-License-Identifier: Apache-2.0
// The hand-written kernels of matmul, as seen from C. All enqueue on the stream and return the
// launch's result. dtype: f32 or f64 (widen's source also f16).
#ifndef PS_KERNELS_MATMUL_KERNELS_H
#define PS_KERNELS_MATMUL_KERNELS_H

#include "base/dtype.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// out[m, n] = in[m, k] * with, where with[i, j] is at with[i * with_row + j * with_column]; in_row
// and out_row are the distances of rows.
cudaError_t ps_matmul_tiled(enum ps_dtype dtype, int64_t m, int64_t n, int64_t k, const void *in,
                            int64_t in_row, const void *with, int64_t with_row, int64_t with_column,
                            void *out, int64_t out_row, cudaStream_t stream);
// out[i] = in[i] in another dtype, or f32 with the mantissa's last `drop` bits rounded off.
cudaError_t ps_matmul_widen(enum ps_dtype to, void *out, enum ps_dtype from, const void *in,
                            int64_t count, int drop, cudaStream_t stream);
// out[i] = activation(out[i] + bias[i % bias_count]); bias NULL: nothing is added.
cudaError_t ps_matmul_finish(enum ps_dtype dtype, void *out, int64_t count, const void *bias,
                             int64_t bias_count, int activation, cudaStream_t stream);
// The tiled kernel itself and its threads, to tell registers and occupancy.
const void *ps_matmul_tiled_kernel(enum ps_dtype dtype, int *threads_out);

#ifdef __cplusplus
}
#endif
#endif
