// SPDX-License-Identifier: Apache-2.0
// Chooses the hot loop for this machine.
#include "kernels/reduce/tile.h"

const struct ps_reduce_tile *ps_reduce_tile(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("x86-64-v4"))
        return &ps_reduce_tile_v4;
    if (__builtin_cpu_supports("x86-64-v3"))
        return &ps_reduce_tile_v3;
#endif
    return &ps_reduce_tile_baseline;
}
