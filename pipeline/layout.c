// SPDX-License-Identifier: Apache-2.0
// Where the buffers of a slot lie. Sizes are checked: nothing here may wrap.
#include "pipeline/plan_parts.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 256

struct cursor {
    size_t used;
    bool overflow;
};

static size_t take(struct cursor *cursor, size_t bytes)
{
    size_t at = cursor->used, next;
    if (__builtin_add_overflow(at, bytes, &next) || next > SIZE_MAX / 4)
        cursor->overflow = true;
    else
        cursor->used = (next + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static size_t rows_bytes(const struct ps_array *array, int64_t rows, struct cursor *cursor)
{
    size_t bytes = 0;
    if (rows < 0 || __builtin_mul_overflow(ps_array_row_bytes(array), (size_t)rows, &bytes))
        cursor->overflow = true;
    return bytes;
}

// Of a port's rows in one slot.
static size_t block_bytes(const struct ps_plan *plan, const struct ps_pass *pass, int port,
                          int64_t rows, struct cursor *cursor)
{
    return rows_bytes(&plan->ports[port].array, ps_plan_most_rows(plan, pass, port, rows), cursor);
}

static bool alloc_tables(const struct ps_plan *plan, const struct ps_pass *pass,
                         struct ps_layout *layout)
{
    size_t ports = (size_t)plan->port_count + 1, steps = (size_t)pass->step_count + 1;
    layout->host = malloc(ports * sizeof *layout->host);
    layout->device = malloc(ports * sizeof *layout->device);
    layout->state = malloc(steps * sizeof *layout->state);
    layout->tail = malloc(ports * sizeof *layout->tail);
    layout->check = malloc(2 * steps * sizeof *layout->check);
    if (!layout->host || !layout->device || !layout->state || !layout->tail || !layout->check)
        return false;
    layout->check_host = layout->check + steps;
    for (size_t i = 0; i < ports; i++)
        layout->host[i] = layout->device[i] = layout->tail[i] = SIZE_MAX;
    for (size_t i = 0; i < steps; i++)
        layout->state[i] = layout->check[i] = layout->check_host[i] = SIZE_MAX;
    return true;
}

// What one step needs besides its inputs. Rows of its launch: the larger of what goes in and out.
static size_t place_step(const struct ps_plan *plan, const struct ps_pass *pass, int s,
                         enum ps_backend_id backend, int64_t rows, struct ps_layout *layout,
                         struct cursor *device)
{
    const struct ps_plan_step *step = &pass->steps[s];
    const struct ps_stage_type *type = step->step.type;
    const struct ps_row_rule *rule = &step->step.stages[0]->rows;
    int64_t most = step->whole ? step->whole_rows : rows;
    for (int i = 0; step->whole && i < step->step.input_count; i++)
        if (ps_array_rows(&step->step.inputs[i]->array) > most)
            most = ps_array_rows(&step->step.inputs[i]->array);
    size_t state = 0;
    for (int i = 0; i < step->step.output_count; i++) {
        int port = step->output_ports[i];
        if (!plan->ports[port].streamed)
            continue;
        int64_t own = ps_plan_most_rows(plan, pass, port, rows);
        most = own > most ? own : most;
        layout->device[port] = take(device, block_bytes(plan, pass, port, rows, device));
        if (rule->ordered)
            layout->tail[port] =
                take(device, rows_bytes(&plan->ports[port].array, pass->before[port], device));
    }
    if (step->reduces)
        state = type->reduction->state_bytes(&step->step);
    else if (rule->ordered && type->carry_bytes != NULL)
        state = type->carry_bytes(&step->step);
    if (state > 0)
        layout->state[s] = take(device, state);
    layout->state_bytes += state;
    return type->scratch_bytes == NULL ? 0 : type->scratch_bytes(&step->step, backend, most);
}

static void place_steps(const struct ps_plan *plan, const struct ps_pass *pass,
                        enum ps_backend_id backend, int64_t rows, struct ps_layout *layout,
                        struct cursor *device)
{
    size_t scratch = 0;
    for (int s = 0; s < pass->step_count; s++) {
        size_t need = place_step(plan, pass, s, backend, rows, layout, device);
        scratch = need > scratch ? need : scratch;
    }
    layout->scratch = take(device, scratch);
}

static void place_checks(const struct ps_pass *pass, bool unified, struct ps_layout *layout,
                         struct cursor *host, struct cursor *device)
{
    for (int s = 0; s < pass->step_count; s++) {
        const struct ps_stage_type *type = pass->steps[s].step.type;
        size_t bytes = type->check_bytes != NULL ? type->check_bytes(&pass->steps[s].step) : 0;
        if (bytes == 0)
            continue;
        layout->check[s] = take(device, bytes);
        layout->check_host[s] = unified ? layout->check[s] : take(host, bytes);
    }
}

bool ps_layout_make(const struct ps_plan *plan, const struct ps_pass *pass,
                    enum ps_backend_id backend, bool unified, int64_t rows,
                    struct ps_layout *layout, struct ps_error *error)
{
    *layout = (struct ps_layout){0};
    struct cursor host = {0}, device = {0};
    if (!alloc_tables(plan, pass, layout)) {
        ps_layout_free(layout);
        return ps_fail_memory(error, (unsigned)plan->port_count * sizeof(size_t), "the plan");
    }
    for (int i = 0; i < pass->input_count; i++) {
        int port = pass->inputs[i];
        size_t bytes = block_bytes(plan, pass, port, rows, &device);
        layout->device[port] = take(&device, bytes);
        layout->host[port] = unified ? layout->device[port] : take(&host, bytes);
    }
    place_steps(plan, pass, backend, rows, layout, &device);
    place_checks(pass, unified, layout, &host, &device);
    layout->count = take(&device, sizeof(int64_t));
    layout->count_host = unified ? layout->count : take(&host, sizeof(int64_t));
    for (int i = 0; i < pass->keep_count; i++) {
        int port = pass->keeps[i];
        layout->host[port] = unified ? layout->device[port]
                                     : take(&host, block_bytes(plan, pass, port, rows, &host));
    }
    layout->host_bytes = host.used;
    layout->device_bytes = device.used;
    if (!host.overflow && !device.overflow)
        return true;
    ps_layout_free(layout);
    return ps_fail(error, PS_DEVICE,
                   "a block of %lld rows does not fit in the address space; "
                   "set run.block lower",
                   (long long)rows);
}

void ps_layout_free(struct ps_layout *layout)
{
    free(layout->host);
    free(layout->device);
    free(layout->state);
    free(layout->tail);
    free(layout->check);
    *layout = (struct ps_layout){0};
}
