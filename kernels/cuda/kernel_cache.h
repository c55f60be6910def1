// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, so that the next run need not compile: $XDG_CACHE_HOME/penstock, else
// ~/.cache/penstock. An entry holds its whole key, so a wrong one is never taken; anything odd
// about a file (damaged, cut, unreadable folder) means "not cached", never an error.
#ifndef PS_KERNELS_CUDA_KERNEL_CACHE_H
#define PS_KERNELS_CUDA_KERNEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>

// The cubin for the key (malloc'ed), or false.
bool ps_kernel_cache_get(const char *key, size_t key_bytes, void **cubin_out, size_t *bytes_out);
void ps_kernel_cache_put(const char *key, size_t key_bytes, const void *cubin, size_t bytes);

#endif
