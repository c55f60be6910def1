// SPDX-License-Identifier: Apache-2.0
// What the stages that reduce rows to second moments share: gram, covariance, correlation, the fit
// of a pca and lstsq. They differ in their options and in what they make of the sums at the end.
#ifndef PS_KERNELS_LINEAR_LINEAR_H
#define PS_KERNELS_LINEAR_LINEAR_H

#include "kernels/linear/moments.h"
#include "kernels/stage.h"

struct ps_linear { // kept in stage->detail
    struct ps_moments moments;
    int positions[PS_MOMENTS_SOURCES]; // in stage->inputs
    int64_t columns;                   // of the sources, without the ones
    int64_t ddof;
    // lstsq, pca
    bool intercept;
    double ridge;
    int64_t components;
    int of;        // which output
    bool projects; // a stage of its own: rows times components
    int fit;       // its position of mean and components in stage->inputs
    // The output out of a merged state; both in host memory.
    bool (*finish)(const struct ps_step *step, const struct ps_linear *linear, void *state,
                   double *output, struct ps_error *error);
};

// The row's callbacks are the same for all these stages.
struct ps_slice_table;
struct ps_program {
    struct ps_linear linear;
    int inputs[PS_MOMENTS_SOURCES]; // positions in step->inputs
    int fit;                        // likewise
    const struct ps_slice_table *table;
    struct ps_device *device;
    void *cuda; // kernels/linear/linear_cuda.c's own
};

// Allocates stage->detail; NULL after reporting.
struct ps_linear *ps_linear_begin(struct ps_stage *stage, struct ps_problems *problems);
// The array of option `key` as the next source. `in` may be left out. NULL after reporting.
const struct ps_port *ps_linear_source(struct ps_stage *stage, const struct ps_scope *scope,
                                       const char *key, struct ps_problems *problems);
// After all sources: the sums that are kept, and an output of f64 with these axes.
bool ps_linear_output(struct ps_stage *stage, const struct ps_scope *scope, int rank,
                      const int64_t *dims, struct ps_problems *problems);
// The columns of `port` name the last axis of the output, if they have names and `extra` (or
// NULL) one more.
bool ps_linear_name_columns(struct ps_stage *stage, const struct ps_port *port, const char *extra,
                            struct ps_problems *problems);
// "column 'a' of 'x'", "element 3 of the row of 'x'"
char *ps_linear_column_text(const struct ps_step *step, const struct ps_linear *linear,
                            int64_t column, char *out, size_t size);

void ps_linear_unplan(struct ps_stage *stage);
bool ps_linear_compile(const struct ps_step *step, struct ps_device *device,
                       struct ps_program **program_out, struct ps_error *error);
void ps_linear_release(struct ps_program *program);
bool ps_linear_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error);
size_t ps_linear_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows);
extern const struct ps_stage_reduction ps_linear_reduction;

// The members of such a stage's row but name, help, options and plan.
#if PS_HAVE_CUDA
#define PS_LINEAR_RUN                                                                              \
    {                                                                                              \
        [PS_CPU] = ps_linear_run_cpu, [PS_CUDA] = ps_linear_run_cuda                               \
    }
#else
#define PS_LINEAR_RUN                                                                              \
    {                                                                                              \
        [PS_CPU] = ps_linear_run_cpu                                                               \
    }
#endif
#define PS_LINEAR_CALLBACKS                                                                        \
    .unplan = ps_linear_unplan, .compile = ps_linear_compile, .release = ps_linear_release,        \
    .run = PS_LINEAR_RUN, .scratch_bytes = ps_linear_scratch, .reduction = &ps_linear_reduction

// The projection of pca: each row less the mean, times components. `fit` is f64 [columns +
// columns * components]: the mean, then the components as columns of a matrix.
bool ps_project_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
size_t ps_project_cpu_scratch(const struct ps_linear *linear);

size_t ps_moments_cpu_scratch(const struct ps_moments *moments);
// Moves carries of all accumulators on.
void ps_moments_carry(const struct ps_moments *moments, void *state);

#if PS_HAVE_CUDA
bool ps_linear_run_cuda(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
bool ps_linear_cuda_compile(struct ps_program *program, struct ps_error *error);
void ps_linear_cuda_release(struct ps_program *program);
size_t ps_linear_cuda_scratch(const struct ps_linear *linear);
#endif

#endif
