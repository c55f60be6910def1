// SPDX-License-Identifier: Apache-2.0
// Maps that read whole arrays by number, know where they are, or find faults in their data: the
// same jobs for the cpu, the generated code and a GPU.
#ifndef PS_TESTS_MAP_TABLES_H
#define PS_TESTS_MAP_TABLES_H

#include "map_values.h"

#include <math.h>

#define MT_ROWS 86 // in two launches; rows of 3

struct mt_case {
    const char *expr;
    bool checked;
    int64_t fault; // the row of the first fault (the other launch has none), or -1
};

// k is 0 ... 19 but for 40 in row 50; n is -4 ... 4 but for 127 in row 60 and after.
static const struct mt_case mt_cases[] = {
    {"row * 10 + col + 0 * x", false, -1},
    {"index(1) + index(0) * x", false, -1},
    {"lookup(gain, k) + x", false, -1},
    {"lookup(half, k)", false, -1},
    {"lookup(pair[1], k, 2.5)", false, -1},
    {"lookup(code, k)", false, 50},
    {"lookup(code, k, -7) * 2", false, -1},
    {"lookup(small, k) + i8(1)", false, 50},
    {"interp(x, gain, gain)", false, -1},
    {"interp(x, places, half) + interp(x, places, pair[0])", false, -1},
    {"interp(x, wide, code)", false, -1},
    {"interp(x, falls, gain)", false, 0},
    {"n + n", true, 60},
    {"n * 3 - n", true, 60},
    {"-n", true, -1},
    {"n << 4", true, 60},
    {"n // (k - 40)", true, 50},
    {"k % (k - 40)", true, 50},
    {"i8(k * 30)", true, -2},
    {"u8(x)", true, -2},
    {"i16(x * 10000)", true, -2},
    {"n ** 3", true, 60},
    {"u64(n)", true, -2},
    {"abs(n) + 1", true, 60},
};
#define MT_CASES ((int)(sizeof mt_cases / sizeof mt_cases[0]))

static double mt_x[MT_ROWS * 3], mt_gain[20], mt_places[20], mt_falls[20];
static int32_t mt_k[MT_ROWS * 3];
static int8_t mt_n[MT_ROWS * 3];
static uint16_t mt_half[20], mt_small[20];
static int64_t mt_code[20];
static uint64_t mt_wide[20];
static float mt_pair[40];

static inline void mt_fill(void)
{
    for (int i = 0; i < MT_ROWS * 3; i++) {
        mt_x[i] = (i * 37 % 101 - 50) * 0.173;
        mt_k[i] = i * 7 % 20;
        mt_n[i] = (int8_t)(i / 3 >= 60 ? 127 : i % 9 - 4);
    }
    mt_x[7] = (double)NAN;
    mt_x[8] = (double)INFINITY;
    mt_x[200] = -(double)INFINITY;
    mt_k[50 * 3 + 1] = 40;
    for (int i = 0; i < 20; i++) {
        mt_gain[i] = i * 0.7 - 6;
        mt_places[i] = (i / 2) * 1.5 - 6; // each twice: steps
        mt_falls[i] = i == 13 ? 2 : i;
        mt_half[i] = ps_f32_to_f16((float)i / 3);
        mt_small[i] = (uint16_t)(i * 3000);
        mt_code[i] = (int64_t)i * i * 1000000007 - 5;
        mt_wide[i] = (uint64_t)i;
        mt_pair[2 * i] = (float)i * 0.37f;
        mt_pair[2 * i + 1] = (float)i * -1.1f;
    }
}

static inline void mt_make(struct map_job *job, int number)
{
    *job = (struct map_job){.checked = mt_cases[number].checked};
    mt_fill();
    mj_port(job, "x", PS_F64, true, mt_x, 2, MT_ROWS, 3);
    mj_port(job, "k", PS_I32, true, mt_k, 2, MT_ROWS, 3);
    mj_port(job, "n", PS_I8, true, mt_n, 2, MT_ROWS, 3);
    mj_port(job, "gain", PS_F64, false, mt_gain, 1, 20);
    mj_port(job, "places", PS_F64, false, mt_places, 1, 20);
    mj_port(job, "falls", PS_F64, false, mt_falls, 1, 20);
    mj_port(job, "half", PS_F16, false, mt_half, 1, 20);
    mj_port(job, "small", PS_U16, false, mt_small, 1, 20);
    mj_port(job, "code", PS_I64, false, mt_code, 1, 20);
    mj_port(job, "wide", PS_U64, false, mt_wide, 1, 20);
    mj_port(job, "pair", PS_F32, false, mt_pair, 2, 20, 2);
    if (mj_stage(job, "y", mt_cases[number].expr) == NULL)
        printf("\n  %s: %s", mt_cases[number].expr, job->problems.list[0].text);
    CU_ASSERT_EQUAL_FATAL(job->stage_count, 1);
    CU_ASSERT_EQUAL_FATAL(job->problems.count, 0);
}

// Both found the same: the same bits, or the same message; and a fault where the case says so.
static inline void mt_compare(const struct map_job *job, bool fine, const struct map_job *reference,
                              bool reference_fine, int number, int64_t first)
{
    const struct mt_case *c = &mt_cases[number];
    bool faulty = c->fault >= first && c->fault < first + MT_ROWS / 2;
    bool same = fine == reference_fine && (c->fault == -2 || fine == !faulty);
    size_t size = ps_dtype_bytes(job->stages[0].output.dtype);
    for (size_t i = 0; same && fine && i < MT_ROWS / 2 * 3; i++)
        same = mv_same(job->stages[0].output.dtype, (const char *)job->results[0] + i * size,
                       (const char *)reference->results[0] + i * size, 0);
    if (!fine && strcmp(job->error.text, reference->error.text) != 0)
        same = false;
    char row[32];
    snprintf(row, sizeof row, "row %lld, ", (long long)c->fault);
    if (!fine && c->fault > 0 && strncmp(job->error.text, row, strlen(row)) != 0)
        same = false;
    if (!same)
        printf("\n  %s, from row %lld: %s, not %s", c->expr, (long long)first,
               fine ? "fine" : job->error.text, reference_fine ? "fine" : reference->error.text);
    CU_ASSERT_TRUE(same);
}

#endif
