// SPDX-License-Identifier: Apache-2.0
// Arithmetic that went wrong in other array programs, with the answers penstock documents
// (docs/expressions.md): division by zero, signs of remainders, mixed comparisons, denormals, fma.
#include "map_job.h"

#include <math.h>

#define LIST(T, ...) (const T[]){__VA_ARGS__}, (int)(sizeof((const T[]){__VA_ARGS__}) / sizeof(T))

struct arithmetic_case {
    const char *name, *expr;
    enum ps_dtype a_dtype, b_dtype, dtype;
    const void *a;
    int count;
    const void *b;
    int b_count;
    const void *want;
    int want_count;
};

static const struct arithmetic_case cases[] = {
    {"u8 wraps", "a - b", PS_U8, PS_U8, PS_U8, LIST(uint8_t, 3, 200, 0), LIST(uint8_t, 5, 100, 1),
     LIST(uint8_t, 254, 100, 255)},
    {"u64 wraps", "a - b", PS_U64, PS_U64, PS_U64, LIST(uint64_t, 0), LIST(uint64_t, 1),
     LIST(uint64_t, UINT64_MAX)},
    {"u64 as float", "f64(a) - b", PS_U64, PS_U64, PS_F64, LIST(uint64_t, 1), LIST(uint64_t, 2),
     LIST(double, -1)},
    {"i8 wraps", "a + b", PS_I8, PS_I8, PS_I8, LIST(int8_t, 100, -100, 127),
     LIST(int8_t, 100, -100, 1), LIST(int8_t, -56, 56, -128)},
    {"i8 products wrap", "a * b", PS_I8, PS_I8, PS_I8, LIST(int8_t, 100, -128),
     LIST(int8_t, 100, -1), LIST(int8_t, 16, -128)},
    {"integers over zero", "a / b", PS_I32, PS_I32, PS_F64, LIST(int32_t, 1, 0, -1),
     LIST(int32_t, 0, 0, 0), LIST(double, INFINITY, NAN, -INFINITY)},
    {"integers // zero", "a // b", PS_I32, PS_I32, PS_I32, LIST(int32_t, 1, 0, -1),
     LIST(int32_t, 0, 0, 0), LIST(int32_t, 0, 0, 0)},
    {"integers % zero", "a % b", PS_U16, PS_U16, PS_U16, LIST(uint16_t, 1, 0, 65535),
     LIST(uint16_t, 0, 0, 0), LIST(uint16_t, 0, 0, 0)},
    {"the most negative // -1", "a // b", PS_I32, PS_I32, PS_I32, LIST(int32_t, INT32_MIN),
     LIST(int32_t, -1), LIST(int32_t, INT32_MIN)},
    {"the most negative i64 // -1", "a // b", PS_I64, PS_I64, PS_I64, LIST(int64_t, INT64_MIN),
     LIST(int64_t, -1), LIST(int64_t, INT64_MIN)},
    {"the most negative i64 % -1", "a % b", PS_I64, PS_I64, PS_I64, LIST(int64_t, INT64_MIN),
     LIST(int64_t, -1), LIST(int64_t, 0)},
    {"the most negative / -1", "a / b", PS_I32, PS_I32, PS_F64, LIST(int32_t, INT32_MIN),
     LIST(int32_t, -1), LIST(double, 2147483648.0)},
    {"% takes the divisor's sign", "a % b", PS_I32, PS_I32, PS_I32,
     LIST(int32_t, -135, 135, -1, 1, 0), LIST(int32_t, 360, -360, 3, -3, 5),
     LIST(int32_t, 225, -225, 2, -2, 0)},
    {"% of floats likewise", "a % b", PS_F64, PS_F64, PS_F64, LIST(double, -1e-20, 1.5, -1.5, 1, 1),
     LIST(double, 3, INFINITY, 2, 0, INFINITY), LIST(double, 3, 1.5, 0.5, NAN, 1)},
    {"powers as IEEE", "a ** b", PS_F64, PS_F64, PS_F64, LIST(double, -8, -8, 0, 0, NAN, 1, -0.0),
     LIST(double, 1.0 / 3, 3, 0, -1, 0, NAN, -1),
     LIST(double, NAN, -512, 1, INFINITY, 1, 1, -INFINITY)},
    {"integer powers wrap", "a ** b", PS_I64, PS_I64, PS_I64, LIST(int64_t, 10, -2),
     LIST(int64_t, 20, 3), LIST(int64_t, 7766279631452241920, -8)},
    {"i64 below u64", "a < b", PS_I64, PS_U64, PS_BOOL, LIST(int64_t, -1, INT64_MAX, 5),
     LIST(uint64_t, 0, 1ull << 63, 5), LIST(uint8_t, 1, 1, 0)},
    {"i64 equal to u64", "a == b", PS_I64, PS_U64, PS_BOOL, LIST(int64_t, -1, INT64_MAX, 5),
     LIST(uint64_t, UINT64_MAX, 1ull << 63, 5), LIST(uint8_t, 0, 0, 1)},
    {"u32 above i32", "a > b", PS_U32, PS_I32, PS_BOOL, LIST(uint32_t, 0, 4294967295u, 7),
     LIST(int32_t, -1, -1, 7), LIST(uint8_t, 1, 1, 0)},
    {"nothing equals NaN", "(a == b) or (a < b) or (a <= b) or (a > b) or (a >= b)", PS_F64, PS_F64,
     PS_BOOL, LIST(double, NAN, 1, NAN), LIST(double, NAN, NAN, 1), LIST(uint8_t, 0, 0, 0)},
    {"NaN differs from all", "a != b", PS_F32, PS_F32, PS_BOOL, LIST(float, NAN, 1, NAN),
     LIST(float, NAN, NAN, 1), LIST(uint8_t, 1, 1, 1)},
    {"2^53 + 1 is not 2^53", "a == b", PS_I64, PS_F64, PS_BOOL, LIST(int64_t, 9007199254740993),
     LIST(double, 9007199254740992.0), LIST(uint8_t, 0)},
    {"2^53 + 1 is above 2^53", "a > b", PS_I64, PS_F64, PS_BOOL, LIST(int64_t, 9007199254740993),
     LIST(double, 9007199254740992.0), LIST(uint8_t, 1)},
    {"two roundings, no fma", "a * b - 1", PS_F64, PS_F64, PS_F64,
     LIST(double, 0x1.000002p0, 0x1.000004p0), LIST(double, 0x1.fffffcp-1, 0x1.000004p0),
     LIST(double, -0x1p-46, 0x1.000002p-21)},
    {"denormals stay", "a * b", PS_F32, PS_F32, PS_F32, LIST(float, 0x1p-149f, 0x1.fffffcp-127f),
     LIST(float, 2, 1), LIST(float, 0x1p-148f, 0x1.fffffcp-127f)},
    {"f32 division is correctly rounded", "a / b", PS_F32, PS_F32, PS_F32, LIST(float, 1, 5),
     LIST(float, 3, 7), LIST(float, 0x1.555556p-2f, 0x1.6db6dcp-1f)},
    {"NaN goes through min and max", "min(a, b) + max(a, b)", PS_F64, PS_F64, PS_F64,
     LIST(double, NAN, 1, 2), LIST(double, 1, NAN, 3), LIST(double, NAN, NAN, 5)},
    {"floats to integers are clamped", "i8(a)", PS_F32, PS_F32, PS_I8,
     LIST(float, 127.9f, 128, -128.9f, -1e30f, NAN, INFINITY, -0.9f),
     LIST(float, 0, 0, 0, 0, 0, 0, 0), LIST(int8_t, 127, 127, -128, -128, 0, 127, 0)},
    {"negative floats to unsigned are 0", "u64(a)", PS_F64, PS_F64, PS_U64,
     LIST(double, -1, 0x1p64, 0x1p63, NAN), LIST(double, 0, 0, 0, 0),
     LIST(uint64_t, 0, UINT64_MAX, 1ull << 63, 0)},
    {"halves round to even", "round(a) + 0 * b", PS_F64, PS_F64, PS_F64,
     LIST(double, 0.5, 1.5, -2.5), LIST(double, 0, 0, 0), LIST(double, 0, 2, -2)},
    {"the sine of a large number", "sin(a) + 0 * b", PS_F64, PS_F64, PS_F64, LIST(double, 1e22),
     LIST(double, 0), LIST(double, -0.8522008497671888)},
};

static bool equal(enum ps_dtype dtype, const void *x, const void *y)
{
    double a = NAN, b = NAN;
    float c = NAN, d = NAN;
    if (dtype == PS_F64)
        memcpy(&a, x, 8), memcpy(&b, y, 8);
    if (dtype == PS_F32)
        memcpy(&c, x, 4), memcpy(&d, y, 4);
    bool nans = dtype == PS_F64 ? isnan(a) && isnan(b) : dtype == PS_F32 && isnan(c) && isnan(d);
    return nans || memcmp(x, y, ps_dtype_bytes(dtype)) == 0;
}

static void documented_answers(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct arithmetic_case *c = &cases[i];
        struct map_job job = {0};
        CU_ASSERT_TRUE_FATAL(c->count == c->b_count && c->count == c->want_count);
        mj_port(&job, "a", c->a_dtype, true, c->a, 1, c->count);
        mj_port(&job, "b", c->b_dtype, true, c->b, 1, c->count);
        struct ps_stage *stage = mj_stage(&job, "y", c->expr);
        bool fine = stage != NULL && stage->output.dtype == c->dtype && mj_run(&job, c->count);
        size_t size = ps_dtype_bytes(c->dtype);
        for (int k = 0; fine && k < c->count; k++)
            fine = equal(c->dtype, (const char *)job.results[0] + (size_t)k * size,
                         (const char *)c->want + (size_t)k * size);
        if (!fine)
            printf("\n  %s: %s", c->name, c->expr);
        CU_ASSERT_TRUE(fine);
        mj_free(&job);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"documented answers", documented_answers},
        {NULL, NULL},
    };
    return check_main("map cases", tests);
}
