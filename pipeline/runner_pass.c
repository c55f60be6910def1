// SPDX-License-Identifier: Apache-2.0
// One thread per slot takes blocks in order, reads, runs, and waits until the writer thread has
// written its block. The number of slots bounds everything in flight; no more than run.threads of
// them work at a time, the others wait for the device, their turn or the writer.
#include "pipeline/runner_stream.h"

#include "pipeline/plan_parts.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

void ps_stream_wake_all(struct ps_stream *stream)
{
    pthread_cond_signal(&stream->ready);
    pthread_cond_broadcast(&stream->free_hand);
    for (int i = 0; i < stream->run->plan->slots; i++)
        pthread_cond_signal(&stream->slots[i].wake);
}

static void fail_stream(struct ps_stream *stream, int64_t block, const struct ps_error *error)
{
    pthread_mutex_lock(&stream->lock);
    if (!stream->failed || block < stream->failed_block) {
        stream->failed = true;
        stream->failed_block = block;
        stream->error = *error;
    }
    ps_stream_wake_all(stream);
    pthread_mutex_unlock(&stream->lock);
    for (int e = 0; e < stream->run->executor_count; e++)
        ps_executor_stop(&stream->run->executors[e], block);
}

static bool stopping(struct ps_stream *stream)
{
    const volatile int *stop = stream->run->stop;
    if (stop == NULL || !__atomic_load_n(stop, __ATOMIC_RELAXED))
        return false;
    struct ps_error error = {0};
    ps_fail(&error, PS_INTERRUPTED, "interrupted; no output was written");
    fail_stream(stream, -1, &error);
    return true;
}

// ---- A slot ----

static bool take_block(struct ps_stream *stream, struct ps_slot *slot)
{
    const struct ps_plan *plan = stream->run->plan;
    pthread_mutex_lock(&stream->lock);
    bool more = !stream->failed && stream->next_block < stream->end_block;
    if (more) {
        int64_t block = stream->next_block++, first = block * plan->block_rows;
        int64_t rows = plan->block_rows;
        if (plan->rows >= 0 && plan->rows - first < rows)
            rows = plan->rows - first;
        slot->range = (struct ps_block_range){.pass = stream->pass_number,
                                              .block = block,
                                              .first_row = first,
                                              .rows = rows,
                                              .total = stream->rows,
                                              .slot = slot->number};
    }
    pthread_mutex_unlock(&stream->lock);
    return more;
}

static bool compare_block(struct ps_stream *stream, const struct ps_block_range *range,
                          struct ps_error *error)
{
    struct ps_run *run = stream->run;
    for (int i = 0; i < stream->pass->keep_count; i++) {
        int port = stream->pass->keeps[i];
        int64_t elements = ps_array_row_elements(&run->plan->ports[port].array);
        struct ps_row_range rows[2];
        const void *values[2];
        for (int e = 0; e < 2; e++)
            values[e] = ps_executor_result(&run->executors[e], range->slot, port, &rows[e]);
        if (rows[0].end != rows[1].end || rows[0].first != rows[1].first)
            return ps_fail(error, PS_INPUT,
                           "compare: '%s' has rows %lld-%lld on one backend and %lld-%lld on the "
                           "other, as a value is on the other side of a condition",
                           run->plan->ports[port].name, (long long)rows[0].first,
                           (long long)rows[0].end - 1, (long long)rows[1].first,
                           (long long)rows[1].end - 1);
        ps_compare_add(run->compare, port, values[1], values[0],
                       (size_t)((rows[0].end - rows[0].first) * elements),
                       rows[0].first * elements);
    }
    return true;
}

static bool run_block(struct ps_stream *stream, const struct ps_block_range *range,
                      struct ps_error *error)
{
    struct ps_run *run = stream->run;
    for (int e = 1; e < run->executor_count; e++) {
        for (int i = 0; i < stream->pass->input_count; i++) {
            int port = stream->pass->inputs[i];
            struct ps_row_range rows = ps_pass_input_rows(stream->pass, port, range);
            memcpy(ps_executor_host(&run->executors[e], range->slot, port),
                   ps_executor_host(&run->executors[0], range->slot, port),
                   (size_t)(rows.end - rows.first) *
                       ps_array_row_bytes(&run->plan->ports[port].array));
        }
    }
    for (int e = 0; e < run->executor_count; e++)
        if (!ps_executor_run(&run->executors[e], range, run->timing, error))
            return false;
    return run->compare == NULL || compare_block(stream, range, error);
}

// The block's buffers are the slot's again when its block is written.
static void hand_to_writer(struct ps_stream *stream, struct ps_slot *slot)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->pass->write_count == 0) {
        stream->done++;
        pthread_mutex_unlock(&stream->lock);
        return;
    }
    slot->state = PS_SLOT_READY;
    if (slot->range.block == stream->done)
        pthread_cond_signal(&stream->ready);
    while (!stream->failed && slot->state != PS_SLOT_WRITTEN)
        pthread_cond_wait(&slot->wake, &stream->lock);
    slot->state = PS_SLOT_WORKING;
    pthread_mutex_unlock(&stream->lock);
}

static bool do_block(struct ps_stream *stream, struct ps_slot *slot, struct ps_error *error)
{
    bool fine = ps_stream_read(stream, slot, error);
    if (!stream->run->executors[0].backend->unified)
        ps_stream_give_hand(stream, slot); // from here on the thread only waits for the device
    bool some = fine && slot->range.rows > 0;
    fine = fine && (!some || run_block(stream, &slot->range, error));
    ps_stream_give_hand(stream, slot);
    if (fine && some)
        hand_to_writer(stream, slot);
    return fine;
}

static void *slot_main(void *argument)
{
    struct ps_slot *slot = argument;
    struct ps_stream *stream = slot->stream;
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

static struct ps_slot *ready_slot(struct ps_stream *stream, int64_t block)
{
    for (int i = 0; i < stream->run->plan->slots; i++)
        if (stream->slots[i].state == PS_SLOT_READY && stream->slots[i].range.block == block)
            return &stream->slots[i];
    return NULL;
}

static struct ps_slot *await_block(struct ps_stream *stream, int64_t block)
{
    struct ps_slot *slot = NULL;
    pthread_mutex_lock(&stream->lock);
    while (!stream->failed && block < stream->end_block &&
           (slot = ready_slot(stream, block)) == NULL)
        pthread_cond_wait(&stream->ready, &stream->lock);
    if (stream->failed)
        slot = NULL;
    pthread_mutex_unlock(&stream->lock);
    return slot;
}

static bool write_block(struct ps_stream *stream, const struct ps_block_range *range,
                        struct ps_error *error)
{
    struct ps_run *run = stream->run;
    for (int i = 0; i < stream->pass->write_count; i++) {
        int index = stream->pass->writes[i];
        const struct ps_plan_output *output = &run->plan->outputs[index];
        const struct ps_array *array = &run->plan->ports[output->port].array;
        struct ps_row_range rows;
        const void *data = ps_executor_result(&run->executors[0], range->slot, output->port, &rows);
        struct ps_block block = {array, rows.first, rows.end - rows.first,
                                 (void *)data}; // only read
        double start = ps_clock_ms();
        if (block.rows > 0 && !ps_output_write(stream->outputs[index], &block, error)) {
            ps_error_place(error, "output '%s'", output->config->name);
            return false;
        }
        struct ps_timing_entry entry = {
            .pass = range->pass + 1,
            .block = range->block,
            .slot = range->slot,
            .kind = PS_STEP_WRITE,
            .name = output->config->name,
            .first_row = rows.first,
            .rows = block.rows,
            .bytes = (uint64_t)(block.rows * ps_array_row_elements(array)) *
                     ps_dtype_bytes(output->spec.dtype),
            .start_ms = start,
            .duration_ms = ps_clock_ms() - start,
            .backend = "io",
        };
        ps_timing_add(run->timing, &entry);
    }
    return true;
}

static void *writer_main(void *argument)
{
    struct ps_stream *stream = argument;
    struct ps_error error = {0};
    struct ps_slot *slot;
    for (int64_t block = 0; (slot = await_block(stream, block)) != NULL; block++) {
        if (!write_block(stream, &slot->range, &error)) {
            fail_stream(stream, block, &error);
            break;
        }
        pthread_mutex_lock(&stream->lock);
        slot->state = PS_SLOT_WRITTEN;
        stream->done = block + 1;
        pthread_cond_signal(&slot->wake);
        pthread_mutex_unlock(&stream->lock);
    }
    return NULL;
}

// ---- The pass ----

static bool start_slots(struct ps_stream *stream, int *started, struct ps_error *error)
{
    for (*started = 0; *started < stream->run->plan->slots; ++*started) {
        struct ps_slot *slot = &stream->slots[*started];
        int failure = pthread_create(&slot->thread, NULL, slot_main, slot);
        if (failure == 0)
            continue;
        ps_fail(error, PS_DEVICE, "cannot start slot thread %d: %s", *started, strerror(failure));
        fail_stream(stream, -2, error);
        return false;
    }
    return true;
}

// The writer ends by itself: when all blocks are written, or the stream has failed.
static bool run_threads(struct ps_stream *stream, struct ps_error *error)
{
    bool writes = stream->pass->write_count > 0;
    pthread_t writer;
    int started = 0, failure = 0;
    if (writes && (failure = pthread_create(&writer, NULL, writer_main, stream)) != 0)
        return ps_fail(error, PS_DEVICE, "cannot start the writer thread: %s", strerror(failure));
    bool fine = start_slots(stream, &started, error);
    for (int i = 0; i < started; i++)
        pthread_join(stream->slots[i].thread, NULL);
    if (writes)
        pthread_join(writer, NULL);
    return fine;
}

static void open_stream(struct ps_stream *stream)
{
    struct ps_plan *plan = stream->run->plan;
    stream->rows = plan->rows;
    stream->end_block = INT64_MAX;
    if (plan->rows >= 0)
        stream->end_block = plan->rows / plan->block_rows + (plan->rows % plan->block_rows != 0);
    for (int i = 0; i < stream->pass->input_count; i++) {
        int port = stream->pass->inputs[i];
        if (ps_executor_has(&stream->run->executors[0], port))
            continue;
        // Without a known end, only reading in order tells which block is the last.
        if ((plan->readers[port].flags & PS_READ_IN_ORDER) || ps_stream_unknown(stream, port))
            stream->in_order = true;
    }
    for (int s = 0; s < stream->pass->step_count; s++)
        if (stream->pass->steps[s].step.stages[0]->rows.ordered)
            stream->in_order = true; // so that no block waits for one that waits for a hand
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->ready, NULL);
    pthread_cond_init(&stream->free_hand, NULL);
    stream->hands = plan->threads;
    for (int i = 0; i < plan->slots; i++) {
        stream->slots[i] = (struct ps_slot){.stream = stream, .number = i, .range.block = -1};
        pthread_cond_init(&stream->slots[i].wake, NULL);
    }
}

// Room for the rows of each input that the next block needs again.
static bool open_tails(struct ps_stream *stream, struct ps_error *error)
{
    const struct ps_plan *plan = stream->run->plan;
    size_t count = (size_t)stream->pass->input_count + 1;
    stream->tails = calloc(count, sizeof *stream->tails);
    if (stream->tails == NULL)
        return ps_fail_memory(error, count * sizeof *stream->tails, "tails");
    for (int i = 0; i < stream->pass->input_count; i++) {
        int port = stream->pass->inputs[i];
        size_t bytes =
            ps_array_row_bytes(&plan->ports[port].array) * (size_t)ps_pass_neighbours(stream->pass);
        if (ps_plan_keeps_tail(plan, stream->pass, port) &&
            !ps_executor_has(&stream->run->executors[0], port) &&
            (stream->tails[i].data = malloc(bytes + 1)) == NULL)
            return ps_fail_memory(error, bytes, "rows kept between blocks");
    }
    return true;
}

static void close_stream(struct ps_stream *stream)
{
    for (int i = 0; i < stream->run->plan->slots; i++)
        pthread_cond_destroy(&stream->slots[i].wake);
    pthread_cond_destroy(&stream->free_hand);
    pthread_cond_destroy(&stream->ready);
    pthread_mutex_destroy(&stream->lock);
    for (int i = 0; stream->tails != NULL && i < stream->pass->input_count; i++)
        free(stream->tails[i].data);
    free(stream->tails);
    free(stream->slots);
}

static bool stream_blocks(struct ps_stream *stream, struct ps_error *error)
{
    const struct ps_run *run = stream->run;
    // Without blocks nobody reads, and streams of unknown length are checked here.
    if (stream->end_block == 0 && !ps_stream_check_end(stream, 0, error))
        return false;
    if (!run->executors[0].backend->unified && run->plan->threads > 1) {
        stream->readers = ps_readers_open(run->plan->threads, error);
        if (stream->readers == NULL)
            return false;
    }
    bool fine = run_threads(stream, error);
    ps_readers_close(stream->readers);
    if (fine && stream->failed)
        *error = stream->error;
    return fine && !stream->failed;
}

bool ps_run_blocks(struct ps_run *run, int pass, struct ps_output **outputs, struct ps_error *error)
{
    struct ps_stream stream = {
        .run = run, .pass = &run->plan->passes[pass], .pass_number = pass, .outputs = outputs};
    stream.slots = calloc((size_t)run->plan->slots, sizeof *stream.slots);
    if (stream.slots == NULL)
        return ps_fail_memory(error, (size_t)run->plan->slots * sizeof *stream.slots, "slots");
    open_stream(&stream);
    bool fine = open_tails(&stream, error) && stream_blocks(&stream, error);
    if (fine) {
        ps_plan_count_domains(run->plan, stream.pass, stream.rows, run->executors[0].order.rows);
        run->plan->rows = stream.rows; // later passes must find as many
        run->rows = stream.rows;
    }
    run->blocks += stream.done;
    close_stream(&stream);
    return fine;
}
