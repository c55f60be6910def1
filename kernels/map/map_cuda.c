// SPDX-License-Identifier: Apache-2.0
// The map kernel on a GPU: compiled by NVRTC when the job starts, launched once per block.
#include "kernels/cuda/cuda.h"
#include "kernels/map/map.h"

#include <stdlib.h>

struct cuda_program {
    struct ps_cuda_module *module;
    CUfunction kernel;
    struct ps_kernel_info info;
    unsigned most_blocks; // that are resident at once: a grid-stride loop needs no more
};

bool ps_map_cuda_compile(struct ps_program *program, struct ps_device *device,
                         struct ps_error *error)
{
    struct ps_text source = {0};
    struct cuda_program *cuda = calloc(1, sizeof *cuda);
    program->cuda = cuda;
    if (cuda == NULL || !ps_map_source(program, &source)) {
        ps_text_free(&source);
        return ps_fail_memory(error, sizeof *cuda, "the map kernel");
    }
    // Every helper is pasted in; that most are not used is no news.
    static const char *const nvrtc_options[] = {"-w", NULL};
    bool fine = ps_cuda_module_compile(device, source.data, "map.cu", nvrtc_options, &cuda->module,
                                       error) &&
                ps_cuda_module_kernel(cuda->module, "ps_map", &cuda->kernel, error) &&
                ps_cuda_shape(device, cuda->kernel, "map", 0, &cuda->info, error);
    ps_text_free(&source);
    if (fine)
        cuda->most_blocks = (unsigned)(ps_cuda_device(device)->multiprocessors *
                                       cuda->info.blocks_per_multiprocessor);
    return fine;
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
    size_t count = (size_t)(program->code.leaf_count + program->store_count);
    const void *pointers[2 * PS_LAUNCH_ARRAYS_MAX];
    void *arguments[2 * PS_LAUNCH_ARRAYS_MAX + 1];
    if (count > 2 * PS_LAUNCH_ARRAYS_MAX)
        return ps_fail(error, PS_USAGE, "a fused map of more than %d arrays",
                       2 * PS_LAUNCH_ARRAYS_MAX);
    for (int l = 0; l < program->code.leaf_count; l++)
        pointers[l] = launch->inputs[program->leaf_inputs[l]];
    for (int s = 0; s < program->store_count; s++)
        pointers[program->code.leaf_count + s] = launch->outputs[s];
    for (size_t i = 0; i < count; i++)
        arguments[i] = &pointers[i];
    arguments[count] = &n;
    long long threads = cuda->info.threads;
    long long wanted = (n / 4 + threads) / threads; // a group of four, or one of the rest, each
    unsigned grid = wanted < cuda->most_blocks ? (unsigned)wanted : cuda->most_blocks;
    return ps_cuda_launch(launch->queue, cuda->kernel, grid, (unsigned)threads, 0, arguments,
                          "map", error);
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
