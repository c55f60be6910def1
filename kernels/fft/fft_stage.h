// SPDX-License-Identifier: Apache-2.0
// The stage fft inside.
#ifndef PS_KERNELS_FFT_FFT_STAGE_H
#define PS_KERNELS_FFT_FFT_STAGE_H

#include "kernels/fft/fft.h"
#include "kernels/stages.h"

// stage->detail.
struct ps_fft {
    struct ps_fft_job job; // all but what a launch says
    bool whole;
    double *window; // owned
};

struct ps_program {
    struct ps_fft_job job; // the window where the device sees it
    bool whole;
    struct ps_device *device;
    void *library; // what the backend's library made
    double *device_window;
};

// The job of a launch.
void ps_fft_job_of(const struct ps_program *program, const struct ps_launch *launch,
                   struct ps_fft_job *job_out);

// FFTW (kernels/fft/fft_cpu.c); without it in this build, fft_offered says so.
bool ps_fft_cpu_compile(struct ps_program *program, struct ps_error *error);
void ps_fft_cpu_release(struct ps_program *program);
size_t ps_fft_cpu_scratch(const struct ps_fft_job *job);
bool ps_fft_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error);

#if PS_HAVE_CUDA
// Lines of one transform of the library: always as many, so that no result depends on how many
// lines a block has.
int64_t ps_fft_batch(const struct ps_fft_job *job);
// cuFFT (kernels/fft/fft_cuda.c).
bool ps_fft_cuda_compile(struct ps_program *program, struct ps_error *error);
void ps_fft_cuda_release(struct ps_program *program);
size_t ps_fft_cuda_scratch(const struct ps_fft_job *job);
bool ps_fft_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_error *error);
// The kernels around it (kernels/fft/fft.cu): a batch of lines from `first` on into or out of a
// buffer. Lines beyond job->count are zeros, and stored nowhere. stream: a cudaStream_t.
bool ps_fft_load_cuda(const struct ps_fft_job *job, int64_t first, int64_t batch, void *buffer,
                      void *stream, struct ps_error *error);
bool ps_fft_store_cuda(const struct ps_fft_job *job, int64_t first, int64_t batch,
                       const void *buffer, void *stream, struct ps_error *error);
#endif

#endif
