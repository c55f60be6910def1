// SPDX-License-Identifier: Apache-2.0
// The cpu's map, running: piece after piece through all instructions. All memory is the launch's
// scratch, so one program serves any number of threads.
#include "kernels/map/map_cpu.h"

#include <string.h>

static char *register_memory(const struct ps_machine *m, int index)
{
    const struct ps_cpu_register *r = &m->cpu->registers[index];
    return r->place == PS_PLACE_OUTPUT ? m->outputs[r->slot]
                                       : m->buffers + (size_t)r->slot * PS_PIECE_BYTES;
}

static void load_register(const struct ps_machine *m, int index, int64_t first, size_t n)
{
    const struct ps_instruction *i = &m->program->code.list[index];
    char *own = register_memory(m, index);
    bool half = i->dtype == PS_F16;
    // Halves are gathered into the register's upper part, which n floats do not reach: widening
    // would else overwrite those not yet read.
    const char *data = ps_gather(m, i->a, first, n, half ? own + PS_PIECE_BYTES / 2 : own);
    if (half) {
        m->cpu->table->half_load(own, data, NULL, NULL, n);
        data = own;
    }
    m->values[index] = data;
}

static void fill_constant(const struct ps_machine *m, int index)
{
    const struct ps_instruction *i = &m->program->code.list[index];
    float narrow = (float)i->number;
    const void *value = i->result == PS_F64   ? (const void *)&i->number
                        : i->result == PS_F32 ? (const void *)&narrow
                                              : (const void *)&i->integer; // little-endian
    char *own = register_memory(m, index);
    ps_gather_strided(own, value, 0, ps_dtype_bytes(i->result), PS_PIECE);
    m->values[index] = own;
}

static void fill_fixed(const struct ps_machine *m)
{
    for (int i = 0; i < m->program->code.count; i++) {
        if (!m->cpu->registers[i].fixed)
            continue;
        if (m->program->code.list[i].op == PS_OP_CONST)
            fill_constant(m, i);
        else
            load_register(m, i, 0, PS_PIECE);
    }
}

static void store_piece(const struct ps_machine *m, size_t n)
{
    for (int s = 0; s < m->program->store_count; s++) {
        const struct ps_map_store *store = &m->program->stores[s];
        const void *value = m->values[store->register_index];
        if (value == m->outputs[s])
            continue;
        if (store->dtype == PS_F16)
            m->cpu->table->half_store(m->outputs[s], value, NULL, NULL, n);
        else
            memcpy(m->outputs[s], value, n * ps_dtype_bytes(store->dtype));
    }
}

// The value of a number as it goes into a note.
static uint64_t bits_of(enum ps_dtype dtype, const void *values, size_t at)
{
    size_t bytes = ps_dtype_bytes(dtype);
    const void *value = values != NULL ? (const char *)values + at * bytes : NULL;
    uint64_t natural = 0;
    double wide;
    float narrow;
    if (value == NULL)
        return 0;
    if (dtype == PS_F32) {
        memcpy(&narrow, value, sizeof narrow);
        wide = (double)narrow;
        memcpy(&natural, &wide, sizeof natural);
        return natural;
    }
    memcpy(&natural, value, bytes); // little-endian
    unsigned unused = 64 - 8 * (unsigned)bytes;
    return ps_dtype_info(dtype)->kind == PS_CLASS_SIGNED
               ? (uint64_t)((int64_t)(natural << unused) >> unused)
               : natural;
}

static void check_values(const struct ps_machine *m, int i, const void *a, const void *b,
                         int64_t first, size_t n)
{
    enum ps_dtype dtype = m->program->code.list[i].dtype;
    size_t at = m->cpu->checks[i](a, b, n);
    if (at < n)
        ps_note_fault(m, first + (int64_t)at, i, bits_of(dtype, a, at), bits_of(dtype, b, at));
}

static void compute(const struct ps_machine *m, int index, int64_t first, size_t n)
{
    const struct ps_instruction *i = &m->program->code.list[index];
    void *to = register_memory(m, index);
    const void *a = ps_has_argument(i, 0) ? m->values[i->a] : NULL;
    const void *b = ps_has_argument(i, 1) ? m->values[i->b] : NULL;
    const void *c = ps_has_argument(i, 2) ? m->values[i->c] : NULL;
    if (i->op == PS_OP_INDEX)
        ps_fill_index(m, i->a, first, n, to);
    else if (i->op == PS_OP_LOOKUP)
        ps_look_up(m, index, a, first, n, to);
    else if (i->op == PS_OP_INTERP)
        ps_interpolate(m, index, a, n, to);
    else {
        if (i->checked) // before: the result may take the place of an argument
            check_values(m, index, a, b, first, n);
        m->cpu->functions[index](to, a, b, c, n);
    }
    m->values[index] = to;
}

static void run_piece(const struct ps_machine *m, int64_t first, size_t n)
{
    for (int i = 0; i < m->program->code.count; i++) {
        if (m->cpu->registers[i].fixed)
            continue;
        if (m->program->code.list[i].op == PS_OP_LOAD)
            load_register(m, i, first, n);
        else
            compute(m, i, first, n);
    }
    store_piece(m, n);
    for (int s = 0; s < m->program->store_count; s++)
        m->outputs[s] += n * ps_dtype_bytes(m->program->stores[s].dtype);
}

// Places are the same for all launches, so the first one checks them.
static void check_places(const struct ps_machine *m)
{
    for (int i = 0; m->launch->first_row == 0 && i < m->program->code.count; i++)
        if (m->program->code.list[i].op == PS_OP_INTERP)
            ps_check_places(m, i);
}

static bool found_fault(const struct ps_machine *m)
{
    return m->program->checks && ((const struct ps_map_note *)m->launch->check)->key != 0;
}

static size_t piece_length(const struct ps_machine *m, int64_t first, int64_t total)
{
    int64_t n = total - first < m->cpu->piece ? total - first : m->cpu->piece;
    int64_t left_in_row = m->program->row_elements - first % m->program->row_elements;
    return (size_t)(m->cpu->rows_apart && left_in_row < n ? left_in_row : n);
}

bool ps_map_cpu_run(const struct ps_program *program, const struct ps_launch *launch,
                    struct ps_error *error)
{
    (void)error; // every fault was found when planning or compiling
    int64_t total = launch->rows * program->row_elements;
    if (total == 0)
        return true;
    struct ps_cpu_scratch at = ps_cpu_scratch_of(program);
    char *scratch = launch->scratch;
    struct ps_machine m = {
        .program = program,
        .cpu = program->cpu,
        .launch = launch,
        .values = (const void **)(void *)(scratch + at.values),
        .outputs = (char **)(void *)(scratch + at.outputs),
        .buffers = scratch + at.buffers,
        .tiles = scratch + at.tiles,
    };
    for (int s = 0; s < program->store_count; s++)
        m.outputs[s] = launch->outputs[s];
    ps_gather_tiles(&m);
    fill_fixed(&m);
    check_places(&m);
    for (int64_t first = 0; first < total && !found_fault(&m);) {
        size_t n = piece_length(&m, first, total);
        run_piece(&m, first, n);
        first += (int64_t)n;
    }
    return true;
}
