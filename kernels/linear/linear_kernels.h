// SPDX-License-Identifier: Apache-2.0
// The kernels of second moments, as seen from C. All enqueue on the stream and return the launch's
// result. A job's arrays are device memory.
#ifndef PS_KERNELS_LINEAR_KERNELS_H
#define PS_KERNELS_LINEAR_KERNELS_H

#include "kernels/linear/moments.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// One tile of at most PS_MOMENTS_ROWS rows. Every column has `slices` slices, needed or not: the
// host does not see the data.
struct ps_moments_job {
    struct ps_moments m;
    int slices;
    int64_t rows;
    const void *data[PS_MOMENTS_SOURCES]; // from the tile's first row on
    void *state;
    int *exponents;   // [width]: a column's magnitudes are below 2^exponent
    double *whole;    // [width][slices][PS_MOMENTS_ROWS]
    double *rests;    // [width][PS_MOMENTS_ROWS]
    double *products; // of one pair of panels: [second][first], `stride` apart
    int64_t stride;
    int64_t first, second;   // columns where the panels begin
    int64_t firsts, seconds; // columns in them
};

cudaError_t ps_moments_look(const struct ps_moments_job *job, cudaStream_t stream);
// Slices, rests, and flags of NaN and infinities.
cudaError_t ps_moments_slice(const struct ps_moments_job *job, cudaStream_t stream);
// What rests add to the accumulators.
cudaError_t ps_moments_rest(const struct ps_moments_job *job, cudaStream_t stream);
// The products into the accumulators.
cudaError_t ps_moments_flush(const struct ps_moments_job *job, cudaStream_t stream);
// Moves carries on, and counts rows.
cudaError_t ps_moments_count(const struct ps_moments *m, void *state, int64_t rows,
                             cudaStream_t stream);
// out[r, c] = sum over j, ascending and fused, of (in[r, j] - fit[j]) * fit[columns + j * count +
// c]
cudaError_t ps_moments_project(int dtype, const void *in, int64_t rows, int64_t columns,
                               const double *fit, int64_t count, double *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
