// SPDX-License-Identifier: Apache-2.0
// Running a pass: whole steps before, blocks, reductions after.
#include "pipeline/executor.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

void *ps_executor_host(const struct ps_executor *executor, int slot, int port)
{
    return executor->lanes[slot].host + executor->layout.host[port];
}

static void *device_pointer(const struct ps_executor *executor, int slot, int port)
{
    if (!executor->plan->ports[port].streamed)
        return executor->whole[port];
    return executor->lanes[slot].device + executor->layout.device[port];
}

// Enqueues one step of the running pass.
static bool launch(struct ps_executor *executor, int s, const struct ps_block_range *range,
                   struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    struct ps_lane *lane = &executor->lanes[range->slot];
    const void *inputs[PS_LAUNCH_ARRAYS_MAX];
    void *outputs[PS_LAUNCH_ARRAYS_MAX];
    if (step->step.input_count > PS_LAUNCH_ARRAYS_MAX || step->step.output_count > PS_LAUNCH_ARRAYS_MAX)
        return ps_fail(error, PS_USAGE, "stage %s: more than %d arrays in one fused step; write "
                       "one of them to an output", step->label, PS_LAUNCH_ARRAYS_MAX);
    for (int i = 0; i < step->step.input_count; i++)
        inputs[i] = device_pointer(executor, range->slot, step->input_ports[i]);
    for (int i = 0; i < step->step.output_count; i++)
        outputs[i] = step->reduces
                         ? NULL
                         : device_pointer(executor, range->slot, step->output_ports[i]);
    struct ps_launch launch = {
        .queue = lane->queue,
        .first_row = range->first_row,
        .rows = range->rows,
        .inputs = inputs,
        .outputs = outputs,
        .state = step->reduces ? lane->device + executor->layout.state[s] : NULL,
        .scratch = lane->device + executor->layout.scratch,
    };
    int pass = (int)(executor->pass - executor->plan->passes);
    if (step->step.type->run[executor->backend->id](executor->programs[pass][s], &launch, error))
        return true;
    ps_error_place(error, "stage %s (%s), rows %lld-%lld", step->label, step->step.type->name,
                   (long long)range->first_row, (long long)(range->first_row + range->rows - 1));
    return false;
}

static bool copy_block(struct ps_executor *executor, int slot, const int *ports, int count,
                       int64_t rows, bool in, uint64_t *bytes_out, struct ps_error *error)
{
    struct ps_lane *lane = &executor->lanes[slot];
    for (int i = 0; i < count; i++) {
        size_t bytes = ps_array_row_bytes(&executor->plan->ports[ports[i]].array) * (size_t)rows;
        char *host = lane->host + executor->layout.host[ports[i]];
        char *device = lane->device + executor->layout.device[ports[i]];
        *bytes_out += bytes;
        if (bytes > 0 && !executor->backend->copy(lane->queue, in ? device : host,
                                                  in ? host : device, bytes, error))
            return false;
    }
    return true;
}

static bool note(struct ps_executor *executor, const struct ps_block_range *range, int mark,
                 enum ps_step_kind kind, const char *name, uint64_t bytes,
                 struct ps_timing *timing, struct ps_error *error)
{
    struct ps_queue *queue = executor->lanes[range->slot].queue;
    double start, end;
    if (!executor->backend->when(queue, mark, &start, error) ||
        !executor->backend->when(queue, mark + 1, &end, error))
        return false;
    struct ps_timing_entry entry = {
        .pass = range->pass + 1, .block = range->block, .slot = range->slot, .kind = kind,
        .name = name, .first_row = range->first_row, .rows = range->rows, .bytes = bytes,
        .start_ms = start, .duration_ms = end > start ? end - start : 0,
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
    if (!backend->mark(queue, mark++, error))
        return false;
    if (!backend->unified && !copy_block(executor, range->slot, pass->inputs, pass->input_count,
                                         range->rows, true, in_bytes, error))
        return false;
    if (!backend->mark(queue, mark++, error))
        return false;
    for (int s = pass->whole_count; s < pass->step_count; s++)
        if (!launch(executor, s, range, error) || !backend->mark(queue, mark++, error))
            return false;
    if (!backend->unified && !copy_block(executor, range->slot, pass->keeps, pass->keep_count,
                                         range->rows, false, out_bytes, error))
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
    return executor->backend->clear(lane->queue, lane->device + executor->layout.state[s],
                                    step->step.type->reduction->state_bytes(&step->step), error);
}

// The states of `slots` slots, merged on the host and finished into the whole array.
static bool finish_reduction(struct ps_executor *executor, int s, int slots,
                             struct ps_error *error)
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
    fine = fine && reduction->finish(&step->step, executor->merged, executor->whole_host[port],
                                     error);
    if (!fine)
        ps_error_place(error, "stage %s (%s)", step->label, step->step.type->name);
    return fine && transfer_whole(executor, port, true, error);
}

static bool run_whole_step(struct ps_executor *executor, int pass, int s,
                           struct ps_timing *timing, struct ps_error *error)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    const struct ps_backend *backend = executor->backend;
    struct ps_queue *queue = executor->lanes[0].queue;
    struct ps_block_range range = {pass, -1, 0, step->whole_rows, 0};
    if ((step->reduces && !clear_state(executor, s, 0, error)) ||
        !backend->mark(queue, 0, error) || !launch(executor, s, &range, error) ||
        !backend->mark(queue, 1, error))
        return false;
    if (!backend->wait(queue, error)) {
        ps_error_place(error, "stage %s (%s)", step->label, step->step.type->name);
        return false;
    }
    if (!note(executor, &range, 0, PS_STEP_STAGE, step->label,
              step_bytes(executor, step, 0), timing, error))
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
    for (int s = 0; s < executor->pass->whole_count; s++)
        if (!run_whole_step(executor, pass, s, timing, error))
            return false;
    for (int slot = 0; slot < executor->plan->slots; slot++) {
        for (int s = executor->pass->whole_count; s < executor->pass->step_count; s++)
            if (executor->pass->steps[s].reduces && !clear_state(executor, s, slot, error))
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
            .pass = pass + 1, .block = -1, .kind = PS_STEP_STAGE, .rows = 0,
            .name = executor->pass->steps[s].label, .start_ms = start,
            .duration_ms = ps_clock_ms() - start, .backend = executor->backend->name,
        };
        ps_timing_add(timing, &entry);
    }
    return true;
}
