// SPDX-License-Identifier: Apache-2.0
// Configs: YAML, sections, options, expressions, plans. Nothing is run, so nothing is written.
#include "fuzz.h"

#include "pipeline/penstock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ps_problems problems = {0};
    struct ps_error error = {0};
    struct ps_text text = {0};
    struct ps_job *job = ps_job_load(fuzz_file(data, size), NULL, 0, &problems);
    if (job == NULL)
        abort();
    if (problems.error_count == 0)
        ps_job_plan(job, &problems, &error);
    ps_job_problems_text(job, &problems, &text);
    if (error.status == PS_BUG)
        abort();
    ps_text_free(&text);
    ps_job_free(job);
    ps_problems_free(&problems);
    return 0;
}
