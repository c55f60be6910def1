// SPDX-License-Identifier: Apache-2.0
// A made-up GPU: device memory apart from host memory, queues that work late and in threads of
// their own. A copy that is missing, a buffer used too early or a wait left out gives wrong numbers
// here, and a race under the thread sanitizer.
#ifndef PS_TESTS_LATE_H
#define PS_TESTS_LATE_H

#include "toy.h"

#include <pthread.h>

// ---- The backend ----

enum op_kind { OP_COPY, OP_CLEAR, OP_MARK, OP_CALL };

struct op {
    enum op_kind kind;
    void *to;
    const void *from;
    size_t bytes;
    int mark;
    const struct ps_program *program;
    struct ps_launch launch;
    const void *inputs[16];
    void *outputs[16];
    bool (*call)(const struct ps_program *, const struct ps_launch *, struct ps_error *);
};

#define OPS_MAX 256
struct late_queue {
    struct ps_queue head;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct op ops[OPS_MAX]; // a ring
    long put, taken;
    bool closing;
    double marks[64];
    struct ps_error error;
};

static atomic_int late_memory; // allocations that are open
static atomic_int late_copies;
static atomic_int late_limit; // allocations there may be; 0: any number

static double late_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void do_op(struct late_queue *queue, const struct op *op)
{
    toy_pause((unsigned)(queue->taken * 7919 % 30)); // now and then another queue goes first
    switch (op->kind) {
    case OP_COPY:
        memcpy(op->to, op->from, op->bytes);
        late_copies++;
        break;
    case OP_CLEAR:
        memset(op->to, 0, op->bytes);
        break;
    case OP_MARK:
        queue->marks[op->mark] = late_clock();
        break;
    case OP_CALL:
        op->call(op->program, &op->launch, &queue->error);
        break;
    }
}

static void *late_main(void *argument)
{
    struct late_queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    while (!queue->closing || queue->taken < queue->put) {
        if (queue->taken == queue->put) {
            pthread_cond_wait(&queue->changed, &queue->lock);
            continue;
        }
        struct op op = queue->ops[queue->taken % OPS_MAX];
        if (op.kind == OP_CALL) {
            op.launch.inputs = op.inputs;
            op.launch.outputs = op.outputs;
        }
        pthread_mutex_unlock(&queue->lock);
        do_op(queue, &op);
        pthread_mutex_lock(&queue->lock);
        queue->taken++;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

static bool put(struct ps_queue *head, const struct op *op)
{
    struct late_queue *queue = (struct late_queue *)head;
    pthread_mutex_lock(&queue->lock);
    while (queue->put - queue->taken == OPS_MAX)
        pthread_cond_wait(&queue->changed, &queue->lock);
    queue->ops[queue->put++ % OPS_MAX] = *op;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return true;
}

static bool late_open(const struct ps_device_request *request, struct ps_device **device_out,
                      struct ps_error *error)
{
    struct ps_device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return ps_fail_memory(error, sizeof *device, "a device");
    device->backend = ps_backend(PS_CUDA);
    device->request = *request;
    device->memory_free = device->memory_total = 64u << 20;
    strcpy(device->description, "late");
    *device_out = device;
    return true;
}

static void late_close(struct ps_device *device)
{
    free(device);
}

static void *late_alloc(struct ps_device *device, enum ps_memory memory, size_t bytes,
                        struct ps_error *error)
{
    (void)device;
    (void)memory;
    void *data = NULL;
    if (late_limit > 0 && late_memory == late_limit)
        ps_fail_memory(error, bytes, "the made-up GPU");
    else if ((data = malloc(bytes)) != NULL) {
        memset(data, 0xab, bytes);
        late_memory++;
    }
    return data;
}

static void late_free(struct ps_device *device, enum ps_memory memory, void *data)
{
    (void)device;
    (void)memory;
    free(data);
    late_memory--;
}

static bool late_queue_open(struct ps_device *device, int marks, struct ps_queue **queue_out,
                            struct ps_error *error)
{
    struct late_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL || marks > 64)
        return ps_fail_memory(error, sizeof *queue, "a queue");
    queue->head.device = device;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    pthread_create(&queue->thread, NULL, late_main, queue);
    *queue_out = &queue->head;
    return true;
}

static void late_queue_close(struct ps_queue *head)
{
    struct late_queue *queue = (struct late_queue *)head;
    pthread_mutex_lock(&queue->lock);
    queue->closing = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

static bool late_copy(struct ps_queue *queue, void *to, const void *from, size_t bytes,
                      struct ps_error *error)
{
    (void)error;
    return put(queue, &(struct op){.kind = OP_COPY, .to = to, .from = from, .bytes = bytes});
}

static bool late_clear(struct ps_queue *queue, void *data, size_t bytes, struct ps_error *error)
{
    (void)error;
    return put(queue, &(struct op){.kind = OP_CLEAR, .to = data, .bytes = bytes});
}

static bool late_mark(struct ps_queue *queue, int index, struct ps_error *error)
{
    (void)error;
    return put(queue, &(struct op){.kind = OP_MARK, .mark = index});
}

static bool late_wait(struct ps_queue *head, struct ps_error *error)
{
    struct late_queue *queue = (struct late_queue *)head;
    pthread_mutex_lock(&queue->lock);
    while (queue->taken < queue->put)
        pthread_cond_wait(&queue->changed, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
    if (queue->error.status == PS_OK)
        return true;
    *error = queue->error;
    return false;
}

static bool late_when(struct ps_queue *head, int index, double *ms_out, struct ps_error *error)
{
    (void)error;
    *ms_out = ((struct late_queue *)head)->marks[index];
    return true;
}

static const struct ps_backend late = {.id = PS_CUDA,
                                       .name = "cuda",
                                       .open = late_open,
                                       .close = late_close,
                                       .alloc = late_alloc,
                                       .free = late_free,
                                       .queue_open = late_queue_open,
                                       .queue_close = late_queue_close,
                                       .copy = late_copy,
                                       .clear = late_clear,
                                       .mark = late_mark,
                                       .wait = late_wait,
                                       .when = late_when};

extern const struct ps_backend ps_backend_cpu;
const struct ps_backend *ps_backend(enum ps_backend_id id)
{
    return id == PS_CPU ? &ps_backend_cpu : &late;
}

const char *ps_cuda_missing(char *out, size_t out_size)
{
    (void)out;
    (void)out_size;
    return NULL;
}

// ---- Stages on it: the cpu's functions, called by the queue when their turn comes ----

typedef bool run_function(const struct ps_program *, const struct ps_launch *, struct ps_error *);

static bool enqueue(const struct ps_program *program, const struct ps_launch *launch,
                    run_function *call)
{
    const struct ps_step *step = toy_step(program);
    struct op op = {.kind = OP_CALL, .program = program, .launch = *launch, .call = call};
    for (int i = 0; i < step->input_count; i++)
        op.inputs[i] = launch->inputs[i];
    for (int i = 0; i < step->output_count; i++)
        op.outputs[i] = launch->outputs[i];
    return put(launch->queue, &op);
}

static bool late_run(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_error *error)
{
    (void)error;
    return enqueue(program, launch, toy_step(program)->type->run[PS_CPU]);
}

// Has the made-up GPU run every toy stage.
static void late_begin(void)
{
    static struct ps_stage_type *const types[] = {&toy_scale,  &toy_add,     &toy_total,
                                                  &toy_window, &toy_running, &toy_choose};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        types[i]->run[PS_CUDA] = late_run;
}

// Runs a planned job on the made-up GPU, and on the cpu as well when it compares.
static bool late_execute(struct toy_job *job, struct ps_text *compared, bool *matched)
{
    struct ps_executor executors[2] = {{0}};
    struct ps_timing *timing = ps_timing_open(NULL, &job->error);
    struct ps_run run = {
        .plan = job->plan, .executors = executors, .timing = timing, .stop = &toy_stop};
    bool fine = ps_executor_open(&executors[0], job->plan, PS_CUDA, &job->error);
    run.executor_count = job->plan->compare ? 2 : 1;
    if (fine && job->plan->compare) {
        fine = ps_executor_open(&executors[1], job->plan, PS_CPU, &job->error);
        run.compare = ps_compare_open(job->plan, &job->error);
    }
    for (int i = 0; fine && i < run.executor_count; i++)
        fine = ps_executor_compile(&executors[i], &job->error) &&
               ps_executor_alloc(&executors[i], &job->error);
    fine = fine && ps_run_job(&run, &job->error);
    for (int i = 0; i < run.executor_count; i++)
        ps_executor_close(&executors[i]);
    struct ps_error log_error = {0};
    CU_ASSERT(ps_timing_close_log(timing, &log_error));
    ps_timing_print(timing, job->plan->slots, &job->timing);
    if (run.compare != NULL) {
        *matched = ps_compare_matched(run.compare);
        ps_compare_print(run.compare, timing, compared);
    }
    ps_compare_free(run.compare);
    ps_timing_free(timing);
    CU_ASSERT_EQUAL(atomic_load(&late_memory), 0);
    return fine;
}

#endif
