// SPDX-License-Identifier: Apache-2.0
// Typing of what is read by number or is a number of its place: lookup, interp, index.
#include "kernels/map/map_typer.h"

#include <string.h>

// Axes of the result count its rows as axis 0.
struct ps_typed ps_type_index(struct ps_typer *t, int64_t axis)
{
    int first = t->shape.streamed ? 1 : 0, rank = t->shape.rank + first;
    if (!t->shape.any) // reported when all is typed, if no array is read elsewhere
        return ps_type_fail(t, "the expression reads no array, so it has no axes");
    if (axis < -rank || axis >= rank)
        return ps_type_fail(t, "the result has %d ax%s (counted from 0), so there is no axis %lld",
                            rank, rank == 1 ? "is" : "es", (long long)axis);
    if (axis == -1 && rank == 1 && first == 1 && t->node->kind == PS_NODE_NAME)
        return ps_type_fail(t, "the result has one number per row, so there is no col; the number "
                               "of the row is `row`");
    axis += axis < 0 ? rank : 0;
    return ps_type_emit(
        t,
        (struct ps_instruction){
            .op = PS_OP_INDEX, .dtype = PS_I64, .result = PS_I64, .a = (int)axis - first},
        PS_I64);
}

static bool is_param(const struct ps_typer *t, const char *name)
{
    const struct ps_value *params = ps_values_get(t->stage->options, "params");
    for (int i = 0; i < params->count; i++)
        if (strcmp(params->words[i], name) == 0)
            return true;
    return false;
}

// The leaf of the whole array that t->node names; -1 after reporting.
static int table_leaf(struct ps_typer *t)
{
    const struct ps_node *node = t->node;
    int port = ps_type_find_port(t->scope, node->name), column = -1;
    if (is_param(t, node->name) || ps_map_parts_find(t->parts, node->name) >= 0) {
        ps_type_fail(t,
                     "'%s' is no array: name an input with `load: whole`, or a stage whose "
                     "result is whole",
                     node->name);
        return -1;
    }
    if (port < 0) {
        ps_type_unknown(t);
        return -1;
    }
    if (ps_stage_use(t->stage, t->scope, node->name, t->part->place, t->problems) < 0) {
        t->failed = true;
        return -1;
    }
    const struct ps_port *from = &t->scope->ports[port];
    if (from->streamed) {
        ps_type_fail(t,
                     "'%s' comes block by block, and its elements are read by number here: add "
                     "`load: whole` to the input, or name a stage whose result is whole",
                     node->name);
        return -1;
    }
    bool has_column = node->column != NULL || node->integer >= 0;
    if (has_column && (column = ps_type_find_column(t, &from->array)) < 0)
        return -1;
    struct ps_leaf leaf;
    const char *fault = ps_map_table(&t->shape, from, port, column, &leaf);
    int index = fault == NULL ? ps_code_add_leaf(&t->detail->code, &leaf) : -1;
    if (index < 0)
        ps_type_fail(t, "%s", fault != NULL ? fault : "out of memory for the expression");
    return index;
}

static int table_of(struct ps_typer *t, int argument)
{
    const struct ps_node *own = t->node;
    t->node = &t->part->expr.nodes[argument];
    int leaf = table_leaf(t);
    t->node = own;
    return leaf;
}

static struct ps_typed element(struct ps_typer *t, int leaf, struct ps_typed index)
{
    enum ps_dtype dtype = t->detail->code.leaves[leaf].dtype;
    return ps_type_emit(t,
                        (struct ps_instruction){.op = PS_OP_LOOKUP,
                                                .dtype = PS_I64,
                                                .result = ps_type_register(dtype),
                                                .a = index.index,
                                                .b = leaf},
                        dtype);
}

// Where the index is outside, the first element is read and `otherwise` taken.
static struct ps_typed element_or(struct ps_typer *t, int leaf, struct ps_typed index,
                                  struct ps_typed otherwise)
{
    struct ps_typed count = {.kind = PS_TYPED_INT, .integer = t->detail->code.leaves[leaf].count};
    struct ps_typed zero = {.kind = PS_TYPED_INT};
    struct ps_typed natural = ps_type_cast(t, index, PS_U64); // -1 becomes the largest
    struct ps_typed inside = ps_type_binary(t, PS_OP_LT, natural, count, PS_U64, PS_BOOL);
    struct ps_typed found = ps_type_choose(t, inside, index, zero);
    if (t->failed)
        return found;
    return ps_type_choose(t, inside, element(t, leaf, found), otherwise);
}

struct ps_typed ps_type_lookup(struct ps_typer *t, const struct ps_typed *values)
{
    const int *arguments = t->node->arguments;
    struct ps_typed index = values[arguments[1]];
    int leaf = table_of(t, arguments[0]);
    if (leaf < 0)
        return index;
    enum ps_dtype dtype = ps_type_default(index);
    if (!ps_dtype_is_integer(dtype))
        return ps_type_fail(t,
                            "the index is %s, and an element has a whole number: cast it, as in "
                            "lookup(%s, i64(...))",
                            ps_dtype_name(dtype), t->part->expr.nodes[arguments[0]].name);
    index = index.kind == PS_TYPED_VALUE ? ps_type_cast(t, index, PS_I64)
                                         : ps_type_constant(t, index, PS_I64);
    if (t->failed)
        return index;
    return arguments[2] < 0 ? element(t, leaf, index)
                            : element_or(t, leaf, index, values[arguments[2]]);
}

struct ps_typed ps_type_interp(struct ps_typer *t, const struct ps_typed *values)
{
    const int *arguments = t->node->arguments;
    struct ps_typed x = ps_type_cast(t, values[arguments[0]], PS_F64);
    int places = table_of(t, arguments[1]), heights = places < 0 ? -1 : table_of(t, arguments[2]);
    if (heights < 0 || t->failed)
        return x;
    const struct ps_leaf *leaves = t->detail->code.leaves;
    if (leaves[places].count != leaves[heights].count)
        return ps_type_fail(
            t, "interp needs as many values as places: '%s' has %lld, '%s' %lld",
            t->part->expr.nodes[arguments[2]].name, (long long)leaves[heights].count,
            t->part->expr.nodes[arguments[1]].name, (long long)leaves[places].count);
    return ps_type_emit(t,
                        (struct ps_instruction){.op = PS_OP_INTERP,
                                                .dtype = PS_F64,
                                                .result = PS_F64,
                                                .a = x.index,
                                                .b = places,
                                                .c = heights},
                        PS_F64);
}
