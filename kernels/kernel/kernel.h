// SPDX-License-Identifier: Apache-2.0
// The stage kernel inside: what the user declared, the text that is compiled, the cpu twin.
//
// A kernel is a function of the user's own with this signature, in CUDA C as in the C of its twin:
//   NAME(const T *input..., T *out, long long rows, long long first_row, P param...)
// Streamed inputs and out begin at row first_row and have `rows` rows; whole inputs are all there.
#ifndef PS_KERNELS_KERNEL_KERNEL_H
#define PS_KERNELS_KERNEL_KERNEL_H

#include "kernels/kernel/guard.h"
#include "kernels/stage.h"

#define PS_KERNEL_PARAMS_MAX 32

enum ps_kernel_launch { PS_THREAD_PER_ELEMENT, PS_THREAD_PER_ROW, PS_BLOCK_PER_ROW };
enum ps_kernel_twin { PS_TWIN_NONE, PS_TWIN_C, PS_TWIN_EXPR };

struct ps_kernel_code { // the user's text
    char *text;         // owned
    char *file;         // owned: what messages call it
    int line;           // of its first line there
    char *folder;       // owned: where #include "..." of the twin looks; may be NULL
};

struct ps_kernel_input {
    char *name; // owned
    enum ps_dtype dtype;
    int64_t row_elements, rows; // rows -1: streamed
};

struct ps_kernel_param {
    const char *name;    // the options'
    enum ps_dtype dtype; // f64, f32, i64 or i32
    union {
        double f64;
        float f32;
        long long i64;
        int i32;
    };
};

struct ps_kernel { // kept in stage->detail
    const char *stage, *function;
    struct ps_kernel_code cuda, c;
    int input_count, param_count;
    struct ps_kernel_input inputs[PS_STAGE_INPUTS_MAX]; // as stage->inputs
    struct ps_kernel_param params[PS_KERNEL_PARAMS_MAX];
    enum ps_dtype out_dtype;
    int64_t out_row_elements;
    enum ps_kernel_launch launch;
    int threads; // per block; 0: run.cuda.threads, or by occupancy
    size_t shared_bytes;
    bool guard;
    enum ps_kernel_twin twin;
    // PS_TWIN_EXPR: a map stage, planned beside this one, that computes the same output.
    struct ps_stage map;
    struct ps_values map_options;
};

// ---- Texts (kernel_source.c) ----
// "__global__ void scale(const float *a, float *out, long long rows, ...)"; cuda false: without
// __global__.
void ps_kernel_signature(const struct ps_kernel *kernel, bool cuda, struct ps_text *out);
// The function among those of its name (CUDA has its own `norm`): "(void (*)(...))&norm".
void ps_kernel_expression(const struct ps_kernel *kernel, struct ps_text *out);
// The user's CUDA C with what it may use before it and the check of its signature behind it. Lines
// of the user's own keep their file and number in the compiler's messages.
bool ps_kernel_cuda_source(const struct ps_kernel *kernel, struct ps_text *out);
// Likewise the twin, with two functions behind it: ps_twin_begin and ps_twin_run, see below.
bool ps_kernel_c_source(const struct ps_kernel *kernel, struct ps_text *out);
// The value of a parameter, as its type.
const void *ps_kernel_param_value(const struct ps_kernel_param *param);

// ---- The twin in C (kernel_twin.c) ----
struct ps_twin {
    void *library; // NULL: not open
    void (*run)(const void *const *inputs, void *out, long long rows, long long first_row,
                const void *const *params);
};
// Compiled with $CC or cc, in a folder of its own that is removed again. PS_USAGE with the
// compiler's messages when the text is wrong, PS_DEVICE when there is no compiler.
bool ps_twin_open(const struct ps_kernel *kernel, struct ps_twin *twin, struct ps_error *error);
void ps_twin_close(struct ps_twin *twin);

// ---- The program ----
struct ps_program {
    const struct ps_kernel *kernel;
    struct ps_device *device;
    int inputs[PS_STAGE_INPUTS_MAX]; // positions in step->inputs
    struct ps_twin twin;
    struct ps_program *map; // of PS_TWIN_EXPR: the map's own
    void *cuda;             // kernel_cuda.c's own
};
bool ps_kernel_cuda_compile(struct ps_program *program, struct ps_error *error);
void ps_kernel_cuda_release(struct ps_program *program);
bool ps_kernel_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                        struct ps_error *error);
int ps_kernel_cuda_kernels(const struct ps_program *program, struct ps_kernel_info *infos, int max);
bool ps_kernel_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error);

// What the output of a launch is, for the guard's messages.
struct ps_guard_output ps_kernel_guard_output(const struct ps_kernel *kernel,
                                              const struct ps_launch *launch, size_t bytes);

// ---- Planning (kernel.c, kernel_arrays.c, kernel_options.c) ----
// All report faults. The arrays first, then what refers to them.
bool ps_kernel_use_inputs(struct ps_stage *stage, const struct ps_scope *scope,
                          struct ps_kernel *kernel, struct ps_problems *problems);
bool ps_kernel_make_output(struct ps_stage *stage, const struct ps_scope *scope,
                           struct ps_kernel *kernel, struct ps_problems *problems);
bool ps_kernel_read_code(const struct ps_stage *stage, struct ps_kernel *kernel,
                         struct ps_problems *problems);
bool ps_kernel_read_params(const struct ps_stage *stage, struct ps_kernel *kernel,
                           struct ps_problems *problems);
// Plans kernel->map out of `cpu_expr`.
bool ps_kernel_plan_map(const struct ps_stage *stage, const struct ps_scope *scope,
                        struct ps_kernel *kernel, struct ps_problems *problems);

#endif
