// SPDX-License-Identifier: Apache-2.0
// A small job of map stages for tests: ports with data, stages planned one after the other, all of
// them run as one fused step on a backend.
#ifndef PS_TESTS_MAP_JOB_H
#define PS_TESTS_MAP_JOB_H

#include "check.h"
#include "kernels/map/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef MJ_PORTS // inputs and stages of a job
#define MJ_PORTS 40
#endif

struct map_job {
    struct ps_port ports[MJ_PORTS];
    const void *data[MJ_PORTS]; // of inputs
    int port_count;
    struct ps_stage stages[MJ_PORTS];
    struct ps_values options[MJ_PORTS];
    int stage_count;
    struct ps_problems problems;
    void *results[MJ_PORTS]; // per stage, malloc'ed by mj_run
    struct ps_error error;
    bool checked; // option of the stages planned from now on
};

static inline struct ps_port *mj_port(struct map_job *job, const char *name, enum ps_dtype dtype,
                                      bool streamed, const void *data, int rank, ...)
{
    struct ps_port *port = &job->ports[job->port_count];
    int64_t dims[PS_RANK_MAX] = {0};
    va_list list;
    va_start(list, rank);
    for (int i = 0; i < rank; i++)
        dims[i] = va_arg(list, int);
    va_end(list);
    *port = (struct ps_port){.name = name, .streamed = streamed};
    ps_array_init(&port->array, dtype, rank, dims);
    job->data[job->port_count++] = data;
    return port;
}

static inline void mj_columns(struct map_job *job, int count, const char *const *names)
{
    struct ps_array *array = &job->ports[job->port_count - 1].array;
    CU_ASSERT_TRUE(ps_array_set_columns(array, count, names, &job->error));
}

// Plans a stage. dtype: NULL for none. params: NULL, or "k=2" texts ended by NULL. The expression
// counts as written on line 7 from column 10.
static inline struct ps_stage *mj_stage_with(struct map_job *job, const char *name,
                                             const char *expr, const char *dtype,
                                             const char *const *params)
{
    struct ps_stage *stage = &job->stages[job->stage_count];
    struct ps_values *options = &job->options[job->stage_count];
    const struct ps_stage_type *type = ps_stage_type_find("map");
    struct ps_scope scope = {job->ports, job->port_count, job->port_count - 1};
    struct ps_place place = {.line = 7, .column = 10, .length = (int)strlen(expr)};
    if (!ps_values_default(options, type->options, &job->error))
        abort();
    for (int i = 0; i < options->count; i++) {
        struct ps_value *value = &options->values[i];
        const char *key = value->option->key;
        if (strcmp(key, "expr") == 0 || (strcmp(key, "dtype") == 0 && dtype != NULL)) {
            ps_value_from_scalar(value, key[0] == 'e' ? expr : dtype, false, place, &job->problems);
            value->given = true;
        }
        if (strcmp(key, "checked") == 0 && job->checked)
            ps_value_from_scalar(value, "true", false, place, &job->problems);
        if (strcmp(key, "params") == 0 && params != NULL) {
            ps_value_begin_list(value, place);
            for (; *params != NULL; params++) {
                char word[64];
                const char *equals = strchr(*params, '=');
                snprintf(word, sizeof word, "%.*s", (int)(equals - *params), *params);
                ps_value_add_param(value, word, place, equals + 1, place, &job->problems);
            }
            value->given = true;
        }
    }
    *stage =
        (struct ps_stage){.type = type, .name = name, .port = job->port_count, .options = options};
    job->stage_count++;
    if (!type->plan(stage, &scope, &job->problems))
        return NULL;
    struct ps_port *port = &job->ports[job->port_count++];
    *port = (struct ps_port){.name = name, .streamed = stage->streamed};
    if (!ps_array_copy(&port->array, &stage->output, &job->error))
        abort();
    return stage;
}

static inline struct ps_stage *mj_stage(struct map_job *job, const char *name, const char *expr)
{
    return mj_stage_with(job, name, expr, NULL, NULL);
}

static inline void mj_free(struct map_job *job)
{
    for (int i = 0; i < job->stage_count; i++) {
        job->stages[i].type->unplan(&job->stages[i]);
        ps_array_free(&job->stages[i].output);
        ps_values_free(&job->options[i]);
        free(job->results[i]);
    }
    for (int i = 0; i < job->port_count; i++)
        ps_array_free(&job->ports[i].array);
    ps_problems_free(&job->problems);
    *job = (struct map_job){0};
}

// All stages as one step, with the outside inputs that they use; every stage's result is wanted.
struct mj_step {
    struct ps_step step;
    struct ps_stage *stages[MJ_PORTS];
    const struct ps_port *inputs[MJ_PORTS];
};

static inline void mj_step(struct map_job *job, struct mj_step *s)
{
    *s = (struct mj_step){0};
    s->step.type = ps_stage_type_find("map");
    s->step.ports = job->ports;
    s->step.stages = s->step.outputs = s->stages;
    s->step.stage_count = s->step.output_count = job->stage_count;
    s->step.inputs = s->inputs;
    for (int i = 0; i < job->stage_count; i++)
        s->stages[i] = &job->stages[i];
    for (int p = 0; p < job->port_count; p++)
        for (int i = 0, used = 0; i < job->stage_count && !used && job->data[p] != NULL; i++)
            for (int k = 0; k < job->stages[i].input_count && !used; k++)
                if (job->stages[i].inputs[k] == p && (used = 1))
                    s->inputs[s->step.input_count++] = &job->ports[p];
}

static inline size_t mj_bytes(const struct ps_port *port, int64_t rows)
{
    const struct ps_array *array = &port->array;
    if (port->streamed)
        return (size_t)rows * ps_array_row_bytes(array);
    size_t bytes = 0;
    if (!ps_array_bytes(array, &bytes))
        abort();
    return bytes;
}

// Runs rows [first, first + rows) of the streams (1 when nothing is streamed) on the device.
// Results land in job->results.
static inline bool mj_run_on(struct map_job *job, struct ps_device *device, int64_t first,
                             int64_t rows)
{
    const struct ps_backend *b = device->backend;
    struct ps_error *e = &job->error;
    struct mj_step s;
    struct ps_program *program = NULL;
    struct ps_queue *queue = NULL;
    void *in[MJ_PORTS] = {0}, *out[MJ_PORTS] = {0}, *scratch = NULL, *note = NULL, *noted = NULL;
    mj_step(job, &s);
    size_t note_bytes = s.step.type->check_bytes(&s.step);
    size_t need = s.step.type->scratch_bytes(&s.step, b->id, rows);
    bool fine = s.step.type->compile(&s.step, device, &program, e) &&
                b->queue_open(device, 2, &queue, e) &&
                (scratch = b->alloc(device, PS_MEMORY_DEVICE, need + 16, e)) != NULL;
    for (int i = 0; fine && i < s.step.input_count; i++) {
        const struct ps_port *port = s.inputs[i];
        size_t bytes = mj_bytes(port, rows);
        const char *from = job->data[port - job->ports];
        from += port->streamed ? (size_t)first * ps_array_row_bytes(&port->array) : 0;
        void *host = b->alloc(device, PS_MEMORY_HOST, bytes + 16, e);
        in[i] = b->alloc(device, PS_MEMORY_DEVICE, bytes + 16, e);
        fine = host != NULL && in[i] != NULL;
        if (fine)
            memcpy(host, from, bytes);
        fine = fine && b->copy(queue, in[i], host, bytes, e) && b->wait(queue, e);
        b->free(device, PS_MEMORY_HOST, host);
    }
    for (int i = 0; fine && i < job->stage_count; i++)
        fine =
            (out[i] = b->alloc(device, PS_MEMORY_DEVICE,
                               mj_bytes(&job->ports[job->stages[i].port], rows) + 16, e)) != NULL;
    if (fine && note_bytes > 0)
        fine = (note = b->alloc(device, PS_MEMORY_DEVICE, note_bytes, e)) != NULL &&
               (noted = b->alloc(device, PS_MEMORY_HOST, note_bytes, e)) != NULL &&
               b->clear(queue, note, note_bytes, e);
    struct ps_launch launch = {.queue = queue,
                               .first_row = first,
                               .rows = rows,
                               .inputs = (const void *const *)in,
                               .outputs = out,
                               .scratch = scratch,
                               .check = note};
    fine = fine && s.step.type->run[b->id](program, &launch, e) && b->wait(queue, e);
    if (fine && note != NULL)
        fine = b->copy(queue, noted, note, note_bytes, e) && b->wait(queue, e) &&
               s.step.type->check(program, noted, e);
    for (int i = 0; fine && i < job->stage_count; i++) {
        size_t bytes = mj_bytes(&job->ports[job->stages[i].port], rows);
        void *host = b->alloc(device, PS_MEMORY_HOST, bytes + 16, e);
        fine = host != NULL && b->copy(queue, host, out[i], bytes, e) && b->wait(queue, e);
        free(job->results[i]);
        job->results[i] = malloc(bytes + 16);
        if (fine)
            memcpy(job->results[i], host, bytes);
        b->free(device, PS_MEMORY_HOST, host);
    }
    for (int i = 0; i < MJ_PORTS; i++) {
        if (in[i] != NULL)
            b->free(device, PS_MEMORY_DEVICE, in[i]);
        if (out[i] != NULL)
            b->free(device, PS_MEMORY_DEVICE, out[i]);
    }
    if (note != NULL)
        b->free(device, PS_MEMORY_DEVICE, note);
    if (noted != NULL)
        b->free(device, PS_MEMORY_HOST, noted);
    if (scratch != NULL)
        b->free(device, PS_MEMORY_DEVICE, scratch);
    if (queue != NULL)
        b->queue_close(queue);
    if (program != NULL)
        s.step.type->release(program);
    return fine;
}

static inline struct ps_device *mj_open(enum ps_backend_id id)
{
    struct ps_device_request request = {0};
    struct ps_device *device = NULL;
    struct ps_error error = {0};
    if (!ps_backend(id)->open(&request, &device, &error)) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return device;
}

// On the cpu.
static inline bool mj_run(struct map_job *job, int64_t rows)
{
    struct ps_device *device = mj_open(PS_CPU);
    bool fine = mj_run_on(job, device, 0, rows);
    if (!fine)
        fprintf(stderr, "%s\n", job->error.text);
    device->backend->close(device);
    return fine;
}

#endif
