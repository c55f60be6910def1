// SPDX-License-Identifier: Apache-2.0
// The map kernel on a GPU: compiled by NVRTC when the job starts, launched once per block.
#include "kernels/cuda/cuda.h"
#include "kernels/map/map.h"

#include <stdlib.h>

struct cuda_program {
    struct ps_cuda_module *module;
    CUfunction kernel;
    struct ps_kernel_info info;
    int group;            // elements that one thread loads at once
    unsigned most_blocks; // that are resident at once: a grid-stride loop needs no more
};

static bool compile_source(const struct ps_program *program, struct ps_device *device,
                           struct cuda_program *cuda, struct ps_error *error)
{
    struct ps_text source = {0};
    bool fine = ps_map_source(program, &source) ||
                ps_fail_memory(error, source.length, "the source of the map kernel");
    fine = fine &&
           ps_cuda_module_compile(device, source.data, "map.cu", ps_map_nvrtc_options,
                                  &cuda->module, error) &&
           ps_cuda_module_kernel(cuda->module, "ps_map", &cuda->kernel, error) &&
           ps_cuda_shape(device, cuda->kernel, "map", 0, &cuda->info, error);
    ps_text_free(&source);
    return fine;
}

bool ps_map_cuda_compile(struct ps_program *program, struct ps_device *device,
                         struct ps_error *error)
{
    if (program->code.count > PS_MAP_CUDA_INSTRUCTIONS_MAX)
        return ps_fail(
            error, PS_USAGE,
            "a map of %d operations is too long for the cuda backend (at most %d): split "
            "it into stages, or use the cpu backend",
            program->code.count, PS_MAP_CUDA_INSTRUCTIONS_MAX);
    struct cuda_program *cuda = program->cuda = calloc(1, sizeof *cuda);
    if (cuda == NULL)
        return ps_fail_memory(error, sizeof *cuda, "the map kernel");
    if (!compile_source(program, device, cuda, error))
        return false;
    cuda->group = ps_map_group(program);
    cuda->most_blocks =
        (unsigned)(ps_cuda_device(device)->multiprocessors * cuda->info.blocks_per_multiprocessor);
    return true;
}

void ps_map_cuda_release(struct ps_program *program)
{
    struct cuda_program *cuda = program->cuda;
    if (cuda == NULL)
        return;
    ps_cuda_module_free(cuda->module);
    free(cuda);
    program->cuda = NULL;
}

bool ps_map_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_error *error)
{
    const struct cuda_program *cuda = program->cuda;
    long long n = launch->rows * program->row_elements;
    if (n == 0)
        return true;
    const void *pointers[2 * PS_LAUNCH_ARRAYS_MAX];
    void *arguments[2 * PS_LAUNCH_ARRAYS_MAX + 4];
    int count = 0, all = program->input_count + program->store_count;
    if (all > 2 * PS_LAUNCH_ARRAYS_MAX)
        return ps_fail(error, PS_BUG, "a fused map of %d arrays", all);
    for (int i = 0; i < program->input_count; i++)
        pointers[count++] = launch->inputs[i];
    for (int s = 0; s < program->store_count; s++)
        pointers[count++] = launch->outputs[s];
    bool aligned = true;
    for (int i = 0; i < count; i++) {
        aligned = aligned && (uintptr_t)pointers[i] % 16 == 0;
        arguments[i] = &pointers[i];
    }
    long long groups = aligned && cuda->group > 1 ? n / cuda->group : 0;
    arguments[count] = &n;
    long long first = launch->first_row;
    void *note = launch->check;
    arguments[count + 1] = &groups;
    arguments[count + 2] = &first;
    arguments[count + 3] = &note; // not looked at by a kernel that checks nothing
    long long threads = cuda->info.threads, items = groups > 0 ? groups : n;
    long long wanted = (items + threads - 1) / threads;
    unsigned grid = wanted < cuda->most_blocks ? (unsigned)wanted : cuda->most_blocks;
    return ps_cuda_launch(launch->queue, cuda->kernel, grid, (unsigned)threads, 0, arguments, "map",
                          error);
}

int ps_map_cuda_kernels(const struct ps_program *program, struct ps_kernel_info *infos, int max)
{
    const struct cuda_program *cuda = program->cuda;
    if (cuda == NULL)
        return 0;
    if (max > 0)
        infos[0] = cuda->info;
    return 1;
}
