// SPDX-License-Identifier: Apache-2.0
// Running a pass: whole steps before, blocks, reductions after.
#include "pipeline/executor.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

// What the step notes of faults in the data: cleared before its launch, fetched after it.
static bool move_check(struct ps_executor *executor, int s, int slot, bool fetch,
                       struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    struct ps_lane *lane = &executor->lanes[slot];
    if (executor->layout.check[s] == SIZE_MAX || (fetch && executor->backend->unified))
        return true;
    char *noted = lane->device + executor->layout.check[s];
    size_t bytes = step->step.type->check_bytes(&step->step);
    return fetch ? executor->backend->copy(lane->queue, lane->host + executor->layout.check_host[s],
                                           noted, bytes, error)
                 : executor->backend->clear(lane->queue, noted, bytes, error);
}

// After the wait: the faults that steps [from, end) of the pass noted.
static bool check_steps(struct ps_executor *executor, int from, int end, int slot,
                        struct ps_error *error)
{
    int pass = (int)(executor->pass - executor->plan->passes);
    for (int s = from; s < end; s++) {
        const struct ps_plan_step *step = &executor->pass->steps[s];
        if (executor->layout.check[s] == SIZE_MAX)
            continue;
        const char *noted = executor->lanes[slot].host + executor->layout.check_host[s];
        if (step->step.type->check(executor->programs[pass][s], noted, error))
            continue;
        ps_error_place(error, "stage %s (%s)", step->label, step->step.type->name);
        return false;
    }
    return true;
}

// Enqueues one step of the running pass with the rows that *launch has.
static bool launch_step(struct ps_executor *executor, int s, int slot, struct ps_launch *launch,
                        struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    const struct ps_port *ports = executor->plan->ports;
    struct ps_lane *lane = &executor->lanes[slot];
    bool ordered = step->step.stages[0]->rows.ordered;
    const void *inputs[PS_LAUNCH_ARRAYS_MAX];
    void *outputs[PS_LAUNCH_ARRAYS_MAX];
    if (!move_check(executor, s, slot, false, error))
        return false;
    if (launch->rows == 0)
        return move_check(executor, s, slot, true, error);
    if (step->step.input_count > PS_LAUNCH_ARRAYS_MAX ||
        step->step.output_count > PS_LAUNCH_ARRAYS_MAX)
        return ps_fail(error, PS_USAGE,
                       "stage %s: more than %d arrays in one fused step; write "
                       "one of them to an output",
                       step->label, PS_LAUNCH_ARRAYS_MAX);
    for (int i = 0; i < step->step.input_count; i++) {
        int port = step->input_ports[i];
        inputs[i] = ports[port].streamed
                        ? ps_executor_device(executor, slot, port, launch->in_first)
                        : executor->whole[port];
    }
    for (int i = 0; i < step->step.output_count; i++) {
        int port = step->output_ports[i];
        outputs[i] = step->reduces ? NULL
                     : ports[port].streamed
                         ? ps_executor_device(executor, slot, port, launch->first_row)
                         : executor->whole[port];
    }
    char *states = ordered ? executor->lanes[0].device : lane->device; // a carry is one for all
    launch->queue = lane->queue;
    launch->inputs = inputs;
    launch->outputs = outputs;
    launch->state =
        executor->layout.state[s] != SIZE_MAX ? states + executor->layout.state[s] : NULL;
    launch->rows_out = step->step.stages[0]->rows.chosen
                           ? (int64_t *)(void *)(lane->device + executor->layout.count)
                           : NULL;
    launch->scratch = lane->device + executor->layout.scratch;
    launch->check =
        executor->layout.check[s] != SIZE_MAX ? lane->device + executor->layout.check[s] : NULL;
    int pass = (int)(executor->pass - executor->plan->passes);
    if (step->step.type->run[executor->backend->id](executor->programs[pass][s], launch, error))
        return move_check(executor, s, slot, true, error);
    ps_error_place(error, "stage %s (%s), rows %lld-%lld", step->label, step->step.type->name,
                   (long long)launch->first_row, (long long)(launch->first_row + launch->rows - 1));
    return false;
}

// Rows before a block's own ones of an ordered step's output: kept from block to block in the
// memory of slot 0.
static bool copy_tail(struct ps_executor *executor, int s, int slot, bool keep,
                      struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    struct ps_lane *lane = &executor->lanes[slot];
    for (int i = 0; i < step->step.output_count; i++) {
        int port = step->output_ports[i];
        int64_t most = executor->pass->before[port];
        struct ps_row_range own = lane->own[executor->plan->domain_of[port]];
        int64_t end = keep ? own.end : own.first, rows = end < most ? end : most;
        size_t bytes = (size_t)rows * ps_array_row_bytes(&executor->plan->ports[port].array);
        char *tail = executor->lanes[0].device + executor->layout.tail[port];
        char *rows_at = ps_executor_device(executor, slot, port, end - rows);
        if (bytes > 0 && !executor->backend->copy(lane->queue, keep ? tail : rows_at,
                                                  keep ? rows_at : tail, bytes, error))
            return false;
    }
    return true;
}

// How many of `rows` rows were chosen.
static bool read_count(struct ps_executor *executor, int s, int slot, int64_t rows,
                       struct ps_error *error)
{
    struct ps_lane *lane = &executor->lanes[slot];
    int64_t *count = (int64_t *)(void *)(lane->host + executor->layout.count_host);
    if (rows == 0)
        *count = 0;
    else if (!executor->backend->unified &&
             (!executor->backend->copy(lane->queue, count, lane->device + executor->layout.count,
                                       sizeof *count, error) ||
              !executor->backend->wait(lane->queue, error)))
        return false;
    ps_rows_chosen(executor, s, slot, *count);
    return true;
}

// The block's turn lasts until its work is done, so that the next one finds what it carries on
// from.
static bool run_ordered(struct ps_executor *executor, int s, const struct ps_block_range *range,
                        struct ps_error *error)
{
    struct ps_launch launch = {0};
    if (!ps_order_take(executor, s, range->block))
        return ps_fail(error, PS_INTERRUPTED, "interrupted; no output was written");
    ps_rows_of_step(executor, s, range, &launch);
    bool chosen = executor->pass->steps[s].step.stages[0]->rows.chosen;
    bool fine = copy_tail(executor, s, range->slot, false, error) &&
                launch_step(executor, s, range->slot, &launch, error) &&
                (!chosen || read_count(executor, s, range->slot, launch.rows, error)) &&
                copy_tail(executor, s, range->slot, true, error) &&
                executor->backend->wait(executor->lanes[range->slot].queue, error);
    if (fine)
        ps_order_pass(executor, s);
    return fine;
}

static bool run_step(struct ps_executor *executor, int s, const struct ps_block_range *range,
                     struct ps_error *error)
{
    struct ps_launch launch = {0};
    if (executor->pass->steps[s].step.stages[0]->rows.ordered)
        return run_ordered(executor, s, range, error);
    ps_rows_of_step(executor, s, range, &launch);
    return launch_step(executor, s, range->slot, &launch, error);
}

// On the way in all rows that are at hand go along, on the way out the block's own.
static bool copy_in(struct ps_executor *executor, int slot, uint64_t *bytes_out,
                    struct ps_error *error)
{
    struct ps_lane *lane = &executor->lanes[slot];
    for (int i = 0; i < executor->pass->input_count; i++) {
        int port = executor->pass->inputs[i];
        size_t rows = (size_t)(lane->held[port].end - lane->held[port].first);
        size_t bytes = ps_array_row_bytes(&executor->plan->ports[port].array) * rows;
        if (ps_kept_in_place(executor, port, 0) != NULL)
            continue;
        *bytes_out += bytes;
        if (bytes > 0 &&
            !executor->backend->copy(lane->queue, lane->device + executor->layout.device[port],
                                     lane->host + executor->layout.host[port], bytes, error))
            return false;
    }
    return true;
}

static bool copy_out(struct ps_executor *executor, int slot, uint64_t *bytes_out,
                     struct ps_error *error)
{
    struct ps_lane *lane = &executor->lanes[slot];
    for (int i = 0; i < executor->pass->keep_count; i++) {
        int port = executor->pass->keeps[i];
        struct ps_row_range own = lane->own[executor->plan->domain_of[port]];
        size_t rows = (size_t)(own.end - own.first);
        size_t bytes = ps_array_row_bytes(&executor->plan->ports[port].array) * rows;
        *bytes_out += bytes;
        if (bytes > 0 && !executor->backend->copy(
                             lane->queue, lane->host + executor->layout.host[port],
                             ps_executor_device(executor, slot, port, own.first), bytes, error))
            return false;
    }
    return true;
}

static bool note(struct ps_executor *executor, const struct ps_block_range *range, int mark,
                 enum ps_step_kind kind, const char *name, uint64_t bytes, struct ps_timing *timing,
                 struct ps_error *error)
{
    struct ps_queue *queue = executor->lanes[range->slot].queue;
    double start, end;
    if (!executor->backend->when(queue, mark, &start, error) ||
        !executor->backend->when(queue, mark + 1, &end, error))
        return false;
    struct ps_timing_entry entry = {
        .pass = range->pass + 1,
        .block = range->block,
        .slot = range->slot,
        .kind = kind,
        .name = name,
        .first_row = range->first_row,
        .rows = range->rows,
        .bytes = bytes,
        .start_ms = start,
        .duration_ms = end > start ? end - start : 0,
        .backend = executor->backend->name,
    };
    ps_timing_add(timing, &entry);
    return true;
}

// What a step reads and writes: of streamed arrays, and of whole ones when it runs on them alone.
static uint64_t step_bytes(const struct ps_executor *executor, const struct ps_plan_step *step,
                           int64_t rows)
{
    const struct ps_port *ports = executor->plan->ports;
    uint64_t bytes = 0;
    for (int i = 0; i < step->step.input_count + step->step.output_count; i++) {
        int port = i < step->step.input_count ? step->input_ports[i]
                                              : step->output_ports[i - step->step.input_count];
        size_t whole = 0;
        if (ports[port].streamed)
            bytes += ps_array_row_bytes(&ports[port].array) * (uint64_t)rows;
        else if (step->whole && ps_array_bytes(&ports[port].array, &whole))
            bytes += whole;
    }
    return bytes;
}

static bool note_all(struct ps_executor *executor, const struct ps_block_range *range,
                     uint64_t in_bytes, uint64_t out_bytes, struct ps_timing *timing,
                     struct ps_error *error)
{
    const struct ps_pass *pass = executor->pass;
    bool copies = !executor->backend->unified;
    int mark = 0;
    if (copies && in_bytes > 0 &&
        !note(executor, range, mark, PS_STEP_H2D, "inputs", in_bytes, timing, error))
        return false;
    mark++;
    for (int s = pass->whole_count; s < pass->step_count; s++, mark++)
        if (!note(executor, range, mark, PS_STEP_STAGE, pass->steps[s].label,
                  step_bytes(executor, &pass->steps[s], range->rows), timing, error))
            return false;
    return !copies || out_bytes == 0 ||
           note(executor, range, mark, PS_STEP_D2H, "outputs", out_bytes, timing, error);
}

static bool enqueue(struct ps_executor *executor, const struct ps_block_range *range,
                    uint64_t *in_bytes, uint64_t *out_bytes, struct ps_error *error)
{
    const struct ps_pass *pass = executor->pass;
    const struct ps_backend *backend = executor->backend;
    struct ps_queue *queue = executor->lanes[range->slot].queue;
    int mark = 0;
    ps_rows_begin(executor, range);
    if (!backend->mark(queue, mark++, error))
        return false;
    if (!backend->unified &&
        (!copy_in(executor, range->slot, in_bytes, error) || !ps_kept_copy(executor, range, error)))
        return false;
    if (!backend->mark(queue, mark++, error))
        return false;
    for (int s = pass->whole_count; s < pass->step_count; s++)
        if (!run_step(executor, s, range, error) || !backend->mark(queue, mark++, error))
            return false;
    if (!backend->unified && !copy_out(executor, range->slot, out_bytes, error))
        return false;
    return backend->mark(queue, mark, error);
}

bool ps_executor_run(struct ps_executor *executor, const struct ps_block_range *range,
                     struct ps_timing *timing, struct ps_error *error)
{
    struct ps_queue *queue = executor->lanes[range->slot].queue;
    uint64_t in_bytes = 0, out_bytes = 0;
    if (!enqueue(executor, range, &in_bytes, &out_bytes, error)) {
        // What was enqueued still uses the slot's buffers. Its own faults come second.
        struct ps_error second = {0};
        executor->backend->wait(queue, &second);
        return false;
    }
    if (!executor->backend->wait(queue, error)) {
        ps_error_place(error, "pass %d, rows %lld-%lld", range->pass + 1,
                       (long long)range->first_row,
                       (long long)(range->first_row + range->rows - 1));
        return false;
    }
    if (!check_steps(executor, executor->pass->whole_count, executor->pass->step_count, range->slot,
                     error))
        return false;
    return note_all(executor, range, in_bytes, out_bytes, timing, error);
}

// ---- Before and after the blocks ----

static bool transfer_whole(struct ps_executor *executor, int port, bool up, struct ps_error *error)
{
    size_t bytes;
    if (executor->backend->unified)
        return true;
    if (!ps_array_bytes(&executor->plan->ports[port].array, &bytes))
        return ps_fail(error, PS_BUG, "a whole array without a size");
    if (bytes == 0)
        return true;
    void *device = executor->whole[port], *host = executor->whole_host[port];
    struct ps_queue *queue = executor->lanes[0].queue;
    return executor->backend->copy(queue, up ? device : host, up ? host : device, bytes, error) &&
           executor->backend->wait(queue, error);
}

bool ps_executor_upload_whole(struct ps_executor *executor, int port, struct ps_error *error)
{
    return transfer_whole(executor, port, true, error);
}

static bool clear_state(struct ps_executor *executor, int s, int slot, struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    struct ps_lane *lane = &executor->lanes[slot];
    if (executor->layout.state[s] == SIZE_MAX)
        return true;
    size_t bytes = step->reduces ? step->step.type->reduction->state_bytes(&step->step)
                                 : step->step.type->carry_bytes(&step->step);
    return executor->backend->clear(lane->queue, lane->device + executor->layout.state[s], bytes,
                                    error);
}

// The states of `slots` slots, merged on the host and finished into the whole array.
static bool finish_reduction(struct ps_executor *executor, int s, int slots, struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    const struct ps_stage_reduction *reduction = step->step.type->reduction;
    const struct ps_backend *backend = executor->backend;
    size_t bytes = reduction->state_bytes(&step->step);
    bool fine = true;
    for (int slot = 0; fine && slot < slots; slot++) {
        struct ps_lane *lane = &executor->lanes[slot];
        char *target = slot == 0 ? executor->merged : executor->other;
        fine = backend->copy(lane->queue, target, lane->device + executor->layout.state[s], bytes,
                             error) &&
               backend->wait(lane->queue, error);
        if (fine && slot > 0)
            reduction->merge(&step->step, executor->merged, executor->other);
    }
    int port = step->output_ports[0];
    fine =
        fine && reduction->finish(&step->step, executor->merged, executor->whole_host[port], error);
    if (!fine)
        ps_error_place(error, "stage %s (%s)", step->label, step->step.type->name);
    return fine && transfer_whole(executor, port, true, error);
}

static bool run_whole_step(struct ps_executor *executor, int pass, int s, struct ps_timing *timing,
                           struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    const struct ps_backend *backend = executor->backend;
    struct ps_queue *queue = executor->lanes[0].queue;
    struct ps_block_range range = {.pass = pass, .block = -1, .rows = step->whole_rows};
    const struct ps_array *input = step->step.input_count > 0 ? &step->step.inputs[0]->array : NULL;
    struct ps_launch launch = {.rows = step->whole_rows,
                               .at_end = true,
                               .in_rows = input != NULL ? ps_array_rows(input) : 0};
    if (!clear_state(executor, s, 0, error) || !backend->mark(queue, 0, error) ||
        !launch_step(executor, s, 0, &launch, error) || !backend->mark(queue, 1, error))
        return false;
    if (!backend->wait(queue, error)) {
        ps_error_place(error, "stage %s (%s)", step->label, step->step.type->name);
        return false;
    }
    if (!check_steps(executor, s, s + 1, 0, error))
        return false;
    if (!note(executor, &range, 0, PS_STEP_STAGE, step->label, step_bytes(executor, step, 0),
              timing, error))
        return false;
    if (step->reduces)
        return finish_reduction(executor, s, 1, error);
    for (int i = 0; i < step->step.output_count; i++)
        if (!transfer_whole(executor, step->output_ports[i], false, error))
            return false;
    return true;
}

bool ps_executor_begin_pass(struct ps_executor *executor, int pass, struct ps_timing *timing,
                            struct ps_error *error)
{
    ps_layout_free(&executor->layout);
    executor->pass = &executor->plan->passes[pass];
    if (!ps_layout_make(executor->plan, executor->pass, executor->backend->id,
                        executor->backend->unified, executor->plan->block_rows, &executor->layout,
                        error))
        return false;
    ps_order_begin_pass(executor);
    for (int s = 0; s < executor->pass->whole_count; s++)
        if (!run_whole_step(executor, pass, s, timing, error))
            return false;
    for (int slot = 0; slot < executor->plan->slots; slot++) {
        for (int s = executor->pass->whole_count; s < executor->pass->step_count; s++)
            if (!clear_state(executor, s, slot, error))
                return false;
        if (!executor->backend->wait(executor->lanes[slot].queue, error))
            return false;
    }
    return true;
}

bool ps_executor_end_pass(struct ps_executor *executor, struct ps_timing *timing,
                          struct ps_error *error)
{
    int pass = (int)(executor->pass - executor->plan->passes);
    for (int s = executor->pass->whole_count; s < executor->pass->step_count; s++) {
        if (!executor->pass->steps[s].reduces)
            continue;
        double start = ps_clock_ms();
        if (!finish_reduction(executor, s, executor->plan->slots, error))
            return false;
        struct ps_timing_entry entry = {
            .pass = pass + 1,
            .block = -1,
            .kind = PS_STEP_STAGE,
            .rows = 0,
            .name = executor->pass->steps[s].label,
            .start_ms = start,
            .duration_ms = ps_clock_ms() - start,
            .backend = executor->backend->name,
        };
        ps_timing_add(timing, &entry);
    }
    ps_kept_end_pass(executor);
    return true;
}
