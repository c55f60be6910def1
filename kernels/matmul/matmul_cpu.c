// SPDX-License-Identifier: Apache-2.0
// matmul on the cpu: OpenBLAS one thread per slot (slots are the parallelism), or the tiled engine.
#include "kernels/matmul/matmul.h"

#include "base/cpu.h"
#include "kernels/cpu/blas.h"

#include <string.h>

static const struct ps_tiled_table *tiled_table(void)
{
    int level = ps_cpu_level();
    return level >= 4 ? &ps_tiled_v4 : level >= 3 ? &ps_tiled_v3 : &ps_tiled_baseline;
}

// Scratch: [matrix in the computed dtype and as [k, n]] [one tile of rows in] [one tile out].
struct scratch {
    void *with, *in, *out;
};

static bool keeps_with(const struct ps_matmul_shape *shape)
{
    bool turned = shape->transpose && shape->engine == PS_MATMUL_TILED;
    return shape->with_dtype == shape->dtype && !turned;
}

static size_t aligned(int64_t elements, size_t bytes)
{
    return ((size_t)elements * bytes + 255) / 256 * 256;
}

static size_t with_bytes(const struct ps_matmul_shape *shape)
{
    return keeps_with(shape) ? 0 : aligned(shape->k * shape->n, ps_dtype_bytes(shape->dtype));
}

static size_t tile_bytes(const struct ps_matmul_shape *shape, int64_t width)
{
    return aligned(ps_matmul_tile_rows(shape, PS_CPU) * width, ps_dtype_bytes(shape->dtype));
}

size_t ps_matmul_cpu_scratch(const struct ps_matmul_shape *shape)
{
    return with_bytes(shape) + tile_bytes(shape, shape->k) + tile_bytes(shape, shape->n);
}

static double element(enum ps_dtype dtype, const void *data, int64_t i)
{
    return dtype == PS_F64   ? ((const double *)data)[i]
           : dtype == PS_F32 ? ((const float *)data)[i]
                             : ps_f16_to_f32(((const uint16_t *)data)[i]);
}

static void widen(enum ps_dtype to, void *target, enum ps_dtype from, const void *source,
                  int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (to == PS_F64)
            ((double *)target)[i] = element(from, source, first + i);
        else
            ((float *)target)[i] = (float)element(from, source, first + i);
    }
}

static void prepare_with(const struct ps_matmul_shape *shape, const void *with, void *to)
{
    bool turn = shape->transpose && shape->engine == PS_MATMUL_TILED;
    if (!turn) {
        widen(shape->dtype, to, shape->with_dtype, with, 0, shape->k * shape->n);
        return;
    }
    for (int64_t k = 0; k < shape->k; k++)
        for (int64_t n = 0; n < shape->n; n++) {
            double value = element(shape->with_dtype, with, n * shape->k + k);
            if (shape->dtype == PS_F64)
                ((double *)to)[k * shape->n + n] = value;
            else
                ((float *)to)[k * shape->n + n] = (float)value;
        }
}

static void call_library(const struct ps_matmul_shape *shape, int64_t rows, const void *in,
                         const void *with, void *out)
{
    enum CBLAS_TRANSPOSE turn = shape->transpose ? CblasTrans : CblasNoTrans;
    blasint m = (blasint)rows, n = (blasint)shape->n, k = (blasint)shape->k;
    blasint stride = shape->transpose ? k : n;
    if (shape->dtype == PS_F64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, turn, m, n, k, 1, in, k, with, stride, 0, out, n);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, turn, m, n, k, 1, in, k, with, stride, 0, out, n);
}

static void call_tiled(const struct ps_matmul_shape *shape, int64_t rows, const void *in,
                       const void *with, void *out)
{
    if (shape->dtype == PS_F64)
        tiled_table()->f64(rows, shape->n, shape->k, in, with, out);
    else
        tiled_table()->f32(rows, shape->n, shape->k, in, with, out);
}

// The numbers of rows [first, first + rows) in the computed dtype. For the library they are put at
// `position` in a tile of zeros, unless they fill one.
static const void *tile_in(const struct ps_matmul_shape *shape, const void *in, int64_t first,
                           int64_t rows, int64_t position, int64_t tile, void *scratch)
{
    size_t row_bytes = (size_t)shape->k * ps_dtype_bytes(shape->dtype);
    bool pad = shape->engine == PS_MATMUL_LIBRARY && rows < tile;
    if (shape->in_dtype == shape->dtype && !pad)
        return (const char *)in + (size_t)first * row_bytes;
    if (pad)
        memset(scratch, 0, (size_t)tile * row_bytes);
    widen(shape->dtype, (char *)scratch + (pad ? (size_t)position * row_bytes : 0), shape->in_dtype,
          in, first * shape->k, rows * shape->k);
    return scratch;
}

static void add_bias(const struct ps_matmul_shape *shape, void *out, int64_t rows, const void *bias)
{
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t n = 0; n < shape->n; n++) {
            double b = bias != NULL ? element(shape->bias_dtype, bias, n) : 0;
            if (shape->dtype == PS_F64) {
                double *x = (double *)out + r * shape->n + n;
                double y = bias != NULL ? *x + b : *x;
                *x = shape->relu && y < 0 ? 0 : y;
            } else {
                float *x = (float *)out + r * shape->n + n;
                float y = bias != NULL ? *x + (float)b : *x;
                *x = shape->relu && y < 0 ? 0 : y;
            }
        }
    }
}

static void multiply_tile(const struct ps_matmul_shape *shape, int64_t rows, int64_t position,
                          int64_t tile, const void *in, const void *with, void *out, void *out_tile)
{
    size_t row_bytes = (size_t)shape->n * ps_dtype_bytes(shape->dtype);
    if (shape->engine == PS_MATMUL_TILED) {
        call_tiled(shape, rows, in, with, out);
    } else if (rows == tile) {
        call_library(shape, tile, in, with, out);
    } else {
        call_library(shape, tile, in, with, out_tile);
        memcpy(out, (char *)out_tile + (size_t)position * row_bytes, (size_t)rows * row_bytes);
    }
}

bool ps_matmul_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    int64_t total = launch->rows * shape->row_products, tile = ps_matmul_tile_rows(shape, PS_CPU);
    size_t bytes = ps_dtype_bytes(shape->dtype);
    char *scratch = launch->scratch;
    const void *with = launch->inputs[program->with];
    (void)error;
    ps_blas_prepare();
    if (total == 0 || shape->n == 0)
        return true;
    if (shape->k == 0)
        memset(launch->outputs[0], 0, (size_t)(total * shape->n) * bytes);
    if (!keeps_with(shape)) {
        prepare_with(shape, with, scratch);
        with = scratch;
    }
    void *in_tile = scratch + with_bytes(shape), *out_tile = (char *)in_tile + tile_bytes(shape, shape->k);
    int64_t position = launch->first_row * shape->row_products % tile;
    for (int64_t first = 0, rows; first < total; first += rows, position = 0) {
        rows = total - first < tile - position ? total - first : tile - position;
        char *out = (char *)launch->outputs[0] + (size_t)(first * shape->n) * bytes;
        if (shape->k > 0) {
            const void *in = tile_in(shape, launch->inputs[program->in], first, rows, position, tile,
                                     in_tile);
            multiply_tile(shape, rows, position, tile, in, with, out, out_tile);
        }
        if (program->bias >= 0 || shape->relu)
            add_bias(shape, out, rows,
                     program->bias >= 0 ? launch->inputs[program->bias] : NULL);
    }
    return true;
}
