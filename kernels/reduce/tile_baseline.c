// SPDX-License-Identifier: Apache-2.0
// The hot loop for this instruction set; its flags are in cmake/KernelFlags.cmake.
#define PS_REDUCE_TILE ps_reduce_tile_baseline
#include "kernels/reduce/tile_code.h"
