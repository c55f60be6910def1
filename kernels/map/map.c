// SPDX-License-Identifier: Apache-2.0
// The map stage: elementwise expressions. Planning, fusing and linking; each backend computes.
#include "kernels/map/map_shape.h"
#include "kernels/stages.h"

#include <stdlib.h>
#include <string.h>

static const struct ps_option options[] = {
    {.key = "expr",
     .kind = PS_TEXT,
     .required = true,
     .help = "The expression, over arrays, their columns and params"},
    {.key = "let",
     .kind = PS_TERMS,
     .help = "Expressions with a name each, computed once, for later ones and expr to use"},
    {.key = "params", .kind = PS_PARAMS, .help = "Numbers that the expression names"},
    {.key = "dtype",
     .kind = PS_DTYPE,
     .help = "Dtype of the result; the expression's own if unset"},
    {.key = "checked",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "Integers that do not fit their dtype, and division of integers by zero, are errors"},
    {0},
};

static void map_unplan(struct ps_stage *stage)
{
    struct ps_map_detail *detail = stage->detail;
    if (detail == NULL)
        return;
    ps_code_free(&detail->code);
    free(detail);
    stage->detail = NULL;
}

static bool map_plan(struct ps_stage *stage, const struct ps_scope *scope,
                     struct ps_problems *problems)
{
    struct ps_map_parts parts;
    if (!ps_map_parts_make(stage, scope, &parts, problems))
        return false;
    stage->detail = calloc(1, sizeof(struct ps_map_detail));
    bool fine = stage->detail != NULL && ps_map_type(stage, scope, &parts, stage->detail, problems);
    if (stage->detail == NULL)
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
    ps_map_parts_free(&parts);
    return fine;
}

// ---- Linking a step ----

static int find_stage(const struct ps_step *step, int port)
{
    for (int i = 0; i < step->stage_count; i++)
        if (step->stages[i]->port == port)
            return i;
    return -1;
}

// Whether the step's stages and this one read, and write, no more arrays than a launch can carry.
static bool within_limits(const struct ps_step *step, const struct ps_stage *stage)
{
    int ports[2 * PS_LAUNCH_ARRAYS_MAX], count = 0;
    for (int s = 0; s <= step->stage_count; s++) {
        const struct ps_stage *from = s < step->stage_count ? step->stages[s] : stage;
        for (int i = 0; i < from->input_count; i++) {
            int known = 0;
            while (known < count && ports[known] != from->inputs[i])
                known++;
            if (known == PS_LAUNCH_ARRAYS_MAX)
                return false;
            ports[known] = from->inputs[i];
            count = known == count ? count + 1 : count;
        }
    }
    return step->stage_count < PS_LAUNCH_ARRAYS_MAX;
}

// An earlier stage of the step is read from its register, so only element by element.
static bool map_joins(const struct ps_step *step, const struct ps_stage *stage)
{
    const struct ps_map_detail *detail = stage->detail;
    if (!within_limits(step, stage))
        return false;
    for (int i = 0; i < detail->code.leaf_count; i++)
        if (find_stage(step, detail->code.leaves[i].port) >= 0 &&
            detail->code.leaves[i].mode != PS_ACCESS_SAME)
            return false;
    return true;
}

struct linker {
    const struct ps_step *step;
    struct ps_program *program;
    int *results; // per stage: the register of its result
    int *map;     // per instruction of the stage that is linked: its register
};

static int link_load(struct linker *linker, const struct ps_leaf *leaf,
                     struct ps_instruction instruction)
{
    int stage = find_stage(linker->step, leaf->port);
    if (stage >= 0)
        return linker->results[stage];
    instruction.a = ps_code_add_leaf(&linker->program->code, leaf);
    return instruction.a < 0 ? -1 : ps_code_add(&linker->program->code, instruction);
}

// A half result is rounded where it is stored; who reads it from the register must see the same.
static int round_result(struct linker *linker, const struct ps_stage *stage, int result)
{
    enum ps_dtype have = linker->program->code.list[result].result;
    if (stage->output.dtype != PS_F16 || result < 0)
        return result;
    if (have != PS_F32)
        return -1;
    return ps_code_add(
        &linker->program->code,
        (struct ps_instruction){.op = PS_OP_HALF, .dtype = PS_F32, .result = PS_F32, .a = result});
}

static bool link_stage(struct linker *linker, int number)
{
    const struct ps_stage *stage = linker->step->stages[number];
    const struct ps_map_detail *detail = stage->detail;
    for (int i = 0; i < detail->code.count; i++) {
        struct ps_instruction in = detail->code.list[i];
        if (in.op == PS_OP_LOAD) {
            linker->map[i] = link_load(linker, &detail->code.leaves[in.a], in);
        } else {
            if (in.op == PS_OP_LOOKUP || in.op == PS_OP_INTERP) {
                in.a = linker->map[in.a];
                in.b = ps_code_add_leaf(&linker->program->code, &detail->code.leaves[in.b]);
                if (in.op == PS_OP_INTERP)
                    in.c = ps_code_add_leaf(&linker->program->code, &detail->code.leaves[in.c]);
                if (in.b < 0 || in.c < 0)
                    return false;
            } else if (in.op != PS_OP_CONST && in.op != PS_OP_INDEX) {
                in.a = linker->map[in.a];
                in.b = ps_op_infos[in.op].arguments > 1 ? linker->map[in.b] : 0;
                in.c = ps_op_infos[in.op].arguments > 2 ? linker->map[in.c] : 0;
            }
            linker->map[i] = ps_code_add(&linker->program->code, in);
        }
        linker->program->checks |= ps_map_can_fail(&detail->code, &detail->code.list[i]);
        if (linker->map[i] < 0)
            return false;
    }
    linker->results[number] = round_result(linker, stage, linker->map[detail->result]);
    return linker->results[number] >= 0;
}

static bool link_ends(struct linker *linker)
{
    struct ps_program *program = linker->program;
    const struct ps_step *step = linker->step;
    program->leaf_inputs = calloc((size_t)program->code.leaf_count + 1, sizeof(int));
    program->stores = calloc((size_t)step->output_count + 1, sizeof *program->stores);
    if (program->leaf_inputs == NULL || program->stores == NULL)
        return false;
    for (int i = 0; i < program->code.leaf_count; i++)
        program->leaf_inputs[i] =
            ps_step_input(step, step->ports[program->code.leaves[i].port].name);
    program->input_count = step->input_count;
    program->store_count = step->output_count;
    for (int i = 0; i < step->output_count; i++) {
        int stage = find_stage(step, step->outputs[i]->port);
        program->stores[i] =
            (struct ps_map_store){linker->results[stage], step->outputs[i]->output.dtype};
    }
    return true;
}

bool ps_map_link(const struct ps_step *step, struct ps_program *program, struct ps_error *error)
{
    const struct ps_map_detail *first = step->stages[0]->detail;
    int most = 0;
    for (int i = 0; i < step->stage_count; i++) {
        const struct ps_map_detail *detail = step->stages[i]->detail;
        most = detail->code.count > most ? detail->code.count : most;
    }
    struct linker linker = {step, program, calloc((size_t)step->stage_count, sizeof(int)),
                            calloc((size_t)most + 1, sizeof(int))};
    bool fine = linker.results != NULL && linker.map != NULL;
    program->whole = !step->stages[0]->streamed;
    program->row_rank = first->row_rank;
    memcpy(program->row_dims, first->row_dims, sizeof program->row_dims);
    program->row_elements = 1;
    for (int i = 0; i < program->row_rank; i++)
        program->row_elements *= program->row_dims[i];
    for (int i = 0; fine && i < step->stage_count; i++)
        fine = link_stage(&linker, i);
    fine = fine && link_ends(&linker);
    free(linker.results);
    free(linker.map);
    return fine || ps_fail_memory(error, (size_t)most * sizeof(int), "the map program");
}

void ps_map_unlink(struct ps_program *program)
{
    ps_code_free(&program->code);
    free(program->leaf_inputs);
    free(program->stores);
}

static void map_release(struct ps_program *program)
{
    ps_map_cpu_release(program);
#if PS_HAVE_CUDA
    ps_map_cuda_release(program);
#endif
    ps_map_unlink(program);
    free(program);
}

static bool compile_for(struct ps_program *program, struct ps_device *device,
                        struct ps_error *error)
{
#if PS_HAVE_CUDA
    if (device->backend->id == PS_CUDA)
        return ps_map_cuda_compile(program, device, error);
#endif
    (void)device;
    return ps_map_cpu_compile(program, error);
}

static bool map_compile(const struct ps_step *step, struct ps_device *device,
                        struct ps_program **program_out, struct ps_error *error)
{
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "the map program");
    program->backend = device->backend;
    if (!ps_map_link(step, program, error) || !compile_for(program, device, error)) {
        map_release(program);
        return false;
    }
    *program_out = program;
    return true;
}

static size_t map_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    (void)rows; // a piece of a block at a time
    return backend == PS_CPU ? ps_map_cpu_scratch(step) : 0;
}

const struct ps_stage_type ps_stage_map = {
    .name = "map",
    .help = "Computes an expression for every element; adjacent maps run as one kernel",
    .options = options,
    .plan = map_plan,
    .unplan = map_unplan,
    .joins = map_joins,
    .compile = map_compile,
    .release = map_release,
    .run = {[PS_CPU] = ps_map_cpu_run,
#if PS_HAVE_CUDA
            [PS_CUDA] = ps_map_cuda_run
#endif
    },
    .scratch_bytes = map_scratch,
    .check_bytes = ps_map_check_bytes,
    .check = ps_map_check,
#if PS_HAVE_CUDA
    .kernels = ps_map_cuda_kernels,
#endif
};
