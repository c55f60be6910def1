// SPDX-License-Identifier: Apache-2.0
// Kernels of a config through NVRTC: those of configs/kernel.yaml compile, and faults are found at
// the line of the config where they stand. Needs no GPU; skipped without NVRTC or CUDA.
#include "check.h"

#include "pipeline/plan.h"

#include <stdio.h>
#include <string.h>

#if PS_HAVE_CUDA
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/library.h"
#include "kernels/kernel/kernel.h"

// Compiles every kernel of the config; returns how many there are, and fine ones.
static int compile_all(const struct ps_config *config, int *fine_out, struct ps_error *error)
{
    struct ps_problems problems = {0};
    struct ps_plan *plan = ps_plan_make(config, &problems);
    int count = 0;
    *fine_out = 0;
    CU_ASSERT_FATAL(plan != NULL && problems.error_count == 0);
    for (int s = 0; s < plan->port_count - plan->input_count; s++) {
        struct ps_text source = {0}, signature = {0}, expression = {0};
        char lowered[PS_LOWERED_MAX];
        void *code = NULL;
        size_t bytes = 0;
        if (strcmp(plan->stages[s].type->name, "kernel") != 0)
            continue;
        const struct ps_kernel *kernel = plan->stages[s].detail;
        CU_ASSERT_TRUE(ps_kernel_cuda_source(kernel, &source));
        ps_kernel_signature(kernel, true, &signature);
        ps_kernel_expression(kernel, &expression);
        struct ps_cuda_user_code user = {source.data, kernel->function, expression.data,
                                         signature.data};
        *fine_out += ps_nvrtc_compile_user(&user, "sm_75", &code, &bytes, lowered, error);
        count++;
        free(code);
        ps_text_free(&source);
        ps_text_free(&signature);
        ps_text_free(&expression);
    }
    ps_plan_free(plan);
    ps_problems_free(&problems);
    return count;
}

static void example(void)
{
    struct ps_problems problems = {0};
    struct ps_error error = {0};
    int fine = 0;
    struct ps_config *config =
        ps_config_load(PS_SOURCE_DIR "/configs/kernel.yaml", NULL, 0, &problems);
    CU_ASSERT_FATAL(config != NULL && problems.error_count == 0);
    CU_ASSERT_EQUAL(compile_all(config, &fine, &error), 2);
    CU_ASSERT_EQUAL(fine, 2);
    if (error.status != PS_OK)
        printf("\n%s", error.text);
    ps_config_free(config);
    ps_problems_free(&problems);
}

// However the source is written, the fault is told at its line: 11 of the blocks, 10 of the others.
static void lines(void)
{
    static const char *const sources[] = {
        "    source: |\n\n\n      __global__ void k(const float *a, float *out, long long rows,\n"
        "                        long long first_row)\n      { out[0] = wrong; }\n",
        "    source: | # a comment\n      // 1\n      // 2\n      __global__ void k(const float "
        "*a, "
        "float *out,\n      long long rows, long long first_row)\n      { out[0] = wrong; }\n",
        "    threads: 32\n    guard: true\n    launch: thread_per_row\n    dtype: f32\n"
        "    source: \"__global__ void k(const float *a, float *out, long long rows, long long "
        "first_row) { out[0] = wrong; }\"\n",
        "    threads: 32\n    guard: true\n    launch: thread_per_row\n    source: >\n"
        "      __global__ void k(const float *a, float *out, long long rows, long long "
        "first_row) { out[0] = wrong; }\n",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct ps_problems problems = {0};
        struct ps_error error = {0};
        char text[1024];
        int fine = 0;
        snprintf(text, sizeof text,
                 "version: 1\ninputs: {a: {format: pattern, kind: random, shape: [9], dtype: f32, "
                 "seed: 1}}\nstages:\n  - name: k\n    op: kernel\n%soutputs: {k: {path: k.npy}}\n",
                 sources[i]);
        struct ps_config *config =
            ps_config_parse(text, strlen(text), "my \"job\".yaml", "/tmp", NULL, 0, &problems);
        CU_ASSERT_FATAL(config != NULL && problems.error_count == 0);
        CU_ASSERT_EQUAL(compile_all(config, &fine, &error), 1);
        CU_ASSERT_EQUAL(fine, 0);
        const char *place = i < 2 ? "my \"job\".yaml(11): error: identifier \"wrong\""
                                  : "my \"job\".yaml(10): error: identifier \"wrong\"";
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, place));
        if (strstr(error.text, place) == NULL)
            printf("\ncase %zu: %s", i, error.text);
        ps_config_free(config);
        ps_problems_free(&problems);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"the example compiles", example},
        {"lines of the config", lines},
        {NULL, NULL},
    };
    struct ps_error error = {0};
    if (ps_library_load(PS_LIBNVRTC, &error) == NULL) {
        printf("%s: skipped\n", error.text);
        return PS_SKIP;
    }
    return check_main("kernel config nvrtc", tests);
}
#else
int main(void)
{
    printf("built without CUDA: skipped\n");
    return PS_SKIP;
}
#endif
