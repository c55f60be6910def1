// SPDX-License-Identifier: Apache-2.0
// The public face: load, plan, run, summary. Holds the pieces together, decides nothing.
#include "pipeline/penstock.h"

#include "base/log.h"
#include "pipeline/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ps_job {
    struct ps_config *config;
    struct ps_plan *plan;
    struct ps_executor executors[2];
    int executor_count;
    struct ps_timing *timing;
    struct ps_compare *compare;
    struct ps_job_totals totals;
};

// What a plan would find wrong too (expressions, shapes, headers of the inputs that are fine), so
// that one run shows every fault of a config. Entries with faults are passed over.
static void find_more_problems(const struct ps_config *config, struct ps_problems *problems)
{
    if (config->input_count > 0 && config->run.count > 0 && config->run_cuda.count > 0)
        ps_plan_free(ps_plan_make(config, problems));
}

struct ps_job *ps_job_load(const char *config_path, const char *const *sets, size_t set_count,
                           struct ps_problems *problems)
{
    struct ps_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return NULL;
    job->config = ps_config_load(config_path, sets, set_count, problems);
    if (job->config == NULL) {
        free(job);
        return NULL;
    }
    if (problems->error_count > 0)
        find_more_problems(job->config, problems);
    return job;
}

static void close_executors(struct ps_job *job)
{
    for (int i = 0; i < job->executor_count; i++)
        ps_executor_close(&job->executors[i]);
    job->executor_count = 0;
}

void ps_job_free(struct ps_job *job)
{
    if (job == NULL)
        return;
    close_executors(job);
    ps_compare_free(job->compare);
    ps_timing_free(job->timing);
    ps_plan_free(job->plan);
    ps_config_free(job->config);
    free(job);
}

void ps_job_problems_text(const struct ps_job *job, const struct ps_problems *problems,
                          struct ps_text *out)
{
    ps_problems_print(problems, job->config->sources, job->config->source_count, out);
}

static bool open_executors(struct ps_job *job, struct ps_error *error)
{
    enum ps_backend_id ids[2] = {job->plan->backend, PS_CPU};
    int count = job->plan->compare ? 2 : 1;
    for (int i = 0; i < count; i++) {
        job->executor_count = i + 1;
        if (!ps_executor_open(&job->executors[i], job->plan, ids[i], error))
            return false;
    }
    return true;
}

bool ps_job_plan(struct ps_job *job, struct ps_problems *problems, struct ps_error *error)
{
    close_executors(job);
    ps_plan_free(job->plan);
    job->plan = ps_plan_make(job->config, problems);
    if (job->plan == NULL)
        return ps_fail_memory(error, sizeof *job->plan, "the plan");
    if (problems->error_count > 0)
        return false;
    if (!ps_plan_backend(job->plan, error) || !open_executors(job, error))
        return false;
    uint64_t device_free = job->plan->backend == PS_CPU ? 0 : job->executors[0].device->memory_free;
    return ps_plan_size(job->plan, device_free, error);
}

static void print_kernels(struct ps_job *job, struct ps_text *out)
{
    const struct ps_executor *executor = &job->executors[0];
    bool any = false;
    for (int p = 0; p < job->plan->pass_count; p++) {
        for (int s = 0; s < job->plan->passes[p].step_count; s++) {
            const struct ps_stage_type *type = job->plan->passes[p].steps[s].step.type;
            struct ps_kernel_info infos[8];
            int count = type->kernels ? type->kernels(executor->programs[p][s], infos, 8) : 0;
            for (int i = 0; i < count && i < 8; i++) {
                if (infos[i].threads == 0)
                    continue;
                if (!any)
                    ps_text_add(out, "kernels\n");
                any = true;
                ps_text_printf(out,
                               "  %-28s %4d threads, %3d registers, %6d bytes shared, %4d bytes "
                               "local, %2d blocks per multiprocessor, occupancy %.0f %%\n",
                               infos[i].name, infos[i].threads, infos[i].registers,
                               infos[i].shared_bytes, infos[i].local_bytes,
                               infos[i].blocks_per_multiprocessor, infos[i].occupancy * 100);
            }
        }
    }
}

bool ps_job_plan_text(struct ps_job *job, struct ps_text *out, struct ps_error *error)
{
    ps_plan_print(job->plan, out);
    ps_text_printf(out, "device      %s\n", job->executors[0].device->description);
    if (!ps_executor_compile(&job->executors[0], error))
        return false;
    print_kernels(job, out);
    return !out->failed || ps_fail_memory(error, out->length, "the plan's text");
}

// run.verbose: the plan, line by line, to the log.
static bool log_plan(struct ps_job *job, struct ps_error *error)
{
    struct ps_text text = {0};
    bool fine = ps_job_plan_text(job, &text, error);
    for (char *line = text.data; fine && line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        ps_log(PS_LOG_DETAIL, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    ps_text_free(&text);
    return fine;
}

static bool run(struct ps_job *job, const volatile int *stop, struct ps_error *error)
{
    if (ps_values_get(&job->config->run, "verbose")->truth && !log_plan(job, error))
        return false;
    for (int i = 0; i < job->executor_count; i++)
        if (!ps_executor_compile(&job->executors[i], error) ||
            !ps_executor_alloc(&job->executors[i], error))
            return false;
    if (job->plan->compare && (job->compare = ps_compare_open(job->plan, error)) == NULL)
        return false;
    struct ps_run run = {
        .plan = job->plan,
        .executors = job->executors,
        .executor_count = job->executor_count,
        .timing = job->timing,
        .compare = job->compare,
        .stop = stop,
    };
    bool fine = ps_run_job(&run, error);
    job->totals.rows = run.rows;
    job->totals.blocks = run.blocks;
    return fine;
}

bool ps_job_run(struct ps_job *job, const volatile int *stop, struct ps_error *error)
{
    const struct ps_value *log = ps_values_get(&job->config->run, "log");
    if (job->timing != NULL) // its plan has learned what a second run must not know
        return ps_fail(error, PS_BUG, "a job runs once; load it again");
    job->timing = ps_timing_open(log->given ? log->text : NULL, error);
    if (job->timing == NULL)
        return false;
    bool fine = run(job, stop, error);
    struct ps_error log_error = {0};
    if (!ps_timing_close_log(job->timing, &log_error) && fine) {
        *error = log_error;
        fine = false;
    }
    job->totals.wall_ms = ps_timing_wall_ms(job->timing);
    job->totals.bytes_read = ps_timing_bytes(job->timing, PS_STEP_READ);
    job->totals.bytes_written = ps_timing_bytes(job->timing, PS_STEP_WRITE);
    job->totals.backend = job->plan->backend == PS_CPU ? "cpu" : "cuda";
    return fine;
}

// The most memory that was resident at once. getrusage would count what the parent process held
// before it started this program.
static uint64_t peak_bytes(void)
{
    char line[256];
    unsigned long long kibibytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %llu kB", &kibibytes) == 1)
            break;
    fclose(file);
    return kibibytes * 1024;
}

// Inputs that later passes did not read again, and those that had no room.
static void add_kept(const struct ps_job *job, struct ps_text *out)
{
    const struct ps_plan *plan = job->plan;
    for (int port = 0; port < plan->input_count; port++) {
        const struct ps_kept *kept = &job->executors[0].kept[port];
        char bytes[32];
        if (kept->ready)
            ps_text_printf(out, "kept: '%s' in %s (%s), so that later passes read no file for it\n",
                           plan->ports[port].name, ps_keep_name(plan->keep[port]),
                           ps_size_text((uint64_t)job->totals.rows *
                                            ps_array_row_bytes(&plan->ports[port].array),
                                        bytes, sizeof bytes));
        else if (kept->lost)
            ps_text_printf(out, "not kept: '%s', as run.memory left room for %lld rows of it\n",
                           plan->ports[port].name, (long long)plan->kept_rows);
    }
}

void ps_job_summary_text(const struct ps_job *job, struct ps_text *out)
{
    const struct ps_plan *plan = job->plan;
    char read[32], written[32], peak[32], limit[32];
    double seconds = job->totals.wall_ms * 1e-3;
    bool few = plan->backend == PS_CPU && plan->threads < plan->slots; // the others only wait
    ps_timing_print(job->timing, few ? plan->threads : plan->slots, out);
    ps_text_printf(out,
                   "%lld rows in %lld block%s of %lld, %d pass%s, %.3f s: %.4g rows/s, "
                   "read %s (%.2f GB/s), wrote %s\n",
                   (long long)job->totals.rows, (long long)job->totals.blocks,
                   job->totals.blocks == 1 ? "" : "s", (long long)plan->block_rows,
                   plan->pass_count, plan->pass_count == 1 ? "" : "es", seconds,
                   seconds > 0 ? (double)job->totals.rows / seconds : 0,
                   ps_size_text(job->totals.bytes_read, read, sizeof read),
                   seconds > 0 ? (double)job->totals.bytes_read / seconds * 1e-9 : 0,
                   ps_size_text(job->totals.bytes_written, written, sizeof written));
    ps_text_printf(out, "backend %s (%s): %s\n", job->totals.backend,
                   job->executors[0].device->description, plan->reason);
    ps_text_printf(out, "memory: buffers %s of %s, process at most %s\n",
                   ps_size_text(plan->host_bytes, read, sizeof read),
                   ps_size_text(plan->host_limit, limit, sizeof limit),
                   ps_size_text(peak_bytes(), peak, sizeof peak));
    add_kept(job, out);
    if (job->compare != NULL)
        ps_compare_print(job->compare, job->timing, out);
}

bool ps_job_uses_stdout(const struct ps_job *job)
{
    for (int i = 0; i < job->plan->output_count; i++) {
        const char *path = job->plan->outputs[i].spec.path;
        if (path != NULL && strcmp(path, "-") == 0)
            return true;
    }
    return false;
}

bool ps_job_compare_matched(const struct ps_job *job)
{
    return job->compare == NULL || ps_compare_matched(job->compare);
}

struct ps_job_totals ps_job_totals(const struct ps_job *job)
{
    return job->totals;
}
