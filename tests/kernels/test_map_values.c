// SPDX-License-Identifier: Apache-2.0
// The cpu's map against NumPy at edge values (tests/data/make_map.py), for every instruction set
// this machine has.
#include "map_values.h"

#include "kernels/map/vector.h"

#include <math.h>

static int mismatches; // printed so far

static void report(const struct map_row *row, const char *a, const char *b, const void *got,
                   const void *expected)
{
    char ta[48], tb[48] = "", tg[48], te[48];
    if (++mismatches > 40)
        return;
    if (row->b != NULL)
        mv_text(row->b->dtype, b, tb);
    printf("\n  %s: a = %s %s, b = %s %s: %s, not %s", row->expr, ps_dtype_name(row->a->dtype),
           mv_text(row->a->dtype, a, ta), row->b ? ps_dtype_name(row->b->dtype) : "", tb,
           mv_text(row->dtype, got, tg), mv_text(row->dtype, expected, te));
}

static bool row_matches(const struct map_row *row)
{
    struct map_job job = {0};
    char *a, *b;
    int n = mv_spread(row, &a, &b);
    size_t size = ps_dtype_bytes(row->dtype);
    mj_port(&job, "a", row->a->dtype, true, a, 1, n);
    if (row->b != NULL)
        mj_port(&job, "b", row->b->dtype, true, b, 1, n);
    const struct ps_stage *stage = mj_stage(&job, "y", row->expr);
    bool fine = stage != NULL && stage->output.dtype == row->dtype && mj_run(&job, n);
    if (!fine)
        printf("\n  %s of %s: %s", row->expr, ps_dtype_name(row->a->dtype),
               stage == NULL ? job.problems.list[0].text : ps_dtype_name(stage->output.dtype));
    for (int i = 0; fine && i < n; i++) {
        const char *got = (const char *)job.results[0] + (size_t)i * size;
        const char *expected = row->expected + (size_t)i * size;
        if (mv_same(row->dtype, got, expected, row->ulp) || mv_same_zero(row, got, expected))
            continue;
        report(row, a + (size_t)i * ps_dtype_bytes(row->a->dtype),
               row->b ? b + (size_t)i * ps_dtype_bytes(row->b->dtype) : NULL, got, expected);
        fine = false;
    }
    free(a);
    free(b);
    mj_free(&job);
    return fine;
}

static void numpy_agrees(void)
{
    struct map_values values;
    struct map_row row;
    int rows = 0, wrong = 0;
    CU_ASSERT_FATAL(mv_open(&values));
    for (; mv_next(&values, &row); rows++)
        wrong += !row_matches(&row);
    mv_close(&values);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(rows > 1000);
}

// Random bits of every class, so that vector loops and their tails see all kinds of numbers.
static void scramble(unsigned char *bytes, size_t n, bool truths)
{
    uint64_t state = 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        bytes[i] = truths ? state >> 63 : (unsigned char)(state >> 56);
    }
}

#define N 203

static void compare_function(ps_vector_function *f, ps_vector_function *g, enum ps_dtype out,
                             bool truths, const char *name)
{
    static unsigned char a[N * 8], b[N * 8], c[N * 8], x[N * 8 + 8], y[N * 8 + 8];
    scramble(a, sizeof a, truths);
    scramble(b, sizeof b, truths);
    memmove(b, b + 8, sizeof b - 8); // unlike a
    scramble(c, sizeof c, truths);
    memset(x, 0xee, sizeof x);
    memset(y, 0xee, sizeof y);
    f(x, a, b, c, N);
    g(y, a, b, c, N);
    size_t size = ps_dtype_bytes(out);
    int wrong = memcmp(x + N * size, y + N * size, 8) != 0;
    for (size_t i = 0; i < N; i++)
        wrong += !mv_same(out, x + i * size, y + i * size, 0);
    if (wrong != 0)
        printf("\n  %s: %d of %d differ", name, wrong, N);
    CU_ASSERT_EQUAL(wrong, 0);
}

static enum ps_dtype result_of(int op, enum ps_dtype dtype)
{
    enum ps_op_rule rule = ps_op_infos[op].rule;
    if (op == PS_OP_HALF)
        return PS_F32;
    return rule == PS_RULE_COMPARE || rule == PS_RULE_TEST || rule == PS_RULE_LOGIC ||
                   rule == PS_RULE_NONE || rule == PS_RULE_COUNT
               ? PS_U8
               : dtype;
}

static void compare_tables(const struct ps_vector_table *x, const struct ps_vector_table *y)
{
    char name[64];
    for (int op = 0; op < PS_OP_COUNT; op++)
        for (int d = 0; d < PS_DTYPE_COUNT; d++) {
            CU_ASSERT_EQUAL(x->ops[op][d] == NULL, y->ops[op][d] == NULL);
            snprintf(name, sizeof name, "%s of %s", ps_op_infos[op].name,
                     ps_dtype_name((enum ps_dtype)d));
            if (x->ops[op][d] != NULL)
                compare_function(x->ops[op][d], y->ops[op][d], result_of(op, (enum ps_dtype)d),
                                 d == PS_BOOL || op == PS_OP_SELECT, name);
        }
    for (int from = 0; from < PS_DTYPE_COUNT; from++)
        for (int to = 0; to < PS_DTYPE_COUNT; to++)
            if (x->casts[from][to] != NULL)
                compare_function(x->casts[from][to], y->casts[from][to], (enum ps_dtype)to,
                                 from == PS_BOOL, "cast");
    compare_function(x->half_load, y->half_load, PS_F32, false, "half_load");
    compare_function(x->half_store, y->half_store, PS_F16, false, "half_store");
}

static void instruction_sets_agree(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        compare_tables(&ps_vector_baseline, &ps_vector_v3);
    if (ps_vector_table() == &ps_vector_v4)
        compare_tables(&ps_vector_baseline, &ps_vector_v4);
#endif
    compare_tables(&ps_vector_baseline, ps_vector_table());
}

int main(void)
{
    static const struct check_test tests[] = {
        {"numpy agrees", numpy_agrees},
        {"instruction sets agree", instruction_sets_agree},
        {NULL, NULL},
    };
    return check_main("map values", tests);
}
