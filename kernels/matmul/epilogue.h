// SPDX-License-Identifier: Apache-2.0
// What happens to numbers on their way into and out of a product: rounding to a narrower format,
// and activations. One source for host and device.
#ifndef PS_KERNELS_MATMUL_EPILOGUE_H
#define PS_KERNELS_MATMUL_EPILOGUE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define PS_EPILOGUE static __host__ __device__ inline
#else
#define PS_EPILOGUE static inline
#endif

enum ps_matmul_activation { // in the order of the option's choices
    PS_ACTIVATION_NONE,
    PS_ACTIVATION_RELU,
    PS_ACTIVATION_GELU,
    PS_ACTIVATION_SIGMOID,
    PS_ACTIVATION_TANH,
};

enum ps_matmul_precision { // likewise
    PS_PRECISION_AUTO,
    PS_PRECISION_F32,
    PS_PRECISION_F64,
    PS_PRECISION_TF32,
    PS_PRECISION_BF16,
};

// binary32 with the mantissa's last `drop` bits rounded off, to nearest, ties to even; beyond the
// range infinity. tf32: 13, bf16: 16.
PS_EPILOGUE float ps_matmul_round(float value, int drop)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u) {
        if ((bits & 0x007fffffu) != 0)
            bits |= 0x00400000u; // so that a NaN stays one
    } else {
        bits += ((uint32_t)1 << (drop - 1)) - 1 + (bits >> drop & 1);
    }
    bits = bits >> drop << drop;
    memcpy(&value, &bits, sizeof value);
    return value;
}

PS_EPILOGUE int ps_matmul_drop(int precision)
{
    return precision == PS_PRECISION_TF32 ? 13 : precision == PS_PRECISION_BF16 ? 16 : 0;
}

// NaN stays NaN. f32 results are computed here as well and rounded once, so that they are the same
// on both backends but where the libraries' doubles differ and lie next to a rounding boundary.
PS_EPILOGUE double ps_matmul_activate(int activation, double x)
{
    double e;
    switch (activation) {
    case PS_ACTIVATION_RELU:
        return x < 0 ? 0 : x;
    case PS_ACTIVATION_GELU: // x / 2 (1 + erf(x / sqrt 2)), without cancellation for x < 0
        return x < -40 ? -0.0 : 0.5 * x * erfc(-x * 0.70710678118654752440);
    case PS_ACTIVATION_SIGMOID: // 1 / (1 + exp(-x)), without overflow
        e = exp(x < 0 ? x : -x);
        return x < 0 ? e / (1 + e) : 1 / (1 + e);
    case PS_ACTIVATION_TANH:
        return tanh(x);
    default:
        return x;
    }
}

#endif
