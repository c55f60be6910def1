// SPDX-License-Identifier: Apache-2.0
// The runner against plain loops: every block once and in order, whatever the rows, blocks and
// slots; passes, whole steps, streams of unknown length, failures, interruption.
#include "toy.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static char text[4096];

static const char *yaml(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *yaml(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

static void check_done(struct toy_job *job, bool fine)
{
    CU_ASSERT(fine);
    if (!fine)
        printf("\n    %s\n", toy_job_message(job));
}

static void check_sink(int id, int64_t rows, int64_t blocks)
{
    CU_ASSERT(toy_sinks[id].finished);
    CU_ASSERT_EQUAL(toy_sinks[id].rows, rows);
    CU_ASSERT_EQUAL(toy_sinks[id].next, rows);
    CU_ASSERT_EQUAL(toy_sinks[id].blocks, blocks);
}

// sum = a + b, triple = 3 sum, total of triple, and a itself; a counts from 1, b from 5.
static void check_grid_results(int64_t rows, int64_t block)
{
    int64_t blocks = (rows + block - 1) / block, bad = 0, totals[2] = {0};
    for (int id = 0; id < 3; id++)
        check_sink(id, rows, blocks);
    for (int64_t e = 0; e < 2 * rows && e < toy_sinks[0].elements; e++) {
        int64_t sum = 1 + e + 5 + e;
        bad += toy_sinks[0].data[e] != sum;
        bad += toy_sinks[1].data[e] != 3 * sum;
        bad += toy_sinks[2].data[e] != 1 + e;
        totals[e % 2] += 3 * sum;
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(toy_sinks[0].elements, 2 * rows);
    CU_ASSERT_EQUAL(toy_sinks[1].elements, 2 * rows);
    CU_ASSERT_EQUAL(toy_sinks[2].elements, 2 * rows);
    check_sink(3, 2, 1);
    CU_ASSERT_EQUAL(toy_sinks[3].data[0], totals[0]);
    CU_ASSERT_EQUAL(toy_sinks[3].data[1], totals[1]);
}

static void run_grid(const char *a, const char *b, int rows, int block, int slots)
{
    struct toy_job job = {0};
    bool fine = toy_job_run(&job, yaml("version: 1\n"
                                       "inputs:\n"
                                       "  a: {format: %s, rows: %d, width: 2, seed: 1, pause: 20}\n"
                                       "  b: {format: %s, rows: %d, width: 2, seed: 5}\n"
                                       "stages:\n"
                                       "  - {name: sum, op: add, in: a, with: b, pause: 30}\n"
                                       "  - {name: triple, op: scale, by: 3}\n"
                                       "  - {name: total, op: total}\n"
                                       "outputs:\n"
                                       "  sum: {format: 'sink', id: 0}\n"
                                       "  triple: {format: sink, id: 1}\n"
                                       "  copy: {format: sink, id: 2, array: a}\n"
                                       "  total: {format: sink, id: 3}\n"
                                       "run: {backend: cpu, block: %d rows, slots: %d}\n",
                                       a, rows, b, rows, block, slots));
    check_done(&job, fine);
    CU_ASSERT_EQUAL(job.rows, rows);
    CU_ASSERT_EQUAL(job.blocks, (rows + block - 1) / block);
    check_grid_results(rows, block);
    toy_job_free(&job);
    toy_check_clean();
}

static void test_grid(void)
{
    static const int rows[] = {0, 1, 31, 33, 1000}, blocks[] = {1, 7, 2000}, slots[] = {1, 2, 3, 8};
    static const char *const formats[][2] = {{"mem", "mem"},
                                             {"counted", "mem"},
                                             {"serial", "serial"},
                                             {"serial", "mem"},
                                             {"mem", "serial"}};
    for (int f = 0; f < 5; f++)
        for (int r = 0; r < 5; r++)
            for (int b = 0; b < 3; b++)
                for (int s = 0; s < 4; s++)
                    run_grid(formats[f][0], formats[f][1], rows[r], blocks[b], slots[s]);
}

// t = total(a); shifted = a + t (second pass, a read again); twice = 2 t (once, on whole arrays);
// last = total(shifted) + twice, which needs a third pass only for its own whole step.
static void run_passes(const char *format, int rows, int slots)
{
    struct toy_job job = {0};
    bool fine = toy_job_run(&job, yaml("version: 1\n"
                                       "inputs:\n"
                                       "  a: {format: %s, rows: %d, width: 3}\n"
                                       "stages:\n"
                                       "  - {name: t, op: total}\n"
                                       "  - {name: twice, op: scale, by: 2}\n"
                                       "  - {name: shifted, op: add, in: a, with: t}\n"
                                       "  - {name: sum, op: total}\n"
                                       "  - {name: last, op: add, in: sum, with: twice}\n"
                                       "outputs:\n"
                                       "  shifted: {format: sink, id: 0}\n"
                                       "  twice: {format: sink, id: 1}\n"
                                       "  last: {format: sink, id: 2}\n"
                                       "run: {backend: cpu, block: 5 rows, slots: %d}\n",
                                       format, rows, slots));
    check_done(&job, fine);
    int64_t totals[3] = {0}, shifted[3] = {0}, bad = 0;
    for (int64_t e = 0; e < 3 * rows; e++)
        totals[e % 3] += e;
    for (int64_t e = 0; e < 3 * rows; e++) {
        bad += toy_sinks[0].data[e] != e + totals[e % 3];
        shifted[e % 3] += e + totals[e % 3];
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(toy_sinks[0].rows, rows);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(toy_sinks[1].data[i], 2 * totals[i]);
        CU_ASSERT_EQUAL(toy_sinks[2].data[i], shifted[i] + 2 * totals[i]);
    }
    toy_job_free(&job);
    toy_check_clean();
}

static void test_passes(void)
{
    static const int rows[] = {0, 1, 5, 23};
    for (int r = 0; r < 4; r++)
        for (int slots = 1; slots <= 4; slots++) {
            run_passes("mem", rows[r], slots);
            run_passes("serial", rows[r], slots);
        }
}

// Nothing is streamed: every step runs once. A whole input without a row count is counted.
// A stage of two phases: its name is the last one's, the first is not for others.
static void test_phases(void)
{
    struct toy_job job = {0};
    bool fine = toy_job_run(&job, yaml("version: 1\n"
                                       "inputs: {a: {format: mem, rows: 10, width: 2, seed: 1}}\n"
                                       "stages:\n"
                                       "  - {name: twice, op: scale, by: 2}\n"
                                       "  - {name: left, op: rest}\n"
                                       "  - {name: last, op: scale, by: 10}\n"
                                       "outputs:\n"
                                       "  last: {format: sink, id: 0}\n"
                                       "run: {backend: cpu, block: 3 rows, slots: 2}\n"));
    check_done(&job, fine);
    CU_ASSERT_EQUAL(job.plan->pass_count, 2);
    check_sink(0, 10, 4);
    for (int64_t e = 0; e < 20; e++) // the columns sum up to 1 + 3 + ... + 19 and 2 + 4 + ... + 20
        CU_ASSERT_EQUAL(toy_sinks[0].data[e], 10 * (2 * (1 + e) - 2 * (e % 2 == 0 ? 100 : 110)));
    toy_job_free(&job);
    static const char *const faulty[][2] = {
        {"{name: left, op: rest}, {name: x, op: scale, in: left~0}", "no array 'left~0'"},
        {"{name: left, op: rest, in: nothing}, {name: x, op: scale}", "no array 'nothing'"},
        {"{name: left, op: rest, by: 0}, {name: x, op: scale}", "by nothing"},
    };
    for (size_t i = 0; i < sizeof faulty / sizeof faulty[0]; i++) {
        CU_ASSERT_FALSE(toy_job_run(&job, yaml("version: 1\n"
                                               "inputs: {a: {format: mem, rows: 10}}\n"
                                               "stages: [%s]\n"
                                               "outputs: {x: {format: sink}}\n",
                                               faulty[i][0])));
        CU_ASSERT_EQUAL(job.problems.error_count, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(toy_job_message(&job), faulty[i][1]));
        CU_ASSERT_PTR_NULL(strstr(toy_job_message(&job), "left~0, "));
        toy_job_free(&job);
    }
    toy_check_clean();
}

static void test_whole_only(void)
{
    struct toy_job job = {0};
    bool fine =
        toy_job_run(&job, "version: 1\n"
                          "inputs:\n"
                          "  w: {format: serial, rows: 100001, width: 2, seed: 1, load: whole}\n"
                          "stages:\n"
                          "  - {name: twice, op: scale, by: 2}\n"
                          "  - {name: sum, op: total}\n"
                          "outputs:\n"
                          "  twice: {format: sink, id: 0}\n"
                          "  sum: {format: sink, id: 1}\n"
                          "  copy: {format: sink, id: 2, array: w}\n"
                          "run: {backend: cpu}\n");
    check_done(&job, fine);
    int64_t bad = 0, sums[2] = {0};
    check_sink(0, 100001, 1);
    check_sink(2, 100001, 1);
    for (int64_t e = 0; e < 200002; e++) {
        bad += toy_sinks[0].data[e] != 2 * (1 + e);
        bad += toy_sinks[2].data[e] != 1 + e;
        sums[e % 2] += 2 * (1 + e);
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(toy_sinks[1].data[0], sums[0]);
    CU_ASSERT_EQUAL(toy_sinks[1].data[1], sums[1]);
    CU_ASSERT_EQUAL(job.blocks, 0);
    toy_job_free(&job);
    toy_check_clean();
}

static void run_uneven(const char *a, int a_rows, const char *b, int b_rows, const char *message)
{
    for (int slots = 1; slots <= 3; slots++) {
        struct toy_job job = {0};
        bool fine = toy_job_run(&job, yaml("version: 1\n"
                                           "inputs:\n"
                                           "  a: {format: %s, rows: %d}\n"
                                           "  b: {format: %s, rows: %d}\n"
                                           "stages: [{name: sum, op: add, in: a, with: b}]\n"
                                           "outputs: {sum: {format: sink}}\n"
                                           "run: {backend: cpu, block: 4 rows, slots: %d}\n",
                                           a, a_rows, b, b_rows, slots));
        CU_ASSERT(!fine);
        CU_ASSERT_PTR_NOT_NULL(strstr(toy_job_message(&job), message));
        if (strstr(toy_job_message(&job), message) == NULL)
            printf("\n    %s\n", toy_job_message(&job));
        toy_job_free(&job);
        toy_check_clean();
    }
}

static void test_uneven(void)
{
    run_uneven("mem", 10, "mem", 12, "'a' has 10 rows and 'b' has 12");
    run_uneven("serial", 10, "serial", 11, "'a' has 10 rows and 'b' has 11;");
    run_uneven("serial", 100, "serial", 10, "'b' has 10 rows and 'a' has 12 or more");
    run_uneven("serial", 8, "serial", 9, "'a' has 8 rows and 'b' has 9");
    run_uneven("mem", 10, "serial", 9, "'b' has 9 rows and 'a' has 10;");
    run_uneven("mem", 10, "serial", 8, "'b' has 8 rows and 'a' has 10;");
    run_uneven("serial", 11, "mem", 10, "'a' goes on after row 10, where 'b' ends");
    run_uneven("serial", 13, "mem", 12, "'a' goes on after row 12, where 'b' ends");
    run_uneven("mem", 0, "serial", 1, "'b' goes on after row 0, where 'a' ends");
    run_uneven("mem", 3, "serial", 0, "'b' has 0 rows and 'a' has 3;");
}

// The first pass reads only a, the second only b.
static void test_uneven_passes(void)
{
    struct toy_job job = {0};
    for (int b = 9; b <= 11; b++) {
        bool fine = toy_job_run(&job, yaml("version: 1\n"
                                           "inputs:\n"
                                           "  a: {format: serial, rows: 10}\n"
                                           "  b: {format: serial, rows: %d}\n"
                                           "stages:\n"
                                           "  - {name: t, op: total, in: a}\n"
                                           "  - {name: sum, op: add, in: b, with: t}\n"
                                           "outputs: {sum: {format: sink}}\n"
                                           "run: {backend: cpu, block: 4 rows}\n",
                                           b));
        CU_ASSERT_EQUAL(fine, b == 10);
        const char *message = b < 10 ? "'b' has 9 rows and 'a' has 10" : "'b' goes on after row 10";
        if (b != 10)
            CU_ASSERT_PTR_NOT_NULL(strstr(job.error.text, message));
        toy_job_free(&job);
        toy_check_clean();
    }
}

// ---- Failures ----

static char folder[32];

static int files_in(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (directory != NULL)
        closedir(directory);
    return count;
}

static void make_folder(void)
{
    strcpy(folder, "/tmp/ps_runner_XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void run_failing(const char *format, const char *read, const char *stage, const char *write,
                        int slots, enum ps_status status, const char *message)
{
    struct toy_job job = {0};
    strcpy(job.folder, folder);
    bool fine = toy_job_run(&job, yaml("version: 1\n"
                                       "inputs: {a: {format: %s, rows: 100, pause: 10%s}}\n"
                                       "stages:\n"
                                       "  - {name: one, op: scale, by: 2%s}\n"
                                       "  - {name: two, op: add, with: a}\n"
                                       "  - {name: t, op: total}\n"
                                       "outputs:\n"
                                       "  one: {path: new/one.sink, id: 0}\n"
                                       "  two: {path: two.sink, id: 1%s}\n"
                                       "  t: {path: t.sink, id: 2}\n"
                                       "run: {backend: cpu, block: 3 rows, slots: %d}\n",
                                       format, read, stage, write, slots));
    CU_ASSERT(!fine);
    CU_ASSERT_EQUAL(job.error.status, status);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.error.text, message));
    if (strstr(job.error.text, message) == NULL)
        printf("\n    %s\n", toy_job_message(&job));
    CU_ASSERT_EQUAL(files_in(folder), 0);
    toy_job_free(&job);
    toy_check_clean();
}

static void test_failures(void)
{
    static const int slots[] = {1, 2, 3, 8};
    static const char *const formats[] = {"mem", "serial", "counted"};
    make_folder();
    for (int f = 0; f < 3; f++)
        for (int s = 0; s < 4; s++) {
            run_failing(formats[f], ", fail_at: 50", "", "", slots[s], PS_INPUT,
                        "input 'a': row 50 is broken");
            run_failing(formats[f], ", fail_at: 0", "", "", slots[s], PS_INPUT,
                        "input 'a': row 0 is broken");
            run_failing(formats[f], ", fail_at: 99", "", "", slots[s], PS_INPUT,
                        "input 'a': row 99 is broken");
            run_failing(formats[f], "", ", fail_at: 40", "", slots[s], PS_DEVICE,
                        "stage one (scale), rows 39-41: broken stage");
            run_failing(formats[f], "", "", ", fail_at: 60", slots[s], PS_OUTPUT,
                        "output 'two': cannot write row 60");
            run_failing(formats[f], "", "", ", fail_finish: true", slots[s], PS_OUTPUT,
                        "output 'two': cannot finish");
            run_failing(formats[f], "", ", stop_at: 33", "", slots[s], PS_INTERRUPTED,
                        "interrupted");
            run_failing(formats[f], "", ", stop_at: 99", "", slots[s], PS_INTERRUPTED,
                        "interrupted");
        }
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

// Blocks are taken in order, so an earlier block's fault is always met and always wins.
static void test_first_failure_wins(void)
{
    for (int i = 0; i < 100; i++) {
        struct toy_job job = {0};
        bool fine = toy_job_run(&job, "version: 1\n"
                                      "inputs: {a: {format: mem, rows: 100}}\n"
                                      "stages:\n"
                                      "  - {name: one, op: scale, fail_at: 21}\n"
                                      "  - {name: two, op: add, with: a, fail_at: 20, pause: 50}\n"
                                      "outputs: {two: {format: sink}}\n"
                                      "run: {backend: cpu, block: 1 rows, slots: 8}\n");
        CU_ASSERT(!fine);
        CU_ASSERT_PTR_NOT_NULL(strstr(job.error.text, "stage two (add), rows 20-20"));
        toy_job_free(&job);
        toy_check_clean();
    }
}

static void write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(content, file);
    fclose(file);
}

// An existing output stays as it was until the job that overwrites it has succeeded.
static void test_overwrite(void)
{
    char path[64], content[64];
    make_folder();
    snprintf(path, sizeof path, "%s/x.sink", folder);
    for (int fail = 1; fail >= 0; fail--) {
        write_file(path, "precious");
        struct toy_job job = {0};
        strcpy(job.folder, folder);
        bool fine =
            toy_job_run(&job, yaml("version: 1\n"
                                   "inputs: {a: {format: mem, rows: 10}}\n"
                                   "outputs: {a: {path: x.sink, overwrite: true, fail_at: %d}}\n"
                                   "run: {backend: cpu, block: 2 rows}\n",
                                   fail ? 9 : -1));
        CU_ASSERT_EQUAL(fine, !fail);
        FILE *file = fopen(path, "r");
        content[0] = '\0';
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        CU_ASSERT_EQUAL(fgets(content, sizeof content, file) != NULL, (bool)fail);
        CU_ASSERT_STRING_EQUAL(content, fail ? "precious" : "");
        fclose(file);
        toy_job_free(&job);
        toy_check_clean();
    }
    snprintf(content, sizeof content, "%s/x.sink.job.yaml", folder);
    CU_ASSERT_EQUAL(unlink(content), 0);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

// run.threads bounds who works, whatever the slots.
static void test_threads(void)
{
    static const char *const formats[] = {"mem", "serial"};
    for (int f = 0; f < 2; f++)
        for (int threads = 1; threads <= 3; threads++) {
            struct toy_job job = {0};
            toy_most = 0;
            bool fine = toy_job_run(
                &job, yaml("version: 1\n"
                           "inputs: {a: {format: %s, rows: 60}}\n"
                           "stages: [{name: slow, op: scale, pause: 2000}]\n"
                           "outputs: {slow: {format: sink}}\n"
                           "run: {backend: cpu, block: 2 rows, slots: 8, threads: %d}\n",
                           formats[f], threads));
            check_done(&job, fine);
            check_sink(0, 60, 30);
            CU_ASSERT_EQUAL(atomic_load(&toy_most), threads);
            toy_job_free(&job);
            toy_check_clean();
        }
}

static void test_summary(void)
{
    struct toy_job job = {0};
    bool fine = toy_job_run(&job, "version: 1\n"
                                  "inputs: {a: {format: mem, rows: 1000, width: 4}}\n"
                                  "stages: [{name: slow, op: scale, pause: 2000}]\n"
                                  "outputs: {slow: {format: sink}}\n"
                                  "run: {backend: cpu, block: 100 rows, slots: 1}\n");
    check_done(&job, fine);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job.timing.data);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.timing.data, "bound by: stage (cpu)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(job.timing.data, "most of it slow\n"));
    toy_job_free(&job);
    toy_check_clean();
}

int main(void)
{
    static const struct check_test tests[] = {
        {"rows x blocks x slots x formats", test_grid},
        {"passes", test_passes},
        {"stages of several phases", test_phases},
        {"whole arrays only", test_whole_only},
        {"inputs of different length", test_uneven},
        {"inputs of different length in different passes", test_uneven_passes},
        {"failures leave nothing", test_failures},
        {"the first failure wins", test_first_failure_wins},
        {"overwriting", test_overwrite},
        {"threads", test_threads},
        {"what bounds", test_summary},
        {NULL, NULL},
    };
    int result = check_main("runner", tests);
    for (int i = 0; i < TOY_SINKS; i++)
        free(toy_sinks[i].data);
    return result;
}
