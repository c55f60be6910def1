// SPDX-License-Identifier: Apache-2.0
// Made-up jobs on the made-up GPU, where inputs are kept in its memory or the host's.
#include "late.h"
#include "made_up.h"

static bool execute(struct toy_job *job)
{
    return late_execute(job, NULL, NULL);
}

static uint64_t first_job = 1, job_count = 600;

static void test_random(void)
{
    run_many_made_up(first_job, job_count, "cuda", execute);
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {{"made-up jobs", test_random}, {NULL, NULL}};
    if (argc == 3) {
        first_job = strtoull(argv[1], NULL, 10);
        job_count = strtoull(argv[2], NULL, 10);
    }
    late_begin();
    int result = check_main("random jobs on a made-up GPU", tests);
    for (int i = 0; i < TOY_SINKS; i++)
        free(toy_sinks[i].data);
    return result;
}
