// SPDX-License-Identifier: Apache-2.0
// The cpu's lookup, interp and index: what depends on where an element is, or reads whole arrays by
// number. And the faults of checked operations.
#include "kernels/map/map_cpu.h"

#include <math.h>
#include <string.h>

#define PS_FN static inline __attribute__((unused))
#include "kernels/map/scalar.h"

#include "kernels/map/checked.h"

void ps_note_fault(const struct ps_machine *m, int64_t element, int instruction, uint64_t a,
                   uint64_t b)
{
    struct ps_map_note *note = m->launch->check;
    uint64_t count = (uint64_t)m->program->code.count;
    uint64_t key = UINT64_MAX - ((uint64_t)element * count + (uint64_t)instruction);
    if (key <= note->key)
        return;
    *note = (struct ps_map_note){.key = key, .first_row = m->launch->first_row, .a = a, .b = b};
}

// ---- Index ----

void ps_fill_index(const struct ps_machine *m, int axis, int64_t first, size_t n, int64_t *to)
{
    const struct ps_program *p = m->program;
    int64_t below = 1, row = first / p->row_elements, i = first % p->row_elements;
    for (int d = axis + 1; axis >= 0 && d < p->row_rank; d++)
        below *= p->row_dims[d];
    int64_t size = axis >= 0 ? p->row_dims[axis] : 1, part = i % below, at = i / below % size;
    for (size_t k = 0; k < n; k++) {
        to[k] = axis >= 0 ? at : m->launch->first_row + row;
        if (axis < 0) {
            row += ++i == p->row_elements;
            i = i == p->row_elements ? 0 : i;
        } else if (++part == below) {
            part = 0;
            at = at + 1 == size ? 0 : at + 1;
        }
    }
}

// ---- Lookup ----

static const char *table_data(const struct ps_machine *m, int leaf)
{
    const struct ps_leaf *l = &m->program->code.leaves[leaf];
    const char *data = m->launch->inputs[m->program->leaf_inputs[leaf]];
    return data + (size_t)l->offset * ps_dtype_bytes(l->dtype);
}

void ps_look_up(const struct ps_machine *m, int instruction, const int64_t *index, int64_t first,
                size_t n, void *to)
{
    const struct ps_instruction *i = &m->program->code.list[instruction];
    const struct ps_leaf *leaf = &m->program->code.leaves[i->b];
    const char *data = table_data(m, i->b);
    uint64_t count = (uint64_t)leaf->count;
    int64_t stride = leaf->strides[0];
    size_t bytes = ps_dtype_bytes(leaf->dtype), outside = n;
    float *singles = to;
    double *doubles = to;
    for (size_t k = 0; k < n; k++) {
        bool inside = (uint64_t)index[k] < count;
        const char *from = data + (inside ? (size_t)(index[k] * stride) * bytes : 0);
        outside = !inside && outside == n ? k : outside;
        if (leaf->dtype == PS_F64)
            doubles[k] = inside ? *(const double *)(const void *)from : (double)NAN;
        else if (leaf->dtype == PS_F32)
            singles[k] = inside ? *(const float *)(const void *)from : NAN;
        else if (leaf->dtype == PS_F16)
            singles[k] = inside ? ps_f16_to_f32(*(const uint16_t *)(const void *)from) : NAN;
        else
            memcpy((char *)to + k * bytes, from, bytes);
    }
    if (outside < n && !ps_dtype_is_float(leaf->dtype))
        ps_note_fault(m, first + (int64_t)outside, instruction, (uint64_t)index[outside], 0);
}

// ---- Interpolation ----

static double element_at(const char *data, const struct ps_leaf *leaf, int64_t k)
{
    const void *at = data + (size_t)(k * leaf->strides[0]) * ps_dtype_bytes(leaf->dtype);
    switch (leaf->dtype) {
    case PS_F64:
        return *(const double *)at;
    case PS_F32:
        return (double)*(const float *)at;
    case PS_F16:
        return (double)ps_f16_to_f32(*(const uint16_t *)at);
    case PS_I64:
        return (double)*(const int64_t *)at;
    case PS_U64:
        return (double)*(const uint64_t *)at;
    case PS_I32:
        return *(const int32_t *)at;
    case PS_U32:
        return *(const uint32_t *)at;
    case PS_I16:
        return *(const int16_t *)at;
    case PS_U16:
        return *(const uint16_t *)at;
    case PS_I8:
        return *(const int8_t *)at;
    default:
        return *(const uint8_t *)at;
    }
}

void ps_check_places(const struct ps_machine *m, int instruction)
{
    const struct ps_instruction *i = &m->program->code.list[instruction];
    const struct ps_leaf *leaf = &m->program->code.leaves[i->b];
    const char *data = table_data(m, i->b);
    double before = element_at(data, leaf, 0);
    for (int64_t k = 0; k + 1 < leaf->count; k++) {
        double next = element_at(data, leaf, k + 1);
        if (!(before <= next)) {
            ps_note_fault(m, 0, instruction, (uint64_t)k, 0);
            return;
        }
        before = next;
    }
}

void ps_interpolate(const struct ps_machine *m, int instruction, const double *x, size_t n,
                    double *to)
{
    const struct ps_instruction *i = &m->program->code.list[instruction];
    const struct ps_leaf *places = &m->program->code.leaves[i->b];
    const struct ps_leaf *heights = &m->program->code.leaves[i->c];
    const char *xs = table_data(m, i->b), *ys = table_data(m, i->c);
    int64_t last = places->count - 1;
    double lowest = element_at(xs, places, 0), highest = element_at(xs, places, last);
    for (size_t k = 0; k < n; k++) {
        double value = x[k];
        int64_t low = 0, high = last; // the last place that is not above x
        if (value != value || value < lowest || value >= highest) {
            to[k] = value != value ? value : element_at(ys, heights, value < lowest ? 0 : last);
            continue;
        }
        while (high - low > 1) {
            int64_t middle = low + (high - low) / 2;
            if (element_at(xs, places, middle) <= value)
                low = middle;
            else
                high = middle;
        }
        to[k] = ps_between(value, element_at(xs, places, low), element_at(xs, places, low + 1),
                           element_at(ys, heights, low), element_at(ys, heights, low + 1));
    }
}
