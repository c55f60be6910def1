// SPDX-License-Identifier: Apache-2.0
// Which of the compiled vector programs this processor runs.
#include "kernels/map/vector.h"

#include "base/cpu.h"

const struct ps_vector_table *ps_vector_table(void)
{
    int level = ps_cpu_level();
    return level >= 4 ? &ps_vector_v4 : level >= 3 ? &ps_vector_v3 : &ps_vector_baseline;
}
