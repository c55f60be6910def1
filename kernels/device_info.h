// SPDX-License-Identifier: Apache-2.0
// What `doctor` shows of drivers, libraries and GPUs. Plain C; available in every build (without
// CUDA everything reads as missing). Unknown numbers are -1.
#ifndef PS_KERNELS_DEVICE_INFO_H
#define PS_KERNELS_DEVICE_INFO_H

#include "base/error.h"

#include <stdint.h>

struct ps_gpu_info {
    char name[128];
    char bus[32]; // "0000:01:00.0"
    int major, minor;
    uint64_t memory_free, memory_total;
    int pcie_generation, pcie_generation_max, pcie_width, pcie_width_max;
    int ecc;               // 1 on, 0 off
    int multiprocessors;
    bool has_kernel_image; // this binary's kernels load on it
    char image_note[256];  // if not: why, and what to do
};

struct ps_cuda_info {
    bool built_in;               // this build has the cuda backend
    char architectures[256];     // machine code in this binary: "75-real;...;121-virtual"
    char driver_version[64];     // of the kernel module ("580.159.03"), "" when none
    int driver_cuda;             // highest CUDA it supports: 13000 for 13.0; 0: none
    int runtime_cuda;            // CUDA this binary was built with
    char nvrtc_path[256], cublas_path[256]; // "" when not found
    int nvrtc_version;           // 13000
    int cublas_version;
    int gpu_count;
    char problem[512];           // why CUDA cannot start and what to do; "" when it can
    bool is_wsl, is_container;
};

void ps_cuda_info(struct ps_cuda_info *info_out);
bool ps_gpu_info(int index, struct ps_gpu_info *info_out, struct ps_error *error);

// Measured GB/s (1e9 bytes per second) of copies of `bytes` between host and device.
struct ps_copy_rates {
    double pinned_to_device, pinned_to_host, pinned_both;
    double pageable_to_device, pageable_to_host;
};
bool ps_gpu_copy_rates(int index, uint64_t bytes, struct ps_copy_rates *rates_out,
                       struct ps_error *error);

#endif
