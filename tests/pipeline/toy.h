// SPDX-License-Identifier: Apache-2.0
// A job of toy formats and stages in one call.
#ifndef PS_TESTS_TOY_H
#define PS_TESTS_TOY_H

#include "toy_formats.h"
#include "toy_stages.h"

// ---- A job ----

struct toy_job {
    struct ps_config *config;
    struct ps_problems problems;
    struct ps_plan *plan;
    struct ps_error error;
    int64_t rows, blocks;
    char folder[32]; // relative paths of the config start here
    struct ps_text timing;
};

static inline void toy_job_free(struct toy_job *job)
{
    ps_plan_free(job->plan);
    ps_config_free(job->config);
    ps_problems_free(&job->problems);
    ps_text_free(&job->timing);
    memset(job, 0, sizeof *job);
}

// Up to the sizes; false with job->error or job->problems.
static inline bool toy_job_plan(struct toy_job *job, const char *yaml)
{
    char folder[sizeof job->folder];
    memcpy(folder, job->folder, sizeof folder);
    *job = (struct toy_job){0};
    memcpy(job->folder, folder, sizeof folder);
    job->config =
        ps_config_parse(yaml, strlen(yaml), "toy.yaml", folder[0] != '\0' ? folder : "/nonexistent",
                        NULL, 0, &job->problems);
    if (job->config == NULL || job->problems.error_count > 0)
        return false;
    job->plan = ps_plan_make(job->config, &job->problems);
    return job->plan != NULL && job->problems.error_count == 0 &&
           ps_plan_backend(job->plan, &job->error) && ps_plan_size(job->plan, 0, &job->error);
}

static inline bool toy_job_execute(struct toy_job *job)
{
    struct ps_executor executor = {0};
    struct ps_timing *timing = ps_timing_open(NULL, &job->error);
    struct ps_run run = {.plan = job->plan,
                         .executors = &executor,
                         .executor_count = 1,
                         .timing = timing,
                         .stop = &toy_stop};
    toy_stop = 0;
    bool fine = timing != NULL && ps_executor_open(&executor, job->plan, PS_CPU, &job->error) &&
                ps_executor_compile(&executor, &job->error) &&
                ps_executor_alloc(&executor, &job->error) && ps_run_job(&run, &job->error);
    ps_executor_close(&executor);
    struct ps_error log_error = {0};
    if (timing != NULL) {
        CU_ASSERT(ps_timing_close_log(timing, &log_error));
        ps_timing_print(timing, job->plan->slots, &job->timing);
    }
    ps_timing_free(timing);
    job->rows = run.rows;
    job->blocks = run.blocks;
    return fine;
}

static inline bool toy_job_run(struct toy_job *job, const char *yaml)
{
    return toy_job_plan(job, yaml) && toy_job_execute(job);
}

// The first error, whether of the config or of the run.
static inline const char *toy_job_message(const struct toy_job *job)
{
    for (size_t i = 0; i < job->problems.count; i++)
        if (!job->problems.list[i].is_warning)
            return job->problems.list[i].text;
    return job->error.text;
}

// Nothing is left open, and every promise to formats was kept.
static inline void toy_check_clean(void)
{
    CU_ASSERT_EQUAL(atomic_load(&toy_broken), 0);
    CU_ASSERT_EQUAL(atomic_load(&toy_open), 0);
    CU_ASSERT_EQUAL(atomic_load(&toy_programs), 0);
    toy_broken = toy_open = 0;
}

#endif
