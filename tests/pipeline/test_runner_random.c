// SPDX-License-Identifier: Apache-2.0
// Made-up jobs on the cpu backend.
#include "made_up.h"

static uint64_t first_job = 1, job_count = 1000;

static void test_random(void)
{
    run_many_made_up(first_job, job_count, "cpu", toy_job_execute);
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {{"made-up jobs", test_random}, {NULL, NULL}};
    if (argc == 3) {
        first_job = strtoull(argv[1], NULL, 10);
        job_count = strtoull(argv[2], NULL, 10);
    }
    int result = check_main("random jobs", tests);
    for (int i = 0; i < TOY_SINKS; i++)
        free(toy_sinks[i].data);
    return result;
}
