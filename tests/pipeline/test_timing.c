// SPDX-License-Identifier: Apache-2.0
// The log line by line, totals against sums done here, and what is said to bound a run.
#include "check.h"
#include "pipeline/timing.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct ps_timing_entry entry_of(enum ps_step_kind kind, const char *name,
                                       const char *backend, double start, double duration)
{
    return (struct ps_timing_entry){.pass = 1,
                                    .block = 3,
                                    .slot = 2,
                                    .kind = kind,
                                    .name = name,
                                    .first_row = 30,
                                    .rows = 10,
                                    .bytes = 1000,
                                    .start_ms = start,
                                    .duration_ms = duration,
                                    .backend = backend};
}

static void read_file(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void write_log(const char *path)
{
    struct ps_error error = {0};
    struct ps_timing *timing = ps_timing_open(path, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    double start = ps_clock_ms();
    struct ps_timing_entry read = entry_of(PS_STEP_READ, "a", "io", start, 1.25);
    struct ps_timing_entry stage = entry_of(PS_STEP_STAGE, "p+q", "cuda", start, 0.5);
    stage.block = -1;
    ps_timing_add(timing, &read);
    ps_timing_add(timing, &stage);
    CU_ASSERT(ps_timing_close_log(timing, &error));
    ps_timing_free(timing);
}

static void test_log(void)
{
    char folder[] = "/tmp/ps_timing_XXXXXX", path[64], text[4096];
    double start, duration;
    int used = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/new/er/log.csv", folder);
    for (int again = 0; again < 2; again++) { // the second replaces the first
        write_log(path);
        read_file(path, text, sizeof text);
        CU_ASSERT_EQUAL(sscanf(text,
                               "pass,block,slot,step,name,first_row,rows,bytes,start_ms,"
                               "duration_ms,backend\n1,3,2,read,a,30,10,1000,%lf,%lf,io\n%n",
                               &start, &duration, &used),
                        2);
        CU_ASSERT(start >= 0 && start < 10000);
        CU_ASSERT_EQUAL(duration, 1.25);
        CU_ASSERT_EQUAL(strncmp(text + used, "1,-1,2,stage,p+q,30,10,1000,", 28), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(text + used, ",0.5000,cuda\n"));
    }
    unlink(path);
    snprintf(path, sizeof path, "%s/new/er/log.jsonl", folder);
    write_log(path);
    read_file(path, text, sizeof text);
    CU_ASSERT_EQUAL(sscanf(text,
                           "{\"pass\":1,\"block\":3,\"slot\":2,\"step\":\"read\",\"name\":\"a\","
                           "\"first_row\":30,\"rows\":10,\"bytes\":1000,\"start_ms\":%lf,"
                           "\"duration_ms\":%lf,\"backend\":\"io\"}\n%n",
                           &start, &duration, &used),
                    2);
    CU_ASSERT_EQUAL(text[used], '{');
    unlink(path);
    snprintf(path, sizeof path, "%s/new/er", folder);
    CU_ASSERT_EQUAL(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/new", folder);
    CU_ASSERT_EQUAL(rmdir(path), 0);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void test_log_fails(void)
{
    struct ps_error error = {0};
    CU_ASSERT_PTR_NULL(ps_timing_open("/proc/nowhere/log.csv", &error));
    CU_ASSERT_EQUAL(error.status, PS_OUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/proc/nowhere/log.csv"));
    error = (struct ps_error){0};
    struct ps_timing *timing = ps_timing_open("/dev/full", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    struct ps_timing_entry entry = entry_of(PS_STEP_READ, "a", "io", ps_clock_ms(), 1);
    ps_timing_add(timing, &entry);
    CU_ASSERT(!ps_timing_close_log(timing, &error));
    CU_ASSERT_EQUAL(error.status, PS_OUTPUT);
    ps_timing_free(timing);
}

// The line of `name` in the printed table; its numbers by column.
struct line {
    long long blocks;
    double ms, busy, lanes;
};

static struct line find_line(const struct ps_timing *timing, int slots, const char *name)
{
    struct ps_text text = {0};
    struct line line = {0};
    char bytes[16], unit[16];
    double rate;
    ps_timing_print(timing, slots, &text);
    const char *at = strstr(text.data, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at += strlen(name) + strcspn(at + strlen(name), "0123456789");
    CU_ASSERT_EQUAL(sscanf(at, "%lld %15s %15s %lf %lf %lf%% %lf%%", &line.blocks, bytes, unit,
                           &line.ms, &rate, &line.busy, &line.lanes),
                    7);
    ps_text_free(&text);
    return line;
}

// 1000 intervals from two slots that overlap by half, in shuffled order as threads give them.
static void test_busy_is_the_union(void)
{
    struct ps_error error = {0};
    struct ps_timing *timing = ps_timing_open(NULL, &error);
    double base = ps_clock_ms() + 50;
    for (int i = 0; i < 1000; i++) {
        int k = i ^ 5; // near order
        struct ps_timing_entry entry =
            entry_of(PS_STEP_STAGE, "stage_x", "cpu", base + k * 0.1, 0.05);
        ps_timing_add(timing, &entry);
        entry.start_ms += 0.025;
        ps_timing_add(timing, &entry);
    }
    while (ps_clock_ms() < base + 150)
        usleep(1000);
    CU_ASSERT(ps_timing_close_log(timing, &error));
    double wall = ps_timing_wall_ms(timing);
    struct line line = find_line(timing, 2, "stage_x");
    CU_ASSERT_EQUAL(line.blocks, 2000);
    CU_ASSERT_DOUBLE_EQUAL(line.ms, 2000 * 0.05, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(line.busy, 1000 * 0.075 / wall * 100, 1);
    CU_ASSERT_DOUBLE_EQUAL(line.lanes, 2000 * 0.05 / wall / 2 * 100, 1);
    CU_ASSERT_DOUBLE_EQUAL(ps_timing_stage_ms(timing, "stage_x", "cpu"), 100, 1e-6);
    CU_ASSERT_EQUAL(ps_timing_stage_ms(timing, "stage_x", "cuda"), 0);
    CU_ASSERT_EQUAL(ps_timing_bytes(timing, PS_STEP_STAGE), 2000000);
    CU_ASSERT_EQUAL(ps_timing_bytes(timing, PS_STEP_READ), 0);
    ps_timing_free(timing);
}

static void check_bound(const struct ps_timing_entry *entries, int count, int slots,
                        const char *expected)
{
    struct ps_error error = {0};
    struct ps_timing *timing = ps_timing_open(NULL, &error);
    struct ps_text text = {0};
    double base = ps_clock_ms();
    for (int i = 0; i < count; i++) {
        struct ps_timing_entry entry = entries[i];
        entry.start_ms += base;
        ps_timing_add(timing, &entry);
    }
    while (ps_clock_ms() < base + 20)
        usleep(500);
    CU_ASSERT(ps_timing_close_log(timing, &error));
    ps_timing_print(timing, slots, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, expected));
    if (strstr(text.data, expected) == NULL)
        printf("\n%s", text.data);
    ps_text_free(&text);
    ps_timing_free(timing);
}

static void test_bound(void)
{
    // Two inputs of 6 ms each are 12 ms of reading: more than one stage of 10.
    const struct ps_timing_entry reading[] = {entry_of(PS_STEP_READ, "a", "io", 0, 6),
                                              entry_of(PS_STEP_READ, "b", "io", 6, 7),
                                              entry_of(PS_STEP_STAGE, "s", "cpu", 0, 10)};
    check_bound(reading, 3, 1, "bound by: read (io)");
    check_bound(reading, 3, 1, "most of it b\n");
    // The writer is one lane however many slots there are.
    const struct ps_timing_entry writing[] = {entry_of(PS_STEP_READ, "a", "io", 0, 8),
                                              entry_of(PS_STEP_READ, "a", "io", 1, 7),
                                              entry_of(PS_STEP_WRITE, "out", "io", 0, 10)};
    check_bound(writing, 3, 3, "bound by: write (io)");
    // Text is read in order, so one slot at a time: its lane is full, whatever the slots.
    const struct ps_timing_entry text[] = {entry_of(PS_STEP_DECODE, "t", "io", 0, 8),
                                           entry_of(PS_STEP_DECODE, "t", "io", 8, 7),
                                           entry_of(PS_STEP_WRITE, "out", "io", 0, 10)};
    check_bound(text, 3, 3, "bound by: decode (io)");
    // Kernels of three streams that overlap are busy once; copies fill more.
    const struct ps_timing_entry copying[] = {entry_of(PS_STEP_STAGE, "s", "cuda", 0, 10),
                                              entry_of(PS_STEP_STAGE, "s", "cuda", 1, 9),
                                              entry_of(PS_STEP_STAGE, "t", "cuda", 0, 10),
                                              entry_of(PS_STEP_H2D, "inputs", "cuda", 0, 15)};
    check_bound(copying, 4, 3, "bound by: h2d (cuda)");
}

#define THREADS 4
#define ENTRIES 2000

static void *add_many(void *argument)
{
    struct ps_timing_entry entry = entry_of(PS_STEP_READ, "a", "io", 0, 0.001);
    for (int i = 0; i < ENTRIES; i++) {
        entry.start_ms = ps_clock_ms();
        ps_timing_add(argument, &entry);
    }
    return NULL;
}

static void test_threads(void)
{
    struct ps_error error = {0};
    struct ps_timing *timing = ps_timing_open("/dev/null", &error);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, add_many, timing), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT(ps_timing_close_log(timing, &error));
    CU_ASSERT_EQUAL(ps_timing_bytes(timing, PS_STEP_READ), 1000 * THREADS * ENTRIES);
    ps_timing_free(timing);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"log", test_log},
        {"log that cannot be written", test_log_fails},
        {"busy is the union", test_busy_is_the_union},
        {"what bounds", test_bound},
        {"threads", test_threads},
        {NULL, NULL},
    };
    return check_main("timing", tests);
}
