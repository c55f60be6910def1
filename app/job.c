// SPDX-License-Identifier: Apache-2.0
// What run, plan and bench share: from config and flags to a planned job, and signals.
#include "app/app.h"

#include "pipeline/penstock.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int app_stop;

static void on_signal(int number)
{
    (void)number;
    __atomic_store_n(&app_stop, 1, __ATOMIC_RELAXED); // other threads read it
}

void app_signals_catch(void)
{
    // SA_RESETHAND: the second signal has its default effect and ends the program.
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) // nohup
        sigaction(SIGHUP, &action, NULL);
}

static void print_problems(const struct ps_job *job, const struct ps_problems *problems)
{
    struct ps_text text = {0};
    if (problems->count > 0)
        ps_job_problems_text(job, problems, &text);
    app_complain(&text);
}

static enum ps_status load(struct ps_job **job_out, const char *config_path,
                           const char *const *sets, size_t set_count)
{
    struct ps_problems problems = {0};
    struct ps_error error = {0};
    enum ps_status status = PS_OK;
    struct ps_job *job = ps_job_load(config_path, sets, set_count, &problems);
    if (job == NULL) {
        ps_fail_memory(&error, 0, "the job");
    } else if (problems.error_count == 0) {
        ps_job_plan(job, &problems, &error);
    }
    if (job != NULL)
        print_problems(job, &problems);
    if (problems.error_count > 0)
        status = ps_problems_status(&problems);
    if (error.status != PS_OK)
        status = app_fail(&error);
    ps_problems_free(&problems);
    if (status != PS_OK) {
        ps_job_free(job);
        job = NULL;
    }
    *job_out = job;
    return status;
}

enum ps_status app_job_open_with(const char *config_path, const char *const *sets, size_t set_count,
                                 struct ps_job **job_out)
{
    *job_out = NULL;
    return load(job_out, config_path, sets, set_count);
}

// "run.log='/here/it''s.csv'": a path of the command line starts at the current folder, and is
// text whatever it looks like.
static bool add_log_set(struct ps_text *set, const char *path, struct ps_error *error)
{
    char here[4096];
    if (path[0] != '/' && getcwd(here, sizeof here) == NULL)
        return ps_fail_errno(error, PS_USAGE, "cannot tell the current folder for --log");
    char *full = path[0] == '/' ? ps_strdup(path) : ps_path_join(here, path);
    ps_text_add(set, "run.log='");
    for (const char *at = full; at != NULL && *at != '\0'; at++)
        ps_text_append(set, *at == '\'' ? "''" : at, *at == '\'' ? 2 : 1);
    ps_text_add(set, "'");
    bool done = full != NULL && !set->failed;
    free(full);
    return done || ps_fail_memory(error, 0, "--log");
}

struct sets {
    const char **list;
    size_t count;
    struct ps_text backend, log; // made from flags
};

static bool collect(const struct app_args *args, struct sets *sets, struct ps_error *error)
{
    sets->list = calloc((size_t)args->given_count + 1, sizeof *sets->list);
    if (sets->list == NULL)
        return ps_fail_memory(error, 0, "--set");
    for (int i = 0; i < args->given_count; i++) {
        const struct app_given *given = &args->given[i];
        if (strcmp(given->flag->name, "--set") == 0) {
            sets->list[sets->count++] = given->value;
        } else if (strcmp(given->flag->name, "--compare") == 0) {
            sets->list[sets->count++] = "run.compare=true";
        } else if (strcmp(given->flag->name, "--verbose") == 0) {
            sets->list[sets->count++] = "run.verbose=true";
        } else if (strcmp(given->flag->name, "--backend") == 0) {
            ps_text_printf(&sets->backend, "run.backend=%s", given->value);
            sets->list[sets->count++] = sets->backend.data;
        } else if (strcmp(given->flag->name, "--log") == 0) {
            if (!add_log_set(&sets->log, given->value, error))
                return false;
            sets->list[sets->count++] = sets->log.data;
        }
    }
    return !sets->backend.failed || ps_fail_memory(error, 0, "--backend");
}

enum ps_status app_job_open(const struct app_args *args, struct ps_job **job_out)
{
    struct sets sets = {0};
    struct ps_error error = {0};
    *job_out = NULL;
    enum ps_status status = collect(args, &sets, &error)
                                ? load(job_out, args->operands[0], sets.list, sets.count)
                                : app_fail(&error);
    free(sets.list);
    ps_text_free(&sets.backend);
    ps_text_free(&sets.log);
    return status;
}
