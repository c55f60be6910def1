// SPDX-License-Identifier: Apache-2.0
// sort on the cuda backend. Short lines: a bitonic network (Batcher 1968) in shared memory, several
// lines per block. Longer ones: tiles are sorted so, then merged in global memory, each element
// finding its place by a binary search in the other run. Keys and places together are all
// different, so every way of sorting them gives the same result: the stable one.
#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/shape/sort_stage.h"
}

namespace
{

const int THREADS = 512, TILE = PS_SORT_TILE;
const int64_t GROUP_ELEMENTS = (int64_t)4 << 20; // of lines that are merged at a time

struct items { // of the lines of a group
    uint64_t *keys;
    uint32_t *places;
};

// Sorts each run of `size` (a power of two) neighbouring items of the tile.
__device__ void bitonic(uint64_t *keys, uint32_t *places, int size)
{
    for (int k = 2; k <= size; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            for (int t = threadIdx.x; t < TILE / 2; t += THREADS) {
                int a = (t & ~(j - 1)) * 2 + (t & (j - 1)), b = a + j;
                bool up = (a & (size - 1) & k) == 0;
                if (ps_sort_less(keys[b], places[b], keys[a], places[a]) == up) {
                    uint64_t key = keys[a];
                    uint32_t place = places[a];
                    keys[a] = keys[b];
                    places[a] = places[b];
                    keys[b] = key;
                    places[b] = place;
                }
            }
            __syncthreads();
        }
    }
}

// A segment is a line, or a tile of one: segments_per_line of them, each of `size` items. to.keys
// NULL: a segment is a line, and the result goes to the output.
__global__ void sort_tiles(const __grid_constant__ struct ps_sort_job job, int64_t first_line,
                           int64_t segments, int64_t segments_per_line, int size, struct items to)
{
    __shared__ uint64_t keys[TILE];
    __shared__ uint32_t places[TILE];
    const int together = TILE / size;
    const int64_t n = job.lines.n, blocks = (segments + together - 1) / together;
    const bool lines_first = job.lines.inner > 1; // neighbouring lines lie side by side
    for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
        for (int pass = 0; pass < 2; pass++) {
            for (int e = threadIdx.x; e < TILE; e += THREADS) {
                int own = lines_first ? e % together : e / size;
                int item = lines_first ? e / together : e % size, at = own * size + item;
                int64_t segment = block * together + own;
                int64_t line = segment / segments_per_line;
                int64_t i = segment % segments_per_line * size + item;
                bool there = segment < segments && i < n;
                if (pass == 0) {
                    keys[at] = there ? ps_sort_key_at(&job, first_line + line, i) : ~0ull;
                    places[at] = there ? (uint32_t)i : ~0u;
                } else if (there && to.keys == nullptr) {
                    ps_sort_store(&job, first_line + line, i, places[at]);
                } else if (there) {
                    to.keys[line * n + i] = keys[at];
                    to.places[line * n + i] = places[at];
                }
            }
            __syncthreads();
            if (pass == 0)
                bitonic(keys, places, size);
        }
    }
}

// Sorted runs of `width` become runs of twice that.
__global__ void merge_runs(int64_t n, int64_t total, int64_t width, struct items from,
                           struct items to)
{
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < total;
         e += (int64_t)gridDim.x * THREADS) {
        int64_t i = e % n, line = e - i, run = i / width, base = run / 2 * 2 * width;
        int64_t low = run % 2 == 0 ? base + width : base, end = low + width;
        low = low < n ? low : n;
        end = end < n ? end : n;
        int64_t start = low;
        uint64_t key = from.keys[e];
        uint32_t place = from.places[e];
        while (low < end) {
            int64_t middle = low + (end - low) / 2;
            if (ps_sort_less(from.keys[line + middle], from.places[line + middle], key, place))
                low = middle + 1;
            else
                end = middle;
        }
        int64_t at = line + base + (i - run * width) + (low - start);
        to.keys[at] = key;
        to.places[at] = place;
    }
}

__global__ void store(const __grid_constant__ struct ps_sort_job job, int64_t first_line,
                      int64_t total, struct items from)
{
    int64_t n = job.lines.n;
    for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < total;
         e += (int64_t)gridDim.x * THREADS)
        ps_sort_store(&job, first_line + e / n, e % n, from.places[e]);
}

unsigned grid_of(int64_t blocks)
{
    return (unsigned)(blocks < 1 ? 1 : blocks < 1 << 16 ? blocks : 1 << 16);
}

int64_t group_lines(const struct ps_sort_job &job, int64_t lines)
{
    int64_t most = GROUP_ELEMENTS / job.lines.n;
    return most < 1 ? 1 : most < lines ? most : lines;
}

void sort_long(const struct ps_sort_job &job, void *scratch, cudaStream_t stream)
{
    const int64_t n = job.lines.n, tiles = (n + TILE - 1) / TILE;
    const int64_t group = group_lines(job, job.count), room = group * n;
    struct items a, b;
    a.keys = (uint64_t *)scratch;
    b.keys = a.keys + room;
    a.places = (uint32_t *)(b.keys + room);
    b.places = a.places + room;
    for (int64_t first = 0; first < job.count; first += group) {
        int64_t lines = job.count - first < group ? job.count - first : group, total = lines * n;
        unsigned grid = grid_of((total + THREADS - 1) / THREADS);
        sort_tiles<<<grid_of(lines * tiles), THREADS, 0, stream>>>(job, first, lines * tiles, tiles,
                                                                   TILE, a);
        for (int64_t width = TILE; width < n; width *= 2) {
            merge_runs<<<grid, THREADS, 0, stream>>>(n, total, width, a, b);
            struct items swap = a;
            a = b;
            b = swap;
        }
        store<<<grid, THREADS, 0, stream>>>(job, first, total, a);
    }
}

} // namespace

extern "C" size_t ps_sort_cuda_scratch(const struct ps_sort_job *job, int64_t lines)
{
    if (job->lines.n <= TILE || lines == 0)
        return 0;
    return (size_t)(group_lines(*job, lines) * job->lines.n) * 2 *
           (sizeof(uint64_t) + sizeof(uint32_t));
}

extern "C" bool ps_sort_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                                 struct ps_error *error)
{
    struct ps_sort_job job;
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    ps_sort_job_of(program, launch, &job);
    if (job.count == 0 || job.lines.n == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    if (job.lines.n > TILE) {
        sort_long(job, launch->scratch, stream);
    } else {
        int size = 2;
        while (size < job.lines.n)
            size *= 2;
        int64_t together = TILE / size, blocks = (job.count + together - 1) / together;
        sort_tiles<<<grid_of(blocks), THREADS, 0, stream>>>(job, 0, job.count, 1, size,
                                                            {nullptr, nullptr});
    }
    return ps_cuda_check(cudaGetLastError(), "launch of sort", error);
}
