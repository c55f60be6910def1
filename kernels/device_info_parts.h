// SPDX-License-Identifier: Apache-2.0
// Between device_info.c and its CUDA half.
#ifndef PS_KERNELS_DEVICE_INFO_PARTS_H
#define PS_KERNELS_DEVICE_INFO_PARTS_H

#include "kernels/device_info.h"

bool ps_inside_wsl(void);
bool ps_inside_container(void);
// Versions, libraries, GPU count, and `problem` when CUDA cannot start.
void ps_cuda_info_fill(struct ps_cuda_info *info);

#endif
