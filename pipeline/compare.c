// SPDX-License-Identifier: Apache-2.0
// Comparing two backends' results.
#include "pipeline/compare.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ps_compare {
    const struct ps_plan *plan;
    pthread_mutex_t lock;
    struct ps_difference *differences; // per port
};

static double value_at(enum ps_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case PS_F16:
        return ps_f16_to_f32(((const uint16_t *)data)[i]);
    case PS_F32:
        return ((const float *)data)[i];
    case PS_F64:
        return ((const double *)data)[i];
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
    default:
        return (double)((const uint64_t *)data)[i];
    }
}

// Maps the bits of a float to an integer that grows with the value, so that neighbours differ
// by one (-0 and +0 coincide).
static int64_t rank_of(enum ps_dtype dtype, const void *data, size_t i)
{
    if (dtype == PS_F16) {
        uint16_t b = ((const uint16_t *)data)[i];
        return b & 0x8000 ? -(int64_t)(b & 0x7fff) : b;
    }
    if (dtype == PS_F32) {
        uint32_t b;
        memcpy(&b, (const char *)data + 4 * i, 4);
        return b & 0x80000000u ? -(int64_t)(b & 0x7fffffffu) : (int64_t)b;
    }
    uint64_t b;
    memcpy(&b, (const char *)data + 8 * i, 8);
    return b >> 63 ? -(int64_t)(b & INT64_MAX) : (int64_t)b;
}

// Representable numbers from one to the other, exact up to 2^53: subtracted before it is rounded.
static double ulp_between(enum ps_dtype dtype, const void *a, const void *b, size_t i)
{
    int64_t x = rank_of(dtype, a, i), y = rank_of(dtype, b, i);
    return x > y ? (double)((uint64_t)x - (uint64_t)y) : (double)((uint64_t)y - (uint64_t)x);
}

// Distance of two 64-bit integers, which doubles cannot tell apart beyond 2^53.
static double integer_between(enum ps_dtype dtype, const void *a, const void *b, size_t i)
{
    if (dtype == PS_I64) {
        int64_t x = ((const int64_t *)a)[i], y = ((const int64_t *)b)[i];
        return x > y ? (double)((uint64_t)x - (uint64_t)y) : (double)((uint64_t)y - (uint64_t)x);
    }
    if (dtype == PS_U64) {
        uint64_t x = ((const uint64_t *)a)[i], y = ((const uint64_t *)b)[i];
        return x > y ? (double)(x - y) : (double)(y - x);
    }
    return fabs(value_at(dtype, a, i) - value_at(dtype, b, i));
}

static void add_one(struct ps_difference *d, enum ps_dtype dtype, const void *a, const void *b,
                    size_t i, int64_t element)
{
    double x = value_at(dtype, a, i), y = value_at(dtype, b, i);
    bool is_float = ps_dtype_is_float(dtype);
    if (isnan(x) && isnan(y))
        return;
    d->different++;
    if (isnan(x) || isnan(y)) {
        d->nan_mismatch = true;
        d->absolute = d->relative = d->ulp = INFINITY;
        d->worst = element;
        return;
    }
    double absolute = is_float ? fabs(x - y) : integer_between(dtype, a, b, i);
    double ulp = is_float ? ulp_between(dtype, a, b, i) : absolute;
    double scale = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    if (isinf(x) || isinf(y))
        absolute = x == y ? 0 : INFINITY;
    double relative = absolute == 0 ? 0 : absolute / scale;
    relative = isnan(relative) ? INFINITY : relative;
    d->absolute = absolute > d->absolute ? absolute : d->absolute;
    d->relative = relative > d->relative ? relative : d->relative;
    if (ulp > d->ulp || d->worst < 0)
        d->worst = element;
    d->ulp = ulp > d->ulp ? ulp : d->ulp;
}

void ps_difference_add(struct ps_difference *difference, enum ps_dtype dtype, const void *a,
                       const void *b, size_t count, int64_t first_element)
{
    size_t bytes = ps_dtype_bytes(dtype);
    if (difference->elements == 0 && difference->different == 0)
        difference->worst = -1;
    difference->elements += count;
    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs(value_at(dtype, a, i));
        if (magnitude > difference->scale && !isinf(magnitude))
            difference->scale = magnitude;
        if (memcmp((const char *)a + i * bytes, (const char *)b + i * bytes, bytes) != 0)
            add_one(difference, dtype, a, b, i, first_element + (int64_t)i);
    }
}

struct ps_compare *ps_compare_open(const struct ps_plan *plan, struct ps_error *error)
{
    struct ps_compare *compare = calloc(1, sizeof *compare);
    struct ps_difference *list = calloc((size_t)plan->port_count + 1, sizeof *list);
    if (compare == NULL || list == NULL) {
        free(compare);
        free(list);
        ps_fail_memory(error, sizeof *compare, "the comparison");
        return NULL;
    }
    compare->plan = plan;
    compare->differences = list;
    pthread_mutex_init(&compare->lock, NULL);
    return compare;
}

void ps_compare_free(struct ps_compare *compare)
{
    if (compare == NULL)
        return;
    pthread_mutex_destroy(&compare->lock);
    free(compare->differences);
    free(compare);
}

static void merge(struct ps_difference *into, const struct ps_difference *from)
{
    if (from->different > 0 && (into->different == 0 || from->ulp > into->ulp))
        into->worst = from->worst;
    into->absolute = fmax(into->absolute, from->absolute);
    into->relative = fmax(into->relative, from->relative);
    into->ulp = fmax(into->ulp, from->ulp);
    into->scale = fmax(into->scale, from->scale);
    into->elements += from->elements;
    into->different += from->different;
    into->nan_mismatch = into->nan_mismatch || from->nan_mismatch;
}

void ps_compare_add(struct ps_compare *compare, int port, const void *a, const void *b,
                    size_t count, int64_t first_element)
{
    struct ps_difference one = {0};
    ps_difference_add(&one, compare->plan->ports[port].array.dtype, a, b, count, first_element);
    pthread_mutex_lock(&compare->lock);
    merge(&compare->differences[port], &one);
    pthread_mutex_unlock(&compare->lock);
}

double ps_compare_bound(const struct ps_stage *stage, const struct ps_plan *plan)
{
    const char *type = stage->type->name;
    if (!ps_dtype_is_float(stage->output.dtype))
        return 0;
    if (strcmp(type, "matmul") == 0) {
        const struct ps_array *in = &plan->ports[stage->inputs[0]].array;
        return 2 * sqrt((double)in->dims[in->rank - 1]) + 8;
    }
    if (strcmp(type, "kernel") == 0)
        return ps_values_get(stage->options, "tolerance")->number;
    return strcmp(type, "map") == 0 ? 4 : 0;
}

static double normalised(const struct ps_difference *difference)
{
    return difference->scale > 0 ? difference->absolute / difference->scale : 0;
}

static double epsilon(enum ps_dtype dtype)
{
    return dtype == PS_F16 ? 0x1p-10 : dtype == PS_F32 ? 0x1p-23 : 0x1p-52;
}

// A stage that was fed different numbers cannot give equal ones. Its result may then differ, in
// proportion to its largest value, by this many times what its inputs differ, in proportion to
// theirs: room for cancellation, far below anything a wrong kernel produces.
#define AMPLIFICATION 1000

static double inherited(const struct ps_compare *compare, const struct ps_stage *stage)
{
    double most = 0;
    for (int i = 0; i < stage->input_count; i++)
        most = fmax(most, normalised(&compare->differences[stage->inputs[i]]));
    return most;
}

static bool matches(const struct ps_compare *compare, int port)
{
    const struct ps_difference *d = &compare->differences[port];
    const struct ps_stage *stage = &compare->plan->stages[port - compare->plan->input_count];
    if (d->different == 0)
        return true;
    if (d->nan_mismatch)
        return false;
    double bound = ps_compare_bound(stage, compare->plan);
    double from_inputs = inherited(compare, stage);
    return d->ulp <= bound || normalised(d) <= bound * epsilon(stage->output.dtype) ||
           (from_inputs > 0 && normalised(d) <= AMPLIFICATION * from_inputs);
}

bool ps_compare_matched(const struct ps_compare *compare)
{
    for (int p = compare->plan->input_count; p < compare->plan->port_count; p++)
        if (!matches(compare, p))
            return false;
    return true;
}

void ps_compare_print(const struct ps_compare *compare, const struct ps_timing *timing,
                      struct ps_text *out)
{
    const struct ps_plan *plan = compare->plan;
    ps_text_printf(out, "%-14s %10s %10s %9s %11s %11s %9s %s\n", "compare", "cpu ms", "gpu ms",
                   "speed-up", "max abs", "max rel", "max ulp", "");
    for (int p = plan->input_count; p < plan->port_count; p++) {
        const struct ps_difference *d = &compare->differences[p];
        double cpu = ps_timing_stage_ms(timing, plan->ports[p].name, "cpu");
        double gpu = ps_timing_stage_ms(timing, plan->ports[p].name, "cuda");
        ps_text_printf(out, "%-14s %10.3f %10.3f %8.1fx %11.3g %11.3g %9.3g %s", plan->ports[p].name,
                       cpu, gpu, gpu > 0 ? cpu / gpu : 0, d->absolute, d->relative, d->ulp,
                       d->different == 0 ? "identical" : matches(compare, p) ? "match" : "DIFFER");
        if (d->different > 0)
            ps_text_printf(out, " (%llu of %llu, worst at element %lld, bound %.3g ulp)",
                           (unsigned long long)d->different, (unsigned long long)d->elements,
                           (long long)d->worst,
                           ps_compare_bound(&plan->stages[p - plan->input_count], plan));
        ps_text_add(out, "\n");
    }
    ps_text_add(out, "cpu ms is of one thread, gpu ms of the kernels; copies are in the table "
                     "above\n");
}
