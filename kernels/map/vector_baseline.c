// SPDX-License-Identifier: Apache-2.0
// The vector code for this instruction set; its flags are in cmake/KernelFlags.cmake.
#define PS_VECTOR_TABLE ps_vector_baseline
#include "kernels/map/vector_code.h"
