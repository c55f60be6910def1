// SPDX-License-Identifier: Apache-2.0
// Compiling kernels when the job starts; kernels/cuda/launch.c runs them.
#include "kernels/cuda/driver.h"
#include "kernels/cuda/kernel_cache.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ps_cuda_module {
    struct ps_device *device;
    CUmodule module;
};

#define OPTIONS_MAX 24

// Rounding as IEEE says, as on the cpu: no contraction, no flush to zero, exact / and sqrt.
static const char *const fixed_options[] = {"--fmad=false",     "--ftz=false", "--prec-div=true",
                                            "--prec-sqrt=true", "-lineinfo",   "-default-device",
                                            "--std=c++17",      NULL};

static bool nvrtc_failed(nvrtcResult result, const char *call, struct ps_error *error)
{
    if (result == NVRTC_SUCCESS)
        return false;
    ps_fail(error, PS_DEVICE, "%s failed: NVRTC error %d%s", call, (int)result,
            result == NVRTC_ERROR_OUT_OF_MEMORY ? " (out of memory)"
            : result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE
                ? " (libnvrtc-builtins of the same version is missing beside libnvrtc)"
                : "");
    return true;
}

static void report_log(const struct ps_nvrtc *nvrtc, nvrtcProgram program, const char *name,
                       struct ps_error *error)
{
    size_t bytes = 0;
    char *log = NULL;
    if (nvrtc->nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 1 &&
        (log = malloc(bytes + 1)) != NULL &&
        nvrtc->nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS) {
        log[bytes] = '\0';
        size_t length = strlen(log);
        while (length > 0 && log[length - 1] == '\n')
            log[--length] = '\0';
        ps_fail(error, PS_DEVICE, "%s does not compile:\n%s", name, log);
    } else {
        ps_fail(error, PS_DEVICE, "%s does not compile, and NVRTC gave no reason", name);
    }
    free(log);
}

static bool gather_options(const char *architecture, const char *const *extra, const char **list,
                           int *count, struct ps_error *error)
{
    *count = 0;
    list[(*count)++] = architecture;
    for (int i = 0; fixed_options[i] != NULL; i++)
        list[(*count)++] = fixed_options[i];
    for (int i = 0; extra != NULL && extra[i] != NULL; i++) {
        if (*count == OPTIONS_MAX)
            return ps_fail(error, PS_BUG, "more than %d options of NVRTC", OPTIONS_MAX);
        list[(*count)++] = extra[i];
    }
    return true;
}

static bool take_code(const struct ps_nvrtc *nvrtc, nvrtcProgram program, bool ptx, void **code,
                      size_t *bytes, struct ps_error *error)
{
    nvrtcResult (*get_size)(nvrtcProgram, size_t *) =
        ptx ? nvrtc->nvrtcGetPTXSize : nvrtc->nvrtcGetCUBINSize;
    nvrtcResult (*get)(nvrtcProgram, char *) = ptx ? nvrtc->nvrtcGetPTX : nvrtc->nvrtcGetCUBIN;
    if (nvrtc_failed(get_size(program, bytes), "asking NVRTC for the code's size", error))
        return false;
    if (*bytes == 0)
        return ps_fail(error, PS_DEVICE, "NVRTC made no code");
    *code = malloc(*bytes);
    if (*code == NULL)
        return ps_fail_memory(error, *bytes, "a kernel");
    if (!nvrtc_failed(get(program, *code), "asking NVRTC for the code", error))
        return true;
    free(*code);
    *code = NULL;
    return false;
}

static int compare_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

bool ps_nvrtc_architecture(int major, int minor, char *out, size_t out_size, struct ps_error *error)
{
    const struct ps_nvrtc *nvrtc = ps_nvrtc(error);
    int known[128], count = 0, wanted = major * 10 + minor;
    if (nvrtc == NULL ||
        nvrtc_failed(nvrtc->nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs", error))
        return false;
    if (count < 1 || count > (int)(sizeof known / sizeof *known))
        return ps_fail(error, PS_DEVICE, "NVRTC claims to know %d architectures", count);
    if (nvrtc_failed(nvrtc->nvrtcGetSupportedArchs(known), "nvrtcGetSupportedArchs", error))
        return false;
    qsort(known, (size_t)count, sizeof *known, compare_int);
    int newest = -1; // that the GPU can run
    for (int i = 0; i < count && known[i] <= wanted; i++)
        newest = known[i];
    if (newest < 0)
        return ps_fail(error, PS_DEVICE,
                       "NVRTC %d.%d knows GPUs from sm_%d up, this one is sm_%d: "
                       "install the NVRTC of an older CUDA toolkit",
                       nvrtc->version / 1000, nvrtc->version % 1000 / 10, known[0], wanted);
    snprintf(out, out_size, "%s_%d", newest == wanted ? "sm" : "compute", newest);
    if (newest != wanted)
        ps_log(PS_LOG_NOTE,
               "NVRTC %d.%d does not know sm_%d yet: the driver translates code for "
               "compute_%d; a newer CUDA toolkit may be faster",
               nvrtc->version / 1000, nvrtc->version % 1000 / 10, wanted, newest);
    return true;
}

bool ps_nvrtc_compile(const char *source, const char *name, const char *architecture,
                      const char *const *options, void **code_out, size_t *bytes_out,
                      struct ps_error *error)
{
    const struct ps_nvrtc *nvrtc = ps_nvrtc(error);
    const char *list[OPTIONS_MAX];
    char target[48];
    int count;
    nvrtcProgram program;
    snprintf(target, sizeof target, "-arch=%s", architecture);
    if (nvrtc == NULL || !gather_options(target, options, list, &count, error) ||
        nvrtc_failed(nvrtc->nvrtcCreateProgram(&program, source, name, 0, NULL, NULL),
                     "nvrtcCreateProgram", error))
        return false;
    nvrtcResult result = nvrtc->nvrtcCompileProgram(program, count, list);
    if (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION)
        report_log(nvrtc, program, name, error);
    else
        nvrtc_failed(result, "nvrtcCompileProgram", error);
    bool ptx = strncmp(architecture, "compute_", 8) == 0;
    bool fine =
        result == NVRTC_SUCCESS && take_code(nvrtc, program, ptx, code_out, bytes_out, error);
    nvrtc->nvrtcDestroyProgram(&program);
    return fine;
}

// Everything that decides what the code is.
static char *make_key(int version, const char *architecture, const char *source,
                      const char *const *options, size_t *bytes)
{
    struct ps_text key = {0};
    ps_text_printf(&key, "nvrtc %d %s", version, architecture);
    for (int i = 0; fixed_options[i] != NULL; i++)
        ps_text_printf(&key, " %s", fixed_options[i]);
    for (int i = 0; options != NULL && options[i] != NULL; i++)
        ps_text_printf(&key, " %s", options[i]);
    ps_text_add(&key, "\n");
    ps_text_add(&key, source);
    if (key.failed)
        ps_text_free(&key);
    *bytes = key.length;
    return key.data;
}

static bool get_code(struct ps_device *device, const char *source, const char *name,
                     const char *const *options, void **code, size_t *bytes, struct ps_error *error)
{
    char architecture[32];
    size_t key_bytes = 0;
    const struct ps_cuda_device *gpu = ps_cuda_device(device);
    const struct ps_nvrtc *nvrtc = ps_nvrtc(error);
    if (nvrtc == NULL ||
        !ps_nvrtc_architecture(gpu->major, gpu->minor, architecture, sizeof architecture, error))
        return false;
    char *key = make_key(nvrtc->version, architecture, source, options, &key_bytes);
    if (key == NULL)
        return ps_fail_memory(error, strlen(source), "a kernel's source");
    bool fine = ps_kernel_cache_get(key, key_bytes, code, bytes);
    if (!fine) {
        fine = ps_nvrtc_compile(source, name, architecture, options, code, bytes, error);
        if (fine)
            ps_kernel_cache_put(key, key_bytes, *code, *bytes);
    }
    free(key);
    return fine;
}

bool ps_cuda_module_compile(struct ps_device *device, const char *source, const char *name,
                            const char *const *options, struct ps_cuda_module **module_out,
                            struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    void *code = NULL;
    size_t bytes = 0;
    if (driver == NULL || !ps_cuda_use(device, error) ||
        !get_code(device, source, name, options, &code, &bytes, error))
        return false;
    struct ps_cuda_module *module = calloc(1, sizeof *module);
    bool fine = module != NULL || ps_fail_memory(error, sizeof *module, "a kernel");
    if (fine) {
        module->device = device;
        fine = ps_cu_check(driver->cuModuleLoadDataEx(&module->module, code, 0, NULL, NULL),
                           "cuModuleLoadData", error);
    }
    free(code);
    if (!fine) {
        free(module);
        return false;
    }
    *module_out = module;
    return true;
}

void ps_cuda_module_free(struct ps_cuda_module *module)
{
    struct ps_error error = {0};
    const struct ps_driver *driver = ps_driver(&error);
    if (module == NULL)
        return;
    if (driver != NULL && ps_cuda_use(module->device, &error))
        driver->cuModuleUnload(module->module);
    free(module);
}

bool ps_cuda_module_kernel(struct ps_cuda_module *module, const char *kernel, CUfunction *out,
                           struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    return driver != NULL && ps_cu_check(driver->cuModuleGetFunction(out, module->module, kernel),
                                         "cuModuleGetFunction", error);
}
