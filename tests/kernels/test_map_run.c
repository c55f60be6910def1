// SPDX-License-Identifier: Apache-2.0
// The cpu's map running: broadcasting, fused stages, registers used again, several threads.
#include "map_shapes.h"

#include <math.h>
#include <pthread.h>

static void broadcasting(void)
{
    struct ps_device *device = mj_open(PS_CPU);
    ms_check_all(device);
    device->backend->close(device);
}

// Constants and columns share scratch with registers that come and go.
static void registers_are_not_mixed_up(void)
{
    enum { ROWS = 3000 };
    static double t[ROWS][3];
    static float x[ROWS];
    static uint16_t h[ROWS];
    for (int i = 0; i < ROWS; i++) {
        t[i][0] = i, t[i][1] = 0.5 * i, t[i][2] = -i;
        x[i] = (float)(i % 100);
        h[i] = ps_f32_to_f16((float)(i % 50));
    }
    struct map_job job = {0};
    mj_port(&job, "t", PS_F64, true, t, 2, ROWS, 3);
    mj_port(&job, "x", PS_F32, true, x, 1, ROWS);
    mj_port(&job, "h", PS_F16, true, h, 1, ROWS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(
        mj_stage(&job, "y", "(t[0] + t[1]) * 2 + (t[2] - 3) * (t[0] + 4) - (t[1] + t[2]) * 5 + 7"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "z", "where(y > 0, y, t[1]) + x * 3 + h"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "w", "h * 2 + x"));
    CU_ASSERT_TRUE_FATAL(mj_run(&job, ROWS));
    int wrong = 0;
    for (int i = 0; i < ROWS; i++) {
        double *r = t[i], y = (r[0] + r[1]) * 2 + (r[2] - 3) * (r[0] + 4) - (r[1] + r[2]) * 5 + 7;
        double z = (y > 0 ? y : r[1]) + (double)(x[i] * 3) + (double)(i % 50);
        float w = (float)(i % 50) * 2 + x[i];
        wrong += ((double *)job.results[0])[i] != y || ((double *)job.results[1])[i] != z ||
                 ((float *)job.results[2])[i] != w;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    mj_free(&job);
}

// A half result is rounded where a later stage reads it, as if it had been stored in between.
static void fused_halves_are_rounded(void)
{
    uint16_t h[64], third;
    for (int i = 0; i < 64; i++)
        h[i] = ps_f32_to_f16((float)i);
    struct map_job job = {0};
    mj_port(&job, "h", PS_F16, true, h, 1, 64);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "h / 3"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "z", "f32(y) * 3"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "w", "f32(h / 3) * 3"));
    CU_ASSERT_TRUE_FATAL(mj_run(&job, 64));
    int wrong = 0, unlike = 0;
    for (int i = 0; i < 64; i++) {
        third = ps_f32_to_f16((float)i / 3);
        wrong += ((uint16_t *)job.results[0])[i] != third ||
                 ((float *)job.results[1])[i] != ps_f16_to_f32(third) * 3;
        unlike += ((float *)job.results[1])[i] != ((float *)job.results[2])[i];
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(unlike > 0); // within one expression halves stay f32
    mj_free(&job);
}

static void one_result_stored_twice(void)
{
    float x[5] = {1, 2, 3, 4, 5};
    struct map_job job = {0};
    mj_port(&job, "x", PS_F32, true, x, 1, 5);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "x + 1"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "z", "y"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "w", "x"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage_with(&job, "v", "z", "f16", NULL));
    CU_ASSERT_TRUE_FATAL(mj_run(&job, 5));
    for (int i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(((float *)job.results[0])[i], x[i] + 1);
        CU_ASSERT_EQUAL(((float *)job.results[1])[i], x[i] + 1);
        CU_ASSERT_EQUAL(((float *)job.results[2])[i], x[i]);
        CU_ASSERT_EQUAL(ps_f16_to_f32(((uint16_t *)job.results[3])[i]), x[i] + 1);
    }
    mj_free(&job);
}

// What joins() must refuse: a stage that reads an earlier one of the step otherwise than element
// by element.
static void only_elementwise_stages_join(void)
{
    struct map_job job = {0};
    mj_port(&job, "x", PS_F32, true, "", 2, 8, 3);
    struct ps_stage *y = mj_stage(&job, "y", "x + 1"), *z = mj_stage(&job, "z", "y * x");
    struct ps_stage *w = mj_stage(&job, "w", "x - y[1]");
    CU_ASSERT_TRUE_FATAL(y && z && w);
    struct mj_step s;
    mj_step(&job, &s);
    s.step.stage_count = 1;
    CU_ASSERT_TRUE(y->type->joins(&s.step, z));
    CU_ASSERT_FALSE(y->type->joins(&s.step, w));
    mj_free(&job);
}

// Negative exponents of integers: the integer part of the real power.
static void integer_powers(void)
{
    static const int64_t a[] = {0, 1, -1, -1, 2, -2, INT64_MIN, 7, 3};
    static const int64_t b[] = {-1, -5, -3, -4, -1, -2, -1, 0, 41};
    static const int64_t want[] = {0, 1, -1, 1, 0, 0, 0, 1, 0x1fa2b1fc5c6d3c33};
    struct map_job job = {0};
    mj_port(&job, "a", PS_I64, true, a, 1, 9);
    mj_port(&job, "b", PS_I64, true, b, 1, 9);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "a ** b"));
    CU_ASSERT_TRUE_FATAL(mj_run(&job, 9));
    uint64_t cube = 1;
    for (int i = 0; i < 41; i++)
        cube *= 3;
    for (int i = 0; i < 8; i++)
        CU_ASSERT_EQUAL(((int64_t *)job.results[0])[i], want[i]);
    CU_ASSERT_EQUAL(((uint64_t *)job.results[0])[8], cube);
    mj_free(&job);
}

// No contraction, denormals kept, division rounded correctly: known hard cases in f32.
static void ieee_arithmetic(void)
{
    float a[] = {0x1.000002p0f, 0x1p-149f, 1, 0x1p-126f}, b[] = {0x1.000002p0f, 0x1p-149f, 3, 2};
    float c[] = {-0x1.000004p0f, 0, 0, 0};
    struct map_job job = {0};
    mj_port(&job, "a", PS_F32, true, a, 1, 4);
    mj_port(&job, "b", PS_F32, true, b, 1, 4);
    mj_port(&job, "c", PS_F32, true, c, 1, 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "a * b + c"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "z", "a + b"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "w", "a / b"));
    CU_ASSERT_TRUE_FATAL(mj_run(&job, 4));
    const float *y = job.results[0], *z = job.results[1], *w = job.results[2];
    CU_ASSERT_EQUAL(y[0], 0); // an fma gives 2^-46
    CU_ASSERT_EQUAL(z[1], 0x1p-148f);
    CU_ASSERT_EQUAL(w[2], 0x1.555556p-2f);
    CU_ASSERT_EQUAL(w[3], 0x1p-127f);
    mj_free(&job);
}

// ---- One program, several threads ----

struct task {
    const struct ps_program *program;
    struct ps_launch launch;
    const void *input;
    void *output;
    pthread_t thread;
    bool fine;
};

static void *run_task(void *data)
{
    struct task *task = data;
    struct ps_error error = {0};
    task->fine = true;
    for (int i = 0; i < 20; i++)
        task->fine = task->fine && ps_map_cpu_run(task->program, &task->launch, &error);
    return NULL;
}

static void threads_share_a_program(void)
{
    enum { ROWS = 20000, THREADS = 4 };
    static float x[THREADS][ROWS], y[THREADS][ROWS];
    struct map_job job = {0};
    struct mj_step s;
    struct ps_program *program;
    struct task tasks[THREADS] = {0};
    for (int i = 0; i < THREADS * ROWS; i++)
        x[i / ROWS][i % ROWS] = (float)(i % 1000 - 500);
    mj_port(&job, "x", PS_F32, true, x, 1, ROWS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "sqrt(abs(2 * x + 1)) * (x < 3) - x / 7"));
    mj_step(&job, &s);
    struct ps_device *device = mj_open(PS_CPU);
    CU_ASSERT_TRUE_FATAL(s.step.type->compile(&s.step, device, &program, &job.error));
    for (int i = 0; i < THREADS; i++) {
        tasks[i].program = program;
        tasks[i].input = x[i];
        tasks[i].output = y[i];
        tasks[i].launch = (struct ps_launch){
            .rows = ROWS,
            .inputs = &tasks[i].input,
            .outputs = &tasks[i].output,
            .scratch = malloc(s.step.type->scratch_bytes(&s.step, PS_CPU, ROWS))};
        CU_ASSERT_EQUAL(pthread_create(&tasks[i].thread, NULL, run_task, &tasks[i]), 0);
    }
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(tasks[i].thread, NULL);
        CU_ASSERT_TRUE(tasks[i].fine);
        free(tasks[i].launch.scratch);
        for (int k = 0; k < ROWS; k++) {
            float v = x[i][k];
            wrong += y[i][k] != sqrtf(fabsf(2 * v + 1)) * (float)(v < 3) - v / 7;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    s.step.type->release(program);
    device->backend->close(device);
    mj_free(&job);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"broadcasting", broadcasting},
        {"registers are not mixed up", registers_are_not_mixed_up},
        {"fused halves are rounded", fused_halves_are_rounded},
        {"one result stored twice", one_result_stored_twice},
        {"only elementwise stages join", only_elementwise_stages_join},
        {"integer powers", integer_powers},
        {"IEEE arithmetic", ieee_arithmetic},
        {"threads share a program", threads_share_a_program},
        {NULL, NULL},
    };
    return check_main("map run", tests);
}
