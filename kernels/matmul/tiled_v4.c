// SPDX-License-Identifier: Apache-2.0
// The tiled engine for this instruction set; its flags are in cmake/KernelFlags.cmake.
#define PS_TILED_TABLE ps_tiled_v4
#include "kernels/matmul/tiled_code.h"
