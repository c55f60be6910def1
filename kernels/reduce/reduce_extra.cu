// SPDX-License-Identifier: Apache-2.0
// Terms, picks and results of several sums on the GPU; the formulas are those of term.h and pick.h.
#undef NDEBUG // a fault on the device must never pass unseen
#include <cassert>

#include "kernels/reduce/kernel_cuda.h"

#include "base/dtype.h"

#include <cuda_fp16.h>

__device__ static double number(int dtype, const void *data, int64_t at)
{
    switch (dtype) {
    case PS_I8:
        return (double)((const int8_t *)data)[at];
    case PS_I16:
        return (double)((const int16_t *)data)[at];
    case PS_I32:
        return (double)((const int32_t *)data)[at];
    case PS_I64:
        return (double)((const int64_t *)data)[at];
    case PS_U16:
        return (double)((const uint16_t *)data)[at];
    case PS_U32:
        return (double)((const uint32_t *)data)[at];
    case PS_U64:
        return (double)((const uint64_t *)data)[at];
    case PS_F16:
        return (double)__half2float(((const __half *)data)[at]);
    case PS_F32:
        return (double)((const float *)data)[at];
    case PS_F64:
        return ((const double *)data)[at];
    default:
        return (double)((const uint8_t *)data)[at];
    }
}

// An integer, signed ones widened with their sign.
__device__ static uint64_t integer(int dtype, const void *data, int64_t at)
{
    switch (dtype) {
    case PS_I8:
        return (uint64_t)(int64_t)((const int8_t *)data)[at];
    case PS_I16:
        return (uint64_t)(int64_t)((const int16_t *)data)[at];
    case PS_I32:
        return (uint64_t)(int64_t)((const int32_t *)data)[at];
    case PS_I64:
        return (uint64_t)((const int64_t *)data)[at];
    case PS_U16:
        return ((const uint16_t *)data)[at];
    case PS_U32:
        return ((const uint32_t *)data)[at];
    case PS_U64:
        return ((const uint64_t *)data)[at];
    default:
        return ((const uint8_t *)data)[at];
    }
}

__device__ static bool is_signed(int dtype)
{
    return dtype >= PS_I8 && dtype <= PS_I64;
}

__global__ void reduce_term(const __grid_constant__ struct ps_reduce_term_job job)
{
    const struct ps_reduce_shape &shape = job.shape;
    int64_t total = job.rows * shape.row_elements, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
        if (job.term == PS_TERM_MAGNITUDE && shape.dtype < PS_F16) {
            uint64_t bits = integer(shape.dtype, job.data, i);
            ((uint64_t *)job.out)[i] =
                is_signed(shape.dtype) && bits >> 63 != 0 ? 0 - bits : bits;
            continue;
        }
        int64_t row = i / shape.row_elements, e = i % shape.row_elements;
        int64_t mean = shape.outputs == 1 ? 0 : e;
        if (shape.inner)
            mean = row * shape.kept_count + ps_reduce_index(&shape.kept, e);
        ((double *)job.out)[i] = ps_term_of(
            job.term, number(shape.dtype, job.data, i),
            ps_term_needs_mean(job.term) ? job.means[mean] : 0,
            ps_term_needs_weight(job.term)
                ? number(job.weight_dtype, job.weights,
                         row * job.weight_row + e * job.weight_element)
                : 0);
    }
}

// ---- Picks ----

__device__ static void add_value(struct ps_pick *pick, int dtype, bool products, const void *data,
                                 int64_t at, int64_t index)
{
    if (dtype >= PS_F16)
        ps_pick_float(pick, number(dtype, data, at), (uint64_t)index, products);
    else
        ps_pick_integer(pick, integer(dtype, data, at), is_signed(dtype), (uint64_t)index);
}

__device__ static struct ps_pick empty_pick()
{
    struct ps_pick pick;
    memset(&pick, 0, sizeof pick);
    return pick;
}

__global__ void __launch_bounds__(PS_PICK_THREADS)
    reduce_picks(const __grid_constant__ struct ps_pick_rows_job job)
{
    __shared__ struct ps_pick shared[PS_PICK_THREADS];
    int wide = (int)(job.outputs < PS_REDUCE_WARP ? job.outputs : PS_REDUCE_WARP);
    int high = PS_PICK_THREADS / wide, lane = (int)threadIdx.x % wide,
        row = (int)threadIdx.x / wide;
    int64_t tiles = (job.outputs + wide - 1) / wide;
    for (int64_t work = blockIdx.x; work < tiles * job.segments; work += gridDim.x) {
        int64_t output = work % tiles * wide + lane, segment = work / tiles;
        int64_t end = (segment + 1) * job.segment_rows;
        end = end < job.rows ? end : job.rows;
        struct ps_pick pick = empty_pick();
        if (row < high && output < job.outputs)
            for (int64_t r = segment * job.segment_rows + row; r < end; r += high)
                add_value(&pick, job.dtype, job.products, job.data, r * job.outputs + output,
                          job.first_row + r);
        shared[threadIdx.x] = pick;
        __syncthreads();
        if (row == 0 && output < job.outputs) {
            for (int other = 1; other < high; other++)
                ps_pick_merge(&pick, &shared[other * wide + lane], job.dtype >= PS_F16);
            ps_pick_save(&pick, job.partial + segment * PS_PICK_PLANES * job.outputs, job.outputs,
                         output);
        }
        __syncthreads();
    }
}

__global__ void reduce_picks_merge(const __grid_constant__ struct ps_pick_rows_job job)
{
    struct ps_reduce_head *head = (struct ps_reduce_head *)job.state;
    uint64_t *planes = (uint64_t *)(head + 1);
    int64_t step = (int64_t)gridDim.x * blockDim.x,
            first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < job.outputs; i += step) {
        struct ps_pick pick = ps_pick_load(planes, job.outputs, i);
        for (int64_t s = 0; s < job.segments; s++) {
            struct ps_pick more =
                ps_pick_load(job.partial + s * PS_PICK_PLANES * job.outputs, job.outputs, i);
            ps_pick_merge(&pick, &more, job.dtype >= PS_F16);
        }
        ps_pick_save(&pick, planes, job.outputs, i);
    }
    if (first == 0)
        head->elements += job.rows;
}

__global__ void __launch_bounds__(PS_PICK_THREADS)
    reduce_picks_inner(const __grid_constant__ struct ps_pick_inner_job job)
{
    __shared__ struct ps_pick shared[PS_PICK_THREADS];
    const struct ps_reduce_shape &shape = job.shape;
    int lane = (int)(threadIdx.x % PS_REDUCE_WARP), warp = (int)threadIdx.x - lane;
    int64_t step = (int64_t)gridDim.x * (PS_PICK_THREADS / PS_REDUCE_WARP);
    int64_t at = ((int64_t)blockIdx.x * PS_PICK_THREADS + threadIdx.x) / PS_REDUCE_WARP;
    for (; at < job.rows * shape.kept_count; at += step) {
        struct ps_pick pick = empty_pick();
        int64_t base = at / shape.kept_count * shape.row_elements +
                       ps_reduce_offset(&shape.kept, at % shape.kept_count);
        for (int64_t i = lane; i < shape.reduced_count; i += PS_REDUCE_WARP)
            add_value(&pick, shape.dtype, job.products, job.data,
                      base + ps_reduce_offset(&shape.reduced, i), i);
        shared[threadIdx.x] = pick;
        __syncwarp();
        if (lane == 0) {
            for (int other = 1; other < PS_REDUCE_WARP; other++)
                ps_pick_merge(&pick, &shared[warp + other], shape.dtype >= PS_F16);
            int kind = 0;
            enum ps_reduce_fault fault = ps_pick_finish(&pick, shape.dtype, shape.reduced_count,
                                                        &job.part.ask, job.output, at, &kind);
            assert(fault != PS_REDUCE_OVERFLOW &&
                   "reduce: an integer product over axes of the row is beyond 64 bits; make the "
                   "input f64 by a map stage");
            assert(fault == PS_REDUCE_FINE);
        }
        __syncwarp();
    }
}

__global__ void reduce_combine(const __grid_constant__ struct ps_reduce_combine_job job)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.outputs; i += step)
        for (int k = 0; k < job.ask.kind_count; k++) {
            struct ps_reduce_result result = ps_reduce_number(ps_reduce_combine(
                job.ask.kinds[k], job.basics + i * PS_REDUCE_BASICS, job.ask.ddof));
            ps_reduce_store(job.ask.dtype, job.output, i * job.ask.width + job.ask.at[k], &result);
        }
}

const void *ps_reduce_kernel_term(void)
{
    return (const void *)reduce_term;
}

const void *ps_reduce_kernel_picks(void)
{
    return (const void *)reduce_picks;
}

const void *ps_reduce_kernel_picks_merge(void)
{
    return (const void *)reduce_picks_merge;
}

const void *ps_reduce_kernel_picks_inner(void)
{
    return (const void *)reduce_picks_inner;
}

const void *ps_reduce_kernel_combine(void)
{
    return (const void *)reduce_combine;
}
