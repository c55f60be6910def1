// SPDX-License-Identifier: Apache-2.0
// Why CUDA cannot start here, told apart by cause: no driver, driver too old, no GPU visible, no
// permission, anything else. Makes no context.
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/library.h"
#include "kernels/device_info_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tell_no_driver(char *out, size_t size)
{
    const char *what = " (Debian and Ubuntu: package nvidia-driver) and restart";
    if (ps_inside_wsl())
        what = " in Windows; WSL2 brings libcuda itself, so install none inside Linux";
    else if (ps_inside_container())
        what = " on the host and start the container with its GPUs (`--gpus all`, NVIDIA Container "
               "Toolkit)";
    snprintf(out, size, "no NVIDIA driver: libcuda.so.1 is not there; install the driver%s", what);
}

static void tell_old_driver(int driver, int runtime, char *out, size_t size)
{
    snprintf(out, size,
             "the NVIDIA driver supports CUDA up to %d.%d, but this program was built with %d.%d: "
             "update the driver, or build with a CUDA toolkit %d.x",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, driver / 1000);
}

// A device file that is there but may not be opened, or NULL.
static const char *closed_device_file(void)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], F_OK) == 0 && access(files[i], R_OK | W_OK) != 0)
            return files[i];
    return NULL;
}

static void tell_no_device(char *out, size_t size)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *closed = closed_device_file();
    char shown[64];
    if (closed != NULL) {
        snprintf(out, size,
                 "no GPU is visible: %s may not be opened by this user; give it read and "
                 "write permission (group video, or udev rules)",
                 closed);
    } else if (visible != NULL) {
        size_t length = 0;
        while (visible[length] != '\0')
            length++;
        snprintf(out, size,
                 "no GPU is visible: CUDA_VISIBLE_DEVICES is '%s'; unset it, or set it to "
                 "numbers that `nvidia-smi -L` shows",
                 ps_escape(visible, length, shown, sizeof shown));
    } else {
        snprintf(out, size, "the driver shows no GPU: see whether `nvidia-smi -L` lists one%s",
                 ps_inside_container() ? "; start the container with `--gpus all`" : "");
    }
}

const char *ps_cuda_missing(char *out, size_t size)
{
    struct ps_error error = {0};
    int count = 0, driver = 0, runtime = 0;
    // Also brings it from where cudart does not look (WSL2): dlopen knows it by its soname then.
    if (ps_library_load(PS_LIBCUDA, &error) == NULL) {
        tell_no_driver(out, size);
        return out;
    }
    cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess && count > 0)
        return NULL;
    cudaGetLastError();
    if (cudaDriverGetVersion(&driver) != cudaSuccess ||
        cudaRuntimeGetVersion(&runtime) != cudaSuccess)
        driver = runtime = 0;
    if (driver > 0 && (result == cudaErrorInsufficientDriver || driver / 1000 < runtime / 1000))
        tell_old_driver(driver, runtime, out, size);
    else if (result == cudaErrorStubLibrary)
        snprintf(out, size,
                 "%s is the toolkit's stub and no driver: take its folder out of "
                 "LD_LIBRARY_PATH",
                 ps_library_path(PS_LIBCUDA));
    else if (result == cudaErrorNoDevice || result == cudaSuccess)
        tell_no_device(out, size);
    else {
        ps_cuda_check(result, "cudaGetDeviceCount", &error);
        snprintf(out, size, "no GPU can be used: %s", error.text);
    }
    return out;
}
