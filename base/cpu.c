// SPDX-License-Identifier: Apache-2.0
// Features one by one: not every compiler knows the levels by name.
#include "base/cpu.h"

#if defined __x86_64__
#include <cpuid.h>
#include <stdbool.h>

// What the builtin has no names for in older compilers; all came with AVX2.
static bool has_small_ones(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_MOVBE) || !(c & bit_F16C))
        return false;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}

int ps_cpu_level(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") || !has_small_ones())
        return 1;
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl");
    return wide ? 4 : 3;
}
#else
int ps_cpu_level(void)
{
    return 0;
}
#endif
