// SPDX-License-Identifier: Apache-2.0
// Which rows of every array a block has, and the turns of stages that run in block order.
#include "pipeline/executor.h"

#include <stdlib.h>

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// ---- Turns ----

bool ps_order_open(struct ps_executor *executor, struct ps_error *error)
{
    const struct ps_plan *plan = executor->plan;
    struct ps_order *order = &executor->order;
    size_t steps = (size_t)plan->port_count + 1, domains = (size_t)plan->domain_count;
    pthread_mutex_init(&order->lock, NULL);
    pthread_cond_init(&order->moved, NULL);
    order->next = calloc(steps, sizeof *order->next);
    order->rows = calloc(domains, sizeof *order->rows);
    return (order->next != NULL && order->rows != NULL) ||
           ps_fail_memory(error, steps * sizeof *order->next, "the executor");
}

void ps_order_close(struct ps_executor *executor)
{
    struct ps_order *order = &executor->order;
    pthread_cond_destroy(&order->moved);
    pthread_mutex_destroy(&order->lock);
    free(order->next);
    free(order->rows);
}

void ps_order_begin_pass(struct ps_executor *executor)
{
    struct ps_order *order = &executor->order;
    for (int s = 0; s < executor->pass->step_count; s++)
        order->next[s] = 0;
    for (int d = 0; d < executor->plan->domain_count; d++)
        order->rows[d] = 0;
    order->stopped_at = INT64_MAX;
}

bool ps_order_take(struct ps_executor *executor, int s, int64_t block)
{
    struct ps_order *order = &executor->order;
    pthread_mutex_lock(&order->lock);
    while (block < order->stopped_at && order->next[s] != block)
        pthread_cond_wait(&order->moved, &order->lock);
    bool mine = order->next[s] == block;
    pthread_mutex_unlock(&order->lock);
    return mine;
}

void ps_order_pass(struct ps_executor *executor, int s)
{
    struct ps_order *order = &executor->order;
    pthread_mutex_lock(&order->lock);
    order->next[s]++;
    pthread_cond_broadcast(&order->moved);
    pthread_mutex_unlock(&order->lock);
}

void ps_executor_stop(struct ps_executor *executor, int64_t block)
{
    pthread_mutex_lock(&executor->order.lock);
    executor->order.stopped_at = smaller(executor->order.stopped_at, block);
    pthread_cond_broadcast(&executor->order.moved);
    pthread_mutex_unlock(&executor->order.lock);
}

// ---- Rows ----

static bool at_end(const struct ps_block_range *range)
{
    return range->total >= 0 && range->first_row + range->rows == range->total;
}

static struct ps_row_range widened(struct ps_row_range own, int64_t before, int64_t after,
                                   int64_t total)
{
    return (struct ps_row_range){larger(own.first - before, 0), smaller(own.end + after, total)};
}

static int64_t known(int64_t total)
{
    return total >= 0 ? total : INT64_MAX;
}

struct ps_row_range ps_pass_input_rows(const struct ps_pass *pass, int port,
                                       const struct ps_block_range *range)
{
    struct ps_row_range own = {range->first_row, range->first_row + range->rows};
    return widened(own, pass->before[port], pass->after[port], known(range->total));
}

// Rows of the domain in all; INT64_MAX when they are not known yet.
static int64_t domain_total(const struct ps_executor *executor, int domain,
                            const struct ps_block_range *range)
{
    const struct ps_domain *own = &executor->plan->domains[domain];
    if (domain == 0)
        return known(range->total);
    int64_t parent = domain_total(executor, own->parent, range);
    if (own->stage->rows.chosen)
        return at_end(range) ? executor->lanes[range->slot].own[domain].end : INT64_MAX;
    return parent == INT64_MAX ? parent : ps_row_rule_count(&own->stage->rows, parent, true);
}

void ps_rows_begin(struct ps_executor *executor, const struct ps_block_range *range)
{
    struct ps_lane *lane = &executor->lanes[range->slot];
    lane->own[0] = (struct ps_row_range){range->first_row, range->first_row + range->rows};
    for (int i = 0; i < executor->pass->input_count; i++) {
        int port = executor->pass->inputs[i];
        lane->held[port] = ps_pass_input_rows(executor->pass, port, range);
    }
}

// The rows that the step's output begins its own with; chosen rows are not known before.
static void begin_domain(struct ps_executor *executor, int domain,
                         const struct ps_block_range *range)
{
    const struct ps_domain *own = &executor->plan->domains[domain];
    struct ps_lane *lane = &executor->lanes[range->slot];
    const struct ps_row_rule *rule = &own->stage->rows;
    struct ps_row_range parent = lane->own[own->parent];
    if (rule->chosen) {
        int64_t first = executor->order.rows[domain];
        lane->own[domain] = (struct ps_row_range){first, first + (parent.end - parent.first)};
    } else
        lane->own[domain] =
            (struct ps_row_range){ps_row_rule_count(rule, parent.first, false),
                                  ps_row_rule_count(rule, parent.end, at_end(range))};
}

static int first_streamed(const struct ps_executor *executor, const struct ps_plan_step *step)
{
    for (int i = 0; i < step->step.input_count; i++)
        if (executor->plan->ports[step->input_ports[i]].streamed)
            return step->input_ports[i];
    return -1;
}

// Own rows of the step's output, wider where later steps need neighbours. An ordered step makes its
// own rows only: those before are kept from the blocks before.
static struct ps_row_range output_rows(struct ps_executor *executor,
                                       const struct ps_plan_step *step, int domain,
                                       const struct ps_block_range *range)
{
    const struct ps_stage *stage = step->step.stages[0];
    struct ps_lane *lane = &executor->lanes[range->slot];
    int port = stage->port;
    if (step->reduces)
        return lane->own[domain];
    int own_domain = executor->plan->domain_of[port];
    if (own_domain != domain)
        begin_domain(executor, own_domain, range);
    struct ps_row_range own = lane->own[own_domain];
    struct ps_row_range wide =
        widened(own, executor->pass->before[port], executor->pass->after[port],
                stage->rows.chosen ? own.end : domain_total(executor, own_domain, range));
    for (int i = 0; i < step->step.stage_count; i++)
        lane->held[step->step.stages[i]->port] = wide;
    return stage->rows.ordered ? own : wide;
}

void ps_rows_of_step(struct ps_executor *executor, int s, const struct ps_block_range *range,
                     struct ps_launch *launch)
{
    const struct ps_plan_step *step = &executor->pass->steps[s];
    const struct ps_row_rule *rule = &step->step.stages[0]->rows;
    int input = first_streamed(executor, step);
    int domain = executor->plan->domain_of[input];
    const struct ps_lane *lane = &executor->lanes[range->slot];
    struct ps_row_range output = output_rows(executor, step, domain, range);
    struct ps_row_range needs = rule->chosen ? lane->own[domain] : ps_row_rule_needs(rule, output);
    launch->first_row = output.first;
    launch->rows = output.end - output.first;
    // Inputs of one step have the same rows, but some may hold more neighbours than others.
    launch->in_first = larger(needs.first, 0);
    launch->in_rows =
        larger(smaller(needs.end, domain_total(executor, domain, range)) - launch->in_first, 0);
    launch->at_end = at_end(range) &&
                     launch->in_first + launch->in_rows == domain_total(executor, domain, range);
}

void ps_rows_chosen(struct ps_executor *executor, int s, int slot, int64_t count)
{
    int port = executor->pass->steps[s].step.stages[0]->port;
    int domain = executor->plan->domain_of[port];
    struct ps_lane *lane = &executor->lanes[slot];
    lane->own[domain].end = lane->held[port].end = lane->own[domain].first + count;
    executor->order.rows[domain] += count;
}

char *ps_executor_device(const struct ps_executor *executor, int slot, int port, int64_t row)
{
    const struct ps_lane *lane = &executor->lanes[slot];
    size_t bytes = ps_array_row_bytes(&executor->plan->ports[port].array);
    char *kept = ps_kept_in_place(executor, port, row);
    if (kept != NULL)
        return kept;
    return lane->device + executor->layout.device[port] +
           (size_t)(row - lane->held[port].first) * bytes;
}

void *ps_executor_host(const struct ps_executor *executor, int slot, int port)
{
    return executor->lanes[slot].host + executor->layout.host[port];
}

const void *ps_executor_result(const struct ps_executor *executor, int slot, int port,
                               struct ps_row_range *rows_out)
{
    const struct ps_lane *lane = &executor->lanes[slot];
    *rows_out = lane->own[executor->plan->domain_of[port]];
    bool whole_buffer = executor->backend->unified || port < executor->plan->input_count;
    if (!whole_buffer)
        return ps_executor_host(executor, slot, port);
    if (executor->backend->unified)
        return ps_executor_device(executor, slot, port, rows_out->first);
    size_t bytes = ps_array_row_bytes(&executor->plan->ports[port].array);
    return lane->host + executor->layout.host[port] +
           (size_t)(rows_out->first - lane->held[port].first) * bytes;
}
