// SPDX-License-Identifier: Apache-2.0
// The stage fft: shapes, windows and scales. Definitions are numpy.fft's.
#include "kernels/fft/fft_stage.h"
#include "kernels/shape/shape.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array; default: the stage before"},
    {.key = "kind",
     .kind = PS_CHOICE,
     .required = true,
     .choices = "rfft|irfft|fft|ifft|power",
     .help = "rfft: of real numbers, n/2+1 complex ones; irfft: back again; fft, ifft: of complex "
             "numbers; power: the squared magnitudes of rfft. Complex numbers are a last axis of "
             "two, re and im"},
    {.key = "axis",
     .kind = PS_INTEGER,
     .fallback = "-1",
     .min = -8,
     .max = 7,
     .help = "which axis, counted from 0 (the rows, of a streamed array not allowed here), or from "
             "the end, where the axis of re and im does not count"},
    {.key = "n",
     .kind = PS_INTEGER,
     .min = 1,
     .max = INT_MAX,
     .help = "length of the transform: a longer line is cut, a shorter one followed by zeros; all "
             "of the line if unset (irfft: 2 (m - 1) of m)"},
    {.key = "window",
     .kind = PS_CHOICE,
     .fallback = "none",
     .choices = "none|hann|hamming|blackman",
     .help = "factors for the line before the transform, periodic as scipy.signal.get_window's"},
    {.key = "norm",
     .kind = PS_CHOICE,
     .fallback = "backward",
     .choices = "backward|ortho|forward",
     .help = "divides by n in the inverse, by its root in both, or by n in the forward transform"},
    {0},
};

// ---- Windows and scales ----

// Periodic: the window's length is one less than the symmetric one's.
static double window_factor(int kind, int64_t i, int64_t size)
{
    double turn = 2 * 3.14159265358979323846 * (double)i / (double)size;
    if (size == 1)
        return 1;
    switch (kind) {
    case 1:
        return 0.5 - 0.5 * cos(turn);
    case 2:
        return 0.54 - 0.46 * cos(turn);
    default:
        return 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn);
    }
}

static bool make_window(struct ps_stage *stage, struct ps_fft *fft, struct ps_problems *problems)
{
    const struct ps_value *window = ps_values_get(stage->options, "window");
    int kind = fft->job.kind;
    if (window->choice == 0)
        return true;
    if (kind == PS_FFT_IRFFT || kind == PS_FFT_IFFT) {
        ps_problem_add(problems, PS_USAGE, window->place,
                       "window: is for what goes into a forward transform, not for %s",
                       ps_values_get(stage->options, "kind")->text);
        return false;
    }
    fft->window = malloc(((size_t)fft->job.taken + 1) * sizeof *fft->window);
    if (fft->window == NULL) {
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
        return false;
    }
    for (int64_t i = 0; i < fft->job.taken; i++)
        fft->window[i] = window_factor(window->choice, i, fft->job.taken);
    return true;
}

static double scale_of(const struct ps_stage *stage, const struct ps_fft_job *job)
{
    int norm = ps_values_get(stage->options, "norm")->choice;
    bool inverse = job->kind == PS_FFT_IRFFT || job->kind == PS_FFT_IFFT;
    if (norm == 1)
        return 1 / sqrt((double)job->n);
    return (norm == 0) == inverse ? 1 / (double)job->n : 1;
}

// ---- Shapes ----

static bool check_pairs(const struct ps_stage *stage, const struct ps_port *in,
                        struct ps_problems *problems)
{
    const struct ps_array *array = &in->array;
    char text[PS_ARRAY_TEXT];
    if (array->rank > ps_shape_first(in) + 1 && array->dims[array->rank - 1] == 2)
        return true;
    ps_problem_add(problems, PS_USAGE, ps_shape_place(stage, ps_values_get(stage->options, "in")),
                   "%s takes complex numbers, a last axis of two (re, im) behind the axis of the "
                   "transform, but '%s' is %s; real numbers are transformed by rfft",
                   ps_values_get(stage->options, "kind")->text, in->name,
                   ps_array_text(array, text));
    return false;
}

static bool settle_size(const struct ps_stage *stage, const struct ps_port *in, struct ps_fft *fft,
                        struct ps_problems *problems)
{
    const struct ps_value *n = ps_values_get(stage->options, "n");
    struct ps_fft_job *job = &fft->job;
    int64_t size = job->lines.n, needed;
    job->n = n->given ? n->integer : job->kind == PS_FFT_IRFFT ? 2 * (size - 1) : size;
    if (job->n < 1 || job->n > INT_MAX) {
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "'%s' has %lld elements along the axis, which makes a transform of length "
                       "%lld; lengths are 1 to %d: give `n`",
                       in->name, (long long)size, (long long)job->n, INT_MAX);
        return false;
    }
    needed = ps_fft_size_in(job);
    job->taken = size < needed ? size : needed;
    job->results = ps_fft_size_out(job);
    job->scale = scale_of(stage, job);
    return true;
}

static bool shape_output(struct ps_stage *stage, const struct ps_port *in, int axis,
                         const struct ps_fft_job *job, struct ps_problems *problems)
{
    static const char *const names[] = {"re", "im"};
    struct ps_array *output = &stage->output;
    ps_shape_output(stage, in, job->wide ? PS_F64 : PS_F32);
    output->dims[axis] = job->results;
    stage->axes[axis].port = -1;
    if (!ps_fft_pairs_out(job)) {
        output->rank -= ps_fft_pairs_in(job);
        // The columns' names stay where the columns do.
        return ps_fft_pairs_in(job) || axis == output->rank - 1 ||
               ps_shape_columns(stage, &in->array, NULL, problems);
    }
    if (!ps_fft_pairs_in(job)) {
        if (output->rank == PS_RANK_MAX) {
            ps_problem_add(problems, PS_USAGE, stage->place,
                           "the result would have more than %d axes", PS_RANK_MAX);
            return false;
        }
        output->dims[output->rank++] = 2;
        stage->axes[output->rank - 1].port = -1;
    }
    return ps_shape_set_columns(stage, names, 2, problems);
}

static bool fft_plan(struct ps_stage *stage, const struct ps_scope *scope,
                     struct ps_problems *problems)
{
    const struct ps_port *in = ps_shape_input(stage, scope, 1, problems);
    const struct ps_value *kind = ps_values_get(stage->options, "kind");
    struct ps_fft *fft = stage->detail = calloc(1, sizeof *fft);
    if (fft == NULL)
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
    if (in == NULL || fft == NULL || !kind->given)
        return false;
    struct ps_fft_job *job = &fft->job;
    job->kind = kind->choice;
    bool pairs = ps_fft_pairs_in(job);
    if (pairs && !check_pairs(stage, in, problems))
        return false;
    int axis = ps_shape_axis_option(stage, in, in->array.rank - pairs, problems);
    if (axis < 0)
        return false;
    fft->whole = !in->streamed;
    job->dtype = (int)in->array.dtype;
    job->wide = in->array.dtype != PS_F16 && in->array.dtype != PS_F32;
    job->lines = ps_shape_lines(in, axis);
    if (pairs) {
        job->lines.inner /= 2;
        job->lines.per_row /= 2;
    }
    return settle_size(stage, in, fft, problems) && make_window(stage, fft, problems) &&
           shape_output(stage, in, axis, job, problems);
}

static void fft_unplan(struct ps_stage *stage)
{
    struct ps_fft *fft = stage->detail;
    if (fft != NULL)
        free(fft->window);
    free(fft);
    stage->detail = NULL;
}

// ---- Programs ----

static inline bool is_cuda(const struct ps_program *program)
{
    return program->device->backend->id == PS_CUDA;
}

static void fft_release(struct ps_program *program)
{
#if PS_HAVE_CUDA
    if (is_cuda(program))
        ps_fft_cuda_release(program);
#endif
    if (!is_cuda(program))
        ps_fft_cpu_release(program);
    free(program);
}

static bool fft_compile(const struct ps_step *step, struct ps_device *device,
                        struct ps_program **program_out, struct ps_error *error)
{
    const struct ps_fft *fft = step->stages[0]->detail;
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "fft");
    program->job = fft->job;
    program->job.window = fft->window; // stays the stage's
    program->whole = fft->whole;
    program->device = device;
    bool fine = false;
#if PS_HAVE_CUDA
    if (is_cuda(program))
        fine = ps_fft_cuda_compile(program, error);
#endif
    if (!is_cuda(program))
        fine = ps_fft_cpu_compile(program, error);
    if (!fine) {
        fft_release(program);
        return false;
    }
    *program_out = program;
    return true;
}

void ps_fft_job_of(const struct ps_program *program, const struct ps_launch *launch,
                   struct ps_fft_job *job)
{
    *job = program->job;
    job->count = job->lines.per_row * (program->whole ? 1 : launch->rows);
    job->in = launch->inputs[0];
    job->out = launch->outputs[0];
}

static size_t fft_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    const struct ps_fft *fft = step->stages[0]->detail;
    (void)rows;
#if PS_HAVE_CUDA
    if (backend == PS_CUDA)
        return ps_fft_cuda_scratch(&fft->job);
#endif
    (void)backend;
    return ps_fft_cpu_scratch(&fft->job);
}

// Why not, when this program lacks what the backend's library needs.
static bool fft_offered(const struct ps_stage *stage, enum ps_backend_id backend, char *why,
                        size_t why_size)
{
    (void)stage;
#if PS_HAVE_FFTW
    (void)backend;
    (void)why;
    (void)why_size;
    return true;
#else
    if (backend != PS_CPU)
        return true;
    snprintf(why, why_size,
             "stage type fft does not run on cpu: this program was built without FFTW; install "
             "Debian's package libfftw3-dev and build again with -DPS_FFTW=ON, or use "
             "`backend: cuda`");
    return false;
#endif
}

const struct ps_stage_type ps_stage_fft = {
    .name = "fft",
    .help = "Fourier transforms along an axis of each row, as numpy.fft has them; f32 (and f16) in "
            "f32, all else in f64",
    .options = options,
    .plan = fft_plan,
    .unplan = fft_unplan,
    .compile = fft_compile,
    .release = fft_release,
    .offered = fft_offered,
    .run = {[PS_CPU] = ps_fft_cpu_run,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_fft_cuda_run
#endif
    },
    .scratch_bytes = fft_scratch,
};
