// SPDX-License-Identifier: Apache-2.0
// Opening, compiling, memory. Running blocks is in executor_run.c.
#include "pipeline/executor.h"

#include <stdlib.h>
#include <string.h>

bool ps_executor_open(struct ps_executor *executor, const struct ps_plan *plan,
                      enum ps_backend_id id, struct ps_error *error)
{
    const struct ps_value *threads = ps_values_get(&plan->config->run_cuda, "threads");
    struct ps_device_request request = {
        .device = (int)ps_values_get(&plan->config->run, "device")->integer,
        .threads_per_block = threads->automatic ? 0 : (int)threads->integer,
    };
    *executor = (struct ps_executor){.plan = plan, .backend = ps_backend(id)};
    if (executor->backend == NULL)
        return ps_fail(error, PS_DEVICE, "this build has no cuda backend");
    size_t ports = (size_t)plan->port_count + 1;
    executor->whole = calloc(ports, sizeof *executor->whole);
    executor->whole_host = calloc(ports, sizeof *executor->whole_host);
    executor->programs = calloc((size_t)plan->pass_count + 1, sizeof *executor->programs);
    executor->kept = calloc((size_t)plan->input_count + 1, sizeof *executor->kept);
    if (!executor->kept || !executor->whole || !executor->whole_host || !executor->programs)
        return ps_fail_memory(error, ports * sizeof(void *), "the executor");
    return ps_order_open(executor, error) &&
           executor->backend->open(&request, &executor->device, error);
}

bool ps_executor_compile(struct ps_executor *executor, struct ps_error *error)
{
    const struct ps_plan *plan = executor->plan;
    for (int p = 0; p < plan->pass_count; p++) {
        const struct ps_pass *pass = &plan->passes[p];
        if (executor->programs[p] != NULL)
            continue;
        executor->programs[p] = calloc((size_t)pass->step_count + 1, sizeof(struct ps_program *));
        if (executor->programs[p] == NULL)
            return ps_fail_memory(error, (size_t)pass->step_count * sizeof(void *), "programs");
        for (int s = 0; s < pass->step_count; s++) {
            const struct ps_plan_step *step = &pass->steps[s];
            if (!step->step.type->compile(&step->step, executor->device, &executor->programs[p][s],
                                          error)) {
                ps_error_place(error, "stage %s (%s)", step->label, step->step.type->name);
                return false;
            }
        }
    }
    return true;
}

static bool alloc_whole(struct ps_executor *executor, int port, struct ps_error *error)
{
    const struct ps_backend *backend = executor->backend;
    size_t bytes;
    if (!ps_array_bytes(&executor->plan->ports[port].array, &bytes))
        return ps_fail(error, PS_DEVICE, "array '%s' is whole, but its size is not known",
                       executor->plan->ports[port].name);
    bytes += bytes == 0;
    executor->whole[port] = backend->alloc(executor->device, PS_MEMORY_DEVICE, bytes, error);
    if (executor->whole[port] == NULL)
        return false;
    executor->whole_host[port] =
        backend->unified ? executor->whole[port]
                         : backend->alloc(executor->device, PS_MEMORY_HOST, bytes, error);
    return executor->whole_host[port] != NULL;
}

static int marks_needed(const struct ps_plan *plan)
{
    int steps = 0;
    for (int i = 0; i < plan->pass_count; i++)
        steps = plan->passes[i].step_count > steps ? plan->passes[i].step_count : steps;
    return steps + 3; // begin, after copies in, after each step, after copies out
}

static bool largest_layout(const struct ps_executor *executor, size_t *host, size_t *device,
                           struct ps_error *error)
{
    const struct ps_plan *plan = executor->plan;
    *host = *device = 1;
    for (int i = 0; i < plan->pass_count; i++) {
        struct ps_layout layout;
        if (!ps_layout_make(plan, &plan->passes[i], executor->backend->id,
                            executor->backend->unified, plan->block_rows, &layout, error))
            return false;
        *host = layout.host_bytes > *host ? layout.host_bytes : *host;
        *device = layout.device_bytes > *device ? layout.device_bytes : *device;
        ps_layout_free(&layout);
    }
    return true;
}

static bool open_lane(struct ps_executor *executor, struct ps_lane *lane, size_t host_bytes,
                      size_t device_bytes, struct ps_error *error)
{
    const struct ps_backend *backend = executor->backend;
    size_t ports = (size_t)executor->plan->port_count + 1;
    size_t domains = (size_t)executor->plan->domain_count;
    lane->own = calloc(domains, sizeof *lane->own);
    lane->held = calloc(ports, sizeof *lane->held);
    if (lane->own == NULL || lane->held == NULL)
        return ps_fail_memory(error, ports * sizeof *lane->held, "a slot");
    if (!backend->queue_open(executor->device, marks_needed(executor->plan), &lane->queue, error))
        return false;
    lane->device = backend->alloc(executor->device, PS_MEMORY_DEVICE, device_bytes, error);
    if (lane->device == NULL)
        return false;
    lane->host = backend->unified
                     ? lane->device
                     : backend->alloc(executor->device, PS_MEMORY_HOST, host_bytes, error);
    return lane->host != NULL;
}

static bool alloc_merging(struct ps_executor *executor, struct ps_error *error)
{
    size_t most = 0;
    for (int p = 0; p < executor->plan->pass_count; p++) {
        const struct ps_pass *pass = &executor->plan->passes[p];
        for (int s = 0; s < pass->step_count; s++) {
            const struct ps_step *step = &pass->steps[s].step;
            size_t bytes = pass->steps[s].reduces ? step->type->reduction->state_bytes(step) : 0;
            most = bytes > most ? bytes : most;
        }
    }
    if (most == 0)
        return true;
    executor->merged = executor->backend->alloc(executor->device, PS_MEMORY_HOST, most, error);
    if (executor->merged == NULL)
        return false;
    executor->other = executor->backend->alloc(executor->device, PS_MEMORY_HOST, most, error);
    return executor->other != NULL;
}

bool ps_executor_alloc(struct ps_executor *executor, struct ps_error *error)
{
    const struct ps_plan *plan = executor->plan;
    size_t host_bytes, device_bytes;
    for (int p = 0; p < plan->port_count; p++)
        if (plan->needed[p] && !plan->ports[p].streamed && !alloc_whole(executor, p, error))
            return false;
    if (!alloc_merging(executor, error) || !ps_kept_open(executor, error))
        return false;
    executor->lanes = calloc((size_t)plan->slots, sizeof *executor->lanes);
    if (executor->lanes == NULL)
        return ps_fail_memory(error, (size_t)plan->slots * sizeof *executor->lanes, "slots");
    if (!largest_layout(executor, &host_bytes, &device_bytes, error))
        return false;
    for (int i = 0; i < plan->slots; i++)
        if (!open_lane(executor, &executor->lanes[i], host_bytes, device_bytes, error))
            return false;
    return true;
}

static void free_programs(struct ps_executor *executor)
{
    for (int p = 0; executor->programs != NULL && p < executor->plan->pass_count; p++) {
        const struct ps_pass *pass = &executor->plan->passes[p];
        for (int s = 0; executor->programs[p] != NULL && s < pass->step_count; s++)
            if (executor->programs[p][s] != NULL)
                pass->steps[s].step.type->release(executor->programs[p][s]);
        free(executor->programs[p]);
    }
    free(executor->programs);
}

static void free_memory(struct ps_executor *executor)
{
    const struct ps_backend *backend = executor->backend;
    for (int i = 0; executor->lanes != NULL && i < executor->plan->slots; i++) {
        struct ps_lane *lane = &executor->lanes[i];
        if (lane->queue != NULL)
            backend->queue_close(lane->queue);
        free(lane->own);
        free(lane->held);
        if (!backend->unified && lane->host != NULL)
            backend->free(executor->device, PS_MEMORY_HOST, lane->host);
        if (lane->device != NULL)
            backend->free(executor->device, PS_MEMORY_DEVICE, lane->device);
    }
    if (executor->merged != NULL)
        backend->free(executor->device, PS_MEMORY_HOST, executor->merged);
    if (executor->other != NULL)
        backend->free(executor->device, PS_MEMORY_HOST, executor->other);
    for (int p = 0; executor->whole != NULL && p < executor->plan->port_count; p++) {
        if (!backend->unified && executor->whole_host[p] != NULL)
            backend->free(executor->device, PS_MEMORY_HOST, executor->whole_host[p]);
        if (executor->whole[p] != NULL)
            backend->free(executor->device, PS_MEMORY_DEVICE, executor->whole[p]);
    }
}

void ps_executor_close(struct ps_executor *executor)
{
    if (executor->backend == NULL)
        return;
    if (executor->device != NULL) {
        free_programs(executor);
        executor->programs = NULL;
        free_memory(executor);
        ps_kept_close(executor);
        executor->backend->close(executor->device);
    }
    ps_order_close(executor);
    free(executor->programs);
    free(executor->lanes);
    free(executor->whole);
    free(executor->whole_host);
    free(executor->kept);
    ps_layout_free(&executor->layout);
    *executor = (struct ps_executor){0};
}
