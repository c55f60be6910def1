// SPDX-License-Identifier: Apache-2.0
// Modules of kernels compiled when the job starts: out of the cache on disk, or by NVRTC.
#include "kernels/cuda/kernel_cache.h"
#include "kernels/cuda/nvrtc_request.h"

#include <stdlib.h>
#include <string.h>

struct ps_cuda_module {
    struct ps_device *device;
    CUmodule module;
};

// Everything that decides what the code is.
static char *make_key(int version, const char *architecture, const struct ps_nvrtc_request *request,
                      size_t *bytes)
{
    struct ps_text key = {0};
    ps_text_printf(&key, "nvrtc %d %s", version, architecture);
    for (int i = 0; ps_nvrtc_fixed_options[i] != NULL; i++)
        ps_text_printf(&key, " %s", ps_nvrtc_fixed_options[i]);
    for (int i = 0; request->options != NULL && request->options[i] != NULL; i++)
        ps_text_printf(&key, " %s", request->options[i]);
    if (request->user != NULL)
        ps_text_printf(&key, " %s", request->user->expression);
    ps_text_add(&key, "\n");
    ps_text_add(&key, request->source);
    if (key.failed)
        ps_text_free(&key);
    *bytes = key.length;
    return key.data;
}

// The lowered name goes into the cache behind the code.
static bool append_lowered(void **code, size_t *bytes, const char *lowered, struct ps_error *error)
{
    char *longer = realloc(*code, *bytes + PS_LOWERED_MAX);
    if (longer == NULL) {
        free(*code);
        *code = NULL;
        return ps_fail_memory(error, *bytes + PS_LOWERED_MAX, "a kernel");
    }
    memcpy(longer + *bytes, lowered, PS_LOWERED_MAX);
    *code = longer;
    *bytes += PS_LOWERED_MAX;
    return true;
}

static bool get_code(struct ps_device *device, const struct ps_nvrtc_request *request, void **code,
                     size_t *bytes, char *lowered, struct ps_error *error)
{
    char architecture[32];
    size_t key_bytes = 0;
    const struct ps_cuda_device *gpu = ps_cuda_device(device);
    const struct ps_nvrtc *nvrtc = ps_nvrtc(error);
    if (nvrtc == NULL ||
        !ps_nvrtc_architecture(gpu->major, gpu->minor, architecture, sizeof architecture, error))
        return false;
    char *key = make_key(nvrtc->version, architecture, request, &key_bytes);
    if (key == NULL)
        return ps_fail_memory(error, strlen(request->source), "a kernel's source");
    bool fine = ps_kernel_cache_get(key, key_bytes, code, bytes);
    if (!fine) {
        fine = ps_nvrtc_make(request, architecture, code, bytes, lowered, error) &&
               (request->user == NULL || append_lowered(code, bytes, lowered, error));
        if (fine)
            ps_kernel_cache_put(key, key_bytes, *code, *bytes);
    }
    free(key);
    if (!fine || request->user == NULL)
        return fine;
    if (*bytes <= PS_LOWERED_MAX) {
        free(*code);
        return ps_fail(error, PS_BUG, "a kernel in the cache lacks its name");
    }
    *bytes -= PS_LOWERED_MAX;
    memcpy(lowered, (char *)*code + *bytes, PS_LOWERED_MAX);
    return true;
}

static bool load_module(struct ps_device *device, const struct ps_nvrtc_request *request,
                        struct ps_cuda_module **module_out, char *lowered, struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    void *code = NULL;
    size_t bytes = 0;
    if (driver == NULL || !ps_cuda_use(device, error) ||
        !get_code(device, request, &code, &bytes, lowered, error))
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

bool ps_cuda_module_compile(struct ps_device *device, const char *source, const char *name,
                            const char *const *options, struct ps_cuda_module **module_out,
                            struct ps_error *error)
{
    struct ps_nvrtc_request request = {source, name, options, NULL};
    return load_module(device, &request, module_out, NULL, error);
}

bool ps_cuda_module_compile_user(struct ps_device *device, const struct ps_cuda_user_code *code,
                                 struct ps_cuda_module **module_out,
                                 char lowered_out[PS_LOWERED_MAX], struct ps_error *error)
{
    struct ps_nvrtc_request request = {code->source, code->function, NULL, code};
    return load_module(device, &request, module_out, lowered_out, error);
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
