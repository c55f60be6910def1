// SPDX-License-Identifier: Apache-2.0
// The plan: what a config means once its inputs' headers are known. Arrays with shapes, passes
// over the inputs, steps in each pass, block and slot sizes. Moves no data.
//
// A pass is one walk over the streamed inputs. A stage that uses the result of a reduction over
// rows belongs to a later pass; what it needs besides is computed again there. Steps whose inputs
// are all whole run once, before the blocks of the first pass in which their inputs are ready.
#ifndef PS_PIPELINE_PLAN_H
#define PS_PIPELINE_PLAN_H

#include "pipeline/config.h"

struct ps_plan_step {
    struct ps_step step;
    char label[96];    // names of its stages: "clean+scaled"
    int *input_ports;  // step.input_count of them
    int *output_ports; // step.output_count of them
    bool whole;        // no streamed input: one launch of whole_rows rows
    int64_t whole_rows;
    bool reduces; // keeps a state per slot; its one output is whole
};

struct ps_pass {
    int input_count;
    int *inputs; // streamed inputs that are read, as ports
    int step_count;
    struct ps_plan_step *steps; // whole ones first, then in config order
    int whole_count;
    int write_count;
    int *writes; // positions in plan->outputs that are written block by block here
    int keep_count;
    int *keeps; // streamed stage ports copied back to the host (written, or compared)
    // Per port: rows at hand before and after a block's own ones, for the stages that need them.
    int64_t *before, *after;
};

// Streamed arrays of one domain go row by row together. Domain 0 are the rows of the inputs; a
// stage that leaves out or repeats rows begins a new one.
struct ps_domain {
    int parent;
    const struct ps_stage *stage; // NULL for domain 0
    int64_t rows;                 // PS_ROWS_UNKNOWN until the end of a pass that walked over it
};

// Where an input lies between the passes that read it. On the cpu backend all is host memory.
enum ps_keep { PS_KEEP_NOWHERE, PS_KEEP_DEVICE, PS_KEEP_HOST };

struct ps_plan_output {
    const struct ps_config_output *config;
    int port;
    bool streamed;
    int shares; // the earlier output whose file it is a part of, or -1
    struct ps_output_spec spec;
};

struct ps_plan {
    const struct ps_config *config;
    int input_count; // ports [0, input_count) are inputs, then stages in config order
    int port_count;
    struct ps_port *ports;
    struct ps_reader *readers;       // one per input
    struct ps_stage *stages;         // one per config stage and phase
    struct ps_values *phase_options; // per stage: of a phase that has options of its own
    bool *needed;                    // per port: an output or something needed depends on it
    int *pass_of; // per port: streamed: its pass; whole: the first pass it is ready in
    int domain_count;
    struct ps_domain *domains;
    int *domain_of; // per port that is streamed
    int output_count;
    struct ps_plan_output *outputs;
    const char **input_paths; // for ps_output_spec
    int pass_count;
    struct ps_pass *passes;
    struct ps_text provenance;
    bool compare;

    // Set by ps_plan_backend and ps_plan_size:
    enum ps_backend_id backend;
    char reason[400]; // why this backend
    int slots;
    int threads; // that read, and on the cpu that compute
    int64_t block_rows;
    int64_t rows; // of the streamed inputs; PS_ROWS_UNKNOWN; 0 when there are none
    uint64_t host_bytes, device_bytes; // promised
    uint64_t host_limit, device_limit;
    // Inputs that are kept in memory after the first pass that reads them (plan_keep.c):
    enum ps_keep *keep; // per input
    int *kept_from;     // per input: that pass
    int64_t kept_rows;  // each has room for so many rows; fewer than there are only where rows is
                        // PS_ROWS_UNKNOWN, then the file is read again
    bool kept_known;    // the rows were known
    uint64_t kept_host_bytes, kept_device_bytes; // part of the above
    uint64_t whole_bytes, state_bytes;           // part of the above: whole arrays, all states
};

// Opens the inputs and agrees everything that does not depend on the backend. Faults go to
// problems (status PS_USAGE or PS_INPUT); NULL only when out of memory.
struct ps_plan *ps_plan_make(const struct ps_config *config, struct ps_problems *problems);
void ps_plan_free(struct ps_plan *plan);

// Chooses the backend from run.backend, the stages and the machine; fills in `reason`.
bool ps_plan_backend(struct ps_plan *plan, struct ps_error *error);
// Block rows, slots and bytes, within run.memory and the device's free memory (0 for cpu).
bool ps_plan_size(struct ps_plan *plan, uint64_t device_free, struct ps_error *error);
// Whether pass `pass` (from 0) finds the input in memory, if all its rows had room.
bool ps_plan_finds_kept(const struct ps_plan *plan, int pass, int port);
const char *ps_keep_name(enum ps_keep keep); // "device memory"
void ps_plan_print(const struct ps_plan *plan, struct ps_text *out);

// Where everything of one slot lies during a pass, for blocks of `rows` rows.
struct ps_layout {
    size_t *host;   // per port: offset in the slot's host memory; SIZE_MAX: not there
    size_t *device; // per port: offset in the slot's device memory
    size_t *state;  // per step: offset of its state in device memory
    size_t
        *tail; // per port made by an ordered stage: offset of the rows kept before the next block
    size_t count; // offset in device and (count_host) host memory of a number of rows
    size_t count_host;
    size_t *check;      // per step: offset in device memory of what it notes of its faults
    size_t *check_host; // and in host memory
    size_t scratch;     // offset in device memory
    size_t host_bytes, device_bytes, state_bytes;
};
bool ps_layout_make(const struct ps_plan *plan, const struct ps_pass *pass,
                    enum ps_backend_id backend, bool unified, int64_t rows,
                    struct ps_layout *layout_out, struct ps_error *error);
void ps_layout_free(struct ps_layout *layout);

#endif
