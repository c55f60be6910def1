// SPDX-License-Identifier: Apache-2.0
// Which vector instructions this processor and system offer.
#ifndef PS_BASE_CPU_H
#define PS_BASE_CPU_H

// The level of the x86-64 psABI: 4 (AVX-512), 3 (AVX2, FMA), else 1. 0 on other processors. What
// code compiled with -march=x86-64-v3 or -v4 needs; constant for the process.
int ps_cpu_level(void);

#endif
