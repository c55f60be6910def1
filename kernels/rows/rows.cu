// SPDX-License-Identifier: Apache-2.0
// rows, repeat and select on the cuda backend. select (stream compaction) takes three steps: tiles
// of rows count what they keep, one block turns the counts into places (a prefix sum), and each row
// that is kept is copied to its place. No atomics: rows stay in order.
#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/rows/rows_stage.h"
}

namespace
{

const int THREADS = 256;

unsigned grid_of(int64_t items)
{
    int64_t blocks = (items + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 1 << 16 ? blocks : 1 << 16);
}

__global__ void pick(const struct ps_pick_job job)
{
    int64_t count = job.rows * job.row_words, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        ps_pick_copy(job.word_bytes, job.out, i, job.in,
                     ps_pick_row(&job, i / job.row_words) * job.row_words + i % job.row_words);
}

// Inclusive prefix sum over a block of PS_SELECT_TILE threads: by shuffles within each warp, then
// over the warps' totals.
__device__ int64_t prefix(int64_t value, int64_t *shared)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        int64_t other = __shfl_up_sync(0xffffffffu, (long long)value, step);
        value += lane >= step ? other : 0;
    }
    if (lane == 31)
        shared[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int64_t total = shared[lane];
        for (int step = 1; step < 32; step *= 2) {
            int64_t other = __shfl_up_sync(0xffffffffu, (long long)total, step);
            total += lane >= step ? other : 0;
        }
        shared[lane] = total;
    }
    __syncthreads();
    value += warp > 0 ? shared[warp - 1] : 0;
    __syncthreads(); // shared may be used again
    return value;
}

// places[row]: the row's place within its tile; counts[tile]: rows it keeps.
__global__ void count_tiles(const unsigned char *where, int64_t rows, int64_t *places,
                            int64_t *counts)
{
    __shared__ int64_t shared[32];
    int64_t tiles = (rows + PS_SELECT_TILE - 1) / PS_SELECT_TILE;
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int64_t row = tile * PS_SELECT_TILE + threadIdx.x;
        int64_t kept = row < rows && where[row] != 0;
        int64_t upto = prefix(kept, shared);
        if (row < rows)
            places[row] = upto - kept;
        if (threadIdx.x == PS_SELECT_TILE - 1)
            counts[tile] = upto;
    }
}

// counts become the places of the tiles' first rows. One block.
__global__ void place_tiles(int64_t tiles, int64_t *counts, int64_t *rows_out)
{
    __shared__ int64_t shared[32], base, last;
    if (threadIdx.x == 0)
        base = 0;
    __syncthreads();
    for (int64_t first = 0; first < tiles; first += PS_SELECT_TILE) {
        int64_t tile = first + threadIdx.x, count = tile < tiles ? counts[tile] : 0;
        int64_t upto = prefix(count, shared);
        if (tile < tiles)
            counts[tile] = base + upto - count;
        if (threadIdx.x == PS_SELECT_TILE - 1)
            last = upto;
        __syncthreads();
        if (threadIdx.x == 0)
            base += last;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *rows_out = base;
}

__global__ void copy_rows(const struct ps_pick_job job, const unsigned char *where, int64_t rows,
                          const int64_t *places, const int64_t *counts)
{
    int64_t count = rows * job.row_words, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        int64_t row = i / job.row_words;
        if (where[row] != 0)
            ps_pick_copy(job.word_bytes, job.out,
                         (counts[row / PS_SELECT_TILE] + places[row]) * job.row_words +
                             i % job.row_words,
                         job.in, i);
    }
}

} // namespace

extern "C" bool ps_pick_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                                 struct ps_error *error)
{
    struct ps_pick_job job;
    ps_pick_job_of(program, launch, &job);
    if (job.rows * job.row_words == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    pick<<<grid_of(job.rows * job.row_words), THREADS, 0, ps_cuda_queue(launch->queue)->stream>>>(
        job);
    return ps_cuda_check(cudaGetLastError(), "launch of pick", error);
}

extern "C" bool ps_select_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                                   struct ps_error *error)
{
    struct ps_pick_job job;
    ps_pick_job_of(program, launch, &job);
    const unsigned char *where = (const unsigned char *)launch->inputs[program->where];
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    int64_t rows = launch->in_rows, tiles = (rows + PS_SELECT_TILE - 1) / PS_SELECT_TILE;
    int64_t *places = (int64_t *)launch->scratch, *counts = places + rows;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    count_tiles<<<(unsigned)(tiles < 1 << 16 ? tiles : 1 << 16), PS_SELECT_TILE, 0, stream>>>(
        where, rows, places, counts);
    place_tiles<<<1, PS_SELECT_TILE, 0, stream>>>(tiles, counts, launch->rows_out);
    if (job.row_words > 0)
        copy_rows<<<grid_of(rows * job.row_words), THREADS, 0, stream>>>(job, where, rows, places,
                                                                         counts);
    return ps_cuda_check(cudaGetLastError(), "launch of select", error);
}
