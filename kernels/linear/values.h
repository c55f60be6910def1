// SPDX-License-Identifier: Apache-2.0
// Numbers out of a merged state of second moments, on the host. Exact until they are rounded.
#ifndef PS_KERNELS_LINEAR_VALUES_H
#define PS_KERNELS_LINEAR_VALUES_H

#include "kernels/linear/moments.h"

// At least 113 bits: what least squares are solved in.
#ifdef __SIZEOF_FLOAT128__
typedef __float128 ps_quad;
#else
typedef long double ps_quad;
#endif

// The sum over rows of x_j x_k, rounded once. NaN and infinities as adding them would give.
double ps_moments_sum(const struct ps_moments *m, void *state, int64_t j, int64_t k);
// (n Sum x_j x_k - Sum x_j Sum x_k) / (n (n - ddof)), rounded once. NaN when n <= ddof or when
// either column has a NaN or an infinity.
double ps_moments_covariance(const struct ps_moments *m, void *state, int64_t j, int64_t k,
                             int64_t ddof);
// The column's mean, rounded once.
double ps_moments_mean(const struct ps_moments *m, void *state, int64_t j);
// The sum over rows of x_j x_k, or with `centred` of (x_j - mean_j) (x_k - mean_k), to 113 bits;
// NaN and infinities are left out.
ps_quad ps_moments_quad(const struct ps_moments *m, void *state, int64_t j, int64_t k,
                        bool centred);
// value * 2^exponent; and about the exponent that brings value between 1/2 and 1.
ps_quad ps_quad_scale(ps_quad value, int exponent);
int ps_quad_exponent(ps_quad value);
// Whether the column has a NaN or an infinity.
bool ps_moments_is_odd(const struct ps_moments *m, void *state, int64_t j);

#endif
