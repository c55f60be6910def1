// SPDX-License-Identifier: Apache-2.0
// Kernel stages on the cpu: what the plan refuses, what it makes of options, twins in C and as
// expressions against plain loops, the guard.
#include "kernel_case.h"

#define CUDA "__global__ void twice" KC_PARAMETERS "{}"
#define LOOP "void twice" KC_PARAMETERS "{ for (long long i = 0; i < rows * PS_ROW_a; i++) "

static void refused(void)
{
    static const struct {
        const char *options[9], *words;
    } cases[] = {
        {{NULL}, "give `source` (the text) or `file`"},
        {{"source", CUDA, "file", "/nosuch.cu", NULL}, "source and file: give one of them"},
        {{"file", "/nosuch.cu", NULL}, "file: cannot use /nosuch.cu: No such file"},
        {{"file", "/", NULL}, "file: cannot use /: Is a directory"},
        {{"source", "\n  # include <x>\n" CUDA, NULL}, "its line 2: a kernel cannot #include"},
        {{"source", "%:include <x>\n" CUDA, NULL}, "its line 1: a kernel cannot #include"},
        {{"source", CUDA, "function", "a-b", NULL}, "'a-b' is not the name of a function"},
        {{"source", CUDA, "function", "2", NULL}, "no digit first"},
        {{"source", CUDA, "shape", "[-1]", NULL}, "sizes cannot be negative"},
        {{"source", CUDA, "shape", "[1,1,1,1,1,1,1,1]", NULL}, "at most 8 axes"},
        {{"source", CUDA, "shape", "[4000000000000,4000000000000]", NULL}, "shape: "},
        {{"source", CUDA, "in", "[a, a]", NULL}, "'a' is listed twice"},
        {{"source", CUDA, "in", "[a, b]", NULL}, "no array 'b' here"},
        {{"source", CUDA, "cpu_expr", "a", "cpu_source", "x", NULL}, "a kernel has one twin"},
        {{"source", CUDA, "cpu_source", "x", "cpu_file", "y", NULL}, "cpu_source and cpu_file"},
        {{"source", CUDA, "cpu_expr", "a +", NULL}, "ends"},
        {{"source", CUDA, "cpu_expr", "a", "shape", "[2]", NULL},
         "cpu_expr makes f32[?, 3], but the kernel makes f32[?, 2]"},
        {{"source", CUDA, "cpu_expr", "a[0]", NULL}, "but the kernel makes f32[?, 3]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        CU_ASSERT_FALSE(kc_plan(&f, cases[i].options, NULL));
        CU_ASSERT_TRUE(f.problems.error_count > 0);
        if (!kc_reports(&f, cases[i].words))
            CU_FAIL("another message");
        fixture_free(&f);
    }
}

static void shapes(void)
{
    struct fixture f;
    CU_ASSERT_TRUE(kc_plan(&f, (const char *[]){"source", CUDA, NULL}, NULL));
    CU_ASSERT_TRUE(f.stages[0].streamed && f.stages[0].output.rank == 2);
    CU_ASSERT_EQUAL(f.stages[0].output.dtype, PS_F32);
    CU_ASSERT_EQUAL(f.stages[0].axes[1].axis, 1);
    fixture_free(&f);
    CU_ASSERT_TRUE(kc_plan(
        &f, (const char *[]){"source", CUDA, "dtype", "i16", "shape", "[5, 2]", NULL}, NULL));
    CU_ASSERT_TRUE(f.stages[0].output.rank == 3 && f.stages[0].output.dims[2] == 2);
    CU_ASSERT_EQUAL(kc_kernel(&f)->out_row_elements, 10);
    CU_ASSERT_EQUAL(f.stages[0].output.dtype, PS_I16);
    fixture_free(&f);
    f = (struct fixture){0}; // the leading input is the first streamed one
    fixture_input(&f, "w", false, PS_F64, 1, (int64_t[]){9}, NULL);
    fixture_input(&f, "a", true, PS_U8, 2, (int64_t[]){PS_ROWS_UNKNOWN, 4}, NULL);
    CU_ASSERT_TRUE(
        fixture_stage(&f, "kernel", "k", (const char *[]){"source", CUDA, "in", "[w, a]", NULL}));
    CU_ASSERT_TRUE(f.stages[0].output.dtype == PS_U8 && f.stages[0].output.dims[1] == 4);
    CU_ASSERT_TRUE(kc_kernel(&f)->inputs[0].rows == 9 && kc_kernel(&f)->inputs[1].rows == -1);
    fixture_free(&f);
    f = (struct fixture){0}; // whole inputs: the whole shape
    fixture_input(&f, "w", false, PS_F64, 1, (int64_t[]){9}, NULL);
    CU_ASSERT_TRUE(fixture_stage(&f, "kernel", "k",
                                 (const char *[]){"source", CUDA, "shape", "[4, 5]", NULL}));
    CU_ASSERT_TRUE(!f.stages[0].streamed && f.stages[0].whole_rows == 4);
    CU_ASSERT_EQUAL(kc_kernel(&f)->out_row_elements, 5);
    fixture_free(&f);
}

static void check_twice(struct fixture *f, int64_t rows, int64_t block, const float *a)
{
    float *result = fixture_run(f, PS_CPU, rows, block);
    CU_ASSERT_PTR_NOT_NULL(result);
    if (result == NULL)
        printf("\n%s", f->error.text);
    for (int64_t i = 0; result != NULL && i < rows * 3; i++)
        CU_ASSERT_EQUAL(result[i], 2 * a[i]);
    free(result);
}

static void twins(void)
{
    static const char *const twin[][2] = {
        {"cpu_source", LOOP "out[i] = 2 * a[i]; }"},
        {"cpu_expr", "2 * a"},
    };
    static const int64_t rows[] = {0, 1, 31, 32, 33, 57};
    float a[57 * 3];
    for (int i = 0; i < 57 * 3; i++)
        a[i] = (float)(i - 40) * 0.5f;
    for (int t = 0; t < 2; t++) {
        for (int guard = 0; guard < 2; guard++) {
            for (int r = 0; r < 6; r++) {
                struct fixture f;
                const char *options[] = {"source",   CUDA,    twin[t][0],
                                         twin[t][1], "guard", guard ? "true" : "false",
                                         NULL};
                CU_ASSERT_TRUE_FATAL(kc_plan(&f, options, a));
                check_twice(&f, rows[r], r % 2 ? 0 : 7, a);
                fixture_free(&f);
            }
        }
    }
}

static void guarded(void)
{
    static const struct {
        const char *twin, *words;
    } cases[] = {
        {LOOP "out[i + 1] = 1; }",
         "wrote outside its output of 60 bytes: 4 bytes after it (the nearest 0 bytes"},
        {LOOP "out[i - 2] = 1; out[rows * 3 - 1] = out[rows * 3 - 2] = 1; }",
         "8 bytes before it (the nearest 1 bytes before its start)"},
        {"void twice" KC_PARAMETERS
         "{ ((unsigned char *)out)[60] = 0xA5; for (int i = 0; i < 15; i++) out[i] = 1; }",
         "1 bytes after it"}, // the first pattern's own byte: seen in the second run
        {LOOP "if (i != 7) out[i] = 1; }", "left 4 of 60 bytes of its output as they were, or"},
        {LOOP "if (first_row == 0 || i != 7) out[i] = 1; }", "row 7, element 1"}, // of rows 5-9
        {"static int n; " LOOP "out[i] = n++; }", "gives another result each time it runs"},
    };
    float a[10 * 3] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        CU_ASSERT_TRUE_FATAL(kc_plan(
            &f,
            (const char *[]){"source", CUDA, "cpu_source", cases[i].twin, "guard", "true", NULL},
            a));
        CU_ASSERT_PTR_NULL(fixture_run(&f, PS_CPU, 10, 5));
        CU_ASSERT_EQUAL(f.error.status, PS_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(f.error.text, cases[i].words));
        if (strstr(f.error.text, cases[i].words) == NULL)
            printf("\ncase %zu: %s", i, f.error.text);
        fixture_free(&f);
    }
}

static void bools(void)
{
    static const char source[] =
        "void twice(const float *a, unsigned char *out, long long rows, long "
        "long first_row) { for (long long i = 0; i < rows * 3; i++) out[i] "
        "= i == 4 ? 2 : 1; }";
    float a[2 * 3] = {0};
    struct fixture f;
    CU_ASSERT_TRUE_FATAL(kc_plan(&f,
                                 (const char *[]){"source", CUDA, "cpu_source", source, "dtype",
                                                  "bool", "guard", "true", NULL},
                                 a));
    CU_ASSERT_PTR_NULL(fixture_run(&f, PS_CPU, 2, 0));
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.text,
                                  "made 1 bools that are neither 0 nor 1; the first is "
                                  "in row 1, element 1"));
    fixture_free(&f);
}

static void twins_that_fail(void)
{
    static const struct {
        const char *twin, *words;
    } cases[] = {
        {"\nvoid twice" KC_PARAMETERS "\n{ out[0] = b[0]; }", "cpu_source:3:"},
        {"void twice(const float *a, float *out, long rows, long first_row) {}",
         "expected is void twice" KC_PARAMETERS},
        {"void thrice" KC_PARAMETERS "{}", "expected to define void twice"},
        {"void nowhere(void); void twice" KC_PARAMETERS "{ nowhere(); }", "nowhere"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        CU_ASSERT_TRUE_FATAL(
            kc_plan(&f, (const char *[]){"source", CUDA, "cpu_source", cases[i].twin, NULL}, NULL));
        CU_ASSERT_PTR_NULL(fixture_run(&f, PS_CPU, 0, 0));
        CU_ASSERT_EQUAL(f.error.status, PS_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(f.error.text, cases[i].words));
        if (strstr(f.error.text, cases[i].words) == NULL)
            printf("\ncase %zu: %s", i, f.error.text);
        fixture_free(&f);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"refused", refused}, {"shapes", shapes}, {"twins", twins},
        {"guarded", guarded}, {"bools", bools},   {"twins that fail", twins_that_fail},
        {NULL, NULL},
    };
    return check_main("kernel", tests);
}
