// SPDX-License-Identifier: Apache-2.0
// Plans against what they must be, written by hand: passes, steps, fusion, sizes, refusals.
#include "toy.h"

#define HEAD "version: 1\ninputs:\n  a: {format: mem, rows: 1000, width: 4}\n"

// "read a | one+two -> two | write x" per pass, passes on lines of their own.
static void describe_pass(const struct ps_plan *plan, const struct ps_pass *pass,
                          struct ps_text *out)
{
    ps_text_add(out, "read");
    for (int i = 0; i < pass->input_count; i++)
        ps_text_printf(out, " %s", plan->ports[pass->inputs[i]].name);
    for (int s = 0; s < pass->step_count; s++) {
        const struct ps_plan_step *step = &pass->steps[s];
        ps_text_printf(out, " | %s%s(", step->whole ? "once " : "", step->label);
        for (int i = 0; i < step->step.input_count; i++)
            ps_text_printf(out, "%s%s", i > 0 ? " " : "", step->step.inputs[i]->name);
        ps_text_add(out, ")");
        for (int i = 0; i < step->step.output_count; i++)
            ps_text_printf(out, " %s", step->step.outputs[i]->name);
    }
    for (int i = 0; i < pass->write_count; i++)
        ps_text_printf(out, " | write %s", plan->outputs[pass->writes[i]].config->name);
    ps_text_add(out, "\n");
}

static void check_passes(const char *yaml, const char *expected)
{
    struct toy_job job = {0};
    struct ps_text text = {0};
    CU_ASSERT(toy_job_plan(&job, yaml));
    if (job.plan == NULL || job.problems.error_count > 0) {
        printf("\n    %s\n", toy_job_message(&job));
    } else {
        for (int i = 0; i < job.plan->pass_count; i++)
            describe_pass(job.plan, &job.plan->passes[i], &text);
        CU_ASSERT_STRING_EQUAL(text.data, expected);
        if (strcmp(text.data, expected) != 0)
            printf("\n%s", text.data);
    }
    ps_text_free(&text);
    toy_job_free(&job);
    toy_check_clean();
}

static void test_fusion(void)
{
    check_passes(HEAD "stages:\n"
                      "  - {name: p, op: scale}\n"
                      "  - {name: q, op: scale}\n"
                      "  - {name: r, op: scale, in: p}\n"
                      "outputs: {r: {format: sink}, q: {format: sink, id: 1}}\n",
                 "read a | p+q+r(a) q r | write r | write q\n");
    check_passes(HEAD "stages:\n"
                      "  - {name: p, op: scale}\n"
                      "  - {name: q, op: add, with: a}\n"
                      "  - {name: r, op: scale, in: p}\n"
                      "  - {name: s, op: scale}\n"
                      "outputs: {s: {format: sink}, q: {format: sink, id: 1}}\n",
                 "read a | p(a) p | q(p a) q | r+s(p) s | write s | write q\n");
}

static void test_many_in_one_step(void)
{
    struct toy_job job = {0};
    struct ps_text yaml = {0};
    ps_text_add(&yaml, HEAD "stages:\n");
    for (int i = 0; i < 100; i++)
        ps_text_printf(&yaml, "  - {name: s%d, op: scale}\n", i);
    ps_text_add(&yaml, "outputs: {s99: {format: sink}}\n");
    CU_ASSERT_FATAL(toy_job_plan(&job, yaml.data));
    const struct ps_pass *pass = &job.plan->passes[0];
    CU_ASSERT_EQUAL(pass->step_count, 2);
    int stages = 0;
    for (int s = 0; s < pass->step_count; s++) {
        CU_ASSERT(pass->steps[s].step.input_count <= PS_LAUNCH_ARRAYS_MAX);
        CU_ASSERT(pass->steps[s].step.output_count <= PS_LAUNCH_ARRAYS_MAX);
        stages += pass->steps[s].step.stage_count;
    }
    CU_ASSERT_EQUAL(stages, 100);
    ps_text_free(&yaml);
    toy_job_free(&job);
}

static void test_later_passes(void)
{
    // p is computed again in the second pass, q is not: nothing there needs it.
    check_passes(HEAD "stages:\n"
                      "  - {name: p, op: scale}\n"
                      "  - {name: q, op: add, with: a}\n"
                      "  - {name: t, op: total}\n"
                      "  - {name: x, op: add, in: p, with: t}\n"
                      "outputs: {x: {format: sink}, q: {format: sink, id: 1}}\n",
                 "read a | p(a) p | q(p a) q | t(q) t | write q\n"
                 "read a | p(a) p | x(p t) x | write x\n");
    // A whole step between the passes runs once, before the blocks of the second.
    check_passes(HEAD "stages:\n"
                      "  - {name: t, op: total}\n"
                      "  - {name: u, op: scale}\n"
                      "  - {name: x, op: add, in: a, with: u}\n"
                      "  - {name: y, op: total}\n"
                      "outputs: {x: {format: sink}, y: {format: sink, id: 1}}\n",
                 "read a | t(a) t\n"
                 "read a | once u(t) u | x(a u) x | y(x) y | write x\n");
    // The last pass reads nothing: its one step runs on whole arrays.
    check_passes(HEAD "stages: [{name: t, op: total}, {name: u, op: scale}]\n"
                      "outputs: {u: {format: sink}}\n",
                 "read a | t(a) t\nread | once u(t) u\n");
}

static void test_copy(void)
{
    check_passes(HEAD "outputs: {a: {format: sink}}\n", "read a | write a\n");
    struct toy_job job = {0};
    CU_ASSERT(toy_job_plan(&job, HEAD "outputs: {a: {format: sink}}\n"));
    CU_ASSERT_EQUAL(job.plan->backend, PS_CPU);
    CU_ASSERT_STRING_EQUAL(job.plan->reason, "there is no stage to run");
    toy_job_free(&job);
}

static void test_unused(void)
{
    struct toy_job job = {0};
    CU_ASSERT(toy_job_plan(&job, HEAD "stages:\n"
                                      "  - {name: p, op: scale}\n"
                                      "  - {name: lost, op: scale, in: a}\n"
                                      "outputs: {p: {format: sink}}\n"));
    CU_ASSERT_EQUAL(job.problems.count, 1);
    CU_ASSERT_EQUAL(job.problems.error_count, 0);
    CU_ASSERT(job.problems.count == 1 && job.problems.list[0].is_warning);
    CU_ASSERT_STRING_EQUAL(job.problems.list[0].text,
                           "stage 'lost' is used by no output and will not run");
    CU_ASSERT_EQUAL(job.plan->passes[0].step_count, 1);
    CU_ASSERT_EQUAL(job.plan->passes[0].steps[0].step.stage_count, 1);
    toy_job_free(&job);
}

// Every input that cannot be opened is reported; stages that need them add nothing.
static void test_all_inputs_reported(void)
{
    struct toy_job job = {0};
    CU_ASSERT(!toy_job_plan(&job, "version: 1\n"
                                  "inputs:\n"
                                  "  a: {format: mem, rows: 5, fail_open: true}\n"
                                  "  b: {format: mem, rows: 5, fail_open: true}\n"
                                  "  c: {format: mem, rows: 5}\n"
                                  "  d: {format: mem, rows: 6}\n"
                                  "stages:\n"
                                  "  - {name: p, op: add, in: a, with: b}\n"
                                  "  - {name: q, op: scale}\n"
                                  "  - {name: r, op: scale, in: nowhere}\n"
                                  "outputs: {q: {format: sink}}\n"));
    CU_ASSERT_EQUAL(job.problems.error_count, 4);
    const char *const expected[] = {"input 'a': cannot be opened", "input 'b': cannot be opened",
                                    "'c' has 5 rows and 'd' has 6", "no array 'nowhere' here"};
    for (size_t i = 0; i < 4 && i < job.problems.count; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(job.problems.list[i].text, expected[i]));
    toy_job_free(&job);
    toy_check_clean();
}

static void test_backend(void)
{
    struct toy_job job = {0};
    char text[400];
    const char *missing = ps_cuda_missing(text, sizeof text);
    CU_ASSERT(!toy_job_plan(&job, HEAD "stages: [{name: p, op: scale}]\n"
                                       "outputs: {p: {format: sink}}\nrun: {backend: cuda}\n"));
    CU_ASSERT_EQUAL(job.error.status, missing != NULL ? PS_DEVICE : PS_USAGE);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(job.error.text, missing != NULL ? missing : "does not run on cuda"));
    toy_job_free(&job);
    CU_ASSERT(toy_job_plan(&job, HEAD "stages: [{name: p, op: scale}]\n"
                                      "outputs: {p: {format: sink}}\n"));
    CU_ASSERT_EQUAL(job.plan->backend, PS_CPU);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(job.plan->reason, missing != NULL ? missing : "does not run on cuda"));
    toy_job_free(&job);
    if (missing == NULL)
        return;
    CU_ASSERT(!toy_job_plan(&job, HEAD "stages: [{name: p, op: scale}]\n"
                                       "outputs: {p: {format: sink}}\nrun: {compare: true}\n"));
    CU_ASSERT_EQUAL(job.error.status, PS_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.error.text, "compare needs both backends"));
    toy_job_free(&job);
}

// ---- Sizes ----

#define WIDE                                                                                       \
    "version: 1\n"                                                                                 \
    "inputs: {a: {format: mem, rows: 1000000, width: 100}, w: {format: mem, rows: 1000, width: "   \
    "100, load: whole}}\n"                                                                         \
    "stages:\n"                                                                                    \
    "  - {name: p, op: scale, in: a, scratch: 50}\n"                                               \
    "  - {name: q, op: add, with: a}\n"                                                            \
    "  - {name: t, op: total}\n"                                                                   \
    "outputs: {q: {format: sink}, t: {format: sink, id: 1}, w: {format: sink, id: 2}}\n"

static void test_automatic_block(void)
{
    struct toy_job job = {0};
    CU_ASSERT(toy_job_plan(&job, WIDE "run: {backend: cpu}\n"));
    // About 1 MiB of input at a time, rows of 800 bytes.
    CU_ASSERT_EQUAL(job.plan->block_rows, (1 << 20) / 800);
    CU_ASSERT(job.plan->slots >= 3 && job.plan->slots > job.plan->threads);
    toy_job_free(&job);
    CU_ASSERT(toy_job_plan(&job, WIDE "run: {backend: cpu, slots: 3, memory: 2 MiB}\n"));
    uint64_t whole = 800000 + 800, row = 3 * (800 + 800 + 800 + 50); // a, p, q, scratch
    CU_ASSERT(job.plan->host_bytes <= 2 << 20);
    CU_ASSERT(job.plan->host_bytes > (2 << 20) - 2 * row);
    CU_ASSERT(job.plan->host_bytes >= whole + (uint64_t)job.plan->block_rows * row);
    toy_job_free(&job);
    CU_ASSERT(toy_job_plan(&job, WIDE "run: {backend: cpu, block: 8000 B, slots: 3}\n"));
    CU_ASSERT_EQUAL(job.plan->block_rows, 10);
    toy_job_free(&job);
    CU_ASSERT(toy_job_plan(&job, HEAD "outputs: {a: {format: sink}}\n"
                                      "run: {block: 1 GiB, backend: cpu}\n"));
    CU_ASSERT_EQUAL(job.plan->block_rows, 1000); // no more than there are
    toy_job_free(&job);
}

// Rows that an input reads together stay together where memory allows it.
static void test_groups(void)
{
    static const struct {
        int group;
        const char *run;
        int64_t rows;
        int slots;
    } cases[] = {
        {100, "slots: 3", 1300, 3},                       // whole groups of about 1 MiB
        {2000, "slots: 3", 2000, 3},                      // larger than that
        {2000000, "slots: 3, memory: 4 GiB", 1000000, 3}, // no more than there are
        {2000, "memory: 12 MiB, threads: 8", 2000, 2},    // rather fewer slots
        {2000, "block: 7 rows, slots: 3", 7, 3},
    };
    struct toy_job job = {0};
    char text[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "version: 1\ninputs: {a: {format: mem, rows: 1000000, width: 100, group: %d}}\n"
                 "outputs: {a: {format: sink}}\nrun: {backend: cpu, %s}\n",
                 cases[i].group, cases[i].run);
        CU_ASSERT_FATAL(toy_job_plan(&job, text));
        CU_ASSERT_EQUAL(job.plan->block_rows, cases[i].rows);
        CU_ASSERT(job.plan->slots >= cases[i].slots);
        toy_job_free(&job);
    }
    // Not enough memory for one group: what fits.
    CU_ASSERT_FATAL(toy_job_plan(
        &job, "version: 1\ninputs: {a: {format: mem, rows: 1000000, width: 100, group: 500000}}\n"
              "outputs: {a: {format: sink}}\nrun: {backend: cpu, memory: 8 MiB}\n"));
    CU_ASSERT(job.plan->block_rows > 1000 && job.plan->block_rows < 10000);
    toy_job_free(&job);
}

static void check_refused(const char *format, const char *memory)
{
    struct toy_job job = {0};
    char yaml[2048], enough[32];
    snprintf(yaml, sizeof yaml, format, memory);
    CU_ASSERT(!toy_job_plan(&job, yaml));
    CU_ASSERT_EQUAL(job.error.status, PS_DEVICE);
    const char *setting = strstr(job.error.text, "run.memory allows ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(setting);
    long long mebibytes = 0;
    CU_ASSERT_EQUAL(sscanf(strstr(setting, "set it to "), "set it to %lld MiB", &mebibytes), 1);
    toy_job_free(&job);
    snprintf(enough, sizeof enough, "%lld MiB", mebibytes);
    snprintf(yaml, sizeof yaml, format, enough);
    CU_ASSERT(toy_job_plan(&job, yaml));
    CU_ASSERT(job.plan->host_bytes <= (uint64_t)mebibytes << 20);
    CU_ASSERT(job.plan->host_bytes > (uint64_t)(mebibytes - 1) << 20);
    toy_job_free(&job);
}

static void test_refusal(void)
{
    check_refused(WIDE "run: {backend: cpu, block: 5000 rows, slots: 4, memory: %s}\n", "4 MiB");
    check_refused(WIDE "run: {backend: cpu, block: 1 rows, slots: 64, memory: %s}\n", "1000");
    struct toy_job job = {0};
    CU_ASSERT(!toy_job_plan(&job, WIDE "run: {backend: cpu, memory: 1000}\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(job.error.text, "blocks of 1 row need"));
    toy_job_free(&job);
    // Rows whose blocks fit in no address space.
    CU_ASSERT(!toy_job_plan(&job, "version: 1\n"
                                  "inputs: {a: {format: serial, rows: 5, width: 1000000000}}\n"
                                  "outputs: {a: {format: sink}}\n"
                                  "run: {backend: cpu, block: 9000000000000000000 rows}\n"));
    CU_ASSERT_EQUAL(job.error.status, PS_DEVICE);
    toy_job_free(&job);
}

static void test_conversion_counts(void)
{
    struct toy_job plain = {0}, converted = {0};
    CU_ASSERT(toy_job_plan(&plain, HEAD "outputs: {a: {format: sink}}\n"
                                        "run: {block: 100 rows, slots: 2}\n"));
    CU_ASSERT(toy_job_plan(&converted, HEAD "outputs: {a: {format: sink, dtype: f32}}\n"
                                            "run: {block: 100 rows, slots: 2}\n"));
    CU_ASSERT_EQUAL(converted.plan->host_bytes, plain.plan->host_bytes + 100 * 4 * 4);
    toy_job_free(&plain);
    toy_job_free(&converted);
}

// ---- Layout ----

struct range {
    size_t start, end;
};

static void check_disjoint(const struct range *ranges, int count, size_t end)
{
    for (int i = 0; i < count; i++) {
        CU_ASSERT(ranges[i].end <= end);
        CU_ASSERT_EQUAL(ranges[i].start % 256, 0);
        for (int j = 0; j < i; j++)
            CU_ASSERT(ranges[i].end <= ranges[j].start || ranges[j].end <= ranges[i].start);
    }
}

static void check_layout(const struct ps_plan *plan, const struct ps_pass *pass, bool unified,
                         int64_t rows)
{
    struct ps_layout layout;
    struct ps_error error = {0};
    struct range device[16], host[16];
    int devices = 0, hosts = 0;
    CU_ASSERT_FATAL(ps_layout_make(plan, pass, PS_CPU, unified, rows, &layout, &error));
    for (int p = 0; p < plan->port_count; p++) {
        size_t bytes = ps_array_row_bytes(&plan->ports[p].array) * (size_t)rows;
        if (layout.device[p] != SIZE_MAX)
            device[devices++] = (struct range){layout.device[p], layout.device[p] + bytes};
        if (layout.host[p] != SIZE_MAX && !unified)
            host[hosts++] = (struct range){layout.host[p], layout.host[p] + bytes};
        if (layout.host[p] != SIZE_MAX && unified)
            CU_ASSERT_EQUAL(layout.host[p], layout.device[p]);
    }
    for (int s = 0; s < pass->step_count; s++)
        if (pass->steps[s].reduces)
            device[devices++] = (struct range){layout.state[s], layout.state[s] + 800};
    device[devices++] = (struct range){layout.scratch, layout.scratch + (size_t)rows * 50};
    CU_ASSERT_EQUAL(devices, 5);             // a, p, q, the state of t, scratch
    CU_ASSERT_EQUAL(hosts, unified ? 0 : 2); // a in, q out
    check_disjoint(device, devices, layout.device_bytes);
    check_disjoint(host, hosts, layout.host_bytes);
    ps_layout_free(&layout);
}

static void test_layout(void)
{
    struct toy_job job = {0};
    CU_ASSERT_FATAL(toy_job_plan(&job, WIDE "run: {backend: cpu}\n"));
    for (int64_t rows = 1; rows < 2000; rows = rows * 3 + 1) {
        check_layout(job.plan, &job.plan->passes[0], true, rows);
        check_layout(job.plan, &job.plan->passes[0], false, rows);
    }
    toy_job_free(&job);
}

static void test_print(void)
{
    struct toy_job job = {0};
    struct ps_text text = {0};
    CU_ASSERT_FATAL(toy_job_plan(&job, WIDE "run: {backend: cpu, slots: 3}\n"));
    ps_plan_print(job.plan, &text);
    const char *const expected[] = {
        "i64[1000000, 100]", "streamed", "mem, made up",         "pass 1",
        "write q",           "blocks",   "1310 rows in 3 slots", "bound by"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CU_ASSERT_PTR_NOT_NULL(strstr(text.data, expected[i]));
        if (strstr(text.data, expected[i]) == NULL)
            printf("\n    no '%s' in\n%s", expected[i], text.data);
    }
    ps_text_free(&text);
    toy_job_free(&job);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"fusion", test_fusion},
        {"many stages in one step", test_many_in_one_step},
        {"later passes", test_later_passes},
        {"copying", test_copy},
        {"unused stages", test_unused},
        {"all inputs reported", test_all_inputs_reported},
        {"backend", test_backend},
        {"automatic block", test_automatic_block},
        {"groups of rows", test_groups},
        {"refusal", test_refusal},
        {"conversion counts", test_conversion_counts},
        {"layout", test_layout},
        {"printing", test_print},
        {NULL, NULL},
    };
    return check_main("plan", tests);
}
