// SPDX-License-Identifier: Apache-2.0
// One element of any dtype as a double. 64-bit whole numbers are rounded.
#ifndef PS_KERNELS_LINEAR_NUMBER_H
#define PS_KERNELS_LINEAR_NUMBER_H

#include "base/dtype.h"

static inline double ps_linear_number(enum ps_dtype dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case PS_F64:
        return ((const double *)data)[i];
    case PS_F32:
        return ((const float *)data)[i];
    case PS_F16:
        return ps_f16_to_f32(((const uint16_t *)data)[i]);
    case PS_I64:
        return (double)((const int64_t *)data)[i];
    case PS_U64:
        return (double)((const uint64_t *)data)[i];
    case PS_I32:
        return ((const int32_t *)data)[i];
    case PS_U32:
        return ((const uint32_t *)data)[i];
    case PS_I16:
        return ((const int16_t *)data)[i];
    case PS_U16:
        return ((const uint16_t *)data)[i];
    case PS_I8:
        return ((const int8_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

#endif
