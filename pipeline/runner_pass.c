// SPDX-License-Identifier: Apache-2.0
// One thread per slot takes blocks in order, reads, runs, and waits until the writer thread has
// written its block. The number of slots bounds everything in flight.
#include "pipeline/runner_pass.h"

#include "base/clock.h"
#include "pipeline/readers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum slot_state { SLOT_WORKING, SLOT_READY, SLOT_WRITTEN };

struct stream {
    struct ps_run *run;
    const struct ps_pass *pass;
    int pass_number;
    struct ps_output **outputs;
    struct ps_readers *readers; // threads that share large reads; NULL: the slot reads alone
    bool in_order;              // some input must be read block after block

    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t next_block; // to be taken by a slot
    int64_t next_read;  // whose turn it is to read, when in_order
    int64_t end_block;  // blocks there are; INT64_MAX until it is known
    int64_t rows;       // rows there are; PS_ROWS_UNKNOWN until it is known
    int64_t written;    // blocks written
    bool failed;
    int64_t failed_block; // the earliest; its error is kept
    struct ps_error error;
    struct slot *slots;
};

struct slot {
    struct stream *stream;
    int number;
    pthread_t thread;
    enum slot_state state;
    struct ps_block_range range;
};

static void fail_stream(struct stream *stream, int64_t block, const struct ps_error *error)
{
    pthread_mutex_lock(&stream->lock);
    if (!stream->failed || block < stream->failed_block) {
        stream->failed = true;
        stream->failed_block = block;
        stream->error = *error;
    }
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

static bool stopping(struct stream *stream)
{
    const volatile int *stop = stream->run->stop;
    if (stop == NULL || !__atomic_load_n(stop, __ATOMIC_RELAXED))
        return false;
    struct ps_error error = {0};
    ps_fail(&error, PS_INTERRUPTED, "interrupted; no output was written");
    fail_stream(stream, -1, &error);
    return true;
}

// ---- Reading ----

static bool read_input(struct stream *stream, int port, struct ps_block_range *range,
                       int64_t *rows_out, struct ps_error *error)
{
    struct ps_run *run = stream->run;
    struct ps_reader *reader = &run->plan->readers[port];
    void *data = ps_executor_host(&run->executors[0], range->slot, port);
    struct ps_read_result result = {0};
    double start = ps_clock_ms();
    bool fine = stream->readers != NULL && (reader->format->flags & PS_READ_ANYWHERE)
                    ? ps_readers_read(stream->readers, reader, range->first_row, range->rows, data,
                                      &result, error)
                    : ps_reader_read(reader, range->first_row, range->rows, data, &result, error);
    double spent = ps_clock_ms() - start;
    if (!fine) {
        ps_error_place(error, "input '%s'", reader->name);
        return false;
    }
    *rows_out = result.rows;
    struct ps_timing_entry entry = {
        .pass = range->pass + 1, .block = range->block, .slot = range->slot,
        .kind = PS_STEP_READ, .name = reader->name, .first_row = range->first_row,
        .rows = result.rows, .bytes = result.bytes, .start_ms = start,
        .duration_ms = spent - result.decode_ms, .backend = "io",
    };
    ps_timing_add(run->timing, &entry);
    if (result.decode_ms > 0) {
        entry.kind = PS_STEP_DECODE;
        entry.start_ms = start + spent - result.decode_ms;
        entry.duration_ms = result.decode_ms;
        entry.bytes = (uint64_t)result.rows * ps_array_row_bytes(&reader->array);
        ps_timing_add(run->timing, &entry);
    }
    return true;
}

// After the last known row, a stream of unknown length must be at its end as well.
static bool check_end(struct stream *stream, int port, int64_t rows, struct ps_error *error)
{
    struct ps_reader *reader = &stream->run->plan->readers[port];
    struct ps_read_result result = {0};
    void *row = malloc(ps_array_row_bytes(&reader->array) + 1);
    if (row == NULL)
        return ps_fail_memory(error, ps_array_row_bytes(&reader->array), "a row");
    bool fine = ps_reader_read(reader, rows, 1, row, &result, error);
    free(row);
    if (fine && result.rows > 0)
        return ps_fail(error, PS_INPUT,
                       "streamed inputs are read row by row together, but '%s' goes on after row "
                       "%lld, where the others end", reader->name, (long long)rows);
    return fine;
}

static bool is_unknown(const struct stream *stream, int port)
{
    return stream->run->plan->readers[port].array.dims[0] == PS_ROWS_UNKNOWN;
}

// Reads all inputs of a block; range->rows becomes what there was.
static bool read_block(struct stream *stream, struct ps_block_range *range,
                       struct ps_error *error)
{
    const struct ps_pass *pass = stream->pass;
    int64_t asked = range->rows, rows = -1;
    for (int i = 0; i < pass->input_count; i++) {
        int64_t got = 0;
        if (!read_input(stream, pass->inputs[i], range, &got, error))
            return false;
        if (rows >= 0 && got != rows)
            return ps_fail(error, PS_INPUT,
                           "streamed inputs are read row by row together, but '%s' ends after row "
                           "%lld and '%s' after row %lld or later",
                           stream->run->plan->ports[got < rows ? pass->inputs[i] : pass->inputs[0]].name,
                           (long long)(range->first_row + (got < rows ? got : rows)),
                           stream->run->plan->ports[got < rows ? pass->inputs[0] : pass->inputs[i]].name,
                           (long long)(range->first_row + (got < rows ? rows : got)));
        rows = got;
    }
    range->rows = rows;
    bool known_end = stream->run->plan->rows >= 0 &&
                     range->first_row + rows == stream->run->plan->rows;
    for (int i = 0; known_end && i < pass->input_count; i++)
        if (is_unknown(stream, pass->inputs[i]) &&
            !check_end(stream, pass->inputs[i], range->first_row + rows, error))
            return false;
    if (rows < asked) { // the end of streams of unknown length
        pthread_mutex_lock(&stream->lock);
        stream->end_block = rows > 0 ? range->block + 1 : range->block;
        stream->rows = range->first_row + rows;
        pthread_cond_broadcast(&stream->changed);
        pthread_mutex_unlock(&stream->lock);
    }
    return true;
}

static bool await_turn(struct stream *stream, int64_t block)
{
    pthread_mutex_lock(&stream->lock);
    while (!stream->failed && stream->next_read != block && block < stream->end_block)
        pthread_cond_wait(&stream->changed, &stream->lock);
    bool mine = !stream->failed && block < stream->end_block;
    pthread_mutex_unlock(&stream->lock);
    return mine;
}

static void pass_turn(struct stream *stream, int64_t block)
{
    pthread_mutex_lock(&stream->lock);
    stream->next_read = block + 1;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

// ---- A slot ----

static bool take_block(struct stream *stream, struct slot *slot)
{
    const struct ps_plan *plan = stream->run->plan;
    pthread_mutex_lock(&stream->lock);
    bool more = !stream->failed && stream->next_block < stream->end_block;
    if (more) {
        int64_t block = stream->next_block++, first = block * plan->block_rows;
        int64_t rows = plan->block_rows;
        if (plan->rows >= 0 && plan->rows - first < rows)
            rows = plan->rows - first;
        slot->range = (struct ps_block_range){stream->pass_number, block, first, rows,
                                              slot->number};
    }
    pthread_mutex_unlock(&stream->lock);
    return more;
}

static void compare_block(struct stream *stream, const struct ps_block_range *range)
{
    struct ps_run *run = stream->run;
    for (int i = 0; i < stream->pass->keep_count; i++) {
        int port = stream->pass->keeps[i];
        int64_t elements = ps_array_row_elements(&run->plan->ports[port].array);
        ps_compare_add(run->compare, port, ps_executor_host(&run->executors[1], range->slot, port),
                       ps_executor_host(&run->executors[0], range->slot, port),
                       (size_t)(range->rows * elements), range->first_row * elements);
    }
}

static bool run_block(struct stream *stream, const struct ps_block_range *range,
                      struct ps_error *error)
{
    struct ps_run *run = stream->run;
    for (int e = 1; e < run->executor_count; e++) {
        for (int i = 0; i < stream->pass->input_count; i++) {
            int port = stream->pass->inputs[i];
            memcpy(ps_executor_host(&run->executors[e], range->slot, port),
                   ps_executor_host(&run->executors[0], range->slot, port),
                   (size_t)range->rows * ps_array_row_bytes(&run->plan->ports[port].array));
        }
    }
    for (int e = 0; e < run->executor_count; e++)
        if (!ps_executor_run(&run->executors[e], range, run->timing, error))
            return false;
    if (run->compare != NULL)
        compare_block(stream, range);
    return true;
}

static bool hand_to_writer(struct stream *stream, struct slot *slot)
{
    pthread_mutex_lock(&stream->lock);
    slot->state = SLOT_READY;
    pthread_cond_broadcast(&stream->changed);
    while (!stream->failed && slot->state != SLOT_WRITTEN)
        pthread_cond_wait(&stream->changed, &stream->lock);
    bool fine = slot->state == SLOT_WRITTEN;
    slot->state = SLOT_WORKING;
    pthread_mutex_unlock(&stream->lock);
    return fine;
}

static bool do_block(struct stream *stream, struct slot *slot, struct ps_error *error)
{
    if (stream->in_order && !await_turn(stream, slot->range.block))
        return true; // the end, or a failure elsewhere
    bool fine = read_block(stream, &slot->range, error);
    if (stream->in_order)
        pass_turn(stream, slot->range.block);
    if (!fine || slot->range.rows == 0)
        return fine;
    return run_block(stream, &slot->range, error) && (hand_to_writer(stream, slot), true);
}

static void *slot_main(void *argument)
{
    struct slot *slot = argument;
    struct stream *stream = slot->stream;
    struct ps_error error = {0};
    while (!stopping(stream) && take_block(stream, slot)) {
        if (!do_block(stream, slot, &error)) {
            fail_stream(stream, slot->range.block, &error);
            break;
        }
    }
    return NULL;
}

// ---- The writer ----

static struct slot *ready_slot(struct stream *stream, int64_t block)
{
    for (int i = 0; i < stream->run->plan->slots; i++)
        if (stream->slots[i].state == SLOT_READY && stream->slots[i].range.block == block)
            return &stream->slots[i];
    return NULL;
}

static struct slot *await_block(struct stream *stream, int64_t block)
{
    struct slot *slot = NULL;
    pthread_mutex_lock(&stream->lock);
    while (!stream->failed && block < stream->end_block &&
           (slot = ready_slot(stream, block)) == NULL)
        pthread_cond_wait(&stream->changed, &stream->lock);
    if (stream->failed)
        slot = NULL;
    pthread_mutex_unlock(&stream->lock);
    return slot;
}

static bool write_block(struct stream *stream, const struct ps_block_range *range,
                        struct ps_error *error)
{
    struct ps_run *run = stream->run;
    for (int i = 0; i < stream->pass->write_count; i++) {
        int index = stream->pass->writes[i];
        const struct ps_plan_output *output = &run->plan->outputs[index];
        const struct ps_array *array = &run->plan->ports[output->port].array;
        struct ps_block block = {array, range->first_row, range->rows,
                                 ps_executor_host(&run->executors[0], range->slot, output->port)};
        double start = ps_clock_ms();
        if (!ps_output_write(stream->outputs[index], &block, error)) {
            ps_error_place(error, "output '%s'", output->config->name);
            return false;
        }
        struct ps_timing_entry entry = {
            .pass = range->pass + 1, .block = range->block, .slot = range->slot,
            .kind = PS_STEP_WRITE, .name = output->config->name, .first_row = range->first_row,
            .rows = range->rows, .bytes = ps_array_row_bytes(array) * (uint64_t)range->rows,
            .start_ms = start, .duration_ms = ps_clock_ms() - start, .backend = "io",
        };
        ps_timing_add(run->timing, &entry);
    }
    return true;
}

static void *writer_main(void *argument)
{
    struct stream *stream = argument;
    struct ps_error error = {0};
    struct slot *slot;
    for (int64_t block = 0; (slot = await_block(stream, block)) != NULL; block++) {
        if (!write_block(stream, &slot->range, &error)) {
            fail_stream(stream, block, &error);
            break;
        }
        pthread_mutex_lock(&stream->lock);
        slot->state = SLOT_WRITTEN;
        stream->written = block + 1;
        pthread_cond_broadcast(&stream->changed);
        pthread_mutex_unlock(&stream->lock);
    }
    return NULL;
}

// ---- The pass ----

static bool start_threads(struct stream *stream, pthread_t *writer, int *started,
                          struct ps_error *error)
{
    int failure = pthread_create(writer, NULL, writer_main, stream);
    if (failure != 0)
        return ps_fail(error, PS_DEVICE, "cannot start the writer thread: %s", strerror(failure));
    for (*started = 0; *started < stream->run->plan->slots; ++*started) {
        struct slot *slot = &stream->slots[*started];
        failure = pthread_create(&slot->thread, NULL, slot_main, slot);
        if (failure != 0) {
            ps_fail(error, PS_DEVICE, "cannot start slot thread %d: %s", *started,
                    strerror(failure));
            fail_stream(stream, -2, error);
            break;
        }
    }
    for (int i = 0; i < *started; i++)
        pthread_join(stream->slots[i].thread, NULL);
    // Slots that ended in silence because the stream is over leave the writer waiting for a
    // block that never comes only if it failed; then it is told.
    pthread_join(*writer, NULL);
    return error->status == PS_OK;
}

static void init_stream(struct stream *stream)
{
    struct ps_plan *plan = stream->run->plan;
    stream->rows = plan->rows;
    stream->end_block = INT64_MAX;
    if (plan->rows >= 0)
        stream->end_block = (plan->rows + plan->block_rows - 1) / plan->block_rows;
    for (int i = 0; i < stream->pass->input_count; i++)
        if (plan->readers[stream->pass->inputs[i]].format->flags & PS_READ_IN_ORDER)
            stream->in_order = true;
    for (int i = 0; i < plan->slots; i++)
        stream->slots[i] = (struct slot){.stream = stream, .number = i};
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
}

// No block will be read, so streams of unknown length are checked here.
static bool check_empty(struct stream *stream, struct ps_error *error)
{
    for (int i = 0; stream->end_block == 0 && i < stream->pass->input_count; i++)
        if (is_unknown(stream, stream->pass->inputs[i]) &&
            !check_end(stream, stream->pass->inputs[i], 0, error))
            return false;
    return true;
}

bool ps_run_blocks(struct ps_run *run, int pass, struct ps_output **outputs,
                   struct ps_error *error)
{
    struct stream stream = {.run = run, .pass = &run->plan->passes[pass], .pass_number = pass,
                            .outputs = outputs};
    pthread_t writer;
    int started = 0;
    stream.slots = calloc((size_t)run->plan->slots, sizeof *stream.slots);
    if (stream.slots == NULL)
        return ps_fail_memory(error, (size_t)run->plan->slots * sizeof *stream.slots, "slots");
    init_stream(&stream);
    bool fine = check_empty(&stream, error);
    if (fine && !run->executors[0].backend->unified && run->plan->threads > 1) {
        stream.readers = ps_readers_open(run->plan->threads, error);
        fine = stream.readers != NULL;
    }
    fine = fine && start_threads(&stream, &writer, &started, error);
    ps_readers_close(stream.readers);
    if (fine && stream.failed) {
        *error = stream.error;
        fine = false;
    }
    run->rows = stream.rows;
    run->blocks += stream.written;
    pthread_cond_destroy(&stream.changed);
    pthread_mutex_destroy(&stream.lock);
    free(stream.slots);
    return fine;
}
