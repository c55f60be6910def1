// SPDX-License-Identifier: Apache-2.0
// What nvrtc.c and module.c share: one text to compile.
#ifndef PS_KERNELS_CUDA_NVRTC_REQUEST_H
#define PS_KERNELS_CUDA_NVRTC_REQUEST_H

#include "kernels/cuda/driver.h"

struct ps_nvrtc_request {
    const char *source, *name;            // name: of the file in messages
    const char *const *options;           // extra ones, NULL-terminated or NULL
    const struct ps_cuda_user_code *user; // NULL: our own text
};

extern const char *const ps_nvrtc_fixed_options[]; // of every compilation, NULL-terminated

// The code for `architecture` (malloc'ed); of a user's text also its function's name in it
// (lowered_out; else NULL).
bool ps_nvrtc_make(const struct ps_nvrtc_request *request, const char *architecture,
                   void **code_out, size_t *bytes_out, char *lowered_out, struct ps_error *error);

#endif
