// SPDX-License-Identifier: Apache-2.0
// The few functions of NVML that doctor needs. nvml.h is in a package of its own, so the
// prototypes are here (NVML API reference; they are stable).
#ifndef PS_KERNELS_CUDA_NVML_H
#define PS_KERNELS_CUDA_NVML_H

struct ps_nvml_device; // nvmlDevice_t points to it

#define PS_NVML_FUNCTIONS(X)                                                                       \
    X(nvmlInit_v2, (void))                                                                         \
    X(nvmlShutdown, (void))                                                                        \
    X(nvmlSystemGetDriverVersion, (char *, unsigned))                                              \
    X(nvmlDeviceGetHandleByPciBusId_v2, (const char *, struct ps_nvml_device **))                  \
    X(nvmlDeviceGetCurrPcieLinkGeneration, (struct ps_nvml_device *, unsigned *))                  \
    X(nvmlDeviceGetMaxPcieLinkGeneration, (struct ps_nvml_device *, unsigned *))                   \
    X(nvmlDeviceGetCurrPcieLinkWidth, (struct ps_nvml_device *, unsigned *))                       \
    X(nvmlDeviceGetMaxPcieLinkWidth, (struct ps_nvml_device *, unsigned *))

struct ps_nvml {
#define X(name, arguments) int(*name) arguments; /* 0: success */
    PS_NVML_FUNCTIONS(X)
#undef X
};

#endif
