// SPDX-License-Identifier: Apache-2.0
// Made-up numbers that depend on a seed and an absolute position only, so that any part of an
// array can be made alone and on any thread.
#ifndef PS_IO_RANDOM_H
#define PS_IO_RANDOM_H

#include <stddef.h>
#include <stdint.h>

// The position-th output of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: Fast splittable
// pseudorandom number generators, OOPSLA 2014; constants of S. Vigna's splitmix64.c) started at
// seed: every step adds the same constant, so any output can be had at once.
static inline uint64_t ps_random_at(uint64_t seed, uint64_t position)
{
    uint64_t z = seed + (position + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// out[i] = a number of [0, 1), a multiple of 2^-53, for position first + i.
void ps_random_uniform(uint64_t seed, uint64_t first, size_t count, double *out);
// out[i] = a number of the normal distribution with mean 0 and standard deviation 1: the uniform
// one put through ps_normal_quantile. |out[i]| < 8.3.
void ps_random_normal(uint64_t seed, uint64_t first, size_t count, double *out);

// The number below which a share p of the normal distribution lies, 0 < p < 1: M. J. Wichura,
// Algorithm AS 241 (PPND16), Applied Statistics 37 (1988) 477-484; relative error about 1e-16.
double ps_normal_quantile(double p);

#endif
