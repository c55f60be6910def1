// SPDX-License-Identifier: Apache-2.0
// Formats small enough to be right by looking at them. Values
// are i64: element e of input `a` is seed + e. Every promise that the runner makes to formats
// (order, one call at a time) is checked where the format is called.
#ifndef PS_TESTS_TOY_FORMATS_H
#define PS_TESTS_TOY_FORMATS_H

#include "check.h"
#include "kernels/stages.h"
#include "pipeline/runner.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void toy_pause(unsigned microseconds)
{
    struct timespec time = {0, (long)microseconds * 1000};
    nanosleep(&time, NULL);
}

// ---- Inputs: mem (any range at once), serial (in order, rows not known), counted (in order) ----

static const struct ps_option toy_read_options[] = {
    {.key = "rows", .kind = PS_INTEGER, .required = true, .help = "rows"},
    {.key = "width", .kind = PS_INTEGER, .fallback = "1", .help = "elements of a row"},
    {.key = "seed", .kind = PS_INTEGER, .fallback = "0", .help = "the first value"},
    {.key = "fail_at", .kind = PS_INTEGER, .fallback = "-1", .help = "reading this row fails"},
    {.key = "pause",
     .kind = PS_INTEGER,
     .fallback = "0",
     .help = "microseconds of every third read"},
    {.key = "group", .kind = PS_INTEGER, .fallback = "0", .help = "rows that are read together"},
    {.key = "fail_open", .kind = PS_TRUTH, .fallback = "false", .help = "opening fails"},
    {.key = NULL},
};

struct toy_reader {
    int64_t rows, width, seed, fail_at, next;
    unsigned pause;
    atomic_int inside;
};

static atomic_int toy_broken;      // promises not kept
static atomic_llong toy_rows_read; // of all inputs together
static atomic_int toy_open;        // readers and writers that are open
static volatile int toy_stop;      // set by `stop_at` of scale

static int64_t toy_integer(const struct ps_values *values, const char *key)
{
    return ps_values_get(values, key)->integer;
}

static bool toy_reader_open(struct ps_reader *reader, struct ps_error *error)
{
    if (ps_values_get(reader->options, "fail_open")->truth)
        return ps_fail(error, PS_INPUT, "cannot be opened");
    struct toy_reader *toy = calloc(1, sizeof *toy);
    if (toy == NULL)
        return ps_fail_memory(error, sizeof *toy, "a toy");
    toy->rows = toy_integer(reader->options, "rows");
    toy->width = toy_integer(reader->options, "width");
    toy->seed = toy_integer(reader->options, "seed");
    toy->fail_at = toy_integer(reader->options, "fail_at");
    toy->pause = (unsigned)toy_integer(reader->options, "pause");
    bool unknown = strcmp(reader->format->name, "serial") == 0;
    ps_array_init(&reader->array, PS_I64, 2,
                  (int64_t[]){unknown ? PS_ROWS_UNKNOWN : toy->rows, toy->width});
    reader->state = toy;
    reader->way = "made up";
    reader->row_group = toy_integer(reader->options, "group");
    toy_open++;
    return true;
}

static bool toy_read(struct ps_reader *reader, int64_t first, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    struct toy_reader *toy = reader->state;
    bool in_order = reader->format->flags & PS_READ_IN_ORDER;
    if (in_order) {
        toy_broken += atomic_fetch_add(&toy->inside, 1) != 0;
        toy_broken += first != toy->next && first != 0;
    }
    int64_t left = first < toy->rows ? toy->rows - first : 0;
    result->rows = rows < left ? rows : left;
    toy_rows_read += result->rows;
    for (int64_t i = 0; i < result->rows * toy->width; i++)
        ((int64_t *)data)[i] = toy->seed + first * toy->width + i;
    result->bytes = (uint64_t)(result->rows * toy->width) * 8;
    if (toy->pause > 0 && first % 3 == 0)
        toy_pause(toy->pause);
    if (in_order) {
        toy->next = first + result->rows;
        atomic_fetch_sub(&toy->inside, 1);
    }
    if (toy->fail_at >= first && toy->fail_at < first + result->rows)
        return ps_fail(error, PS_INPUT, "row %lld is broken", (long long)toy->fail_at);
    return true;
}

static void toy_reader_close(struct ps_reader *reader)
{
    free(reader->state);
    toy_open--;
}

// ---- The output sink: keeps what it is given ----

#define TOY_SINKS 4
struct toy_sink {
    int64_t next, blocks, rows;
    int64_t *data;
    int64_t elements, capacity;
    bool finished;
    atomic_int inside;
};
static struct toy_sink toy_sinks[TOY_SINKS];

static const struct ps_option toy_write_options[] = {
    {.key = "id", .kind = PS_INTEGER, .fallback = "0", .help = "which sink"},
    {.key = "fail_at", .kind = PS_INTEGER, .fallback = "-1", .help = "writing this row fails"},
    {.key = "fail_finish", .kind = PS_TRUTH, .fallback = "false", .help = "finish fails"},
    {.key = NULL},
};

static struct toy_sink *toy_sink_of(const struct ps_writer *writer)
{
    return &toy_sinks[toy_integer(writer->options, "id")];
}

static bool toy_create(struct ps_writer *writer, struct ps_error *error)
{
    struct toy_sink *sink = toy_sink_of(writer);
    (void)error;
    free(sink->data);
    memset(sink, 0, sizeof *sink);
    sink->rows = -1;
    writer->state = sink;
    toy_open++;
    return true;
}

static bool toy_write(struct ps_writer *writer, int64_t first, int64_t rows, const void *data,
                      struct ps_error *error)
{
    struct toy_sink *sink = writer->state;
    int64_t fail_at = toy_integer(writer->options, "fail_at");
    int64_t count = rows * ps_array_row_elements(writer->array);
    toy_broken += atomic_fetch_add(&sink->inside, 1) != 0;
    toy_broken += first != sink->next;
    toy_broken += sink->finished;
    if (sink->elements + count > sink->capacity) {
        sink->capacity = 2 * (sink->elements + count);
        sink->data = realloc(sink->data, (size_t)sink->capacity * 8);
        if (sink->data == NULL)
            return ps_fail_memory(error, (size_t)sink->capacity * 8, "a sink");
    }
    if (count > 0)
        memcpy(sink->data + sink->elements, data, (size_t)count * 8);
    sink->elements += count;
    sink->next = first + rows;
    sink->blocks++;
    atomic_fetch_sub(&sink->inside, 1);
    if (fail_at >= first && fail_at < first + rows)
        return ps_fail(error, PS_OUTPUT, "cannot write row %lld", (long long)fail_at);
    return true;
}

static bool toy_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct toy_sink *sink = writer->state;
    sink->finished = true;
    sink->rows = rows;
    if (ps_values_get(writer->options, "fail_finish")->truth)
        return ps_fail(error, PS_OUTPUT, "cannot finish");
    return true;
}

static void toy_writer_close(struct ps_writer *writer)
{
    (void)writer;
    toy_open--;
}

static const struct ps_format_writer toy_writer = {
    .create = toy_create, .write = toy_write, .finish = toy_finish, .close = toy_writer_close};

#define TOY_READER(id, flag)                                                                       \
    {                                                                                              \
        .name = id, .help = id, .flags = PS_NO_PATH | (flag), .read_options = toy_read_options,    \
        .open = toy_reader_open, .read = toy_read, .close = toy_reader_close                       \
    }
static const struct ps_format toy_mem = TOY_READER("mem", PS_READ_ANYWHERE);
static const struct ps_format toy_serial = TOY_READER("serial", PS_READ_IN_ORDER);
static const struct ps_format toy_counted = TOY_READER("counted", PS_READ_IN_ORDER);
static const struct ps_format toy_sink_format = {.name = "sink",
                                                 .help = "sink",
                                                 .flags = PS_NO_PATH,
                                                 .write_options = toy_write_options,
                                                 .writer = &toy_writer};
static const struct ps_format toy_file = {.name = "file",
                                          .help = "a sink with an (empty) file",
                                          .suffixes = ".sink",
                                          .write_options = toy_write_options,
                                          .writer = &toy_writer};
const struct ps_format *const ps_formats[] = {&toy_mem,  &toy_serial,      &toy_counted,
                                              &toy_file, &toy_sink_format, NULL};

#endif
