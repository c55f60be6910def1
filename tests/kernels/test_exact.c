// SPDX-License-Identifier: Apache-2.0
// The exact accumulators against fractions computed by Python, against 128-bit integers, and
// against the processor's own roundings.
#include "check.h"
#include "exact_cases.h"

#include "kernels/exact_bins.h"
#include "kernels/reduce/finish.h"

#include <math.h>

static uint64_t seed = 88172645463325252ull;
static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static bool same(double a, double b)
{
    return ps_exact_bits(a) == ps_exact_bits(b) || (isnan(a) && isnan(b));
}

static struct ps_reduce_form form_of(enum ps_dtype dtype)
{
    struct ps_reduce_form form = {.dtype = (int)dtype, .outputs = 1};
    form.low = dtype == PS_F16 ? -24 : dtype == PS_F32 ? -149 : -1074;
    form.sum_limbs = dtype == PS_F16 ? 5 : dtype == PS_F32 ? 12 : 69;
    form.square_limbs = dtype == PS_F16 ? 7 : dtype == PS_F32 ? 21 : 136;
    return form;
}

static void test_fractions(void)
{
    struct exact_case c;
    uint32_t work[PS_REDUCE_WORK];
    int cases = 0;
    FILE *file = exact_open();
    for (; exact_next(file, &c); cases++) {
        struct ps_reduce_form form = form_of(c.dtype);
        int64_t *state = calloc(1, (size_t)ps_reduce_state_bytes(&form));
        struct ps_reduce_planes planes = ps_reduce_planes(&form, state);
        for (int i = 0; i < c.n; i++)
            ps_reduce_odd_f64(&form, &planes, 0, exact_value(&c, i));
        uint64_t n = (uint64_t)c.n;
        double sum = ps_exact_mean(planes.sum, 1, form.sum_limbs, form.low, 1, work);
        double mean = ps_exact_mean(planes.sum, 1, form.sum_limbs, form.low, n, work);
        double var0 = ps_exact_variance(planes.sum, form.sum_limbs, planes.squares,
                                        form.square_limbs, 1, form.low, n, 0, work);
        // An exact zero is +0 here whatever the signs of the zeros that were added.
        CU_ASSERT_EQUAL(ps_exact_bits(sum), c.sum == 1ull << 63 ? 0 : c.sum);
        CU_ASSERT_EQUAL(ps_exact_bits(mean), c.mean == 1ull << 63 && sum == 0 ? 0 : c.mean);
        CU_ASSERT_EQUAL(ps_exact_bits(var0), c.var0);
        if (c.n > 1) {
            double var1 = ps_exact_variance(planes.sum, form.sum_limbs, planes.squares,
                                            form.square_limbs, 1, form.low, n, 1, work);
            CU_ASSERT_EQUAL(ps_exact_bits(var1), c.var1);
        }
        // Carries change the limbs, never the value.
        ps_exact_carry(planes.sum, 1, form.sum_limbs);
        CU_ASSERT(same(sum, ps_exact_mean(planes.sum, 1, form.sum_limbs, form.low, 1, work)));
        free(state);
    }
    fclose(file);
    CU_ASSERT(cases > 100);
}

// Bins, where they claim to hold a value, agree with value-by-value adding: limb for limb after
// the carries.
static void test_bins(void)
{
    for (int round = 0; round < 3000; round++) {
        struct ps_reduce_form form = form_of(round % 2 ? PS_F32 : PS_F64);
        int64_t *states[2];
        for (int i = 0; i < 2; i++)
            states[i] = calloc(1, (size_t)ps_reduce_state_bytes(&form));
        struct ps_reduce_planes one = ps_reduce_planes(&form, states[0]);
        struct ps_reduce_planes two = ps_reduce_planes(&form, states[1]);
        bool wide = form.dtype == PS_F64;
        int anchor = wide ? (int)(next_random() % 891) - 400 : (int)(next_random() % 255) - 126;
        int range = wide ? PS_BINS_F64_RANGE(true) : PS_BINS_F32_RANGE;
        struct ps_bins32 bins32 = ps_bins32_empty(anchor);
        struct ps_bins64 bins64 = ps_bins64_empty(anchor);
        int count = wide ? PS_BINS_F64_ROWS : PS_BINS_F32_ROWS;
        for (int i = 0; i < count; i++) {
            int exponent = anchor - 1 - (round % 5 == 0 ? 0 : (int)(next_random() % (range + 1)));
            double fraction = 1 + (double)(next_random() >> 12) * 0x1p-52;
            if (round % 3 == 0)
                fraction = 2 - 0x1p-52; // as large as can be, all of one sign
            double value =
                ldexp(wide ? fraction : (double)nextafterf((float)fraction, 1.5f), exponent);
            value = wide ? value : (double)(float)value;
            if (fabs(value) >= ldexp(1, anchor) || fabs(value) < ldexp(1, anchor - 1 - range))
                continue; // rounded out of the range (binary32 denormals)
            value = round % 3 != 0 && (next_random() & 1) ? -value : value;
            if (wide)
                ps_bins64_add(&bins64, value, true);
            else
                ps_bins32_add(&bins32, value);
            ps_reduce_odd_f64(&form, &one, 0, value);
        }
        int64_t whole[PS_BINS_MAX];
        struct ps_bins_layout layout =
            wide ? ps_bins64_layout(anchor, form.low, true) : ps_bins32_layout(anchor, form.low);
        if (wide)
            ps_bins64_whole(&bins64, anchor, &layout, whole);
        else
            ps_bins32_whole(&bins32, anchor, &layout, whole);
        ps_bins_flush(&layout, whole, two.sum, two.squares, 1);
        ps_exact_carry(one.sum, 1, form.sum_limbs);
        ps_exact_carry(two.sum, 1, form.sum_limbs);
        ps_exact_carry(one.squares, 1, form.square_limbs);
        ps_exact_carry(two.squares, 1, form.square_limbs);
        CU_ASSERT_EQUAL_FATAL(memcmp(states[0], states[1], (size_t)ps_reduce_state_bytes(&form)),
                              0);
        free(states[0]);
        free(states[1]);
    }
}

__extension__ typedef __int128 wide_int;

static void test_integers(void)
{
    uint32_t work[PS_EXACT_WORK(5, 7)];
    for (int round = 0; round < 2000; round++) {
        int64_t limbs[5] = {0};
        wide_int total = 0;
        for (int i = 0; i < 50; i++) {
            int64_t value = (int64_t)(next_random() >> next_random() % 64);
            value = next_random() & 1 ? -value : value;
            total += value;
            ps_exact_add_signed(limbs, 1, 0, value);
        }
        if (round % 4 == 0) { // near the ends of 64 bits
            wide_int target = (wide_int)(round % 8 ? INT64_MAX : INT64_MIN) + round / 8 % 3 - 1;
            ps_exact_add_signed(limbs, 1, 0, (int64_t)(target - total));
            total = target == (int64_t)(target - total) + total ? target
                                                                : total + (int64_t)(target - total);
        }
        uint64_t bits = 0;
        bool fits = ps_exact_integer(limbs, 1, 5, true, &bits, work);
        CU_ASSERT_EQUAL(fits, total >= INT64_MIN && total <= INT64_MAX);
        CU_ASSERT(!fits || (int64_t)bits == (int64_t)total);
        fits = ps_exact_integer(limbs, 1, 5, false, &bits, work);
        CU_ASSERT_EQUAL(fits, total >= 0 && total <= (wide_int)UINT64_MAX);
        CU_ASSERT(!fits || bits == (uint64_t)total);
    }
}

// Quotients by divisors below and above 32 bits.
static void test_divide(void)
{
    for (int round = 0; round < 20000; round++) {
        uint64_t high = next_random() >> next_random() % 64, low = next_random();
        uint64_t divisor = next_random() >> next_random() % 63;
        divisor += divisor == 0;
        unsigned __int128 n = (unsigned __int128)high << 64 | low;
        uint32_t words[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
                             (uint32_t)(high >> 32)};
        bool rest = ps_words_divide(words, 4, divisor);
        unsigned __int128 quotient = 0;
        for (int i = 3; i >= 0; i--)
            quotient = quotient << 32 | words[i];
        CU_ASSERT(quotient == n / divisor);
        CU_ASSERT_EQUAL(rest, n % divisor != 0);
    }
}

// The processor rounds 64-bit integers and quotients of doubles.
static void test_round(void)
{
    for (int round = 0; round < 20000; round++) {
        uint64_t value = next_random() >> next_random() % 64;
        value += value == 0;
        uint32_t words[12] = {(uint32_t)value, (uint32_t)(value >> 32)};
        CU_ASSERT(same(ps_words_round(words, 2, false, 0, true), -(double)value));
        uint64_t a = next_random() >> (11 + next_random() % 50), b = next_random() >> 11;
        b += b == 0;
        uint32_t quotient[12] = {(uint32_t)a, (uint32_t)(a >> 32)};
        CU_ASSERT(same(ps_words_quotient(quotient, 2, 0, false, b, 1), (double)a / (double)b));
        int scale = -1022 - (int)(next_random() % 60); // into denormals
        uint32_t tiny[12] = {(uint32_t)a, (uint32_t)(a >> 32)};
        CU_ASSERT(same(ps_words_quotient(tiny, 2, scale - 20, false, 1, 1),
                       ldexp((double)a, scale - 20)));
    }
}

static void test_half(void)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float value = ps_f16_to_f32((uint16_t)bits);
        uint16_t back = ps_reduce_half(value);
        CU_ASSERT(back == bits || (isnan(value) && (back & 0x7fff) == 0x7e00));
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"sums, means and variances are the exact ones rounded once", test_fractions},
        {"bins hold what fits them exactly", test_bins},
        {"64-bit integers and their overflow", test_integers},
        {"division of long numbers", test_divide},
        {"rounding to double, denormals included", test_round},
        {"binary16 stored exactly", test_half},
        {NULL, NULL},
    };
    return check_main("exact", tests);
}
