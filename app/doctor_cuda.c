// SPDX-License-Identifier: Apache-2.0
// doctor's checks of driver, toolkit libraries and each GPU.
#include "app/doctor.h"

#include "kernels/backend.h"

#include <stdio.h>

#define COPY_BYTES ((uint64_t)256 << 20)

static enum check_result check_build(struct checkup *checkup, struct ps_text *found)
{
    if (!checkup->cuda.built_in) {
        ps_text_add(found, "this penstock was built without CUDA");
        return CHECK_FAIL;
    }
    ps_text_printf(found, "built with CUDA %d.%d for %s", checkup->cuda.runtime_cuda / 1000,
                   checkup->cuda.runtime_cuda % 1000 / 10, checkup->cuda.architectures);
    return CHECK_OK;
}

static enum check_result check_driver(struct checkup *checkup, struct ps_text *found)
{
    const struct ps_cuda_info *cuda = &checkup->cuda;
    if (!cuda->built_in) {
        ps_text_add(found, "needs a build with CUDA");
        return CHECK_SKIP;
    }
    if (cuda->driver_cuda == 0) {
        ps_text_printf(found, "no NVIDIA driver in use%s%s",
                       cuda->driver_version[0] ? "; kernel module " : "", cuda->driver_version);
        if (cuda->problem[0] != '\0')
            snprintf(checkup->remedy, sizeof checkup->remedy, "%s", cuda->problem);
        else if (cuda->is_wsl)
            snprintf(checkup->remedy, sizeof checkup->remedy,
                     "WSL2: install the NVIDIA driver in Windows, none inside Linux");
        else if (cuda->is_container)
            snprintf(checkup->remedy, sizeof checkup->remedy,
                     "start the container with the GPU (docker run --gpus all, with "
                     "nvidia-container-toolkit on the host)");
        return CHECK_FAIL;
    }
    ps_text_printf(found, "driver %s, supports CUDA up to %d.%d",
                   cuda->driver_version[0] ? cuda->driver_version : "(version unknown)",
                   cuda->driver_cuda / 1000, cuda->driver_cuda % 1000 / 10);
    return CHECK_OK;
}

static enum check_result check_versions(struct checkup *checkup, struct ps_text *found)
{
    int driver = checkup->cuda.driver_cuda, runtime = checkup->cuda.runtime_cuda;
    if (driver == 0 || runtime == 0) {
        ps_text_add(found, "needs a driver");
        return CHECK_SKIP;
    }
    ps_text_printf(found, "runtime %d.%d on a driver for %d.%d", runtime / 1000,
                   runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
    if (runtime <= driver)
        return CHECK_OK;
    // Releases of one major version run on each other's drivers, without newer features.
    return runtime / 1000 == driver / 1000 ? CHECK_WARN : CHECK_FAIL;
}

static enum check_result check_library(const struct ps_cuda_info *cuda, const char *path,
                                       int version, struct ps_text *found)
{
    if (!cuda->built_in) {
        ps_text_add(found, "needs a build with CUDA");
        return CHECK_SKIP;
    }
    if (path[0] == '\0') {
        ps_text_add(found, "not found");
        return CHECK_FAIL;
    }
    ps_text_printf(found, "version %d at %s", version, path);
    return CHECK_OK;
}

static enum check_result check_nvrtc(struct checkup *checkup, struct ps_text *found)
{
    const struct ps_cuda_info *cuda = &checkup->cuda;
    enum check_result result = check_library(cuda, cuda->nvrtc_path, cuda->nvrtc_version, found);
    if (result != CHECK_OK || cuda->driver_cuda == 0)
        return result;
    if (cuda->nvrtc_version / 1000 > cuda->driver_cuda / 1000) {
        ps_text_add(found, ", newer than the driver");
        return CHECK_WARN;
    }
    return CHECK_OK;
}

static enum check_result check_cublas(struct checkup *checkup, struct ps_text *found)
{
    return check_library(&checkup->cuda, checkup->cuda.cublas_path, checkup->cuda.cublas_version,
                         found);
}

static enum check_result check_start(struct checkup *checkup, struct ps_text *found)
{
    if (!checkup->cuda.built_in) {
        ps_text_add(found, "needs a build with CUDA");
        return CHECK_SKIP;
    }
    char missing[512];
    if (ps_cuda_missing(missing, sizeof missing) != NULL) {
        ps_text_add(found, "CUDA does not start");
        snprintf(checkup->remedy, sizeof checkup->remedy, "%s", missing);
        return CHECK_FAIL;
    }
    ps_text_printf(found, "%d GPU%s", checkup->cuda.gpu_count,
                   checkup->cuda.gpu_count == 1 ? "" : "s");
    return checkup->cuda.gpu_count > 0 ? CHECK_OK : CHECK_FAIL;
}

static enum check_result check_gpu(struct checkup *checkup, struct ps_text *found)
{
    struct ps_error error = {0};
    const struct ps_gpu_info *gpu = &checkup->gpu_info;
    checkup->gpu_known = ps_gpu_info(checkup->gpu, &checkup->gpu_info, &error);
    if (!checkup->gpu_known) {
        ps_text_add(found, "cannot be asked");
        snprintf(checkup->remedy, sizeof checkup->remedy, "%.500s", error.text);
        return CHECK_FAIL;
    }
    ps_text_printf(found, "%s, compute capability %d.%d, %d multiprocessors, bus %s, ECC %s",
                   gpu->name, gpu->major, gpu->minor, gpu->multiprocessors, gpu->bus,
                   gpu->ecc < 0   ? "unknown"
                   : gpu->ecc > 0 ? "on"
                                  : "off");
    return CHECK_OK;
}

static enum check_result skip_unknown(struct ps_text *found)
{
    ps_text_add(found, "the GPU could not be asked");
    return CHECK_SKIP;
}

static enum check_result check_memory(struct checkup *checkup, struct ps_text *found)
{
    const struct ps_gpu_info *gpu = &checkup->gpu_info;
    char free_text[32], total_text[32];
    if (!checkup->gpu_known)
        return skip_unknown(found);
    ps_text_printf(found, "%s free of %s",
                   ps_size_text(gpu->memory_free, free_text, sizeof free_text),
                   ps_size_text(gpu->memory_total, total_text, sizeof total_text));
    return gpu->memory_free < (uint64_t)1 << 30 ? CHECK_WARN : CHECK_OK;
}

static enum check_result check_link(struct checkup *checkup, struct ps_text *found)
{
    const struct ps_gpu_info *gpu = &checkup->gpu_info;
    if (!checkup->gpu_known || gpu->pcie_generation < 0 || gpu->pcie_width < 0) {
        ps_text_add(found, "the driver does not tell");
        return CHECK_SKIP;
    }
    ps_text_printf(found, "PCIe generation %d x%d now, generation %d x%d at most",
                   gpu->pcie_generation, gpu->pcie_width, gpu->pcie_generation_max,
                   gpu->pcie_width_max);
    // The generation goes down when the GPU idles; the width does not.
    return gpu->pcie_width < gpu->pcie_width_max ? CHECK_WARN : CHECK_OK;
}

static enum check_result check_image(struct checkup *checkup, struct ps_text *found)
{
    const struct ps_gpu_info *gpu = &checkup->gpu_info;
    if (!checkup->gpu_known)
        return skip_unknown(found);
    if (gpu->has_kernel_image) {
        ps_text_printf(found, "this binary holds code for sm_%d%d", gpu->major, gpu->minor);
        return CHECK_OK;
    }
    ps_text_printf(found, "no kernel image for sm_%d%d in this binary", gpu->major, gpu->minor);
    snprintf(checkup->remedy, sizeof checkup->remedy, "%s", gpu->image_note);
    return CHECK_FAIL;
}

static enum check_result check_copies(struct checkup *checkup, struct ps_text *found)
{
    // GB/s of one lane by PCIe generation; about 85 % of it arrives as data.
    static const double lane_rates[] = {0, 0.25, 0.5, 0.985, 1.97, 3.94, 7.56};
    const struct ps_gpu_info *gpu = &checkup->gpu_info;
    struct ps_copy_rates rates = {0};
    struct ps_error error = {0};
    if (!checkup->gpu_known)
        return skip_unknown(found);
    if (!ps_gpu_copy_rates(checkup->gpu, COPY_BYTES, &rates, &error)) {
        ps_text_add(found, "copies fail");
        snprintf(checkup->remedy, sizeof checkup->remedy, "%.500s", error.text);
        return CHECK_FAIL;
    }
    ps_text_printf(found,
                   "pinned %.1f GB/s to the GPU, %.1f back, %.1f both ways; pageable %.1f "
                   "and %.1f",
                   rates.pinned_to_device, rates.pinned_to_host, rates.pinned_both,
                   rates.pageable_to_device, rates.pageable_to_host);
    int generation = gpu->pcie_generation_max;
    if (generation < 1 || generation > 6 || gpu->pcie_width < 1)
        return CHECK_OK;
    double possible = lane_rates[generation] * gpu->pcie_width;
    return rates.pinned_to_device < 0.5 * possible ? CHECK_WARN : CHECK_OK;
}

const struct check cuda_checks[] = {
    {"CUDA build", check_build,
     "install NVIDIA's cuda-toolkit (Debian, Ubuntu: apt-get install nvidia-cuda-toolkit), then "
     "build again"},
    {"NVIDIA driver", check_driver,
     "install the NVIDIA driver (Ubuntu: ubuntu-drivers install; Debian: nvidia-driver), restart, "
     "and see that nvidia-smi works"},
    {"CUDA versions", check_versions,
     "update the NVIDIA driver, or build with a CUDA toolkit no newer than what it supports"},
    {"NVRTC", check_nvrtc,
     "install libnvrtc of CUDA's major version of the build (cuda-nvrtc), or add its folder to "
     "LD_LIBRARY_PATH"},
    {"cuBLAS", check_cublas,
     "install libcublas of CUDA's major version of the build (libcublas), or add its folder to "
     "LD_LIBRARY_PATH"},
    {"CUDA start", check_start, "see the checks above; nvidia-smi -L lists the GPUs"},
    {0},
};

const struct check gpu_checks[] = {
    {"found", check_gpu, "see what nvidia-smi says of this GPU"},
    {"memory", check_memory, "other programs hold the GPU's memory: nvidia-smi lists them"},
    {"link", check_link,
     "fewer lanes than the card has: move it to a slot with all lanes, or look at the mainboard's "
     "manual for slots that share them"},
    {"kernel image", check_image, NULL},
    {"copies", check_copies,
     "less than half of what the link allows: is the GPU busy, or the memory on the other socket "
     "(numactl)?"},
    {0},
};
