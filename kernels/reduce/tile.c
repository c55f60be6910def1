// SPDX-License-Identifier: Apache-2.0
// Chooses the hot loop for this machine.
#include "kernels/reduce/tile.h"

#include "base/cpu.h"

const struct ps_reduce_tile *ps_reduce_tile(void)
{
    int level = ps_cpu_level();
    return level >= 4   ? &ps_reduce_tile_v4
           : level >= 3 ? &ps_reduce_tile_v3
                        : &ps_reduce_tile_baseline;
}
