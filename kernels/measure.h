// SPDX-License-Identifier: Apache-2.0
// What `penstock bench` times on a GPU besides copies: the two programs everybody starts with.
// Plain C; available in every build (without CUDA the functions fail and say so).
#ifndef PS_KERNELS_MEASURE_H
#define PS_KERNELS_MEASURE_H

#include "base/error.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// c = a + b, count float32 each; best of several runs. GB/s count the three arrays once.
struct ps_vector_add {
    double cpu_ms;        // one thread, as NumPy does it
    double kernel_ms;     // on the GPU, data already there
    double with_copies_ms; // a and b from pinned memory, c back
    double bytes;         // 3 * 4 * count
    int64_t different;    // elements that are not the cpu's, bit for bit
};
bool ps_measure_vector_add(int device, int64_t count, struct ps_vector_add *out,
                           struct ps_error *error);

// float32 n x n times n x n; best of several runs.
struct ps_matmul_times {
    double tiled_ms, cublas_ms; // our tiled kernel, cuBLAS without TF32
    double tiled_gflops, cublas_gflops;
    double largest_difference; // between the two results, relative to the largest result
};
bool ps_measure_matmul(int device, int64_t n, struct ps_matmul_times *out, struct ps_error *error);

#ifdef __cplusplus
}
#endif
#endif
