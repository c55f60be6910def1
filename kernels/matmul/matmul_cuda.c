// SPDX-License-Identifier: Apache-2.0
// matmul on a GPU. cuBLAS is loaded when the engine is the library; one handle per program, used
// under a lock (calls only enqueue), with the launch's own stream and workspace, so that streams
// never share one and the bits stay the same.
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/nvtx.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_kernels.h"

#include <pthread.h>
#include <stdlib.h>

#define WORKSPACE_BYTES (32u << 20) // what NVIDIA recommends for Hopper; cuBLAS docs, 2.1.2

struct cuda_matmul {
    pthread_mutex_t lock;
    cublasHandle_t handle;
};

static size_t aligned(int64_t elements, size_t bytes)
{
    return ((size_t)elements * bytes + 255) / 256 * 256;
}

static bool same_dtype(const struct ps_matmul_shape *shape)
{
    return shape->in_dtype == shape->dtype;
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
        .workspace = library ? WORKSPACE_BYTES : 0,
        .with = shape->with_dtype != shape->dtype ? aligned(shape->k * shape->n, bytes) : 0,
        .bias =
            shape->bias >= 0 && shape->bias_dtype != shape->dtype ? aligned(shape->n, bytes) : 0,
        .in = same_dtype(shape) ? 0 : aligned(rows * shape->row_products * shape->k, bytes),
        .tile_in = library ? aligned(tile * shape->k, bytes) : 0,
        .tile_out = library ? aligned(tile * shape->n, bytes) : 0,
    };
}

size_t ps_matmul_cuda_scratch(const struct ps_matmul_shape *shape, int64_t rows)
{
    struct pieces p = piece_bytes(shape, rows);
    return p.workspace + p.with + p.bias + p.in + p.tile_in + p.tile_out;
}

bool ps_matmul_cuda_compile(struct ps_program *program, struct ps_error *error)
{
    struct cuda_matmul *cuda = calloc(1, sizeof *cuda);
    if (cuda == NULL)
        return ps_fail_memory(error, sizeof *cuda, "a matmul");
    pthread_mutex_init(&cuda->lock, NULL);
    program->cuda = cuda;
    if (program->shape.engine != PS_MATMUL_LIBRARY)
        return true;
    const struct ps_cublas *cublas = ps_cublas(error);
    return cublas != NULL && ps_cuda_use(program->device, error) &&
           ps_cublas_check(cublas->cublasCreate_v2(&cuda->handle), "cublasCreate", error) &&
           ps_cublas_check(cublas->cublasSetMathMode(cuda->handle, CUBLAS_PEDANTIC_MATH),
                           "cublasSetMathMode", error);
}

void ps_matmul_cuda_release(struct ps_program *program)
{
    struct cuda_matmul *cuda = program->cuda;
    struct ps_error error = {0};
    if (cuda->handle != NULL && ps_cuda_use(program->device, &error))
        ps_cublas(&error)->cublasDestroy_v2(cuda->handle);
    pthread_mutex_destroy(&cuda->lock);
    free(cuda);
    program->cuda = NULL;
}

// cuBLAS stores by columns, so it is asked for out' = with' * in' (' transposes).
static bool call_library(const struct ps_program *program, cudaStream_t stream, void *workspace,
                         int64_t rows, const void *in, const void *with, void *out,
                         struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    const struct ps_cublas *cublas = ps_cublas(error);
    struct cuda_matmul *cuda = program->cuda;
    cublasOperation_t turn = shape->transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    int m = (int)rows, n = (int)shape->n, k = (int)shape->k, stride = shape->transpose ? k : n;
    const double one = 1, zero = 0;
    const float onef = 1, zerof = 0;
    pthread_mutex_lock(&cuda->lock);
    bool fine =
        ps_cublas_check(cublas->cublasSetStream_v2(cuda->handle, stream), "cublasSetStream",
                        error) &&
        ps_cublas_check(cublas->cublasSetWorkspace_v2(cuda->handle, workspace, WORKSPACE_BYTES),
                        "cublasSetWorkspace", error);
    if (fine && shape->dtype == PS_F64)
        fine = ps_cublas_check(cublas->cublasDgemm_v2(cuda->handle, turn, CUBLAS_OP_N, n, m, k,
                                                      &one, with, stride, in, k, &zero, out, n),
                               "cublasDgemm", error);
    else if (fine)
        fine = ps_cublas_check(cublas->cublasSgemm_v2(cuda->handle, turn, CUBLAS_OP_N, n, m, k,
                                                      &onef, with, stride, in, k, &zerof, out, n),
                               "cublasSgemm", error);
    pthread_mutex_unlock(&cuda->lock);
    return fine;
}

// Full tiles in place; the ends of a block go through a tile padded with zeros.
static bool run_library(const struct ps_program *program, cudaStream_t stream, char *scratch,
                        const struct pieces *p, int64_t first_row, int64_t total, const char *in,
                        const void *with, char *out, struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    size_t bytes = ps_dtype_bytes(shape->dtype), in_row = (size_t)shape->k * bytes;
    size_t out_row = (size_t)shape->n * bytes;
    int64_t tile = ps_matmul_tile_rows(shape, PS_CUDA);
    int64_t position = first_row * shape->row_products % tile;
    char *tile_in = scratch + p->workspace + p->with + p->bias + p->in;
    char *tile_out = tile_in + p->tile_in;
    for (int64_t first = 0, rows; first < total; first += rows, position = 0) {
        rows = total - first < tile - position ? total - first : tile - position;
        const char *from = in + (size_t)first * in_row;
        char *to = out + (size_t)first * out_row;
        if (rows == tile) {
            if (!call_library(program, stream, scratch, tile, from, with, to, error))
                return false;
            continue;
        }
        if (!ps_cuda_check(cudaMemsetAsync(tile_in, 0, (size_t)tile * in_row, stream),
                           "cudaMemsetAsync", error) ||
            !ps_cuda_check(cudaMemcpyAsync(tile_in + (size_t)position * in_row, from,
                                           (size_t)rows * in_row, cudaMemcpyDeviceToDevice, stream),
                           "cudaMemcpyAsync", error) ||
            !call_library(program, stream, scratch, tile, tile_in, with, tile_out, error) ||
            !ps_cuda_check(cudaMemcpyAsync(to, tile_out + (size_t)position * out_row,
                                           (size_t)rows * out_row, cudaMemcpyDeviceToDevice, stream),
                           "cudaMemcpyAsync", error))
            return false;
    }
    return true;
}

static bool widen(const void **data, void *to, enum ps_dtype to_dtype, enum ps_dtype from,
                  int64_t count, cudaStream_t stream, struct ps_error *error)
{
    if (from == to_dtype)
        return true;
    bool fine = ps_cuda_check(ps_matmul_widen(to_dtype, to, from, *data, count, stream),
                              "launching kernel widen", error);
    *data = to;
    return fine;
}

static bool enqueue(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    const struct ps_matmul_shape *shape = &program->shape;
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    int64_t total = launch->rows * shape->row_products, count = total * shape->n;
    struct pieces p = piece_bytes(shape, launch->rows);
    char *scratch = launch->scratch;
    const void *in = launch->inputs[program->in], *with = launch->inputs[program->with];
    const void *bias = program->bias >= 0 ? launch->inputs[program->bias] : NULL;
    void *out = launch->outputs[0];
    if (count == 0)
        return true;
    if (!ps_cuda_use(launch->queue->device, error))
        return false;
    if (shape->k == 0) {
        if (!ps_cuda_check(
                cudaMemsetAsync(out, 0, (size_t)count * ps_dtype_bytes(shape->dtype), stream),
                "cudaMemsetAsync", error))
            return false;
    } else {
        if (!widen(&with, scratch + p.workspace, shape->dtype, shape->with_dtype,
                   shape->k * shape->n, stream, error) ||
            !widen(&in, scratch + p.workspace + p.with + p.bias, shape->dtype, shape->in_dtype,
                   total * shape->k, stream, error))
            return false;
        bool fine = shape->engine == PS_MATMUL_LIBRARY
                        ? run_library(program, stream, scratch, &p, launch->first_row, total, in, with, out,
                                      error)
                        : ps_cuda_check(ps_matmul_tiled(shape->dtype, total, shape->n, shape->k, in,
                                                        with, shape->transpose ? 1 : shape->n,
                                                        shape->transpose ? shape->k : 1, out, stream),
                                        "launching kernel tiled", error);
        if (!fine)
            return false;
    }
    if (bias == NULL && !shape->relu)
        return true;
    return (bias == NULL || widen(&bias, scratch + p.workspace + p.with, shape->dtype,
                                  shape->bias_dtype, shape->n, stream, error)) &&
           ps_cuda_check(
               ps_matmul_finish(shape->dtype, out, count, shape->n, bias, shape->relu, stream),
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
