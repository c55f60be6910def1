// SPDX-License-Identifier: Apache-2.0
// One line per stage type: its row, defined at the end of the file that implements it.
#ifndef PS_KERNELS_STAGES_H
#define PS_KERNELS_STAGES_H

#include "kernels/stage.h"

extern const struct ps_stage_type ps_stage_map;
extern const struct ps_stage_type ps_stage_matmul;
extern const struct ps_stage_type ps_stage_reduce;
extern const struct ps_stage_type ps_stage_rolling;
extern const struct ps_stage_type ps_stage_downsample;
extern const struct ps_stage_type ps_stage_lag;
extern const struct ps_stage_type ps_stage_difference;
extern const struct ps_stage_type ps_stage_convolve;
extern const struct ps_stage_type ps_stage_cumulative;
extern const struct ps_stage_type ps_stage_rows;
extern const struct ps_stage_type ps_stage_repeat;
extern const struct ps_stage_type ps_stage_select;
extern const struct ps_stage_type ps_stage_gram;
extern const struct ps_stage_type ps_stage_covariance;
extern const struct ps_stage_type ps_stage_correlation;
extern const struct ps_stage_type ps_stage_pca;
extern const struct ps_stage_type ps_stage_lstsq;
extern const struct ps_stage_type ps_stage_take;
extern const struct ps_stage_type ps_stage_slice;
extern const struct ps_stage_type ps_stage_reshape;
extern const struct ps_stage_type ps_stage_transpose;
extern const struct ps_stage_type ps_stage_concat;
extern const struct ps_stage_type ps_stage_stack;
extern const struct ps_stage_type ps_stage_sort;
extern const struct ps_stage_type ps_stage_fill;
extern const struct ps_stage_type ps_stage_kernel;
extern const struct ps_stage_type ps_stage_fft;

#endif
