// SPDX-License-Identifier: Apache-2.0
// Terms and picks on the cpu backend: values as numbers, and the loops of pick.h.
#include "kernels/reduce/stage.h"

#define LOAD(TYPE, EXPR)                                                                           \
    for (int64_t i = 0; i < count; i++) {                                                          \
        TYPE value = ((const TYPE *)data)[first + i];                                              \
        values[i] = (EXPR);                                                                        \
    }                                                                                              \
    break

void ps_term_load(int dtype, const void *data, int64_t first, int64_t count, double *values)
{
    switch (dtype) {
    case PS_I8:
        LOAD(int8_t, (double)value);
    case PS_I16:
        LOAD(int16_t, (double)value);
    case PS_I32:
        LOAD(int32_t, (double)value);
    case PS_I64:
        LOAD(int64_t, (double)value);
    case PS_U16:
        LOAD(uint16_t, (double)value);
    case PS_U32:
        LOAD(uint32_t, (double)value);
    case PS_U64:
        LOAD(uint64_t, (double)value);
    case PS_F16:
        LOAD(uint16_t, (double)ps_f16_to_f32(value));
    case PS_F32:
        LOAD(float, (double)value);
    case PS_F64:
        LOAD(double, value);
    default:
        LOAD(uint8_t, (double)value);
    }
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void magnitudes(int dtype, const void *data, int64_t first, int64_t count, uint64_t *values)
{
    switch (dtype) {
    case PS_I8:
        LOAD(int8_t, magnitude(value));
    case PS_I16:
        LOAD(int16_t, magnitude(value));
    case PS_I32:
        LOAD(int32_t, magnitude(value));
    case PS_I64:
        LOAD(int64_t, magnitude(value));
    case PS_U16:
        LOAD(uint16_t, value);
    case PS_U32:
        LOAD(uint32_t, value);
    case PS_U64:
        LOAD(uint64_t, value);
    default:
        LOAD(uint8_t, value);
    }
}

void ps_term_magnitudes(int dtype, const void *data, int64_t first, int64_t count, void *values)
{
    if (!ps_dtype_is_float((enum ps_dtype)dtype)) {
        magnitudes(dtype, data, first, count, values);
        return;
    }
    double *numbers = values;
    ps_term_load(dtype, data, first, count, numbers);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = fabs(numbers[i]);
}

bool ps_pick_wants_products(const struct ps_reduce_part *part)
{
    for (int i = 0; i < part->ask.kind_count; i++)
        if (part->ask.kinds[i] == PS_REDUCE_PROD || part->ask.kinds[i] == PS_REDUCE_NANPROD)
            return true;
    return false;
}

struct adder {
    int dtype;
    bool products;
    const void *data;
};

static void add_one(const struct adder *adder, struct ps_pick *pick, int64_t at, uint64_t index)
{
    const void *data = adder->data;
    switch (adder->dtype) {
    case PS_I8:
        ps_pick_integer(pick, (uint64_t)((const int8_t *)data)[at], true, index);
        break;
    case PS_I16:
        ps_pick_integer(pick, (uint64_t)((const int16_t *)data)[at], true, index);
        break;
    case PS_I32:
        ps_pick_integer(pick, (uint64_t)((const int32_t *)data)[at], true, index);
        break;
    case PS_I64:
        ps_pick_integer(pick, (uint64_t)((const int64_t *)data)[at], true, index);
        break;
    case PS_U16:
        ps_pick_integer(pick, ((const uint16_t *)data)[at], false, index);
        break;
    case PS_U32:
        ps_pick_integer(pick, ((const uint32_t *)data)[at], false, index);
        break;
    case PS_U64:
        ps_pick_integer(pick, ((const uint64_t *)data)[at], false, index);
        break;
    case PS_F16:
        ps_pick_float(pick, ps_f16_to_f32(((const uint16_t *)data)[at]), index, adder->products);
        break;
    case PS_F32:
        ps_pick_float(pick, ((const float *)data)[at], index, adder->products);
        break;
    case PS_F64:
        ps_pick_float(pick, ((const double *)data)[at], index, adder->products);
        break;
    default:
        ps_pick_integer(pick, ((const uint8_t *)data)[at], false, index);
        break;
    }
}

// Columns one after another within tiles of rows that stay in the cache.
void ps_pick_add(int dtype, bool products, void *state, int64_t outputs, const void *data,
                 int64_t rows, int64_t first_row)
{
    struct ps_reduce_head *head = state;
    struct adder adder = {dtype, products, data};
    int64_t tile = outputs > 0 ? 4096 / outputs + 16 : 1;
    for (int64_t row = 0; row < rows; row += tile) {
        int64_t end = row + tile < rows ? row + tile : rows;
        for (int64_t c = 0; c < outputs; c++) {
            struct ps_pick pick = ps_pick_load((const uint64_t *)(head + 1), outputs, c);
            for (int64_t r = row; r < end; r++)
                add_one(&adder, &pick, r * outputs + c, (uint64_t)(first_row + r));
            ps_pick_save(&pick, (uint64_t *)(head + 1), outputs, c);
        }
    }
    head->elements += rows;
}

struct ps_pick ps_pick_places(const struct ps_reduce *reduce, bool products, const void *row,
                              int64_t place)
{
    struct ps_pick pick = {0};
    struct adder adder = {reduce->shape.dtype, products, row};
    int64_t at = ps_reduce_offset(&reduce->shape.kept, place);
    for (int64_t i = 0; i < reduce->shape.reduced_count; i++)
        add_one(&adder, &pick, at + ps_reduce_offset(&reduce->shape.reduced, i), (uint64_t)i);
    return pick;
}
