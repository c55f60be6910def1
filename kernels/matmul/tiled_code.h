// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set with PS_TILED_TABLE defined. Each output number is a chain of
// fused multiply-adds in ascending k, so vectors and tiles change speed but no bit. Where the set
// has no fma instruction the C library computes it: slow, and right.
#include "kernels/matmul/tiled.h"

#define ROWS 4 // of a tile: as many rows share each loaded piece of the matrix
// Columns of a tile: 64 bytes, so that ROWS x WIDTH sums stay in registers from AVX2 up.
#define WIDTH ((int)(64 / sizeof(in[0])))

#define TILED(T, NAME, FMA)                                                                        \
    static void NAME##_tile(int64_t n, int64_t k, const T *in, const T *with, T *out)              \
    {                                                                                              \
        T sums[ROWS][WIDTH] = {{0}};                                                               \
        for (int64_t i = 0; i < k; i++)                                                            \
            for (int r = 0; r < ROWS; r++)                                                         \
                for (int c = 0; c < WIDTH; c++)                                                    \
                    sums[r][c] = FMA(in[r * k + i], with[i * n + c], sums[r][c]);                  \
        for (int r = 0; r < ROWS; r++)                                                             \
            for (int c = 0; c < WIDTH; c++)                                                        \
                out[r * n + c] = sums[r][c];                                                       \
    }                                                                                              \
    static void NAME##_edge(int64_t rows, int64_t width, int64_t n, int64_t k, const T *in,        \
                            const T *with, T *out)                                                 \
    {                                                                                              \
        for (int64_t r = 0; r < rows; r++)                                                         \
            for (int64_t c = 0; c < width; c++) {                                                  \
                T sum = 0;                                                                         \
                for (int64_t i = 0; i < k; i++)                                                    \
                    sum = FMA(in[r * k + i], with[i * n + c], sum);                                \
                out[r * n + c] = sum;                                                              \
            }                                                                                      \
    }                                                                                              \
    static void NAME(int64_t rows, int64_t n, int64_t k, const T *in, const T *with, T *out)       \
    {                                                                                              \
        for (int64_t c = 0; c < n; c += WIDTH)                                                     \
            for (int64_t r = 0; r < rows; r += ROWS) {                                             \
                int64_t width = n - c < WIDTH ? n - c : WIDTH;                                     \
                int64_t height = rows - r < ROWS ? rows - r : ROWS;                                \
                if (width == WIDTH && height == ROWS)                                              \
                    NAME##_tile(n, k, in + r * k, with + c, out + r * n + c);                      \
                else                                                                               \
                    NAME##_edge(height, width, n, k, in + r * k, with + c, out + r * n + c);       \
            }                                                                                      \
    }

TILED(float, tiled_f32, __builtin_fmaf)
TILED(double, tiled_f64, __builtin_fma)

const struct ps_tiled_table PS_TILED_TABLE = {tiled_f32, tiled_f64};
