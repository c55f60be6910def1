// SPDX-License-Identifier: Apache-2.0
// The runner on a made-up GPU. Also: comparing two backends.
#include "late.h"

// ---- Stages on it ----

// A kernel that is a little off, for comparing.
static int64_t wrong_by;

static bool wrong_call(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    bool fine = toy_run(program, launch, error);
    if (launch->first_row <= 5 && 5 < launch->first_row + launch->rows)
        ((int64_t *)launch->outputs[0])[2 * (5 - launch->first_row) + 1] += wrong_by;
    return fine;
}

static bool wrong_run(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error)
{
    (void)error;
    return enqueue(program, launch, wrong_call);
}

// ---- Jobs ----

#define JOB                                                                                        \
    "version: 1\n"                                                                                 \
    "inputs:\n"                                                                                    \
    "  a: {format: %s, rows: %d, width: 2, seed: 1, pause: 20}\n"                                  \
    "  b: {format: mem, rows: %d, width: 2, seed: 5}\n"                                            \
    "  w: {format: mem, rows: 2, width: 1, seed: 7, load: whole}\n"                                \
    "stages:\n"                                                                                    \
    "  - {name: sum, op: add, in: a, with: b}\n"                                                   \
    "  - {name: triple, op: scale, by: 3%s}\n"                                                     \
    "  - {name: more, op: scale, by: 1}\n"                                                         \
    "  - {name: total, op: total, in: triple}\n"                                                   \
    "  - {name: twice, op: scale, by: 2}\n"                                                        \
    "  - {name: last, op: add, in: more, with: twice}\n"                                           \
    "  - {name: w2, op: scale, in: w, by: 2}\n"                                                    \
    "outputs:\n"                                                                                   \
    "  triple: {format: sink, id: 0}\n"                                                            \
    "  last: {format: sink, id: 1}\n"                                                              \
    "  total: {format: sink, id: 2}\n"                                                             \
    "  w2: {format: sink, id: 3}\n"                                                                \
    "run: {backend: cuda, block: %d rows, slots: %d, threads: 2, compare: %s}\n"

static void check_results(int rows)
{
    int64_t totals[2] = {0}, bad = 0;
    for (int64_t e = 0; e < 2 * rows; e++)
        totals[e % 2] += 3 * (6 + 2 * e);
    for (int64_t e = 0; e < 2 * rows; e++) {
        bad += toy_sinks[0].data[e] != 3 * (6 + 2 * e);
        bad += toy_sinks[1].data[e] != 3 * (6 + 2 * e) + 2 * totals[e % 2];
    }
    bad += toy_sinks[2].data[0] != totals[0] || toy_sinks[2].data[1] != totals[1];
    bad += toy_sinks[3].data[0] != 14 || toy_sinks[3].data[1] != 16;
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(toy_sinks[0].rows, rows);
    CU_ASSERT_EQUAL(toy_sinks[1].rows, rows);
}

static bool plan_job(struct toy_job *job, const char *format, int rows, int block, int slots,
                     const char *extra, bool compare)
{
    static char text[4096];
    snprintf(text, sizeof text, JOB, format, rows, rows, extra, block, slots,
             compare ? "true" : "false");
    bool fine = toy_job_plan(job, text);
    if (!fine)
        printf("\n    %s\n", toy_job_message(job));
    return fine;
}

static void test_results(void)
{
    static const int rows[] = {0, 1, 33, 200}, blocks[] = {1, 7, 1000}, slots[] = {1, 2, 3, 8};
    static const char *const formats[] = {"mem", "serial"};
    for (int f = 0; f < 2; f++)
        for (int r = 0; r < 4; r++)
            for (int b = 0; b < 3; b++)
                for (int s = 0; s < 4; s++) {
                    struct toy_job job = {0};
                    CU_ASSERT_FATAL(
                        plan_job(&job, formats[f], rows[r], blocks[b], slots[s], "", false));
                    CU_ASSERT_EQUAL(job.plan->backend, PS_CUDA);
                    bool fine = late_execute(&job, NULL, NULL);
                    CU_ASSERT(fine);
                    if (!fine)
                        printf("\n    %s\n", job.error.text);
                    check_results(rows[r]);
                    CU_ASSERT(rows[r] == 0 || strstr(job.timing.data, "h2d ") != NULL);
                    CU_ASSERT(rows[r] == 0 || strstr(job.timing.data, "d2h ") != NULL);
                    toy_job_free(&job);
                    toy_check_clean();
                }
}

// A block large enough that reader threads share its pieces.
static void test_large_blocks(void)
{
    struct toy_job job = {0};
    CU_ASSERT_FATAL(plan_job(&job, "mem", 600000, 500000, 2, "", false));
    bool fine = late_execute(&job, NULL, NULL);
    CU_ASSERT(fine);
    if (!fine)
        printf("\n    %s\n", job.error.text);
    check_results(600000);
    toy_job_free(&job);
    toy_check_clean();
}

// A fault in a kernel shows when the queue is waited for.
static void test_late_fault(void)
{
    for (int slots = 1; slots <= 4; slots++) {
        struct toy_job job = {0};
        CU_ASSERT_FATAL(plan_job(&job, "mem", 100, 3, slots, ", fail_at: 50", false));
        CU_ASSERT(!late_execute(&job, NULL, NULL));
        CU_ASSERT_EQUAL(job.error.status, PS_DEVICE);
        CU_ASSERT_STRING_EQUAL(job.error.text, "pass 1, rows 48-50: broken stage");
        toy_job_free(&job);
        toy_check_clean();
    }
}

// Whichever allocation fails, everything taken before is given back.
static void test_no_memory(void)
{
    bool fine = false;
    for (int limit = 1; !fine && limit < 100; limit++) {
        struct toy_job job = {0};
        CU_ASSERT_FATAL(plan_job(&job, "mem", 10, 3, 3, "", false));
        late_limit = limit;
        fine = late_execute(&job, NULL, NULL);
        CU_ASSERT(fine || strstr(job.error.text, "the made-up GPU") != NULL);
        CU_ASSERT(!fine || limit > 10);
        toy_job_free(&job);
        toy_check_clean();
    }
    CU_ASSERT(fine);
    late_limit = 0;
}

static void test_compare(void)
{
    for (int slots = 1; slots <= 3; slots++) {
        struct toy_job job = {0};
        struct ps_text text = {0};
        bool matched = false;
        CU_ASSERT_FATAL(plan_job(&job, "serial", 50, 7, slots, "", true));
        CU_ASSERT(late_execute(&job, &text, &matched));
        check_results(50);
        CU_ASSERT(matched);
        CU_ASSERT_PTR_NULL(strstr(text.data, "DIFFER"));
        static const char *const names[] = {"sum ",   "triple ", "more ", "total ",
                                            "twice ", "last ",   "w2 "};
        for (int i = 0; i < 7; i++)
            CU_ASSERT_PTR_NOT_NULL(strstr(text.data, names[i]));
        ps_text_free(&text);
        toy_job_free(&job);
        toy_check_clean();
    }
}

// One element of `sum` is wrong on the GPU: it is named, and so is what came of it.
static void test_compare_differs(void)
{
    struct toy_job job = {0};
    struct ps_text text = {0};
    bool matched = true;
    wrong_by = 1000000;
    toy_add.run[PS_CUDA] = wrong_run;
    CU_ASSERT_FATAL(toy_job_plan(
        &job,
        "version: 1\n"
        "inputs: {a: {format: mem, rows: 20, width: 2}, b: {format: mem, rows: 20, width: 2}}\n"
        "stages: [{name: sum, op: add, in: a, with: b}, {name: other, op: scale, in: a}]\n"
        "outputs: {sum: {format: sink}}\n"
        "run: {compare: true, block: 3 rows}\n"));
    CU_ASSERT(late_execute(&job, &text, &matched));
    CU_ASSERT(!matched);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "DIFFER (1 of 40, worst at element 11,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "identical"));
    CU_ASSERT_EQUAL(toy_sinks[0].data[11], 22 + 1000000); // outputs are the GPU's
    toy_add.run[PS_CUDA] = late_run;
    ps_text_free(&text);
    toy_job_free(&job);
    toy_check_clean();
}

int main(void)
{
    static const struct check_test tests[] = {
        {"results", test_results},
        {"large blocks", test_large_blocks},
        {"late fault", test_late_fault},
        {"no memory", test_no_memory},
        {"compare", test_compare},
        {"compare, one element off", test_compare_differs},
        {NULL, NULL},
    };
    late_begin();
    int result = check_main("runner on a made-up GPU", tests);
    for (int i = 0; i < TOY_SINKS; i++)
        free(toy_sinks[i].data);
    return result;
}
