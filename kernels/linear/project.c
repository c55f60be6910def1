// SPDX-License-Identifier: Apache-2.0
// The projection of pca on the cpu: differences from the mean, then the tiled engine, in f64.
#include "kernels/linear/linear.h"
#include "kernels/linear/number.h"
#include "kernels/matmul/tiled.h"

#define ROWS 64 // that are centred at a time

size_t ps_project_cpu_scratch(const struct ps_linear *linear)
{
    return (size_t)linear->columns * ROWS * sizeof(double);
}

bool ps_project_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error)
{
    const struct ps_linear *linear = &program->linear;
    const double *mean = launch->inputs[program->fit];
    const void *in = launch->inputs[program->inputs[0]];
    enum ps_dtype dtype = (enum ps_dtype)linear->moments.dtypes[0];
    int64_t columns = linear->columns;
    double *centred = launch->scratch, *out = launch->outputs[0];
    (void)error;
    for (int64_t first = 0; first < launch->rows; first += ROWS) {
        int64_t rows = launch->rows - first < ROWS ? launch->rows - first : ROWS;
        for (int64_t r = 0; r < rows; r++)
            for (int64_t j = 0; j < columns; j++)
                centred[r * columns + j] =
                    ps_linear_number(dtype, in, (first + r) * columns + j) - mean[j];
        ps_tiled_table()->f64(rows, linear->components, columns, centred, mean + columns,
                              out + first * linear->components);
    }
    return true;
}
