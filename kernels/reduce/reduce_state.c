// SPDX-License-Identifier: Apache-2.0
// States on the host: merging, and the results over rows at the end of a pass.
#include "kernels/reduce/stage.h"

#include "base/text.h"

#include <stdio.h>

static const struct ps_reduce *of_step(const struct ps_step *step)
{
    return step->stages[0]->detail;
}

int64_t ps_reduce_part_at(const struct ps_reduce *reduce, int part)
{
    int64_t at = 0;
    for (int i = 0; i < part; i++)
        at += ps_reduce_part_bytes(&reduce->parts[i], reduce->shape.outputs);
    return at;
}

size_t ps_reduce_step_state_bytes(const struct ps_step *step)
{
    return (size_t)ps_reduce_part_at(of_step(step), of_step(step)->part_count);
}

static void carry_all(const struct ps_reduce_form *form, const struct ps_reduce_planes *planes)
{
    for (int64_t i = 0; i < form->outputs; i++) {
        if (planes->sum != NULL)
            ps_exact_carry(planes->sum + i, planes->stride, form->sum_limbs);
        if (planes->squares != NULL)
            ps_exact_carry(planes->squares + i, planes->stride, form->square_limbs);
    }
    planes->head->pending = 0;
}

void ps_reduce_count(const struct ps_reduce_form *form, void *state, int64_t elements)
{
    struct ps_reduce_planes planes = ps_reduce_planes(form, state);
    if (planes.head->pending + elements > PS_EXACT_ADDS_MAX)
        carry_all(form, &planes);
    planes.head->elements += elements;
    planes.head->pending += elements;
}

// Two limbs of at most 2^62 each fit in one; the carries then make them small again.
static void merge_sums(const struct ps_reduce_form *form, void *into, const void *from)
{
    struct ps_reduce_planes to = ps_reduce_planes(form, into);
    struct ps_reduce_planes other = ps_reduce_planes(form, (void *)from); // only read
    int64_t n = form->outputs;
    for (int64_t i = 0; i < 3 * n; i++) // the counts
        to.nan[i] += other.nan[i];
    for (int64_t i = 0; i < 2 * n; i++)
        ps_reduce_raise(&to.smallest[i], other.smallest[i]);
    for (int64_t i = 0; i < n * form->sum_limbs; i++)
        to.sum[i] += other.sum[i];
    for (int64_t i = 0; i < n * form->square_limbs; i++)
        to.squares[i] += other.squares[i];
    to.head->elements += other.head->elements;
    to.head->pending += other.head->pending;
    if (to.head->pending > PS_EXACT_ADDS_MAX / 2)
        carry_all(form, &to);
}

static void merge_picks(const struct ps_reduce_form *form, void *into, const void *from)
{
    struct ps_reduce_head *to = into;
    const struct ps_reduce_head *other = from;
    int64_t n = form->outputs;
    for (int64_t i = 0; i < n; i++) {
        struct ps_pick pick = ps_pick_load((const uint64_t *)(to + 1), n, i);
        struct ps_pick more = ps_pick_load((const uint64_t *)(other + 1), n, i);
        ps_pick_merge(&pick, &more, form->dtype >= PS_F16);
        ps_pick_save(&pick, (uint64_t *)(to + 1), n, i);
    }
    to->elements += other->elements;
}

void ps_reduce_merge(const struct ps_step *step, void *into, const void *from)
{
    const struct ps_reduce *reduce = of_step(step);
    for (int i = 0; i < reduce->part_count; i++) {
        const struct ps_reduce_part *part = &reduce->parts[i];
        int64_t at = ps_reduce_part_at(reduce, i);
        (part->term == PS_TERM_PICK ? merge_picks : merge_sums)(&part->form, (char *)into + at,
                                                                (const char *)from + at);
    }
}

const char *ps_reduce_kind_name(int kind)
{
    return ps_reduce_kinds[kind].name;
}

bool ps_reduce_fail(enum ps_reduce_fault fault, int kind, const char *where,
                    const struct ps_port *input, struct ps_error *error)
{
    const char *name = ps_reduce_kind_name(kind);
    char shown[128];
    ps_escape(input->name, strlen(input->name), shown, sizeof shown);
    switch (fault) {
    case PS_REDUCE_OVERFLOW:
        return ps_fail(error, PS_INPUT,
                       "%s of '%s' (%s)%s is beyond 64 bits; ask for the mean, or make '%s' f64 "
                       "by a map stage",
                       name, shown, ps_dtype_name(input->array.dtype), where, shown);
    case PS_REDUCE_INEXACT:
        return ps_fail(error, PS_INPUT,
                       "%s of '%s' (%s)%s has more than the 53 bits that float64, the dtype common "
                       "to the kinds listed, can hold; ask for %s in a stage of its own",
                       name, shown, ps_dtype_name(input->array.dtype), where, name);
    default:
        return ps_fail(error, PS_INPUT, "%s of zero rows: '%s' has no element to take it from",
                       name, shown);
    }
}

static const char *place_of(const struct ps_array *array, int64_t output, int64_t outputs,
                            char *out, size_t size)
{
    char shown[160];
    if (outputs == 1)
        snprintf(out, size, "%s", "");
    else if (array->column_count > 0 && array->rank == 2) {
        const char *name = array->columns[output];
        snprintf(out, size, ", column '%s',", ps_escape(name, strlen(name), shown, sizeof shown));
    } else
        snprintf(out, size, ", element %lld of the row,", (long long)output);
    return out;
}

enum ps_reduce_fault ps_reduce_part_finish(const struct ps_reduce_part *part, const void *state,
                                           int64_t output, int64_t at, void *array, double *basics,
                                           int *kind_out)
{
    if (part->term == PS_TERM_PICK) {
        const struct ps_reduce_head *head = state;
        struct ps_pick pick =
            ps_pick_load((const uint64_t *)(head + 1), part->form.outputs, output);
        return ps_pick_finish(&pick, part->form.dtype, head->elements, &part->ask, array, at,
                              kind_out);
    }
    uint32_t work[PS_REDUCE_WORK];
    struct ps_reduce_planes planes = ps_reduce_planes(&part->form, (void *)state); // only read
    struct ps_reduce_ask basic = ps_reduce_basic_ask(part);
    enum ps_reduce_fault fault =
        ps_reduce_finish(&part->form, &planes, output, &basic, basics, 0, work, kind_out);
    if (fault != PS_REDUCE_FINE)
        return fault;
    return ps_reduce_finish(&part->form, &planes, output, &part->ask, array, at, work, kind_out);
}

void ps_reduce_combine_all(const struct ps_reduce *reduce, const double *basics, int64_t at,
                           void *array)
{
    const struct ps_reduce_ask *ask = &reduce->combined;
    for (int k = 0; k < ask->kind_count; k++) {
        struct ps_reduce_result result = ps_reduce_number(
            ps_reduce_combine(ask->kinds[k], basics, ask->ddof));
        ps_reduce_store(ask->dtype, array, at * ask->width + ask->at[k], &result);
    }
}

bool ps_reduce_step_finish(const struct ps_step *step, const void *state, void *output,
                           struct ps_error *error)
{
    const struct ps_reduce *reduce = of_step(step);
    int64_t outputs = reduce->shape.outputs;
    for (int64_t i = 0; i < outputs; i++) {
        double basics[PS_REDUCE_BASICS] = {0};
        for (int p = 0; p < reduce->part_count; p++) {
            int kind = 0;
            enum ps_reduce_fault fault = ps_reduce_part_finish(
                &reduce->parts[p], (const char *)state + ps_reduce_part_at(reduce, p), i, i, output,
                basics, &kind);
            char where[200];
            if (fault != PS_REDUCE_FINE)
                return ps_reduce_fail(
                    fault, kind,
                    place_of(&step->inputs[0]->array, i, outputs, where, sizeof where),
                    step->inputs[0], error);
        }
        ps_reduce_combine_all(reduce, basics, i, output);
    }
    return true;
}
