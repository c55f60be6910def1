// SPDX-License-Identifier: Apache-2.0
// What is summed besides the values themselves: magnitudes, powers of the distance from the mean,
// weighted values. Each term is a number made of one value (and a mean, and a weight); terms are
// summed exactly like values. Results of several sums (skewness, weighted variance) are put
// together here. One source for host and device.
#ifndef PS_KERNELS_REDUCE_TERM_H
#define PS_KERNELS_REDUCE_TERM_H

#include "kernels/reduce/finish.h"

enum ps_reduce_term {
    PS_TERM_VALUE,     // the input as it is
    PS_TERM_PICK,      // the input, for pick.h
    PS_TERM_MAGNITUDE, // |x|: float64 of floats, u64 of integers
    PS_TERM_DISTANCE,  // d = x - mean, in float64, and its powers
    PS_TERM_DISTANCE2,
    PS_TERM_DISTANCE3,
    PS_TERM_DISTANCE4,
    PS_TERM_WEIGHT,    // w
    PS_TERM_WEIGHTED,  // w x
    PS_TERM_WEIGHTED2, // w d^2
    PS_REDUCE_TERMS
};

// What a term is after it was summed, for ps_reduce_combine: the mean of distances' powers, the sum
// of weights and weighted terms.
#define PS_REDUCE_BASICS PS_REDUCE_TERMS

PS_EXACT bool ps_term_has_basic(int term)
{
    return term >= PS_TERM_DISTANCE;
}

PS_EXACT int ps_term_basic_kind(int term)
{
    return term <= PS_TERM_DISTANCE4 ? PS_REDUCE_MEAN : PS_REDUCE_SUM;
}

PS_EXACT bool ps_term_needs_mean(int term)
{
    return (term >= PS_TERM_DISTANCE && term <= PS_TERM_DISTANCE4) || term == PS_TERM_WEIGHTED2;
}

PS_EXACT bool ps_term_needs_weight(int term)
{
    return term >= PS_TERM_WEIGHT;
}

PS_EXACT double ps_term_of(int term, double x, double mean, double weight)
{
    double d = x - mean;
    switch (term) {
    case PS_TERM_MAGNITUDE:
        return fabs(x);
    case PS_TERM_DISTANCE:
        return d;
    case PS_TERM_DISTANCE2:
        return d * d;
    case PS_TERM_DISTANCE3:
        return d * d * d;
    case PS_TERM_DISTANCE4:
        return d * d * (d * d);
    case PS_TERM_WEIGHT:
        return weight;
    case PS_TERM_WEIGHTED:
        return weight * x;
    case PS_TERM_WEIGHTED2:
        return weight * (d * d);
    default:
        return x;
    }
}

// basics: PS_REDUCE_BASICS numbers, those of the terms that the kind needs. The mean that distances
// are from was rounded; what it is off by, m = mean(d), is put right:
//   m2 = E d^2 - m^2, m3 = E d^3 - 3 m E d^2 + 2 m^3, m4 = E d^4 - 4 m E d^3 + 6 m^2 E d^2 - 3 m^4.
// skewness = m3 / m2^1.5, kurtosis = m4 / m2^2 - 3 (Fisher's g1, g2; biased, as SciPy's default).
PS_EXACT double ps_reduce_combine(int kind, const double *basics, uint64_t ddof)
{
    double m = basics[PS_TERM_DISTANCE], e2 = basics[PS_TERM_DISTANCE2],
           e3 = basics[PS_TERM_DISTANCE3], e4 = basics[PS_TERM_DISTANCE4];
    double m2 = e2 - m * m, weights = basics[PS_TERM_WEIGHT];
    switch (kind) {
    case PS_REDUCE_SKEWNESS:
        return (e3 - 3 * m * e2 + 2 * m * m * m) / (m2 * sqrt(m2));
    case PS_REDUCE_KURTOSIS:
        return (e4 - 4 * m * e3 + 6 * m * m * e2 - 3 * (m * m) * (m * m)) / (m2 * m2) - 3;
    case PS_REDUCE_MEAN:
        return basics[PS_TERM_WEIGHTED] / weights;
    case PS_REDUCE_SUM:
        return basics[PS_TERM_WEIGHTED];
    default:
        break;
    }
    double divisor = weights - (double)ddof;
    double variance = divisor > 0 ? basics[PS_TERM_WEIGHTED2] / divisor : ps_reduce_nan();
    return kind == PS_REDUCE_STD ? sqrt(variance) : variance;
}

#endif
