// SPDX-License-Identifier: Apache-2.0
// The map stage inside: typed instructions on registers, and how arrays are addressed.
//
// A register holds one value per element of the output. Its dtype is any but f16: half values are
// computed as f32 and rounded once, where they are stored (or by an explicit cast).
#ifndef PS_KERNELS_MAP_MAP_H
#define PS_KERNELS_MAP_MAP_H

#include "kernels/map/map_parts.h"
#include "kernels/stage.h"

// How element i of row r of the output finds its value in an array:
//   data[offset + r * row_stride + sum over axes of index * strides[axis]]
enum ps_access_mode {
    PS_ACCESS_SAME,   // streamed, same shape as the output row: data[r * elements + i]
    PS_ACCESS_ROW,    // whole, same shape as the output row: data[offset + i]
    PS_ACCESS_SCALAR, // one value per row or in all: data[offset + r * row_stride]
    PS_ACCESS_GENERAL,
    PS_ACCESS_TABLE, // of a whole array, `count` elements read by number: data[offset + k *
                     // strides[0]]
};

struct ps_leaf {
    int port;
    enum ps_dtype dtype; // of the array, may be f16
    enum ps_access_mode mode;
    int64_t offset, row_stride;
    int64_t strides[PS_RANK_MAX]; // per axis of the output row; 0 where broadcast
    int64_t count;                // TABLE
};

struct ps_instruction {
    enum ps_map_op op;
    enum ps_dtype dtype;  // of the arguments' registers (CAST: from; LOAD: the array's)
    enum ps_dtype result; // of the result's register
    // Registers (instructions). LOAD: a is the leaf. INDEX: a is the axis of the output row, -1 for
    // the number of the row itself. LOOKUP: a is the index, b the leaf. INTERP: a is x, b and c are
    // the leaves of the points' places and values.
    int a, b, c;
    bool checked;     // what does not fit the result is a fault
    const char *text; // of the option it comes from, and where in it (characters): for messages
    int start, length;
    union { // CONST, by result dtype
        int64_t integer;
        uint64_t natural;
        double number;
    };
};

struct ps_code {
    struct ps_instruction *list;
    int count, capacity;
    struct ps_leaf *leaves;
    int leaf_count;
};
// Appends; -1 when out of memory. Equal LOADs, CONSTs and CASTs are shared.
int ps_code_add(struct ps_code *code, struct ps_instruction instruction);
int ps_code_add_leaf(struct ps_code *code, const struct ps_leaf *leaf);
void ps_code_free(struct ps_code *code);

// What plan() keeps in stage->detail.
struct ps_map_detail {
    struct ps_code code;
    int result;   // register
    int row_rank; // of the output row (whole stages: of the whole output)
    int64_t row_dims[PS_RANK_MAX];
};

// Types a stage's texts. Faults are reported at their place in the config. Fills in the stage's
// output part and *detail.
bool ps_map_type(struct ps_stage *stage, const struct ps_scope *scope, struct ps_map_parts *parts,
                 struct ps_map_detail *detail, struct ps_problems *problems);

// A fused step as one program.
struct ps_map_store {
    int register_index;
    enum ps_dtype dtype; // of the array in memory
};
struct ps_program {
    const struct ps_backend *backend;
    struct ps_code code;
    int input_count;  // of the step
    int *leaf_inputs; // per leaf: position in step->inputs
    bool whole;       // nothing is streamed: the one row is all of the result
    bool checks;      // some instruction can find faults in the data
    int store_count;  // = step->output_count
    struct ps_map_store *stores;
    int row_rank;
    int64_t row_dims[PS_RANK_MAX];
    int64_t row_elements;
    void *cpu;  // kernels/map/map_cpu.c's own
    void *cuda; // kernels/map/map_cuda.c's own
};
// Everything but the backend's part, into a zeroed program. What it made is freed by
// ps_map_unlink, also after a failure.
bool ps_map_link(const struct ps_step *step, struct ps_program *program, struct ps_error *error);
void ps_map_unlink(struct ps_program *program);

// The first fault that a launch found, in launch->check. Elements are those of the launch, in
// order.
struct ps_map_note {
    uint64_t key;      // 0: none; else UINT64_MAX - (element * instructions + instruction)
    int64_t first_row; // of the launch
    uint64_t a, b;     // values of the arguments; floats as f64
    uint32_t lock, unused;
};
// Whether an instruction can find a fault. Loads of whole arrays are those of code's leaves.
bool ps_map_can_fail(const struct ps_code *code, const struct ps_instruction *instruction);
size_t ps_map_check_bytes(const struct ps_step *step);
bool ps_map_check(const struct ps_program *program, const void *noted, struct ps_error *error);

bool ps_map_cpu_compile(struct ps_program *program, struct ps_error *error);
void ps_map_cpu_release(struct ps_program *program);
bool ps_map_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error);
// Bytes of scratch that a launch of any size needs; SIZE_MAX when there is no memory to find out.
size_t ps_map_cpu_scratch(const struct ps_step *step);

// CUDA C of the kernel "ps_map" for a linked program. Its arguments: a pointer per input and per
// store, then the number of elements (long long), then how many groups of ps_map_group elements
// are done with loads and stores of up to 16 bytes (0 when an array is not aligned to 16 bytes),
// the launch's first row (long long) and, if the program checks, the note.
bool ps_map_source(const struct ps_program *program, struct ps_text *out);
int ps_map_group(const struct ps_program *program);
// Its parts that are about whole arrays and faults (map_source_tables.c): definitions before the
// kernel, the value of a LOOKUP, the check of instruction n at element e, those before the loops.
void ps_map_print_tables(const struct ps_program *program, struct ps_text *out);
void ps_map_print_lookup(const struct ps_program *program, const struct ps_instruction *i,
                         struct ps_text *out);
void ps_map_print_check(const struct ps_program *program, int n, const char *indent,
                        struct ps_text *out);
void ps_map_print_place_checks(const struct ps_program *program, struct ps_text *out);
extern const char *const ps_map_nvrtc_options[]; // it is compiled with
#define PS_MAP_CUDA_INSTRUCTIONS_MAX 8000        // a compiler takes seconds; twice that, a minute
bool ps_map_cuda_compile(struct ps_program *program, struct ps_device *device,
                         struct ps_error *error);
void ps_map_cuda_release(struct ps_program *program);
bool ps_map_cuda_run(const struct ps_program *program, const struct ps_launch *launch,
                     struct ps_error *error);
int ps_map_cuda_kernels(const struct ps_program *program, struct ps_kernel_info *infos, int max);

#endif
