// SPDX-License-Identifier: Apache-2.0
// Made-up jobs of up to ten stages that read whatever came before them, so that every mixture of
// passes, fused steps, whole steps and recomputed stages turns up, and stages that look at
// neighbouring rows, leave out rows or repeat them; each against an interpreter that computes one
// array after the other. Memory leaves room for none, some or all of what could be kept in it.
#ifndef PS_TESTS_MADE_UP_H
#define PS_TESTS_MADE_UP_H

#include "toy.h"

#include <stdlib.h>

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
    int rows, domain;
    int64_t *data;
};

static int64_t at(const struct array *array, int64_t e)
{
    return array->data[array->streamed ? e : e % WIDTH];
}

static void make_room(struct array *array, int rows)
{
    array->rows = rows;
    array->data = calloc((size_t)rows * WIDTH + WIDTH, sizeof *array->data);
    CU_ASSERT_PTR_NOT_NULL_FATAL(array->data);
}

struct made_up {
    struct ps_text yaml;
    int rows, count, domains;
    bool across; // with stages across rows
    struct array arrays[2 + STAGES_MAX];
};

static void make_input(struct made_up *job, int position, int first, const char *format)
{
    struct array *array = &job->arrays[position];
    array->streamed = true;
    make_room(array, job->rows);
    for (int e = 0; e < job->rows * WIDTH; e++)
        array->data[e] = first + e;
    ps_text_printf(&job->yaml, "  v%d: {format: %s, rows: %d, width: %d, seed: %d}\n", position,
                   format, job->rows, WIDTH, first);
}

static void make_total(struct made_up *job, struct array *out, int in)
{
    make_room(out, 1);
    for (int e = 0; e < job->arrays[in].rows * WIDTH; e++)
        out->data[e % WIDTH] += job->arrays[in].data[e];
    ps_text_printf(&job->yaml, "op: total, in: v%d}\n", in);
}

static void make_map(struct made_up *job, struct array *out, int in, int with, int by)
{
    const struct array *from = &job->arrays[in];
    make_room(out, from->rows);
    out->streamed = from->streamed;
    out->domain = from->domain;
    for (int e = 0; e < out->rows * WIDTH; e++)
        out->data[e] = at(from, e) * by + (with < 0 ? 0 : at(&job->arrays[with], e));
    if (with < 0)
        ps_text_printf(&job->yaml, "op: scale, in: v%d, by: %d}\n", in, by);
    else
        ps_text_printf(&job->yaml, "op: add, in: v%d, with: v%d, by: %d}\n", in, with, by);
}

// ---- Across rows ----

static void make_window(struct made_up *job, struct array *out, int in)
{
    const struct array *from = &job->arrays[in];
    bool keeps = pick(2), many = !keeps && from->rows < 100;
    int before = pick(4), after = pick(3) == 0 ? pick(9) : 0, start = keeps ? 0 : pick(4);
    int step = keeps ? 1 : 1 + pick(4), times = many ? 1 + pick(3) : 1;
    bool partial = !keeps && pick(2);
    int anchors = 0, used = 0, rows;
    for (int i = start; i < from->rows; i += step, anchors++)
        used = i + 1;
    rows = (anchors + (partial && from->rows > used)) * times;
    make_room(out, rows);
    out->streamed = true;
    bool same = start == 0 && step == 1 && times == 1;
    out->domain = same ? from->domain : ++job->domains;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < WIDTH; c++) {
            int anchor = start + r / times * step;
            int64_t sum = r;
            for (int i = anchor - before; i <= anchor + after; i++)
                sum += i >= 0 && i < from->rows ? from->data[i * WIDTH + c] : 0;
            out->data[r * WIDTH + c] = sum;
        }
    ps_text_printf(&job->yaml,
                   "op: window, in: v%d, before: %d, after: %d, start: %d, step: %d, times: %d, "
                   "partial: %s}\n",
                   in, before, after, start, step, times, partial ? "true" : "false");
}

static void make_running(struct made_up *job, struct array *out, int in)
{
    const struct array *from = &job->arrays[in];
    make_room(out, from->rows);
    out->streamed = true;
    out->domain = from->domain;
    for (int e = 0; e < out->rows * WIDTH; e++)
        out->data[e] = from->data[e] + (e >= WIDTH ? out->data[e - WIDTH] : 0);
    ps_text_printf(&job->yaml, "op: running, in: v%d}\n", in);
}

static void make_choose(struct made_up *job, struct array *out, int in)
{
    const struct array *from = &job->arrays[in];
    make_room(out, from->rows);
    out->streamed = true;
    out->domain = ++job->domains;
    out->rows = 0;
    for (int r = 0; r < from->rows; r++)
        if (from->data[r * WIDTH] % 3 != 0)
            memcpy(out->data + WIDTH * out->rows++, from->data + r * WIDTH,
                   WIDTH * sizeof *out->data);
    ps_text_printf(&job->yaml, "op: choose, in: v%d}\n", in);
}

static int pick_streamed(const struct made_up *job)
{
    int port = pick(job->count);
    while (!job->arrays[port].streamed)
        port--; // down to the inputs, which are
    return port;
}

static void make_across(struct made_up *job, struct array *out)
{
    int in = pick_streamed(job), way = pick(4);
    if (way == 0)
        make_running(job, out, in);
    else if (way == 1)
        make_choose(job, out, in);
    else
        make_window(job, out, in);
}

static bool go_together(const struct array *in, const struct array *with)
{
    return !with->streamed || (in->streamed && in->domain == with->domain);
}

static void make_stage(struct made_up *job)
{
    int position = job->count, by = pick(3) - 1;
    bool after_whole = !job->arrays[position - 1].streamed;
    struct array *out = &job->arrays[position];
    ps_text_printf(&job->yaml, "  - {name: v%d, ", position);
    int in = pick(3) > 0 ? position - 1 : pick(position), with = pick(position);
    if (pick(3) == 0) {
        make_total(job, out, pick_streamed(job));
    } else if (job->across && pick(3) > 0) {
        make_across(job, out);
    } else if (after_whole && pick(3) > 0) { // a later pass
        make_map(job, out, pick_streamed(job), position - 1, by);
    } else {
        bool alone = in == with || pick(2) || !go_together(&job->arrays[in], &job->arrays[with]);
        make_map(job, out, in, alone ? -1 : with, by);
    }
    job->count++;
}

// Without the end of its last line, the memory.
static void make_job(struct made_up *job, const char *backend, int *stored)
{
    static const char *const formats[] = {"mem", "serial", "counted"};
    static const int rows[] = {0, 1, 2, 9, 40};
    *job = (struct made_up){.rows = rows[pick(5)], .count = 2, .across = pick(2)};
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
    ps_text_printf(&job->yaml, "run: {backend: %s, block: %d rows, slots: %d, threads: %d, ",
                   backend, 1 + pick(12), 1 + pick(5), 1 + pick(3));
}

static bool plan_with(struct toy_job *job, const char *yaml)
{
    // On cuda there is a GPU with more than enough memory.
    return toy_job_plan(job, yaml) &&
           (job->plan->backend == PS_CPU || ps_plan_size(job->plan, 64u << 20, &job->error));
}

// The first plan tells how little memory will do, the second has some more.
static bool plan_made_up(struct toy_job *job, struct made_up *made)
{
    static const int more[] = {0, 40, 500, 1000, 100000};
    size_t length = made->yaml.length;
    ps_text_add(&made->yaml, "keep: nothing}\n");
    if (!plan_with(job, made->yaml.data))
        return false;
    uint64_t host = job->plan->host_bytes, device = job->plan->device_bytes;
    CU_ASSERT(job->plan->kept_host_bytes == 0 && job->plan->kept_device_bytes == 0);
    toy_job_free(job);
    made->yaml.data[made->yaml.length = length] = '\0';
    ps_text_printf(&made->yaml, "memory: %llu, device_memory: %llu}\n",
                   (unsigned long long)host + 1 + (unsigned)more[pick(5)],
                   (unsigned long long)device + 1 + (unsigned)more[pick(5)]);
    return plan_with(job, made->yaml.data);
}

static int check_output(int id, const struct array *array)
{
    int64_t elements = array->rows * WIDTH;
    if (!toy_sinks[id].finished || toy_sinks[id].elements != elements)
        return 1;
    int bad = 0;
    for (int64_t e = 0; e < elements; e++)
        bad += toy_sinks[id].data[e] != array->data[e];
    return bad;
}

// What turned up, so that the test cannot lose its point.
static int passes_seen[8], fused_seen, whole_seen, again_seen, refused_seen;

static int kept_seen[3], lost_seen;

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
    for (int p = 0; p < plan->input_count; p++) {
        kept_seen[plan->keep[p]]++;
        lost_seen += plan->keep[p] != PS_KEEP_NOWHERE && plan->kept_rows < plan->rows;
    }
    again_seen += streamed_stages > needed;
}

// Rows that are read in all: of what is kept, in the first pass only.
static int64_t rows_to_read(const struct ps_plan *plan)
{
    int64_t rows = 0;
    for (int p = 0; p < plan->pass_count; p++)
        for (int i = 0; i < plan->passes[p].input_count; i++)
            if (!ps_plan_finds_kept(plan, p, plan->passes[p].inputs[i]) ||
                plan->kept_rows < plan->rows)
                rows += plan->rows;
    return rows;
}

// execute: runs a planned job.
static void run_made_up(uint64_t number, const char *backend, bool (*execute)(struct toy_job *))
{
    struct made_up made;
    struct toy_job job = {0};
    int stored[TOY_SINKS], bad = 0;
    seed = number;
    pick(1);
    make_job(&made, backend, stored);
    toy_rows_read = 0;
    bool fine = plan_made_up(&job, &made) && execute(&job);
    bool refused = !fine && strstr(toy_job_message(&job), "are made one after another") != NULL;
    refused_seen += refused;
    for (int id = 0; fine && id < TOY_SINKS; id++)
        bad += check_output(id, &made.arrays[stored[id]]);
    if (fine && !made.across) // else neighbours are read several times
        bad += toy_rows_read != rows_to_read(job.plan);
    CU_ASSERT(fine || refused);
    CU_ASSERT_EQUAL(bad, 0);
    if (fine)
        count_kinds(job.plan);
    if ((!fine && !refused) || bad > 0)
        printf("\n    job %llu: %s\n%s", (unsigned long long)number, toy_job_message(&job),
               made.yaml.data);
    toy_job_free(&job);
    toy_check_clean();
    for (int i = 0; i < made.count; i++)
        free(made.arrays[i].data);
    ps_text_free(&made.yaml);
}

// `count` jobs from number `first` on; a program's arguments FIRST COUNT ask for others.
static void run_many_made_up(uint64_t first, uint64_t count, const char *backend,
                             bool (*execute)(struct toy_job *))
{
    for (uint64_t number = first; number < first + count; number++)
        run_made_up(number * 0x9e3779b97f4a7c15u, backend, execute);
    for (int passes = 1; passes <= 3; passes++)
        CU_ASSERT(passes_seen[passes] >= 10);
    CU_ASSERT(fused_seen >= (int)(count / 10));
    CU_ASSERT(whole_seen >= (int)(count / 10));
    CU_ASSERT(again_seen >= (int)(count / 10));
    CU_ASSERT(refused_seen > 0 && refused_seen < (int)(count / 10));
    CU_ASSERT(kept_seen[PS_KEEP_NOWHERE] >= 10 && kept_seen[PS_KEEP_HOST] >= 10);
    CU_ASSERT((kept_seen[PS_KEEP_DEVICE] >= 10) == (strcmp(backend, "cuda") == 0));
    CU_ASSERT(lost_seen > 0);
}

#endif
