// SPDX-License-Identifier: Apache-2.0
// The kernels for unsigned integers and bool.
#include "kernels/reduce/lane_int.cuh"

#include "base/dtype.h"

template <typename T>
static const void *kernel(bool inner)
{
    return inner ? (const void *)reduce_inner<lane_int<T>> : (const void *)reduce_rows<lane_int<T>>;
}

const void *ps_reduce_kernel_unsigned(int dtype, bool inner)
{
    switch (dtype) {
    case PS_BOOL:
    case PS_U8:
        return kernel<uint8_t>(inner);
    case PS_U16:
        return kernel<uint16_t>(inner);
    case PS_U32:
        return kernel<uint32_t>(inner);
    case PS_U64:
        return kernel<uint64_t>(inner);
    default:
        return 0;
    }
}
