// SPDX-License-Identifier: Apache-2.0
// penstock run and penstock plan.
#include "app/app.h"

#include "pipeline/penstock.h"

static enum ps_status stream(const struct app_args *args, struct ps_job *job)
{
    struct ps_error error = {0};
    app_signals_catch();
    if (!ps_job_run(job, &app_stop, &error))
        return app_fail(&error);
    struct ps_text summary = {0};
    enum ps_status status = PS_OK;
    ps_job_summary_text(job, &summary);
    if (app_args_has(args, "--quiet"))
        ps_text_free(&summary);
    else if (ps_job_uses_stdout(job))
        app_complain(&summary);
    else
        status = app_print_text(&summary);
    if (!ps_job_compare_matched(job)) {
        ps_fail(&error, PS_BUG,
                "the backends' results differ by more than their kernels may; "
                "outputs are of the first backend");
        return app_fail(&error);
    }
    return status;
}

enum ps_status app_run(const struct app_args *args)
{
    if (app_args_has(args, "--quiet") && app_args_has(args, "--verbose"))
        return app_usage("--quiet and --verbose contradict each other");
    app_log_to_stderr(app_args_has(args, "--quiet"));
    struct ps_job *job;
    enum ps_status status = app_job_open(args, &job);
    if (status == PS_OK)
        status = stream(args, job);
    ps_job_free(job);
    return status;
}

enum ps_status app_plan(const struct app_args *args)
{
    app_log_to_stderr(false);
    struct ps_job *job;
    enum ps_status status = app_job_open(args, &job);
    if (status == PS_OK) {
        struct ps_text text = {0};
        struct ps_error error = {0};
        if (ps_job_plan_text(job, &text, &error)) {
            status = app_print_text(&text);
        } else {
            ps_text_free(&text);
            status = app_fail(&error);
        }
    }
    ps_job_free(job);
    return status;
}
