// SPDX-License-Identifier: Apache-2.0
// A plain reference for reductions of small integers, where every sum is exact in 64 bits, and
// made-up data. Shared by the tests of reduce.
#ifndef PS_TESTS_REDUCE_REFERENCE_H
#define PS_TESTS_REDUCE_REFERENCE_H

#include "reduce_case.h"

#include <math.h>

static const char *const reference_kinds[] = {"sum", "mean", "min", "max", "var", "std", "count"};

static uint64_t reference_seed = 88172645463325252ull;
static inline uint64_t reference_random(void)
{
    reference_seed ^= reference_seed << 13;
    reference_seed ^= reference_seed >> 7;
    reference_seed ^= reference_seed << 17;
    return reference_seed;
}

// Element i of data as a double; small integers only.
static inline double reference_get(enum ps_dtype dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case PS_BOOL:
    case PS_U8:
        return ((const uint8_t *)data)[i];
    case PS_I8:
        return ((const int8_t *)data)[i];
    case PS_I16:
        return ((const int16_t *)data)[i];
    case PS_U16:
        return ((const uint16_t *)data)[i];
    case PS_I32:
        return ((const int32_t *)data)[i];
    case PS_U32:
        return ((const uint32_t *)data)[i];
    case PS_I64:
        return (double)((const int64_t *)data)[i];
    case PS_U64:
        return (double)((const uint64_t *)data)[i];
    case PS_F16:
        return ps_f16_to_f32(((const uint16_t *)data)[i]);
    case PS_F32:
        return ((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

static inline void reference_set(enum ps_dtype dtype, void *data, int64_t i, double value)
{
    switch (dtype) {
    case PS_BOOL:
    case PS_U8:
        ((uint8_t *)data)[i] = (uint8_t)value;
        break;
    case PS_I8:
        ((int8_t *)data)[i] = (int8_t)value;
        break;
    case PS_I16:
        ((int16_t *)data)[i] = (int16_t)value;
        break;
    case PS_U16:
        ((uint16_t *)data)[i] = (uint16_t)value;
        break;
    case PS_I32:
        ((int32_t *)data)[i] = (int32_t)value;
        break;
    case PS_U32:
        ((uint32_t *)data)[i] = (uint32_t)value;
        break;
    case PS_I64:
        ((int64_t *)data)[i] = (int64_t)value;
        break;
    case PS_U64:
        ((uint64_t *)data)[i] = (uint64_t)value;
        break;
    case PS_F16:
        ((uint16_t *)data)[i] = ps_f64_to_f16(value);
        break;
    case PS_F32:
        ((float *)data)[i] = (float)value;
        break;
    default:
        ((double *)data)[i] = value;
        break;
    }
}

// Small integers of every sign the dtype has; the caller frees.
static inline void *reference_integers(enum ps_dtype dtype, int64_t count)
{
    void *data = malloc((size_t)count * ps_dtype_bytes(dtype) + 64);
    int most = dtype == PS_BOOL ? 1 : 100;
    bool is_signed = ps_dtype_is_float(dtype) || (dtype >= PS_I8 && dtype <= PS_I64);
    for (int64_t i = 0; i < count; i++) {
        double value = (double)(reference_random() % (uint64_t)(most + 1));
        reference_set(dtype, data, i, is_signed ? value - 50 : value);
    }
    return data;
}

// Finite floats of any exponent, a few ordinary stretches among them.
static inline void *reference_floats(enum ps_dtype dtype, int64_t count, bool odd)
{
    size_t bytes = ps_dtype_bytes(dtype);
    char *data = malloc((size_t)count * bytes + 64);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = reference_random();
        int mantissa = dtype == PS_F16 ? 10 : dtype == PS_F32 ? 23 : 52;
        int width = (int)bytes * 8 - 1 - mantissa;
        uint64_t top = (1ull << width) - 1, exponent = bits >> mantissa & top;
        if (!odd || i / 5000 % 2 == 1) // ordinary: exponents close together
            exponent = top / 2 - reference_random() % 4;
        exponent = exponent == top ? top - 1 : exponent;
        bits = (bits & ((1ull << mantissa) - 1)) | exponent << mantissa |
               (reference_random() & 1) << (bytes * 8 - 1);
        if (reference_random() % 16 == 0)
            bits &= 1ull << (bytes * 8 - 1); // zeros of both signs
        memcpy(data + (size_t)i * bytes, &bits, bytes);
    }
    return data;
}

// One kind over `count` elements with a stride, as a double.
static inline double reference_one(int kind, enum ps_dtype dtype, const void *data, int64_t start,
                                   const int64_t *offsets, int64_t count, int64_t ddof)
{
    int64_t sum = 0, squares = 0;
    double small = INFINITY, large = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        double value = reference_get(dtype, data, start + offsets[i]);
        sum += (int64_t)value;
        squares += (int64_t)value * (int64_t)value;
        small = value < small ? value : small;
        large = value > large ? value : large;
    }
    double var = count > ddof
                     ? (double)(count * squares - sum * sum) / (double)(count * (count - ddof))
                     : NAN;
    switch (kind) {
    case 0:
        return (double)sum;
    case 1:
        return count > 0 ? (double)sum / (double)count : NAN;
    case 2:
        return small;
    case 3:
        return large;
    case 4:
        return var;
    case 5:
        return sqrt(var);
    default:
        return (double)count;
    }
}

static inline bool reference_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

// A reduction of [rows, d1, d2] small integers over the axes of `mask` (bit i: axis i) against the
// reference; true when every element agrees.
static inline bool reference_check(const struct reduce_case *c, int kind, unsigned mask)
{
    int64_t dims[3] = {1, 1, 1}, steps[3] = {0, 0, 0}, step = 1;
    for (int i = c->input.rank - 1; i >= 0; i--) {
        dims[i] = c->input.dims[i];
        steps[i] = step;
        step *= dims[i];
    }
    struct reduce_result result = case_reduce(c);
    int64_t count = 0, outputs = 0;
    size_t places = (size_t)(step + dims[1] * dims[2]);
    int64_t *offsets = calloc(places, sizeof *offsets);
    int64_t *starts = calloc(places, sizeof *starts);
    for (int64_t a = 0; a < dims[0]; a++)
        for (int64_t b = 0; b < dims[1]; b++)
            for (int64_t d = 0; d < dims[2]; d++) {
                int64_t at[3] = {a, b, d}, kept = 0, reduced = 0;
                for (int i = 0; i < 3; i++)
                    *(mask >> i & 1 ? &reduced : &kept) += at[i];
                int64_t offset = a * steps[0] + b * steps[1] + d * steps[2];
                if (kept == 0)
                    offsets[count++] = offset;
                if (reduced == 0)
                    starts[outputs++] = offset;
            }
    if (dims[0] == 0 && (mask & 1)) { // no rows: the places come from the row's shape
        outputs = 1;
        for (int i = 1; i < 3; i++)
            outputs *= mask >> i & 1 ? 1 : dims[i];
    }
    bool empty = count == 0 && (mask & 1) && (kind == 2 || kind == 3);
    bool fine = empty ? result.error.status == PS_INPUT : result.error.status == PS_OK;
    if (!empty && !fine)
        printf("%s over %s: %s\n", c->of, c->axis, result.error.text);
    for (int64_t i = 0; fine && !empty && i < outputs; i++) {
        double expected =
            reference_one(kind, c->input.dtype, c->data, starts[i], offsets, count, c->ddof);
        double got = reference_get(result.array.dtype, result.data, i);
        fine = reference_same(got, expected) || (got == 0 && expected == 0);
        if (!fine)
            printf("%s of %s over %s, %lld rows, element %lld: %.17g, expected %.17g\n", c->of,
                   ps_dtype_name(c->input.dtype), c->axis, (long long)dims[0], (long long)i, got,
                   expected);
    }
    free(offsets);
    free(starts);
    case_free(&result);
    return fine;
}

// Every kind x axis x dtype for one number of rows.
static inline int reference_sweep(enum ps_backend_id backend, int64_t rows, int64_t d1, int64_t d2)
{
    static const struct {
        const char *text;
        unsigned mask;
    } axes[] = {{"rows", 1}, {"all", 7}, {"1", 2}, {"2", 4}, {"[1,2]", 6}, {"[2,0,1]", 7}};
    static const int64_t blocks[] = {7, 32, 1, 100};
    int wrong = 0;
    for (int dtype = 0; dtype < PS_DTYPE_COUNT; dtype++) {
        int64_t dims[] = {rows, d1, d2};
        struct reduce_case c = {
            .backend = backend, .blocks = blocks, .block_count = 4, .slot_count = 3};
        void *data = reference_integers((enum ps_dtype)dtype, rows * d1 * d2);
        ps_array_init(&c.input, (enum ps_dtype)dtype, 3, dims);
        c.data = data;
        for (size_t a = 0; a < sizeof axes / sizeof axes[0]; a++)
            for (int kind = 0; kind < 7; kind++) {
                c.axis = axes[a].text;
                c.of = reference_kinds[kind];
                c.ddof = kind % 2; // of var 0, of std 1
                wrong += !reference_check(&c, kind, axes[a].mask);
            }
        free(data);
    }
    return wrong;
}

#endif
