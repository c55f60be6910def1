// SPDX-License-Identifier: Apache-2.0
// The stage pca: principal components of the columns. One pass sums exact second moments, whose
// covariance gives the components; a projection is a second phase, which walks over the rows again.
#include "base/log.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/solve.h"
#include "kernels/stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROJECTION, COMPONENTS, VARIANCES };

static const struct ps_option options[] = {
    {.key = "in",
     .kind = PS_NAME,
     .help = "the array; the elements of a row are the columns; default: the stage before"},
    {.key = "components",
     .kind = PS_INTEGER,
     .min = 1,
     .max = 20000,
     .help = "how many, those of the largest variances; default: as many as columns"},
    {.key = "output",
     .kind = PS_CHOICE,
     .fallback = "projection",
     .choices = "projection|components|variances",
     .help = "projection: each row less the mean, times the components (a second pass); "
             "components: a matrix [components, columns] of unit vectors; variances: theirs"},
    {.key = "ddof",
     .kind = PS_INTEGER,
     .fallback = "1",
     .min = 0,
     .max = 1e9,
     .help = "covariances divide by the number of rows minus this"},
    {0},
};

static int pca_phases(const struct ps_stage *stage, const struct ps_scope *scope,
                      struct ps_problems *problems)
{
    (void)scope;
    (void)problems;
    return ps_values_get(stage->options, "output")->choice == PROJECTION ? 2 : 1;
}

// ---- The fit ----

static bool fill_covariance(const struct ps_step *step, const struct ps_linear *linear, void *state,
                            double *a, struct ps_error *error)
{
    int64_t n = linear->columns, rows = ((const struct ps_moments_head *)state)->rows;
    char text[400];
    if (rows <= linear->ddof)
        return ps_fail(error, PS_INPUT, "%lld rows have no covariance with ddof: %lld",
                       (long long)rows, (long long)linear->ddof);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = j; k < n; k++) {
            double value = ps_moments_covariance(&linear->moments, state, j, k, linear->ddof);
            a[j * n + k] = a[k * n + j] = value;
            if (!isfinite(value))
                return ps_fail(
                    error, PS_INPUT,
                    "%s has a NaN, an infinity or a covariance beyond float64, and so "
                    "no components; leave such rows out by a select stage, or scale "
                    "the column by a map",
                    ps_linear_column_text(step, linear,
                                          ps_moments_is_odd(&linear->moments, state, j) ? j : k,
                                          text, sizeof text));
        }
    return true;
}

static void warn_of_few_rows(const struct ps_step *step, const struct ps_linear *linear,
                             int64_t rows)
{
    if (rows <= linear->components)
        ps_log(PS_LOG_WARNING,
               "stage %s: %lld rows vary in at most %lld directions; the components after these "
               "have variance 0 and any direction",
               step->stages[0]->name, (long long)rows, (long long)rows - 1);
}

// vectors: one in each row.
static void store(const struct ps_linear *linear, void *state, const double *vectors,
                  const double *values, double *out)
{
    int64_t n = linear->columns, count = linear->components;
    if (linear->of == COMPONENTS)
        memcpy(out, vectors, (size_t)(count * n) * sizeof *out);
    for (int64_t i = 0; linear->of == VARIANCES && i < count; i++)
        out[i] = values[i] > 0 ? values[i] : 0;
    for (int64_t j = 0; linear->of == PROJECTION && j < n; j++) {
        out[j] = ps_moments_mean(&linear->moments, state, j);
        for (int64_t i = 0; i < count; i++)
            out[n + j * count + i] = vectors[i * n + j];
    }
}

static bool finish(const struct ps_step *step, const struct ps_linear *linear, void *state,
                   double *out, struct ps_error *error)
{
    size_t n = (size_t)linear->columns;
    double *a = malloc((n * n + n) * sizeof *a);
    if (a == NULL)
        return ps_fail_memory(error, (n * n + n) * sizeof *a, "a covariance matrix");
    double *values = a + n * n;
    bool fine = fill_covariance(step, linear, state, a, error) &&
                ps_symmetric_eigen(a, linear->columns, values, error);
    if (fine) {
        warn_of_few_rows(step, linear, ((const struct ps_moments_head *)state)->rows);
        store(linear, state, a, values, out);
    }
    free(a);
    return fine;
}

// ---- Planning ----

static bool choose_components(struct ps_stage *stage, struct ps_linear *linear,
                              struct ps_problems *problems)
{
    const struct ps_value *value = ps_values_get(stage->options, "components");
    int64_t columns = linear->moments.columns[0];
    linear->components = value->given ? value->integer : columns;
    linear->ddof = ps_values_get(stage->options, "ddof")->integer;
    linear->of = ps_values_get(stage->options, "output")->choice;
    linear->finish = finish;
    if (linear->components <= columns && columns <= 20000)
        return true;
    ps_problem_add(problems, PS_USAGE, value->given ? value->place : stage->place,
                   columns > 20000
                       ? "pca of %lld columns: at most 20000; choose columns or average them first"
                       : "there are only %lld columns, and so as many components",
                   (long long)columns);
    return false;
}

static bool name_components(struct ps_stage *stage, int64_t count, struct ps_problems *problems)
{
    char(*texts)[24] = calloc((size_t)count, sizeof *texts);
    const char **names = calloc((size_t)count, sizeof *names);
    struct ps_error error = {0};
    bool fine = (texts != NULL && names != NULL) ||
                ps_fail_memory(&error, (size_t)count * sizeof *texts, "names of components");
    for (int64_t i = 0; fine && i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "pc%lld", (long long)i + 1);
        names[i] = texts[i];
    }
    fine = fine && ps_array_set_columns(&stage->output, (int)count, names, &error);
    free(texts);
    free(names);
    if (!fine)
        ps_problem_add(problems, error.status, stage->place, "%s", error.text);
    return fine;
}

static bool plan_projection(struct ps_stage *stage, const struct ps_port *in,
                            struct ps_problems *problems)
{
    struct ps_linear *linear = stage->detail;
    int64_t dims[2] = {in->array.dims[0], linear->components};
    linear->projects = true;
    linear->columns = linear->moments.columns[0];
    linear->fit = ps_stage_use_phase(stage, 0, problems);
    if (linear->fit < 0)
        return false;
    stage->streamed = in->streamed;
    stage->whole_rows = in->streamed ? 0 : dims[0];
    ps_array_init(&stage->output, PS_F64, 2, dims);
    stage->axes[0] = (struct ps_axis_source){stage->inputs[0], 0};
    return name_components(stage, linear->components, problems);
}

static bool pca_plan(struct ps_stage *stage, const struct ps_scope *scope,
                     struct ps_problems *problems)
{
    struct ps_linear *linear = ps_linear_begin(stage, problems);
    const struct ps_port *in = linear ? ps_linear_source(stage, scope, "in", problems) : NULL;
    if (in == NULL || !choose_components(stage, linear, problems))
        return false;
    if (stage->phase == 1)
        return plan_projection(stage, in, problems);
    int64_t columns = linear->moments.columns[0], count = linear->components;
    int64_t dims[2] = {linear->of == PROJECTION ? columns + columns * count : count, columns};
    return ps_linear_output(stage, scope, linear->of == COMPONENTS ? 2 : 1, dims, problems) &&
           (linear->of != COMPONENTS || ps_linear_name_columns(stage, in, NULL, problems));
}

const struct ps_stage_type ps_stage_pca = {
    .name = "pca",
    .help = "Principal components of the columns: eigenvectors of their covariance, which is "
            "exact, and projections of the rows onto them",
    .options = options,
    .phases = pca_phases,
    .plan = pca_plan,
    PS_LINEAR_CALLBACKS,
};
