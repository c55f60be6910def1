// SPDX-License-Identifier: Apache-2.0
// The stage lstsq: linear least squares by normal equations. Their squared condition number, for
// which they are ill spoken of, does little harm here: the sums are exact and solved to 113 bits,
// so that the relative error is about 1e-34 times that square: below float64's own up to a
// condition number of 1e9, 1e-12 at 1e11, 1e-6 at 1e14.
#include "base/log.h"
#include "base/text.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/solve.h"
#include "kernels/stages.h"

#include <math.h>
#include <stdlib.h>

#define CONDITION_WARNED 1e8

static const struct ps_option options[] = {
    {.key = "in",
     .kind = PS_NAME,
     .help = "the known columns X, the elements of a row; default: the stage before"},
    {.key = "with",
     .kind = PS_NAME,
     .required = true,
     .help = "the array y to be explained, with the same rows; one number a row or several"},
    {.key = "intercept",
     .kind = PS_TRUTH,
     .fallback = "true",
     .help = "y = X b + c, where c is the last coefficient; false: y = X b"},
    {.key = "ridge",
     .kind = PS_NUMBER,
     .fallback = "0",
     .min = 0,
     .max = 1e300,
     .help = "adds this times the sum of squared coefficients, but for the intercept, to what is "
             "made smallest"},
    {0},
};

// p known columns, q explained ones; a: p x p, its lower triangle, b: q x p, both scaled by powers
// of two so that a has a diagonal near 1.
struct normal {
    const struct ps_linear *linear;
    void *state;
    int64_t p, q;
    ps_quad *a, *factors, *b, *work;
    int *scales; // column j counts 2^-scales[j] times
};

static bool check_data(const struct ps_step *step, const struct normal *normal,
                       struct ps_error *error)
{
    const struct ps_linear *linear = normal->linear;
    int64_t rows = ((const struct ps_moments_head *)normal->state)->rows;
    int64_t wanted = linear->ridge > 0 ? linear->intercept : normal->p + linear->intercept;
    char column[400];
    for (int64_t j = 0; j < normal->p + normal->q; j++)
        if (ps_moments_is_odd(&linear->moments, normal->state, j))
            return ps_fail(error, PS_INPUT,
                           "%s has a NaN or an infinity, which no least squares fits; leave such "
                           "rows out by a select stage, or fill them in by a map",
                           ps_linear_column_text(step, linear, j, column, sizeof column));
    if (rows >= wanted)
        return true;
    return ps_fail(error, PS_INPUT,
                   "%lld rows do not determine %lld coefficients; use fewer columns, or set ridge",
                   (long long)rows, (long long)wanted);
}

static void fill(struct normal *normal)
{
    const struct ps_linear *linear = normal->linear;
    const struct ps_moments *m = &linear->moments;
    int64_t p = normal->p;
    for (int64_t j = 0; j < p; j++) {
        ps_quad square = ps_moments_quad(m, normal->state, j, j, linear->intercept) + linear->ridge;
        normal->scales[j] = ps_quad_exponent(square) / 2;
        for (int64_t k = 0; k <= j; k++) {
            ps_quad value = ps_moments_quad(m, normal->state, j, k, linear->intercept);
            value = j == k ? value + linear->ridge : value;
            normal->a[j * p + k] = normal->factors[j * p + k] =
                ps_quad_scale(value, -normal->scales[j] - normal->scales[k]);
        }
        for (int64_t i = 0; i < normal->q; i++)
            normal->b[i * p + j] = ps_quad_scale(
                ps_moments_quad(m, normal->state, j, p + i, linear->intercept), -normal->scales[j]);
    }
}

static bool tell_condition(const struct ps_step *step, const struct normal *normal)
{
    double square = ps_quad_condition(normal->a, normal->factors, normal->p, normal->work);
    double condition = sqrt(square);
    ps_log(PS_LOG_NOTE, "stage %s: %lld rows, condition number of the columns about %.2g",
           step->stages[0]->name, (long long)((const struct ps_moments_head *)normal->state)->rows,
           condition);
    if (condition > CONDITION_WARNED)
        ps_log(PS_LOG_WARNING,
               "stage %s: the columns are nearly dependent (condition number about %.2g): rounding "
               "the data by one part in 1e%d may change the coefficients altogether",
               step->stages[0]->name, condition, (int)floor(log10(condition)));
    return true;
}

// out: [p (+ 1), q]
static void store(const struct normal *normal, double *out)
{
    const struct ps_linear *linear = normal->linear;
    const struct ps_moments *m = &linear->moments;
    int64_t p = normal->p, q = normal->q, ones = m->width - 1;
    for (int64_t i = 0; i < q; i++) {
        ps_quad rest = ps_moments_quad(m, normal->state, p + i, ones, false);
        for (int64_t j = 0; j < p; j++) {
            ps_quad value = ps_quad_scale(normal->b[i * p + j], -normal->scales[j]);
            out[j * q + i] = (double)value;
            rest -= value * ps_moments_quad(m, normal->state, j, ones, false);
        }
        if (linear->intercept)
            out[p * q + i] =
                (double)(rest / (ps_quad)((const struct ps_moments_head *)normal->state)->rows);
    }
}

static bool solve(const struct ps_step *step, struct normal *normal, double *out,
                  struct ps_error *error)
{
    char column[400];
    fill(normal);
    int64_t bad = ps_quad_factor(normal->factors, normal->p);
    if (bad < normal->p)
        return ps_fail(error, PS_INPUT,
                       "%s is %sa linear combination of the columns before it, so that the "
                       "coefficients are not determined; leave it out, or set ridge",
                       ps_linear_column_text(step, normal->linear, bad, column, sizeof column),
                       normal->linear->intercept ? "constant or " : "zero or ");
    for (int64_t i = 0; i < normal->q; i++)
        ps_quad_solve(normal->factors, normal->p, normal->b + i * normal->p);
    store(normal, out);
    return tell_condition(step, normal);
}

static bool finish(const struct ps_step *step, const struct ps_linear *linear, void *state,
                   double *out, struct ps_error *error)
{
    struct normal normal = {.linear = linear,
                            .state = state,
                            .p = linear->moments.columns[0],
                            .q = linear->columns - linear->moments.columns[0]};
    size_t p = (size_t)normal.p, q = (size_t)normal.q;
    normal.a = calloc(p * p, sizeof *normal.a);
    normal.factors = calloc(p * p, sizeof *normal.factors);
    normal.b = calloc(p * q, sizeof *normal.b);
    normal.work = calloc(2 * p, sizeof *normal.work);
    normal.scales = calloc(p, sizeof *normal.scales);
    bool fine =
        (normal.a && normal.factors && normal.b && normal.work && normal.scales) ||
        ps_fail_memory(error, 2 * p * p * sizeof *normal.a, "the normal equations of lstsq");
    fine = fine && check_data(step, &normal, error) && solve(step, &normal, out, error);
    free(normal.a);
    free(normal.factors);
    free(normal.b);
    free(normal.work);
    free(normal.scales);
    return fine;
}

static bool lstsq_plan(struct ps_stage *stage, const struct ps_scope *scope,
                       struct ps_problems *problems)
{
    struct ps_linear *linear = ps_linear_begin(stage, problems);
    if (linear == NULL || !ps_values_get(stage->options, "with")->given) // reported as missing
        return false;
    const struct ps_port *in = ps_linear_source(stage, scope, "in", problems);
    const struct ps_port *with = ps_linear_source(stage, scope, "with", problems);
    if (in == NULL || with == NULL)
        return false;
    linear->intercept = ps_values_get(stage->options, "intercept")->truth;
    linear->ridge = ps_values_get(stage->options, "ridge")->number;
    linear->finish = finish;
    int64_t dims[2] = {linear->moments.columns[0] + linear->intercept, linear->moments.columns[1]};
    return ps_linear_output(stage, scope, with->array.rank == 1 ? 1 : 2, dims, problems) &&
           (with->array.rank == 1 || ps_linear_name_columns(stage, with, NULL, problems));
}

const struct ps_stage_type ps_stage_lstsq = {
    .name = "lstsq",
    .help = "The coefficients of linear least squares, y = X b + c, in the order of X's columns; "
            "exact sums, solved to 113 bits and rounded once",
    .options = options,
    .plan = lstsq_plan,
    PS_LINEAR_CALLBACKS,
};
