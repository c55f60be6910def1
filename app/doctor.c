// SPDX-License-Identifier: Apache-2.0
// penstock doctor: runs the tables of checks and prints one line each.
#include "app/doctor.h"
#include "app/app.h"

#include "kernels/backend.h"

#include <stdio.h>
#include <string.h>

struct tally {
    int counts[CHECK_SKIP + 1];
};

static void run_check(const struct check *check, const char *prefix, struct checkup *checkup,
                      struct tally *tally)
{
    static const char *const marks[] = {"[ok]  ", "[warn]", "[FAIL]", "[skip]"};
    struct ps_text found = {0};
    checkup->remedy[0] = '\0';
    enum check_result result = check->run(checkup, &found);
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, check->name);
    app_print("%s %-16s %s\n", marks[result], name, found.length > 0 ? found.data : "");
    const char *remedy = checkup->remedy[0] != '\0' ? checkup->remedy : check->remedy;
    if ((result == CHECK_WARN || result == CHECK_FAIL) && remedy != NULL)
        app_print("       %-16s -> %s\n", "", remedy);
    tally->counts[result]++;
    ps_text_free(&found);
}

static void run_table(const struct check *table, const char *prefix, struct checkup *checkup,
                      struct tally *tally)
{
    for (; table->name != NULL; table++)
        run_check(table, prefix, checkup, tally);
}

static void check_gpus(struct checkup *checkup, struct tally *tally)
{
    for (int i = 0; i < checkup->cuda.gpu_count; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "GPU %d ", i);
        checkup->gpu = i;
        checkup->gpu_known = false;
        run_table(gpu_checks, prefix, checkup, tally);
    }
}

enum ps_status app_doctor(const struct app_args *args)
{
    struct checkup checkup = {0};
    struct tally tally = {0};
    bool cpu_only = app_args_has(args, "--cpu");
    ps_hdf5_info(&checkup.hdf5);
    ps_cuda_info(&checkup.cuda);
    run_table(cpu_checks, "", &checkup, &tally);
    if (!cpu_only) {
        run_table(cuda_checks, "", &checkup, &tally);
        check_gpus(&checkup, &tally);
    }
    int failed = tally.counts[CHECK_FAIL];
    const char *backend = cpu_only ? "cpu" : "cuda";
    if (failed > 0)
        app_print("\nThe %s backend cannot run here: %d check%s failed, %d warned.\n", backend,
                  failed, failed == 1 ? "" : "s", tally.counts[CHECK_WARN]);
    else
        app_print("\nThe %s backend can run here (%d warning%s).\n", backend,
                  tally.counts[CHECK_WARN], tally.counts[CHECK_WARN] == 1 ? "" : "s");
    return failed == 0 ? PS_OK : PS_DEVICE;
}
