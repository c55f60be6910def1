// SPDX-License-Identifier: Apache-2.0
// The rows of tests/data/map (made by make_map.py): expressions, operands, NumPy's results; and how
// far apart two numbers are.
#ifndef PS_TESTS_MAP_VALUES_H
#define PS_TESTS_MAP_VALUES_H

#include "map_job.h"

struct map_operand {
    char name[32];
    enum ps_dtype dtype;
    int count;
    const char *data;
};

struct map_values {
    char *bytes;
    FILE *lines;
    struct map_operand operands[80];
    int operand_count;
};

struct map_row {
    char expr[80];
    const struct map_operand *a, *b; // b NULL: none
    enum ps_dtype dtype;             // of the result
    const char *expected;
    int ulp;
};

static inline bool mv_open(struct map_values *values)
{
    FILE *file = fopen(PS_TEST_DATA "/map/values.bin", "rb");
    *values = (struct map_values){.lines = fopen(PS_TEST_DATA "/map/values.txt", "r"),
                                  .bytes = malloc(1 << 20)};
    bool fine = file != NULL && values->lines != NULL && values->bytes != NULL &&
                fread(values->bytes, 1, 1 << 20, file) > 0;
    if (file != NULL)
        fclose(file);
    return fine;
}

static inline void mv_close(struct map_values *values)
{
    if (values->lines != NULL)
        fclose(values->lines);
    free(values->bytes);
}

static inline const struct map_operand *mv_operand(const struct map_values *values,
                                                   const char *name)
{
    for (int i = 0; i < values->operand_count; i++)
        if (strcmp(values->operands[i].name, name) == 0)
            return &values->operands[i];
    abort();
}

// The next expression; false at the end.
static inline bool mv_next(struct map_values *values, struct map_row *row)
{
    char line[256], kind[16], name[32], dtype[16], b[32];
    int count;
    long offset;
    while (fgets(line, sizeof line, values->lines) != NULL) {
        struct map_operand *operand = &values->operands[values->operand_count];
        if (sscanf(line, "array\t%31[^\t]\t%15[^\t]\t%d\t%ld", name, dtype, &count, &offset) == 4) {
            *operand = (struct map_operand){.count = count, .data = values->bytes + offset};
            snprintf(operand->name, sizeof operand->name, "%s", name);
            if (!ps_dtype_parse(dtype, &operand->dtype) || ++values->operand_count == 80)
                abort();
            continue;
        }
        bool pair = sscanf(line, "pair\t%79[^\t]\t%31[^\t]\t%31[^\t]\t%15[^\t]\t%ld\t%d", row->expr,
                           name, b, dtype, &offset, &row->ulp) == 6;
        if (!pair && sscanf(line, "%15[^\t]\t%79[^\t]\t%31[^\t]\t%15[^\t]\t%ld\t%d", kind,
                            row->expr, name, dtype, &offset, &row->ulp) != 6)
            abort();
        row->a = mv_operand(values, name);
        row->b = pair ? mv_operand(values, b) : NULL;
        row->expected = values->bytes + offset;
        if (!ps_dtype_parse(dtype, &row->dtype))
            abort();
        return true;
    }
    return false;
}

// Every value of a with every value of b, as two streams. Returns the rows.
static inline int mv_spread(const struct map_row *row, char **a_out, char **b_out)
{
    int nb = row->b != NULL ? row->b->count : 1, n = row->a->count * nb;
    size_t sa = ps_dtype_bytes(row->a->dtype), sb = row->b ? ps_dtype_bytes(row->b->dtype) : 1;
    *a_out = malloc((size_t)n * sa);
    *b_out = malloc((size_t)n * sb);
    for (int i = 0; i < n; i++) {
        memcpy(*a_out + (size_t)i * sa, row->a->data + (size_t)(i / nb) * sa, sa);
        if (row->b != NULL)
            memcpy(*b_out + (size_t)i * sb, row->b->data + (size_t)(i % nb) * sb, sb);
    }
    return n;
}

// Where a float stands on the number line, counted in values of its dtype; both zeros are 0.
static inline int64_t mv_rank(enum ps_dtype dtype, const void *x, bool *nan_out)
{
    uint64_t bits = 0, sign = 1ull << (ps_dtype_bytes(dtype) * 8 - 1);
    uint64_t infinity = dtype == PS_F64   ? 0x7ffull << 52
                        : dtype == PS_F32 ? 0xffull << 23
                                          : 0x1full << 10;
    memcpy(&bits, x, ps_dtype_bytes(dtype));
    *nan_out = (bits & ~sign) > infinity;
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

// ulp 0: the same bits (any NaN is a NaN); else at most so many values of the dtype apart.
static inline bool mv_same(enum ps_dtype dtype, const void *x, const void *y, int ulp)
{
    bool nan_x, nan_y;
    int64_t gap;
    if (memcmp(x, y, ps_dtype_bytes(dtype)) == 0)
        return true;
    if (!ps_dtype_is_float(dtype))
        return false;
    int64_t at_x = mv_rank(dtype, x, &nan_x), at_y = mv_rank(dtype, y, &nan_y);
    if (nan_x || nan_y)
        return nan_x && nan_y;
    return ulp > 0 && !__builtin_sub_overflow(at_x, at_y, &gap) && gap <= ulp && gap >= -ulp;
}

// min and max of two zeros of unlike sign: either.
static inline bool mv_same_zero(const struct map_row *row, const void *x, const void *y)
{
    bool nan;
    const char *expr = row->expr + (row->expr[0] == 'f'); // fmin, fmax
    return ps_dtype_is_float(row->dtype) && expr[0] == 'm' &&
           mv_rank(row->dtype, x, &nan) == 0 && mv_rank(row->dtype, y, &nan) == 0;
}

static inline const char *mv_text(enum ps_dtype dtype, const void *x, char text[48])
{
    long long whole = 0;
    double number = 0;
    if (ps_dtype_is_float(dtype)) {
        uint16_t half;
        float single;
        memcpy(&half, x, sizeof half);
        if (dtype == PS_F32)
            memcpy(&single, x, sizeof single);
        if (dtype == PS_F64)
            memcpy(&number, x, sizeof number);
        else
            number = dtype == PS_F16 ? (double)ps_f16_to_f32(half) : (double)single;
        snprintf(text, 48, "%.17g", number);
    } else {
        memcpy(&whole, x, ps_dtype_bytes(dtype));
        snprintf(text, 48, "0x%llx", (unsigned long long)whole);
    }
    return text;
}

#endif
