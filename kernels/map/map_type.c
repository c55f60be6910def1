// SPDX-License-Identifier: Apache-2.0
// Typing: nodes to instructions, by NumPy 2's rules (NEP 50: literals and params are weak, they
// take the dtype of the array they meet).
#include "kernels/map/map_typer.h"

#include <stdlib.h>
#include <string.h>

static struct ps_typed type_op(struct ps_typer *t, const struct ps_typed *values)
{
    enum ps_map_op op = t->node->op;
    struct ps_typed v[PS_OP_ARGUMENTS_MAX] = {0};
    bool all_constant = true;
    for (int i = 0; i < ps_op_infos[op].arguments; i++) {
        int from = t->node->arguments[i];
        v[i] = from >= 0 ? values[from] : (struct ps_typed){.kind = PS_TYPED_NONE};
        all_constant = all_constant && v[i].kind != PS_TYPED_VALUE;
    }
    if (!all_constant)
        return ps_type_apply(t, op, v);
    struct ps_typed folded;
    const char *fault = ps_fold(op, v, &folded);
    return fault == NULL ? folded : ps_type_fail(t, "%s", fault);
}

// Rounded to binary16 once, also from f64: by way of f32 it would be rounded twice.
static struct ps_typed to_half(struct ps_typer *t, struct ps_typed v)
{
    enum ps_dtype from = v.kind == PS_TYPED_VALUE && v.dtype == PS_F64 ? PS_F64 : PS_F32;
    if (from == PS_F32)
        v = ps_type_cast(t, v, v.kind == PS_TYPED_VALUE ? PS_F32 : PS_F16);
    if (t->failed)
        return v;
    return ps_type_emit(
        t, (struct ps_instruction){.op = PS_OP_HALF, .dtype = from, .result = PS_F32, .a = v.index},
        PS_F16);
}

// A cast that the user wrote, where `checked` wants to know what does not fit.
static struct ps_typed checked_cast(struct ps_typer *t, struct ps_typed v, enum ps_dtype dtype)
{
    struct ps_instruction cast = {.op = PS_OP_CAST,
                                  .dtype = ps_type_register(v.dtype),
                                  .result = dtype,
                                  .a = v.index,
                                  .checked = true};
    return t->failed ? v : ps_type_emit(t, cast, dtype);
}

static struct ps_typed convert(struct ps_typer *t, struct ps_typed v, enum ps_dtype dtype)
{
    if (v.kind == PS_TYPED_FLOAT && !ps_dtype_is_float(dtype))
        v = ps_type_constant(t, v, PS_F64); // converted as array elements are
    if (dtype == PS_BOOL)
        return ps_type_truth(t, v);
    if (dtype == PS_F16)
        return to_half(t, v);
    return t->checked && ps_dtype_is_integer(dtype) && v.kind == PS_TYPED_VALUE &&
                   v.dtype != PS_BOOL && ps_type_register(v.dtype) != dtype
               ? checked_cast(t, v, dtype)
               : ps_type_cast(t, v, dtype);
}

static struct ps_typed type_param(const struct ps_value *params, int i)
{
    bool whole = !params->quoted[i];
    return (struct ps_typed){.kind = whole ? PS_TYPED_INT : PS_TYPED_FLOAT,
                             .integer = params->integers[i],
                             .number = params->numbers[i]};
}

static int find_param(const struct ps_value *params, const char *name)
{
    for (int i = 0; i < params->count; i++)
        if (strcmp(params->words[i], name) == 0)
            return i;
    return -1;
}

static bool is_function(const char *name)
{
    double value;
    if (strcmp(name, "row") == 0 || strcmp(name, "col") == 0)
        return false;
    for (int i = 0; i < ps_expr_word_count(); i++)
        if (strcmp(ps_expr_words[i], name) == 0)
            return !ps_expr_constant(name, &value);
    return false;
}

struct ps_typed ps_type_unknown(struct ps_typer *t)
{
    const struct ps_value *params = ps_values_get(t->stage->options, "params");
    int words = ps_expr_word_count(), count = 0;
    int most = t->scope->count + params->count + t->parts->count + words;
    const char **names = calloc((size_t)most, sizeof *names);
    struct ps_text list = {0};
    for (int i = 0; names != NULL && i < t->scope->count; i++) {
        if (t->scope->ports[i].hidden)
            continue;
        names[count++] = t->scope->ports[i].name;
        ps_text_printf(&list, "%s%s", list.length > 0 ? ", " : "", t->scope->ports[i].name);
    }
    for (int i = 0; names != NULL && i < params->count; i++) {
        names[count++] = params->words[i];
        ps_text_printf(&list, "%s%s", list.length > 0 ? ", " : "", params->words[i]);
    }
    for (int i = 0; names != NULL && t->parts->list + i < t->part; i++) {
        names[count++] = t->parts->list[i].name;
        ps_text_printf(&list, "%s%s", list.length > 0 ? ", " : "", t->parts->list[i].name);
    }
    for (int i = 0; names != NULL && i < words; i++)
        names[count++] = ps_expr_words[i];
    if (names != NULL && is_function(t->node->name)) {
        ps_type_fail(t, "'%s' is a function: write %s(...)", t->node->name, t->node->name);
        count = 0;
    }
    const char *near = names ? ps_nearest(t->node->name, names, (size_t)count) : NULL;
    ps_type_fail(t, "no array or param '%s' here (there are: %s)%s%s%s", t->node->name,
                 list.data ? list.data : "none", near ? ", did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
    ps_text_free(&list);
    free(names);
    return (struct ps_typed){0};
}

int ps_type_find_port(const struct ps_scope *scope, const char *name)
{
    for (int i = 0; i < scope->count; i++)
        if (!scope->ports[i].hidden && strcmp(scope->ports[i].name, name) == 0)
            return i;
    return -1;
}

int ps_type_find_column(struct ps_typer *t, const struct ps_array *array)
{
    const struct ps_node *node = t->node;
    int64_t last = array->rank > 0 ? array->dims[array->rank - 1] : 0;
    if (node->column == NULL) {
        if (array->rank > 0 && node->integer < last && node->integer < INT32_MAX)
            return (int)node->integer;
        ps_type_fail(t, "'%s' has no column %lld: its last axis has %lld elements", node->name,
                     (long long)node->integer, (long long)last);
        return -1;
    }
    int found = ps_array_find_column(array, node->column);
    if (found >= 0)
        return found;
    struct ps_text list = {0};
    const char *const *columns = (const char *const *)array->columns;
    const char *near = ps_nearest(node->column, columns, (size_t)array->column_count);
    for (int i = 0; i < array->column_count && i < 20; i++)
        ps_text_printf(&list, "%s%s", i > 0 ? ", " : "", array->columns[i]);
    ps_type_fail(t, "'%s' has no column '%s' (%s%s%s)%s%s%s", node->name, node->column,
                 array->column_count > 0 ? "it has: " : "its columns have no names",
                 list.data ? list.data : "", array->column_count > 20 ? ", ..." : "",
                 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    ps_text_free(&list);
    return -1;
}

static struct ps_typed load(struct ps_typer *t, int port, int column)
{
    const struct ps_array *array = &t->scope->ports[port].array;
    struct ps_leaf leaf;
    ps_map_leaf(&t->shape, &t->scope->ports[port], port, column, &leaf);
    int index = ps_code_add_leaf(&t->detail->code, &leaf);
    if (index < 0)
        return ps_type_fail(t, "out of memory for the expression");
    return ps_type_emit(t,
                        (struct ps_instruction){.op = PS_OP_LOAD,
                                                .dtype = array->dtype,
                                                .result = ps_type_register(array->dtype),
                                                .a = index},
                        array->dtype);
}

// A name of `let`, whose value is the register it was computed in.
static struct ps_typed type_term(struct ps_typer *t, const struct ps_map_part *term)
{
    if (term >= t->part)
        return ps_type_fail(t, "'%s' is defined %s; an expression of `let` uses earlier ones only",
                            term->name, term == t->part ? "by itself" : "after this");
    if (t->node->kind == PS_NODE_COLUMN)
        return ps_type_fail(t, "'%s' is computed here and has no columns: name those of arrays",
                            term->name);
    return term->value;
}

static struct ps_typed type_name(struct ps_typer *t)
{
    const struct ps_value *params = ps_values_get(t->stage->options, "params");
    const struct ps_node *node = t->node;
    int param = node->kind == PS_NODE_NAME ? find_param(params, node->name) : -1;
    int port = ps_type_find_port(t->scope, node->name), column = -1;
    int term = ps_map_parts_find(t->parts, node->name);
    if (term >= 0)
        return type_term(t, &t->parts->list[term]);
    if (param >= 0)
        return type_param(params, param);
    struct ps_typed number = {.kind = PS_TYPED_FLOAT};
    if (port < 0 && node->kind == PS_NODE_NAME && ps_expr_constant(node->name, &number.number))
        return number;
    if (port < 0 && node->kind == PS_NODE_NAME && strcmp(node->name, "row") == 0)
        return ps_type_index(t, 0);
    if (port < 0 && node->kind == PS_NODE_NAME && strcmp(node->name, "col") == 0)
        return ps_type_index(t, -1);
    if (port < 0)
        return ps_type_unknown(t);
    if (ps_stage_use(t->stage, t->scope, node->name, t->part->place, t->problems) < 0) {
        t->failed = true; // reported with that array
        return (struct ps_typed){0};
    }
    if (node->kind == PS_NODE_COLUMN &&
        (column = ps_type_find_column(t, &t->scope->ports[port].array)) < 0)
        return (struct ps_typed){0};
    return load(t, port, column);
}

static struct ps_typed type_node(struct ps_typer *t, const struct ps_typed *values)
{
    switch (t->node->kind) {
    case PS_NODE_INTEGER:
        return (struct ps_typed){.kind = PS_TYPED_INT, .integer = t->node->integer};
    case PS_NODE_NUMBER:
        return (struct ps_typed){.kind = PS_TYPED_FLOAT, .number = t->node->number};
    case PS_NODE_TRUTH:
        return ps_type_constant(
            t, (struct ps_typed){.kind = PS_TYPED_INT, .integer = t->node->integer}, PS_BOOL);
    case PS_NODE_CAST:
        return convert(t, values[t->node->arguments[0]], t->node->dtype);
    case PS_NODE_OP:
        return type_op(t, values);
    case PS_NODE_INDEX:
        return ps_type_index(t, t->node->integer);
    case PS_NODE_TABLE:
        return (struct ps_typed){.kind = PS_TYPED_NONE};
    case PS_NODE_LOOKUP:
        return ps_type_lookup(t, values);
    case PS_NODE_INTERP:
        return ps_type_interp(t, values);
    default:
        return type_name(t);
    }
}

static void add_shapes(struct ps_typer *t)
{
    const struct ps_value *params = ps_values_get(t->stage->options, "params");
    for (int i = 0; i < t->part->expr.count && !t->failed; i++) {
        const struct ps_node *node = t->node = &t->part->expr.nodes[i];
        int port = -1;
        if (node->kind == PS_NODE_COLUMN ||
            (node->kind == PS_NODE_NAME && find_param(params, node->name) < 0))
            port = ps_type_find_port(t->scope, node->name);
        if (port < 0 || t->scope->ports[port].failed)
            continue;
        const char *fault =
            ps_map_shape_add(&t->shape, &t->scope->ports[port], node->kind == PS_NODE_COLUMN);
        if (fault != NULL)
            ps_type_fail(t, "%s", fault);
    }
}

// Names and shapes first: how a leaf is addressed depends on the shape of all.
static bool gather_shape(struct ps_typer *t)
{
    const struct ps_map_part *list = t->parts->list, *end = list + t->parts->count;
    for (t->part = list; t->part < end; t->part++)
        if (t->part->used)
            add_shapes(t);
    t->part = list;
    const struct ps_port *culprit = NULL;
    const char *fault = t->failed ? NULL : ps_map_shape_settle(&t->shape, &culprit);
    for (; fault != NULL && t->part < end; t->part++) {
        for (int i = 0; t->part->used && !t->failed && i < t->part->expr.count; i++) {
            t->node = &t->part->expr.nodes[i];
            if (t->node->name != NULL && strcmp(t->node->name, culprit->name) == 0)
                ps_type_fail(t, "%s", fault);
        }
    }
    return !t->failed;
}

static void finish(struct ps_typer *t, struct ps_typed result)
{
    const struct ps_value *dtype = ps_values_get(t->stage->options, "dtype");
    if (!t->shape.any) {
        ps_type_fail(t, "the expression reads no array");
        return;
    }
    if (dtype->given)
        result = convert(t, result, dtype->dtype);
    t->detail->result = result.index;
    struct ps_error error = {0};
    if (!t->failed &&
        !ps_map_shape_finish(&t->shape, t->stage, t->scope, result.dtype, t->detail, &error))
        ps_type_fail(t, "%s", error.text);
}

// The value of the part that t->part is.
static struct ps_typed type_part(struct ps_typer *t)
{
    const struct ps_expr *expr = &t->part->expr;
    struct ps_typed result = {0}, *values = calloc((size_t)expr->count, sizeof *values);
    t->node = &expr->nodes[0];
    if (values == NULL)
        return ps_type_fail(t, "out of memory for the expression");
    for (int i = 0; i < expr->count && !t->failed; i++) {
        t->node = &expr->nodes[i];
        result = values[i] = type_node(t, values);
    }
    free(values);
    return result;
}

bool ps_map_type(struct ps_stage *stage, const struct ps_scope *scope, struct ps_map_parts *parts,
                 struct ps_map_detail *detail, struct ps_problems *problems)
{
    struct ps_typer t = {.stage = stage,
                         .scope = scope,
                         .detail = detail,
                         .problems = problems,
                         .parts = parts,
                         .checked = ps_values_get(stage->options, "checked")->truth};
    gather_shape(&t);
    for (int i = 0; i < parts->count && !t.failed; i++) {
        t.part = &parts->list[i];
        if (t.part->used)
            parts->list[i].value = type_part(&t);
    }
    if (!t.failed)
        finish(&t, parts->list[parts->count - 1].value);
    return !t.failed;
}
