// SPDX-License-Identifier: Apache-2.0
// Index maps on the cuda backend: one thread per word of the output, in its order, so that what is
// written is coalesced. Where input and output are fast along different axes, tiles go through
// shared memory and what is read is coalesced as well.
#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/shape/gather_stage.h"
}

namespace
{

const int THREADS = 256, TILE = 32, TILE_ROWS = 8;

// I: as narrow as the number of words allows; a division of 64 bits is many instructions.
template <typename I>
__device__ void places(const struct ps_gather_job &job, I at, int64_t *to, int64_t *from)
{
    int64_t t = job.piece.to_base, f = job.piece.from_base;
    for (int i = job.piece.rank - 1; i >= 0; i--) {
        I size = (I)job.piece.dims[i], rest = at / size, k = at - rest * size;
        at = rest;
        t += (int64_t)k * job.piece.to[i];
        f += job.piece.listed == i ? job.list[k] : (int64_t)k * job.piece.from[i];
    }
    *to = t;
    *from = f;
}

template <typename W, typename I>
__global__ void gather(const __grid_constant__ struct ps_gather_job job, I count)
{
    const W *in = (const W *)job.in;
    W *out = (W *)job.out;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < (int64_t)count;
         i += (int64_t)gridDim.x * THREADS) {
        int64_t to, from;
        places(job, (I)i, &to, &from);
        out[to] = in[from];
    }
}

__global__ void gather_converted(const __grid_constant__ struct ps_gather_job job, int64_t count)
{
    int dtype = job.piece.dtype;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * THREADS) {
        int64_t to, from;
        places(job, i, &to, &from);
        ps_element_store_raw(
            job.out_dtype, job.out, to,
            ps_gather_convert(dtype, job.out_dtype, ps_element_raw(dtype, job.in, from)));
    }
}

// The piece is [others..., rows, columns] after ps_turned_job: input steps 1 along its rows, output
// steps 1 along its columns. Each block turns tiles of TILE x TILE words.
template <typename W>
__global__ void turn(const __grid_constant__ struct ps_gather_job job, int64_t tiles,
                     int64_t row_tiles, int64_t column_tiles)
{
    __shared__ W tile[TILE][TILE + 1]; // one more column: no two rows in the same bank
    const W *in = (const W *)job.in;
    W *out = (W *)job.out;
    const int last = job.piece.rank - 1;
    const int64_t rows = job.piece.dims[last - 1], columns = job.piece.dims[last];
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        int64_t c0 = t % column_tiles * TILE, rest = t / column_tiles;
        int64_t r0 = rest % row_tiles * TILE, other = rest / row_tiles;
        int64_t to = job.piece.to_base, from = job.piece.from_base;
        for (int i = last - 2; i >= 0; i--) {
            int64_t size = job.piece.dims[i], k = other % size;
            other /= size;
            to += k * job.piece.to[i];
            from += job.piece.listed == i ? job.list[k] : k * job.piece.from[i];
        }
        for (int y = threadIdx.y; y < TILE; y += TILE_ROWS) {
            int64_t r = r0 + threadIdx.x, c = c0 + y;
            if (r < rows && c < columns)
                tile[y][threadIdx.x] = in[from + r + c * job.piece.from[last]];
        }
        __syncthreads();
        for (int y = threadIdx.y; y < TILE; y += TILE_ROWS) {
            int64_t r = r0 + y, c = c0 + threadIdx.x;
            if (r < rows && c < columns)
                out[to + r * job.piece.to[last - 1] + c] = tile[threadIdx.x][y];
        }
        __syncthreads();
    }
}

void swap_axes(struct ps_gather_piece *piece, int a, int b)
{
    struct ps_gather_piece old = *piece;
    piece->dims[a] = old.dims[b];
    piece->from[a] = old.from[b];
    piece->to[a] = old.to[b];
    piece->dims[b] = old.dims[a];
    piece->from[b] = old.from[a];
    piece->to[b] = old.to[a];
    piece->listed = old.listed == a ? b : old.listed == b ? a : old.listed;
}

template <typename W>
void launch_words(struct ps_gather_job job, int64_t count, cudaStream_t stream)
{
    int fast, last = job.piece.rank - 1;
    int64_t blocks = (count + THREADS - 1) / THREADS;
    // A tile of few rows or columns would be mostly empty.
    if (ps_gather_turns(&job.piece, &fast) && job.piece.dims[fast] >= TILE / 2 &&
        job.piece.dims[last] >= TILE / 2) {
        if (fast != last - 1)
            swap_axes(&job.piece, fast, last - 1);
        int64_t row_tiles = (job.piece.dims[last - 1] + TILE - 1) / TILE;
        int64_t column_tiles = (job.piece.dims[last] + TILE - 1) / TILE;
        int64_t tiles =
            count / job.piece.dims[last - 1] / job.piece.dims[last] * row_tiles * column_tiles;
        turn<W>
            <<<(unsigned)(tiles < 1 << 20 ? tiles : 1 << 20), dim3(TILE, TILE_ROWS), 0, stream>>>(
                job, tiles, row_tiles, column_tiles);
        return;
    }
    unsigned grid = (unsigned)(blocks < 1 << 20 ? blocks : 1 << 20);
    if (count < (int64_t)1 << 31)
        gather<W, uint32_t><<<grid, THREADS, 0, stream>>>(job, (uint32_t)count);
    else
        gather<W, int64_t><<<grid, THREADS, 0, stream>>>(job, count);
}

void launch_piece(const struct ps_gather_job &job, int64_t count, cudaStream_t stream)
{
    int64_t blocks = (count + THREADS - 1) / THREADS;
    if (job.piece.dtype != job.out_dtype)
        gather_converted<<<(unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), THREADS, 0, stream>>>(
            job, count);
    else if (job.word_bytes == 1)
        launch_words<uint8_t>(job, count, stream);
    else if (job.word_bytes == 2)
        launch_words<uint16_t>(job, count, stream);
    else if (job.word_bytes == 4)
        launch_words<uint32_t>(job, count, stream);
    else if (job.word_bytes == 8)
        launch_words<uint64_t>(job, count, stream);
    else
        launch_words<uint4>(job, count, stream);
}

} // namespace

extern "C" bool ps_gather_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                                   struct ps_error *error)
{
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    if (program->gather.empty)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    for (int i = 0; i < program->gather.piece_count; i++) {
        struct ps_gather_job job;
        int64_t count = 1;
        ps_gather_job_of(program, i, launch, &job);
        for (int axis = 0; axis < job.piece.rank; axis++)
            count *= job.piece.dims[axis];
        if (count == 0)
            continue;
        launch_piece(job, count, stream);
        if (!ps_cuda_check(cudaGetLastError(), "launch of an index map", error))
            return false;
    }
    return true;
}
