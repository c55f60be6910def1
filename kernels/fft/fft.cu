// SPDX-License-Identifier: Apache-2.0
// What goes on around cuFFT: lines into its buffers, results out of them. One thread per element;
// neighbouring threads take neighbouring elements of what lies side by side in the array.
#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/fft/fft_stage.h"
}

namespace
{

const int THREADS = 256;

// Element e of a batch of `lines` lines of n elements: which line and which element of it. Where a
// line's elements lie apart, neighbouring lines lie side by side.
__device__ void split(const struct ps_fft_job &job, int64_t lines, int64_t n, int64_t e,
                      int64_t *line, int64_t *i)
{
    if (job.lines.inner > 1) {
        *line = e % lines;
        *i = e / lines;
    } else {
        *line = e / n;
        *i = e % n;
    }
}

__global__ void load(const __grid_constant__ struct ps_fft_job job, int64_t first, int64_t batch,
                     void *buffer)
{
    int64_t n = ps_fft_size_in(&job), total = batch * n, line, i;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < total;
         e += (int64_t)gridDim.x * THREADS) {
        split(job, batch, n, e, &line, &i);
        if (first + line < job.count) {
            ps_fft_load(&job, first + line, i, buffer, line * n + i);
        } else if (ps_fft_pairs_in(&job)) {
            ps_fft_put(&job, buffer, 2 * (line * n + i), 0);
            ps_fft_put(&job, buffer, 2 * (line * n + i) + 1, 0);
        } else {
            ps_fft_put(&job, buffer, line * n + i, 0);
        }
    }
}

__global__ void store(const __grid_constant__ struct ps_fft_job job, int64_t first, int64_t lines,
                      const void *buffer)
{
    int64_t n = job.results, total = lines * n, line, i;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < total;
         e += (int64_t)gridDim.x * THREADS) {
        split(job, lines, n, e, &line, &i);
        ps_fft_store(&job, first + line, i, buffer, line * n + i);
    }
}

unsigned grid_of(int64_t elements)
{
    int64_t blocks = (elements + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 16 ? blocks : 1 << 16);
}

} // namespace

extern "C" bool ps_fft_load_cuda(const struct ps_fft_job *job, int64_t first, int64_t batch,
                                 void *buffer, void *stream, struct ps_error *error)
{
    load<<<grid_of(batch * ps_fft_size_in(job)), THREADS, 0, (cudaStream_t)stream>>>(*job, first,
                                                                                     batch, buffer);
    return ps_cuda_check(cudaGetLastError(), "launch of fft's load", error);
}

extern "C" bool ps_fft_store_cuda(const struct ps_fft_job *job, int64_t first, int64_t batch,
                                  const void *buffer, void *stream, struct ps_error *error)
{
    int64_t lines = job->count - first < batch ? job->count - first : batch;
    store<<<grid_of(lines * job->results), THREADS, 0, (cudaStream_t)stream>>>(*job, first, lines,
                                                                               buffer);
    return ps_cuda_check(cudaGetLastError(), "launch of fft's store", error);
}
