// SPDX-License-Identifier: Apache-2.0
// The hot loop of the cpu backend: adds a matrix to a state, column by column. Built once per
// instruction set (tile_*.c); every build gives the same state bits up to carries, so the same
// results.
#ifndef PS_KERNELS_REDUCE_TILE_H
#define PS_KERNELS_REDUCE_TILE_H

#include "base/dtype.h"
#include "kernels/reduce/state.h"

// data: rows x columns values of form->dtype without gaps. Column c goes to output first + c.
// Does not touch the head: the caller counts, and moves carries on in time.
struct ps_reduce_tile {
    void (*add[PS_DTYPE_COUNT])(const struct ps_reduce_form *form,
                                const struct ps_reduce_planes *planes, int64_t first,
                                const void *data, int64_t rows, int64_t columns);
};

extern const struct ps_reduce_tile ps_reduce_tile_baseline, ps_reduce_tile_v3, ps_reduce_tile_v4;

// The one for this machine.
const struct ps_reduce_tile *ps_reduce_tile(void);

#endif
