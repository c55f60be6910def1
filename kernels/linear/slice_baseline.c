// SPDX-License-Identifier: Apache-2.0
// The slices for this instruction set; its flags are in cmake/KernelFlags.cmake.
#define PS_SLICE_TABLE ps_slice_baseline
#include "kernels/linear/slice_code.h"
