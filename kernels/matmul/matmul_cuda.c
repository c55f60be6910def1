// SPDX-License-Identifier: Apache-2.0
// matmul on a GPU. cuBLAS is loaded when the engine is the library; one handle per program.
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/nvtx.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_kernels.h"

#include <stdlib.h>

static size_t aligned(int64_t elements, size_t bytes)
{
    return ((size_t)elements * bytes + 255) / 256 * 256;
}

// Scratch: [workspace] [matrix widened] [bias widened] [block widened] [last tile in] [out].
struct pieces {
    size_t workspace, with, bias, in, tile_in, tile_out;
};

static struct pieces piece_bytes(const struct ps_matmul_shape *shape, int64_t rows)
{
    size_t bytes = ps_dtype_bytes(shape->dtype);
    bool library = shape->engine == PS_MATMUL_LIBRARY;
    int64_t tile = ps_matmul_tile_rows(shape, PS_CUDA);
    return (struct pieces){
        .workspace = library ? PS_CUBLAS_WORKSPACE : 0,
        .with = ps_matmul_keeps(shape, shape->with_dtype)
                    ? 0
                    : aligned(shape->batch * shape->k * shape->n, bytes),
        .bias = shape->bias >= 0 && shape->bias_dtype != shape->dtype
                    ? aligned(shape->bias_count, bytes)
                    : 0,
        .in = ps_matmul_keeps(shape, shape->in_dtype)
                  ? 0
                  : aligned(rows * shape->row_products * shape->batch * shape->k, bytes),
        .tile_in = library ? aligned(tile * shape->k, bytes) : 0,
        .tile_out = library ? aligned(tile * shape->n, bytes) : 0,
    };
}

size_t ps_matmul_cuda_scratch(const struct ps_matmul_shape *shape, int64_t rows)
{
    struct pieces p = piece_bytes(shape, rows);
    return p.workspace + p.with + p.bias + p.in + p.tile_in + p.tile_out;
}

// Inputs have been rounded to tf32 or bf16 before; kept as f32, cuBLAS finds nothing to round.
static cublasComputeType_t compute_type(const struct ps_matmul_shape *shape)
{
    return shape->precision == PS_PRECISION_TF32   ? CUBLAS_COMPUTE_32F_FAST_TF32
           : shape->precision == PS_PRECISION_BF16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                                                   : CUBLAS_COMPUTE_32F;
}

static cublasMath_t math_mode(const struct ps_matmul_shape *shape)
{
    return ps_matmul_drop(shape->precision) > 0 ? CUBLAS_DEFAULT_MATH : CUBLAS_PEDANTIC_MATH;
}

bool ps_matmul_cuda_compile(struct ps_program *program, struct ps_error *error)
{
    struct ps_cublas_handle *own = program->cuda = calloc(1, sizeof *own);
    if (own == NULL)
        return ps_fail_memory(error, sizeof *own, "a matmul");
    return program->shape.engine != PS_MATMUL_LIBRARY ||
           ps_cublas_open(own, program->device, math_mode(&program->shape), error);
}

void ps_matmul_cuda_release(struct ps_program *program)
{
    ps_cublas_close(program->cuda, program->device);
    free(program->cuda);
    program->cuda = NULL;
}

// cuBLAS stores by columns, so it is asked for out' = with' * in' (' transposes).
static bool call_library(const struct ps_program *program, cudaStream_t stream, void *workspace,
                         int64_t rows, const void *in, int64_t in_row, const void *with, void *out,
                         int64_t out_row, struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    struct ps_cublas_handle *own = program->cuda;
    cublasOperation_t turn = shape->transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    int m = (int)rows, n = (int)shape->n, k = (int)shape->k, stride = shape->transpose ? k : n;
    int lda = (int)in_row, ldc = (int)out_row;
    const double one = 1, zero = 0;
    const float onef = 1, zerof = 0;
    const struct ps_cublas *cublas = ps_cublas_begin(own, stream, workspace, error);
    if (cublas == NULL)
        return false;
    bool fine;
    if (shape->dtype == PS_F64)
        fine = ps_cublas_check(cublas->cublasDgemm_v2(own->handle, turn, CUBLAS_OP_N, n, m, k, &one,
                                                      with, stride, in, lda, &zero, out, ldc),
                               "cublasDgemm", error);
    else if (ps_matmul_drop(shape->precision) == 0)
        fine =
            ps_cublas_check(cublas->cublasSgemm_v2(own->handle, turn, CUBLAS_OP_N, n, m, k, &onef,
                                                   with, stride, in, lda, &zerof, out, ldc),
                            "cublasSgemm", error);
    else
        fine = ps_cublas_check(cublas->cublasGemmEx(own->handle, turn, CUBLAS_OP_N, n, m, k, &onef,
                                                    with, CUDA_R_32F, stride, in, CUDA_R_32F, lda,
                                                    &zerof, out, CUDA_R_32F, ldc,
                                                    compute_type(shape), CUBLAS_GEMM_DEFAULT),
                               "cublasGemmEx", error);
    ps_cublas_end(own);
    return fine;
}

static bool copy_rows(void *to, size_t to_row, const void *from, size_t from_row, size_t bytes,
                      int64_t rows, cudaStream_t stream, struct ps_error *error)
{
    return ps_cuda_check(cudaMemcpy2DAsync(to, to_row, from, from_row, bytes, (size_t)rows,
                                           cudaMemcpyDeviceToDevice, stream),
                         "cudaMemcpy2DAsync", error);
}

// Full tiles in place; the ends of a block go through a tile padded with zeros. `in`, `with` and
// `out` begin with what is of this matrix; total: rows of its product.
static bool run_library(const struct ps_program *program, cudaStream_t stream, char *scratch,
                        const struct pieces *p, int64_t first_row, int64_t total, const char *in,
                        const void *with, char *out, struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    size_t bytes = ps_dtype_bytes(shape->dtype), in_row = (size_t)shape->k * bytes;
    size_t out_row = (size_t)shape->n * bytes, batch = (size_t)shape->batch;
    int64_t tile = ps_matmul_tile_rows(shape, PS_CUDA);
    int64_t position = first_row * shape->row_products % tile;
    char *tile_in = scratch + p->workspace + p->with + p->bias + p->in;
    char *tile_out = tile_in + p->tile_in;
    for (int64_t first = 0, rows; first < total; first += rows, position = 0) {
        rows = total - first < tile - position ? total - first : tile - position;
        const char *from = in + (size_t)first * batch * in_row;
        char *to = out + (size_t)first * batch * out_row;
        if (rows == tile) {
            if (!call_library(program, stream, scratch, tile, from, shape->batch * shape->k, with,
                              to, shape->batch * shape->n, error))
                return false;
            continue;
        }
        if (!ps_cuda_check(cudaMemsetAsync(tile_in, 0, (size_t)tile * in_row, stream),
                           "cudaMemsetAsync", error) ||
            !copy_rows(tile_in + (size_t)position * in_row, in_row, from, batch * in_row, in_row,
                       rows, stream, error) ||
            !call_library(program, stream, scratch, tile, tile_in, shape->k, with, tile_out,
                          shape->n, error) ||
            !copy_rows(to, batch * out_row, tile_out + (size_t)position * out_row, out_row, out_row,
                       rows, stream, error))
            return false;
    }
    return true;
}

static bool run_tiled(const struct ps_matmul_shape *shape, cudaStream_t stream, int64_t total,
                      const void *in, const void *with, void *out, struct ps_error *error)
{
    return ps_cuda_check(
        ps_matmul_tiled(shape->dtype, total, shape->n, shape->k, in, shape->batch * shape->k, with,
                        shape->transpose ? 1 : shape->n, shape->transpose ? shape->k : 1, out,
                        shape->batch * shape->n, stream),
        "launching kernel tiled", error);
}

static bool widen(const struct ps_matmul_shape *shape, const void **data, void *to,
                  enum ps_dtype from, int64_t count, int drop, cudaStream_t stream,
                  struct ps_error *error)
{
    if (from == shape->dtype && drop == 0)
        return true;
    bool fine = ps_cuda_check(ps_matmul_widen(shape->dtype, to, from, *data, count, drop, stream),
                              "launching kernel widen", error);
    *data = to;
    return fine;
}

// All products: rows x row_products rows of each matrix.
static bool multiply(const struct ps_program *program, const struct ps_launch *launch,
                     const struct pieces *p, cudaStream_t stream, struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    int64_t total = launch->rows * shape->row_products;
    size_t bytes = ps_dtype_bytes(shape->dtype);
    char *scratch = launch->scratch, *out = launch->outputs[0];
    const void *in = launch->inputs[program->in], *with = launch->inputs[program->with];
    int drop = ps_matmul_drop(shape->precision);
    if (!widen(shape, &with, scratch + p->workspace, shape->with_dtype,
               shape->batch * shape->k * shape->n, drop, stream, error) ||
        !widen(shape, &in, scratch + p->workspace + p->with + p->bias, shape->in_dtype,
               total * shape->batch * shape->k, drop, stream, error))
        return false;
    for (int64_t b = 0; b < shape->batch; b++) {
        const char *own_in = (const char *)in + (size_t)(b * shape->k) * bytes;
        const char *own_with = (const char *)with + (size_t)(b * shape->k * shape->n) * bytes;
        char *own_out = out + (size_t)(b * shape->n) * bytes;
        if (shape->engine == PS_MATMUL_LIBRARY
                ? !run_library(program, stream, scratch, p, launch->first_row, total, own_in,
                               own_with, own_out, error)
                : !run_tiled(shape, stream, total, own_in, own_with, own_out, error))
            return false;
    }
    return true;
}

static bool enqueue(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    int64_t count = launch->rows * shape->row_products * shape->batch * shape->n;
    struct pieces p = piece_bytes(shape, launch->rows);
    const void *bias = program->bias >= 0 ? launch->inputs[program->bias] : NULL;
    void *out = launch->outputs[0];
    if (count == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    bool fine =
        shape->k > 0
            ? multiply(program, launch, &p, stream, error)
            : ps_cuda_check(
                  cudaMemsetAsync(out, 0, (size_t)count * ps_dtype_bytes(shape->dtype), stream),
                  "cudaMemsetAsync", error);
    if (!fine || (bias == NULL && shape->activation == PS_ACTIVATION_NONE))
        return fine;
    return (bias == NULL || widen(shape, &bias, (char *)launch->scratch + p.workspace + p.with,
                                  shape->bias_dtype, shape->bias_count, 0, stream, error)) &&
           ps_cuda_check(ps_matmul_finish(shape->dtype, out, count, bias, shape->bias_count,
                                          (int)shape->activation, stream),
                         "launching kernel finish", error);
}

bool ps_matmul_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error)
{
    ps_nvtx_open("matmul");
    bool fine = enqueue(program, launch, error);
    ps_nvtx_close();
    return fine;
}

int ps_matmul_cuda_kernels(const struct ps_program *program, struct ps_kernel_info *infos, int max)
{
    struct ps_error error = {0};
    int threads;
    if (program->cuda == NULL || program->shape.engine != PS_MATMUL_TILED)
        return 0;
    const void *kernel = ps_matmul_tiled_kernel(program->shape.dtype, &threads);
    struct ps_device device = *program->device;
    struct ps_cuda_device own = *ps_cuda_device(program->device);
    device.request.threads_per_block = threads; // fixed by the tile's shape
    own.base = device;
    if (max > 0 && !ps_cuda_shape_static(&own.base, kernel, "matmul tiled", 0, &infos[0], &error))
        return 0;
    return 1;
}
