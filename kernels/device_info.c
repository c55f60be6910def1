// SPDX-License-Identifier: Apache-2.0
// What can be told without CUDA: where we run, and that this build has no GPU part. The GPU part
// is kernels/cuda/device_info_cuda.c.
#include "kernels/device_info_parts.h"

#include "kernels/measure.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool file_says(const char *path, const char *word)
{
    char text[4096];
    FILE *file = fopen(path, "re");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[length] = '\0';
    return strstr(text, word) != NULL;
}

bool ps_inside_wsl(void)
{
    return file_says("/proc/version", "microsoft") || file_says("/proc/version", "WSL");
}

bool ps_inside_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
           file_says("/proc/1/cgroup", "docker") || file_says("/proc/1/cgroup", "kubepods") ||
           file_says("/proc/1/cgroup", "containerd");
}

static void read_driver_version(struct ps_cuda_info *info)
{
    char line[256], *number;
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (file == NULL)
        return;
    // NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue ...
    if (fgets(line, sizeof line, file) != NULL) {
        for (number = line; (number = strpbrk(number, "0123456789")) != NULL; number++) {
            size_t digits = strspn(number, "0123456789.");
            bool version = digits > 4 && memchr(number, '.', digits) != NULL;
            if (version && (number == line || number[-1] == ' ')) {
                snprintf(info->driver_version, sizeof info->driver_version, "%.*s", (int)digits,
                         number);
                break;
            }
            number += digits > 0 ? digits - 1 : 0;
        }
    }
    fclose(file);
}

void ps_cuda_info(struct ps_cuda_info *info)
{
    memset(info, 0, sizeof *info);
    read_driver_version(info);
    info->is_wsl = ps_inside_wsl();
    info->is_container = ps_inside_container();
#if PS_HAVE_CUDA
    info->built_in = true;
    ps_cuda_info_fill(info);
#else
    snprintf(
        info->problem, sizeof info->problem,
        "this build has no cuda backend: install NVIDIA's CUDA toolkit (nvcc), remove the build "
        "folder and build again");
#endif
}

#if !PS_HAVE_CUDA

static bool no_cuda(struct ps_error *error)
{
    return ps_fail(error, PS_DEVICE, "this build has no cuda backend");
}

bool ps_gpu_info(int index, struct ps_gpu_info *info_out, struct ps_error *error)
{
    (void)index;
    (void)info_out;
    return no_cuda(error);
}

bool ps_gpu_copy_rates(int index, uint64_t bytes, struct ps_copy_rates *rates_out,
                       struct ps_error *error)
{
    (void)index;
    (void)bytes;
    (void)rates_out;
    return no_cuda(error);
}

bool ps_measure_vector_add(int device, int64_t count, struct ps_vector_add *out,
                           struct ps_error *error)
{
    (void)device;
    (void)count;
    (void)out;
    return no_cuda(error);
}

bool ps_measure_matmul(int device, int64_t n, struct ps_matmul_times *out, struct ps_error *error)
{
    (void)device;
    (void)n;
    (void)out;
    return no_cuda(error);
}

#endif
