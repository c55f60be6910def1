// SPDX-License-Identifier: Apache-2.0
// Every operation and dtype as CUDA C is compiled by NVRTC for the oldest and a recent
// architecture. Needs no GPU; skipped where NVRTC is not installed or CUDA is not built in.
#include "map_kernels.h"
#include "map_tables.h"

#if PS_HAVE_CUDA
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/library.h"

static void compile(const struct ps_text *source)
{
    static const char *const architectures[] = {"sm_75", "sm_90"};
    for (int i = 0; i < 2; i++) {
        struct ps_error error = {0};
        void *cubin = NULL;
        size_t bytes = 0;
        bool fine = ps_nvrtc_compile(source->data, "map.cu", architectures[i], ps_map_nvrtc_options,
                                     &cubin, &bytes, &error);
        if (!fine)
            printf("\n%s\n", error.text);
        CU_ASSERT_TRUE(fine && bytes > 1000);
        free(cubin);
    }
}

// One row of each operation and register dtype: what mixed operands add is casts, which edge_ rows
// have as well.
static bool is_wanted(const struct map_row *row)
{
    const char *name = row->a->name;
    return strncmp(name, "few_", 4) != 0 && strncmp(name, "halfway_", 8) != 0 &&
           (row->b != NULL || strncmp(name, "near_", 5) != 0);
}

static void operations_compile(void)
{
    static struct map_batch batches[40];
    struct ps_text source = {0};
    int count = mk_batches(batches, 40, 60, is_wanted);
    for (int i = 0; i < count; i++) {
        CU_ASSERT_TRUE_FATAL(mk_add(&batches[i].job, i, &source));
        mb_free(&batches[i]);
    }
    compile(&source);
    ps_text_free(&source);
}

static void broadcasts_compile(void)
{
    struct ps_text source = {0};
    for (int i = 0; i < MS_CASES; i++) {
        struct map_job job;
        CU_ASSERT_TRUE_FATAL(ms_make(&job, &ms_cases[i], 5));
        CU_ASSERT_TRUE_FATAL(mk_add(&job, i, &source));
        ms_free(&job);
    }
    compile(&source);
    ps_text_free(&source);
}

static void tables_and_faults_compile(void)
{
    struct ps_text source = {0};
    for (int i = 0; i < MT_CASES; i++) {
        static struct map_job job;
        mt_make(&job, i);
        CU_ASSERT_TRUE_FATAL(mk_add(&job, i, &source));
        mj_free(&job);
    }
    compile(&source);
    ps_text_free(&source);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"operations compile", operations_compile},
        {"broadcasts compile", broadcasts_compile},
        {"tables and faults compile", tables_and_faults_compile},
        {NULL, NULL},
    };
    struct ps_error error = {0};
    if (ps_library_load(PS_LIBNVRTC, &error) == NULL) {
        printf("%s: skipped\n", error.text);
        return PS_SKIP;
    }
    return check_main("map nvrtc", tests);
}
#else
int main(void)
{
    printf("built without CUDA: skipped\n");
    return PS_SKIP;
}
#endif
