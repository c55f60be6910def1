// SPDX-License-Identifier: Apache-2.0
// Made-up jobs of up to ten stages that read whatever came before them, so that every mixture of
// passes, fused steps, whole steps and recomputed stages turns up; each against an interpreter that
// computes one array after the other.
#include "toy.h"

#define STAGES_MAX 10
#define WIDTH 3

static uint64_t seed;

static int pick(int count) // 0 to count - 1
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)count);
}

// An array as the interpreter sees it: rows x WIDTH, or WIDTH numbers when whole.
struct array {
    bool streamed;
    int64_t *data;
};

static int64_t at(const struct array *array, int e)
{
    return array->data[array->streamed ? e : e % WIDTH];
}

struct made_up {
    struct ps_text yaml;
    int rows, count;
    struct array arrays[2 + STAGES_MAX];
};

static void make_input(struct made_up *job, int position, int first, const char *format)
{
    struct array *array = &job->arrays[position];
    array->streamed = true;
    array->data = calloc((size_t)job->rows * WIDTH + 1, sizeof *array->data);
    for (int e = 0; e < job->rows * WIDTH; e++)
        array->data[e] = first + e;
    ps_text_printf(&job->yaml, "  v%d: {format: %s, rows: %d, width: %d, seed: %d}\n", position,
                   format, job->rows, WIDTH, first);
}

static void make_total(struct made_up *job, struct array *out, int in)
{
    out->streamed = false;
    for (int e = 0; e < job->rows * WIDTH; e++)
        out->data[e % WIDTH] += job->arrays[in].data[e];
    ps_text_printf(&job->yaml, "op: total, in: v%d}\n", in);
}

static void make_map(struct made_up *job, struct array *out, int in, int with, int by)
{
    out->streamed = job->arrays[in].streamed;
    for (int e = 0; e < (out->streamed ? job->rows : 1) * WIDTH; e++)
        out->data[e] = at(&job->arrays[in], e) * by + (with < 0 ? 0 : at(&job->arrays[with], e));
    if (with < 0)
        ps_text_printf(&job->yaml, "op: scale, in: v%d, by: %d}\n", in, by);
    else
        ps_text_printf(&job->yaml, "op: add, in: v%d, with: v%d, by: %d}\n", in, with, by);
}

static int pick_streamed(const struct made_up *job)
{
    int port = pick(job->count);
    while (!job->arrays[port].streamed)
        port--; // down to the inputs, which are
    return port;
}

static void make_stage(struct made_up *job)
{
    int position = job->count, by = pick(3) - 1;
    bool after_whole = !job->arrays[position - 1].streamed;
    struct array *out = &job->arrays[position];
    out->data = calloc((size_t)job->rows * WIDTH + WIDTH, sizeof *out->data);
    ps_text_printf(&job->yaml, "  - {name: v%d, ", position);
    int in = pick(3) > 0 ? position - 1 : pick(position), with = pick(position);
    if (pick(3) == 0) {
        make_total(job, out, pick_streamed(job));
    } else if (after_whole && pick(3) > 0) { // a later pass
        make_map(job, out, pick_streamed(job), position - 1, by);
    } else {
        bool whole_first = !job->arrays[in].streamed && job->arrays[with].streamed;
        make_map(job, out, in, in == with || pick(2) || whole_first ? -1 : with, by);
    }
    job->count++;
}

static void make_job(struct made_up *job, int *stored)
{
    static const char *const formats[] = {"mem", "serial", "counted"};
    static const int rows[] = {0, 1, 2, 9, 40};
    *job = (struct made_up){.rows = rows[pick(5)], .count = 2};
    ps_text_add(&job->yaml, "version: 1\ninputs:\n");
    make_input(job, 0, 1, formats[pick(3)]);
    make_input(job, 1, -20, formats[pick(3)]);
    ps_text_add(&job->yaml, "stages:\n");
    for (int stages = 3 + pick(STAGES_MAX - 2); stages > 0; stages--)
        make_stage(job);
    ps_text_add(&job->yaml, "outputs:\n");
    for (int id = 0; id < TOY_SINKS; id++) {
        stored[id] = id == 0 ? job->count - 1 : pick(job->count);
        ps_text_printf(&job->yaml, "  o%d: {array: v%d, format: sink, id: %d}\n", id, stored[id],
                       id);
    }
    ps_text_printf(&job->yaml, "run: {backend: cpu, block: %d rows, slots: %d, threads: %d}\n",
                   1 + pick(12), 1 + pick(5), 1 + pick(3));
}

static int check_output(const struct made_up *job, int id, const struct array *array)
{
    int64_t elements = (array->streamed ? job->rows : 1) * WIDTH;
    if (!toy_sinks[id].finished || toy_sinks[id].elements != elements)
        return 1;
    int bad = 0;
    for (int64_t e = 0; e < elements; e++)
        bad += toy_sinks[id].data[e] != array->data[e];
    return bad;
}

// What turned up, so that the test cannot lose its point.
static int passes_seen[8], fused_seen, whole_seen, again_seen;

static void count_kinds(const struct ps_plan *plan)
{
    int streamed_stages = 0, needed = 0;
    passes_seen[plan->pass_count < 7 ? plan->pass_count : 7]++;
    for (int i = 0; i < plan->pass_count; i++)
        for (int s = 0; s < plan->passes[i].step_count; s++) {
            fused_seen += plan->passes[i].steps[s].step.stage_count > 1;
            whole_seen += plan->passes[i].steps[s].whole;
            streamed_stages += plan->passes[i].steps[s].step.stage_count;
        }
    for (int p = plan->input_count; p < plan->port_count; p++)
        needed += plan->needed[p];
    again_seen += streamed_stages > needed;
}

static void run_one(uint64_t number)
{
    struct made_up made;
    struct toy_job job = {0};
    int stored[TOY_SINKS], bad = 0;
    seed = number;
    pick(1);
    make_job(&made, stored);
    bool fine = toy_job_run(&job, made.yaml.data);
    for (int id = 0; fine && id < TOY_SINKS; id++)
        bad += check_output(&made, id, &made.arrays[stored[id]]);
    CU_ASSERT(fine);
    CU_ASSERT_EQUAL(bad, 0);
    if (fine)
        count_kinds(job.plan);
    if (!fine || bad > 0)
        printf("\n    job %llu: %s\n%s", (unsigned long long)number, toy_job_message(&job),
               made.yaml.data);
    toy_job_free(&job);
    toy_check_clean();
    for (int i = 0; i < made.count; i++)
        free(made.arrays[i].data);
    ps_text_free(&made.yaml);
}

static void test_random(void)
{
    for (uint64_t number = 1; number <= 1000; number++)
        run_one(number * 0x9e3779b97f4a7c15u);
    for (int passes = 1; passes <= 3; passes++)
        CU_ASSERT(passes_seen[passes] >= 10);
    CU_ASSERT(fused_seen >= 100);
    CU_ASSERT(whole_seen >= 100);
    CU_ASSERT(again_seen >= 100);
}

int main(void)
{
    static const struct check_test tests[] = {{"made-up jobs", test_random}, {NULL, NULL}};
    int result = check_main("random jobs", tests);
    for (int i = 0; i < TOY_SINKS; i++)
        free(toy_sinks[i].data);
    return result;
}
