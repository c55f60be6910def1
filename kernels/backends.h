// SPDX-License-Identifier: Apache-2.0
// One line per backend: its row, defined at the end of the file that implements it.
#ifndef PS_KERNELS_BACKENDS_H
#define PS_KERNELS_BACKENDS_H

#include "kernels/backend.h"

extern const struct ps_backend ps_backend_cpu;  // kernels/cpu/backend_cpu.c
extern const struct ps_backend ps_backend_cuda; // kernels/cuda/backend_cuda.c

#endif
