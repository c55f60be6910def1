// SPDX-License-Identifier: Apache-2.0
// Chooses the hot loops for this machine.
#include "kernels/linear/slice.h"

#include "base/cpu.h"

const struct ps_slice_table *ps_slice_table(void)
{
    int level = ps_cpu_level();
    return level >= 4 ? &ps_slice_v4 : level >= 3 ? &ps_slice_v3 : &ps_slice_baseline;
}
