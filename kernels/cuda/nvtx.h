// SPDX-License-Identifier: Apache-2.0
// Named ranges on the time line of Nsight Systems. Without a profiler a range costs a few
// nanoseconds: NVTX loads its library only when the profiler asks for it.
#ifndef PS_KERNELS_CUDA_NVTX_H
#define PS_KERNELS_CUDA_NVTX_H

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
// From here on the calling thread is in range `name`, until the range is closed.
static inline void ps_nvtx_open(const char *name)
{
    nvtxRangePushA(name);
}
static inline void ps_nvtx_close(void)
{
    nvtxRangePop();
}
#else // a toolkit without NVTX 3: profiles show no names
static inline void ps_nvtx_open(const char *name)
{
    (void)name;
}
static inline void ps_nvtx_close(void)
{
}
#endif

#endif
