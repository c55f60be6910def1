// SPDX-License-Identifier: Apache-2.0
// Lanes of binary32 (binary16 widened) and binary64: bins with an anchor that follows the data.
// Lanes that share an output share the anchor, so that their bins can be added as whole numbers.
#ifndef PS_KERNELS_REDUCE_LANE_FLOAT_CUH
#define PS_KERNELS_REDUCE_LANE_FLOAT_CUH

#include "kernels/reduce/device.cuh"

#include <cuda_fp16.h>

// Anchors lie this many bits above the largest value of a batch: fewer of the later values exceed
// it, and exceeding costs an emptying of the bins.
#define ANCHOR_MARGIN 2

struct read_f32 {
    typedef float type;
    __device__ static float get(float value)
    {
        return value;
    }
};

struct read_f16 {
    typedef unsigned short type;
    __device__ static float get(unsigned short bits)
    {
        return __half2float(__ushort_as_half(bits));
    }
};

template <typename Read>
struct lane_f32 {
    typedef typename Read::type type;
    struct ps_bins32 bins;
    int anchor, adds;
    uint32_t from, to;
    int32_t smallest, largest; // keys as signed numbers: growing with the value

    __device__ void anchor_at(uint32_t magnitude, int lowest)
    {
        int at = ps_bins32_anchor(magnitude) + ANCHOR_MARGIN;
        at = at > lowest ? at : lowest;
        anchor = at < 128 ? at : 128;
        from = ps_bins32_from(anchor);
        to = ps_bins32_to(anchor);
        bins = ps_bins32_empty(anchor);
        adds = 0;
    }

    __device__ void start(const warp_place &)
    {
        anchor_at(0, -126);
        to = from; // nothing fits before the first value sets the anchor
        smallest = INT32_MAX;
        largest = INT32_MIN;
    }

    __device__ void flush(const warp_place &place)
    {
        int64_t whole[PS_BINS_MAX];
        struct ps_bins_layout layout = ps_bins32_layout(anchor, place.form->low);
        ps_bins32_whole(&bins, anchor, &layout, whole);
        flush_whole(place, layout, whole);
    }

    __device__ void make_room(const warp_place &place, uint32_t most)
    {
        bool full = adds + BATCH > PS_BINS_F32_ROWS, need = full || most >= to;
        if (place.side > 1) {
            if (__any_sync(FULL_WARP, need)) {
                flush(place);
                anchor_at(tree_all(place, most, take_larger()), full ? -126 : anchor);
            }
        } else if (need) {
            flush(place);
            anchor_at(most, -126);
        }
    }

    __device__ void add(const warp_place &place, const type (&values)[BATCH], unsigned valid)
    {
        uint32_t most = 0;
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            uint32_t bits = __float_as_uint(Read::get(values[i]));
            uint32_t magnitude = bits & 0x7fffffffu;
            int32_t key = (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) >> 1));
            if ((valid >> i & 1) == 0 || magnitude > 0x7f800000u)
                continue;
            smallest = key < smallest ? key : smallest;
            largest = key > largest ? key : largest;
            most = magnitude > most && magnitude < 0x7f800000u ? magnitude : most;
        }
        bool sums = place.planes.sum != 0;
        if (sums)
            make_room(place, most);
        adds += BATCH;
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            float value = Read::get(values[i]);
            uint32_t magnitude = __float_as_uint(value) & 0x7fffffffu;
            if (sums && magnitude - from < to - from)
                ps_bins32_add(&bins, value);
            else if (magnitude >= (sums ? 1u : 0x7f800000u) && (valid >> i & 1) != 0)
                ps_reduce_odd_f64(place.form, &place.planes, place.output, value);
        }
    }

    __device__ void finish(const warp_place &place)
    {
        if (place.planes.sum != 0)
            flush(place);
        bool none = largest == INT32_MIN && smallest == INT32_MAX;
        flush_extremes(place, (uint32_t)smallest ^ 0x80000000u, (uint32_t)largest ^ 0x80000000u,
                       none);
    }
};

struct lane_f64 {
    typedef double type;
    struct ps_bins64 bins;
    int anchor, adds;
    uint64_t from, to;
    int64_t smallest, largest;

    __device__ void anchor_at(uint64_t magnitude, int lowest, bool squares)
    {
        int at = ps_bins64_anchor(magnitude) + ANCHOR_MARGIN;
        at = at > lowest ? at : lowest;
        anchor = at < PS_BINS_F64_HIGHEST ? at : PS_BINS_F64_HIGHEST;
        from = ps_bins64_from(anchor, squares);
        to = ps_bins64_to(anchor);
        bins = ps_bins64_empty(anchor);
        adds = 0;
    }

    __device__ void start(const warp_place &place)
    {
        anchor_at(0, PS_BINS_F64_LOWEST, place.planes.squares != 0);
        to = from; // nothing fits before the first value sets the anchor
        smallest = INT64_MAX;
        largest = INT64_MIN;
    }

    __device__ void flush(const warp_place &place)
    {
        int64_t whole[PS_BINS_MAX];
        struct ps_bins_layout layout =
            ps_bins64_layout(anchor, place.form->low, place.planes.squares != 0);
        ps_bins64_whole(&bins, anchor, &layout, whole);
        flush_whole(place, layout, whole);
    }

    __device__ void make_room(const warp_place &place, uint64_t most)
    {
        bool squares = place.planes.squares != 0, full = adds + BATCH > PS_BINS_F64_ROWS;
        // Beyond the highest anchor nothing helps: such values go one by one.
        bool need = full || (most >= to && (to == from || anchor < PS_BINS_F64_HIGHEST));
        if (place.side > 1) {
            if (__any_sync(FULL_WARP, need)) {
                flush(place);
                anchor_at(tree_all(place, (unsigned long long)most, take_larger()),
                          full ? PS_BINS_F64_LOWEST : anchor, squares);
            }
        } else if (need) {
            flush(place);
            anchor_at(most, PS_BINS_F64_LOWEST, squares);
        }
    }

    __device__ void add(const warp_place &place, const double (&values)[BATCH], unsigned valid)
    {
        uint64_t most = 0;
        bool sums = place.planes.sum != 0, squares = place.planes.squares != 0;
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            uint64_t bits = (uint64_t)__double_as_longlong(values[i]);
            uint64_t magnitude = bits & 0x7fffffffffffffffull;
            int64_t key = (int64_t)(bits ^ ((uint64_t)((int64_t)bits >> 63) >> 1));
            if ((valid >> i & 1) == 0 || magnitude > 0x7ff0000000000000ull)
                continue;
            smallest = key < smallest ? key : smallest;
            largest = key > largest ? key : largest;
            most = magnitude > most && magnitude < 0x7ff0000000000000ull ? magnitude : most;
        }
        if (sums)
            make_room(place, most);
        adds += BATCH;
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            double value = values[i];
            uint64_t magnitude = (uint64_t)__double_as_longlong(value) & 0x7fffffffffffffffull;
            if (sums && magnitude - from < to - from)
                ps_bins64_add(&bins, value, squares);
            else if (magnitude >= (sums ? 1ull : 0x7ff0000000000000ull) && (valid >> i & 1) != 0)
                ps_reduce_odd_f64(place.form, &place.planes, place.output, value);
        }
    }

    __device__ void finish(const warp_place &place)
    {
        if (place.planes.sum != 0)
            flush(place);
        bool none = largest == INT64_MIN && smallest == INT64_MAX;
        flush_extremes(place, (uint64_t)smallest ^ 1ull << 63, (uint64_t)largest ^ 1ull << 63,
                       none);
    }
};

#endif
