// SPDX-License-Identifier: Apache-2.0
// The kernels of reduce, written once for lanes of floats (lane_float.cuh) and of integers
// (lane_int.cuh). A lane is one thread's share: it adds values without rounding in registers and
// empties them into limbs with integer atomics, which commute, so no schedule changes a bit.
//
// Lanes of one warp that belong to the same output are combined by a tree: in each step the upper
// half hands its numbers to the lower half (__shfl_down_sync), log2(32) = 5 steps for 32 lanes.
#ifndef PS_KERNELS_REDUCE_DEVICE_CUH
#define PS_KERNELS_REDUCE_DEVICE_CUH

#undef NDEBUG // a fault on the device must never pass unseen
#include <cassert>

#include "kernels/exact_bins.h"
#include "kernels/reduce/kernel_cuda.h"

#define FULL_WARP 0xffffffffu
#define BATCH 8 // values a lane loads before it adds them: loads in flight hide the latency

// A warp's place in the work. Lane l sits in column `column` of the tile and in row `row` of
// `side` rows that the warp takes at once; side 1: lanes share nothing.
struct warp_place {
    const struct ps_reduce_form *form;
    struct ps_reduce_planes planes;
    int64_t output; // this lane's
    int columns;    // lanes from one row to the next
    int side, row;
    bool active; // false: a lane left over
};

struct take_sum {
    template <typename V>
    __device__ V operator()(V a, V b) const
    {
        return a + b;
    }
};

struct take_larger {
    template <typename V>
    __device__ V operator()(V a, V b) const
    {
        return a > b ? a : b;
    }
};

// Row 0 of each column gets the combination of all its rows. All lanes of the warp must call.
template <typename V, typename Op>
__device__ inline V tree(const warp_place &place, V value, Op op)
{
    for (int n = place.side; n > 1;) {
        int half = (n + 1) / 2;
        V other = __shfl_down_sync(FULL_WARP, value, (unsigned)(half * place.columns));
        if (place.row + half < n)
            value = op(value, other);
        n = half;
    }
    return value;
}

// The same for every row of the column.
template <typename V, typename Op>
__device__ inline V tree_all(const warp_place &place, V value, Op op)
{
    value = tree(place, value, op);
    int lane = (int)(threadIdx.x % PS_REDUCE_WARP);
    return __shfl_sync(FULL_WARP, value, place.side > 1 ? lane % place.columns : lane);
}

// Empties whole numbers (units as in layout) into the limbs of the column.
__device__ inline void flush_whole(const warp_place &place, const struct ps_bins_layout &layout,
                                   int64_t *whole)
{
    for (int i = 0; i < layout.count && place.side > 1; i++)
        whole[i] = tree(place, (long long)whole[i], take_sum());
    if (place.active && place.row == 0)
        ps_bins_flush(&layout, whole, place.planes.sum + place.output,
                      place.planes.squares != 0 ? place.planes.squares + place.output : 0,
                      place.planes.stride);
}

// none: this lane has seen no value but NaN.
__device__ inline void flush_extremes(const warp_place &place, uint64_t smallest, uint64_t largest,
                                      bool none)
{
    unsigned long long low = none ? 0 : ~(unsigned long long)smallest, high = none ? 0 : largest;
    if (place.side > 1) {
        low = tree(place, low, take_larger());
        high = tree(place, high, take_larger());
    }
    if (place.active && place.row == 0) {
        ps_reduce_raise(&place.planes.smallest[place.output], low);
        ps_reduce_raise(&place.planes.largest[place.output], high);
    }
}

// Rows [first, end) of this lane's column, `step` values from row to row.
template <typename Lane>
__device__ inline void add_rows(const warp_place &place, const typename Lane::type *column,
                                int64_t first, int64_t end, int64_t step)
{
    Lane lane;
    lane.start(place);
    for (int64_t row = first; row < end; row += (int64_t)place.side * BATCH) {
        typename Lane::type values[BATCH];
        unsigned valid = 0;
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            int64_t at = row + (int64_t)i * place.side + place.row;
            bool inside = place.active && at < end;
            valid |= (unsigned)inside << i;
            values[i] = inside ? column[at * step] : (typename Lane::type)0;
        }
        lane.add(place, values, valid);
    }
    lane.finish(place);
}

template <typename Lane>
__global__ void reduce_rows(const __grid_constant__ struct ps_reduce_rows_job job)
{
    int lane = (int)(threadIdx.x % PS_REDUCE_WARP),
        columns = (int)(job.columns < PS_REDUCE_WARP ? job.columns : PS_REDUCE_WARP);
    int64_t warps = (int64_t)gridDim.x * (blockDim.x / PS_REDUCE_WARP);
    int64_t tiles = (job.columns + columns - 1) / columns;
    int64_t jobs = tiles * ((job.rows + job.rows_per_job - 1) / job.rows_per_job);
    warp_place place;
    place.form = &job.form;
    place.planes = ps_reduce_planes(&job.form, job.state);
    place.columns = columns;
    place.side = PS_REDUCE_WARP / columns;
    place.row = lane / columns;
    int64_t index =
        (int64_t)blockIdx.x * (blockDim.x / PS_REDUCE_WARP) + threadIdx.x / PS_REDUCE_WARP;
    if (blockIdx.x == 0 && threadIdx.x == 0) { // no other thread looks at the head
        struct ps_reduce_head *head = place.planes.head;
        bool carried = head->pending + job.rows > PS_EXACT_ADDS_MAX; // by the carry kernel
        head->pending = (carried ? 0 : head->pending) + job.rows;
        head->elements += job.rows;
    }
    for (; index < jobs; index += warps) {
        int64_t first = index / tiles * job.rows_per_job;
        int64_t end = first + job.rows_per_job < job.rows ? first + job.rows_per_job : job.rows;
        place.output = index % tiles * columns + lane % columns;
        place.active = place.row < place.side && place.output < job.columns;
        add_rows<Lane>(place, (const typename Lane::type *)job.data + place.output, first, end,
                       job.columns);
    }
}

// A lane's source of values along reduced axes: an index becomes an offset.
template <typename Lane>
__device__ inline void add_places(const warp_place &place, const typename Lane::type *data,
                                  const struct ps_reduce_axes &axes, int64_t first, int64_t end)
{
    Lane lane;
    lane.start(place);
    for (int64_t index = first; index < end; index += (int64_t)place.side * BATCH) {
        typename Lane::type values[BATCH];
        unsigned valid = 0;
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            int64_t at = index + (int64_t)i * place.side + place.row;
            bool inside = at < end;
            valid |= (unsigned)inside << i;
            values[i] =
                inside ? data[axes.count == 1 ? at * axes.step[0] : ps_reduce_offset(&axes, at)]
                       : (typename Lane::type)0;
        }
        lane.add(place, values, valid);
    }
    lane.finish(place);
}

__device__ inline void carry_one(const struct ps_reduce_form &form,
                                 const struct ps_reduce_planes &planes, int64_t output)
{
    if (planes.sum != 0)
        ps_exact_carry(planes.sum + output, planes.stride, form.sum_limbs);
    if (planes.squares != 0)
        ps_exact_carry(planes.squares + output, planes.stride, form.square_limbs);
}

__device__ inline void check_fault(enum ps_reduce_fault fault)
{
    assert(fault != PS_REDUCE_OVERFLOW &&
           "reduce: an integer sum over axes of the row is beyond 64 bits; ask for the mean");
    assert(fault != PS_REDUCE_INEXACT &&
           "reduce: an integer result needs more than the 53 bits of float64, the dtype common "
           "to the kinds listed; ask for it in a stage of its own");
    assert(fault == PS_REDUCE_FINE);
}

// Lane 0's end of an output: own is the warp's state, the workspace after it. Not inlined: long
// code, run once per output; every kernel of the file shares one copy.
static __device__ __noinline__ void finish_one(const struct ps_reduce_inner_job &job, char *own,
                                               int64_t at)
{
    struct ps_reduce_planes planes = ps_reduce_planes(&job.part.form, own);
    uint32_t *work = (uint32_t *)(own + ps_reduce_state_bytes(&job.part.form));
    planes.head->elements = job.shape.reduced_count;
    int kind = 0;
    struct ps_reduce_ask basic = ps_reduce_basic_ask(&job.part);
    check_fault(
        ps_reduce_finish(&job.part.form, &planes, 0, &basic, job.basics, at, work, &kind));
    check_fault(
        ps_reduce_finish(&job.part.form, &planes, 0, &job.part.ask, job.output, at, work, &kind));
}

template <typename Lane>
__global__ void reduce_inner(const __grid_constant__ struct ps_reduce_inner_job job)
{
    extern __shared__ int64_t shared[];
    const int64_t segment = PS_EXACT_ADDS_MAX / 2;
    int lane = (int)(threadIdx.x % PS_REDUCE_WARP);
    int64_t warps = (int64_t)gridDim.x * (blockDim.x / PS_REDUCE_WARP);
    int64_t outputs = job.rows * job.shape.kept_count;
    char *own = (char *)shared + (size_t)(threadIdx.x / PS_REDUCE_WARP) * (size_t)job.warp_bytes;
    int state_bytes = (int)ps_reduce_state_bytes(&job.part.form);
    warp_place place;
    place.form = &job.part.form;
    place.planes = ps_reduce_planes(&job.part.form, own);
    place.output = 0;
    place.columns = 1;
    place.side = PS_REDUCE_WARP;
    place.row = lane;
    place.active = true;
    int64_t output =
        (int64_t)blockIdx.x * (blockDim.x / PS_REDUCE_WARP) + threadIdx.x / PS_REDUCE_WARP;
    for (; output < outputs; output += warps) {
        for (int i = lane; i < state_bytes / 8; i += PS_REDUCE_WARP)
            ((int64_t *)own)[i] = 0;
        __syncwarp();
        const typename Lane::type *data =
            (const typename Lane::type *)job.data +
            output / job.shape.kept_count * job.shape.row_elements +
            ps_reduce_offset(&job.shape.kept, output % job.shape.kept_count);
        for (int64_t first = 0; first < job.shape.reduced_count; first += segment) {
            int64_t end = first + segment < job.shape.reduced_count ? first + segment
                                                                     : job.shape.reduced_count;
            add_places<Lane>(place, data, job.shape.reduced, first, end);
            __syncwarp();
            if (lane == 0 && end < job.shape.reduced_count)
                carry_one(job.part.form, place.planes, 0);
            __syncwarp();
        }
        if (lane == 0)
            finish_one(job, own, output);
        __syncwarp();
    }
}

#endif
