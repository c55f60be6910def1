// SPDX-License-Identifier: Apache-2.0
// Inputs kept in memory between the passes that read them. Rows lie at their absolute numbers, so
// that any block, with whatever neighbours, is a part of them.
#include "pipeline/executor.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE (2u << 20)

static size_t row_bytes(const struct ps_executor *executor, int port)
{
    return ps_array_row_bytes(&executor->plan->ports[port].array);
}

static int pass_number(const struct ps_executor *executor)
{
    return (int)(executor->pass - executor->plan->passes);
}

// ---- Memory ----

static bool in_host(const struct ps_executor *executor, int port)
{
    return executor->plan->keep[port] == PS_KEEP_HOST;
}

// Pages that are not used take no memory: there may be far fewer rows than there is room for.
static char *map_host(size_t bytes, struct ps_error *error)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        ps_fail_memory(error, bytes,
                       "inputs that several passes read (set run.memory lower, or run.keep to "
                       "nothing)");
        return NULL;
    }
    if (bytes >= HUGE_PAGE)
        madvise(data, bytes, MADV_HUGEPAGE); // a hint: refusal changes nothing but speed
    return data;
}

bool ps_kept_open(struct ps_executor *executor, struct ps_error *error)
{
    const struct ps_plan *plan = executor->plan;
    for (int port = 0; port < plan->input_count; port++) {
        struct ps_kept *kept = &executor->kept[port];
        if (plan->keep[port] == PS_KEEP_NOWHERE)
            continue;
        kept->bytes = (size_t)plan->kept_rows * row_bytes(executor, port);
        kept->data =
            in_host(executor, port)
                ? map_host(kept->bytes, error)
                : executor->backend->alloc(executor->device, PS_MEMORY_DEVICE, kept->bytes, error);
        if (kept->data == NULL)
            return false;
    }
    return true;
}

static void drop(struct ps_executor *executor, int port)
{
    struct ps_kept *kept = &executor->kept[port];
    if (kept->data != NULL && in_host(executor, port))
        munmap(kept->data, kept->bytes);
    else if (kept->data != NULL)
        executor->backend->free(executor->device, PS_MEMORY_DEVICE, kept->data);
    kept->data = NULL;
}

void ps_kept_close(struct ps_executor *executor)
{
    for (int port = 0; executor->kept != NULL && port < executor->plan->input_count; port++)
        drop(executor, port);
}

// ---- The first pass ----

// Whether the running pass is the one whose blocks fill the memory.
static bool fills(const struct ps_executor *executor, int port)
{
    return executor->kept[port].data != NULL &&
           executor->plan->kept_from[port] == pass_number(executor);
}

// Neighbouring blocks that read some rows both would write to the same memory.
static bool is_direct(const struct ps_executor *executor, int port)
{
    return executor->backend->unified && fills(executor, port) && executor->plan->kept_known &&
           executor->pass->before[port] == 0 && executor->pass->after[port] == 0;
}

char *ps_executor_direct(const struct ps_executor *executor, int port, int64_t first)
{
    return is_direct(executor, port)
               ? executor->kept[port].data + (size_t)first * row_bytes(executor, port)
               : NULL;
}

void ps_executor_keep(struct ps_executor *executor, int port, struct ps_row_range rows,
                      const void *data)
{
    struct ps_kept *kept = &executor->kept[port];
    if (!fills(executor, port) || !in_host(executor, port) || is_direct(executor, port) ||
        kept->lost || rows.first >= rows.end)
        return;
    if (rows.end > executor->plan->kept_rows) {
        kept->lost = true;
        return;
    }
    size_t bytes = row_bytes(executor, port);
    memcpy(kept->data + (size_t)rows.first * bytes, data, (size_t)(rows.end - rows.first) * bytes);
}

bool ps_kept_copy(struct ps_executor *executor, const struct ps_block_range *range,
                  struct ps_error *error)
{
    for (int i = 0; i < executor->pass->input_count; i++) {
        int port = executor->pass->inputs[i];
        size_t bytes = row_bytes(executor, port);
        if (!fills(executor, port) || in_host(executor, port))
            continue;
        char *to = executor->kept[port].data + (size_t)range->first_row * bytes;
        const char *from = ps_executor_device(executor, range->slot, port, range->first_row);
        if (!executor->backend->copy(executor->lanes[range->slot].queue, to, from,
                                     (size_t)range->rows * bytes, error))
            return false;
    }
    return true;
}

void ps_kept_end_pass(struct ps_executor *executor)
{
    const struct ps_plan *plan = executor->plan;
    for (int i = 0; i < executor->pass->input_count; i++) {
        int port = executor->pass->inputs[i];
        struct ps_kept *kept = &executor->kept[port];
        if (!fills(executor, port))
            continue;
        kept->ready = !kept->lost;
        if (kept->ready)
            continue;
        drop(executor, port);
        ps_log(PS_LOG_NOTE,
               "input '%s' has more than the %lld rows that fit in what was left of run.memory: "
               "later passes read it again",
               plan->ports[port].name, (long long)plan->kept_rows);
    }
}

// ---- Later passes ----

bool ps_executor_has(const struct ps_executor *executor, int port)
{
    return executor->kept[port].ready;
}

char *ps_kept_in_place(const struct ps_executor *executor, int port, int64_t row)
{
    if (port >= executor->plan->input_count)
        return NULL;
    bool ready =
        executor->kept[port].ready && (executor->backend->unified || !in_host(executor, port));
    return ready || is_direct(executor, port)
               ? executor->kept[port].data + (size_t)row * row_bytes(executor, port)
               : NULL;
}

void ps_executor_fetch(const struct ps_executor *executor, int slot, int port,
                       struct ps_row_range rows)
{
    size_t bytes = row_bytes(executor, port);
    if (ps_kept_in_place(executor, port, 0) == NULL && rows.first < rows.end)
        memcpy(ps_executor_host(executor, slot, port),
               executor->kept[port].data + (size_t)rows.first * bytes,
               (size_t)(rows.end - rows.first) * bytes);
}
