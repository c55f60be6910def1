// SPDX-License-Identifier: Apache-2.0
#include "kernels/map/vector.h"

const struct ps_vector_table *ps_vector_table(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("x86-64-v4"))
        return &ps_vector_v4;
    if (__builtin_cpu_supports("x86-64-v3"))
        return &ps_vector_v3;
#endif
    return &ps_vector_baseline;
}
