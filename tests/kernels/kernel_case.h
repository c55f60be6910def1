// SPDX-License-Identifier: Apache-2.0
// Kernel stages for tests: planned without a config, their texts given here.
#ifndef PS_TESTS_KERNEL_CASE_H
#define PS_TESTS_KERNEL_CASE_H

#include "stage_fixture.h"

#include "kernels/kernel/kernel.h"

#define KC_PARAMETERS "(const float *a, float *out, long long rows, long long first_row)"

static inline const struct ps_kernel *kc_kernel(const struct fixture *f)
{
    return f->stages[f->stage_count - 1].detail;
}

// An f32 stream `a` of rows of 3, and a kernel stage "twice" on it.
static inline bool kc_plan(struct fixture *f, const char *const *options, const void *data)
{
    *f = (struct fixture){0};
    fixture_input(f, "a", true, PS_F32, 2, (int64_t[]){PS_ROWS_UNKNOWN, 3}, data);
    return fixture_stage(f, "kernel", "twice", options);
}

static inline bool kc_reports(const struct fixture *f, const char *words)
{
    for (size_t i = 0; i < f->problems.count; i++)
        if (strstr(f->problems.list[i].text, words) != NULL)
            return true;
    for (size_t i = 0; i < f->problems.count; i++)
        printf("\n%s", f->problems.list[i].text);
    return false;
}

#endif
