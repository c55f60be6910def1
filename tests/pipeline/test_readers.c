// SPDX-License-Identifier: Apache-2.0
// Large reads split over reader threads: every row once, from several callers at a time, and
// faults of any piece told to the caller it belongs to.
#include "check.h"
#include "pipeline/readers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define ROWS 2000000 // of 16 bytes: 32 MB, eight pieces of 4 MiB

static atomic_int calls;
static int64_t fail_row = -1;

static bool fake_open(struct ps_reader *reader, struct ps_error *error)
{
    (void)error;
    ps_array_init(&reader->array, PS_I64, 2, (int64_t[]){ROWS, 2});
    reader->state = &calls;
    return true;
}

static bool fake_read(struct ps_reader *reader, int64_t first, int64_t rows, void *data,
                      struct ps_read_result *result, struct ps_error *error)
{
    (void)reader;
    calls++;
    for (int64_t i = 0; i < 2 * rows; i++)
        ((int64_t *)data)[i] = 2 * first + i;
    *result = (struct ps_read_result){rows, (uint64_t)rows * 16, 1};
    if (fail_row >= first && fail_row < first + rows)
        return ps_fail(error, PS_INPUT, "row %lld is broken", (long long)fail_row);
    return true;
}

static void fake_close(struct ps_reader *reader)
{
    (void)reader;
}

static const struct ps_format fake = {.name = "fake",
                                      .flags = PS_READ_ANYWHERE | PS_NO_PATH,
                                      .open = fake_open,
                                      .read = fake_read,
                                      .close = fake_close};

struct call {
    struct ps_readers *readers;
    struct ps_reader *reader;
    int64_t first, rows;
    struct ps_read_result result;
    struct ps_error error;
    bool fine;
    int64_t bad;
};

static void *read_range(void *argument)
{
    struct call *call = argument;
    int64_t *data = calloc((size_t)call->rows * 2 + 1, sizeof *data);
    data[2 * call->rows] = -7;
    call->fine = ps_readers_read(call->readers, call->reader, call->first, call->rows, data,
                                 &call->result, &call->error);
    for (int64_t i = 0; i < 2 * call->rows; i++)
        call->bad += data[i] != 2 * call->first + i;
    call->bad += data[2 * call->rows] != -7;
    free(data);
    return NULL;
}

static void run_calls(int thread_count, struct call *list, int count)
{
    struct ps_error error = {0};
    struct ps_reader reader = {.format = &fake, .name = "fake"};
    CU_ASSERT_FATAL(ps_reader_open(&reader, &error));
    struct ps_readers *readers = ps_readers_open(thread_count, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(readers);
    pthread_t threads[8];
    for (int i = 0; i < count; i++) {
        list[i].readers = readers;
        list[i].reader = &reader;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, read_range, &list[i]), 0);
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    ps_readers_close(readers);
    ps_reader_close(&reader);
}

static void test_all_rows(void)
{
    for (int threads = 1; threads <= 4; threads++) {
        struct call list[4] = {{.first = 0, .rows = ROWS},
                               {.first = 1, .rows = ROWS - 1},
                               {.first = 777, .rows = 1},
                               {.first = ROWS, .rows = 0}};
        calls = 0;
        run_calls(threads, list, 4);
        for (int i = 0; i < 4; i++) {
            CU_ASSERT(list[i].fine);
            CU_ASSERT_EQUAL(list[i].bad, 0);
            CU_ASSERT_EQUAL(list[i].result.rows, list[i].rows);
            CU_ASSERT_EQUAL(list[i].result.bytes, (uint64_t)list[i].rows * 16);
        }
        CU_ASSERT_EQUAL(atomic_load(&calls), 8 + 8 + 1 + 1);
        // 8 pieces of 1 ms of decoding, shared by the caller and the threads.
        CU_ASSERT_DOUBLE_EQUAL(list[0].result.decode_ms, 8.0 / (threads + 1), 1e-9);
    }
}

static void test_faults(void)
{
    for (fail_row = 0; fail_row < ROWS; fail_row += 499999) {
        struct call list[2] = {{.first = 0, .rows = ROWS}, {.first = ROWS - 1, .rows = 1}};
        char expected[64];
        run_calls(3, list, 2);
        snprintf(expected, sizeof expected, "row %lld is broken", (long long)fail_row);
        CU_ASSERT(!list[0].fine);
        CU_ASSERT_EQUAL(list[0].error.status, PS_INPUT);
        CU_ASSERT_STRING_EQUAL(list[0].error.text, expected);
        CU_ASSERT_EQUAL(list[1].fine, fail_row != ROWS - 1);
    }
    fail_row = -1;
}

int main(void)
{
    static const struct check_test tests[] = {
        {"all rows, once", test_all_rows}, {"faults", test_faults}, {NULL, NULL}};
    return check_main("readers", tests);
}
