// SPDX-License-Identifier: Apache-2.0
// What `checked` calls a fault, against exact arithmetic in 128 bits: all pairs of 8 bits, the
// edges of the wider dtypes, through the vector code of every instruction set.
#include "map_job.h"

#include "kernels/map/vector.h"

#include <math.h>

typedef __int128 wide;

struct range {
    enum ps_dtype dtype;
    wide low, high;
};
#define SIGNED(B) -((wide)1 << (B - 1)), ((wide)1 << (B - 1)) - 1
#define UNSIGNED(B) 0, ((wide)1 << B) - 1
static const struct range ranges[] = {
    {PS_I8, SIGNED(8)},   {PS_I16, SIGNED(16)},   {PS_I32, SIGNED(32)},   {PS_I64, SIGNED(64)},
    {PS_U8, UNSIGNED(8)}, {PS_U16, UNSIGNED(16)}, {PS_U32, UNSIGNED(32)}, {PS_U64, UNSIGNED(64)},
};

static bool fits(const struct range *r, wide x)
{
    return x >= r->low && x <= r->high;
}

// By repeated multiplication that stops beyond the range.
static bool power_fits(const struct range *r, wide a, wide b)
{
    wide x = 1;
    if (b < 0)
        return a != 0;
    if (a == 0 || a == 1 || a == -1)
        return fits(r, a == -1 && b % 2 == 0 ? 1 : a);
    for (wide i = 0; i < b; i++) {
        if (__builtin_mul_overflow(x, a, &x) || x > r->high || x < -r->high - 1)
            return false;
    }
    return fits(r, x);
}

static bool shift_fits(const struct range *r, wide a, wide b)
{
    int bits = (int)ps_dtype_bytes(r->dtype) * 8;
    if (b < 0)
        return false;
    return a == 0 || (b < bits && fits(r, a * ((wide)1 << b)));
}

static wide floor_of(wide a, wide b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool is_fine(int op, const struct range *r, wide a, wide b)
{
    switch (op) {
    case PS_OP_ADD:
        return fits(r, a + b);
    case PS_OP_SUB:
        return fits(r, a - b);
    case PS_OP_MUL: // 127 bits and a sign hold all but u64's products
        return r->dtype == PS_U64 ? a == 0 || b <= r->high / a : fits(r, a * b);
    case PS_OP_NEG:
        return fits(r, -a);
    case PS_OP_ABS:
        return fits(r, a < 0 ? -a : a);
    case PS_OP_FLOORDIV:
        return b != 0 && fits(r, floor_of(a, b));
    case PS_OP_MOD:
    case PS_OP_FMOD:
        return b != 0;
    case PS_OP_POW:
        return power_fits(r, a, b);
    case PS_OP_SHL:
        return shift_fits(r, a, b);
    default:
        return b >= 0; // SHR
    }
}

// Little-endian, as all of penstock.
static void put(void *to, const struct range *r, wide x)
{
    uint64_t bits = (uint64_t)x;
    memcpy(to, &bits, ps_dtype_bytes(r->dtype));
}

static int edges(const struct range *r, wide *out)
{
    static const int small[] = {0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100, -1, -2, -3, -8};
    int n = 0;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        if (fits(r, small[i]))
            out[n++] = small[i];
        if (fits(r, r->low + small[i]) && small[i] < 4)
            out[n++] = r->low + small[i];
        if (fits(r, r->high + small[i]))
            out[n++] = r->high + small[i];
        if (fits(r, r->high / 2 + small[i]))
            out[n++] = r->high / 2 + small[i];
    }
    for (wide root = 1; root * root <= r->high && n < 150; root *= 2) { // around square roots
        out[n++] = root;
        out[n++] = root * root > 1 ? root * root - 1 : 0;
        if (r->low < 0)
            out[n++] = -root;
    }
    return n;
}

static int64_t wrong;

static void check_pair(const struct ps_vector_table *table, int op, const struct range *r, wide a,
                       wide b)
{
    uint64_t va = 0, vb = 0;
    put(&va, r, a);
    put(&vb, r, b);
    bool fault = table->over[op][r->dtype](&va, &vb, 1) == 0;
    if (fault != is_fine(op, r, a, b))
        return;
    if (wrong++ < 10)
        printf("\n  %s of %s: %lld, %lld: %s", ps_op_infos[op].name, ps_dtype_name(r->dtype),
               (long long)a, (long long)b, fault ? "a fault" : "no fault");
}

static void check_range(const struct ps_vector_table *table, const struct range *r)
{
    wide values[300];
    int n = edges(r, values), seen = 0;
    for (int op = 0; op < PS_OP_COUNT; op++) {
        if (table->over[op][r->dtype] == NULL)
            continue;
        seen++;
        if (ps_dtype_bytes(r->dtype) == 1) {
            for (wide a = r->low; a <= r->high; a++)
                for (wide b = r->low; b <= r->high; b++)
                    check_pair(table, op, r, a, b);
        } else {
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++)
                    check_pair(table, op, r, values[i], values[k]);
        }
    }
    CU_ASSERT_EQUAL(seen, 11);
}

static void each_table(void (*check)(const struct ps_vector_table *table))
{
    check(&ps_vector_baseline);
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check(&ps_vector_v3);
#endif
    check(ps_vector_table());
}

static void check_all_ranges(const struct ps_vector_table *table)
{
    wrong = 0;
    for (int i = 0; i < 8; i++)
        check_range(table, &ranges[i]);
    CU_ASSERT_EQUAL(wrong, 0);
}

static void operations(void)
{
    each_table(check_all_ranges);
}

static void check_casts(const struct ps_vector_table *table)
{
    wrong = 0;
    for (int from = 0; from < 8; from++)
        for (int to = 0; to < 8; to++) {
            wide values[300];
            int n = edges(&ranges[from], values);
            for (int i = 0; i < n; i++) {
                uint64_t bits = 0;
                put(&bits, &ranges[from], values[i]);
                bool fault = table->lost[ranges[from].dtype][ranges[to].dtype](&bits, NULL, 1) == 0;
                wrong += fault == fits(&ranges[to], values[i]);
            }
        }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void casts_of_integers(void)
{
    each_table(check_casts);
}

// The largest and smallest numbers of each dtype and their neighbours; a fraction is no fault.
static void check_float_casts(const struct ps_vector_table *table)
{
    for (int to = 0; to < 8; to++) {
        const struct range *r = &ranges[to];
        double low = (double)r->low, above = (double)(r->high + 1);
        const double fine[] = {0,     -0.0, 0.5, -0.5, -0.9999, low, above / 2, nextafter(above, 0),
                               5e-324};
        const double lost[] = {above,    low - 1 == low ? nextafter(low, -INFINITY) : low - 1,
                               1e300,    -1e300,
                               INFINITY, -INFINITY,
                               NAN};
        for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
            CU_ASSERT_EQUAL(table->lost[PS_F64][r->dtype](&fine[i], NULL, 1), 1);
        for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
            CU_ASSERT_EQUAL(table->lost[PS_F64][r->dtype](&lost[i], NULL, 1), 0);
        const float narrow[] = {(float)above, NAN, 0};
        CU_ASSERT_EQUAL(table->lost[PS_F32][r->dtype](&narrow[0], NULL, 1), 0);
        CU_ASSERT_EQUAL(table->lost[PS_F32][r->dtype](&narrow[1], NULL, 1), 0);
        CU_ASSERT_EQUAL(table->lost[PS_F32][r->dtype](&narrow[2], NULL, 1), 1);
    }
}

static void casts_of_floats(void)
{
    each_table(check_float_casts);
}

// Among many: the first fault, wherever it is.
static void the_first_is_found(void)
{
    static int a[500], b[500];
    ps_vector_check *f = ps_vector_table()->over[PS_OP_ADD][PS_I32];
    for (int n = 0; n <= 300; n += 37)
        for (int at = 0; at < n; at++) {
            memset(a, 0, sizeof a);
            a[at] = b[at] = b[at + 1] = a[at + 1] = INT32_MAX;
            CU_ASSERT_EQUAL(f(a, b, (size_t)n), (size_t)at);
            CU_ASSERT_EQUAL(f(a, b, (size_t)at), (size_t)at);
            memset(b, 0, sizeof b);
        }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"operations", operations},
        {"casts of integers", casts_of_integers},
        {"casts of floats", casts_of_floats},
        {"the first is found", the_first_is_found},
        {NULL, NULL},
    };
    return check_main("map checks", tests);
}
