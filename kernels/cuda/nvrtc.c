// SPDX-License-Identifier: Apache-2.0
// Compiling kernels when the job starts, and launching them.
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
static const char *const fixed_options[] = {"--fmad=false", "--ftz=false", "--prec-div=true",
                                            "--prec-sqrt=true", "-lineinfo", "-default-device",
                                            "--std=c++17", NULL};

static bool nvrtc_failed(nvrtcResult result, const char *call, struct ps_error *error)
{
    if (result == NVRTC_SUCCESS)
        return false;
    ps_fail(error, PS_DEVICE, "%s failed: NVRTC error %d", call, (int)result);
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

static int gather_options(const char *architecture, const char *const *extra, const char **list,
                          char *target, size_t target_size)
{
    int count = 0;
    snprintf(target, target_size, "-arch=%s", architecture);
    list[count++] = target;
    for (int i = 0; fixed_options[i] != NULL; i++)
        list[count++] = fixed_options[i];
    for (int i = 0; extra != NULL && extra[i] != NULL && count < OPTIONS_MAX; i++)
        list[count++] = extra[i];
    return count;
}

static bool take_cubin(const struct ps_nvrtc *nvrtc, nvrtcProgram program, void **cubin,
                       size_t *bytes, struct ps_error *error)
{
    if (nvrtc_failed(nvrtc->nvrtcGetCUBINSize(program, bytes), "nvrtcGetCUBINSize", error))
        return false;
    *cubin = malloc(*bytes > 0 ? *bytes : 1);
    if (*cubin == NULL)
        return ps_fail_memory(error, *bytes, "a kernel");
    if (!nvrtc_failed(nvrtc->nvrtcGetCUBIN(program, *cubin), "nvrtcGetCUBIN", error))
        return true;
    free(*cubin);
    *cubin = NULL;
    return false;
}

bool ps_nvrtc_compile(const char *source, const char *name, const char *architecture,
                      const char *const *options, void **cubin_out, size_t *bytes_out,
                      struct ps_error *error)
{
    const struct ps_nvrtc *nvrtc = ps_nvrtc(error);
    const char *list[OPTIONS_MAX];
    char target[40];
    nvrtcProgram program;
    if (nvrtc == NULL)
        return false;
    int count = gather_options(architecture, options, list, target, sizeof target);
    if (nvrtc_failed(nvrtc->nvrtcCreateProgram(&program, source, name, 0, NULL, NULL),
                     "nvrtcCreateProgram", error))
        return false;
    nvrtcResult result = nvrtc->nvrtcCompileProgram(program, count, list);
    if (result == NVRTC_ERROR_COMPILATION)
        report_log(nvrtc, program, name, error);
    else if (result == NVRTC_ERROR_INVALID_OPTION)
        ps_fail(error, PS_DEVICE, "NVRTC %d.%d does not know the GPU architecture %s; install the "
                "NVRTC of a newer CUDA toolkit", nvrtc->version / 1000, nvrtc->version % 1000 / 10,
                architecture);
    else
        nvrtc_failed(result, "nvrtcCompileProgram", error);
    bool fine = result == NVRTC_SUCCESS && take_cubin(nvrtc, program, cubin_out, bytes_out, error);
    nvrtc->nvrtcDestroyProgram(&program);
    return fine;
}

// Everything that decides what the cubin is.
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

static bool get_cubin(struct ps_device *device, const char *source, const char *name,
                      const char *const *options, void **cubin, size_t *bytes,
                      struct ps_error *error)
{
    char architecture[16];
    size_t key_bytes = 0;
    const struct ps_nvrtc *nvrtc = ps_nvrtc(error);
    if (nvrtc == NULL)
        return false;
    snprintf(architecture, sizeof architecture, "sm_%d%d", ps_cuda_device(device)->major,
             ps_cuda_device(device)->minor);
    char *key = make_key(nvrtc->version, architecture, source, options, &key_bytes);
    if (key == NULL)
        return ps_fail_memory(error, strlen(source), "a kernel's source");
    bool fine = ps_kernel_cache_get(key, key_bytes, cubin, bytes);
    if (!fine) {
        fine = ps_nvrtc_compile(source, name, architecture, options, cubin, bytes, error);
        if (fine)
            ps_kernel_cache_put(key, key_bytes, *cubin, *bytes);
    }
    free(key);
    return fine;
}

bool ps_cuda_module_compile(struct ps_device *device, const char *source, const char *name,
                            const char *const *options, struct ps_cuda_module **module_out,
                            struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    void *cubin = NULL;
    size_t bytes = 0;
    if (driver == NULL || !ps_cuda_use(device, error) ||
        !get_cubin(device, source, name, options, &cubin, &bytes, error))
        return false;
    struct ps_cuda_module *module = calloc(1, sizeof *module);
    bool fine = module != NULL || ps_fail_memory(error, sizeof *module, "a kernel");
    if (fine) {
        module->device = device;
        fine = ps_cu_check(driver->cuModuleLoadDataEx(&module->module, cubin, 0, NULL, NULL),
                           "cuModuleLoadData", error);
    }
    free(cubin);
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
    return driver != NULL &&
           ps_cu_check(driver->cuModuleGetFunction(out, module->module, kernel),
                       "cuModuleGetFunction", error);
}

bool ps_cuda_launch(struct ps_queue *queue, CUfunction kernel, unsigned grid, unsigned threads,
                    unsigned shared_bytes, void **arguments, const char *name,
                    struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    char call[128];
    if (driver == NULL || !ps_cuda_use(queue->device, error))
        return false;
    CUresult result = driver->cuLaunchKernel(kernel, grid, 1, 1, threads, 1, 1, shared_bytes,
                                             (CUstream)ps_cuda_queue(queue)->stream, arguments, NULL);
    if (result == CUDA_SUCCESS)
        return true;
    snprintf(call, sizeof call, "launching kernel %s (%u blocks of %u threads)", name, grid, threads);
    return ps_cu_check(result, call, error);
}

static bool fill_shape(struct ps_device *device, struct ps_kernel_info *info, const char *name,
                       size_t shared_bytes, int blocks, int registers, int static_shared, int local,
                       struct ps_error *error)
{
    int most = 0;
    if (!ps_cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor,
                                              ps_cuda_device(device)->index),
                       "cudaDeviceGetAttribute", error))
        return false;
    if (blocks < 1)
        return ps_fail(error, PS_DEVICE, "kernel %s cannot run with %d threads per block (%d "
                       "registers each, %zu bytes of shared memory): set run.cuda.threads lower",
                       name, info->threads, registers, shared_bytes + (size_t)static_shared);
    snprintf(info->name, sizeof info->name, "%s", name);
    info->registers = registers;
    info->shared_bytes = (int)shared_bytes + static_shared;
    info->local_bytes = local;
    info->blocks_per_multiprocessor = blocks;
    info->occupancy = most > 0 ? (double)(blocks * info->threads) / most : 0;
    return true;
}

bool ps_cuda_shape(struct ps_device *device, CUfunction kernel, const char *name,
                   size_t shared_bytes, struct ps_kernel_info *info, struct ps_error *error)
{
    const struct ps_driver *driver = ps_driver(error);
    int grid = 0, threads = device->request.threads_per_block, blocks = 0;
    int registers = 0, shared = 0, local = 0;
    if (driver == NULL || !ps_cuda_use(device, error))
        return false;
    if (threads == 0 &&
        !ps_cu_check(driver->cuOccupancyMaxPotentialBlockSize(&grid, &threads, kernel, NULL,
                                                              shared_bytes, 0),
                     "cuOccupancyMaxPotentialBlockSize", error))
        return false;
    info->threads = threads;
    driver->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel);
    driver->cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel);
    driver->cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel);
    if (!ps_cu_check(driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                                         shared_bytes),
                     "cuOccupancyMaxActiveBlocksPerMultiprocessor", error))
        return false;
    return fill_shape(device, info, name, shared_bytes, blocks, registers, shared, local, error);
}

bool ps_cuda_shape_static(struct ps_device *device, const void *kernel, const char *name,
                          size_t shared_bytes, struct ps_kernel_info *info,
                          struct ps_error *error)
{
    struct cudaFuncAttributes attributes;
    int threads = device->request.threads_per_block, blocks = 0;
    if (!ps_cuda_use(device, error) ||
        !ps_cuda_check(cudaFuncGetAttributes(&attributes, kernel), name, error))
        return false;
    if (threads == 0)
        threads = attributes.maxThreadsPerBlock < 256 ? attributes.maxThreadsPerBlock : 256;
    info->threads = threads;
    if (!ps_cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                                     shared_bytes),
                       "cudaOccupancyMaxActiveBlocksPerMultiprocessor", error))
        return false;
    return fill_shape(device, info, name, shared_bytes, blocks, attributes.numRegs,
                      (int)attributes.sharedSizeBytes, (int)attributes.localSizeBytes, error);
}
