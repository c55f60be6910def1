// SPDX-License-Identifier: Apache-2.0
// Timing vector add and matrix products on a GPU; each result is checked.
#include "kernels/measure.h"

#include "kernels/cuda/cublas.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/probe.h"
#include "kernels/matmul/matmul_kernels.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 5

struct timer {
    cudaEvent_t begin, end;
    cudaStream_t stream;
};

static bool open_timer(struct timer *t, struct ps_error *error)
{
    return ps_cuda_check(cudaEventCreate(&t->begin), "cudaEventCreate", error) &&
           ps_cuda_check(cudaEventCreate(&t->end), "cudaEventCreate", error) &&
           ps_cuda_check(cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking),
                         "cudaStreamCreateWithFlags", error);
}

static void close_timer(struct timer *t)
{
    if (t->begin != NULL)
        cudaEventDestroy(t->begin);
    if (t->end != NULL)
        cudaEventDestroy(t->end);
    if (t->stream != NULL)
        cudaStreamDestroy(t->stream);
}

// Best of REPEATS runs of `work`, which enqueues on the timer's stream; one run before is not
// counted.
static bool best_of(struct timer *t, bool (*work)(void *, cudaStream_t, struct ps_error *),
                    void *context, double *ms_out, struct ps_error *error)
{
    float ms, best = 1e30f;
    for (int i = 0; i <= REPEATS; i++) {
        if (!ps_cuda_check(cudaEventRecord(t->begin, t->stream), "cudaEventRecord", error) ||
            !work(context, t->stream, error) ||
            !ps_cuda_check(cudaEventRecord(t->end, t->stream), "cudaEventRecord", error) ||
            !ps_cuda_check(cudaEventSynchronize(t->end), "cudaEventSynchronize", error) ||
            !ps_cuda_check(cudaEventElapsedTime(&ms, t->begin, t->end), "cudaEventElapsedTime",
                           error))
            return false;
        best = i > 0 && ms < best ? ms : best;
    }
    *ms_out = best;
    return true;
}

// ---- Vector add ----

struct vectors {
    int64_t count;
    size_t bytes;
    float *host[3], *device[3]; // a, b, c
    float *expected;
};

static bool add_only(void *context, cudaStream_t stream, struct ps_error *error)
{
    struct vectors *v = context;
    return ps_cuda_check(
        ps_cuda_vector_add(v->device[0], v->device[1], v->device[2], v->count, stream),
        "launching kernel vector_add", error);
}

static bool add_with_copies(void *context, cudaStream_t stream, struct ps_error *error)
{
    struct vectors *v = context;
    for (int i = 0; i < 2; i++)
        if (!ps_cuda_check(
                cudaMemcpyAsync(v->device[i], v->host[i], v->bytes, cudaMemcpyDefault, stream),
                "cudaMemcpyAsync", error))
            return false;
    return add_only(context, stream, error) &&
           ps_cuda_check(
               cudaMemcpyAsync(v->host[2], v->device[2], v->bytes, cudaMemcpyDefault, stream),
               "cudaMemcpyAsync", error);
}

static double add_on_cpu(struct vectors *v)
{
    double best = 1e300;
    const float *restrict a = v->host[0], *restrict b = v->host[1];
    float *restrict c = v->expected;
    for (int run = 0; run <= REPEATS; run++) {
        double start = ps_clock_ms();
        for (int64_t i = 0; i < v->count; i++)
            c[i] = a[i] + b[i];
        double ms = ps_clock_ms() - start;
        best = run > 0 && ms < best ? ms : best;
    }
    return best;
}

static bool open_vectors(struct vectors *v, struct ps_error *error)
{
    for (int i = 0; i < 3; i++)
        if (!ps_cuda_check(cudaHostAlloc((void **)&v->host[i], v->bytes, cudaHostAllocDefault),
                           "cudaHostAlloc", error) ||
            !ps_cuda_check(cudaMalloc((void **)&v->device[i], v->bytes), "cudaMalloc", error))
            return false;
    v->expected = malloc(v->bytes);
    if (v->expected == NULL)
        return ps_fail_memory(error, v->bytes, "a vector");
    uint32_t random = 1;
    for (int64_t i = 0; i < v->count; i++) {
        random = random * 1664525u + 1013904223u; // Numerical Recipes' generator
        v->host[0][i] = (float)(random >> 8) * 0x1p-24f;
        v->host[1][i] = (float)i;
    }
    return true;
}

bool ps_measure_vector_add(int device, int64_t count, struct ps_vector_add *out,
                           struct ps_error *error)
{
    struct vectors v = {.count = count, .bytes = (size_t)count * sizeof(float)};
    struct timer t = {0};
    memset(out, 0, sizeof *out);
    bool fine = ps_cuda_check(cudaSetDevice(device), "cudaSetDevice", error) &&
                open_timer(&t, error) && open_vectors(&v, error) &&
                best_of(&t, add_with_copies, &v, &out->with_copies_ms, error) &&
                best_of(&t, add_only, &v, &out->kernel_ms, error);
    if (fine) {
        out->bytes = 3.0 * (double)v.bytes;
        out->cpu_ms = add_on_cpu(&v);
        for (int64_t i = 0; i < count; i++)
            out->different += memcmp(&v.host[2][i], &v.expected[i], sizeof(float)) != 0;
    }
    for (int i = 0; i < 3; i++) {
        cudaFreeHost(v.host[i]);
        cudaFree(v.device[i]);
    }
    free(v.expected);
    close_timer(&t);
    return fine;
}

// ---- Matrix product ----

struct matrices {
    int64_t n;
    size_t bytes;
    float *device[4]; // a, b, tiled, library
    cublasHandle_t handle;
    const struct ps_cublas *cublas;
};

static bool tiled_product(void *context, cudaStream_t stream, struct ps_error *error)
{
    struct matrices *m = context;
    return ps_cuda_check(ps_matmul_tiled(PS_F32, m->n, m->n, m->n, m->device[0], m->n, m->device[1],
                                         m->n, 1, m->device[2], m->n, stream),
                         "launching kernel tiled", error);
}

static bool library_product(void *context, cudaStream_t stream, struct ps_error *error)
{
    struct matrices *m = context;
    const float one = 1, zero = 0;
    int n = (int)m->n;
    return ps_cublas_check(m->cublas->cublasSetStream_v2(m->handle, stream), "cublasSetStream",
                           error) &&
           ps_cublas_check(m->cublas->cublasSgemm_v2(m->handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n,
                                                     &one, m->device[1], n, m->device[0], n, &zero,
                                                     m->device[3], n),
                           "cublasSgemm", error);
}

static bool open_matrices(struct matrices *m, struct ps_error *error)
{
    float *host = malloc(m->bytes);
    bool fine = host != NULL || ps_fail_memory(error, m->bytes, "a matrix");
    uint32_t random = 1;
    for (int i = 0; fine && i < 4; i++) {
        fine = ps_cuda_check(cudaMalloc((void **)&m->device[i], m->bytes), "cudaMalloc", error);
        for (int64_t j = 0; fine && i < 2 && j < m->n * m->n; j++) {
            random = random * 1664525u + 1013904223u;
            host[j] = (float)(random >> 8) * 0x1p-24f - 0.5f;
        }
        fine = fine && (i >= 2 || ps_cuda_check(cudaMemcpy(m->device[i], host, m->bytes,
                                                           cudaMemcpyHostToDevice),
                                                "cudaMemcpy", error));
    }
    free(host);
    m->cublas = fine ? ps_cublas(error) : NULL;
    return m->cublas != NULL &&
           ps_cublas_check(m->cublas->cublasCreate_v2(&m->handle), "cublasCreate", error) &&
           ps_cublas_check(m->cublas->cublasSetMathMode(m->handle, CUBLAS_PEDANTIC_MATH),
                           "cublasSetMathMode", error);
}

static bool compare_products(const struct matrices *m, double *difference, struct ps_error *error)
{
    float *tiled = malloc(m->bytes), *library = malloc(m->bytes);
    double most = 0, scale = 0;
    bool fine = tiled != NULL && library != NULL;
    fine = (fine || ps_fail_memory(error, m->bytes, "a matrix")) &&
           ps_cuda_check(cudaMemcpy(tiled, m->device[2], m->bytes, cudaMemcpyDeviceToHost),
                         "cudaMemcpy", error) &&
           ps_cuda_check(cudaMemcpy(library, m->device[3], m->bytes, cudaMemcpyDeviceToHost),
                         "cudaMemcpy", error);
    for (int64_t i = 0; fine && i < m->n * m->n; i++) {
        double d = fabs((double)tiled[i] - (double)library[i]);
        most = d > most || isnan(d) ? d : most;
        scale = fmax(scale, fabs((double)library[i]));
    }
    *difference = scale > 0 ? most / scale : most;
    free(tiled);
    free(library);
    return fine;
}

bool ps_measure_matmul(int device, int64_t n, struct ps_matmul_times *out, struct ps_error *error)
{
    struct matrices m = {.n = n, .bytes = (size_t)(n * n) * sizeof(float)};
    struct timer t = {0};
    memset(out, 0, sizeof *out);
    bool fine = ps_cuda_check(cudaSetDevice(device), "cudaSetDevice", error) &&
                open_timer(&t, error) && open_matrices(&m, error) &&
                best_of(&t, tiled_product, &m, &out->tiled_ms, error) &&
                best_of(&t, library_product, &m, &out->cublas_ms, error) &&
                compare_products(&m, &out->largest_difference, error);
    double operations = 2.0 * (double)n * (double)n * (double)n;
    if (fine) {
        out->tiled_gflops = operations / out->tiled_ms * 1e-6;
        out->cublas_gflops = operations / out->cublas_ms * 1e-6;
    }
    if (m.handle != NULL)
        m.cublas->cublasDestroy_v2(m.handle);
    for (int i = 0; i < 4; i++)
        cudaFree(m.device[i]);
    close_timer(&t);
    return fine;
}
