// SPDX-License-Identifier: Apache-2.0
// How the cpu's map reads an array for one piece: pointed at where it lies as needed, else copied
// in runs along the last axis.
#include "kernels/map/map_cpu.h"

#include <string.h>

// Any element of this size, whatever it means.
typedef uint16_t two __attribute__((may_alias));
typedef uint32_t four __attribute__((may_alias));
typedef uint64_t eight __attribute__((may_alias));

#define STRIDED(T)                                                                                 \
    do {                                                                                           \
        T *out = (T *)(void *)to;                                                                  \
        const T *in = (const T *)(const void *)from, one = *in;                                    \
        for (size_t i = 0; stride == 0 && i < n; i++)                                              \
            out[i] = one;                                                                          \
        for (size_t i = 0; stride != 0 && i < n; i++)                                              \
            out[i] = in[(int64_t)i * stride];                                                      \
    } while (0)

void ps_gather_strided(char *to, const char *from, int64_t stride, size_t bytes, size_t n)
{
    if (n == 0)
        return;
    if (stride == 1)
        memcpy(to, from, n * bytes);
    else if (bytes == 1)
        STRIDED(uint8_t);
    else if (bytes == 2)
        STRIDED(two);
    else if (bytes == 4)
        STRIDED(four);
    else
        STRIDED(eight);
}

static void gather_scalars(const struct ps_machine *m, const struct ps_leaf *leaf, const char *data,
                           int64_t first, size_t n, char *to)
{
    size_t bytes = ps_dtype_bytes(leaf->dtype);
    int64_t elements = m->program->row_elements;
    if (leaf->row_stride == 0 || elements == 1) { // one for all, or a column
        const char *from = data + (size_t)(leaf->offset + first * leaf->row_stride) * bytes;
        ps_gather_strided(to, from, leaf->row_stride, bytes, n);
        return;
    }
    int64_t row = first / elements, in_row = first - row * elements;
    for (size_t done = 0; done < n; row++, in_row = 0) {
        size_t left = (size_t)(elements - in_row), run = left < n - done ? left : n - done;
        const char *from = data + (size_t)(leaf->offset + row * leaf->row_stride) * bytes;
        ps_gather_strided(to + done * bytes, from, 0, bytes, run);
        done += run;
    }
}

struct walk { // along the elements of the output
    int64_t row, index[PS_RANK_MAX];
};

static struct walk walk_to(const struct ps_program *p, int64_t element)
{
    struct walk walk = {.row = element / p->row_elements};
    int64_t rest = element - walk.row * p->row_elements;
    for (int axis = p->row_rank - 1; axis >= 0; axis--) {
        walk.index[axis] = rest % p->row_dims[axis];
        rest /= p->row_dims[axis];
    }
    return walk;
}

// Past the end of the last axis.
static void next_run(const struct ps_program *p, struct walk *walk)
{
    int axis = p->row_rank - 1;
    walk->index[axis] = 0;
    while (--axis >= 0 && ++walk->index[axis] == p->row_dims[axis])
        walk->index[axis] = 0;
    walk->row += axis < 0;
}

static void gather_general(const struct ps_machine *m, const struct ps_leaf *leaf, const char *data,
                           int64_t first, size_t n, char *to)
{
    const struct ps_program *p = m->program;
    struct walk walk = walk_to(p, first);
    size_t bytes = ps_dtype_bytes(leaf->dtype);
    int last = p->row_rank - 1;
    for (size_t done = 0; done < n;) {
        size_t left = (size_t)(p->row_dims[last] - walk.index[last]);
        size_t run = left < n - done ? left : n - done;
        int64_t at = leaf->offset + walk.row * leaf->row_stride;
        for (int axis = 0; axis <= last; axis++)
            at += walk.index[axis] * leaf->strides[axis];
        ps_gather_strided(to + done * bytes, data + (size_t)at * bytes, leaf->strides[last], bytes,
                          run);
        done += run;
        next_run(p, &walk);
    }
}

static const char *leaf_data(const struct ps_machine *m, int leaf)
{
    return m->launch->inputs[m->program->leaf_inputs[leaf]];
}

const char *ps_gather(const struct ps_machine *m, int index, int64_t first, size_t n, char *to)
{
    const struct ps_leaf *leaf = &m->program->code.leaves[index];
    const char *data = leaf_data(m, index);
    size_t bytes = ps_dtype_bytes(leaf->dtype);
    int64_t elements = m->program->row_elements;
    switch (leaf->mode) {
    case PS_ACCESS_SAME:
        return data + (size_t)first * bytes;
    case PS_ACCESS_ROW: // short rows are tiled, pieces never cross the end of a long one
        if (elements < PS_PIECE)
            return m->tiles + (size_t)index * 2 * PS_PIECE_BYTES +
                   (size_t)(first % elements) * bytes;
        return data + (size_t)(leaf->offset + first % elements) * bytes;
    case PS_ACCESS_SCALAR:
        gather_scalars(m, leaf, data, first, n, to);
        return to;
    default:
        gather_general(m, leaf, data, first, n, to);
        return to;
    }
}

void ps_gather_tiles(const struct ps_machine *m)
{
    const struct ps_code *code = &m->program->code;
    int64_t elements = m->program->row_elements;
    for (int l = 0; l < code->leaf_count; l++) {
        size_t bytes = ps_dtype_bytes(code->leaves[l].dtype);
        if (code->leaves[l].mode != PS_ACCESS_ROW || elements >= PS_PIECE)
            continue;
        char *to = m->tiles + (size_t)l * 2 * PS_PIECE_BYTES;
        const char *from = leaf_data(m, l) + (size_t)code->leaves[l].offset * bytes;
        size_t row = (size_t)elements * bytes, all = 2 * PS_PIECE * bytes;
        for (size_t at = 0; at < all; at += row)
            memcpy(to + at, from, all - at < row ? all - at : row);
    }
}
