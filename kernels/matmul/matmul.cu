// SPDX-License-Identifier: Apache-2.0
// The tiled matrix product, as one learns it, with the two steps that make it fast:
//
// 1. Shared memory. A block of threads computes a BM x BN tile of the result. For BK values of k
//    at a time it loads a BM x BK piece of `in` and a BK x BN piece of the matrix into shared
//    memory, where every number is read BN (or BM) times.
// 2. Registers. Each thread computes a TM x TN patch of the tile: TM + TN numbers read from shared
//    memory serve TM * TN multiply-adds.
//
// Every sum runs over ascending k with one fused multiply-add each, as in tiled_code.h, so that
// the bits are the cpu's.
#include "kernels/matmul/matmul_kernels.h"

#include "kernels/matmul/epilogue.h"

#include <cuda_fp16.h>

namespace
{

template <typename T>
struct tile_shape;
template <>
struct tile_shape<float> {
    enum { BM = 128, BN = 128, BK = 8, TM = 8, TN = 8 };
};
template <>
struct tile_shape<double> {
    enum { BM = 64, BN = 64, BK = 8, TM = 4, TN = 4 };
};

template <typename T>
struct tile_info {
    enum {
        THREADS = (tile_shape<T>::BM / tile_shape<T>::TM) * (tile_shape<T>::BN / tile_shape<T>::TN)
    };
};

__device__ __forceinline__ float multiply_add(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}
__device__ __forceinline__ double multiply_add(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

template <typename T>
__global__ void __launch_bounds__(tile_info<T>::THREADS)
    tiled(int64_t m, int64_t n, int64_t k, const T *__restrict__ in, const T *__restrict__ with,
          int64_t with_row, int64_t with_column, T *__restrict__ out, int64_t in_row,
          int64_t out_row)
{
    constexpr int BM = tile_shape<T>::BM, BN = tile_shape<T>::BN, BK = tile_shape<T>::BK;
    constexpr int TM = tile_shape<T>::TM, TN = tile_shape<T>::TN, THREADS = tile_info<T>::THREADS;
    // `in` is kept transposed, so that a thread's TM rows of one k lie side by side; the extra
    // column keeps the transposing stores from all hitting one bank.
    __shared__ __align__(16) T in_tile[BK][BM + 4];
    __shared__ __align__(16) T with_tile[BK][BN];
    const int64_t tiles_n = (n + BN - 1) / BN, tiles = tiles_n * ((m + BM - 1) / BM);
    // A thread's TN columns come in groups of 16 bytes, and the groups of neighbouring threads lie
    // side by side: a warp then reads shared memory without bank conflicts, 16 bytes a thread.
    constexpr int GROUP = 16 / sizeof(T), LANES = BN / TN;
    const int thread_row = threadIdx.x / LANES * TM, lane = threadIdx.x % LANES;

    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int64_t first_row = tile / tiles_n * BM, first_column = tile % tiles_n * BN;
        T sums[TM][TN] = {};
        for (int64_t k0 = 0; k0 < k; k0 += BK) {
            for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
                const int64_t row = first_row + i / BK, column = k0 + i % BK;
                in_tile[i % BK][i / BK] = row < m && column < k ? in[row * in_row + column] : T(0);
            }
            for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
                const int64_t row = k0 + i / BN, column = first_column + i % BN;
                with_tile[i / BN][i % BN] =
                    row < k && column < n ? with[row * with_row + column * with_column] : T(0);
            }
            __syncthreads();
            // Past the end of k nothing may be added: even 0 * 0 would turn -0 into +0.
            const int depth = k - k0 < BK ? int(k - k0) : BK;
#pragma unroll
            for (int i = 0; i < BK; i++) {
                if (i >= depth)
                    break;
                T a[TM], b[TN];
#pragma unroll
                for (int r = 0; r < TM; r++)
                    a[r] = in_tile[i][thread_row + r];
#pragma unroll
                for (int c = 0; c < TN; c++)
                    b[c] = with_tile[i][c / GROUP * (LANES * GROUP) + lane * GROUP + c % GROUP];
#pragma unroll
                for (int r = 0; r < TM; r++)
#pragma unroll
                    for (int c = 0; c < TN; c++)
                        sums[r][c] = multiply_add(a[r], b[c], sums[r][c]);
            }
            __syncthreads();
        }
#pragma unroll
        for (int r = 0; r < TM; r++)
#pragma unroll
            for (int c = 0; c < TN; c++) {
                const int64_t row = first_row + thread_row + r;
                const int64_t column =
                    first_column + c / GROUP * (LANES * GROUP) + lane * GROUP + c % GROUP;
                if (row < m && column < n)
                    out[row * out_row + column] = sums[r][c];
            }
    }
}

template <typename T>
cudaError_t launch_tiled(int64_t m, int64_t n, int64_t k, const void *in, const void *with,
                         int64_t with_row, int64_t with_column, void *out, int64_t in_row,
                         int64_t out_row, cudaStream_t stream)
{
    const int64_t tiles = ((n + tile_shape<T>::BN - 1) / tile_shape<T>::BN) *
                          ((m + tile_shape<T>::BM - 1) / tile_shape<T>::BM);
    const unsigned grid = tiles < 65535 ? unsigned(tiles) : 65535u;
    tiled<T><<<grid, tile_info<T>::THREADS, 0, stream>>>(
        m, n, k, static_cast<const T *>(in), static_cast<const T *>(with), with_row, with_column,
        static_cast<T *>(out), in_row, out_row);
    return cudaGetLastError();
}

__device__ __forceinline__ float narrow(float value, int drop)
{
    return drop > 0 ? ps_matmul_round(value, drop) : value;
}
__device__ __forceinline__ double narrow(double value, int)
{
    return value;
}
__device__ __forceinline__ float number(float value)
{
    return value;
}
__device__ __forceinline__ float number(__half value)
{
    return __half2float(value);
}

template <typename To, typename From>
__global__ void widen(To *__restrict__ out, const From *__restrict__ in, int64_t count, int drop)
{
    const int64_t threads = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = narrow(To(number(in[i])), drop);
}

template <typename T>
__global__ void finish(T *__restrict__ out, int64_t count, const T *__restrict__ bias,
                       int64_t bias_count, int activation)
{
    const int64_t threads = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const T x = bias != nullptr ? out[i] + bias[i % bias_count] : out[i];
        out[i] = activation == PS_ACTIVATION_RELU   ? (x < T(0) ? T(0) : x)
                 : activation == PS_ACTIVATION_NONE ? x
                                                    : T(ps_matmul_activate(activation, double(x)));
    }
}

unsigned grid_for(int64_t count)
{
    const int64_t blocks = (count + 255) / 256;
    return blocks < 4096 ? unsigned(blocks) : 4096u;
}

} // namespace

extern "C" cudaError_t ps_matmul_tiled(enum ps_dtype dtype, int64_t m, int64_t n, int64_t k,
                                       const void *in, int64_t in_row, const void *with,
                                       int64_t with_row, int64_t with_column, void *out,
                                       int64_t out_row, cudaStream_t stream)
{
    return dtype == PS_F64 ? launch_tiled<double>(m, n, k, in, with, with_row, with_column, out,
                                                  in_row, out_row, stream)
                           : launch_tiled<float>(m, n, k, in, with, with_row, with_column, out,
                                                 in_row, out_row, stream);
}

extern "C" cudaError_t ps_matmul_widen(enum ps_dtype to, void *out, enum ps_dtype from,
                                       const void *in, int64_t count, int drop, cudaStream_t stream)
{
    const unsigned grid = grid_for(count);
    if (count == 0)
        return cudaSuccess;
    if (from == PS_F16 && to == PS_F64)
        widen<<<grid, 256, 0, stream>>>((double *)out, (const __half *)in, count, drop);
    else if (from == PS_F16)
        widen<<<grid, 256, 0, stream>>>((float *)out, (const __half *)in, count, drop);
    else if (from == PS_F32 && to == PS_F64)
        widen<<<grid, 256, 0, stream>>>((double *)out, (const float *)in, count, drop);
    else if (from == PS_F32)
        widen<<<grid, 256, 0, stream>>>((float *)out, (const float *)in, count, drop);
    else
        return cudaErrorInvalidValue;
    return cudaGetLastError();
}

extern "C" cudaError_t ps_matmul_finish(enum ps_dtype dtype, void *out, int64_t count,
                                        const void *bias, int64_t bias_count, int activation,
                                        cudaStream_t stream)
{
    const unsigned grid = grid_for(count);
    if (count == 0)
        return cudaSuccess;
    if (dtype == PS_F64)
        finish<<<grid, 256, 0, stream>>>((double *)out, count, (const double *)bias, bias_count,
                                         activation);
    else
        finish<<<grid, 256, 0, stream>>>((float *)out, count, (const float *)bias, bias_count,
                                         activation);
    return cudaGetLastError();
}

extern "C" const void *ps_matmul_tiled_kernel(enum ps_dtype dtype, int *threads_out)
{
    *threads_out =
        dtype == PS_F64 ? int(tile_info<double>::THREADS) : int(tile_info<float>::THREADS);
    return dtype == PS_F64 ? (const void *)tiled<double> : (const void *)tiled<float>;
}
