// SPDX-License-Identifier: Apache-2.0
// Reading one block of every streamed input, in block order where a format needs it, and the
// agreement of inputs on how many rows there are.
#include "pipeline/runner_stream.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ps_stream_unknown(const struct ps_stream *stream, int port)
{
    return stream->run->plan->readers[port].array.dims[0] == PS_ROWS_UNKNOWN;
}

// The pass has the rows in memory; nothing is read.
static bool is_kept(const struct ps_stream *stream, int port)
{
    return ps_executor_has(&stream->run->executors[0], port);
}

static void note_read(struct ps_stream *stream, int port, const struct ps_block_range *range,
                      const struct ps_read_result *result, double start)
{
    const struct ps_reader *reader = &stream->run->plan->readers[port];
    double spent = ps_clock_ms() - start;
    double decode = result->decode_ms < spent ? result->decode_ms : spent;
    struct ps_timing_entry entry = {
        .pass = range->pass + 1,
        .block = range->block,
        .slot = range->slot,
        .kind = PS_STEP_READ,
        .name = reader->name,
        .first_row = range->first_row,
        .rows = result->rows,
        .bytes = result->bytes,
        .start_ms = start,
        .duration_ms = spent - decode,
        .backend = is_kept(stream, port) ? "memory" : "io",
    };
    ps_timing_add(stream->run->timing, &entry);
    if (decode <= 0)
        return;
    entry.kind = PS_STEP_DECODE;
    entry.start_ms = start + spent - decode;
    entry.duration_ms = decode;
    entry.bytes = (uint64_t)result->rows * ps_array_row_bytes(&reader->array);
    ps_timing_add(stream->run->timing, &entry);
}

static bool read_rows(struct ps_stream *stream, int port, int64_t first, int64_t rows, void *data,
                      struct ps_read_result *result, struct ps_error *error)
{
    struct ps_reader *reader = &stream->run->plan->readers[port];
    bool shared = stream->readers != NULL && (reader->flags & PS_READ_ANYWHERE) &&
                  !ps_stream_unknown(stream, port);
    bool fine = rows == 0 ||
                (shared ? ps_readers_read(stream->readers, reader, first, rows, data, result, error)
                        : ps_reader_read(reader, first, rows, data, result, error));
    if (!fine)
        ps_error_place(error, "input '%s'", reader->name);
    return fine;
}

// Keeps what the next block needs of the rows [first, end) in data.
static void keep_tail(struct ps_stream *stream, struct ps_tail *tail, int port,
                      const struct ps_block_range *range, int64_t first, int64_t end,
                      const char *data)
{
    size_t row_bytes = ps_array_row_bytes(&stream->run->plan->ports[port].array);
    int64_t keep = range->first_row + range->rows - stream->pass->before[port];
    tail->first = keep > first ? keep < end ? keep : end : first;
    tail->end = end;
    memcpy(tail->data, data + (size_t)(tail->first - first) * row_bytes,
           (size_t)(end - tail->first) * row_bytes);
}

// Rows that the pass finds in memory are at hand, or are copied to the slot.
static void take_kept(struct ps_stream *stream, int port, const struct ps_block_range *range)
{
    struct ps_row_range want = ps_pass_input_rows(stream->pass, port, range);
    struct ps_read_result result = {.rows = want.end - want.first};
    double start = ps_clock_ms();
    ps_executor_fetch(&stream->run->executors[0], range->slot, port, want);
    note_read(stream, port, range, &result, start);
}

// The block's own of the rows that were read to `data`, the first one `first`.
static void keep_own(struct ps_stream *stream, int port, const struct ps_block_range *range,
                     struct ps_row_range read, const char *data)
{
    size_t bytes = ps_array_row_bytes(&stream->run->plan->ports[port].array);
    struct ps_row_range own = {range->first_row, range->first_row + range->rows};
    own.end = own.end < read.end ? own.end : read.end;
    if (own.first < own.end)
        ps_executor_keep(&stream->run->executors[0], port, own,
                         data + (size_t)(own.first - read.first) * bytes);
}

// The block's rows of input i of the pass, with their neighbours. *end_out: how far they reach.
static bool read_input(struct ps_stream *stream, int i, const struct ps_block_range *range,
                       int64_t *end_out, struct ps_error *error)
{
    int port = stream->pass->inputs[i];
    struct ps_run *run = stream->run;
    struct ps_tail *tail = &stream->tails[i];
    struct ps_row_range want = ps_pass_input_rows(stream->pass, port, range);
    char *direct = ps_executor_direct(&run->executors[0], port, want.first);
    char *data = direct ? direct : ps_executor_host(&run->executors[0], range->slot, port);
    size_t row_bytes = ps_array_row_bytes(&run->plan->ports[port].array);
    struct ps_read_result result = {0};
    int64_t first = want.first;
    double start = ps_clock_ms();
    if (is_kept(stream, port)) {
        take_kept(stream, port, range);
        *end_out = want.end;
        return true;
    }
    if (tail->data != NULL && range->block > 0) {
        memcpy(data, tail->data + (size_t)(first - tail->first) * row_bytes,
               (size_t)(tail->end - first) * row_bytes);
        first = tail->end;
    }
    if (!read_rows(stream, port, first, want.end - first,
                   data + (size_t)(first - want.first) * row_bytes, &result, error))
        return false;
    *end_out = first + result.rows;
    if (tail->data != NULL)
        keep_tail(stream, tail, port, range, want.first, *end_out, data);
    keep_own(stream, port, range, (struct ps_row_range){want.first, *end_out}, data);
    note_read(stream, port, range, &result, start);
    return true;
}

// ---- How many rows there are ----

// Some input of another length than `port`: one of this pass, else any that is streamed.
static const char *other_input(const struct ps_stream *stream, int port)
{
    const struct ps_plan *plan = stream->run->plan;
    for (int i = 0; i < stream->pass->input_count; i++)
        if (stream->pass->inputs[i] != port)
            return plan->ports[stream->pass->inputs[i]].name;
    for (int i = 0; i < plan->input_count; i++)
        if (i != port && plan->ports[i].streamed)
            return plan->ports[i].name;
    return plan->ports[port].name;
}

// `port` has `rows` rows; the other has `others`, or more when `more`.
static bool fail_uneven(const struct ps_stream *stream, int port, int64_t rows, const char *other,
                        int64_t others, bool more, struct ps_error *error)
{
    const char *name = stream->run->plan->ports[port].name;
    if (name == other)
        return ps_fail(error, PS_INPUT,
                       "input '%s' has %lld rows now and had %lld in the pass before: it changed "
                       "while it was read",
                       name, (long long)rows, (long long)others);
    return ps_fail(error, PS_INPUT,
                   "streamed inputs are read row by row together, but '%s' has %lld rows and '%s' "
                   "has %lld%s; use `load: whole` for one that every row needs",
                   name, (long long)rows, other, (long long)others, more ? " or more" : "");
}

// ends[i] is the row that input i of the pass reaches; they must agree with each other, and with
// `wanted`, when the count is known.
static bool check_ends(const struct ps_stream *stream, int64_t wanted, const int64_t *ends,
                       struct ps_error *error)
{
    const struct ps_pass *pass = stream->pass;
    const struct ps_plan *plan = stream->run->plan;
    int least = 0, most = 0;
    for (int i = 1; i < pass->input_count; i++) {
        least = ends[i] < ends[least] ? i : least;
        most = ends[i] > ends[most] ? i : most;
    }
    if (plan->rows >= 0 && ends[least] < wanted)
        return fail_uneven(stream, pass->inputs[least], ends[least],
                           other_input(stream, pass->inputs[least]), plan->rows, false, error);
    return ends[least] == ends[most] || fail_uneven(stream, pass->inputs[least], ends[least],
                                                    plan->ports[pass->inputs[most]].name,
                                                    ends[most], ends[most] == wanted, error);
}

static bool check_one_end(struct ps_stream *stream, int port, int64_t rows, struct ps_error *error)
{
    struct ps_reader *reader = &stream->run->plan->readers[port];
    struct ps_read_result result = {0};
    void *row = malloc(ps_array_row_bytes(&reader->array) + 1);
    if (row == NULL)
        return ps_fail_memory(error, ps_array_row_bytes(&reader->array), "a row");
    bool fine = ps_reader_read(reader, rows, 1, row, &result, error);
    free(row);
    if (!fine) {
        ps_error_place(error, "input '%s'", reader->name);
        return false;
    }
    const char *other = other_input(stream, port);
    if (result.rows == 0)
        return true;
    return ps_fail(error, PS_INPUT,
                   "streamed inputs are read row by row together, but '%s' goes on after row %lld, "
                   "where '%s' ends",
                   reader->name, (long long)rows, other);
}

bool ps_stream_check_end(struct ps_stream *stream, int64_t rows, struct ps_error *error)
{
    for (int i = 0; i < stream->pass->input_count; i++)
        if (ps_stream_unknown(stream, stream->pass->inputs[i]) &&
            !is_kept(stream, stream->pass->inputs[i]) &&
            !check_one_end(stream, stream->pass->inputs[i], rows, error))
            return false;
    return true;
}

// ---- Turns ----

static bool await_turn(struct ps_stream *stream, struct ps_slot *slot)
{
    int64_t block = slot->range.block;
    pthread_mutex_lock(&stream->lock);
    while (!stream->failed && stream->next_read != block && block < stream->end_block)
        pthread_cond_wait(&slot->wake, &stream->lock);
    bool mine = !stream->failed && block < stream->end_block;
    pthread_mutex_unlock(&stream->lock);
    return mine;
}

static void pass_turn(struct ps_stream *stream, int64_t block)
{
    pthread_mutex_lock(&stream->lock);
    stream->next_read = block + 1;
    for (int i = 0; i < stream->run->plan->slots; i++)
        if (stream->slots[i].range.block == block + 1)
            pthread_cond_signal(&stream->slots[i].wake);
    pthread_mutex_unlock(&stream->lock);
}

// Whether a fault leaves nothing to do for the block: those before it still run, so that the fault
// that is told is the first of the file. The lock is held.
static bool is_over(const struct ps_stream *stream, int64_t block)
{
    return stream->failed && stream->failed_block <= block;
}

static bool take_hand(struct ps_stream *stream, struct ps_slot *slot)
{
    pthread_mutex_lock(&stream->lock);
    while (!is_over(stream, slot->range.block) && stream->hands == 0)
        pthread_cond_wait(&stream->free_hand, &stream->lock);
    slot->has_hand = !is_over(stream, slot->range.block);
    stream->hands -= slot->has_hand;
    pthread_mutex_unlock(&stream->lock);
    return slot->has_hand;
}

void ps_stream_give_hand(struct ps_stream *stream, struct ps_slot *slot)
{
    if (!slot->has_hand)
        return;
    pthread_mutex_lock(&stream->lock);
    stream->hands++;
    pthread_cond_signal(&stream->free_hand);
    pthread_mutex_unlock(&stream->lock);
    slot->has_hand = false;
}

static void end_stream(struct ps_stream *stream, int64_t rows)
{
    int64_t block = stream->run->plan->block_rows;
    pthread_mutex_lock(&stream->lock);
    stream->end_block = rows / block + (rows % block != 0);
    stream->rows = rows;
    ps_stream_wake_all(stream);
    pthread_mutex_unlock(&stream->lock);
}

// What is known of the end by the time that it is the block's turn.
static void look_for_end(struct ps_stream *stream, struct ps_block_range *range)
{
    pthread_mutex_lock(&stream->lock);
    range->total = stream->rows;
    pthread_mutex_unlock(&stream->lock);
    if (range->total >= 0 && range->total - range->first_row < range->rows)
        range->rows = range->total - range->first_row;
}

static bool read_all(struct ps_stream *stream, struct ps_block_range *range, int64_t *ends,
                     struct ps_error *error)
{
    const struct ps_plan *plan = stream->run->plan;
    const struct ps_pass *pass = stream->pass;
    look_for_end(stream, range);
    int64_t wanted = ps_pass_input_rows(pass, pass->inputs[0], range).end;
    for (int i = 0; i < pass->input_count; i++)
        if (!read_input(stream, i, range, &ends[i], error))
            return false;
    if (!check_ends(stream, wanted, ends, error))
        return false;
    if (ends[0] < wanted) {
        end_stream(stream, ends[0]);
        look_for_end(stream, range);
    }
    return range->first_row + range->rows != plan->rows ||
           ps_stream_check_end(stream, plan->rows, error);
}

bool ps_stream_read(struct ps_stream *stream, struct ps_slot *slot, struct ps_error *error)
{
    // The turn first: who waits for it must not hold up who has it.
    if ((stream->in_order && !await_turn(stream, slot)) || !take_hand(stream, slot)) {
        slot->range.rows = 0;
        return true;
    }
    int64_t *ends = calloc((size_t)stream->pass->input_count, sizeof *ends);
    if (ends == NULL)
        return ps_fail_memory(error, (size_t)stream->pass->input_count * sizeof *ends, "counts");
    bool fine = read_all(stream, &slot->range, ends, error);
    free(ends);
    // After a failure nobody reads on: a reader may not stand where the next block begins.
    if (fine && stream->in_order)
        pass_turn(stream, slot->range.block);
    return fine;
}
