// SPDX-License-Identifier: Apache-2.0
// Whole jobs with the real formats and stages through the public face: exact results against plain
// loops, the same bits for every block and slot, refusals, interruption.
#include "check.h"
#include "pipeline/penstock.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/ps_job_XXXXXX";

static void write_config(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_config(const char *format, ...)
{
    char path[64];
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fclose(file);
}

struct outcome {
    enum ps_status status;
    char text[1536];
    struct ps_job_totals totals;
    struct ps_text summary;
};

static void run_job(struct outcome *outcome, const char *const *sets, size_t set_count,
                    const volatile int *stop)
{
    char path[64];
    struct ps_problems problems = {0};
    struct ps_error error = {0};
    memset(outcome, 0, sizeof *outcome);
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    struct ps_job *job = ps_job_load(path, sets, set_count, &problems);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    bool fine = problems.error_count == 0 && ps_job_plan(job, &problems, &error) &&
                ps_job_run(job, stop, &error);
    outcome->status = problems.error_count > 0 ? ps_problems_status(&problems) : error.status;
    CU_ASSERT_EQUAL(fine, outcome->status == PS_OK);
    snprintf(outcome->text, sizeof outcome->text, "%s",
             problems.error_count > 0 ? problems.list[0].text : error.text);
    outcome->totals = ps_job_totals(job);
    if (fine)
        ps_job_summary_text(job, &outcome->summary);
    ps_job_free(job);
    ps_problems_free(&problems);
}

static size_t read_output(const char *name, void *out, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    size_t got = fread(out, 1, size, file);
    fclose(file);
    return got;
}

static int remove_outputs(void)
{
    int count = 0;
    char path[320];
    DIR *directory = opendir(folder);
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "job.yaml") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        CU_ASSERT_EQUAL(unlink(path), 0);
        count++;
    }
    closedir(directory);
    return count;
}

// a[r][c] = r * 3 + c; y = 2 a + 1; total and largest of y; centred = y - total: two passes.
static void check_exact(int rows, const char *block, const char *slots)
{
    const char *sets[] = {block, slots, "run.backend=cpu"};
    static double y[3000], centred[3000], sums[8];
    struct outcome outcome;
    write_config("version: 1\n"
                 "inputs: {a: {format: pattern, shape: [%d, 3], dtype: f64}}\n"
                 "stages:\n"
                 "  - {name: y, op: map, expr: 2 * a + 1}\n"
                 "  - {name: total, op: reduce, axis: rows, of: sum}\n"
                 "  - {name: centred, op: map, expr: y - total}\n"
                 "outputs:\n"
                 "  y: {path: y.bin, format: raw}\n"
                 "  total: {path: total.bin, format: raw}\n"
                 "  centred: {path: centred.bin, format: raw}\n",
                 rows);
    run_job(&outcome, sets, 3, NULL);
    CU_ASSERT_EQUAL(outcome.status, PS_OK);
    if (outcome.status != PS_OK)
        printf("\n    %s\n", outcome.text);
    CU_ASSERT_EQUAL(read_output("y.bin", y, sizeof y), (size_t)rows * 24);
    CU_ASSERT_EQUAL(read_output("centred.bin", centred, sizeof centred), (size_t)rows * 24);
    CU_ASSERT_EQUAL(read_output("total.bin", sums, sizeof sums), 24);
    double expected[3] = {0};
    int bad = 0;
    for (int e = 0; e < 3 * rows; e++)
        expected[e % 3] += 2.0 * e + 1;
    for (int e = 0; e < 3 * rows; e++)
        bad += y[e] != 2.0 * e + 1 || centred[e] != 2.0 * e + 1 - expected[e % 3];
    for (int c = 0; c < 3; c++)
        bad += sums[c] != expected[c];
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(outcome.totals.rows, rows);
    CU_ASSERT_STRING_EQUAL(outcome.totals.backend, "cpu");
    ps_text_free(&outcome.summary);
    remove_outputs();
}

static void test_exact(void)
{
    static const int rows[] = {0, 1, 31, 32, 33, 1000};
    static const char *const blocks[] = {"run.block=1 rows", "run.block=7 rows", "run.block=1MiB"};
    static const char *const slots[] = {"run.slots=1", "run.slots=3", "run.slots=8"};
    for (int r = 0; r < 6; r++)
        for (int b = 0; b < 3; b++)
            for (int s = 0; s < 3; s++)
                check_exact(rows[r], blocks[b], slots[s]);
}

// float32 noise whose sums round: still the same bits for every block and slot.
static void test_same_bits(void)
{
    static const char *const blocks[] = {"run.block=1 rows", "run.block=37 rows", "run.block=8 KiB",
                                         "run.block=auto"};
    static const char *const slots[] = {"run.slots=1", "run.slots=2", "run.slots=5"};
    static const char *const names[] = {"n.digest", "mean.digest", "q.digest", "all.digest"};
    char first[4][128] = {{0}}, text[128];
    write_config("version: 1\n"
                 "inputs:\n"
                 "  x: {format: pattern, kind: normal, shape: [3001, 5], dtype: f32, seed: 7}\n"
                 "  w: {format: pattern, kind: random, shape: [5, 4], dtype: f32, load: whole}\n"
                 "stages:\n"
                 "  - {name: e, op: map, expr: exp(x) * 1000}\n"
                 "  - {name: mean, op: reduce, axis: rows, of: [mean, std]}\n"
                 "  - {name: q, op: matmul, in: e, with: w}\n"
                 "  - {name: m, op: reduce, in: q, axis: rows, of: mean}\n"
                 "  - {name: n, op: map, expr: q / m}\n"
                 "  - {name: all, op: reduce, axis: all, of: sum}\n"
                 "outputs:\n"
                 "  n: {path: n.digest, format: digest}\n"
                 "  mean: {path: mean.digest, format: digest}\n"
                 "  q: {path: q.digest, format: digest}\n"
                 "  all: {path: all.digest, format: digest}\n"
                 "run: {backend: cpu}\n");
    for (int b = 0; b < 4; b++)
        for (int s = 0; s < 3; s++) {
            const char *sets[] = {blocks[b], slots[s]};
            struct outcome outcome;
            run_job(&outcome, sets, 2, NULL);
            CU_ASSERT_EQUAL(outcome.status, PS_OK);
            if (outcome.status != PS_OK)
                printf("\n    %s\n", outcome.text);
            for (int i = 0; i < 4; i++) {
                memset(text, 0, sizeof text);
                CU_ASSERT(read_output(names[i], text, sizeof text - 1) > 20);
                if (b + s == 0)
                    strcpy(first[i], text);
                CU_ASSERT_STRING_EQUAL(first[i], text);
            }
            ps_text_free(&outcome.summary);
            remove_outputs();
        }
}

static void test_refusals(void)
{
    const volatile int stop = 1;
    struct outcome outcome;
    write_config("version: 1\n"
                 "inputs: {a: {format: pattern, shape: [100000, 3], dtype: f32}}\n"
                 "stages: [{name: y, op: map, expr: a * 2}]\n"
                 "outputs: {y: {path: y.npy}}\n"
                 "run: {block: 10 rows, backend: cpu}\n");
    run_job(&outcome, NULL, 0, &stop);
    CU_ASSERT_EQUAL(outcome.status, PS_INTERRUPTED);
    CU_ASSERT_EQUAL(remove_outputs(), 0);
    run_job(&outcome, (const char *[]){"run.memory=1000"}, 1, NULL);
    CU_ASSERT_EQUAL(outcome.status, PS_DEVICE);
    CU_ASSERT_EQUAL(remove_outputs(), 0);
    run_job(&outcome, (const char *[]){"inputs.a.shape=[100000, 30000000000000000]"}, 1, NULL);
    CU_ASSERT(outcome.status == PS_USAGE || outcome.status == PS_INPUT);
    run_job(&outcome, NULL, 0, NULL);
    CU_ASSERT_EQUAL(outcome.status, PS_OK);
    ps_text_free(&outcome.summary);
    run_job(&outcome, NULL, 0, NULL); // y.npy is there now
    CU_ASSERT_EQUAL(outcome.status, PS_OUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.text, "overwrite"));
    CU_ASSERT(remove_outputs() > 0);
}

static void test_cast(void)
{
    struct outcome outcome;
    write_config("version: 1\n"
                 "inputs: {a: {format: pattern, shape: [300], dtype: i32}}\n"
                 "outputs: {a: {path: a.bin, format: raw, dtype: u8, cast: error}}\n");
    run_job(&outcome, NULL, 0, NULL);
    CU_ASSERT_EQUAL(outcome.status, PS_OUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.text, "row 256"));
    CU_ASSERT_EQUAL(remove_outputs(), 0);
    run_job(&outcome, (const char *[]){"outputs.a.cast=saturate"}, 1, NULL);
    CU_ASSERT_EQUAL(outcome.status, PS_OK);
    CU_ASSERT_EQUAL(outcome.totals.bytes_written, 300); // as stored
    ps_text_free(&outcome.summary);
    unsigned char bytes[400];
    CU_ASSERT_EQUAL(read_output("a.bin", bytes, sizeof bytes), 300);
    CU_ASSERT(bytes[255] == 255 && bytes[256] == 255 && bytes[299] == 255 && bytes[254] == 254);
    remove_outputs();
}

static void test_log_and_summary(void)
{
    char text[8192] = {0};
    struct outcome outcome;
    write_config("version: 1\n"
                 "inputs: {a: {format: pattern, shape: [100], dtype: f32}}\n"
                 "stages: [{name: y, op: map, expr: a * 2}, {name: z, op: map, expr: y + 1}]\n"
                 "outputs: {z: {path: z.npy}}\n"
                 "run: {block: 50 rows, slots: 1, log: log.csv, backend: cpu}\n");
    run_job(&outcome, NULL, 0, NULL);
    CU_ASSERT_EQUAL(outcome.status, PS_OK);
    read_output("log.csv", text, sizeof text - 1);
    static const char *const lines[] = {
        "pass,block,slot,step,name,first_row,rows,bytes,start_ms,duration_ms,backend\n",
        "\n1,0,0,read,a,0,50,200,",
        "\n1,1,0,read,a,50,50,200,",
        "\n1,0,0,stage,y+z,0,50,400,",
        "\n1,1,0,stage,y+z,50,50,400,",
        "\n1,0,0,write,z,0,50,200,",
        "\n1,1,0,write,z,50,50,200,"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(text, lines[i]));
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.summary.data, "bound by: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.summary.data, "100 rows in 2 blocks of 50, 1 pass"));
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.summary.data, "backend cpu ("));
    ps_text_free(&outcome.summary);
    remove_outputs();
    // A failed job keeps its log, and nothing else.
    run_job(&outcome, (const char *[]){"outputs.z.dtype=i8"}, 1, NULL);
    CU_ASSERT_EQUAL(outcome.status, PS_OUTPUT);
    CU_ASSERT_EQUAL(remove_outputs(), 1);
}

static void test_once(void)
{
    char path[64];
    struct ps_problems problems = {0};
    struct ps_error error = {0};
    write_config("version: 1\n"
                 "inputs: {a: {format: pattern, shape: [100], dtype: f32}}\n"
                 "outputs: {a: {format: 'null'}}\n");
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    struct ps_job *job = ps_job_load(path, NULL, 0, &problems);
    struct ps_text text = {0};
    CU_ASSERT(ps_job_plan(job, &problems, &error));
    CU_ASSERT(ps_job_plan(job, &problems, &error)); // planning again is fine
    CU_ASSERT(ps_job_plan_text(job, &text, &error));
    CU_ASSERT(ps_job_run(job, NULL, &error));
    CU_ASSERT(!ps_job_run(job, NULL, &error));
    CU_ASSERT_EQUAL(error.status, PS_BUG);
    ps_text_free(&text);
    ps_job_free(job);
    ps_problems_free(&problems);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"exact results", test_exact},
        {"same bits", test_same_bits},
        {"refusals", test_refusals},
        {"cast", test_cast},
        {"log and summary", test_log_and_summary},
        {"once", test_once},
        {NULL, NULL},
    };
    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    int result = check_main("job", tests);
    char path[64];
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    unlink(path);
    rmdir(folder);
    return result;
}
