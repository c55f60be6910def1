// SPDX-License-Identifier: Apache-2.0
// Rows from the order of a file into the order of the array: axes in another order, and backwards.
#include "io/hdf5_view.h"

#include <stdlib.h>
#include <string.h>

#define TILE 32 // elements of two axes that are turned together: both sides stay in the cache

struct turn {
    int rank;
    int64_t count[H5S_MAX_RANK];
    int64_t from[H5S_MAX_RANK], to[H5S_MAX_RANK]; // elements to the next one along each axis
    size_t bytes;                                 // of an element
};

// A plane of the array: its axis a is innermost in the file, its axis b in the array.
struct plane {
    int64_t count_a, count_b;
    int64_t from_a, from_b, to_a, to_b; // bytes
    size_t bytes;
};

#define TURN(name, bytes)                                                                          \
    static void name(const struct plane *p, const char *from, char *to)                            \
    {                                                                                              \
        for (int64_t a0 = 0; a0 < p->count_a; a0 += TILE)                                          \
            for (int64_t b0 = 0; b0 < p->count_b; b0 += TILE)                                      \
                for (int64_t a = a0; a < a0 + TILE && a < p->count_a; a++)                         \
                    for (int64_t b = b0; b < b0 + TILE && b < p->count_b; b++)                     \
                        memcpy(to + a * p->to_a + b * p->to_b,                                     \
                               from + a * p->from_a + b * p->from_b, bytes);                       \
    }

TURN(turn_1, 1)
TURN(turn_2, 2)
TURN(turn_4, 4)
TURN(turn_8, 8)
TURN(turn_any, p->bytes)

static void turn_plane(const struct plane *plane, const char *from, char *to)
{
    (plane->bytes == 1   ? turn_1
     : plane->bytes == 2 ? turn_2
     : plane->bytes == 4 ? turn_4
     : plane->bytes == 8 ? turn_8
                         : turn_any)(plane, from, to);
}

// The next place of all axes but a and b; false: there is none.
static bool next(const struct turn *turn, int a, int b, int64_t at[H5S_MAX_RANK])
{
    for (int i = turn->rank - 1; i >= 0; i--) {
        if (i == a || i == b)
            continue;
        if (++at[i] < turn->count[i])
            return true;
        at[i] = 0;
    }
    return false;
}

// a: the array's axis that is innermost in the file.
static void turn_all(const struct turn *turn, int a, const char *from, char *to)
{
    int b = turn->rank - 1;
    int64_t size = (int64_t)turn->bytes, at[H5S_MAX_RANK] = {0};
    bool same = a == b; // then the plane is a line
    struct plane plane = {turn->count[a],       same ? 1 : turn->count[b],
                          turn->from[a] * size, same ? 0 : turn->from[b] * size,
                          turn->to[a] * size,   same ? 0 : turn->to[b] * size,
                          turn->bytes};
    bool line = same && turn->from[a] == 1;
    do {
        int64_t from_at = 0, to_at = 0;
        for (int i = 0; i < turn->rank; i++) {
            from_at += at[i] * turn->from[i];
            to_at += at[i] * turn->to[i];
        }
        if (line)
            memcpy(to + to_at * size, from + from_at * size, (size_t)turn->count[a] * turn->bytes);
        else
            turn_plane(&plane, from + from_at * size, to + to_at * size);
    } while (next(turn, a, b, at));
}

void ps_hdf5_view_arrange(const struct ps_hdf5_view *view, int64_t rows, size_t element_bytes,
                          const void *from, void *to)
{
    struct turn turn = {.rank = view->rank, .bytes = element_bytes};
    int64_t strides[H5S_MAX_RANK], stride = 1, first = 0;
    int innermost = 0;
    for (int i = view->file_rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= ps_hdf5_view_count(view, i, rows);
    }
    if (stride == 0)
        return;
    stride = 1;
    for (int i = view->rank - 1; i >= 0; i--) {
        const struct ps_hdf5_axis *axis = &view->all[view->axes[i]];
        turn.count[i] = i == 0 ? rows : axis->count;
        turn.from[i] = strides[view->axes[i]] * (axis->covered ? labs(axis->step) : 1);
        turn.to[i] = stride;
        stride *= turn.count[i];
        if (axis->step < 0) {
            first += turn.from[i] * (turn.count[i] - 1);
            turn.from[i] = -turn.from[i];
        }
        if (view->axes[i] > view->axes[innermost])
            innermost = i;
    }
    if (view->rank == 0)
        memcpy(to, from, element_bytes);
    else
        turn_all(&turn, innermost, (const char *)from + first * (int64_t)element_bytes, to);
}
