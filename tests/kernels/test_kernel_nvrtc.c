// SPDX-License-Identifier: Apache-2.0
// Users' kernels through NVRTC: right ones compile for every dtype, wrong ones are told with the
// user's own file and line and the signature that is expected. Needs no GPU; skipped where NVRTC is
// not installed or CUDA is not built in.
#include "kernel_case.h"

#if PS_HAVE_CUDA
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/library.h"

// The message is in error afterwards.
static bool compile(const struct ps_kernel *kernel, char *lowered, struct ps_error *error)
{
    struct ps_text source = {0}, signature = {0}, expression = {0};
    void *code = NULL;
    size_t bytes = 0;
    CU_ASSERT_TRUE_FATAL(ps_kernel_cuda_source(kernel, &source));
    ps_kernel_signature(kernel, true, &signature);
    ps_kernel_expression(kernel, &expression);
    struct ps_cuda_user_code user = {source.data, kernel->function, expression.data,
                                     signature.data};
    bool fine = ps_nvrtc_compile_user(&user, "sm_90", &code, &bytes, lowered, error);
    CU_ASSERT_EQUAL(fine, code != NULL && bytes > 500);
    CU_ASSERT_EQUAL(fine, error->status == PS_OK);
    free(code);
    ps_text_free(&source);
    ps_text_free(&signature);
    ps_text_free(&expression);
    return fine;
}

static bool compiles(const char *source, char *lowered, struct ps_error *error)
{
    struct fixture f;
    bool fine = kc_plan(&f, (const char *[]){"source", source, NULL}, NULL);
    CU_ASSERT_TRUE_FATAL(fine);
    fine = compile(kc_kernel(&f), lowered, error);
    fixture_free(&f);
    return fine;
}

static void right_ones(void)
{
    static const struct {
        const char *source, *lowered;
    } cases[] = {
        {"extern \"C\" __global__ void twice" KC_PARAMETERS "{ out[0] = a[0]; }", "twice"},
        {"__global__ void twice" KC_PARAMETERS "{ out[0] = a[0]; }", "_Z5twicePKfPfxx"},
        {"__global__ void __launch_bounds__(128) twice(const float *__restrict__ p, float *const q,"
         "const long long n, long long)\n{ q[n] = p[0]; }",
         "_Z5twicePKfPfxx"},
        {"__global__ void twice(const double *) {}\n" // its name is overloaded
         "__global__ void twice" KC_PARAMETERS "{ out[0] = a[0]; }",
         "_Z5twicePKfPfxx"},
        {"template <class T> __global__ void twice(const T *a, T *out, long long, long long)\n"
         "{ out[0] = a[0]; }",
         "_Z5twiceIfEvPKT_PS0_xx"},
        {"__device__ float f(float x) { return 2 * x; }\n"
         "__global__ void twice" KC_PARAMETERS "{ out[0] = f(a[0]) + PS_ROW_a + PS_ROW_twice; }",
         "_Z5twicePKfPfxx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lowered[PS_LOWERED_MAX] = "";
        struct ps_error error = {0};
        CU_ASSERT_TRUE(compiles(cases[i].source, lowered, &error));
        CU_ASSERT_STRING_EQUAL(lowered, cases[i].lowered);
        if (error.status != PS_OK)
            printf("\n%s", error.text);
    }
}

static void wrong_ones(void)
{
    static const struct {
        const char *source, *words;
    } cases[] = {
        {"\n\n__global__ void twice" KC_PARAMETERS "\n{ out[0] = b[0]; }", "source(4): error"},
        {"__global__ void twice" KC_PARAMETERS "{ out[0] = b[0]; }", "\"b\" is undefined"},
        {"__global__ void twice(const float *a, float *out, int rows, int first_row) {}",
         "expected to define __global__ void twice" KC_PARAMETERS},
        {"__global__ void twice(const double *a, float *out, long long rows, long long first_row) "
         "{}",
         "argument types are: (void (*)(const double *"},
        {"__global__ void twice(float *a, float *out, long long rows, long long first_row) {}",
         "argument types are: (void (*)(float *, float *"},
        {"__global__ int twice" KC_PARAMETERS "{ return 0; }", "void"},
        {"__global__ void thrice" KC_PARAMETERS "{}", "expected to define __global__ void twice"},
        {"__device__ void twice" KC_PARAMETERS "{}", "non-__global__"},
        {"__global__ void twice" KC_PARAMETERS "{", "expected a \"}\""},
        {"__global__ void twice" KC_PARAMETERS "{ out[0] = PS_THREADS; }", "PS_THREADS"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lowered[PS_LOWERED_MAX];
        struct ps_error error = {0};
        CU_ASSERT_FALSE(compiles(cases[i].source, lowered, &error));
        CU_ASSERT_EQUAL(error.status, PS_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.text, cases[i].words));
        if (strstr(error.text, cases[i].words) == NULL)
            printf("\ncase %zu: %s", i, error.text);
    }
}

// Every dtype as input and output, every type of param, whole inputs beside streamed ones.
static void every_dtype(void)
{
    for (int d = 0; d < PS_DTYPE_COUNT; d++) {
        const char *type = ps_dtype_info((enum ps_dtype)d)->c,
                   *name = ps_dtype_name((enum ps_dtype)d);
        char source[512], lowered[PS_LOWERED_MAX];
        struct ps_error error = {0};
        struct fixture f = {0};
        snprintf(source, sizeof source,
                 "__global__ void k(const %s *x, const %s *w, %s *out, long long rows, long long "
                 "first_row)\n{ out[first_row] = x[rows] + w[PS_ROWS_w - 1]; %s }",
                 type, type, type,
                 d == PS_F16 ? "out[0] = ps_f32_to_f16(ps_f16_to_f32(x[0]) + 1);" : "");
        fixture_input(&f, "x", true, (enum ps_dtype)d, 1, (int64_t[]){PS_ROWS_UNKNOWN}, NULL);
        fixture_input(&f, "w", false, (enum ps_dtype)d, 1, (int64_t[]){7}, NULL);
        CU_ASSERT_TRUE_FATAL(fixture_stage(&f, "kernel", "k",
                                           (const char *[]){"source", source, "in", "[x, w]",
                                                            "dtype", name, "threads", "64", NULL}));
        CU_ASSERT_TRUE(compile(kc_kernel(&f), lowered, &error));
        if (error.status != PS_OK)
            printf("\n%s: %s", name, error.text);
        fixture_free(&f);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"right ones compile", right_ones},
        {"wrong ones are told", wrong_ones},
        {"every dtype", every_dtype},
        {NULL, NULL},
    };
    struct ps_error error = {0};
    if (ps_library_load(PS_LIBNVRTC, &error) == NULL) {
        printf("%s: skipped\n", error.text);
        return PS_SKIP;
    }
    return check_main("kernel nvrtc", tests);
}
#else
int main(void)
{
    printf("built without CUDA: skipped\n");
    return PS_SKIP;
}
#endif
