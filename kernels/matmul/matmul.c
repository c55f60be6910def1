// SPDX-License-Identifier: Apache-2.0
// The matmul stage: shapes, dtypes and the row of the table.
#include "kernels/matmul/matmul.h"

#include "kernels/stages.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "in",
     .kind = PS_NAME,
     .help = "The streamed array, [rows, ..., K]; the stage before if unset"},
    {.key = "with",
     .kind = PS_NAME,
     .required = true,
     .help = "The matrix, a whole array [K, N]; or [B, K, N], a matrix for each place of the last "
             "axis but one of `in`, [rows, ..., B, K]"},
    {.key = "bias",
     .kind = PS_NAME,
     .help = "A whole array [N], or [B, N] with B matrices, added to every row"},
    {.key = "activation",
     .kind = PS_CHOICE,
     .fallback = "none",
     .choices = "none|relu|gelu|sigmoid|tanh",
     .help = "Applied to the result: relu max(x, 0), gelu x/2 (1 + erf(x / sqrt 2)), sigmoid "
             "1 / (1 + exp(-x))"},
    {.key = "transpose",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "The matrix is stored as [N, K], or [B, N, K]"},
    {.key = "precision",
     .kind = PS_CHOICE,
     .fallback = "auto",
     .choices = "auto|f32|f64|tf32|bf16",
     .help = "What is multiplied and added in; auto: f64 when either input is f64, else f32; tf32 "
             "and bf16 round the inputs to that format and add in f32"},
    {.key = "engine",
     .kind = PS_CHOICE,
     .fallback = "auto",
     .choices = "auto|library|tiled",
     .help = "library: OpenBLAS or cuBLAS; tiled: our own kernel, with the same bits on cpu and "
             "cuda; auto: library"},
    {0},
};

static bool fault(struct ps_problems *problems, struct ps_place place, struct ps_place fallback,
                  const char *text)
{
    ps_problem_add(problems, PS_USAGE, place.line > 0 ? place : fallback, "%s", text);
    return false;
}

static bool check_float(const struct ps_port *port, struct ps_place place,
                        struct ps_problems *problems)
{
    if (ps_dtype_is_float(port->array.dtype))
        return true;
    ps_problem_add(problems, PS_USAGE, place,
                   "matmul of '%s' (%s): integers are not multiplied as they are; convert first "
                   "with a map such as `expr: \"f64(%s)\"` (or f32 where 24 bits suffice)",
                   port->name, ps_dtype_name(port->array.dtype), port->name);
    return false;
}

static bool check_with(struct ps_stage *stage, const struct ps_port *in, const struct ps_port *with,
                       struct ps_matmul_shape *shape, struct ps_problems *problems)
{
    const struct ps_value *value = ps_values_get(stage->options, "with");
    char a[PS_ARRAY_TEXT], b[PS_ARRAY_TEXT];
    ps_array_text(&in->array, a);
    ps_array_text(&with->array, b);
    if (with->streamed) {
        ps_problem_add(problems, PS_USAGE, value->place,
                       "'%s' is streamed, but `with` must be whole: add `load: whole` to it",
                       with->name);
        return false;
    }
    bool batched = with->array.rank == 3;
    if ((with->array.rank != 2 && !batched) || in->array.rank < with->array.rank) {
        ps_problem_add(problems, PS_USAGE, value->place,
                       "matmul needs rows of K numbers and a 2-D matrix, or rows of B x K and B "
                       "matrices: '%s' is %s, '%s' is %s",
                       in->name, a, with->name, b);
        return false;
    }
    shape->batch = batched ? with->array.dims[0] : 1;
    shape->k = with->array.dims[batched + shape->transpose];
    shape->n = with->array.dims[batched + !shape->transpose];
    if (batched && in->array.dims[in->array.rank - 2] != shape->batch) {
        ps_problem_add(problems, PS_USAGE, value->place,
                       "'%s' is %s, %lld matrices, but the last axis but one of '%s', %s, is %lld",
                       with->name, b, (long long)shape->batch, in->name, a,
                       (long long)in->array.dims[in->array.rank - 2]);
        return false;
    }
    // BLAS counts in int, also from row to row.
    if (shape->k > INT_MAX / (shape->batch + 1) || shape->n > INT_MAX / (shape->batch + 1)) {
        ps_problem_add(problems, PS_USAGE, value->place,
                       "'%s' is %s, but matmul takes at most %lld rows and columns", with->name, b,
                       INT_MAX / (long long)(shape->batch + 1));
        return false;
    }
    if (in->array.dims[in->array.rank - 1] == shape->k)
        return true;
    ps_problem_add(problems, PS_USAGE, value->place,
                   "inner sizes %lld and %lld differ: %s %s x %s %s%s",
                   (long long)in->array.dims[in->array.rank - 1], (long long)shape->k, in->name, a,
                   with->name, b, shape->transpose ? " transposed" : "");
    return false;
}

static bool check_bias(struct ps_stage *stage, const struct ps_scope *scope,
                       struct ps_matmul_shape *shape, int with_rank, struct ps_problems *problems)
{
    const struct ps_value *value = ps_values_get(stage->options, "bias");
    shape->bias = -1;
    if (!value->given)
        return true;
    shape->bias = ps_stage_use(stage, scope, value->text, value->place, problems);
    if (shape->bias < 0)
        return false;
    const struct ps_port *bias = ps_stage_input(stage, scope, shape->bias);
    char text[PS_ARRAY_TEXT];
    shape->bias_dtype = bias->array.dtype;
    if (!check_float(bias, value->place, problems))
        return false;
    const struct ps_array *array = &bias->array;
    bool one = array->rank == 1 && array->dims[0] == shape->n;
    bool each = array->rank == 2 && with_rank == 3 && array->dims[0] == shape->batch &&
                array->dims[1] == shape->n;
    shape->bias_count = one ? shape->n : shape->batch * shape->n;
    if (!bias->streamed && (one || each))
        return true;
    char expected[64] = "";
    if (with_rank == 3)
        snprintf(expected, sizeof expected, " or [%lld, %lld]", (long long)shape->batch,
                 (long long)shape->n);
    ps_problem_add(problems, PS_USAGE, value->place,
                   "bias '%s' is %s%s, expected a whole array of %lld numbers%s", bias->name,
                   ps_array_text(&bias->array, text), bias->streamed ? ", streamed" : "",
                   (long long)shape->n, expected);
    return false;
}

static void fill_output(struct ps_stage *stage, const struct ps_port *in,
                        struct ps_matmul_shape *shape)
{
    const struct ps_array *array = &in->array;
    ps_array_init(&stage->output, shape->dtype, array->rank, array->dims);
    stage->output.dims[array->rank - 1] = shape->n;
    for (int i = 0; i < array->rank - 1; i++)
        stage->axes[i] = (struct ps_axis_source){stage->inputs[0], i};
    stage->streamed = in->streamed;
    stage->whole_rows = in->streamed ? 0 : array->dims[0];
    shape->row_products = 1;
    for (int i = 1; i < array->rank - 1; i++)
        shape->row_products *= array->dims[i];
    if (shape->batch > 0) // it is one of these axes, or 1
        shape->row_products /= shape->batch;
}

// The dtype that is computed in and stored.
static bool choose_dtype(const struct ps_stage *stage, struct ps_matmul_shape *shape,
                         struct ps_problems *problems)
{
    const struct ps_value *value = ps_values_get(stage->options, "precision");
    bool wide = shape->in_dtype == PS_F64 || shape->with_dtype == PS_F64;
    shape->precision = (enum ps_matmul_precision)value->choice;
    if (shape->precision == PS_PRECISION_AUTO)
        shape->precision = wide ? PS_PRECISION_F64 : PS_PRECISION_F32; // halves: as f32
    shape->dtype = shape->precision == PS_PRECISION_F64 ? PS_F64 : PS_F32;
    if (wide && shape->dtype == PS_F32) {
        ps_problem_add(problems, PS_USAGE, value->place,
                       "precision: %s, but one of the inputs is f64; round it first with a map of "
                       "`dtype: f32`",
                       value->text);
        return false;
    }
    if (shape->bias < 0 || shape->bias_dtype != PS_F64 || shape->dtype == PS_F64)
        return true;
    return fault(problems, ps_values_get(stage->options, "bias")->place, stage->place,
                 "the bias is f64 but the product is computed in f32: convert the bias with a "
                 "map of `dtype: f32`, or set `precision: f64`");
}

static void matmul_unplan(struct ps_stage *stage)
{
    free(stage->detail);
    stage->detail = NULL;
}

static bool matmul_plan(struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_problems *problems)
{
    struct ps_matmul_shape *shape = calloc(1, sizeof *shape);
    const struct ps_value *with_value = ps_values_get(stage->options, "with");
    stage->detail = shape;
    if (shape == NULL)
        return fault(problems, stage->place, stage->place, "out of memory");
    shape->transpose = ps_values_get(stage->options, "transpose")->truth;
    shape->activation =
        (enum ps_matmul_activation)ps_values_get(stage->options, "activation")->choice;
    shape->engine =
        ps_values_get(stage->options, "engine")->choice == 2 ? PS_MATMUL_TILED : PS_MATMUL_LIBRARY;
    shape->in = ps_stage_use_in(stage, scope, problems);
    if (!with_value->given) // reported as missing
        return false;
    shape->with = ps_stage_use(stage, scope, with_value->text, with_value->place, problems);
    if (shape->in < 0 || shape->with < 0)
        return false;
    const struct ps_port *in = ps_stage_input(stage, scope, shape->in);
    const struct ps_port *with = ps_stage_input(stage, scope, shape->with);
    struct ps_place in_place = ps_values_get(stage->options, "in")->place;
    if (!check_float(in, in_place.line > 0 ? in_place : stage->place, problems) ||
        !check_float(with, with_value->place, problems) ||
        !check_with(stage, in, with, shape, problems) ||
        !check_bias(stage, scope, shape, with->array.rank, problems))
        return false;
    shape->in_dtype = in->array.dtype;
    shape->with_dtype = with->array.dtype;
    if (!choose_dtype(stage, shape, problems))
        return false;
    fill_output(stage, in, shape);
    return true;
}

int64_t ps_matmul_tile_rows(const struct ps_matmul_shape *shape, enum ps_backend_id backend)
{
    int64_t bytes = (shape->k + shape->n + 1) * (int64_t)ps_dtype_bytes(shape->dtype);
    int64_t panel = backend == PS_CUDA ? 16 << 20 : 512 << 10,
            most = backend == PS_CUDA ? 4096 : 256;
    int64_t rows = panel / bytes / 64 * 64;
    return rows < 64 ? 64 : rows > most ? most : rows;
}

static void matmul_release(struct ps_program *program)
{
#if PS_HAVE_CUDA
    if (program->cuda != NULL)
        ps_matmul_cuda_release(program);
#endif
    free(program);
}

static bool matmul_compile(const struct ps_step *step, struct ps_device *device,
                           struct ps_program **program_out, struct ps_error *error)
{
    const struct ps_stage *stage = step->stages[0];
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "a matmul");
    program->shape = *(const struct ps_matmul_shape *)stage->detail;
    program->device = device;
    program->in = ps_step_input(step, step->ports[stage->inputs[program->shape.in]].name);
    program->with = ps_step_input(step, step->ports[stage->inputs[program->shape.with]].name);
    program->bias = program->shape.bias < 0
                        ? -1
                        : ps_step_input(step, step->ports[stage->inputs[program->shape.bias]].name);
#if PS_HAVE_CUDA
    if (device->backend->id == PS_CUDA && !ps_matmul_cuda_compile(program, error)) {
        matmul_release(program);
        return false;
    }
#endif
    *program_out = program;
    return true;
}

static size_t matmul_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    const struct ps_matmul_shape *shape = step->stages[0]->detail;
#if PS_HAVE_CUDA
    if (backend == PS_CUDA)
        return ps_matmul_cuda_scratch(shape, rows);
#endif
    (void)backend;
    (void)rows;
    return ps_matmul_cpu_scratch(shape);
}

const struct ps_stage_type ps_stage_matmul = {
    .name = "matmul",
    .help = "Multiplies every row by a matrix, with bias and activation; added up in the result's "
            "dtype, which `precision` tells",
    .options = options,
    .plan = matmul_plan,
    .unplan = matmul_unplan,
    .compile = matmul_compile,
    .release = matmul_release,
    .run = {[PS_CPU] = ps_matmul_cpu_run,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_matmul_cuda_run
#endif
    },
    .scratch_bytes = matmul_scratch,
#if PS_HAVE_CUDA
    .kernels = ps_matmul_cuda_kernels,
#endif
};
