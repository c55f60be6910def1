// SPDX-License-Identifier: Apache-2.0
// fft on the cpu by FFTW 3 (fftw.org/fftw3_doc): one plan per program, made by FFTW_ESTIMATE, which
// measures nothing, so that it is the same each time; it transforms one line at a time.
#include "kernels/fft/fft_stage.h"

#if PS_HAVE_FFTW

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Only executing a plan is thread-safe in FFTW.
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

// Buffers begin at multiples of this: more than FFTW asks for.
#define ALIGNMENT 64

static size_t aligned(int64_t elements, bool pairs, bool wide)
{
    size_t bytes = (size_t)elements * (pairs ? 2 : 1) * (wide ? sizeof(double) : sizeof(float));
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t in_bytes(const struct ps_fft_job *job)
{
    return aligned(ps_fft_size_in(job), ps_fft_pairs_in(job), job->wide);
}

size_t ps_fft_cpu_scratch(const struct ps_fft_job *job)
{
    return in_bytes(job) + aligned(ps_fft_size_out(job), job->kind != PS_FFT_IRFFT, job->wide);
}

static void *plan_wide(const struct ps_fft_job *job, void *in, void *out)
{
    int n = (int)job->n;
    switch (job->kind) {
    case PS_FFT_IRFFT:
        return fftw_plan_dft_c2r_1d(n, in, out, FFTW_ESTIMATE);
    case PS_FFT_FFT:
        return fftw_plan_dft_1d(n, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
    case PS_FFT_IFFT:
        return fftw_plan_dft_1d(n, in, out, FFTW_BACKWARD, FFTW_ESTIMATE);
    default:
        return fftw_plan_dft_r2c_1d(n, in, out, FFTW_ESTIMATE);
    }
}

static void *plan_single(const struct ps_fft_job *job, void *in, void *out)
{
    int n = (int)job->n;
    switch (job->kind) {
    case PS_FFT_IRFFT:
        return fftwf_plan_dft_c2r_1d(n, in, out, FFTW_ESTIMATE);
    case PS_FFT_FFT:
        return fftwf_plan_dft_1d(n, in, out, FFTW_FORWARD, FFTW_ESTIMATE);
    case PS_FFT_IFFT:
        return fftwf_plan_dft_1d(n, in, out, FFTW_BACKWARD, FFTW_ESTIMATE);
    default:
        return fftwf_plan_dft_r2c_1d(n, in, out, FFTW_ESTIMATE);
    }
}

bool ps_fft_cpu_compile(struct ps_program *program, struct ps_error *error)
{
    const struct ps_fft_job *job = &program->job;
    size_t bytes = ps_fft_cpu_scratch(job);
    char *buffer = aligned_alloc(ALIGNMENT, bytes);
    if (buffer == NULL)
        return ps_fail_memory(error, bytes, "fft");
    pthread_mutex_lock(&planner);
    program->library = (job->wide ? plan_wide : plan_single)(job, buffer, buffer + in_bytes(job));
    pthread_mutex_unlock(&planner);
    free(buffer);
    return program->library != NULL ||
           ps_fail(error, PS_DEVICE, "FFTW has no plan for a transform of length %lld",
                   (long long)job->n);
}

void ps_fft_cpu_release(struct ps_program *program)
{
    if (program->library == NULL)
        return;
    pthread_mutex_lock(&planner);
    if (program->job.wide)
        fftw_destroy_plan(program->library);
    else
        fftwf_destroy_plan(program->library);
    pthread_mutex_unlock(&planner);
}

static void execute_wide(const struct ps_program *program, void *in, void *out)
{
    if (program->job.kind == PS_FFT_IRFFT)
        fftw_execute_dft_c2r(program->library, in, out);
    else if (ps_fft_pairs_in(&program->job))
        fftw_execute_dft(program->library, in, out);
    else
        fftw_execute_dft_r2c(program->library, in, out);
}

static void execute_single(const struct ps_program *program, void *in, void *out)
{
    if (program->job.kind == PS_FFT_IRFFT)
        fftwf_execute_dft_c2r(program->library, in, out);
    else if (ps_fft_pairs_in(&program->job))
        fftwf_execute_dft(program->library, in, out);
    else
        fftwf_execute_dft_r2c(program->library, in, out);
}

// A line that is already as the library wants it is copied at once.
static void load_line(const struct ps_fft_job *job, int64_t line, int64_t size, char *in)
{
    bool plain = job->window == NULL && job->lines.inner == 1 && job->kind != PS_FFT_IRFFT &&
                 job->dtype == (job->wide ? PS_F64 : PS_F32);
    size_t width = ps_dtype_bytes((enum ps_dtype)job->dtype) * (ps_fft_pairs_in(job) ? 2 : 1);
    if (plain) {
        memcpy(in, (const char *)job->in + (size_t)(line * job->lines.n) * width,
               (size_t)job->taken * width);
        memset(in + (size_t)job->taken * width, 0, (size_t)(size - job->taken) * width);
        return;
    }
    for (int64_t i = 0; i < size; i++)
        ps_fft_load(job, line, i, in, i);
}

bool ps_fft_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    struct ps_fft_job job;
    (void)error;
    ps_fft_job_of(program, launch, &job);
    char *in = launch->scratch, *out = in + in_bytes(&job);
    int64_t size = ps_fft_size_in(&job);
    for (int64_t line = 0; line < job.count; line++) {
        load_line(&job, line, size, in);
        (job.wide ? execute_wide : execute_single)(program, in, out);
        for (int64_t i = 0; i < job.results; i++)
            ps_fft_store(&job, line, i, out, i);
    }
    return true;
}

#else // no job gets here: fft_offered says why

bool ps_fft_cpu_compile(struct ps_program *program, struct ps_error *error)
{
    (void)program;
    return ps_fail(error, PS_USAGE, "fft on the cpu: this program was built without FFTW");
}

void ps_fft_cpu_release(struct ps_program *program)
{
    (void)program;
}

size_t ps_fft_cpu_scratch(const struct ps_fft_job *job)
{
    (void)job;
    return 0;
}

bool ps_fft_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    (void)program;
    (void)launch;
    return ps_fail(error, PS_USAGE, "fft on the cpu: this program was built without FFTW");
}

#endif
