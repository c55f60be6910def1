// SPDX-License-Identifier: Apache-2.0
// Every stage in whole jobs: all dtypes, numbers of rows, slots and blocks against plain loops over
// small integers, so that sums are exact; noise through three passes has the same bits in any
// block.
#include "stage_job.h"

#define COLUMNS 4 // of the matrix

// ---- Stages ----

static double y[ROWS_MAX * ROW];
static void near(double a, double b)
{
    bad += !(a == b || fabs(a - b) <= 4e-16 * fabs(b) || (isnan(a) && isnan(b)));
}

// Of `count` numbers `stride` apart: sum, mean, var and std (the exact quotient, rounded), count.
static void check_moments(const double *numbers, int count, int stride, const double *result)
{
    double sum = 0, squares = 0, n = count;
    for (int i = 0; i < count; i++) {
        sum += numbers[i * stride];
        squares += numbers[i * stride] * numbers[i * stride];
    }
    double variance = (n * squares - sum * sum) / (n * n);
    same(result[0], sum);
    near(result[1], sum / n);
    near(result[2], variance);
    near(result[3], sqrt(variance));
    same(result[4], n);
}

static void check_extremes(const double *numbers, int count, int stride, const double *result)
{
    double least = numbers[0], most = numbers[0];
    for (int i = 1; i < count; i++) {
        least = fmin(least, numbers[i * stride]);
        most = fmax(most, numbers[i * stride]);
    }
    same(result[0], least);
    same(result[1], most);
}

static void check_stages(enum ps_dtype dtype, int rows)
{
    double total[5], w[3 * COLUMNS];
    size_t input_bytes = (size_t)(rows * ROW) * ps_dtype_bytes(dtype), n = (size_t)rows;
    for (int e = 0; e < rows * ROW; e++)
        y[e] = value(dtype, e) * 2.0 + 1;
    for (int i = 0; i < 3 * COLUMNS; i++)
        w[i] = i;
    check_size(read_output("x.out", got, sizeof got), input_bytes);
    bad += memcmp(got, input, input_bytes) != 0; // stored as it was
    check_size(read_output("y.out", got, sizeof got), n * ROW * 8);
    bad += memcmp(got, y, n * ROW * 8) != 0;
    check_size(read_output("all.out", total, sizeof total), sizeof total);
    check_moments(y, rows * ROW, 1, total);
    check_size(read_output("rows.out", got, sizeof got), ROW * 5 * 8);
    for (int c = 0; c < ROW; c++)
        check_moments(y + c, rows, ROW, got + c * 5);
    check_size(read_output("centred.out", got, sizeof got), n * ROW * 8);
    for (int e = 0; e < rows * ROW; e++)
        same(got[e], y[e] - total[0]);
    check_size(read_output("inner.out", got, sizeof got), n * 2 * 5 * 8);
    for (int r = 0; r < rows * 2; r++)
        check_moments(y + r * 3, 3, 1, got + r * 5);
    check_size(read_output("extremes.out", got, sizeof got), n * 2 * 8);
    for (int r = 0; r < rows; r++)
        check_extremes(y + r * ROW, ROW, 1, got + r * 2);
    check_size(read_output("product.out", got, sizeof got), n * 2 * COLUMNS * 8);
    for (int e = 0; e < rows * 2 * COLUMNS; e++) {
        const double *row = y + e / COLUMNS * 3;
        int c = e % COLUMNS;
        same(got[e], row[0] * w[c] + row[1] * w[COLUMNS + c] + row[2] * w[2 * COLUMNS + c]);
    }
    if (rows == 0)
        return;
    check_size(read_output("largest.out", got, sizeof got), ROW * 2 * 8);
    for (int c = 0; c < ROW; c++)
        check_extremes(y + c, rows, ROW, got + c * 2);
}

// Extremes of no rows are refused, so a job of no rows asks for none.
static void write_stages_config(enum ps_dtype dtype, int rows)
{
    write_config("version: 1\n"
                 "inputs:\n"
                 "  x: {path: x.bin, format: raw, dtype: %s, shape: [-1, 2, 3]}\n"
                 "  w: {format: pattern, shape: [3, %d], dtype: f64, load: whole}\n"
                 "stages:\n"
                 "  - {name: y, op: map, expr: f64(x) * 2 + 1}\n"
                 "  - {name: rows, op: reduce, of: [sum, mean, var, std, count]}\n"
                 "  - {name: all, op: reduce, in: y, axis: all, of: [sum, mean, var, std, count]}\n"
                 "  - {name: total, op: reduce, in: y, axis: all, of: sum}\n"
                 "  - {name: inner, op: reduce, in: y, axis: 2, of: [sum, mean, var, std, count]}\n"
                 "  - {name: extremes, op: reduce, in: y, axis: [1, 2], of: [min, max]}\n"
                 "  - {name: product, op: matmul, in: y, with: w}\n"
                 "  - {name: centred, op: map, expr: y - total}\n"
                 "%s"
                 "outputs:\n"
                 "  x: {path: x.out, format: raw, overwrite: true}\n"
                 "  y: {path: y.out, format: raw, overwrite: true}\n"
                 "  rows: {path: rows.out, format: raw, overwrite: true}\n"
                 "  all: {path: all.out, format: raw, overwrite: true}\n"
                 "  inner: {path: inner.out, format: raw, overwrite: true}\n"
                 "  extremes: {path: extremes.out, format: raw, overwrite: true}\n"
                 "  product: {path: product.out, format: raw, overwrite: true}\n"
                 "  centred: {path: centred.out, format: raw, overwrite: true}\n"
                 "%s"
                 "run: {backend: cpu, threads: 2}\n",
                 ps_dtype_name(dtype), COLUMNS,
                 rows > 0 ? "  - {name: largest, op: reduce, in: y, axis: rows, of: [min, max]}\n"
                          : "",
                 rows > 0 ? "  largest: {path: largest.out, format: raw, overwrite: true}\n" : "");
}

static void test_stages(void)
{
    static const int rows[] = {0, 1, 31, 32, 33, ROWS_MAX};
    char what[96];
    for (int d = 0; d < PS_DTYPE_COUNT; d++)
        for (int r = 0; r < 6; r++) {
            make_input((enum ps_dtype)d, rows[r]);
            write_stages_config((enum ps_dtype)d, rows[r]);
            for (int i = 0; i < 9; i++) {
                const char *const sets[] = {blocks[i / 3], slots[i % 3]};
                snprintf(what, sizeof what, "%s, %d rows, %s, %s", ps_dtype_name((enum ps_dtype)d),
                         rows[r], sets[0], sets[1]);
                bad = !run_job(sets, 2, what);
                if (bad == 0)
                    check_stages((enum ps_dtype)d, rows[r]);
                CU_ASSERT_EQUAL(bad, 0);
                if (bad != 0)
                    printf("\n    %d wrong: %s\n", bad, what);
            }
        }
    remove_files();
}

// ---- Passes ----

// Noise, three passes, whole stages between them: one result for twenty blocks.
static void test_blocks(void)
{
    static const int sizes[] = {1,  2,  3,   4,   5,   7,   8,   15,  16,  17,
                                31, 33, 100, 127, 500, 512, 777, 778, 779, 5000};
    char first[3][128] = {{0}}, text[128], block[32];
    static const char *const names[] = {"q.txt", "p.txt", "last.txt"};
    write_config("version: 1\n"
                 "inputs: {x: {format: pattern, kind: normal, shape: [778, 9], dtype: f32}}\n"
                 "stages:\n"
                 "  - {name: s, op: reduce, in: x, of: [mean, std]}\n"
                 "  - {name: n, op: map, expr: (x - s.mean) / s.std}\n"
                 "  - {name: e, op: reduce, in: n, of: [sum, max]}\n"
                 "  - {name: scale, op: map, expr: 1 / (1 + abs(e.max))}\n"
                 "  - {name: p, op: map, expr: exp(n) * scale}\n"
                 "  - {name: q, op: map, expr: p * p + n}\n"
                 "  - {name: last, op: reduce, axis: all, of: [mean, var, std]}\n"
                 "outputs:\n"
                 "  p: {path: p.txt, format: digest, overwrite: true}\n"
                 "  q: {path: q.txt, format: digest, overwrite: true}\n"
                 "  last: {path: last.txt, format: digest, overwrite: true}\n"
                 "run: {backend: cpu, threads: 3}\n");
    for (int i = 0; i < 20; i++) {
        snprintf(block, sizeof block, "run.block=%d rows", sizes[i]);
        const char *const sets[] = {block, slots[i % 3]};
        CU_ASSERT_FATAL(run_job(sets, 2, block));
        for (int n = 0; n < 3; n++) {
            memset(text, 0, sizeof text);
            CU_ASSERT(read_output(names[n], text, sizeof text - 1) > 20);
            if (i == 0)
                strcpy(first[n], text);
            CU_ASSERT_STRING_EQUAL(text, first[n]);
        }
    }
    remove_files();
}

int main(void)
{
    static const struct check_test tests[] = {
        {"stages", test_stages},
        {"blocks", test_blocks},
        {NULL, NULL},
    };
    return stage_main("stages", tests);
}
