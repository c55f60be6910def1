// SPDX-License-Identifier: Apache-2.0
// The runner on a made-up GPU: device memory apart from host memory, queues that work late and in
// threads of their own. A copy that is missing, a buffer used too early or a wait left out gives
// wrong numbers here, and a race under the thread sanitizer. Also: comparing two backends.
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

// A kernel that is a little off, for comparing.
static int64_t wrong_by;

static bool wrong_call(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    bool fine = toy_run(program, launch, error);
    if (launch->first_row <= 5 && 5 < launch->first_row + launch->rows)
        ((int64_t *)launch->outputs[0])[2 * (5 - launch->first_row) + 1] += wrong_by;
    return fine;
}

static bool wrong_run(const struct ps_program *program, const struct ps_launch *launch,
                      struct ps_error *error)
{
    (void)error;
    return enqueue(program, launch, wrong_call);
}

// ---- Jobs ----

#define JOB                                                                                        \
    "version: 1\n"                                                                                 \
    "inputs:\n"                                                                                    \
    "  a: {format: %s, rows: %d, width: 2, seed: 1, pause: 20}\n"                                  \
    "  b: {format: mem, rows: %d, width: 2, seed: 5}\n"                                            \
    "  w: {format: mem, rows: 2, width: 1, seed: 7, load: whole}\n"                                \
    "stages:\n"                                                                                    \
    "  - {name: sum, op: add, in: a, with: b}\n"                                                   \
    "  - {name: triple, op: scale, by: 3%s}\n"                                                     \
    "  - {name: more, op: scale, by: 1}\n"                                                         \
    "  - {name: total, op: total, in: triple}\n"                                                   \
    "  - {name: twice, op: scale, by: 2}\n"                                                        \
    "  - {name: last, op: add, in: more, with: twice}\n"                                           \
    "  - {name: w2, op: scale, in: w, by: 2}\n"                                                    \
    "outputs:\n"                                                                                   \
    "  triple: {format: sink, id: 0}\n"                                                            \
    "  last: {format: sink, id: 1}\n"                                                              \
    "  total: {format: sink, id: 2}\n"                                                             \
    "  w2: {format: sink, id: 3}\n"                                                                \
    "run: {backend: cuda, block: %d rows, slots: %d, threads: 2, compare: %s}\n"

static void check_results(int rows)
{
    int64_t totals[2] = {0}, bad = 0;
    for (int64_t e = 0; e < 2 * rows; e++)
        totals[e % 2] += 3 * (6 + 2 * e);
    for (int64_t e = 0; e < 2 * rows; e++) {
        bad += toy_sinks[0].data[e] != 3 * (6 + 2 * e);
        bad += toy_sinks[1].data[e] != 3 * (6 + 2 * e) + 2 * totals[e % 2];
    }
    bad += toy_sinks[2].data[0] != totals[0] || toy_sinks[2].data[1] != totals[1];
    bad += toy_sinks[3].data[0] != 14 || toy_sinks[3].data[1] != 16;
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(toy_sinks[0].rows, rows);
    CU_ASSERT_EQUAL(toy_sinks[1].rows, rows);
}

// Runs a planned job on the made-up GPU, and on the cpu as well when it compares.
static bool execute(struct toy_job *job, struct ps_text *compared, bool *matched)
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

static bool plan_job(struct toy_job *job, const char *format, int rows, int block, int slots,
                     const char *extra, bool compare)
{
    static char text[4096];
    snprintf(text, sizeof text, JOB, format, rows, rows, extra, block, slots,
             compare ? "true" : "false");
    bool fine = toy_job_plan(job, text);
    if (!fine)
        printf("\n    %s\n", toy_job_message(job));
    return fine;
}

static void test_results(void)
{
    static const int rows[] = {0, 1, 33, 200}, blocks[] = {1, 7, 1000}, slots[] = {1, 2, 3, 8};
    static const char *const formats[] = {"mem", "serial"};
    for (int f = 0; f < 2; f++)
        for (int r = 0; r < 4; r++)
            for (int b = 0; b < 3; b++)
                for (int s = 0; s < 4; s++) {
                    struct toy_job job = {0};
                    CU_ASSERT_FATAL(
                        plan_job(&job, formats[f], rows[r], blocks[b], slots[s], "", false));
                    CU_ASSERT_EQUAL(job.plan->backend, PS_CUDA);
                    bool fine = execute(&job, NULL, NULL);
                    CU_ASSERT(fine);
                    if (!fine)
                        printf("\n    %s\n", job.error.text);
                    check_results(rows[r]);
                    CU_ASSERT(rows[r] == 0 || strstr(job.timing.data, "h2d ") != NULL);
                    CU_ASSERT(rows[r] == 0 || strstr(job.timing.data, "d2h ") != NULL);
                    toy_job_free(&job);
                    toy_check_clean();
                }
}

// A block large enough that reader threads share its pieces.
static void test_large_blocks(void)
{
    struct toy_job job = {0};
    CU_ASSERT_FATAL(plan_job(&job, "mem", 600000, 500000, 2, "", false));
    bool fine = execute(&job, NULL, NULL);
    CU_ASSERT(fine);
    if (!fine)
        printf("\n    %s\n", job.error.text);
    check_results(600000);
    toy_job_free(&job);
    toy_check_clean();
}

// A fault in a kernel shows when the queue is waited for.
static void test_late_fault(void)
{
    for (int slots = 1; slots <= 4; slots++) {
        struct toy_job job = {0};
        CU_ASSERT_FATAL(plan_job(&job, "mem", 100, 3, slots, ", fail_at: 50", false));
        CU_ASSERT(!execute(&job, NULL, NULL));
        CU_ASSERT_EQUAL(job.error.status, PS_DEVICE);
        CU_ASSERT_STRING_EQUAL(job.error.text, "pass 1, rows 48-50: broken stage");
        toy_job_free(&job);
        toy_check_clean();
    }
}

// Whichever allocation fails, everything taken before is given back.
static void test_no_memory(void)
{
    bool fine = false;
    for (int limit = 1; !fine && limit < 100; limit++) {
        struct toy_job job = {0};
        CU_ASSERT_FATAL(plan_job(&job, "mem", 10, 3, 3, "", false));
        late_limit = limit;
        fine = execute(&job, NULL, NULL);
        CU_ASSERT(fine || strstr(job.error.text, "the made-up GPU") != NULL);
        CU_ASSERT(!fine || limit > 10);
        toy_job_free(&job);
        toy_check_clean();
    }
    CU_ASSERT(fine);
    late_limit = 0;
}

static void test_compare(void)
{
    for (int slots = 1; slots <= 3; slots++) {
        struct toy_job job = {0};
        struct ps_text text = {0};
        bool matched = false;
        CU_ASSERT_FATAL(plan_job(&job, "serial", 50, 7, slots, "", true));
        CU_ASSERT(execute(&job, &text, &matched));
        check_results(50);
        CU_ASSERT(matched);
        CU_ASSERT_PTR_NULL(strstr(text.data, "DIFFER"));
        static const char *const names[] = {"sum ",   "triple ", "more ", "total ",
                                            "twice ", "last ",   "w2 "};
        for (int i = 0; i < 7; i++)
            CU_ASSERT_PTR_NOT_NULL(strstr(text.data, names[i]));
        ps_text_free(&text);
        toy_job_free(&job);
        toy_check_clean();
    }
}

// One element of `sum` is wrong on the GPU: it is named, and so is what came of it.
static void test_compare_differs(void)
{
    struct toy_job job = {0};
    struct ps_text text = {0};
    bool matched = true;
    wrong_by = 1000000;
    toy_add.run[PS_CUDA] = wrong_run;
    CU_ASSERT_FATAL(toy_job_plan(
        &job,
        "version: 1\n"
        "inputs: {a: {format: mem, rows: 20, width: 2}, b: {format: mem, rows: 20, width: 2}}\n"
        "stages: [{name: sum, op: add, in: a, with: b}, {name: other, op: scale, in: a}]\n"
        "outputs: {sum: {format: sink}}\n"
        "run: {compare: true, block: 3 rows}\n"));
    CU_ASSERT(execute(&job, &text, &matched));
    CU_ASSERT(!matched);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "DIFFER (1 of 40, worst at element 11,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "identical"));
    CU_ASSERT_EQUAL(toy_sinks[0].data[11], 22 + 1000000); // outputs are the GPU's
    toy_add.run[PS_CUDA] = late_run;
    ps_text_free(&text);
    toy_job_free(&job);
    toy_check_clean();
}

int main(void)
{
    static const struct check_test tests[] = {
        {"results", test_results},
        {"large blocks", test_large_blocks},
        {"late fault", test_late_fault},
        {"no memory", test_no_memory},
        {"compare", test_compare},
        {"compare, one element off", test_compare_differs},
        {NULL, NULL},
    };
    toy_scale.run[PS_CUDA] = toy_add.run[PS_CUDA] = toy_total.run[PS_CUDA] = late_run;
    int result = check_main("runner on a made-up GPU", tests);
    for (int i = 0; i < TOY_SINKS; i++)
        free(toy_sinks[i].data);
    return result;
}
