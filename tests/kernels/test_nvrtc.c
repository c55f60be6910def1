// SPDX-License-Identifier: Apache-2.0
// Compiling kernels at run time, and their cache on disk. Needs NVRTC but no GPU.
#include "check.h"

#if PS_HAVE_CUDA
#include "kernels/cuda/driver.h"
#include "kernels/cuda/kernel_cache.h"
#include "kernels/cuda/library.h"

#include "base/log.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char good[] = "extern \"C\" __global__ void axpy(float a, const float *x, float *y)\n"
                           "{\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    y[i] = a * x[i] + y[i];\n"
                           "}\n";

static void test_cubin(void)
{
    struct ps_error error = {0};
    void *code = NULL;
    size_t bytes = 0;
    CU_ASSERT(ps_nvrtc_compile(good, "axpy.cu", "sm_90", NULL, &code, &bytes, &error));
    CU_ASSERT_EQUAL(error.status, PS_OK);
    CU_ASSERT_FATAL(code != NULL && bytes > 64);
    CU_ASSERT(memcmp(code, "\177ELF", 4) == 0);
    free(code);
}

// The same rounding as on the cpu: a product and a sum are two roundings.
static void test_ptx_without_contraction(void)
{
    struct ps_error error = {0};
    void *code = NULL;
    size_t bytes = 0;
    CU_ASSERT(ps_nvrtc_compile(good, "axpy.cu", "compute_80", NULL, &code, &bytes, &error));
    CU_ASSERT_FATAL(code != NULL && bytes > 0);
    const char *ptx = code;
    CU_ASSERT_EQUAL(ptx[bytes - 1], '\0');
    CU_ASSERT_PTR_NOT_NULL(strstr(ptx, ".target sm_80"));
    CU_ASSERT_PTR_NOT_NULL(strstr(ptx, "mul.rn.f32"));
    CU_ASSERT_PTR_NOT_NULL(strstr(ptx, "add.rn.f32"));
    CU_ASSERT_PTR_NULL(strstr(ptx, "fma."));
    free(code);
}

static void expect_fault(const char *source, const char *architecture, const char *const *options,
                         const char *words)
{
    struct ps_error error = {0};
    void *code = NULL;
    size_t bytes = 0;
    CU_ASSERT_FALSE(
        ps_nvrtc_compile(source, "user.cu", architecture, options, &code, &bytes, &error));
    CU_ASSERT_PTR_NULL(code);
    CU_ASSERT_NOT_EQUAL(error.status, PS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, words));
    if (strstr(error.text, words) == NULL)
        printf("\n%s", error.text);
}

static void test_faults(void)
{
    static const char *const wrong[] = {"--no-such-option", NULL};
    const char *many[41] = {NULL};
    for (int i = 0; i < 40; i++)
        many[i] = "-DX";
    expect_fault("__global__ void f() {\n    return x;\n}\n", "sm_90", NULL, "user.cu(2)");
    expect_fault("__global__ void f() {\n    return x;\n}\n", "sm_90", NULL, "\"x\" is undefined");
    expect_fault(good, "sm_1", NULL, "arch");
    expect_fault(good, "sm_90", wrong, "no-such-option");
    expect_fault(good, "sm_90", many, "options of NVRTC");
}

static char note[256];

static void keep_note(void *context, enum ps_log_level level, const char *text)
{
    (void)context;
    (void)level;
    snprintf(note, sizeof note, "%s", text);
}

static void test_architecture(void)
{
    struct ps_error error = {0};
    char text[32];
    ps_log_set(keep_note, NULL);
    CU_ASSERT(ps_nvrtc_architecture(9, 0, text, sizeof text, &error));
    CU_ASSERT_STRING_EQUAL(text, "sm_90");
    CU_ASSERT_STRING_EQUAL(note, "");
    CU_ASSERT(ps_nvrtc_architecture(98, 7, text, sizeof text, &error));
    CU_ASSERT(strncmp(text, "compute_", 8) == 0 && atoi(text + 8) >= 90);
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "does not know sm_987"));
    CU_ASSERT_FALSE(ps_nvrtc_architecture(1, 3, text, sizeof text, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "this one is sm_13"));
    ps_log_set(NULL, NULL);
}

// ---- Cache ----

static char folder[] = "/tmp/penstock-test-XXXXXX";

// The one entry of the cache.
static bool find_entry(char *path, size_t size)
{
    char cache[64];
    bool found = false;
    snprintf(cache, sizeof cache, "%s/penstock", folder);
    DIR *list = opendir(cache);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] != '.') {
            CU_ASSERT_FALSE(found);
            found = true;
            snprintf(path, size, "%s/%s", cache, entry->d_name);
        }
    if (list != NULL)
        closedir(list);
    return found;
}

static bool cached(const char *key)
{
    void *code = NULL;
    size_t bytes = 0;
    bool hit = ps_kernel_cache_get(key, strlen(key), &code, &bytes);
    if (hit) {
        CU_ASSERT_EQUAL(bytes, 7);
        CU_ASSERT(memcmp(code, "machine", 7) == 0);
        free(code);
    }
    return hit;
}

static void overwrite_byte(const char *path, long offset)
{
    FILE *file = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fseek(file, offset, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, offset, SEEK_SET);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

static void test_cache(void)
{
    char path[400];
    struct stat status;
    setenv("XDG_CACHE_HOME", folder, 1);
    CU_ASSERT_FALSE(cached("key one"));
    ps_kernel_cache_put("key one", 7, "machine", 7);
    CU_ASSERT(cached("key one"));
    CU_ASSERT_FALSE(cached("key two"));
    CU_ASSERT_FALSE(cached("key one "));
    CU_ASSERT_FATAL(find_entry(path, sizeof path)); // and no temporary file is left
    CU_ASSERT_FATAL(stat(path, &status) == 0);
    CU_ASSERT_EQUAL(status.st_mode & 077, 0);
    for (long i = 0; i < status.st_size; i++) { // any damage: not cached; put repairs
        overwrite_byte(path, i);
        CU_ASSERT_FALSE(cached("key one"));
        ps_kernel_cache_put("key one", 7, "machine", 7);
        CU_ASSERT(cached("key one"));
    }
    for (long i = status.st_size; i-- > 0;) {
        CU_ASSERT_FATAL(truncate(path, i) == 0);
        CU_ASSERT_FALSE(cached("key one"));
    }
    unlink(path);
}

static void test_cache_without_folder(void)
{
    setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
    ps_kernel_cache_put("key", 3, "machine", 7);
    CU_ASSERT_FALSE(cached("key"));
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", folder, 1);
    ps_kernel_cache_put("key", 3, "machine", 7);
    CU_ASSERT(cached("key")); // ~/.cache is made
    unsetenv("HOME");
    ps_kernel_cache_put("key", 3, "machine", 7);
    CU_ASSERT_FALSE(cached("key"));
}

static void test_missing_function(void)
{
    struct ps_error error = {0};
    CU_ASSERT_PTR_NULL(ps_library_symbol(PS_LIBNVRTC, "nvrtcMakeCoffee", &error));
    CU_ASSERT_EQUAL(error.status, PS_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "nvrtcMakeCoffee"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, ps_library_path(PS_LIBNVRTC)));
}

int main(void)
{
    static const struct check_test tests[] = {
        {"cubin", test_cubin},
        {"ptx without contraction", test_ptx_without_contraction},
        {"faults", test_faults},
        {"architecture", test_architecture},
        {"cache", test_cache},
        {"cache without folder", test_cache_without_folder},
        {"missing function", test_missing_function},
        {NULL, NULL},
    };
    struct ps_error error = {0};
    char command[100];
    if (ps_nvrtc(&error) == NULL) {
        printf("%s\n", error.text);
        return PS_SKIP;
    }
    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    int result = check_main("nvrtc", tests);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? result : EXIT_FAILURE;
}
#else
int main(void)
{
    return PS_SKIP;
}
#endif
