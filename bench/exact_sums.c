// SPDX-License-Identifier: Apache-2.0
// What exact sums cost: GB/s of the cpu backend's hot loop for sum, sum of squares, min and max of
// every column, beside a plain double sum and a plain sum of the same four. One thread.
// cc -std=gnu17 -O2 -D_GNU_SOURCE -I. bench/exact_sums.c -o exact_sums \
//    -Lbuild/release -lps_kernels -lps_base -lm -ldl        usage: exact_sums [COLUMNS [MIB]]
#include "base/clock.h"
#include "kernels/reduce/tile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = 88172645463325252ull;
static double next_normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        sum += (double)(seed >> 11) * 0x1p-53;
    }
    return sum;
}

static double sink;

static void plain(const float *x, int64_t rows, int64_t columns, double *out, int all_four)
{
    double *sum = out, *squares = out + columns, *small = squares + columns,
           *large = small + columns;
    for (int64_t r = 0; r < rows; r++, x += columns) {
        if (!all_four) {
            for (int64_t c = 0; c < columns; c++)
                sum[c] += x[c];
            continue;
        }
        for (int64_t c = 0; c < columns; c++) {
            double v = x[c];
            sum[c] += v;
            squares[c] += v * v;
            small[c] = v < small[c] ? v : small[c];
            large[c] = v > large[c] ? v : large[c];
        }
    }
    sink += out[0];
}

static void report(const char *name, double ms, double bytes, double elements)
{
    printf("%-34s %7.2f GB/s  %6.2f G elements/s\n", name, bytes / ms / 1e6, elements / ms / 1e6);
}

int main(int argc, char **argv)
{
    int64_t columns = argc > 1 ? atoll(argv[1]) : 256;
    int64_t bytes = (int64_t)((argc > 2 ? atof(argv[2]) : 0.25) * 1048576);
    int64_t rows = bytes / 4 / columns, count = rows * columns;
    int64_t repeats = 1 + (int64_t)(2e9 / (double)bytes);
    float *x = aligned_alloc(64, (size_t)(count * 4 + 64) / 64 * 64);
    double *wide = aligned_alloc(64, (size_t)(count * 8 + 64) / 64 * 64);
    double *out = calloc((size_t)columns * 4, sizeof *out);
    for (int64_t i = 0; i < count; i++)
        wide[i] = x[i] = (float)next_normal();
    for (int all_four = 0; all_four < 2; all_four++) {
        double start = ps_clock_ms();
        for (int64_t i = 0; i < repeats; i++)
            plain(x, rows, columns, out, all_four);
        report(all_four ? "f32 plain sum, squares, min, max" : "f32 plain sum",
               ps_clock_ms() - start, (double)repeats * (double)count * 4,
               (double)repeats * (double)count);
    }
    for (int k = 0; k < 4; k++) {
        bool f64 = k >= 2, squares = k % 2 == 1;
        struct ps_reduce_form form = {f64 ? PS_F64 : PS_F32, f64 ? -1074 : -149, f64 ? 69 : 12,
                                      squares ? (f64 ? 136 : 21) : 0, columns};
        void *state = calloc(1, (size_t)ps_reduce_state_bytes(&form));
        struct ps_reduce_planes planes = ps_reduce_planes(&form, state);
        double start = ps_clock_ms();
        for (int64_t i = 0; i < repeats; i++)
            ps_reduce_tile()->add[form.dtype](&form, &planes, 0, f64 ? (void *)wide : x, rows,
                                              columns);
        char name[64];
        snprintf(name, sizeof name, "%s exact sum%s, min, max", f64 ? "f64" : "f32",
                 squares ? ", squares" : "");
        report(name, ps_clock_ms() - start, (double)repeats * (double)count * (f64 ? 8 : 4),
               (double)repeats * (double)count);
        free(state);
    }
    free(x);
    free(wide);
    free(out);
    return sink == 1.5;
}
