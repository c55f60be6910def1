// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/blas.h"

#include <pthread.h>

static void one_thread_per_call(void)
{
    openblas_set_num_threads(1);
}

void ps_blas_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, one_thread_per_call);
}
