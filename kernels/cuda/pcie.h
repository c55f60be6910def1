// SPDX-License-Identifier: Apache-2.0
// A GPU's PCIe link as the kernel tells it, for where NVML is missing (containers that are given
// the GPU's compute part alone).
#ifndef PS_KERNELS_CUDA_PCIE_H
#define PS_KERNELS_CUDA_PCIE_H

// Of the device in `folder` (/sys/bus/pci/devices): bus "0000:01:00.0" in either case. What the
// kernel does not tell is -1. Generation by transfer rate: 2.5 GT/s is 1, 5: 2, 8: 3, 16: 4,
// 32: 5, 64: 6.
struct ps_pcie_link {
    int generation, generation_max, width, width_max;
};
void ps_pcie_link(const char *folder, const char *bus, struct ps_pcie_link *out);

#endif
