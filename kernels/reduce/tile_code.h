// SPDX-License-Identifier: Apache-2.0
// The hot loop: values go through in groups of lanes (16 columns, or several rows of a narrow
// matrix side by side) and up to 512 rows. A first look finds the extremes of every lane; with
// them the second look adds all lanes in bins (kernels/exact_bins.h) without rounding. A lane that
// holds NaN, infinities or very different exponents goes value by value.
// Included by tile_*.c, which define PS_REDUCE_TILE. Nothing here may depend on how values are
// grouped: only exact steps.
#include "base/dtype.h"
#include "kernels/exact_bins.h"
#include "kernels/reduce/tile.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

#define LANES_F32 16
#define LANES_F64 8
#define GROUP_BYTES 64
#define ROWS_MAX 512

// One group: lanes `skip` up to `lanes` of each row; lane l belongs to output + l % fold.
struct group {
    const struct ps_reduce_form *form;
    const struct ps_reduce_planes *planes;
    int64_t output;
    int64_t rows, stride;
    int skip, lanes, fold;
};

#include "kernels/reduce/tile_f32.h"
#include "kernels/reduce/tile_f64.h"
#include "kernels/reduce/tile_int.h"

struct walk {
    size_t bytes;  // of a value
    int lanes;     // of a group; a group always reads this many values of a row
    int rows_most; // of a group
    void (*group)(const struct group *group, const void *data);
    // Values one by one: count of them, the first of output, the next of output + 1, ... % fold.
    void (*few)(const struct group *group, const void *data, int64_t count);
};

// Columns enough for a group: groups side by side, the last one shifted back to end in time.
static void walk_wide(const struct walk *walk, struct group *group, const char *data, int64_t rows,
                      int64_t columns)
{
    int64_t first = group->output;
    group->stride = columns;
    group->lanes = group->fold = walk->lanes;
    for (int64_t row = 0; row < rows; row += walk->rows_most) {
        group->rows = rows - row < walk->rows_most ? rows - row : walk->rows_most;
        for (int64_t column = 0; column < columns; column += walk->lanes) {
            int64_t from = column + walk->lanes <= columns ? column : columns - walk->lanes;
            group->skip = (int)(column - from);
            group->output = first + from;
            walk->group(group, data + (size_t)(row * columns + from) * walk->bytes);
        }
    }
}

// Few columns: as many rows side by side as fill a group.
static void walk_narrow(const struct walk *walk, struct group *group, const char *data,
                        int64_t rows, int64_t columns)
{
    int64_t count = rows * columns;
    group->skip = 0;
    group->fold = (int)columns;
    group->lanes = walk->lanes / (int)columns * (int)columns;
    group->stride = group->lanes;
    int64_t long_rows = count >= walk->lanes ? (count - walk->lanes) / group->lanes + 1 : 0;
    for (int64_t row = 0; row < long_rows; row += walk->rows_most) {
        group->rows = long_rows - row < walk->rows_most ? long_rows - row : walk->rows_most;
        walk->group(group, data + (size_t)(row * group->lanes) * walk->bytes);
    }
    int64_t done = long_rows * group->lanes;
    walk->few(group, data + (size_t)done * walk->bytes, count - done);
}

static void walk_matrix(const struct walk *walk, const struct ps_reduce_form *form,
                        const struct ps_reduce_planes *planes, int64_t first, const void *data,
                        int64_t rows, int64_t columns)
{
    struct group group = {.form = form, .planes = planes, .output = first};
    if (columns >= walk->lanes)
        walk_wide(walk, &group, data, rows, columns);
    else if (columns > 0)
        walk_narrow(walk, &group, data, rows, columns);
}

#define TILE(NAME, TYPE, LANES, ROWS)                                                              \
    static void add_##NAME(const struct ps_reduce_form *form,                                      \
                           const struct ps_reduce_planes *planes, int64_t first, const void *data, \
                           int64_t rows, int64_t columns)                                          \
    {                                                                                              \
        static const struct walk walk = {sizeof(TYPE), LANES, ROWS, group_##NAME, few_##NAME};     \
        walk_matrix(&walk, form, planes, first, data, rows, columns);                              \
    }

TILE(f16, uint16_t, LANES_F32, PS_BINS_F32_ROWS)
TILE(f32, float, LANES_F32, PS_BINS_F32_ROWS)
TILE(f64, double, LANES_F64, PS_BINS_F64_ROWS)
TILE(i8, int8_t, LANES_INT, ROWS_MAX)
TILE(i16, int16_t, LANES_INT, ROWS_MAX)
TILE(i32, int32_t, LANES_INT, ROWS_MAX)
TILE(i64, int64_t, LANES_INT, ROWS_MAX)
TILE(u8, uint8_t, LANES_INT, ROWS_MAX)
TILE(u16, uint16_t, LANES_INT, ROWS_MAX)
TILE(u32, uint32_t, LANES_INT, ROWS_MAX)
TILE(u64, uint64_t, LANES_INT, ROWS_MAX)

const struct ps_reduce_tile PS_REDUCE_TILE = {
    .add = {[PS_BOOL] = add_u8,
            [PS_I8] = add_i8,
            [PS_I16] = add_i16,
            [PS_I32] = add_i32,
            [PS_I64] = add_i64,
            [PS_U8] = add_u8,
            [PS_U16] = add_u16,
            [PS_U32] = add_u32,
            [PS_U64] = add_u64,
            [PS_F16] = add_f16,
            [PS_F32] = add_f32,
            [PS_F64] = add_f64},
};
