// SPDX-License-Identifier: Apache-2.0
// How OpenBLAS is called: slots are the parallelism, so every call has one thread.
#ifndef PS_KERNELS_CPU_BLAS_H
#define PS_KERNELS_CPU_BLAS_H

#include <cblas.h>

// Before any call of the library; as often as one likes, from any thread.
void ps_blas_prepare(void);

#endif
