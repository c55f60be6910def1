// SPDX-License-Identifier: Apache-2.0
// The kernels for signed integers.
#include "kernels/reduce/lane_int.cuh"

#include "base/dtype.h"

template <typename T>
static const void *kernel(bool inner)
{
    return inner ? (const void *)reduce_inner<lane_int<T>> : (const void *)reduce_rows<lane_int<T>>;
}

const void *ps_reduce_kernel_signed(int dtype, bool inner)
{
    switch (dtype) {
    case PS_I8:
        return kernel<int8_t>(inner);
    case PS_I16:
        return kernel<int16_t>(inner);
    case PS_I32:
        return kernel<int32_t>(inner);
    case PS_I64:
        return kernel<int64_t>(inner);
    default:
        return 0;
    }
}
