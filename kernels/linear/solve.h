// SPDX-License-Identifier: Apache-2.0
// Linear algebra of small matrices on the host, at the end of a pass.
#ifndef PS_KERNELS_LINEAR_SOLVE_H
#define PS_KERNELS_LINEAR_SOLVE_H

#include "base/error.h"
#include "kernels/linear/values.h"

// ---- Symmetric positive definite systems to 113 bits ----

// a = L D L' in place, L unit lower triangular below the diagonal, D on it; a is n x n, its
// diagonal between 1/8 and 2 or so. Returns n, or the first column that depends on those before
// it: what is left of its diagonal is below n 2^-100 of it.
int64_t ps_quad_factor(ps_quad *a, int64_t n);
// x = a^-1 x with the factors.
void ps_quad_solve(const ps_quad *factors, int64_t n, ps_quad *x);
// The quotient of a's largest and smallest eigenvalue, estimated to about a percent by power and
// inverse iterations. work: 2 n.
double ps_quad_condition(const ps_quad *a, const ps_quad *factors, int64_t n, ps_quad *work);

// ---- Eigenvectors ----

// a (n x n, symmetric, finite) becomes its eigenvectors, one in each row, with eigenvalues in
// falling order. LAPACK's dsyevd. A vector's sign: of its largest elements (within 1e-8) the
// first is positive.
bool ps_symmetric_eigen(double *a, int64_t n, double *values_out, struct ps_error *error);

#endif
