// SPDX-License-Identifier: Apache-2.0
// The streamed job of `penstock bench`: two configs, run as `penstock run` runs them.
#include "app/app.h"
#include "app/bench.h"

#include "pipeline/penstock.h"

#include <stdio.h>
#include <string.h>

#define RUNS 3

// Writes text as folder/name and opens it as a job.
static enum ps_status open_job(const struct bench_stream *stream, const char *name,
                               const char *text, struct ps_job **job_out)
{
    struct ps_error error = {0};
    char path[4200];
    *job_out = NULL;
    snprintf(path, sizeof path, "%s/%s", stream->folder, name);
    FILE *file = fopen(path, "w");
    bool written = file != NULL && fputs(text, file) >= 0;
    if (file == NULL || fclose(file) != 0 || !written) {
        ps_fail_errno(&error, PS_OUTPUT, "cannot write %s", path);
        return app_fail(&error);
    }
    const char *verbose = "run.verbose=true";
    return app_job_open_with(path, &verbose, stream->verbose ? 1 : 0, job_out);
}

static enum ps_status run_job(struct ps_job *job)
{
    struct ps_error error = {0};
    return ps_job_run(job, &app_stop, &error) ? PS_OK : app_fail(&error);
}

enum ps_status bench_stream_make(const struct bench_stream *stream)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "version: 1\n"
        "inputs: {x: {format: pattern, kind: random, shape: [%llu, %d], dtype: f32, seed: 7}}\n"
        "outputs: {x: {path: x.h5, dataset: /x, overwrite: true}}\n"
        "run: {backend: cpu}\n",
        (unsigned long long)(stream->bytes / (4 * BENCH_COLUMNS)), BENCH_COLUMNS);
    struct ps_job *job;
    app_signals_catch();
    enum ps_status status = open_job(stream, "make.yaml", text, &job);
    if (status == PS_OK)
        status = run_job(job);
    ps_job_free(job);
    return status;
}

// The line of the summary that says what bounded the run.
static void print_bound(const struct ps_job *job)
{
    struct ps_text summary = {0};
    ps_job_summary_text(job, &summary);
    const char *bound = summary.data != NULL ? strstr(summary.data, "bound by") : NULL;
    if (bound != NULL)
        app_print("  %.*s\n", (int)strcspn(bound, "\n"), bound);
    else
        app_print("\n");
    ps_text_free(&summary);
}

static void print_row(const struct ps_job *job, const struct ps_job_totals *totals)
{
    app_print("  %-8s %10.1f %10.2f %12.3g", totals->backend, totals->wall_ms,
              (double)totals->bytes_read / totals->wall_ms / 1e6,
              (double)totals->rows / totals->wall_ms * 1e3);
    print_bound(job);
}

enum ps_status bench_stream_run(const struct bench_stream *stream, const char *backend)
{
    char text[512];
    snprintf(text, sizeof text,
             "version: 1\n"
             "inputs: {x: {path: x.h5, dataset: /x}}\n"
             "stages:\n"
             "  - {name: y, op: map, expr: \"sqrt(abs(2*x + 1))\"}\n"
             "  - {name: stats, op: reduce, axis: rows, of: [mean, std, min, max]}\n"
             "outputs: {stats: {path: stats.csv, overwrite: true}}\n"
             "run: {backend: %s}\n",
             backend);
    struct ps_job *best = NULL;
    enum ps_status status = PS_OK;
    for (int i = 0; i < RUNS && status == PS_OK; i++) {
        struct ps_job *job;
        status = open_job(stream, "stream.yaml", text, &job);
        if (status == PS_OK)
            status = run_job(job);
        bool better = status == PS_OK &&
                      (best == NULL || ps_job_totals(job).wall_ms < ps_job_totals(best).wall_ms);
        ps_job_free(better ? best : job);
        best = better ? job : best;
    }
    if (status == PS_OK) {
        struct ps_job_totals totals = ps_job_totals(best);
        print_row(best, &totals);
    }
    ps_job_free(best);
    return status;
}
