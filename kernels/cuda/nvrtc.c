// SPDX-License-Identifier: Apache-2.0
// Compiling kernels. kernels/cuda/module.c keeps and loads the code, launch.c runs it.
#include "kernels/cuda/nvrtc_request.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 24

// Rounding as IEEE says, as on the cpu: no contraction, no flush to zero, exact / and sqrt.
const char *const ps_nvrtc_fixed_options[] = {"--fmad=false",     "--ftz=false", "--prec-div=true",
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

// What NVRTC says of the name expression only repeats what it said of the text, where it did.
static void trim_log(char *log)
{
    char *names = strstr(log, "__nv_name_map");
    if (names != NULL && names != log)
        *names = '\0';
    size_t length = strlen(log);
    while (length > 0 && log[length - 1] == '\n')
        log[--length] = '\0';
}

static void report_log(const struct ps_nvrtc *nvrtc, nvrtcProgram program,
                       const struct ps_nvrtc_request *request, struct ps_error *error)
{
    size_t bytes = 0;
    char *log = NULL;
    bool told = nvrtc->nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 1 &&
                (log = malloc(bytes + 1)) != NULL &&
                nvrtc->nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS;
    if (told) {
        log[bytes] = '\0';
        trim_log(log);
    }
    if (request->user != NULL)
        ps_fail(error, PS_USAGE, "the kernel, expected to define %s, does not compile:\n%s",
                request->user->expected, told ? log : "NVRTC gave no reason");
    else if (told)
        ps_fail(error, PS_DEVICE, "%s does not compile:\n%s", request->name, log);
    else
        ps_fail(error, PS_DEVICE, "%s does not compile, and NVRTC gave no reason", request->name);
    free(log);
}

static bool gather_options(const char *architecture, const char *const *extra, const char **list,
                           int *count, struct ps_error *error)
{
    *count = 0;
    list[(*count)++] = architecture;
    for (int i = 0; ps_nvrtc_fixed_options[i] != NULL; i++)
        list[(*count)++] = ps_nvrtc_fixed_options[i];
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

static bool take_lowered(const struct ps_nvrtc *nvrtc, nvrtcProgram program,
                         const struct ps_cuda_user_code *code, char lowered_out[PS_LOWERED_MAX],
                         struct ps_error *error)
{
    const char *lowered = NULL;
    if (nvrtc_failed(nvrtc->nvrtcGetLoweredName(program, code->expression, &lowered),
                     "nvrtcGetLoweredName", error))
        return false;
    if (strlen(lowered) >= PS_LOWERED_MAX)
        return ps_fail(
            error, PS_USAGE,
            "the name of kernel %s, with its types, is too long: declare it extern \"C\"",
            code->function);
    memset(lowered_out, 0, PS_LOWERED_MAX);
    memcpy(lowered_out, lowered, strlen(lowered));
    return true;
}

bool ps_nvrtc_make(const struct ps_nvrtc_request *request, const char *architecture,
                   void **code_out, size_t *bytes_out, char *lowered_out, struct ps_error *error)
{
    const struct ps_nvrtc *nvrtc = ps_nvrtc(error);
    const char *list[OPTIONS_MAX], *expression = request->user ? request->user->expression : NULL;
    char target[48];
    int count;
    nvrtcProgram program;
    snprintf(target, sizeof target, "-arch=%s", architecture);
    if (nvrtc == NULL || !gather_options(target, request->options, list, &count, error) ||
        nvrtc_failed(
            nvrtc->nvrtcCreateProgram(&program, request->source, request->name, 0, NULL, NULL),
            "nvrtcCreateProgram", error))
        return false;
    bool fine =
        expression == NULL || !nvrtc_failed(nvrtc->nvrtcAddNameExpression(program, expression),
                                            "nvrtcAddNameExpression", error);
    nvrtcResult result = fine ? nvrtc->nvrtcCompileProgram(program, count, list) : NVRTC_SUCCESS;
    if (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION ||
        result == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
        report_log(nvrtc, program, request, error);
    else
        nvrtc_failed(result, "nvrtcCompileProgram", error);
    bool ptx = strncmp(architecture, "compute_", 8) == 0;
    fine =
        fine && result == NVRTC_SUCCESS &&
        (expression == NULL || take_lowered(nvrtc, program, request->user, lowered_out, error)) &&
        take_code(nvrtc, program, ptx, code_out, bytes_out, error);
    nvrtc->nvrtcDestroyProgram(&program);
    return fine;
}

bool ps_nvrtc_compile(const char *source, const char *name, const char *architecture,
                      const char *const *options, void **code_out, size_t *bytes_out,
                      struct ps_error *error)
{
    struct ps_nvrtc_request request = {source, name, options, NULL};
    return ps_nvrtc_make(&request, architecture, code_out, bytes_out, NULL, error);
}

bool ps_nvrtc_compile_user(const struct ps_cuda_user_code *code, const char *architecture,
                           void **code_out, size_t *bytes_out, char lowered_out[PS_LOWERED_MAX],
                           struct ps_error *error)
{
    struct ps_nvrtc_request request = {code->source, code->function, NULL, code};
    return ps_nvrtc_make(&request, architecture, code_out, bytes_out, lowered_out, error);
}
