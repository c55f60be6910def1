// SPDX-License-Identifier: Apache-2.0
// The kernels for floats, and the one that moves carries on.
#include "kernels/reduce/lane_float.cuh"

#include "base/dtype.h"

const void *ps_reduce_kernel_float(int dtype, bool inner)
{
    switch (dtype) {
    case PS_F16:
        return inner ? (const void *)reduce_inner<lane_f32<read_f16>>
                     : (const void *)reduce_rows<lane_f32<read_f16>>;
    case PS_F32:
        return inner ? (const void *)reduce_inner<lane_f32<read_f32>>
                     : (const void *)reduce_rows<lane_f32<read_f32>>;
    case PS_F64:
        return inner ? (const void *)reduce_inner<lane_f64> : (const void *)reduce_rows<lane_f64>;
    default:
        return 0;
    }
}

__global__ void reduce_carry(struct ps_reduce_carry_job job)
{
    struct ps_reduce_planes planes = ps_reduce_planes(&job.form, job.state);
    if (planes.head->pending + job.elements <= PS_EXACT_ADDS_MAX)
        return;
    int64_t threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < job.form.outputs;
         i += threads)
        carry_one(job.form, planes, i);
}

const void *ps_reduce_kernel_carry(void)
{
    return (const void *)reduce_carry;
}
