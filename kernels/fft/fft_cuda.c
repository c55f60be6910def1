// SPDX-License-Identifier: Apache-2.0
// fft on a GPU by cuFFT, which is loaded when a job needs it. Lines are transformed in batches of
// one size; the last one of a block is filled up with zeros. cuFFT says only when it has made a
// plan how large its work area is, so that area is the program's and blocks take turns on it: each
// waits on the GPU for the event of the one before.
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/cufft.h"
#include "kernels/cuda/nvtx.h"
#include "kernels/fft/fft_stage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (16 << 20) // of one buffer

struct cuda_fft {
    pthread_mutex_t lock;
    bool planned;
    cufftHandle plan;
    void *work;
    cudaEvent_t done; // of the work area's last user
};

static int64_t pair_bytes(const struct ps_fft_job *job)
{
    return job->wide ? 16 : 8;
}

int64_t ps_fft_batch(const struct ps_fft_job *job)
{
    int64_t batch = BATCH_BYTES / pair_bytes(job) / (job->n / 2 + 1);
    return batch < 1 ? 1 : batch > 4096 ? 4096 : batch;
}

static size_t buffer_bytes(const struct ps_fft_job *job, int64_t size)
{
    return ((size_t)(ps_fft_batch(job) * size * pair_bytes(job)) + 255) / 256 * 256;
}

size_t ps_fft_cuda_scratch(const struct ps_fft_job *job)
{
    return buffer_bytes(job, ps_fft_size_in(job)) + buffer_bytes(job, ps_fft_size_out(job));
}

static cufftType type_of(const struct ps_fft_job *job)
{
    bool wide = job->wide;
    switch (job->kind) {
    case PS_FFT_IRFFT:
        return wide ? CUFFT_Z2D : CUFFT_C2R;
    case PS_FFT_FFT:
    case PS_FFT_IFFT:
        return wide ? CUFFT_Z2Z : CUFFT_C2C;
    default:
        return wide ? CUFFT_D2Z : CUFFT_R2C;
    }
}

static bool make_plan(struct ps_program *program, struct cuda_fft *cuda, struct ps_error *error)
{
    const struct ps_fft_job *job = &program->job;
    const struct ps_cufft *cufft = ps_cufft(error);
    long long n = job->n;
    size_t bytes = 0;
    if (cufft == NULL || !ps_cuda_use(program->device, error) ||
        !ps_cufft_check(cufft->cufftCreate(&cuda->plan), "cufftCreate", error))
        return false;
    cuda->planned = true;
    if (!ps_cufft_check(cufft->cufftSetAutoAllocation(cuda->plan, 0), "cufftSetAutoAllocation",
                        error) ||
        !ps_cufft_check(cufft->cufftMakePlanMany64(cuda->plan, 1, &n, NULL, 1, ps_fft_size_in(job),
                                                   NULL, 1, ps_fft_size_out(job), type_of(job),
                                                   ps_fft_batch(job), &bytes),
                        "cufftMakePlanMany64", error))
        return false;
    cuda->work = ps_cuda_alloc(program->device, PS_MEMORY_DEVICE, bytes > 0 ? bytes : 256, error);
    return cuda->work != NULL &&
           ps_cufft_check(cufft->cufftSetWorkArea(cuda->plan, cuda->work), "cufftSetWorkArea",
                          error) &&
           ps_cuda_check(cudaEventCreateWithFlags(&cuda->done, cudaEventDisableTiming),
                         "cudaEventCreate", error);
}

bool ps_fft_cuda_compile(struct ps_program *program, struct ps_error *error)
{
    struct cuda_fft *cuda = calloc(1, sizeof *cuda);
    size_t bytes = (size_t)program->job.taken * sizeof(double);
    if (cuda == NULL)
        return ps_fail_memory(error, sizeof *cuda, "fft");
    pthread_mutex_init(&cuda->lock, NULL);
    program->library = cuda;
    if (!make_plan(program, cuda, error))
        return false;
    if (program->job.window == NULL || bytes == 0)
        return true;
    program->device_window = ps_cuda_alloc(program->device, PS_MEMORY_DEVICE, bytes, error);
    const double *window = program->job.window;
    program->job.window = program->device_window;
    return program->device_window != NULL &&
           ps_cuda_check(cudaMemcpy(program->device_window, window, bytes, cudaMemcpyHostToDevice),
                         "cudaMemcpy of the window", error);
}

void ps_fft_cuda_release(struct ps_program *program)
{
    struct cuda_fft *cuda = program->library;
    struct ps_error error = {0};
    if (cuda == NULL)
        return;
    if (ps_cuda_use(program->device, &error)) {
        if (cuda->planned)
            ps_cufft(&error)->cufftDestroy(cuda->plan);
        if (cuda->done != NULL)
            cudaEventDestroy(cuda->done);
        if (cuda->work != NULL)
            ps_cuda_free(program->device, PS_MEMORY_DEVICE, cuda->work);
        if (program->device_window != NULL)
            ps_cuda_free(program->device, PS_MEMORY_DEVICE, program->device_window);
    }
    pthread_mutex_destroy(&cuda->lock);
    free(cuda);
}

static bool execute(const struct ps_fft_job *job, cufftHandle plan, void *in, void *out,
                    struct ps_error *error)
{
    const struct ps_cufft *cufft = ps_cufft(error);
    int way = job->kind == PS_FFT_IFFT ? CUFFT_INVERSE : CUFFT_FORWARD;
    switch (type_of(job)) {
    case CUFFT_R2C:
        return ps_cufft_check(cufft->cufftExecR2C(plan, in, out), "cufftExecR2C", error);
    case CUFFT_D2Z:
        return ps_cufft_check(cufft->cufftExecD2Z(plan, in, out), "cufftExecD2Z", error);
    case CUFFT_C2R:
        return ps_cufft_check(cufft->cufftExecC2R(plan, in, out), "cufftExecC2R", error);
    case CUFFT_Z2D:
        return ps_cufft_check(cufft->cufftExecZ2D(plan, in, out), "cufftExecZ2D", error);
    case CUFFT_C2C:
        return ps_cufft_check(cufft->cufftExecC2C(plan, in, out, way), "cufftExecC2C", error);
    default:
        return ps_cufft_check(cufft->cufftExecZ2Z(plan, in, out, way), "cufftExecZ2Z", error);
    }
}

// The plan's stream and its work area are of whoever holds the lock; on the GPU the event keeps
// their order.
static bool transform(struct cuda_fft *cuda, const struct ps_fft_job *job, cudaStream_t stream,
                      void *in, void *out, struct ps_error *error)
{
    pthread_mutex_lock(&cuda->lock);
    bool fine =
        ps_cuda_check(cudaStreamWaitEvent(stream, cuda->done, 0), "cudaStreamWaitEvent", error) &&
        ps_cufft_check(ps_cufft(error)->cufftSetStream(cuda->plan, stream), "cufftSetStream",
                       error) &&
        execute(job, cuda->plan, in, out, error) &&
        ps_cuda_check(cudaEventRecord(cuda->done, stream), "cudaEventRecord", error);
    pthread_mutex_unlock(&cuda->lock);
    return fine;
}

bool ps_fft_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_error *error)
{
    struct ps_fft_job job;
    struct cuda_fft *cuda = program->library;
    cudaStream_t stream = ps_cuda_queue(launch->queue)->stream;
    ps_fft_job_of(program, launch, &job);
    int64_t batch = ps_fft_batch(&job);
    char *in = launch->scratch, *out = in + buffer_bytes(&job, ps_fft_size_in(&job));
    bool fine = job.count == 0 || ps_cuda_use(launch->queue->device, error);
    ps_nvtx_open("fft");
    for (int64_t first = 0; fine && first < job.count; first += batch)
        fine = ps_fft_load_cuda(&job, first, batch, in, stream, error) &&
               transform(cuda, &job, stream, in, out, error) &&
               ps_fft_store_cuda(&job, first, batch, out, stream, error);
    ps_nvtx_close();
    return fine;
}
