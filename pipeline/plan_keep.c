// SPDX-License-Identifier: Apache-2.0
// Which inputs stay in memory between the passes that read them: those that fit in what blocks,
// slots and whole arrays leave over of run.device_memory and run.memory.
#include "pipeline/plan_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *ps_keep_name(enum ps_keep keep)
{
    static const char *const names[] = {"no memory", "device memory", "host memory"};
    return names[keep];
}

bool ps_plan_finds_kept(const struct ps_plan *plan, int pass, int port)
{
    return plan->keep[port] != PS_KEEP_NOWHERE && pass > plan->kept_from[port];
}

// Whether several passes read the port; the first one goes to plan->kept_from.
static bool is_read_again(struct ps_plan *plan, int port)
{
    int walks = 0;
    for (int p = plan->pass_count - 1; p >= 0; p--)
        for (int i = 0; i < plan->passes[p].input_count; i++)
            if (plan->passes[p].inputs[i] == port) {
                plan->kept_from[port] = p;
                walks++;
            }
    return walks > 1 && ps_array_row_bytes(&plan->ports[port].array) > 0;
}

// Bytes of so many rows; UINT64_MAX when they cannot be had.
static uint64_t bytes_of(const struct ps_plan *plan, int port, int64_t rows)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(ps_array_row_bytes(&plan->ports[port].array), (uint64_t)rows,
                               &bytes) ||
        bytes > UINT64_MAX / 4)
        return UINT64_MAX;
    return bytes;
}

// What is left of run.memory, but never so much that the machine would begin to swap.
static uint64_t host_room(const struct ps_plan *plan)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t most = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 * 3 : UINT64_MAX;
    most = most < plan->host_limit ? most : plan->host_limit;
    return most > plan->host_bytes ? most - plan->host_bytes : 0;
}

static void keep_in_host(struct ps_plan *plan, int port, uint64_t bytes)
{
    plan->keep[port] = PS_KEEP_HOST;
    plan->host_bytes += bytes;
    plan->kept_host_bytes += bytes;
}

// As the rows are known, it is known what fits.
static void keep_known(struct ps_plan *plan, int port)
{
    uint64_t bytes = bytes_of(plan, port, plan->rows);
    bool on_gpu = plan->backend == PS_CUDA && plan->device_limit > plan->device_bytes;
    if (on_gpu && bytes <= plan->device_limit - plan->device_bytes) {
        plan->keep[port] = PS_KEEP_DEVICE;
        plan->device_bytes += bytes;
        plan->kept_device_bytes += bytes;
    } else if (bytes <= host_room(plan))
        keep_in_host(plan, port, bytes);
}

// All inputs have as many rows, so each gets room for as many. In host memory, which is only taken
// when it is used.
static void keep_unknown(struct ps_plan *plan, const bool *again)
{
    uint64_t row = 0, room = host_room(plan);
    for (int port = 0; port < plan->input_count; port++)
        row += again[port] ? ps_array_row_bytes(&plan->ports[port].array) : 0;
    plan->kept_rows = row > 0 ? (int64_t)(room / row) : 0;
    for (int port = 0; port < plan->input_count; port++)
        if (again[port] && plan->kept_rows >= plan->block_rows)
            keep_in_host(plan, port, bytes_of(plan, port, plan->kept_rows));
}

static bool is_standard_input(const struct ps_plan *plan, int port)
{
    const char *path = plan->readers[port].path;
    return path != NULL && strcmp(path, "-") == 0;
}

// What is gone after one walk over it must be kept. (Whether rows that are not known yet had room,
// the second walk tells.)
static bool check_gone(const struct ps_plan *plan, const bool *again, struct ps_error *error)
{
    for (int port = 0; port < plan->input_count; port++)
        if (again[port] && plan->keep[port] == PS_KEEP_NOWHERE && is_standard_input(plan, port) &&
            plan->rows != 0)
            return ps_fail(error, PS_INPUT,
                           "input '%s' is standard input, which can be read only once, but several "
                           "passes walk over it and it does not fit in what is left of run.memory: "
                           "set that higher, or save it to a file first",
                           plan->ports[port].name);
    return true;
}

bool ps_plan_keep(struct ps_plan *plan, struct ps_error *error)
{
    bool *again = ps_zeroed((size_t)plan->input_count, sizeof *again);
    if (again == NULL)
        return ps_fail_memory(error, (size_t)plan->input_count * sizeof *again, "the plan");
    bool wanted = ps_values_get(&plan->config->run, "keep")->choice == 0 && !plan->compare;
    plan->kept_rows = plan->rows;
    plan->kept_known = plan->rows >= 0;
    plan->kept_host_bytes = plan->kept_device_bytes = 0;
    for (int port = 0; port < plan->input_count; port++) {
        plan->keep[port] = PS_KEEP_NOWHERE;
        again[port] = wanted && is_read_again(plan, port);
        if (again[port] && plan->rows > 0)
            keep_known(plan, port);
    }
    if (plan->rows < 0)
        keep_unknown(plan, again);
    bool fine = check_gone(plan, again, error);
    free(again);
    return fine;
}
