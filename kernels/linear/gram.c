// SPDX-License-Identifier: Apache-2.0
// The stages gram, covariance and correlation: a square matrix of the columns, out of exact sums.
#include "kernels/linear/linear.h"
#include "kernels/linear/values.h"
#include "kernels/stages.h"

#include <math.h>
#include <stdlib.h>

static const struct ps_option gram_options[] = {
    {.key = "in",
     .kind = PS_NAME,
     .help = "the array; the elements of a row are the columns; default: the stage before"},
    {0},
};

static const struct ps_option covariance_options[] = {
    {.key = "in",
     .kind = PS_NAME,
     .help = "the array; the elements of a row are the columns; default: the stage before"},
    {.key = "ddof",
     .kind = PS_INTEGER,
     .fallback = "1",
     .min = 0,
     .max = 1e9,
     .help = "divides by the number of rows minus this"},
    {0},
};

static bool finish_gram(const struct ps_step *step, const struct ps_linear *linear, void *state,
                        double *out, struct ps_error *error)
{
    int64_t n = linear->columns;
    (void)step;
    (void)error;
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++)
            out[j * n + k] = out[k * n + j] = ps_moments_sum(&linear->moments, state, j, k);
    return true;
}

static bool finish_covariance(const struct ps_step *step, const struct ps_linear *linear,
                              void *state, double *out, struct ps_error *error)
{
    int64_t n = linear->columns;
    (void)step;
    (void)error;
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++)
            out[j * n + k] = out[k * n + j] =
                ps_moments_covariance(&linear->moments, state, j, k, linear->ddof);
    return true;
}

// A column's deviation as root * 2^exponent, so that squares neither under- nor overflow.
struct deviation {
    double root; // NaN: none
    int exponent;
};

static struct deviation deviation_of(const struct ps_moments *m, void *state, int64_t j)
{
    struct deviation deviation = {NAN, 0};
    ps_quad square = ps_moments_quad(m, state, j, j, true);
    if (ps_moments_is_odd(m, state, j) || !(square > 0))
        return deviation;
    deviation.exponent = ps_quad_exponent(square) / 2;
    deviation.root = sqrt((double)ps_quad_scale(square, -2 * deviation.exponent));
    return deviation;
}

// The quotients of rounded roots may leave [-1, 1].
static double correlation(const struct ps_moments *m, void *state, int64_t j, int64_t k,
                          const struct deviation *deviations)
{
    double root = deviations[j].root * deviations[k].root;
    if (isnan(root))
        return NAN;
    ps_quad product = ps_moments_quad(m, state, j, k, true);
    double r =
        (double)ps_quad_scale(product, -deviations[j].exponent - deviations[k].exponent) / root;
    return j == k || r > 1 ? 1 : r < -1 ? -1 : r;
}

static bool finish_correlation(const struct ps_step *step, const struct ps_linear *linear,
                               void *state, double *out, struct ps_error *error)
{
    int64_t n = linear->columns;
    struct deviation *deviations = malloc((size_t)n * sizeof *deviations);
    (void)step;
    if (deviations == NULL)
        return ps_fail_memory(error, (size_t)n * sizeof *deviations, "deviations");
    for (int64_t j = 0; j < n; j++)
        deviations[j] = deviation_of(&linear->moments, state, j);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++)
            out[j * n + k] = out[k * n + j] =
                correlation(&linear->moments, state, j, k, deviations);
    free(deviations);
    return true;
}

static bool plan_square(struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_problems *problems)
{
    struct ps_linear *linear = ps_linear_begin(stage, problems);
    const struct ps_port *in = linear ? ps_linear_source(stage, scope, "in", problems) : NULL;
    if (in == NULL)
        return false;
    int64_t n = linear->moments.columns[0], dims[2] = {n, n};
    for (int i = 0; in->array.rank == 2 && i < 2; i++)
        stage->axes[i] = (struct ps_axis_source){stage->inputs[0], 1};
    return ps_linear_output(stage, scope, 2, dims, problems) &&
           ps_linear_name_columns(stage, in, NULL, problems);
}

static bool gram_plan(struct ps_stage *stage, const struct ps_scope *scope,
                      struct ps_problems *problems)
{
    if (!plan_square(stage, scope, problems))
        return false;
    ((struct ps_linear *)stage->detail)->finish = finish_gram;
    return true;
}

static bool covariance_plan(struct ps_stage *stage, const struct ps_scope *scope,
                            struct ps_problems *problems)
{
    if (!plan_square(stage, scope, problems))
        return false;
    struct ps_linear *linear = stage->detail;
    linear->ddof = ps_values_get(stage->options, "ddof")->integer;
    linear->finish = finish_covariance;
    return true;
}

static bool correlation_plan(struct ps_stage *stage, const struct ps_scope *scope,
                             struct ps_problems *problems)
{
    if (!plan_square(stage, scope, problems))
        return false;
    ((struct ps_linear *)stage->detail)->finish = finish_correlation;
    return true;
}

const struct ps_stage_type ps_stage_gram = {
    .name = "gram",
    .help = "X'X: for each pair of columns the sum over rows of their products; exact sums, "
            "rounded once to f64",
    .options = gram_options,
    .plan = gram_plan,
    PS_LINEAR_CALLBACKS,
};

const struct ps_stage_type ps_stage_covariance = {
    .name = "covariance",
    .help = "The covariance matrix of the columns; exact sums, rounded once to f64",
    .options = covariance_options,
    .plan = covariance_plan,
    PS_LINEAR_CALLBACKS,
};

const struct ps_stage_type ps_stage_correlation = {
    .name = "correlation",
    .help = "The correlation matrix (Pearson) of the columns; a constant column gives NaN",
    .options = gram_options,
    .plan = correlation_plan,
    PS_LINEAR_CALLBACKS,
};
