// SPDX-License-Identifier: Apache-2.0
// The format pattern: input that is made up, for trying things out and for timing without a disk.
// A value depends on the element's number and the seed alone, not on blocks or threads.
#include "io/formats.h"
#include "io/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_INDEX, KIND_RANDOM, KIND_NORMAL, KIND_CONSTANT };
static const char *const kind_names[] = {"index", "random", "normal", "constant"};

static const struct ps_option read_options[] = {
    {.key = "shape", .kind = PS_SHAPE, .required = true, .help = "the array's shape"},
    {.key = "dtype", .kind = PS_DTYPE, .fallback = "f32", .help = "the array's dtype"},
    {.key = "kind",
     .kind = PS_CHOICE,
     .choices = "index|random|normal|constant",
     .fallback = "index",
     .help = "index: 0, 1, 2, ... over all elements; random: uniform from low to high; normal: the "
             "normal distribution; constant: value"},
    {.key = "seed",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 0x1p53,
     .help = "random, normal: another seed gives other numbers"},
    {.key = "low", .kind = PS_NUMBER, .help = "random: the least value (default 0)"},
    {.key = "high",
     .kind = PS_NUMBER,
     .help = "random: values are less than this (default 1; 100 for integers, 2 for bool)"},
    {.key = "mean", .kind = PS_NUMBER, .help = "normal: default 0"},
    {.key = "std", .kind = PS_NUMBER, .help = "normal: the standard deviation, default 1"},
    {.key = "value", .kind = PS_NUMBER, .help = "constant: default 0"},
    {.key = NULL},
};

struct state {
    enum kind kind;
    uint64_t seed;
    double start, width; // random and normal: start + width * made-up number
    double top;          // random: the largest value
    bool whole;          // cut to whole numbers
    uint64_t index_mask; // index: the element's number modulo a power of two
    unsigned char value[8];
};

// Largest and smallest values as doubles; i64 and u64 end at the double below their end.
static void range_of(enum ps_dtype dtype, double *low, double *high)
{
    const struct ps_dtype_info *info = ps_dtype_info(dtype);
    int bits = (int)info->bytes * 8;
    if (info->kind == PS_CLASS_FLOAT) {
        *high = dtype == PS_F16   ? 65504.0
                : dtype == PS_F32 ? 0x1.fffffep127
                                  : 0x1.fffffffffffffp1023;
        *low = -*high;
    } else if (info->kind == PS_CLASS_SIGNED) {
        *low = -ldexp(1, bits - 1);
        *high = fmin(ldexp(1, bits - 1) - 1, 0x1.fffffffffffffp62);
    } else {
        *low = 0;
        *high = info->kind == PS_CLASS_BOOL ? 1 : fmin(ldexp(1, bits) - 1, 0x1.fffffffffffffp63);
    }
}

// The largest value of a float dtype that is less than limit.
static double below(enum ps_dtype dtype, double limit)
{
    double value = nextafter(limit, -INFINITY);
    if (dtype == PS_F32) {
        float near = (float)value;
        return (double)near < limit ? near : nextafterf(near, -INFINITY);
    }
    if (dtype != PS_F16)
        return value;
    uint16_t near = ps_f64_to_f16(value);
    if ((double)ps_f16_to_f32(near) >= limit) // one step down: away from zero when negative
        near = near == 0 ? 0x8001 : near & 0x8000 ? near + 1 : near - 1;
    return ps_f16_to_f32(near);
}

static double number(const struct ps_reader *reader, const char *key, double otherwise)
{
    const struct ps_value *value = ps_values_get(reader->options, key);
    return value->given ? value->number : otherwise;
}

static bool set_random(struct ps_reader *reader, struct state *state, struct ps_error *error)
{
    enum ps_dtype dtype = reader->array.dtype;
    double low = number(reader, "low", 0), least, most;
    double high = number(reader, "high", dtype == PS_BOOL ? 2 : state->whole ? 100 : 1);
    range_of(dtype, &least, &most);
    if (state->whole) {
        low = ceil(low);
        high = ceil(high);
    }
    if (!(low < high) || !isfinite(high - low))
        return ps_fail(error, PS_USAGE, "pattern: low must be less than high, and both finite%s",
                       state->whole ? " (for integers: whole numbers of [low, high))" : "");
    state->top = state->whole ? high - 1 : below(dtype, high);
    if (state->whole && state->top >= high) // beyond 2^53 doubles are further apart than 1
        state->top = nextafter(high, 0);
    if (low < least || state->top > most)
        return ps_fail(error, PS_USAGE, "pattern: low and high do not fit %s",
                       ps_dtype_name(dtype));
    state->start = low;
    state->width = high - low;
    return true;
}

static bool set_normal(struct ps_reader *reader, struct state *state, struct ps_error *error)
{
    double least, most;
    state->start = number(reader, "mean", 0);
    state->width = number(reader, "std", 1);
    range_of(reader->array.dtype, &least, &most);
    if (!(state->width >= 0) || !isfinite(state->start) || !isfinite(state->width))
        return ps_fail(error, PS_USAGE, "pattern: mean and std must be finite, std >= 0");
    double far = 8.3 * state->width; // no made-up number is further from the mean
    if (state->start - far < least || state->start + far > most)
        return ps_fail(error, PS_USAGE,
                       "pattern: mean and std do not fit %s (values reach 8.3 "
                       "standard deviations from the mean)",
                       ps_dtype_name(reader->array.dtype));
    return true;
}

static bool set_constant(struct ps_reader *reader, struct state *state, struct ps_error *error)
{
    double value = number(reader, "value", 0);
    size_t bad;
    uint64_t changed = 0;
    return ps_convert(reader->array.dtype, state->value, PS_F64, &value, 1, PS_CAST_ERROR, &bad,
                      &changed) ||
           ps_fail(error, PS_USAGE, "pattern: the value %g does not fit %s", value,
                   ps_dtype_name(reader->array.dtype));
}

// The numbers that a dtype counts without gaps: 2^24 for f32, 2^7 for i8.
static bool set_index(struct ps_reader *reader, struct state *state, struct ps_error *error)
{
    const struct ps_dtype_info *info = ps_dtype_info(reader->array.dtype);
    int bits = (int)info->bytes * 8 - (info->kind == PS_CLASS_SIGNED);
    (void)error;
    if (info->kind == PS_CLASS_FLOAT)
        bits = info->bytes == 2 ? 11 : info->bytes == 4 ? 24 : 53;
    if (info->kind == PS_CLASS_BOOL)
        bits = 1;
    state->index_mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return true;
}

// An option of another kind would be ignored: refused.
static bool check_options(const struct ps_reader *reader, enum kind kind, struct ps_error *error)
{
    static const struct {
        const char *key;
        unsigned kinds;
    } uses[] = {{"seed", 1u << KIND_RANDOM | 1u << KIND_NORMAL},
                {"low", 1u << KIND_RANDOM},
                {"high", 1u << KIND_RANDOM},
                {"mean", 1u << KIND_NORMAL},
                {"std", 1u << KIND_NORMAL},
                {"value", 1u << KIND_CONSTANT}};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++)
        if (ps_values_get(reader->options, uses[i].key)->given && !(uses[i].kinds & 1u << kind))
            return ps_fail(error, PS_USAGE, "pattern: `%s` means nothing for `kind: %s`; remove it",
                           uses[i].key, kind_names[kind]);
    return true;
}

static bool set_shape(struct ps_reader *reader, struct ps_error *error)
{
    const struct ps_value *shape = ps_values_get(reader->options, "shape");
    if (shape->count > PS_RANK_MAX)
        return ps_fail(error, PS_USAGE, "shape: %d axes; at most %d are possible", shape->count,
                       PS_RANK_MAX);
    for (int i = 0; i < shape->count; i++)
        if (shape->integers[i] < 0)
            return ps_fail(error, PS_USAGE, "pattern: every size of the shape must be given");
    ps_array_init(&reader->array, ps_values_get(reader->options, "dtype")->dtype, shape->count,
                  shape->integers);
    return ps_array_check(&reader->array, "shape", error);
}

static bool pattern_open(struct ps_reader *reader, struct ps_error *error)
{
    static bool (*const set[])(struct ps_reader *, struct state *, struct ps_error *) = {
        set_index, set_random, set_normal, set_constant};
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a pattern");
    reader->state = state;
    reader->way = "made up";
    state->kind = (enum kind)ps_values_get(reader->options, "kind")->choice;
    state->seed = (uint64_t)ps_values_get(reader->options, "seed")->integer;
    if (!check_options(reader, state->kind, error) || !set_shape(reader, error))
        return false;
    state->whole = !ps_dtype_is_float(reader->array.dtype);
    return set[state->kind](reader, state, error);
}

// ---- Making ----

#define INDEX(name, type, value)                                                                   \
    static void name(uint64_t first, uint64_t mask, size_t count, void *data)                      \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            uint64_t n = (first + i) & mask;                                                       \
            ((type *)data)[i] = value;                                                             \
        }                                                                                          \
    }

INDEX(index_1, uint8_t, (uint8_t)n)
INDEX(index_2, uint16_t, (uint16_t)n)
INDEX(index_4, uint32_t, (uint32_t)n)
INDEX(index_8, uint64_t, n)
INDEX(index_f16, uint16_t, ps_f32_to_f16((float)n))
INDEX(index_f32, float, (float)(int32_t)n)
INDEX(index_f64, double, (double)(int64_t)n)

static void make_index(enum ps_dtype dtype, uint64_t first, uint64_t mask, size_t count, void *data)
{
    static void (*const by_dtype[PS_DTYPE_COUNT])(uint64_t, uint64_t, size_t, void *) = {
        [PS_BOOL] = index_1, [PS_I8] = index_1,    [PS_I16] = index_2,   [PS_I32] = index_4,
        [PS_I64] = index_8,  [PS_U8] = index_1,    [PS_U16] = index_2,   [PS_U32] = index_4,
        [PS_U64] = index_8,  [PS_F16] = index_f16, [PS_F32] = index_f32, [PS_F64] = index_f64};
    by_dtype[dtype](first, mask, count, data);
}

#define PART 512 // numbers made at once: stays in the first-level cache

static void make_part(const struct state *state, uint64_t first, size_t count, double *numbers)
{
    if (state->kind == KIND_NORMAL) {
        ps_random_normal(state->seed, first, count, numbers);
        for (size_t i = 0; i < count; i++) {
            double value = state->start + state->width * numbers[i];
            numbers[i] = state->whole ? rint(value) : value;
        }
        return;
    }
    ps_random_uniform(state->seed, first, count, numbers);
    for (size_t i = 0; i < count; i++) {
        double step = state->width * numbers[i];
        double value = state->start + (state->whole ? floor(step) : step);
        numbers[i] = value < state->top ? value : state->top;
    }
}

static bool make_random(const struct state *state, enum ps_dtype dtype, uint64_t first,
                        size_t count, void *data, struct ps_error *error)
{
    double numbers[PART];
    size_t bytes = ps_dtype_bytes(dtype);
    for (size_t done = 0; done < count;) {
        size_t part = count - done < PART ? count - done : PART, bad = 0;
        uint64_t changed = 0;
        make_part(state, first + done, part, numbers);
        if (!ps_convert(dtype, (char *)data + done * bytes, PS_F64, numbers, part, PS_CAST_ERROR,
                        &bad, &changed))
            return ps_fail(error, PS_BUG, "pattern: %g does not fit %s", numbers[bad],
                           ps_dtype_name(dtype));
        done += part;
    }
    return true;
}

static void make_constant(const struct state *state, size_t bytes, size_t count, char *data)
{
    size_t all = bytes * count;
    if (all == 0)
        return;
    memcpy(data, state->value, bytes);
    for (size_t done = bytes; done < all;) { // what is there is copied behind itself
        size_t part = all - done < done ? all - done : done;
        memcpy(data + done, data, part);
        done += part;
    }
}

static bool pattern_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                         struct ps_read_result *result, struct ps_error *error)
{
    const struct state *state = reader->state;
    enum ps_dtype dtype = reader->array.dtype;
    uint64_t row_elements = (uint64_t)ps_array_row_elements(&reader->array);
    uint64_t first = (uint64_t)first_row * row_elements;
    size_t count = (size_t)((uint64_t)rows * row_elements);
    result->rows = rows;
    result->bytes = count * ps_dtype_bytes(dtype); // made, not read
    switch (state->kind) {
    case KIND_INDEX:
        make_index(dtype, first, state->index_mask, count, data);
        return true;
    case KIND_CONSTANT:
        make_constant(state, ps_dtype_bytes(dtype), count, data);
        return true;
    default:
        return make_random(state, dtype, first, count, data, error);
    }
}

static void pattern_close(struct ps_reader *reader)
{
    free(reader->state);
}

const struct ps_format ps_format_pattern = {
    .name = "pattern",
    .help = "made-up input: counted, random or constant numbers of any shape, without a file",
    .flags = PS_READ_ANYWHERE | PS_NO_PATH,
    .read_options = read_options,
    .open = pattern_open,
    .read = pattern_read,
    .close = pattern_close,
};
