// SPDX-License-Identifier: Apache-2.0
// Runs one stage, or several fused ones, on arrays in memory: what the tests of stages share.
// A test fills in ports and options, and compares the result with a plain reference.
#ifndef PS_TESTS_STAGE_FIXTURE_H
#define PS_TESTS_STAGE_FIXTURE_H

#include "check.h"

#include "kernels/stage.h"

#include <stdio.h>
#include <string.h>

#define FIXTURE_PORTS 8

struct fixture {
    struct ps_port ports[FIXTURE_PORTS];
    const void *data[FIXTURE_PORTS]; // host data of each input port
    int port_count;                  // inputs so far, then stages
    int stage_count;
    struct ps_stage stages[FIXTURE_PORTS];
    struct ps_values options[FIXTURE_PORTS];
    struct ps_problems problems;
    struct ps_error error;
};

static inline void fixture_input(struct fixture *f, const char *name, bool streamed,
                                 enum ps_dtype dtype, int rank, const int64_t *dims,
                                 const void *data)
{
    struct ps_port *port = &f->ports[f->port_count];
    *port = (struct ps_port){.name = name, .streamed = streamed};
    ps_array_init(&port->array, dtype, rank, dims);
    f->data[f->port_count++] = data;
}

// Plans a stage; options as key, text pairs ending in NULL. A text "[a, b]" is a list.
static inline bool fixture_stage(struct fixture *f, const char *type, const char *name,
                                 const char *const *options)
{
    int s = f->stage_count;
    struct ps_values *values = &f->options[s];
    struct ps_stage *stage = &f->stages[s];
    struct ps_place place = {0, 1, 1, 1};
    bool fine = ps_values_default(values, ps_stage_type_find(type)->options, &f->error);
    for (; fine && *options != NULL; options += 2) {
        struct ps_value *value = (struct ps_value *)(uintptr_t)ps_values_get(values, options[0]);
        if (value->text != NULL && value->option->fallback != NULL && value->count != 0)
            value->count = 0; // a list's default is replaced
        if (options[1][0] == '[') {
            char text[256], *rest = text;
            snprintf(text, sizeof text, "%s", options[1] + 1);
            text[strcspn(text, "]")] = '\0';
            value->given = value->listed = true;
            for (char *word; (word = strsep(&rest, ",")) != NULL;)
                fine = ps_value_add_element(value, word + strspn(word, " "), false, place,
                                            &f->problems) && fine;
        } else {
            fine = ps_value_from_scalar(value, options[1], false, place, &f->problems);
        }
    }
    struct ps_scope scope = {f->ports, f->port_count, f->port_count - 1};
    *stage = (struct ps_stage){.type = ps_stage_type_find(type), .name = name,
                               .port = f->port_count, .place = place, .options = values};
    f->stage_count++;
    fine = fine && stage->type->plan(stage, &scope, &f->problems);
    f->ports[f->port_count] = (struct ps_port){.name = name, .array = stage->output,
                                               .streamed = stage->streamed, .failed = !fine};
    f->port_count++;
    return fine;
}

static inline void fixture_free(struct fixture *f)
{
    for (int s = 0; s < f->stage_count; s++) {
        if (f->stages[s].type->unplan != NULL)
            f->stages[s].type->unplan(&f->stages[s]);
        ps_array_free(&f->stages[s].output);
        ps_values_free(&f->options[s]);
    }
    ps_problems_free(&f->problems);
    memset(f, 0, sizeof *f);
}

// Runs all stages as one step on a backend, `rows` rows in blocks of block_rows (0: all at once),
// and gives the last stage's result (malloc'ed; for reductions the finished whole array). NULL with
// f->error set on failure. Streamed inputs have `rows` rows.
static inline void *fixture_run(struct fixture *f, enum ps_backend_id id, int64_t rows,
                                int64_t block_rows)
{
    const struct ps_backend *backend = ps_backend(id);
    struct ps_device_request request = {0};
    struct ps_device *device = NULL;
    struct ps_queue *queue = NULL;
    struct ps_program *program = NULL;
    struct ps_stage *stages[FIXTURE_PORTS], *last = &f->stages[f->stage_count - 1];
    const struct ps_port *inputs[FIXTURE_PORTS];
    int inputs_count = f->port_count - f->stage_count;
    struct ps_step step = {.type = last->type, .ports = f->ports, .stage_count = f->stage_count,
                           .stages = stages, .inputs = inputs, .output_count = 1, .outputs = &last};
    bool reduces = last->reduces_rows, any_streamed = false;
    for (int s = 0; s < f->stage_count; s++)
        stages[s] = &f->stages[s];
    for (int p = 0; p < inputs_count; p++) {
        inputs[step.input_count++] = &f->ports[p];
        any_streamed = any_streamed || f->ports[p].streamed;
    }
    if (!any_streamed)
        block_rows = rows = last->whole_rows;
    block_rows = block_rows <= 0 || block_rows > rows ? rows : block_rows;
    int64_t most = block_rows > 0 ? block_rows : 1;
    size_t out_row = last->streamed || !any_streamed ? ps_array_row_bytes(&last->output) : 0, out_bytes;
    if (!any_streamed && !reduces && ps_array_bytes(&last->output, &out_bytes) && rows == 1)
        out_row = out_bytes;
    if (reduces)
        ps_array_bytes(&last->output, &out_bytes);
    else
        out_bytes = out_row * (size_t)rows;
    char *result = calloc(out_bytes + 1, 1);
    void *device_in[FIXTURE_PORTS] = {0}, *device_out = NULL, *state = NULL, *scratch = NULL;
    void *host[FIXTURE_PORTS] = {0}, *host_out = NULL;
    size_t state_bytes = reduces ? last->type->reduction->state_bytes(&step) : 0;
    bool fine = backend != NULL && backend->open(&request, &device, &f->error) &&
                backend->queue_open(device, 4, &queue, &f->error) &&
                last->type->compile(&step, device, &program, &f->error);
    size_t scratch_bytes = last->type->scratch_bytes
                               ? last->type->scratch_bytes(&step, id, most) : 0;
    fine = fine && (scratch = backend->alloc(device, PS_MEMORY_DEVICE, scratch_bytes + 256, &f->error));
    fine = fine && (state = backend->alloc(device, PS_MEMORY_DEVICE, state_bytes + 256, &f->error)) &&
           backend->clear(queue, state, state_bytes + 256, &f->error);
    fine = fine && (device_out = backend->alloc(device, PS_MEMORY_DEVICE,
                                                out_row * (size_t)most + 256, &f->error)) &&
           (host_out = backend->alloc(device, PS_MEMORY_HOST,
                                      (out_row * (size_t)most > state_bytes ? out_row * (size_t)most
                                                                            : state_bytes) + 256,
                                      &f->error));
    for (int p = 0; fine && p < inputs_count; p++) {
        size_t bytes = 0;
        if (f->ports[p].streamed)
            bytes = ps_array_row_bytes(&f->ports[p].array) * (size_t)most;
        else
            ps_array_bytes(&f->ports[p].array, &bytes);
        fine = (host[p] = backend->alloc(device, PS_MEMORY_HOST, bytes + 256, &f->error)) &&
               (device_in[p] = backend->alloc(device, PS_MEMORY_DEVICE, bytes + 256, &f->error));
        if (fine && !f->ports[p].streamed && bytes > 0) {
            memcpy(host[p], f->data[p], bytes);
            fine = backend->copy(queue, device_in[p], host[p], bytes, &f->error);
        }
    }
    for (int64_t first = 0; fine && (first < rows || (rows == 0 && first == 0));
         first += block_rows > 0 ? block_rows : 1) {
        int64_t n = rows - first < block_rows ? rows - first : block_rows;
        for (int p = 0; fine && p < inputs_count; p++) {
            size_t row = ps_array_row_bytes(&f->ports[p].array);
            if (!f->ports[p].streamed || n == 0)
                continue;
            memcpy(host[p], (const char *)f->data[p] + (size_t)first * row, row * (size_t)n);
            fine = backend->copy(queue, device_in[p], host[p], row * (size_t)n, &f->error);
        }
        void *outputs[1] = {reduces ? NULL : device_out};
        struct ps_launch launch = {.queue = queue,
                                   .first_row = first,
                                   .rows = n,
                                   .in_first = first,
                                   .in_rows = n,
                                   .at_end = first + n >= rows,
                                   .inputs = (const void *const *)device_in,
                                   .outputs = outputs,
                                   .state = reduces ? state : NULL,
                                   .scratch = scratch};
        fine = fine && last->type->run[id](program, &launch, &f->error);
        size_t bytes = out_row * (size_t)n;
        if (fine && !reduces && bytes > 0)
            fine = backend->copy(queue, host_out, device_out, bytes, &f->error);
        fine = fine && backend->wait(queue, &f->error);
        if (fine && !reduces && bytes > 0)
            memcpy(result + (size_t)first * out_row, host_out, bytes);
    }
    if (fine && reduces)
        fine = backend->copy(queue, host_out, state, state_bytes, &f->error) &&
               backend->wait(queue, &f->error) &&
               last->type->reduction->finish(&step, host_out, result, &f->error);
    for (int p = 0; device != NULL && p < inputs_count; p++) {
        if (host[p] != NULL)
            backend->free(device, PS_MEMORY_HOST, host[p]);
        if (device_in[p] != NULL)
            backend->free(device, PS_MEMORY_DEVICE, device_in[p]);
    }
    if (scratch != NULL)
        backend->free(device, PS_MEMORY_DEVICE, scratch);
    if (state != NULL)
        backend->free(device, PS_MEMORY_DEVICE, state);
    if (device_out != NULL)
        backend->free(device, PS_MEMORY_DEVICE, device_out);
    if (host_out != NULL)
        backend->free(device, PS_MEMORY_HOST, host_out);
    if (program != NULL)
        last->type->release(program);
    if (queue != NULL)
        backend->queue_close(queue);
    if (device != NULL)
        backend->close(device);
    if (!fine) {
        free(result);
        return NULL;
    }
    return result;
}

#endif
