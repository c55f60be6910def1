// SPDX-License-Identifier: Apache-2.0
// Chooses the tiled engine for this machine.
#include "kernels/matmul/tiled.h"

#include "base/cpu.h"

const struct ps_tiled_table *ps_tiled_table(void)
{
    int level = ps_cpu_level();
    return level >= 4 ? &ps_tiled_v4 : level >= 3 ? &ps_tiled_v3 : &ps_tiled_baseline;
}
