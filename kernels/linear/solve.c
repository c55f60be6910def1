// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/solve.h"

#include "kernels/cpu/blas.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define ITERATIONS 200

int64_t ps_quad_factor(ps_quad *a, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        ps_quad *row = a + j * n, least = row[j] * ps_exact_power(-100) * (double)n;
        for (int64_t k = 0; k < j; k++) { // row[k] becomes L[j, k] D[k]
            const ps_quad *other = a + k * n;
            for (int64_t i = 0; i < k; i++)
                row[k] -= row[i] * other[i];
        }
        for (int64_t k = 0; k < j; k++) {
            ps_quad scaled = row[k];
            row[k] = scaled / a[k * n + k];
            row[j] -= scaled * row[k];
        }
        if (!(row[j] > least))
            return j;
    }
    return n;
}

void ps_quad_solve(const ps_quad *factors, int64_t n, ps_quad *x)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < i; k++)
            x[i] -= factors[i * n + k] * x[k];
    for (int64_t i = 0; i < n; i++)
        x[i] /= factors[i * n + i];
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t k = 0; k < i; k++)
            x[k] -= factors[i * n + k] * x[i];
}

static double normalise(ps_quad *x, int64_t n)
{
    ps_quad square = 0;
    for (int64_t i = 0; i < n; i++)
        square += x[i] * x[i];
    int half = ps_quad_exponent(square) / 2;
    double root = sqrt((double)ps_quad_scale(square, -2 * half));
    for (int64_t i = 0; i < n; i++)
        x[i] = ps_quad_scale(x[i], -half) / root;
    return ldexp(root, half);
}

static void multiply(const ps_quad *a, int64_t n, const ps_quad *x, ps_quad *out)
{
    for (int64_t i = 0; i < n; i++) {
        out[i] = 0;
        for (int64_t k = 0; k < n; k++) // the lower triangle is what is filled in
            out[i] += a[i > k ? i * n + k : k * n + i] * x[k];
    }
}

// The largest eigenvalue of a, or of its inverse when factors are given.
static double largest(const ps_quad *a, const ps_quad *factors, int64_t n, ps_quad *x, ps_quad *y)
{
    double value = 0;
    for (int64_t i = 0; i < n; i++) // no direction that is likely to be orthogonal
        x[i] = 1 + 0.37 * (double)(i * 7919 % 101) / 101 - (i % 2 ? 1.9 : 0);
    normalise(x, n);
    for (int i = 0; i < ITERATIONS; i++) {
        double before = value;
        if (factors != NULL) {
            ps_quad_solve(factors, n, x);
            value = normalise(x, n);
        } else {
            multiply(a, n, x, y);
            value = normalise(y, n);
            for (int64_t k = 0; k < n; k++)
                x[k] = y[k];
        }
        if (fabs(value - before) <= 1e-4 * value)
            break;
    }
    return value;
}

double ps_quad_condition(const ps_quad *a, const ps_quad *factors, int64_t n, ps_quad *work)
{
    return largest(a, NULL, n, work, work + n) * largest(a, factors, n, work, work + n);
}

// LAPACK 3.x; Fortran passes everything by address, and lengths of texts at the end.
void dsyevd_(const char *job, const char *triangle, const int *n, double *a, const int *stride,
             double *values, double *work, const int *work_count, int *whole,
             const int *whole_count, int *info, size_t job_length, size_t triangle_length);

static void fix_sign(double *vector, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fabs(vector[i]) > most ? fabs(vector[i]) : most;
    int64_t first = 0;
    while (first < n - 1 && fabs(vector[first]) < most * (1 - 1e-8))
        first++;
    double sign = vector[first] < 0 ? -1 : 1;
    for (int64_t i = 0; i < n; i++)
        vector[i] = sign * vector[i] + 0.0; // no -0
}

static void swap_rows(double *a, double *values, int64_t n, int64_t i, int64_t j)
{
    double value = values[i];
    values[i] = values[j];
    values[j] = value;
    for (int64_t k = 0; k < n; k++) {
        value = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = value;
    }
}

bool ps_symmetric_eigen(double *a, int64_t n, double *values_out, struct ps_error *error)
{
    int size = (int)n, info = 0, work_count = -1, whole_count = -1, whole_asked = 0;
    double asked = 0;
    ps_blas_prepare();
    if (n > 20000) // 3 n^2 numbers of work, and 32-bit counts
        return ps_fail(error, PS_USAGE, "eigenvectors of %lld columns: at most 20000",
                       (long long)n);
    dsyevd_("V", "U", &size, a, &size, values_out, &asked, &work_count, &whole_asked, &whole_count,
            &info, 1, 1);
    work_count = (int)asked;
    whole_count = whole_asked;
    double *work = malloc((size_t)work_count * sizeof *work);
    int *whole = malloc((size_t)whole_count * sizeof *whole);
    bool fine = work != NULL && whole != NULL;
    if (!fine)
        ps_fail_memory(error, (size_t)work_count * sizeof *work, "eigenvectors");
    else
        dsyevd_("V", "U", &size, a, &size, values_out, work, &work_count, whole, &whole_count,
                &info, 1, 1);
    free(work);
    free(whole);
    if (fine && info != 0)
        fine =
            ps_fail(error, PS_INPUT, "the eigenvectors did not converge (LAPACK dsyevd: %d)", info);
    for (int64_t i = 0; fine && i < n; i++) // Fortran's columns are our rows
        fix_sign(a + i * n, n);
    for (int64_t i = 0; fine && i < n / 2; i++) // LAPACK's order rises
        swap_rows(a, values_out, n, i, n - 1 - i);
    return fine;
}
