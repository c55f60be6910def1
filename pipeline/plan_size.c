// SPDX-License-Identifier: Apache-2.0
// Backend, block and slots: what fits in memory and what runs fast.
#include "pipeline/plan_parts.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Measured: a block of about this many input bytes stays in a core's cache on the cpu; on cuda it
// hides launch and copy overheads while three slots of it still fit in the last-level cache.
#define CPU_BLOCK_BYTES (1u << 20)
#define CUDA_BLOCK_BYTES (16u << 20)
// Below this much input the GPU's start-up alone (0.2-0.5 s) costs more than the cpu needs.
#define SMALL_JOB_BYTES (64u << 20)

#define WHY_BYTES 320

static uint64_t input_bytes(const struct ps_plan *plan)
{
    uint64_t total = 0;
    for (int i = 0; i < plan->input_count; i++) {
        size_t bytes;
        if (plan->ports[i].array.rank > 0 && plan->ports[i].array.dims[0] == PS_ROWS_UNKNOWN)
            total += plan->readers[i].file_bytes;
        else if (ps_array_bytes(&plan->ports[i].array, &bytes))
            total += bytes;
    }
    return total;
}

// Whether every stage runs on the backend; else why the first one does not.
static bool runs_on(const struct ps_plan *plan, enum ps_backend_id backend, char *why, size_t size)
{
    for (int p = plan->input_count; p < plan->port_count; p++) {
        const struct ps_stage *stage = &plan->stages[p - plan->input_count];
        if (!plan->needed[p])
            continue;
        if (stage->type->run[backend] == NULL) {
            snprintf(why, size, "stage type %s does not run on %s", stage->type->name,
                     backend == PS_CPU ? "cpu" : "cuda");
            return false;
        }
        if (stage->type->offered != NULL && !stage->type->offered(stage, backend, why, size))
            return false;
    }
    return true;
}

static bool choose_auto(struct ps_plan *plan, const char *missing, struct ps_error *error)
{
    char size[32], no_cpu[WHY_BYTES], no_cuda[WHY_BYTES];
    uint64_t bytes = input_bytes(plan);
    bool cpu = runs_on(plan, PS_CPU, no_cpu, sizeof no_cpu);
    bool cuda = runs_on(plan, PS_CUDA, no_cuda, sizeof no_cuda);
    plan->backend = cpu ? PS_CPU : PS_CUDA;
    if (!cpu && missing != NULL)
        return ps_fail(error, PS_DEVICE, "%s; the cuda backend cannot be used: %s", no_cpu,
                       missing);
    if (!cpu && !cuda)
        return ps_fail(error, PS_USAGE, "no backend runs all stages: %s; %s", no_cpu, no_cuda);
    if (!cpu)
        snprintf(plan->reason, sizeof plan->reason, "%s", no_cpu);
    else if (plan->port_count == plan->input_count)
        snprintf(plan->reason, sizeof plan->reason, "there is no stage to run");
    else if (missing != NULL)
        snprintf(plan->reason, sizeof plan->reason, "%s", missing);
    else if (!cuda)
        snprintf(plan->reason, sizeof plan->reason, "%s", no_cuda);
    else if (bytes < SMALL_JOB_BYTES)
        snprintf(plan->reason, sizeof plan->reason,
                 "%s of input is less than what pays for starting the GPU",
                 ps_size_text(bytes, size, sizeof size));
    else {
        plan->backend = PS_CUDA;
        snprintf(plan->reason, sizeof plan->reason, "a GPU is there and %s of input pays for it",
                 ps_size_text(bytes, size, sizeof size));
    }
    return true;
}

bool ps_plan_backend(struct ps_plan *plan, struct ps_error *error)
{
    static const char *const asked = "asked for by run.backend";
    char text[400], why[WHY_BYTES];
    int choice = ps_values_get(&plan->config->run, "backend")->choice; // auto|cpu|cuda
    bool may_be_cuda = plan->compare || choice != 1;
    // Asking the driver takes a quarter of a second: not for a job that wants none of it.
    const char *missing = may_be_cuda ? ps_cuda_missing(text, sizeof text) : NULL;
    if (plan->compare) {
        if (missing != NULL)
            return ps_fail(error, PS_DEVICE, "compare needs both backends: %s", missing);
        if (!runs_on(plan, PS_CPU, why, sizeof why))
            return ps_fail(error, PS_USAGE, "compare needs both backends: %s", why);
        plan->backend = PS_CUDA;
        snprintf(plan->reason, sizeof plan->reason, "compare runs both; outputs are cuda's");
    } else if (choice == 0) {
        return choose_auto(plan, missing, error);
    } else {
        plan->backend = choice == 1 ? PS_CPU : PS_CUDA;
        snprintf(plan->reason, sizeof plan->reason, "%s", asked);
        if (plan->backend == PS_CUDA && missing != NULL)
            return ps_fail(error, PS_DEVICE, "run.backend is cuda, but %s", missing);
    }
    return runs_on(plan, plan->backend, why, sizeof why) || ps_fail(error, PS_USAGE, "%s", why);
}

// ---- Sizes ----

struct need {
    uint64_t host, device; // everything, all slots
    uint64_t states;
};

static uint64_t whole_bytes(const struct ps_plan *plan)
{
    uint64_t total = 0;
    for (int p = 0; p < plan->port_count; p++) {
        size_t bytes;
        if (plan->needed[p] && !plan->ports[p].streamed &&
            ps_array_bytes(&plan->ports[p].array, &bytes))
            total += bytes + 256;
    }
    return total;
}

// What outputs stored as another dtype take to convert one block (or a whole array).
static uint64_t conversion_bytes(const struct ps_plan *plan, int64_t block_rows)
{
    uint64_t total = 0;
    for (int i = 0; i < plan->output_count; i++) {
        const struct ps_plan_output *output = &plan->outputs[i];
        const struct ps_array *array = &output->spec.array;
        int64_t rows = output->streamed ? block_rows : ps_array_rows(array);
        uint64_t bytes;
        if (output->spec.dtype == array->dtype)
            continue;
        if (__builtin_mul_overflow((uint64_t)rows * ps_dtype_bytes(output->spec.dtype),
                                   (uint64_t)ps_array_row_elements(array), &bytes) ||
            bytes > UINT64_MAX / 4 - total)
            return UINT64_MAX / 4;
        total += bytes;
    }
    return total;
}

static bool need_of_pass(const struct ps_plan *plan, const struct ps_pass *pass,
                         enum ps_backend_id backend, int64_t rows, struct need *need,
                         struct ps_error *error)
{
    struct ps_layout layout;
    bool unified = backend == PS_CPU;
    if (!ps_layout_make(plan, pass, backend, unified, rows, &layout, error))
        return false;
    uint64_t slots = (uint64_t)plan->slots;
    // Whole arrays live on the device and once more on the host (to load, merge and write them);
    // states are merged through two host copies.
    need->states = slots * layout.state_bytes;
    need->device = slots * layout.device_bytes + plan->whole_bytes;
    need->host = slots * layout.host_bytes + plan->whole_bytes + 2 * layout.state_bytes;
    for (int i = 0; i < pass->input_count; i++)
        if (ps_plan_keeps_tail(plan, pass, pass->inputs[i]))
            need->host += (uint64_t)ps_pass_neighbours(pass) *
                          ps_array_row_bytes(&plan->ports[pass->inputs[i]].array);
    if (unified) {
        need->host += need->device;
        need->device = 0;
    }
    ps_layout_free(&layout);
    return true;
}

static bool need_of_job(const struct ps_plan *plan, enum ps_backend_id backend, int64_t rows,
                        struct need *most, struct ps_error *error)
{
    *most = (struct need){0};
    for (int i = 0; i < plan->pass_count; i++) {
        struct need need = {0};
        if (!need_of_pass(plan, &plan->passes[i], backend, rows, &need, error))
            return false;
        most->host = need.host > most->host ? need.host : most->host;
        most->device = need.device > most->device ? need.device : most->device;
        most->states = need.states > most->states ? need.states : most->states;
    }
    return true;
}

static bool both_needs(const struct ps_plan *plan, int64_t rows, struct need *need,
                       struct ps_error *error)
{
    struct need extra = {0};
    if (!need_of_job(plan, plan->backend, rows, need, error))
        return false;
    if (plan->compare && !need_of_job(plan, PS_CPU, rows, &extra, error))
        return false;
    need->host += extra.host + conversion_bytes(plan, rows);
    return true;
}

static bool fits(const struct ps_plan *plan, int64_t rows, struct need *need)
{
    struct ps_error error = {0};
    return both_needs(plan, rows, need, &error) && need->host <= plan->host_limit &&
           (plan->device_limit == 0 || need->device <= plan->device_limit);
}

static uint64_t row_bytes(const struct ps_plan *plan)
{
    uint64_t most = 0;
    for (int i = 0; i < plan->pass_count; i++) {
        uint64_t bytes = 0;
        for (int j = 0; j < plan->passes[i].input_count; j++)
            bytes += ps_array_row_bytes(&plan->ports[plan->passes[i].inputs[j]].array);
        most = bytes > most ? bytes : most;
    }
    return most > 0 ? most : 1;
}

static bool refuse(const struct ps_plan *plan, int64_t rows, struct ps_error *error)
{
    struct need need;
    if (!both_needs(plan, rows, &need, error))
        return false;
    bool host = need.host > plan->host_limit;
    uint64_t bytes = host ? need.host : need.device;
    uint64_t mebibytes = (bytes + (1u << 20) - 1) >> 20; // up, so that it would do
    char needed[32], limit[32], whole[32], note[64] = "";
    ps_size_text(bytes, needed, sizeof needed);
    ps_size_text(host ? plan->host_limit : plan->device_limit, limit, sizeof limit);
    if (plan->whole_bytes > bytes / 8)
        snprintf(note, sizeof note, ", %s of it for whole arrays",
                 ps_size_text(plan->whole_bytes * (host && need.device == 0 ? 2 : 1), whole,
                              sizeof whole));
    return ps_fail(error, PS_DEVICE,
                   "%d slot%s of blocks of %lld row%s need%s %s of %s memory (%llu bytes%s), but "
                   "run.%s allows %s: set it to %llu MiB%s%s",
                   plan->slots, plan->slots == 1 ? "" : "s", (long long)rows, rows == 1 ? "" : "s",
                   plan->slots == 1 ? "s" : "", needed, host ? "host" : "device",
                   (unsigned long long)bytes, note, host ? "memory" : "device_memory", limit,
                   (unsigned long long)mebibytes, rows > 1 ? ", or run.block lower" : "",
                   plan->slots > 1 ? ", or run.slots lower" : "");
}

static int64_t largest_that_fits(const struct ps_plan *plan, int64_t target)
{
    struct need need;
    if (fits(plan, target, &need))
        return target;
    int64_t good = 0, bad = target;
    while (bad - good > 1) {
        int64_t middle = good + (bad - good) / 2;
        if (fits(plan, middle, &need))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

// Rows that an input reads together, at any rate; 0: none says so.
static int64_t row_group(const struct ps_plan *plan)
{
    int64_t group = 0;
    for (int i = 0; i < plan->input_count; i++)
        if (plan->ports[i].streamed && plan->readers[i].row_group > group)
            group = plan->readers[i].row_group;
    return group;
}

static void warn_of_group(const struct ps_plan *plan)
{
    int64_t group = row_group(plan);
    if (group > plan->block_rows && (plan->rows < 0 || plan->rows > plan->block_rows))
        ps_log(
            PS_LOG_WARNING,
            "blocks of %lld row%s are read about %lld times over, as chunks of an input hold %lld "
            "rows and are too large to be kept: more run.memory, or a larger run.block, reads them "
            "once",
            (long long)plan->block_rows, plan->block_rows == 1 ? "" : "s",
            (long long)(group / plan->block_rows), (long long)group);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t wanted_rows(const struct ps_plan *plan, const struct ps_value *block)
{
    uint64_t bytes = block->bytes > 0           ? block->bytes
                     : plan->backend == PS_CUDA ? CUDA_BLOCK_BYTES
                                                : CPU_BLOCK_BYTES;
    int64_t rows = block->integer > 0 ? block->integer : (int64_t)(bytes / row_bytes(plan));
    int64_t group = block->automatic ? row_group(plan) : 0;
    if (group > 0)
        rows = rows < group ? group : rows - rows % group;
    // What is read twice, as the next block needs it again, should be little of a block.
    for (int i = 0; block->automatic && i < plan->pass_count; i++)
        if (ps_pass_neighbours(&plan->passes[i]) < INT64_MAX / 8)
            rows = larger(rows, 4 * ps_pass_neighbours(&plan->passes[i]));
    if (plan->rows >= 0 && rows > plan->rows)
        rows = plan->rows;
    return rows > 0 ? rows : 1;
}

static void choose_lanes(struct ps_plan *plan)
{
    const struct ps_value *threads = ps_values_get(&plan->config->run, "threads");
    const struct ps_value *slots = ps_values_get(&plan->config->run, "slots");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    plan->threads = threads->automatic ? (int)(cores > 0 ? cores : 1) : (int)threads->integer;
    int automatic = plan->backend == PS_CUDA ? 3 : plan->threads + 1;
    automatic = automatic < 3 ? 3 : automatic > 64 ? 64 : automatic;
    plan->slots = slots->automatic ? automatic : (int)slots->integer;
}

bool ps_plan_size(struct ps_plan *plan, uint64_t device_free, struct ps_error *error)
{
    const struct ps_value *block = ps_values_get(&plan->config->run, "block");
    const struct ps_value *slots = ps_values_get(&plan->config->run, "slots");
    const struct ps_value *device = ps_values_get(&plan->config->run, "device_memory");
    choose_lanes(plan);
    plan->whole_bytes = whole_bytes(plan);
    plan->host_limit = ps_values_get(&plan->config->run, "memory")->bytes;
    plan->device_limit = device_free == 0 ? 0 : device_free / 10 * 8; // the rest: libraries
    if (!device->automatic && device_free > 0)
        plan->device_limit = device->bytes < device_free ? device->bytes : device_free;
    int64_t rows = wanted_rows(plan, block);
    struct need need;
    while (row_group(plan) > 0 && plan->slots > 2 && slots->automatic && !fits(plan, rows, &need))
        plan->slots--; // each block that is smaller than a group reads all of it again
    if (block->automatic)
        rows = largest_that_fits(plan, rows);
    while (plan->slots > 1 && slots->automatic && (rows < 1 || !fits(plan, rows, &need))) {
        plan->slots--; // rather slower than not at all
        rows = block->automatic ? largest_that_fits(plan, wanted_rows(plan, block)) : rows;
    }
    if (rows < 1 || !fits(plan, rows, &need))
        return refuse(plan, rows < 1 ? 1 : rows, error);
    plan->block_rows = rows;
    plan->host_bytes = need.host;
    plan->device_bytes = need.device;
    plan->state_bytes = need.states;
    warn_of_group(plan);
    return ps_plan_keep(plan, error);
}
