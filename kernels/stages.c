// SPDX-License-Identifier: Apache-2.0
// The list of stage types.
#include "kernels/stages.h"

#include <string.h>

const struct ps_stage_type *const ps_stage_types[] = {
    &ps_stage_map,
    &ps_stage_matmul,
    &ps_stage_reduce,
    &ps_stage_rolling,
    &ps_stage_downsample,
    &ps_stage_lag,
    &ps_stage_difference,
    &ps_stage_convolve,
    &ps_stage_cumulative,
    &ps_stage_rows,
    &ps_stage_repeat,
    &ps_stage_select,
    &ps_stage_gram,
    &ps_stage_covariance,
    &ps_stage_correlation,
    &ps_stage_pca,
    &ps_stage_lstsq,
    &ps_stage_take,
    &ps_stage_slice,
    &ps_stage_reshape,
    &ps_stage_transpose,
    &ps_stage_concat,
    &ps_stage_stack,
    &ps_stage_sort,
    &ps_stage_fill,
    &ps_stage_kernel,
    &ps_stage_fft,
    NULL,
};

const struct ps_stage_type *ps_stage_type_find(const char *name)
{
    for (int i = 0; ps_stage_types[i] != NULL; i++)
        if (strcmp(ps_stage_types[i]->name, name) == 0)
            return ps_stage_types[i];
    return NULL;
}
