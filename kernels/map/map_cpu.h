// SPDX-License-Identifier: Apache-2.0
// Inside of the cpu's map: the program (map_cpu.c) and the machine that runs it (map_cpu_run.c,
// which loads arrays through map_gather.c).
#ifndef PS_KERNELS_MAP_CPU_H
#define PS_KERNELS_MAP_CPU_H

#include "kernels/map/map.h"
#include "kernels/map/vector.h"

#define PS_PIECE 1024 // elements: with 8 bytes each, a handful of registers fits 32 KiB
#define PS_PIECE_BYTES (PS_PIECE * 8)

enum ps_cpu_place { PS_PLACE_BUFFER, PS_PLACE_OUTPUT };

struct ps_cpu_register {
    enum ps_cpu_place place;
    int slot;   // BUFFER: which piece of scratch; OUTPUT: which output
    bool fixed; // the same for every piece: constants and scalars; filled in once per launch
};

struct ps_cpu_program {
    struct ps_cpu_register *registers; // one per instruction
    int slot_count;
    int64_t piece;                       // elements computed at once, at most PS_PIECE
    bool rows_apart;                     // a piece must not reach into the next row
    const struct ps_vector_table *table; // looked up once: asking the processor is slow
    ps_vector_function **functions;      // one per instruction; NULL for what has none
    ps_vector_check **checks;            // likewise; only of those that are checked
};

// Where the parts of a launch's scratch begin, and all its bytes.
struct ps_cpu_scratch {
    size_t values, outputs, buffers, tiles, bytes;
};
struct ps_cpu_scratch ps_cpu_scratch_of(const struct ps_program *program);

static inline bool ps_has_argument(const struct ps_instruction *i, int which)
{
    if (i->op == PS_OP_LOAD || i->op == PS_OP_CONST)
        return false;
    return which < ps_op_infos[i->op].arguments;
}

struct ps_machine {
    const struct ps_program *program;
    const struct ps_cpu_program *cpu;
    const struct ps_launch *launch;
    const void **values; // per register: where it is for this piece
    char **outputs;      // at the piece that is computed
    char *buffers;       // slot_count pieces
    char *tiles;         // per leaf: two pieces, the row repeated
};

// Repeats the rows of short ROW leaves into the machine's tiles, once per launch.
void ps_gather_tiles(const struct ps_machine *machine);
// The leaf's elements [first, first + n) as they are in memory; written to `to` unless they can be
// pointed at.
const char *ps_gather(const struct ps_machine *machine, int leaf, int64_t first, size_t n,
                      char *to);
// to[i] = from[i * stride], elements of `bytes` bytes.
void ps_gather_strided(char *to, const char *from, int64_t stride, size_t bytes, size_t n);

// ---- map_table_cpu.c: n elements from `first` on, of those of the launch ----
// Notes a fault of an instruction at an element in launch->check, unless an earlier one is there.
void ps_note_fault(const struct ps_machine *machine, int64_t element, int instruction, uint64_t a,
                   uint64_t b);
void ps_fill_index(const struct ps_machine *machine, int axis, int64_t first, size_t n,
                   int64_t *to);
void ps_look_up(const struct ps_machine *machine, int instruction, const int64_t *index,
                int64_t first, size_t n, void *to);
void ps_interpolate(const struct ps_machine *machine, int instruction, const double *x, size_t n,
                    double *to);
// Notes where the places of an INTERP fall, or are NaN.
void ps_check_places(const struct ps_machine *machine, int instruction);

#endif
