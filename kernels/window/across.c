// SPDX-License-Identifier: Apache-2.0
// Planning of stages across rows: shapes, and what becomes of the first and last rows.
#include "kernels/window/across.h"

#include "kernels/window/element.h"

#include <math.h>
#include <string.h>

const struct ps_port *ps_across_input(struct ps_stage *stage, const struct ps_scope *scope,
                                      struct ps_problems *problems)
{
    if (ps_stage_use_in(stage, scope, problems) < 0)
        return NULL;
    const struct ps_port *in = ps_stage_input(stage, scope, 0);
    if (in->array.rank > 0)
        return in;
    ps_problem_add(problems, PS_USAGE, stage->place, "'%s' is one number and has no rows",
                   in->name);
    return NULL;
}

bool ps_across_output(struct ps_stage *stage, const struct ps_port *in, enum ps_dtype dtype,
                      int count, const char *const *names, struct ps_problems *problems)
{
    const struct ps_array *from = &in->array;
    struct ps_error error = {0};
    int64_t dims[PS_RANK_MAX + 1];
    memcpy(dims, from->dims, sizeof from->dims);
    if (from->dims[0] >= 0)
        dims[0] = ps_row_rule_count(&stage->rows, from->dims[0], true);
    int rank = from->rank + (names != NULL);
    bool fine = rank <= PS_RANK_MAX ||
                ps_fail(&error, PS_USAGE, "the result would have more than %d axes", PS_RANK_MAX);
    if (names != NULL)
        dims[from->rank] = count;
    if (fine)
        ps_array_init(&stage->output, dtype, rank, dims);
    bool keeps_columns = names == NULL && from->column_count > 0 && from->rank > 1;
    if (fine && names != NULL)
        fine = ps_array_set_columns(&stage->output, count, names, &error);
    else if (fine && keeps_columns)
        fine = ps_array_set_columns(&stage->output, from->column_count,
                                    (const char *const *)from->columns, &error);
    stage->streamed = in->streamed;
    stage->whole_rows = dims[0];
    for (int i = ps_row_rule_keeps(&stage->rows) ? 0 : 1; i < from->rank; i++)
        stage->axes[i] = (struct ps_axis_source){stage->inputs[0], i};
    if (!fine)
        ps_problem_add(problems, error.status, stage->place, "%s", error.text);
    return fine;
}

static bool raw_integer(double number, enum ps_dtype dtype, uint64_t *raw_out)
{
    bool is_signed = ps_dtype_info(dtype)->kind == PS_CLASS_SIGNED;
    int bits = dtype == PS_BOOL ? 1 : (int)ps_dtype_bytes(dtype) * 8;
    double low = is_signed ? -ldexp(1, bits - 1) : 0;
    double high = ldexp(1, is_signed ? bits - 1 : bits);
    if (number != floor(number) || number < low || number >= high)
        return false;
    *raw_out = is_signed ? (uint64_t)(int64_t)number : (uint64_t)number;
    return true;
}

bool ps_across_raw(double number, enum ps_dtype dtype, uint64_t *raw_out)
{
    float single = (float)number;
    uint32_t bits;
    if (!ps_dtype_is_float(dtype))
        return raw_integer(number, dtype, raw_out);
    *raw_out = ps_element_nan(dtype);
    if (isnan(number))
        return true;
    if (dtype == PS_F64) {
        *raw_out = ps_exact_bits(number);
    } else if (dtype == PS_F32) {
        memcpy(&bits, &single, sizeof bits);
        *raw_out = bits;
    } else {
        *raw_out = ps_f64_to_f16(number);
    }
    return isinf(number) || isfinite(ps_element_number(dtype, *raw_out));
}

static bool drop_edges(struct ps_stage *stage, const struct ps_port *in,
                       const struct ps_value *edges, struct ps_problems *problems)
{
    stage->rows.start = stage->rows.before;
    if (stage->rows.after == 0)
        return true;
    if (in->array.dims[0] < 0) {
        ps_problem_add(problems, PS_USAGE, edges->place,
                       "edges: drop leaves out rows at the end, but how many rows '%s' has is not "
                       "known before; use fill or partial",
                       in->name);
        return false;
    }
    int64_t stop = in->array.dims[0] - stage->rows.after;
    stage->rows.stop = stop > 0 ? stop : 0;
    return true;
}

bool ps_across_edges(struct ps_stage *stage, const struct ps_port *in, enum ps_dtype dtype,
                     struct ps_across_edges *edges_out, struct ps_problems *problems)
{
    const struct ps_value *edges = ps_values_get(stage->options, "edges");
    const struct ps_value *fill = ps_values_get(stage->options, "fill");
    *edges_out = (struct ps_across_edges){.fill = strcmp(edges->text, "fill") == 0};
    if (fill->given && !edges_out->fill) {
        ps_problem_add(problems, PS_USAGE, fill->place,
                       "fill: nothing is filled with `edges: %s`; leave one of them out",
                       edges->text);
        return false;
    }
    if (strcmp(edges->text, "drop") == 0)
        return drop_edges(stage, in, edges, problems);
    bool needed = edges_out->fill && stage->rows.before + stage->rows.after > 0;
    if (!needed || ps_across_raw(fill->given ? fill->number : NAN, dtype, &edges_out->filler))
        return true;
    if (fill->given)
        ps_problem_add(problems, PS_USAGE, fill->place,
                       "fill: %g is no value of %s, the dtype of "
                       "the result",
                       fill->number, ps_dtype_name(dtype));
    else
        ps_problem_add(
            problems, PS_USAGE, stage->place,
            "the first or last rows lack neighbours, and %s, the dtype of the result, has "
            "no NaN to say so: give a `fill`, `edges: drop`%s, or make '%s' f64 by a map "
            "stage",
            ps_dtype_name(dtype),
            strstr(edges->option->choices, "partial") ? " or `edges: partial`" : "", in->name);
    return false;
}
