// SPDX-License-Identifier: Apache-2.0
// Second moments on the cpu: tiles of rows are cut into slices, OpenBLAS multiplies the slices (no
// sum rounds, so its order is of no account), and the whole numbers go into the accumulators.
#include "kernels/cpu/blas.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/number.h"
#include "kernels/linear/slice.h"

#include <math.h>
#include <string.h>

#define PANEL 256    // slices that are multiplied by as many in one call
#define LEAST (-800) // exponents beyond are moved, so that nothing under- or overflows
#define MOST 900

// One tile. Scratch holds, one after another: slices, rests, a gathered column, products, labels.
struct tile {
    const struct ps_moments *m;
    const struct ps_slice_table *table;
    const void *data[PS_MOMENTS_SOURCES]; // from the tile's first row on
    int64_t rows;
    void *state;
    double *slices;   // [slice_count][PS_MOMENTS_ROWS]
    double *rests;    // [width][PS_MOMENTS_ROWS], of columns with has_rest
    double *column;   // [PS_MOMENTS_ROWS], gathered from the rows
    double *products; // [PANEL][PANEL]
    int64_t *column_of;
    int *unit_of; // a slice's numbers are whole multiples of 2^unit
    bool *has_rest;
    int64_t slice_count;
};

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t ps_moments_cpu_scratch(const struct ps_moments *m)
{
    size_t width = (size_t)m->width, slices = width * (size_t)m->slices;
    size_t column = PS_MOMENTS_ROWS * sizeof(double);
    return slices * column + width * column + column + PANEL * PANEL * sizeof(double) +
           aligned(slices * sizeof(int64_t)) + aligned(slices * sizeof(int)) + aligned(width);
}

static void place_scratch(struct tile *tile, char *scratch)
{
    size_t width = (size_t)tile->m->width, slices = width * (size_t)tile->m->slices;
    size_t column = PS_MOMENTS_ROWS * sizeof(double);
    tile->slices = (double *)scratch;
    scratch += slices * column;
    tile->rests = (double *)scratch;
    scratch += width * column;
    tile->column = (double *)scratch;
    scratch += column;
    tile->products = (double *)scratch;
    scratch += PANEL * PANEL * sizeof(double);
    tile->column_of = (int64_t *)scratch;
    scratch += aligned(slices * sizeof(int64_t));
    tile->unit_of = (int *)scratch;
    scratch += aligned(slices * sizeof(int));
    tile->has_rest = (bool *)scratch;
}

// ---- Single values ----

// Where column `column` of all sources is; false: the ones.
static bool find_column(const struct tile *tile, int64_t column, int *source_out, int64_t *own_out)
{
    int s = 0;
    while (s < tile->m->source_count && column >= tile->m->columns[s])
        column -= tile->m->columns[s++];
    *source_out = s;
    *own_out = column;
    return s < tile->m->source_count;
}

static double value_at(const struct tile *tile, int64_t row, int64_t column)
{
    int s;
    int64_t own;
    if (!find_column(tile, column, &s, &own))
        return 1;
    return ps_linear_number((enum ps_dtype)tile->m->dtypes[s], tile->data[s],
                            row * tile->m->columns[s] + own);
}

static struct ps_exact_parts parts_at(const struct tile *tile, int64_t row, int64_t column)
{
    int s;
    int64_t own;
    struct ps_exact_parts parts = {0, 0, false};
    if (find_column(tile, column, &s, &own)) {
        int64_t i = row * tile->m->columns[s] + own;
        if (tile->m->dtypes[s] == PS_U64) {
            parts.mantissa = ((const uint64_t *)tile->data[s])[i];
            return ps_moments_odd(parts);
        }
        if (tile->m->dtypes[s] == PS_I64) {
            int64_t value = ((const int64_t *)tile->data[s])[i];
            parts.negative = value < 0;
            parts.mantissa = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
            return ps_moments_odd(parts);
        }
    }
    double value = value_at(tile, row, column);
    return ps_moments_is_finite(value) ? ps_moments_odd(ps_exact_split(value)) : parts;
}

static bool is_wide(const struct tile *tile, int64_t column)
{
    int s;
    int64_t own;
    return find_column(tile, column, &s, &own) &&
           (tile->m->dtypes[s] == PS_I64 || tile->m->dtypes[s] == PS_U64);
}

// ---- Slices ----

static double *next_slice(struct tile *tile)
{
    return tile->slices + tile->slice_count * PS_MOMENTS_ROWS;
}

static void keep_slice(struct tile *tile, int64_t column, int unit)
{
    tile->column_of[tile->slice_count] = column;
    tile->unit_of[tile->slice_count++] = unit;
}

// 64-bit whole numbers: x = high * 2^44 + middle * 2^22 + low, the two last never negative.
static void slice_wide(struct tile *tile, int64_t column)
{
    const uint64_t mask = ((uint64_t)1 << PS_MOMENTS_BITS) - 1;
    int s;
    int64_t own;
    find_column(tile, column, &s, &own);
    bool is_signed = tile->m->dtypes[s] == PS_I64;
    for (int shift = 2 * PS_MOMENTS_BITS; shift >= 0; shift -= PS_MOMENTS_BITS) {
        double *to = next_slice(tile);
        bool any = false;
        for (int64_t row = 0; row < tile->rows; row++) {
            uint64_t bits = ((const uint64_t *)tile->data[s])[row * tile->m->columns[s] + own];
            uint64_t part = bits >> shift;
            if (shift < 2 * PS_MOMENTS_BITS)
                part &= mask;
            else if (is_signed && bits >> 63 != 0)
                part |= ~(UINT64_MAX >> shift);
            to[row] = is_signed ? (double)(int64_t)part : (double)part;
            any = any || part != 0;
        }
        if (any)
            keep_slice(tile, column, shift);
    }
}

// values *= 2^by, in steps that are exact; magnitudes below 2^below go to rests instead.
static void move_exponents(const struct tile *tile, double *values, int by, int below,
                           double *rests)
{
    double limit = below > -1022 ? ps_exact_power(below) : 0;
    for (int64_t row = 0; row < tile->rows; row++) {
        rests[row] = fabs(values[row]) < limit ? values[row] : 0;
        values[row] = fabs(values[row]) < limit ? 0 : ldexp(values[row], by);
    }
}

static void slice_column(struct tile *tile, int64_t column, double *values, double most)
{
    double *rests = tile->rests + column * PS_MOMENTS_ROWS;
    int exponent, by;
    bool left = true;
    tile->has_rest[column] = false;
    if (most == 0)
        return;
    frexp(most, &exponent); // most < 2^exponent
    by = exponent > MOST ? -exponent : exponent < LEAST ? 200 : 0;
    if (by != 0)
        move_exponents(tile, values, by, exponent > MOST ? exponent - 200 : -1100, rests);
    else
        memset(rests, 0, PS_MOMENTS_ROWS * sizeof *rests);
    for (int s = 1; left && s <= tile->m->slices; s++) {
        int unit = exponent + by - s * PS_MOMENTS_BITS;
        if (tile->table->slice(values, tile->rows, unit, next_slice(tile), &left))
            keep_slice(tile, column, unit - by);
    }
    for (int64_t row = 0; row < tile->rows && (left || by < 0); row++) {
        rests[row] += left ? ldexp(values[row], -by) : 0; // one of the two is 0
        tile->has_rest[column] = tile->has_rest[column] || rests[row] != 0;
    }
}

// ---- NaN and infinities ----

static void flag_value(struct tile *tile, int64_t row, int64_t column, double value)
{
    int64_t *flags = ps_moments_flags(tile->state);
    if (isnan(value) && (flags[ps_moments_pair(tile->m, column, column)] & PS_MOMENTS_NAN))
        return; // a NaN has made all pairs of the column NaN before
    for (int64_t other = 0; other < tile->m->width; other++)
        flags[ps_moments_pair(tile->m, column, other)] |=
            ps_moments_flag(value, value_at(tile, row, other));
}

static void flag_column(struct tile *tile, int64_t column)
{
    for (int64_t row = 0; row < tile->rows; row++) {
        double value = value_at(tile, row, column);
        if (!ps_moments_is_finite(value))
            flag_value(tile, row, column, value);
    }
}

#define GATHER(T, VALUE)                                                                           \
    for (int64_t row = 0; row < tile->rows; row++) {                                               \
        const T x = ((const T *)tile->data[s])[row * step + own];                                  \
        to[row] = VALUE;                                                                           \
    }                                                                                              \
    break

// A column's numbers, one after another; 64-bit whole numbers are left to slice_wide.
static void gather(const struct tile *tile, int64_t column, double *to)
{
    int s;
    int64_t own;
    if (!find_column(tile, column, &s, &own)) {
        for (int64_t row = 0; row < tile->rows; row++)
            to[row] = 1;
        return;
    }
    int64_t step = tile->m->columns[s];
    switch (tile->m->dtypes[s]) {
    case PS_F64:
        GATHER(double, x);
    case PS_F32:
        GATHER(float, x);
    case PS_F16:
        GATHER(uint16_t, ps_f16_to_f32(x));
    case PS_I32:
        GATHER(int32_t, x);
    case PS_U32:
        GATHER(uint32_t, x);
    case PS_I16:
        GATHER(int16_t, x);
    case PS_U16:
        GATHER(uint16_t, x);
    case PS_I8:
        GATHER(int8_t, x);
    default:
        GATHER(uint8_t, x);
    }
}

static void slice_all(struct tile *tile)
{
    double *values = tile->column;
    tile->slice_count = 0;
    for (int64_t column = 0; column < tile->m->width; column++) {
        bool others = false;
        tile->has_rest[column] = false;
        if (is_wide(tile, column)) {
            slice_wide(tile, column);
            continue;
        }
        gather(tile, column, values);
        double most = tile->table->look(values, tile->rows, &others);
        slice_column(tile, column, values, most);
        if (others)
            flag_column(tile, column);
    }
}

// ---- Products ----

static void add_products(const struct tile *tile, int64_t first, int rows, int64_t second,
                         int columns)
{
    const struct ps_moments *m = tile->m;
    for (int p = 0; p < rows; p++) {
        int64_t a = first + p;
        int64_t b = first == second ? a : second;
        for (; b < second + columns; b++) {
            int64_t whole = (int64_t)tile->products[p * PANEL + (b - second)];
            int position = tile->unit_of[a] + tile->unit_of[b] - m->low;
            if (whole == 0)
                continue;
            if (a != b && tile->column_of[a] == tile->column_of[b])
                whole *= 2; // slices s, t and t, s of one column
            int64_t pair = ps_moments_pair(m, tile->column_of[a], tile->column_of[b]);
            ps_moments_add_whole(ps_moments_limbs(m, tile->state, pair), position, whole);
        }
    }
}

static void multiply(const struct tile *tile)
{
    const blasint depth = (blasint)tile->rows, stride = PS_MOMENTS_ROWS;
    for (int64_t i = 0; i < tile->slice_count; i += PANEL) {
        int rows = (int)(tile->slice_count - i < PANEL ? tile->slice_count - i : PANEL);
        const double *a = tile->slices + i * PS_MOMENTS_ROWS;
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, rows, depth, 1, a, stride, 0,
                    tile->products, PANEL);
        add_products(tile, i, rows, i, rows);
        for (int64_t j = i + PANEL; j < tile->slice_count; j += PANEL) {
            int columns = (int)(tile->slice_count - j < PANEL ? tile->slice_count - j : PANEL);
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, depth, 1, a, stride,
                        tile->slices + j * PS_MOMENTS_ROWS, stride, 0, tile->products, PANEL);
            add_products(tile, i, rows, j, columns);
        }
    }
}

// The part of column k's value in this row that is in slices.
static struct ps_exact_parts sliced_at(const struct tile *tile, int64_t row, int64_t column)
{
    if (!tile->has_rest[column])
        return parts_at(tile, row, column);
    double value = value_at(tile, row, column);
    double rest = tile->rests[column * PS_MOMENTS_ROWS + row];
    struct ps_exact_parts none = {0, 0, false};
    return ps_moments_is_finite(value) ? ps_moments_odd(ps_exact_split(value - rest)) : none;
}

// x_j x_k - h_j h_k = r_j x_k + h_j r_k, where x = h + r, h in slices and r the rest.
static void add_rests(const struct tile *tile)
{
    const struct ps_moments *m = tile->m;
    for (int64_t j = 0; j < m->width; j++)
        for (int64_t row = 0; tile->has_rest[j] && row < tile->rows; row++) {
            double rest = tile->rests[j * PS_MOMENTS_ROWS + row];
            if (rest == 0)
                continue;
            struct ps_exact_parts r = ps_moments_odd(ps_exact_split(rest));
            for (int64_t k = 0; k < m->width; k++) {
                int64_t *limbs = ps_moments_limbs(m, tile->state, ps_moments_pair(m, j, k));
                if (k >= j)
                    ps_moments_add_product(limbs, m->low, r, parts_at(tile, row, k));
                if (k <= j)
                    ps_moments_add_product(limbs, m->low, sliced_at(tile, row, k), r);
            }
        }
}

bool ps_linear_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    const struct ps_moments *m = &program->linear.moments;
    struct tile tile = {.m = m, .table = program->table, .state = launch->state};
    struct ps_moments_head *head = launch->state;
    if (program->linear.projects)
        return ps_project_run_cpu(program, launch, error);
    ps_blas_prepare();
    place_scratch(&tile, launch->scratch);
    for (int64_t first = 0; first < launch->rows; first += tile.rows) {
        tile.rows = launch->rows - first < PS_MOMENTS_ROWS ? launch->rows - first : PS_MOMENTS_ROWS;
        for (int s = 0; s < m->source_count; s++)
            tile.data[s] =
                (const char *)launch->inputs[program->inputs[s]] +
                (size_t)(first * m->columns[s]) * ps_dtype_bytes((enum ps_dtype)m->dtypes[s]);
        int64_t adds = PS_MOMENTS_TILE_ADDS + PS_MOMENTS_ROW_ADDS * tile.rows;
        if (head->pending + adds > PS_EXACT_ADDS_MAX)
            ps_moments_carry(m, launch->state);
        head->pending += adds;
        head->rows += tile.rows;
        slice_all(&tile);
        multiply(&tile);
        add_rests(&tile);
    }
    return true;
}
