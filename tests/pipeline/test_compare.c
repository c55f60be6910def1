// SPDX-License-Identifier: Apache-2.0
// Differences between arrays, counted by walking from number to number with nextafter.
#include "check.h"
#include "pipeline/compare.h"

#include <math.h>
#include <string.h>

static struct ps_difference differ(enum ps_dtype dtype, const void *a, const void *b, size_t count)
{
    struct ps_difference difference = {0};
    ps_difference_add(&difference, dtype, a, b, count, 0);
    return difference;
}

static void check_f64_steps(double from, int steps)
{
    double to = from;
    for (int i = 0; i < steps; i++)
        to = nextafter(to, INFINITY);
    struct ps_difference d = differ(PS_F64, &from, &to, 1);
    CU_ASSERT_EQUAL(d.ulp, steps);
    CU_ASSERT_EQUAL(d.absolute, to - from);
    CU_ASSERT_EQUAL(d.different, steps > 0);
    d = differ(PS_F64, &to, &from, 1);
    CU_ASSERT_EQUAL(d.ulp, steps);
}

static void check_f32_steps(float from, int steps)
{
    float to = from;
    for (int i = 0; i < steps; i++)
        to = nextafterf(to, INFINITY);
    struct ps_difference d = differ(PS_F32, &from, &to, 1);
    CU_ASSERT_EQUAL(d.ulp, steps);
    CU_ASSERT_EQUAL(d.absolute, (double)to - (double)from);
}

static void test_ulp(void)
{
    static const double starts[] = {0, 1, -1, 1e300, -1e300, 4.9e-324, -4.9e-324 * 3, 1e-310, 0.1};
    static const int steps[] = {0, 1, 2, 3, 7, 100};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (int s = 0; s < 6; s++) {
            check_f64_steps(starts[i], steps[s]);
            if (fabs(starts[i]) < 1e38)
                check_f32_steps((float)starts[i] / 2, steps[s]);
        }
    check_f32_steps(-0x1p-149f * 2, 4); // over zero
    uint16_t a = ps_f32_to_f16(1.0f), b = (uint16_t)(a + 3);
    CU_ASSERT_EQUAL(differ(PS_F16, &a, &b, 1).ulp, 3);
    uint16_t minus = 0x8001, plus = 0x0001;
    CU_ASSERT_EQUAL(differ(PS_F16, &minus, &plus, 1).ulp, 2);
    double far_a = -1.7976931348623157e308, far_b = -far_a; // must not overflow
    CU_ASSERT(differ(PS_F64, &far_a, &far_b, 1).ulp > 1.8e19);
}

static void test_special(void)
{
    double nan_a = NAN, nan_b = -NAN, zero = 0.0, minus_zero = -0.0, one = 1, inf = INFINITY;
    CU_ASSERT_EQUAL(differ(PS_F64, &nan_a, &nan_b, 1).different, 0);
    struct ps_difference d = differ(PS_F64, &nan_a, &one, 1);
    CU_ASSERT(d.nan_mismatch && isinf(d.ulp) && d.worst == 0);
    d = differ(PS_F64, &zero, &minus_zero, 1);
    CU_ASSERT(d.ulp == 0 && d.absolute == 0 && d.relative == 0);
    d = differ(PS_F64, &inf, &one, 1);
    CU_ASSERT(isinf(d.absolute) && isinf(d.relative) && !d.nan_mismatch);
    CU_ASSERT_EQUAL(differ(PS_F64, &inf, &inf, 1).different, 0);
}

static void test_integers(void)
{
    int64_t a = INT64_C(1) << 60, b = a + 1, low = INT64_MIN, high = INT64_MAX;
    CU_ASSERT_EQUAL(differ(PS_I64, &a, &b, 1).absolute, 1);
    CU_ASSERT_EQUAL(differ(PS_I64, &b, &a, 1).ulp, 1);
    CU_ASSERT_EQUAL(differ(PS_I64, &low, &high, 1).absolute, 0x1p64);
    uint64_t x = UINT64_MAX, y = UINT64_MAX - 3;
    CU_ASSERT_EQUAL(differ(PS_U64, &x, &y, 1).absolute, 3);
    int8_t i = -100, j = 100;
    CU_ASSERT_EQUAL(differ(PS_I8, &i, &j, 1).absolute, 200);
    CU_ASSERT_EQUAL(differ(PS_I8, &i, &j, 1).relative, 2);
    uint8_t t = 1, f = 0;
    CU_ASSERT_EQUAL(differ(PS_BOOL, &t, &f, 1).different, 1);
}

static void test_many(void)
{
    float a[1000], b[1000];
    for (int i = 0; i < 1000; i++)
        a[i] = b[i] = (float)i;
    b[500] = nextafterf(500, INFINITY);
    b[700] = 701;
    struct ps_difference d = {0};
    ps_difference_add(&d, PS_F32, a, b, 600, 0);
    ps_difference_add(&d, PS_F32, a + 600, b + 600, 400, 600);
    CU_ASSERT_EQUAL(d.elements, 1000);
    CU_ASSERT_EQUAL(d.different, 2);
    CU_ASSERT_EQUAL(d.worst, 700);
    CU_ASSERT_EQUAL(d.absolute, 1);
    CU_ASSERT_DOUBLE_EQUAL(d.relative, 1.0 / 701, 1e-12);
    CU_ASSERT_EQUAL(d.scale, 999);
}

// A plan of one stage of a type, to ask whether its results match.
struct case_of {
    struct ps_stage_type type;
    struct ps_stage stage;
    struct ps_port ports[2];
    struct ps_plan plan;
};

static void make_case(struct case_of *c, const char *type, enum ps_dtype dtype)
{
    memset(c, 0, sizeof *c);
    c->type.name = type;
    ps_array_init(&c->ports[0].array, dtype, 2, (int64_t[]){10, 100});
    ps_array_init(&c->ports[1].array, dtype, 2, (int64_t[]){10, 100});
    c->stage = (struct ps_stage){.type = &c->type,
                                 .name = "s",
                                 .port = 1,
                                 .input_count = 1,
                                 .output = c->ports[1].array,
                                 .streamed = true};
    c->ports[1].name = "s";
    c->ports[1].streamed = c->ports[0].streamed = true;
    c->plan =
        (struct ps_plan){.input_count = 1, .port_count = 2, .ports = c->ports, .stages = &c->stage};
}

static bool matched(struct case_of *c, const void *a, const void *b, size_t count)
{
    struct ps_error error = {0};
    struct ps_compare *compare = ps_compare_open(&c->plan, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(compare);
    ps_compare_add(compare, 1, a, b, count, 0);
    bool result = ps_compare_matched(compare);
    ps_compare_free(compare);
    return result;
}

static void test_match(void)
{
    struct case_of c;
    float one[2] = {1, 1e-9f}, four[2] = {1 + 4 * 0x1p-23f, 1e-9f}, five[2] = {1 + 5 * 0x1p-23f, 0};
    make_case(&c, "map", PS_F32);
    CU_ASSERT(matched(&c, one, one, 2));
    CU_ASSERT(matched(&c, one, four, 2));
    CU_ASSERT(!matched(&c, one, five, 2));
    float cancelled[2] = {1, 2e-9f}; // far in ulp, near against the largest value
    CU_ASSERT(matched(&c, one, cancelled, 2));
    float nan_one[2] = {1, NAN};
    CU_ASSERT(!matched(&c, one, nan_one, 2));
    make_case(&c, "reduce", PS_F32);
    CU_ASSERT(!matched(&c, one, four, 2));
    make_case(&c, "matmul", PS_F32); // K = 100: 28 ulp of the largest
    float near[2] = {1, 1e-9f + 27 * 0x1p-23f}, far[2] = {1, 1e-9f + 30 * 0x1p-23f};
    CU_ASSERT(matched(&c, one, near, 2));
    CU_ASSERT(!matched(&c, one, far, 2));
    make_case(&c, "map", PS_I32);
    int32_t i[1] = {1000000}, j[1] = {1000001};
    CU_ASSERT(matched(&c, i, i, 1));
    CU_ASSERT(!matched(&c, i, j, 1));
    make_case(&c, "map", PS_F64);
    double d[1] = {1}, e[1] = {1 + 0x1p-49};
    CU_ASSERT(!matched(&c, d, e, 1)); // 8 ulp, which a float64 of the bits would not see
}

int main(void)
{
    static const struct check_test tests[] = {
        {"ulp", test_ulp},           {"special values", test_special},
        {"integers", test_integers}, {"many", test_many},
        {"match", test_match},       {NULL, NULL},
    };
    return check_main("compare", tests);
}
