// SPDX-License-Identifier: Apache-2.0
// A stage type is one row: its options, what it makes out of its inputs, and how it runs on each
// backend. New stage = one new folder (NAME.c, NAME_cpu.c, NAME.cu) ending in its row, and one
// line in kernels/stages.c.
//
// Life of a stage: plan() agrees shapes and dtypes before data flows; the pipeline groups stages
// into steps (one step = one stage, or several fused ones); compile() turns a step into a program
// for one backend; run() enqueues the program for one block; a reduction's states are merged and
// finished on the host at the end of the pass.
#ifndef PS_KERNELS_STAGE_H
#define PS_KERNELS_STAGE_H

#include "base/array.h"
#include "base/option.h"
#include "kernels/backend.h"
#include "kernels/row_rule.h"

#define PS_STAGE_INPUTS_MAX 16
#define PS_PHASES_MAX 8
#define PS_LAUNCH_ARRAYS_MAX 64 // that one (fused) step reads, and writes

// An array that a stage can name: an input, or the result of an earlier stage.
struct ps_port {
    const char *name;
    struct ps_array array; // of a stream: dims[0] is its rows (maybe PS_ROWS_UNKNOWN)
    bool streamed;         // arrives block by block; else whole and resident on the device
    bool failed;           // its plan failed: who needs it stops without a further message
    bool hidden;           // of an earlier phase of a stage: no config can name it
};

// What plan() sees: everything defined before the stage.
struct ps_scope {
    const struct ps_port *ports;
    int count;
    int previous; // the stage before (or the only input): what a missing `in` means; -1: none
};

struct ps_axis_source {
    int port, axis;
};

struct ps_stage {
    const struct ps_stage_type *type;
    const char *name;
    int port;                        // the position its result takes in scope->ports
    int phase;                       // 0, or which of type->phases() stages this is
    struct ps_place place;           // of the stage's mapping in the config
    const struct ps_values *options; // of type->options
    const struct ps_source *sources; // the texts that places refer to; NULL: not of a config
    const char *folder;              // where the config's relative paths start; may be NULL
    // Filled in by plan():
    int input_count;
    int inputs[PS_STAGE_INPUTS_MAX]; // positions in scope->ports, distinct
    struct ps_array output;          // owned
    // What the axes of the output are: an axis of an array of scope->ports, or of none (port -1).
    // Not filled in where nothing survives.
    struct ps_axis_source axes[PS_RANK_MAX];
    bool elementwise;        // element for element of an array of the same shape
    bool streamed;           // the output comes block by block
    bool reduces_rows;       // the output is whole and complete only at the end of the pass
    struct ps_row_rule rows; // one to one unless plan() says otherwise; of streamed outputs
    // Rows of the one launch when no input is streamed (map: 1, whole shape as one row).
    int64_t whole_rows;
    void *detail; // the type's own; freed by type->unplan
};

// Stages that run as one program.
struct ps_step {
    const struct ps_stage_type *type;
    const struct ps_port *ports; // all arrays of the job: what stage->inputs and ->port index
    int stage_count;
    struct ps_stage **stages; // in order; later ones may read earlier ones
    int input_count;          // distinct arrays from outside the step
    const struct ps_port **inputs;
    int output_count; // stages whose result is wanted outside the step
    struct ps_stage **outputs;
};

struct ps_program; // a type's own, made by compile

// One block through one program. All pointers are device memory.
struct ps_launch {
    struct ps_queue *queue;
    int64_t first_row; // of the output, absolute
    int64_t rows;      // >= 0; 0 must do nothing and succeed
    // The input rows that are there: those that the output rows need by stage->rows and that
    // exist. One to one without rows before and after: first_row and rows again.
    int64_t in_first, in_rows;
    bool at_end;               // no input row follows these
    const void *const *inputs; // as step->inputs; streamed: from row in_first on; whole: all of it
    void *const *outputs;      // as step->outputs; streamed ones only (NULL for reduces_rows)
    void *state;               // this slot's state (reductions) or the carry, else NULL
    int64_t *rows_out;         // of chosen rows: how many were made; else NULL
    void *scratch;             // scratch_bytes of it, else NULL
    void *check;               // check_bytes, all-zero, else NULL
};

struct ps_stage_type {
    const char *name;
    const char *help;
    const struct ps_option *options;
    // For a stage that needs several walks over the data (quantile, pca): how many stages it is
    // planned as, at most PS_PHASES_MAX; 0 after reporting a fault. Each phase is a stage of this
    // type with a plan, detail and port of its own; only the last one's port has the stage's name.
    // `stage` has its options and nothing planned. NULL: 1.
    int (*phases)(const struct ps_stage *stage, const struct ps_scope *scope,
                  struct ps_problems *problems);
    // A phase that is a stage of another type, such as the map of a condition: that type and its
    // options, which the plan frees. NULL (or no such row): the phase is of this type with the
    // stage's options. What fails is reported.
    const struct ps_stage_type *(*phase_as)(const struct ps_stage *stage, int phase,
                                            struct ps_values *options_out,
                                            struct ps_problems *problems);
    // Fills in the output part of *stage; reports every fault with its place. False when any.
    bool (*plan)(struct ps_stage *stage, const struct ps_scope *scope,
                 struct ps_problems *problems);
    void (*unplan)(struct ps_stage *stage);
    // Whether this very stage can run on a backend that the type has a run[] for; else `why` says
    // what it lacks, and what to do. NULL: always.
    bool (*offered)(const struct ps_stage *stage, enum ps_backend_id backend, char *why,
                    size_t why_size);
    // Whether the stage may run in the same step as the ones before it (same type, same shape of a
    // row). NULL: never.
    bool (*joins)(const struct ps_step *step, const struct ps_stage *stage);
    bool (*compile)(const struct ps_step *step, struct ps_device *device,
                    struct ps_program **program_out, struct ps_error *error);
    void (*release)(struct ps_program *program);
    // Only enqueues: neither waits nor allocates (the cpu backend may compute at once).
    // NULL: not offered on that backend.
    bool (*run[PS_BACKEND_COUNT])(const struct ps_program *program, const struct ps_launch *launch,
                                  struct ps_error *error);
    // Device bytes that a launch of `rows` rows needs besides inputs and outputs. May be NULL: 0.
    size_t (*scratch_bytes)(const struct ps_step *step, enum ps_backend_id backend, int64_t rows);
    // Bytes of launch->state of an ordered stage; all-zero before the first block. May be NULL: 0.
    size_t (*carry_bytes)(const struct ps_step *step);
    // For faults that only the data has, such as an integer overflow that the job asked to be told:
    // the launch notes the first one (the least row, whatever the order of its threads) in
    // launch->check; when the block is done, check() tells from those bytes, in host memory,
    // whether there was one, and fails the job with what and where. All NULL, or 0 bytes: none of
    // it is kept, cleared or copied.
    size_t (*check_bytes)(const struct ps_step *step);
    bool (*check)(const struct ps_program *program, const void *noted, struct ps_error *error);
    // Up to max infos of the program's kernels; returns how many there are. May be NULL.
    int (*kernels)(const struct ps_program *program, struct ps_kernel_info *infos_out, int max);
    // NULL for stages that keep no state.
    const struct ps_stage_reduction *reduction;
};

// Stages with reduces_rows. State is plain bytes without pointers, the same layout on both
// backends; all-zero bytes are the empty state. Any order of merging gives the same result bits.
struct ps_stage_reduction {
    size_t (*state_bytes)(const struct ps_step *step);
    void (*merge)(const struct ps_step *step, void *into, const void *from);
    // The one output (of step->stages[0]) out of a merged state, both in host memory.
    bool (*finish)(const struct ps_step *step, const void *state, void *output,
                   struct ps_error *error);
};

// NULL-terminated list of all stage types.
extern const struct ps_stage_type *const ps_stage_types[];
const struct ps_stage_type *ps_stage_type_find(const char *name);

// ---- Helpers for plan() ----
// The port called name, recorded as an input of the stage. -1 after reporting "no array ... did
// you mean ..." at place, or silently when the port failed. Returns the position in
// stage->inputs, not in scope->ports.
int ps_stage_use(struct ps_stage *stage, const struct ps_scope *scope, const char *name,
                 struct ps_place place, struct ps_problems *problems);
// Likewise for the value of `in`, with the stage before as its default.
int ps_stage_use_in(struct ps_stage *stage, const struct ps_scope *scope,
                    struct ps_problems *problems);
// The result of an earlier phase of the same stage. Returns its position in stage->inputs; -1 when
// the stage has too many inputs, after reporting.
int ps_stage_use_phase(struct ps_stage *stage, int phase, struct ps_problems *problems);
const struct ps_port *ps_stage_input(const struct ps_stage *stage, const struct ps_scope *scope,
                                     int position);
// Position in step->inputs of the port / in step->outputs of the stage; -1: not there.
int ps_step_input(const struct ps_step *step, const char *name);
int ps_step_output(const struct ps_step *step, const struct ps_stage *stage);

#endif
