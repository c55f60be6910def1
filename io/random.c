// SPDX-License-Identifier: Apache-2.0
#include "io/random.h"

#include <math.h>

void ps_random_uniform(uint64_t seed, uint64_t first, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (double)(ps_random_at(seed, first + i) >> 11) * 0x1p-53;
}

// a[0] + a[1] r + ... + a[7] r^7
static double polynomial(const double a[8], double r)
{
    double sum = a[7];
    for (int i = 6; i >= 0; i--)
        sum = sum * r + a[i];
    return sum;
}

double ps_normal_quantile(double p)
{
    static const double a[8] = {3.3871328727963666080e+0, 1.3314166789178437745e+2,
                                1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e+0, 4.63033784615654529590e+0,
                                5.76949722146069140550e+0, 3.64784832476320460504e+0,
                                1.27045825245236838258e+0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e+0,
                                1.67638483018380384940e+0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e+0, 5.46378491116411436990e+0,
                                1.78482653991729133580e+0, 2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(a, r) / polynomial(b, r);
    }
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6)
                      : polynomial(e, r - 5) / polynomial(f, r - 5);
    return q < 0 ? -x : x;
}

void ps_random_normal(uint64_t seed, uint64_t first, size_t count, double *out)
{
    // The middle of each of the 2^53 steps, so that 0 and 1 never come. The topmost would round
    // to 1; it takes the value of the lowest with the other sign.
    for (size_t i = 0; i < count; i++) {
        double step = (double)(ps_random_at(seed, first + i) >> 11);
        double p = (step + 0.5) * 0x1p-53;
        out[i] = p < 1 ? ps_normal_quantile(p) : -ps_normal_quantile(0x1p-54);
    }
}
