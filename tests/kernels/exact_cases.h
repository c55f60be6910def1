// SPDX-License-Identifier: Apache-2.0
// Reads tests/data/exact_cases.txt: values and their exact results, made by make_exact.py.
#ifndef PS_TESTS_EXACT_CASES_H
#define PS_TESTS_EXACT_CASES_H

#include "base/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EXACT_VALUES_MAX 256

struct exact_case {
    enum ps_dtype dtype;
    int n;
    uint64_t bits[EXACT_VALUES_MAX];
    uint64_t sum, mean, var0, var1; // bits of doubles
};

static inline FILE *exact_open(void)
{
    FILE *file = fopen(PS_TEST_DATA "/exact_cases.txt", "r");
    if (file == NULL) {
        perror(PS_TEST_DATA "/exact_cases.txt");
        exit(EXIT_FAILURE);
    }
    return file;
}

static inline bool exact_next(FILE *file, struct exact_case *c)
{
    char name[8];
    if (fscanf(file, "%7s %d", name, &c->n) != 2)
        return false;
    if (!ps_dtype_parse(name, &c->dtype) || c->n < 1 || c->n > EXACT_VALUES_MAX)
        abort();
    for (int i = 0; i < c->n; i++)
        if (fscanf(file, "%" SCNx64, &c->bits[i]) != 1)
            abort();
    return fscanf(file, "%" SCNx64 "%" SCNx64 "%" SCNx64 "%" SCNx64, &c->sum, &c->mean, &c->var0,
                  &c->var1) == 4;
}

static inline double exact_value(const struct exact_case *c, int i)
{
    union {
        uint64_t u64;
        uint32_t u32;
        double f64;
        float f32;
    } value;
    if (c->dtype == PS_F16)
        return ps_f16_to_f32((uint16_t)c->bits[i]);
    if (c->dtype == PS_F32) {
        value.u32 = (uint32_t)c->bits[i];
        return value.f32;
    }
    value.u64 = c->bits[i];
    return value.f64;
}

#endif
