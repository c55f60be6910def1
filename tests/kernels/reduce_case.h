// SPDX-License-Identifier: Apache-2.0
// Runs one reduction on one backend without the pipeline: options as text, a whole array cut into
// blocks for several slots, states merged in a chosen order. Shared by the tests of reduce.
#ifndef PS_TESTS_REDUCE_CASE_H
#define PS_TESTS_REDUCE_CASE_H

#include "base/array.h"
#include "kernels/backends.h"
#include "kernels/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reduce_case {
    const char *axis; // "rows", "all", "1", "1,2"
    const char *of;   // "mean", or "mean,std" as a list
    int64_t ddof;
    struct ps_array input;
    const void *data;
    enum ps_backend_id backend;
    // How the rows are cut: block i has blocks[i % block_count] rows and goes to slot
    // i % slot_count. block_count 0: one block.
    const int64_t *blocks;
    int block_count, slot_count;
    bool reversed; // blocks are run, and states merged, from the last
};

struct reduce_result {
    struct ps_array array;
    void *data;
    struct ps_error error; // PS_OK: data is the result
};

static inline void case_words(struct ps_value *value, const char *text,
                              struct ps_problems *problems)
{
    char copy[256], *word = copy, *end;
    struct ps_place place = {0, 1, 1, 1};
    snprintf(copy, sizeof copy, "%s", text);
    if (strchr(text, ',') == NULL && text[0] != '[') {
        value->given = true;
        ps_value_from_scalar(value, text, false, place, problems);
        return;
    }
    if (copy[0] == '[')
        word++;
    ps_value_begin_list(value, place);
    for (; word != NULL; word = end) {
        end = strpbrk(word, ",]");
        if (end != NULL)
            *end++ = '\0';
        if (word[0] != '\0')
            ps_value_add_element(value, word, false, place, problems);
    }
}

static inline bool case_plan(const struct reduce_case *c, struct ps_port *port,
                             struct ps_values *values, struct ps_stage *stage,
                             struct ps_error *error)
{
    struct ps_problems problems = {0};
    struct ps_scope scope = {port, 1, 0};
    port->name = "x";
    port->array = c->input;
    port->streamed = true;
    if (!ps_values_default(values, ps_stage_reduce.options, error))
        return false;
    case_words((struct ps_value *)ps_values_get(values, "axis"), c->axis, &problems);
    case_words((struct ps_value *)ps_values_get(values, "of"), c->of, &problems);
    ((struct ps_value *)ps_values_get(values, "ddof"))->integer = c->ddof;
    *stage = (struct ps_stage){.type = &ps_stage_reduce, .name = "r", .port = 1, .options = values};
    bool fine = problems.error_count == 0 && ps_stage_reduce.plan(stage, &scope, &problems);
    if (!fine)
        ps_fail(error, PS_USAGE, "%s", problems.count > 0 ? problems.list[0].text : "no message");
    ps_problems_free(&problems);
    return fine;
}

// All blocks of one slot's share; out_host receives streamed results.
static inline bool case_blocks(const struct reduce_case *c, const struct ps_step *step,
                               const struct ps_program *program, struct ps_queue *queue, int slot,
                               char *state, char *out_host, struct ps_error *error)
{
    const struct ps_backend *backend = queue->device->backend;
    struct ps_device *device = queue->device;
    int64_t rows = ps_array_rows(&c->input), first = 0, most = 1;
    size_t in_row = ps_array_row_bytes(&c->input);
    size_t out_row = step->stages[0]->streamed ? ps_array_row_bytes(&step->stages[0]->output) : 0;
    int64_t starts = 0, *list = malloc((size_t)(rows + 1) * 2 * sizeof *list);
    for (; first < rows; starts++) {
        int64_t some = c->block_count > 0 ? c->blocks[starts % c->block_count] : rows;
        some = some < rows - first ? some : rows - first;
        list[2 * starts] = first;
        list[2 * starts + 1] = some;
        most = some > most ? some : most;
        first += some;
    }
    size_t scratch_bytes = ps_stage_reduce.scratch_bytes(step, backend->id, most);
    void *in_host = backend->alloc(device, PS_MEMORY_HOST, in_row * (size_t)most + 1, error);
    void *in = backend->alloc(device, PS_MEMORY_DEVICE, in_row * (size_t)most + 1, error);
    void *out = backend->alloc(device, PS_MEMORY_DEVICE, out_row * (size_t)most + 1, error);
    void *scratch = backend->alloc(device, PS_MEMORY_DEVICE, scratch_bytes + 1, error);
    bool fine = in_host && in && out && scratch;
    for (int64_t i = 0; fine && i < starts; i++) {
        int64_t b = c->reversed ? starts - 1 - i : i;
        if (c->slot_count > 1 && b % c->slot_count != slot)
            continue;
        size_t bytes = (size_t)list[2 * b + 1] * in_row;
        memcpy(in_host, (const char *)c->data + (size_t)list[2 * b] * in_row, bytes);
        const void *inputs[] = {in};
        void *outputs[] = {out_row > 0 ? out : NULL};
        struct ps_launch launch = {.queue = queue,
                                   .first_row = list[2 * b],
                                   .rows = list[2 * b + 1],
                                   .in_first = list[2 * b],
                                   .in_rows = list[2 * b + 1],
                                   .inputs = inputs,
                                   .outputs = outputs,
                                   .state = state,
                                   .scratch = scratch};
        fine = (bytes == 0 || backend->copy(queue, in, in_host, bytes, error)) &&
               ps_stage_reduce.run[backend->id](program, &launch, error) &&
               backend->wait(queue, error);
        if (fine && out_row > 0) {
            size_t out_bytes = (size_t)list[2 * b + 1] * out_row;
            void *host = backend->alloc(device, PS_MEMORY_HOST, out_bytes, error);
            fine = host && backend->copy(queue, host, out, out_bytes, error) &&
                   backend->wait(queue, error);
            if (fine)
                memcpy(out_host + (size_t)list[2 * b] * out_row, host, out_bytes);
            if (host)
                backend->free(device, PS_MEMORY_HOST, host);
        }
    }
    free(list);
    void *device_parts[] = {in, out, scratch};
    for (int i = 0; i < 3; i++)
        if (device_parts[i])
            backend->free(device, PS_MEMORY_DEVICE, device_parts[i]);
    if (in_host)
        backend->free(device, PS_MEMORY_HOST, in_host);
    return fine;
}

static inline bool case_run(const struct reduce_case *c, const struct ps_step *step,
                            struct ps_device *device, struct ps_queue *queue, char *out,
                            struct ps_error *error)
{
    const struct ps_backend *backend = device->backend;
    size_t bytes = ps_stage_reduce.reduction->state_bytes(step);
    int slots = c->slot_count > 1 ? c->slot_count : 1;
    bool reduces = step->stages[0]->reduces_rows, fine = true;
    char *state = backend->alloc(device, PS_MEMORY_DEVICE, bytes, error);
    char *host = backend->alloc(device, PS_MEMORY_HOST, bytes, error);
    char *merged = backend->alloc(device, PS_MEMORY_HOST, bytes, error);
    struct ps_program *program = NULL;
    fine = state && host && merged && ps_stage_reduce.compile(step, device, &program, error);
    if (fine)
        memset(merged, 0, bytes);
    for (int i = 0; fine && i < slots; i++) {
        int slot = c->reversed ? slots - 1 - i : i;
        fine = backend->clear(queue, state, bytes, error) &&
               case_blocks(c, step, program, queue, slot, reduces ? state : NULL, out, error) &&
               backend->copy(queue, host, state, bytes, error) && backend->wait(queue, error);
        if (fine && reduces)
            ps_stage_reduce.reduction->merge(step, merged, host);
    }
    fine = fine && (!reduces || ps_stage_reduce.reduction->finish(step, merged, out, error));
    if (program)
        ps_stage_reduce.release(program);
    if (state)
        backend->free(device, PS_MEMORY_DEVICE, state);
    if (host)
        backend->free(device, PS_MEMORY_HOST, host);
    if (merged)
        backend->free(device, PS_MEMORY_HOST, merged);
    return fine;
}

// The result is the caller's: case_free. error.status tells how it went.
static inline struct reduce_result case_reduce(const struct reduce_case *c)
{
    struct reduce_result result = {0};
    struct ps_port ports[2] = {{0}};
    struct ps_values values = {0};
    struct ps_stage stage = {0}, *stages[] = {&stage};
    struct ps_device_request request = {0, 0};
    struct ps_device *device = NULL;
    struct ps_queue *queue = NULL;
    const struct ps_backend *backend = ps_backend(c->backend);
    size_t bytes;
    if (case_plan(c, ports, &values, &stage, &result.error)) {
        const struct ps_port *inputs[] = {ports};
        struct ps_step step = {&ps_stage_reduce, ports, 1, stages, 1, inputs, 1, stages};
        if (!ps_array_copy(&result.array, &stage.output, &result.error) ||
            !ps_array_bytes(&stage.output, &bytes))
            abort();
        result.data = calloc(1, bytes + 8);
        if (backend->open(&request, &device, &result.error) &&
            backend->queue_open(device, 1, &queue, &result.error))
            case_run(c, &step, device, queue, result.data, &result.error);
        if (queue)
            backend->queue_close(queue);
        if (device)
            backend->close(device);
    }
    ps_array_free(&stage.output);
    ps_stage_reduce.unplan(&stage);
    ps_values_free(&values);
    return result;
}

static inline void case_free(struct reduce_result *result)
{
    ps_array_free(&result->array);
    free(result->data);
}

#endif
