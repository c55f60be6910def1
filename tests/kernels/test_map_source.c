// SPDX-License-Identifier: Apache-2.0
// The CUDA C that maps are turned into, without a GPU: the host's C++ compiler builds it with a
// handful of stand-ins for CUDA's words, a loop plays the threads, and NumPy judges the results.
// Skipped where there is no compiler (`c++`).
#include "map_kernels.h"
#include "map_tables.h"

#include <dlfcn.h>
#include <unistd.h>

static const char stand_ins[] =
    "#include <math.h>\n#include <string.h>\n"
    "#define __global__\n#define __align__(n) __attribute__((aligned(n)))\n"
    "#define PS_FN static inline\n"
    "struct dim { unsigned x; };\n"
    "extern \"C\" { dim gridDim, blockDim, blockIdx, threadIdx;\n"
    "float (*widen)(unsigned short); unsigned short (*narrow)(double); }\n"
    "static float ps_from_half(unsigned short h) { return widen(h); }\n"
    "static unsigned short ps_to_half(double x) { return narrow(x); }\n"
    "static unsigned atomicCAS(unsigned *p, unsigned a, unsigned b)\n"
    "{ unsigned old = *p; *p = old == a ? b : old; return old; }\n"
    "static unsigned atomicExch(unsigned *p, unsigned a) { unsigned old = *p; *p = a; return old; "
    "}\n"
    "static void __threadfence() {}\n"
    "static long long __double_as_longlong(double x) { long long b; memcpy(&b, &x, 8); return b; "
    "}\n"
    "static float __int_as_float(unsigned b) { float f; memcpy(&f, &b, 4); return f; }\n"
    "static double __longlong_as_double(long long b) { double f; memcpy(&f, &b, 8); return f; }\n";

static char folder[] = "/tmp/penstock-map-XXXXXX";

struct library {
    void *handle;
    unsigned *grid, *threads, *block, *thread;
};

static bool build(const struct ps_text *source, struct library *library)
{
    char path[64], object[64], command[256];
    snprintf(path, sizeof path, "%s/kernels.cc", folder);
    snprintf(object, sizeof object, "%s/kernels.so", folder);
    snprintf(command, sizeof command, "c++ -O0 -w -ffp-contract=off -fPIC -shared -o %s %s", object,
             path);
    FILE *file = fopen(path, "w");
    bool fine = file != NULL && fputs(source->data, file) >= 0;
    fine = file != NULL && fclose(file) == 0 && fine && system(command) == 0;
    library->handle = fine ? dlopen(object, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path);
    unlink(object);
    if (library->handle == NULL)
        return false;
    library->grid = dlsym(library->handle, "gridDim");
    library->threads = dlsym(library->handle, "blockDim");
    library->block = dlsym(library->handle, "blockIdx");
    library->thread = dlsym(library->handle, "threadIdx");
    *(float (**)(uint16_t))dlsym(library->handle, "widen") = ps_f16_to_f32;
    *(uint16_t(**)(double))dlsym(library->handle, "narrow") = ps_f64_to_f16;
    return true;
}

// Calls kernel(pointers..., n, groups, first, note). All arguments are words in integer registers
// and then on the stack, so that one call with enough of them serves any kernel.
static void call(void (*kernel)(void), void **p, int count, long long n, long long groups,
                 long long first, void *note)
{
    uintptr_t w[2 * 64 + 4] = {0};
    for (int i = 0; i < count; i++)
        w[i] = (uintptr_t)p[i];
    w[count] = (uintptr_t)n;
    w[count + 1] = (uintptr_t)groups;
    w[count + 2] = (uintptr_t)first;
    w[count + 3] = (uintptr_t)note;
#define W4(i) w[i], w[i + 1], w[i + 2], w[i + 3]
#define W16(i) W4(i), W4(i + 4), W4(i + 8), W4(i + 12)
#define W64(i) W16(i), W16(i + 16), W16(i + 32), W16(i + 48)
    ((void (*)(uintptr_t, ...))kernel)(W64(0), W64(64), W4(128));
}

// Rows [first_row, first_row + rows). As ps_map_cuda_run, with 3 blocks of 32 threads one after the
// other.
static bool play_from(const struct library *library, int number, struct map_job *job,
                      int64_t first_row, int64_t rows, bool grouped)
{
    struct mj_step s;
    struct ps_program program = {0};
    void *pointers[128];
    char name[32];
    int count = 0;
    struct ps_map_note note = {0};
    mj_step(job, &s);
    snprintf(name, sizeof name, "ps_map_%d", number);
    void (*kernel)(void);
    *(void **)&kernel = dlsym(library->handle, name);
    if (kernel == NULL || !ps_map_link(&s.step, &program, &job->error))
        return false;
    for (int i = 0; i < s.step.input_count; i++)
        pointers[count++] =
            (char *)(uintptr_t)job->data[s.inputs[i] - job->ports] +
            (s.inputs[i]->streamed ? (size_t)first_row * ps_array_row_bytes(&s.inputs[i]->array)
                                   : 0);
    for (int i = 0; i < job->stage_count; i++) {
        size_t bytes = mj_bytes(&job->ports[job->stages[i].port], rows);
        free(job->results[i]);
        job->results[i] = aligned_alloc(64, (bytes / 64 + 1) * 64);
        pointers[count++] = memset(job->results[i], 0xee, bytes + 1);
    }
    long long n = rows * program.row_elements;
    long long groups = grouped && ps_map_group(&program) > 1 ? n / ps_map_group(&program) : 0;
    *library->grid = 3;
    *library->threads = 32;
    for (*library->block = 0; *library->block < 3; ++*library->block)
        for (*library->thread = 0; *library->thread < 32; ++*library->thread)
            call(kernel, pointers, count, n, groups, first_row, &note);
    bool fine = ps_map_check(&program, &note, &job->error);
    for (int i = 0; i < job->stage_count; i++) { // not a byte past the end
        size_t bytes = mj_bytes(&job->ports[job->stages[i].port], rows);
        fine = fine && ((unsigned char *)job->results[i])[bytes] == 0xee;
    }
    ps_map_unlink(&program);
    return fine;
}

static bool play(const struct library *library, int number, struct map_job *job, int64_t rows,
                 bool grouped)
{
    return play_from(library, number, job, 0, rows, grouped);
}

#define BATCHES 40

static void generated_code_agrees_with_numpy(void)
{
    static struct map_batch batches[BATCHES];
    struct ps_text source = {0};
    struct library library = {0};
    int count = mk_batches(batches, BATCHES, 60, NULL), wrong = 0;
    ps_text_add(&source, stand_ins);
    for (int i = 0; i < count; i++)
        CU_ASSERT_TRUE_FATAL(mk_add(&batches[i].job, i, &source));
    CU_ASSERT_TRUE_FATAL(build(&source, &library));
    for (int i = 0; i < count; i++) {
        CU_ASSERT_TRUE(play(&library, i, &batches[i].job, MB_ROWS, true));
        wrong += mb_differences(&batches[i], 0);
        mb_free(&batches[i]);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    dlclose(library.handle);
    ps_text_free(&source);
}

static void generated_code_broadcasts(void)
{
    static struct map_job jobs[MS_CASES];
    struct ps_text source = {0};
    struct library library = {0};
    ps_text_add(&source, stand_ins);
    for (int i = 0; i < MS_CASES; i++) {
        CU_ASSERT_TRUE_FATAL(ms_make(&jobs[i], &ms_cases[i], 5));
        CU_ASSERT_TRUE_FATAL(mk_add(&jobs[i], i, &source));
    }
    CU_ASSERT_TRUE_FATAL(build(&source, &library));
    for (int i = 0; i < MS_CASES; i++) {
        const struct ms_case *c = &ms_cases[i];
        CU_ASSERT_TRUE(
            play(&library, i, &jobs[i], c->a.streamed || c->b.streamed ? 5 : 1, i % 3 > 0));
        CU_ASSERT_EQUAL(ms_wrong(&jobs[i], c, 0, 5), 0);
        ms_free(&jobs[i]);
    }
    dlclose(library.handle);
    ps_text_free(&source);
}

// The same job on the cpu, whose results NumPy has judged (tests/cli/map.py): the same bits, and
// the same faults.
static void tables_and_faults_as_on_the_cpu(void)
{
    static struct map_job jobs[MT_CASES], again[MT_CASES];
    struct ps_text source = {0};
    struct library library = {0};
    ps_text_add(&source, stand_ins);
    for (int i = 0; i < MT_CASES; i++) {
        mt_make(&jobs[i], i);
        mt_make(&again[i], i);
        CU_ASSERT_TRUE_FATAL(mk_add(&jobs[i], i, &source));
    }
    CU_ASSERT_TRUE_FATAL(build(&source, &library));
    struct ps_device *cpu = mj_open(PS_CPU);
    for (int i = 0; i < MT_CASES; i++)
        for (int64_t first = 0; first < MT_ROWS; first += MT_ROWS / 2) {
            for (int grouped = 0; grouped < 2; grouped++) {
                jobs[i].error = again[i].error = (struct ps_error){0};
                bool fine = mj_run_on(&again[i], cpu, first, MT_ROWS / 2);
                bool played = play_from(&library, i, &jobs[i], first, MT_ROWS / 2, grouped);
                mt_compare(&jobs[i], played, &again[i], fine, i, first);
            }
        }
    cpu->backend->close(cpu);
    for (int i = 0; i < MT_CASES; i++) {
        mj_free(&jobs[i]);
        mj_free(&again[i]);
    }
    dlclose(library.handle);
    ps_text_free(&source);
}

static void groups_are_16_bytes(void)
{
    static const struct {
        enum ps_dtype dtype;
        int group;
    } cases[] = {{PS_U8, 16}, {PS_F16, 8}, {PS_F32, 4}, {PS_F64, 4}};
    for (int i = 0; i < 4; i++) {
        struct map_job job = {0};
        struct mj_step s;
        struct ps_program program = {0};
        mj_port(&job, "x", cases[i].dtype, true, "", 1, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(mj_stage(&job, "y", "x + 1"));
        mj_step(&job, &s);
        CU_ASSERT_TRUE_FATAL(ps_map_link(&s.step, &program, &job.error));
        CU_ASSERT_EQUAL(ps_map_group(&program), cases[i].group);
        ps_map_unlink(&program);
        mj_free(&job);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"generated code agrees with NumPy", generated_code_agrees_with_numpy},
        {"generated code broadcasts", generated_code_broadcasts},
        {"tables and faults as on the cpu", tables_and_faults_as_on_the_cpu},
        {"groups are 16 bytes", groups_are_16_bytes},
        {NULL, NULL},
    };
    if (system("c++ --version >/dev/null 2>&1") != 0) {
        printf("no c++ here: skipped\n");
        return PS_SKIP;
    }
    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    int result = check_main("map source", tests);
    rmdir(folder);
    return result;
}
