// SPDX-License-Identifier: Apache-2.0
// matmul on the cpu: OpenBLAS one thread per slot (slots are the parallelism), or the tiled engine.
#include "kernels/matmul/matmul.h"

#include "kernels/cpu/blas.h"
#include "kernels/matmul/tiled.h"

#include <string.h>

// Scratch: [matrices as they are computed with, for tiled as [k, n]] [bias] [one tile of rows in]
// [one tile out].
struct pieces {
    size_t with, bias, in, out;
};

static bool turns(const struct ps_matmul_shape *shape)
{
    return shape->transpose && shape->engine == PS_MATMUL_TILED;
}

static bool keeps_with(const struct ps_matmul_shape *shape)
{
    return ps_matmul_keeps(shape, shape->with_dtype) && !turns(shape);
}

static size_t aligned(int64_t elements, size_t bytes)
{
    return ((size_t)elements * bytes + 255) / 256 * 256;
}

static struct pieces piece_bytes(const struct ps_matmul_shape *shape)
{
    size_t bytes = ps_dtype_bytes(shape->dtype);
    int64_t tile = ps_matmul_tile_rows(shape, PS_CPU);
    return (struct pieces){
        .with = keeps_with(shape) ? 0 : aligned(shape->batch * shape->k * shape->n, bytes),
        .bias = shape->bias < 0 ? 0 : aligned(shape->bias_count, bytes),
        .in = aligned(tile * shape->k, bytes),
        .out = aligned(tile * shape->n, bytes),
    };
}

size_t ps_matmul_cpu_scratch(const struct ps_matmul_shape *shape)
{
    struct pieces p = piece_bytes(shape);
    return p.with + p.bias + p.in + p.out;
}

static double element(enum ps_dtype dtype, const void *data, int64_t i)
{
    return dtype == PS_F64   ? ((const double *)data)[i]
           : dtype == PS_F32 ? ((const float *)data)[i]
                             : ps_f16_to_f32(((const uint16_t *)data)[i]);
}

// Into the computed dtype; `drop` bits are rounded off.
static void widen(enum ps_dtype to, void *target, enum ps_dtype from, const void *source,
                  int64_t first, int64_t count, int drop)
{
    if (to == from && drop == 0) {
        size_t bytes = ps_dtype_bytes(to);
        memcpy(target, (const char *)source + (size_t)first * bytes, (size_t)count * bytes);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (to == PS_F64) {
            ((double *)target)[i] = element(from, source, first + i);
        } else {
            float value = (float)element(from, source, first + i);
            ((float *)target)[i] = drop > 0 ? ps_matmul_round(value, drop) : value;
        }
    }
}

static void prepare_with(const struct ps_matmul_shape *shape, const void *with, char *to)
{
    size_t bytes = ps_dtype_bytes(shape->dtype);
    int drop = ps_matmul_drop(shape->precision);
    int64_t k = shape->k, n = shape->n;
    if (!turns(shape)) {
        widen(shape->dtype, to, shape->with_dtype, with, 0, shape->batch * k * n, drop);
        return;
    }
    for (int64_t b = 0; b < shape->batch; b++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < k; i++)
                widen(shape->dtype, to + (size_t)((b * k + i) * n + j) * bytes, shape->with_dtype,
                      with, (b * n + j) * k + i, 1, drop);
}

static void call_library(const struct ps_matmul_shape *shape, int64_t rows, const void *in,
                         int64_t in_stride, const void *with, void *out, int64_t out_stride)
{
    enum CBLAS_TRANSPOSE turn = shape->transpose ? CblasTrans : CblasNoTrans;
    blasint m = (blasint)rows, n = (blasint)shape->n, k = (blasint)shape->k;
    blasint stride = shape->transpose ? k : n;
    blasint lda = (blasint)in_stride, ldc = (blasint)out_stride;
    if (shape->dtype == PS_F64)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, turn, m, n, k, 1, in, lda, with, stride, 0, out,
                    ldc);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, turn, m, n, k, 1, in, lda, with, stride, 0, out,
                    ldc);
}

static void call_tiled(const struct ps_matmul_shape *shape, int64_t rows, const void *in,
                       const void *with, void *out)
{
    if (shape->dtype == PS_F64)
        ps_tiled_table()->f64(rows, shape->n, shape->k, in, with, out);
    else
        ps_tiled_table()->f32(rows, shape->n, shape->k, in, with, out);
}

// Rows [first, first + rows) of the products with one matrix, at absolute place `position` of a
// tile of `tile` rows.
struct part {
    const struct ps_matmul_shape *shape;
    int64_t first, rows, position, tile;
    int64_t matrix;
    const void *in, *with; // of the whole launch; of this matrix
    void *out;
    void *in_tile, *out_tile; // scratch
};

// The numbers to multiply, in the computed dtype, and the distance of rows. For the library they
// are put at `position` in a tile of zeros, unless they fill one.
static const void *part_in(const struct part *part, int64_t *stride_out)
{
    const struct ps_matmul_shape *shape = part->shape;
    size_t bytes = ps_dtype_bytes(shape->dtype), row_bytes = (size_t)shape->k * bytes;
    int64_t stride = shape->batch * shape->k, from = part->first * stride + part->matrix * shape->k;
    bool pad = shape->engine == PS_MATMUL_LIBRARY && part->rows < part->tile;
    bool together = shape->batch == 1 || shape->engine == PS_MATMUL_LIBRARY;
    if (ps_matmul_keeps(shape, shape->in_dtype) && !pad && together) {
        *stride_out = stride;
        return (const char *)part->in + (size_t)from * bytes;
    }
    *stride_out = shape->k;
    char *to = part->in_tile;
    if (pad) {
        memset(to, 0, (size_t)part->tile * row_bytes);
        to += (size_t)part->position * row_bytes;
    }
    for (int64_t r = 0; r < part->rows; r++)
        widen(shape->dtype, to + (size_t)r * row_bytes, shape->in_dtype, part->in,
              from + r * stride, shape->k, ps_matmul_drop(shape->precision));
    return part->in_tile;
}

static char *out_row(const struct part *part, int64_t row)
{
    int64_t at = (part->first + row) * part->shape->batch + part->matrix;
    return (char *)part->out + (size_t)(at * part->shape->n) * ps_dtype_bytes(part->shape->dtype);
}

static void multiply_part(const struct part *part)
{
    const struct ps_matmul_shape *shape = part->shape;
    size_t row_bytes = (size_t)shape->n * ps_dtype_bytes(shape->dtype);
    int64_t stride, position = 0;
    const void *in = part_in(part, &stride);
    if (shape->engine == PS_MATMUL_TILED) {
        call_tiled(shape, part->rows, in, part->with,
                   shape->batch == 1 ? (void *)out_row(part, 0) : part->out_tile);
        if (shape->batch == 1)
            return;
    } else if (part->rows == part->tile) {
        call_library(shape, part->tile, in, stride, part->with, out_row(part, 0),
                     shape->batch * shape->n);
        return;
    } else {
        call_library(shape, part->tile, in, stride, part->with, part->out_tile, shape->n);
        position = part->position;
    }
    for (int64_t r = 0; r < part->rows; r++)
        memcpy(out_row(part, r), (char *)part->out_tile + (size_t)(position + r) * row_bytes,
               row_bytes);
}

static void finish_part(const struct part *part, const void *bias)
{
    const struct ps_matmul_shape *shape = part->shape;
    int64_t n = shape->n, of = shape->bias_count > n ? part->matrix * n : 0;
    enum ps_matmul_activation activation = shape->activation;
    for (int64_t r = 0; r < part->rows; r++) {
        double *x = (double *)out_row(part, r);
        float *y = (float *)out_row(part, r);
        if (shape->dtype == PS_F64) {
            for (int64_t i = 0; bias != NULL && i < n; i++)
                x[i] += ((const double *)bias)[of + i];
            for (int64_t i = 0; activation != PS_ACTIVATION_NONE && i < n; i++)
                x[i] = ps_matmul_activate(activation, x[i]);
        } else {
            for (int64_t i = 0; bias != NULL && i < n; i++)
                y[i] += ((const float *)bias)[of + i];
            for (int64_t i = 0; activation != PS_ACTIVATION_NONE && i < n; i++)
                y[i] = (float)ps_matmul_activate(activation, y[i]);
        }
    }
}

static void run_matrix(const struct ps_program *program, const struct ps_launch *launch,
                       struct part *part, const void *bias)
{
    const struct ps_matmul_shape *shape = part->shape;
    int64_t total = launch->rows * shape->row_products;
    part->position = launch->first_row * shape->row_products % part->tile;
    for (part->first = 0; part->first < total; part->first += part->rows, part->position = 0) {
        int64_t left = total - part->first, room = part->tile - part->position;
        part->rows = left < room ? left : room;
        if (shape->k > 0)
            multiply_part(part);
        if (program->bias >= 0 || shape->activation != PS_ACTIVATION_NONE)
            finish_part(part, bias);
    }
}

bool ps_matmul_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    struct pieces p = piece_bytes(shape);
    size_t bytes = ps_dtype_bytes(shape->dtype);
    char *scratch = launch->scratch;
    const char *with = launch->inputs[program->with];
    int64_t total = launch->rows * shape->row_products * shape->batch;
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
    if (program->bias >= 0)
        widen(shape->dtype, scratch + p.with, shape->bias_dtype, launch->inputs[program->bias], 0,
              shape->bias_count, 0);
    struct part part = {
        .shape = shape,
        .tile = ps_matmul_tile_rows(shape, PS_CPU),
        .in = launch->inputs[program->in],
        .out = launch->outputs[0],
        .in_tile = scratch + p.with + p.bias,
        .out_tile = scratch + p.with + p.bias + p.in,
    };
    for (; part.matrix < shape->batch; part.matrix++) {
        part.with = with + (size_t)(part.matrix * shape->k * shape->n) * bytes;
        run_matrix(program, launch, &part, program->bias >= 0 ? scratch + p.with : NULL);
    }
    return true;
}
