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

static void run_piece(const struct ps_machine *m, int64_t first, size_t n)
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
                             ps_has_argument(&list[i], 1) ? m->values[list[i].b] : NULL,
                             ps_has_argument(&list[i], 2) ? m->values[list[i].c] : NULL, n);
        m->values[i] = to;
    }
    store_piece(m, n);
    for (int s = 0; s < m->program->store_count; s++)
        m->outputs[s] += n * ps_dtype_bytes(m->program->stores[s].dtype);
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
    for (int64_t first = 0; first < total;) {
        size_t n = piece_length(&m, first, total);
        run_piece(&m, first, n);
        first += (int64_t)n;
    }
    return true;
}
