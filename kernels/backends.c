// SPDX-License-Identifier: Apache-2.0
// The list of backends of this build.
#include "kernels/backends.h"

#include <stdio.h>

static const struct ps_backend *const backends[PS_BACKEND_COUNT] = {
    [PS_CPU] = &ps_backend_cpu,
#if PS_HAVE_CUDA
    [PS_CUDA] = &ps_backend_cuda,
#endif
};

const struct ps_backend *ps_backend(enum ps_backend_id id)
{
    return backends[id];
}

#if !PS_HAVE_CUDA
const char *ps_cuda_missing(char *out, size_t out_size)
{
    snprintf(out, out_size, "this build has no cuda backend; install NVIDIA's CUDA toolkit (nvcc) "
                            "and build again");
    return out;
}
#endif
