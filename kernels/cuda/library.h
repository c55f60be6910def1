// SPDX-License-Identifier: Apache-2.0
// NVIDIA's libraries, loaded when first needed. One row per library: the sonames to try (the
// toolkit's major version first), where they were found, and the functions used.
#ifndef PS_KERNELS_CUDA_LIBRARY_H
#define PS_KERNELS_CUDA_LIBRARY_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ps_library { PS_LIBCUDA, PS_LIBNVRTC, PS_LIBCUBLAS, PS_LIBCUFFT, PS_LIBNVML, PS_LIBRARY_COUNT };

// Loads (once, thread-safe). The error says which file was looked for where, and which package
// brings it. NULL on failure; the handle is dlopen's and stays for the process.
void *ps_library_load(enum ps_library library, struct ps_error *error);
// The full path it was loaded from (its soname when the loader does not tell); NULL: not loaded.
const char *ps_library_path(enum ps_library library);
// A function of it; fails naming function and library.
void *ps_library_symbol(enum ps_library library, const char *name, struct ps_error *error);

#ifdef __cplusplus
}
#endif
#endif
