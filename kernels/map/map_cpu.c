// SPDX-License-Identifier: Apache-2.0
// The cpu's map, compiled: a vector program over pieces of a block that stay in the first-level
// cache. Each register is a piece; its memory is used again after its last reader. Running is
// map_cpu_run.c's.
#include "kernels/map/map_cpu.h"

#include <stdlib.h>

static int argument(const struct ps_instruction *i, int which)
{
    return which == 0 ? i->a : which == 1 ? i->b : i->c;
}

static int *last_uses(const struct ps_program *program)
{
    int *last = malloc(((size_t)program->code.count + 1) * sizeof *last);
    for (int i = 0; last != NULL && i < program->code.count; i++) {
        last[i] = i;
        for (int k = 0; k < 3; k++)
            if (ps_has_argument(&program->code.list[i], k))
                last[argument(&program->code.list[i], k)] = i;
    }
    for (int s = 0; last != NULL && s < program->store_count; s++)
        last[program->stores[s].register_index] = program->code.count;
    return last;
}

// A result that is stored as it is can be computed in the output itself.
static int direct_output(const struct ps_program *program, int index)
{
    const struct ps_instruction *i = &program->code.list[index];
    if (i->op == PS_OP_LOAD || i->op == PS_OP_CONST)
        return -1;
    for (int s = 0; s < program->store_count; s++)
        if (program->stores[s].register_index == index && program->stores[s].dtype == i->result)
            return s;
    return -1;
}

// Free slots as a stack, so that the one used last (still in cache) is used next.
struct slots {
    int *free;
    int free_count;
    int count;
};

static int take_slot(struct slots *slots)
{
    return slots->free_count > 0 ? slots->free[--slots->free_count] : slots->count++;
}

static bool is_fixed(const struct ps_program *program, const struct ps_instruction *i)
{
    if (i->op != PS_OP_LOAD)
        return i->op == PS_OP_CONST;
    const struct ps_leaf *leaf = &program->code.leaves[i->a];
    return leaf->mode == PS_ACCESS_SCALAR && leaf->row_stride == 0;
}

// Gives back the slots of the arguments that instruction i is the last to read.
static void release_arguments(const struct ps_program *program, const struct ps_cpu_program *cpu,
                              int *last, int i, struct slots *slots)
{
    for (int k = 0; k < 3; k++) {
        if (!ps_has_argument(&program->code.list[i], k))
            continue;
        int from = argument(&program->code.list[i], k);
        const struct ps_cpu_register *r = &cpu->registers[from];
        if (last[from] != i || r->place != PS_PLACE_BUFFER || r->fixed)
            continue;
        last[from] = -1; // f(x, x): once
        slots->free[slots->free_count++] = r->slot;
    }
}

static void place_registers(const struct ps_program *program, struct ps_cpu_program *cpu, int *last,
                            struct slots *slots)
{
    // Fixed ones are filled in before the first piece, so their slots are never used by others.
    for (int i = 0; i < program->code.count; i++)
        if (is_fixed(program, &program->code.list[i]))
            cpu->registers[i] = (struct ps_cpu_register){.fixed = true, .slot = take_slot(slots)};
    for (int i = 0; i < program->code.count; i++) {
        struct ps_cpu_register *r = &cpu->registers[i];
        int output = direct_output(program, i);
        if (r->fixed)
            continue;
        r->place = output >= 0 ? PS_PLACE_OUTPUT : PS_PLACE_BUFFER;
        r->slot = output >= 0 ? output : take_slot(slots);
        release_arguments(program, cpu, last, i, slots);
    }
}

// Rows longer than a piece are cut into equal pieces where a whole row is read beside them.
static void choose_piece(const struct ps_program *program, struct ps_cpu_program *cpu)
{
    int64_t elements = program->row_elements;
    cpu->piece = PS_PIECE;
    for (int l = 0; l < program->code.leaf_count; l++)
        if (program->code.leaves[l].mode == PS_ACCESS_ROW && elements >= PS_PIECE)
            cpu->rows_apart = true;
    if (cpu->rows_apart) {
        int64_t pieces = (elements + PS_PIECE - 1) / PS_PIECE;
        cpu->piece = (elements + pieces - 1) / pieces;
    }
}

static bool plan_memory(const struct ps_program *program, struct ps_cpu_program *cpu)
{
    size_t count = (size_t)program->code.count + 1;
    struct slots slots = {.free = calloc(count, sizeof *slots.free)};
    int *last = last_uses(program);
    cpu->registers = calloc(count, sizeof *cpu->registers);
    bool fine = slots.free != NULL && last != NULL && cpu->registers != NULL;
    if (fine) {
        place_registers(program, cpu, last, &slots);
        choose_piece(program, cpu);
        cpu->slot_count = slots.count;
    }
    free(slots.free);
    free(last);
    return fine;
}

static bool find_functions(const struct ps_program *program, struct ps_cpu_program *cpu,
                           struct ps_error *error)
{
    const struct ps_vector_table *table = cpu->table = ps_vector_table();
    for (int i = 0; i < program->code.count; i++) {
        const struct ps_instruction *in = &program->code.list[i];
        if (in->op == PS_OP_LOAD || in->op == PS_OP_CONST || in->op == PS_OP_INDEX ||
            in->op == PS_OP_LOOKUP || in->op == PS_OP_INTERP)
            continue;
        if (in->checked)
            cpu->checks[i] = in->op == PS_OP_CAST ? table->lost[in->dtype][in->result]
                                                  : table->over[in->op][in->dtype];
        cpu->functions[i] = in->op == PS_OP_CAST ? table->casts[in->dtype][in->result]
                                                 : table->ops[in->op][in->dtype];
        if (cpu->functions[i] == NULL || (in->checked && cpu->checks[i] == NULL))
            return ps_fail(error, PS_BUG, "no vector code for %s of %s", ps_op_infos[in->op].name,
                           ps_dtype_name(in->dtype));
    }
    return true;
}

bool ps_map_cpu_compile(struct ps_program *program, struct ps_error *error)
{
    size_t count = (size_t)program->code.count + 1;
    struct ps_cpu_program *cpu = program->cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL || (cpu->functions = calloc(count, sizeof *cpu->functions)) == NULL ||
        (cpu->checks = calloc(count, sizeof *cpu->checks)) == NULL || !plan_memory(program, cpu))
        return ps_fail_memory(error, count * sizeof *cpu->registers, "the map program");
    return find_functions(program, cpu, error);
}

void ps_map_cpu_release(struct ps_program *program)
{
    struct ps_cpu_program *cpu = program->cpu;
    if (cpu == NULL)
        return;
    free(cpu->registers);
    free(cpu->functions);
    free(cpu->checks);
    free(cpu);
    program->cpu = NULL;
}

struct ps_cpu_scratch ps_cpu_scratch_of(const struct ps_program *program)
{
    const struct ps_cpu_program *cpu = program->cpu;
    struct ps_cpu_scratch at = {0};
    at.outputs = (size_t)program->code.count * sizeof(void *);
    at.buffers = at.outputs + (size_t)program->store_count * sizeof(void *);
    at.buffers = (at.buffers + 63) / 64 * 64;
    at.tiles = at.buffers + (size_t)cpu->slot_count * PS_PIECE_BYTES;
    at.bytes = at.tiles + (size_t)program->code.leaf_count * 2 * PS_PIECE_BYTES;
    return at;
}

size_t ps_map_cpu_scratch(const struct ps_step *step)
{
    struct ps_error error = {0};
    struct ps_program program = {0};
    size_t bytes = SIZE_MAX;
    if (ps_map_link(step, &program, &error) && ps_map_cpu_compile(&program, &error))
        bytes = ps_cpu_scratch_of(&program).bytes;
    ps_map_cpu_release(&program);
    ps_map_unlink(&program);
    return bytes;
}
