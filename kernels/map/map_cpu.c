// SPDX-License-Identifier: Apache-2.0
// The cpu's map: a vector program over pieces of a block that stay in the first-level cache. Each
// register is a piece of PIECE elements; a register's memory is used again after its last reader.
#include "kernels/map/map.h"
#include "kernels/map/vector.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 1024 // elements: with 8 bytes each, a handful of registers fits 32 KiB
#define PIECE_BYTES (PIECE * 8)

enum place { PLACE_NONE, PLACE_BUFFER, PLACE_OUTPUT };

struct cpu_register {
    enum place place;
    int slot;   // BUFFER: which piece of scratch; OUTPUT: which output
    bool fixed; // the same for every piece: constants and scalars; filled in once per block
};

struct cpu_program {
    struct cpu_register *registers; // one per instruction
    int slot_count;
    ps_vector_function **functions; // one per instruction; NULL for LOAD and CONST
};

static bool is_fixed_leaf(const struct ps_leaf *leaf)
{
    return leaf->mode == PS_ACCESS_SCALAR && leaf->row_stride == 0;
}

static bool has_argument(const struct ps_instruction *i, int which)
{
    if (i->op == PS_OP_LOAD || i->op == PS_OP_CONST)
        return false;
    return which < ps_op_infos[i->op].arguments;
}

static int argument(const struct ps_instruction *i, int which)
{
    return which == 0 ? i->a : which == 1 ? i->b : i->c;
}

// ---- Compiling: where registers live ----

static int *last_uses(const struct ps_program *program)
{
    int *last = malloc(((size_t)program->code.count + 1) * sizeof *last);
    for (int i = 0; last != NULL && i < program->code.count; i++) {
        last[i] = i;
        for (int k = 0; k < 3; k++)
            if (has_argument(&program->code.list[i], k))
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
        if (program->stores[s].register_index == index &&
            program->stores[s].dtype == i->result)
            return s;
    return -1;
}

struct slots {
    bool *busy;
    int count;
};

static int take_slot(struct slots *slots)
{
    for (int i = 0; i < slots->count; i++) {
        if (!slots->busy[i]) {
            slots->busy[i] = true;
            return i;
        }
    }
    slots->busy[slots->count] = true;
    return slots->count++;
}

static void place_registers(const struct ps_program *program, struct cpu_program *cpu,
                            const int *last, struct slots *slots)
{
    for (int i = 0; i < program->code.count; i++) {
        const struct ps_instruction *in = &program->code.list[i];
        struct cpu_register *r = &cpu->registers[i];
        r->fixed = in->op == PS_OP_CONST ||
                   (in->op == PS_OP_LOAD && is_fixed_leaf(&program->code.leaves[in->a]));
        int output = direct_output(program, i);
        if (output >= 0) {
            *r = (struct cpu_register){.place = PLACE_OUTPUT, .slot = output};
        } else {
            r->place = PLACE_BUFFER;
            r->slot = take_slot(slots);
        }
        for (int k = 0; k < 3; k++) {
            if (!has_argument(in, k))
                continue;
            int from = argument(in, k);
            const struct cpu_register *arg = &cpu->registers[from];
            if (last[from] == i && arg->place == PLACE_BUFFER && !arg->fixed)
                slots->busy[arg->slot] = false; // may repeat for f(x, x): harmless
        }
    }
}

static ps_vector_function *function_of(const struct ps_instruction *i)
{
    const struct ps_vector_table *table = ps_vector_table();
    if (i->op == PS_OP_LOAD || i->op == PS_OP_CONST)
        return NULL;
    return i->op == PS_OP_CAST ? table->casts[i->dtype][i->result] : table->ops[i->op][i->dtype];
}

bool ps_map_cpu_compile(struct ps_program *program, struct ps_error *error)
{
    size_t count = (size_t)program->code.count + 1;
    struct cpu_program *cpu = calloc(1, sizeof *cpu);
    struct slots slots = {.busy = calloc(count, sizeof *slots.busy)};
    int *last = last_uses(program);
    program->cpu = cpu;
    if (cpu != NULL) {
        cpu->registers = calloc(count, sizeof *cpu->registers);
        cpu->functions = calloc(count, sizeof *cpu->functions);
    }
    bool fine = cpu && slots.busy && last && cpu->registers && cpu->functions;
    if (fine) {
        place_registers(program, cpu, last, &slots);
        cpu->slot_count = slots.count;
    }
    for (int i = 0; fine && i < program->code.count; i++) {
        const struct ps_instruction *in = &program->code.list[i];
        cpu->functions[i] = function_of(in);
        if (cpu->functions[i] == NULL && in->op != PS_OP_LOAD && in->op != PS_OP_CONST) {
            ps_fail(error, PS_BUG, "no vector code for %s of %s", ps_op_infos[in->op].name,
                    ps_dtype_name(in->dtype));
            fine = false;
        }
    }
    if (!fine)
        ps_fail_memory(error, count * sizeof *cpu->registers, "the map program");
    free(slots.busy);
    free(last);
    return fine;
}

void ps_map_cpu_release(struct ps_program *program)
{
    struct cpu_program *cpu = program->cpu;
    if (cpu == NULL)
        return;
    free(cpu->registers);
    free(cpu->functions);
    free(cpu);
    program->cpu = NULL;
}

// Every instruction may need a register of its own, and ROW leaves a tiled copy of the row.
size_t ps_map_cpu_scratch(const struct ps_step *step)
{
    size_t bytes = 0;
    for (int s = 0; s < step->stage_count; s++) {
        const struct ps_map_detail *detail = step->stages[s]->detail;
        bytes += ((size_t)detail->code.count + 2) * PIECE_BYTES;
        bytes += (size_t)detail->code.leaf_count * 2 * PIECE_BYTES;
    }
    return bytes;
}

// ---- Running ----

struct machine {
    const struct ps_program *program;
    const struct cpu_program *cpu;
    const struct ps_launch *launch;
    char **outputs;      // at the piece that is computed
    char *buffers;       // slot_count pieces
    char *tiles;         // per leaf: 2 * PIECE elements
    const void **values; // per register: where it is for this piece
};

static const char *leaf_data(const struct machine *m, int leaf)
{
    return m->launch->inputs[m->program->leaf_inputs[leaf]];
}

// Copies one array element; sizes are known to the compiler, so this is a move each.
static inline void move_element(char *to, const char *from, size_t bytes)
{
    switch (bytes) {
    case 1:
        *to = *from;
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
    }
}

static void fill(char *to, const char *element, size_t bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        move_element(to + i * bytes, element, bytes);
}

static void gather_scalars(const struct machine *m, const struct ps_leaf *leaf, const char *data,
                           int64_t first, size_t n, size_t bytes, char *to)
{
    int64_t elements = m->program->row_elements, row = first / elements;
    int64_t in_row = first - row * elements;
    for (size_t done = 0; done < n; row++, in_row = 0) {
        size_t run = (size_t)(elements - in_row) < n - done ? (size_t)(elements - in_row) : n - done;
        const char *element = data + (size_t)(leaf->offset + row * leaf->row_stride) * bytes;
        fill(to + done * bytes, element, bytes, run);
        done += run;
    }
}

static void gather_general(const struct machine *m, const struct ps_leaf *leaf, const char *data,
                           int64_t first, size_t n, size_t bytes, char *to)
{
    const struct ps_program *p = m->program;
    for (size_t k = 0; k < n; k++) {
        int64_t e = first + (int64_t)k, row = e / p->row_elements;
        int64_t rest = e - row * p->row_elements, at = leaf->offset + row * leaf->row_stride;
        for (int axis = p->row_rank - 1; axis >= 0; axis--) {
            at += rest % p->row_dims[axis] * leaf->strides[axis];
            rest /= p->row_dims[axis];
        }
        move_element(to + k * bytes, data + (size_t)at * bytes, bytes);
    }
}

// The leaf's elements [first, first + n) as they are in memory; into `to` unless they can be
// pointed at.
static const char *fetch(const struct machine *m, int index, int64_t first, size_t n, char *to)
{
    const struct ps_leaf *leaf = &m->program->code.leaves[index];
    const char *data = leaf_data(m, index);
    size_t bytes = ps_dtype_bytes(leaf->dtype);
    int64_t elements = m->program->row_elements;
    switch (leaf->mode) {
    case PS_ACCESS_SAME:
        return data + (size_t)first * bytes;
    case PS_ACCESS_ROW: // short rows are tiled, pieces never cross the end of a long one
        if (elements < PIECE)
            return m->tiles + (size_t)index * 2 * PIECE_BYTES + (size_t)(first % elements) * bytes;
        return data + (size_t)(leaf->offset + first % elements) * bytes;
    case PS_ACCESS_SCALAR:
        gather_scalars(m, leaf, data, first, n, bytes, to);
        return to;
    default:
        gather_general(m, leaf, data, first, n, bytes, to);
        return to;
    }
}

static void tile_rows(const struct machine *m)
{
    const struct ps_code *code = &m->program->code;
    int64_t elements = m->program->row_elements;
    for (int l = 0; l < code->leaf_count; l++) {
        size_t bytes = ps_dtype_bytes(code->leaves[l].dtype);
        if (code->leaves[l].mode != PS_ACCESS_ROW || elements >= PIECE)
            continue;
        char *to = m->tiles + (size_t)l * 2 * PIECE_BYTES;
        size_t row = (size_t)elements * bytes, all = 2 * PIECE * bytes;
        for (size_t at = 0; at < all; at += row)
            memcpy(to + at, leaf_data(m, l) + (size_t)code->leaves[l].offset * bytes,
                   all - at < row ? all - at : row);
    }
}

static char *register_memory(const struct machine *m, int index)
{
    const struct cpu_register *r = &m->cpu->registers[index];
    return r->place == PLACE_OUTPUT ? m->outputs[r->slot]
                                    : m->buffers + (size_t)r->slot * PIECE_BYTES;
}

static void load_register(const struct machine *m, int index, int64_t first, size_t n)
{
    const struct ps_instruction *i = &m->program->code.list[index];
    char *own = register_memory(m, index);
    const char *data = fetch(m, i->a, first, n, own);
    if (i->dtype == PS_F16) {
        // Widening in place would overwrite halves not yet read: those gathered into the register
        // are moved to its upper half first, which n floats do not reach.
        if (data == own)
            data = memcpy(own + PIECE_BYTES / 2, own, n * 2);
        ps_vector_table()->half_load(own, data, NULL, NULL, n);
        data = own;
    }
    m->values[index] = data;
}

static void fill_constant(const struct machine *m, int index)
{
    const struct ps_instruction *i = &m->program->code.list[index];
    float narrow = (float)i->number;
    const void *value = i->result == PS_F64   ? (const void *)&i->number
                        : i->result == PS_F32 ? (const void *)&narrow
                                              : (const void *)&i->integer; // little-endian
    char *own = register_memory(m, index);
    fill(own, value, ps_dtype_bytes(i->result), PIECE);
    m->values[index] = own;
}

static void fill_fixed(const struct machine *m)
{
    for (int i = 0; i < m->program->code.count; i++) {
        if (!m->cpu->registers[i].fixed)
            continue;
        if (m->program->code.list[i].op == PS_OP_CONST)
            fill_constant(m, i);
        else
            load_register(m, i, 0, PIECE);
    }
}

static void store_piece(const struct machine *m, size_t n)
{
    for (int s = 0; s < m->program->store_count; s++) {
        const struct ps_map_store *store = &m->program->stores[s];
        int index = store->register_index;
        enum ps_dtype from = m->program->code.list[index].result;
        if (m->values[index] == m->outputs[s])
            continue;
        if (store->dtype == PS_F16)
            ps_vector_table()->half_store[from == PS_F64](m->outputs[s], m->values[index], NULL,
                                                          NULL, n);
        else
            memcpy(m->outputs[s], m->values[index], n * ps_dtype_bytes(store->dtype));
    }
}

static void run_piece(const struct machine *m, int64_t first, size_t n)
{
    const struct ps_instruction *list = m->program->code.list;
    for (int i = 0; i < m->program->code.count; i++) {
        if (m->cpu->registers[i].fixed)
            continue;
        if (list[i].op == PS_OP_LOAD) {
            load_register(m, i, first, n);
            continue;
        }
        char *to = register_memory(m, i);
        m->cpu->functions[i](to, m->values[list[i].a],
                             has_argument(&list[i], 1) ? m->values[list[i].b] : NULL,
                             has_argument(&list[i], 2) ? m->values[list[i].c] : NULL, n);
        m->values[i] = to;
    }
    store_piece(m, n);
    for (int s = 0; s < m->program->store_count; s++)
        m->outputs[s] += n * ps_dtype_bytes(m->program->stores[s].dtype);
}

static size_t piece_length(const struct ps_program *program, int64_t first, int64_t total)
{
    int64_t n = total - first < PIECE ? total - first : PIECE;
    int64_t left_in_row = program->row_elements - first % program->row_elements;
    if (program->row_elements >= PIECE && left_in_row < n)
        n = left_in_row;
    return (size_t)n;
}

bool ps_map_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    int64_t total = launch->rows * program->row_elements;
    size_t count = (size_t)program->code.count + 1, stores = (size_t)program->store_count + 1;
    struct cpu_program *cpu = program->cpu;
    if (total == 0)
        return true;
    const void **values = calloc(count + stores, sizeof *values);
    if (values == NULL)
        return ps_fail_memory(error, (count + stores) * sizeof *values, "a map");
    struct machine m = {program, cpu, launch, (char **)(void *)(values + count), launch->scratch,
                        (char *)launch->scratch + (size_t)cpu->slot_count * PIECE_BYTES, values};
    for (int s = 0; s < program->store_count; s++)
        m.outputs[s] = launch->outputs[s];
    tile_rows(&m);
    fill_fixed(&m);
    for (int64_t first = 0; first < total;) {
        size_t n = piece_length(program, first, total);
        run_piece(&m, first, n);
        first += (int64_t)n;
    }
    free(values);
    return true;
}
