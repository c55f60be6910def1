// SPDX-License-Identifier: Apache-2.0
// Lanes of integers: sums of pieces of 32 bits in 64-bit registers. A lane adds fewer than 2^26
// values before it finishes, so that neither a register nor the sum over a warp overflows.
#ifndef PS_KERNELS_REDUCE_LANE_INT_CUH
#define PS_KERNELS_REDUCE_LANE_INT_CUH

#include "kernels/reduce/device.cuh"

template <typename T>
struct lane_int {
    typedef T type;
    static constexpr bool is_signed = (T)-1 < (T)0, is_64 = sizeof(T) == 8;
    int64_t low, high;  // the sum: low + 2^32 high
    uint64_t square[4]; // piece i in units of 2^(32 i)
    uint64_t smallest, largest;
    int64_t adds;

    __device__ void empty()
    {
        low = high = 0;
        square[0] = square[1] = square[2] = square[3] = 0;
        adds = 0;
    }

    __device__ void start(const warp_place &)
    {
        empty();
        smallest = ~0ull;
        largest = 0;
    }

    __device__ static uint64_t key(T value)
    {
        return is_signed ? ps_reduce_key_signed((int64_t)value) : (uint64_t)value;
    }

    __device__ void add_square(T value)
    {
        uint64_t size = is_signed && value < (T)0 ? 0 - (uint64_t)value : (uint64_t)value;
        uint64_t product = size * size;
        square[0] += product & 0xffffffffu;
        square[1] += product >> 32;
        if (is_64) {
            uint64_t above = __umul64hi(size, size);
            square[2] += above & 0xffffffffu;
            square[3] += above >> 32;
        }
    }

    __device__ void add(const warp_place &place, const T (&values)[BATCH], unsigned valid)
    {
        bool squares = place.planes.squares != 0;
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            T value = values[i]; // 0 where not valid
            if (is_64) {
                low += (int64_t)((uint64_t)value & 0xffffffffu);
                high += is_signed ? (int64_t)value >> 32 : (int64_t)((uint64_t)value >> 32);
            } else {
                low += (int64_t)value;
            }
            if (squares)
                add_square(value);
            if ((valid >> i & 1) != 0) {
                uint64_t at = key(value);
                smallest = at < smallest ? at : smallest;
                largest = at > largest ? at : largest;
            }
        }
        adds += BATCH;
        if (adds >= 1 << 26) { // the same count in every lane of the warp
            flush(place);
            empty();
        }
    }

    __device__ void flush(const warp_place &place)
    {
        struct ps_bins_layout layout;
        int64_t whole[PS_BINS_MAX] = {low,
                                      high,
                                      (int64_t)square[0],
                                      (int64_t)square[1],
                                      (int64_t)square[2],
                                      (int64_t)square[3]};
        layout.count = PS_BINS_MAX;
        layout.sums = 2;
        for (int i = 0; i < PS_BINS_MAX; i++) {
            layout.unit[i] = i < 2 ? 32 * i : 32 * (i - 2);
            layout.position[i] = layout.unit[i];
        }
        if (place.planes.sum != 0)
            flush_whole(place, layout, whole);
    }

    __device__ void finish(const warp_place &place)
    {
        flush(place);
        flush_extremes(place, smallest, largest, smallest > largest);
    }
};

#endif
