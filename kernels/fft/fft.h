// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of lines: how a line goes into the buffers of the library (FFTW, cuFFT) and
// how its result comes out. One source for host and device.
//
// Buffers hold lines one after the other: `in` n numbers or pairs (re, im), `out` likewise. All
// arithmetic is in the result's dtype, f32 or f64.
#ifndef PS_KERNELS_FFT_FFT_H
#define PS_KERNELS_FFT_FFT_H

#include "kernels/shape/lines.h"
#include "kernels/window/element.h"

enum ps_fft_kind { PS_FFT_RFFT, PS_FFT_IRFFT, PS_FFT_FFT, PS_FFT_IFFT, PS_FFT_POWER };

struct ps_fft_job {
    struct ps_lines lines; // of the input, in numbers or pairs
    int kind, dtype;       // of the input
    bool wide;             // f64, else f32
    int64_t n;             // of the transform
    int64_t taken;         // elements of the line that go in; zeros after them
    int64_t results;       // elements of a line of the output
    double scale;
    const double *window; // of `taken` factors; NULL: none
    int64_t count;        // lines of the launch
    const void *in;
    void *out;
};

PS_EXACT bool ps_fft_pairs_in(const struct ps_fft_job *job)
{
    return job->kind == PS_FFT_IRFFT || job->kind == PS_FFT_FFT || job->kind == PS_FFT_IFFT;
}

PS_EXACT bool ps_fft_pairs_out(const struct ps_fft_job *job)
{
    return job->kind == PS_FFT_RFFT || job->kind == PS_FFT_FFT || job->kind == PS_FFT_IFFT;
}

// Elements of a line of the library's buffers.
PS_EXACT int64_t ps_fft_size_in(const struct ps_fft_job *job)
{
    return job->kind == PS_FFT_IRFFT ? job->n / 2 + 1 : job->n;
}

PS_EXACT int64_t ps_fft_size_out(const struct ps_fft_job *job)
{
    return job->kind == PS_FFT_RFFT || job->kind == PS_FFT_POWER ? job->n / 2 + 1 : job->n;
}

PS_EXACT void ps_fft_put(const struct ps_fft_job *job, void *buffer, int64_t at, double value)
{
    if (job->wide)
        ((double *)buffer)[at] = value;
    else
        ((float *)buffer)[at] = (float)value; // f16 and f32 only: exact
}

PS_EXACT double ps_fft_get(const struct ps_fft_job *job, const void *buffer, int64_t at)
{
    return job->wide ? ((const double *)buffer)[at] : (double)((const float *)buffer)[at];
}

// Element i of a line into the buffer's place `at` (in elements). What the inverse of a real line
// cannot have, an imaginary part at the ends of its spectrum, is left out as in NumPy.
PS_EXACT void ps_fft_load(const struct ps_fft_job *job, int64_t line, int64_t i, void *buffer,
                          int64_t at)
{
    bool pairs = ps_fft_pairs_in(job);
    bool real = job->kind == PS_FFT_IRFFT && (i == 0 || (job->n % 2 == 0 && i == job->n / 2));
    int64_t from = ps_lines_at(&job->lines, job->lines.n, line, i);
    for (int part = 0; part <= (int)pairs; part++) {
        double value = 0;
        if (i < job->taken && !(part == 1 && real)) {
            value = ps_element_number(
                job->dtype, ps_element_raw(job->dtype, job->in, pairs ? 2 * from + part : from));
            if (job->window != 0 && job->wide)
                value *= job->window[i];
            else if (job->window != 0)
                value = (float)value * (float)job->window[i];
        }
        ps_fft_put(job, buffer, pairs ? 2 * at + part : at, value);
    }
}

PS_EXACT double ps_fft_scaled(const struct ps_fft_job *job, double value)
{
    return job->wide ? value * job->scale : (double)((float)value * (float)job->scale);
}

// Element i of a line of the output out of the buffer's place `at`.
PS_EXACT void ps_fft_store(const struct ps_fft_job *job, int64_t line, int64_t i,
                           const void *buffer, int64_t at)
{
    int64_t to = ps_lines_at(&job->lines, job->results, line, i);
    if (job->kind == PS_FFT_IRFFT) {
        ps_fft_put(job, job->out, to, ps_fft_scaled(job, ps_fft_get(job, buffer, at)));
        return;
    }
    double re = ps_fft_scaled(job, ps_fft_get(job, buffer, 2 * at));
    double im = ps_fft_scaled(job, ps_fft_get(job, buffer, 2 * at + 1));
    if (job->kind == PS_FFT_POWER) {
        double a = job->wide ? re * re : (double)((float)re * (float)re);
        double b = job->wide ? im * im : (double)((float)im * (float)im);
        ps_fft_put(job, job->out, to, job->wide ? a + b : (double)((float)a + (float)b));
        return;
    }
    ps_fft_put(job, job->out, 2 * to, re);
    ps_fft_put(job, job->out, 2 * to + 1, im);
}

#endif
