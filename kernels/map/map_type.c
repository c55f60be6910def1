// SPDX-License-Identifier: Apache-2.0
// Typing: nodes to instructions, by NumPy 2's rules (NEP 50: literals and params are weak, they
// take the dtype of the array they meet).
#include "kernels/map/map_shape.h"

#include "kernels/map/fold.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct typer {
    struct ps_stage *stage;
    const struct ps_scope *scope;
    const struct ps_value *expr;
    struct ps_map_detail *detail;
    struct ps_problems *problems;
    const struct ps_node *node; // that is being typed
    struct ps_map_shape shape;
    bool failed;
};

static struct ps_typed fail(struct typer *t, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!t->failed)
        ps_problem_add(t->problems, PS_USAGE,
                       ps_map_place(t->expr, t->node->start, t->node->length), "%s", text);
    t->failed = true;
    return (struct ps_typed){0};
}

static enum ps_dtype register_of(enum ps_dtype dtype)
{
    return dtype == PS_F16 ? PS_F32 : dtype;
}

static struct ps_typed emit(struct typer *t, struct ps_instruction instruction, enum ps_dtype dtype)
{
    int index = ps_code_add(&t->detail->code, instruction);
    if (index < 0)
        return fail(t, "out of memory for the expression");
    return (struct ps_typed){.kind = PS_TYPED_VALUE, .dtype = dtype, .index = index};
}

// ---- Constants and casts ----

static bool integer_fits(int64_t value, enum ps_dtype dtype)
{
    const struct ps_dtype_info *info = ps_dtype_info(dtype);
    int bits = (int)info->bytes * 8;
    if (info->kind == PS_CLASS_UNSIGNED)
        return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
    if (info->kind == PS_CLASS_SIGNED)
        return bits == 64 ||
               (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
    return true;
}

static struct ps_typed constant(struct typer *t, struct ps_typed v, enum ps_dtype dtype)
{
    struct ps_instruction i = {
        .op = PS_OP_CONST, .dtype = register_of(dtype), .result = register_of(dtype)};
    if (ps_dtype_is_float(dtype))
        i.number = v.kind == PS_TYPED_FLOAT ? v.number : (double)v.integer;
    else
        i.integer = v.integer;
    if (dtype == PS_F32)
        i.number = (double)(float)i.number;
    if (dtype == PS_F16)
        i.number = (double)ps_f16_to_f32(ps_f64_to_f16(i.number));
    return emit(t, i, dtype);
}

// Whether a finite constant would become infinite.
static bool overflows(struct ps_typed v, enum ps_dtype dtype)
{
    double x = v.kind == PS_TYPED_INT ? (double)v.integer : v.number;
    double most = dtype == PS_F16 ? 65520 : dtype == PS_F32 ? 0x1.ffffffp127 : INFINITY;
    return isfinite(x) && fabs(x) >= most;
}

static struct ps_typed cast(struct typer *t, struct ps_typed v, enum ps_dtype dtype)
{
    enum ps_dtype from = register_of(v.dtype), to = register_of(dtype);
    if (t->failed)
        return v;
    if (v.kind != PS_TYPED_VALUE) {
        if (v.kind == PS_TYPED_INT && !integer_fits(v.integer, dtype))
            return fail(t,
                        "%lld does not fit %s; write %lld.0 to compute with floating point, or "
                        "cast the array to a wider type",
                        (long long)v.integer, ps_dtype_name(dtype), (long long)v.integer);
        return overflows(v, dtype) ? fail(t, "%g does not fit %s; cast the array to a wider type",
                                          v.kind == PS_TYPED_INT ? (double)v.integer : v.number,
                                          ps_dtype_name(dtype))
                                   : constant(t, v, dtype);
    }
    if (from != to)
        v = emit(
            t, (struct ps_instruction){.op = PS_OP_CAST, .dtype = from, .result = to, .a = v.index},
            dtype);
    v.dtype = dtype;
    return v;
}

// The dtype two values are computed in; PS_DTYPE_COUNT when both are constants.
static enum ps_dtype common(struct ps_typed a, struct ps_typed b)
{
    if (a.kind == PS_TYPED_VALUE && b.kind == PS_TYPED_VALUE)
        return ps_dtype_promote(a.dtype, b.dtype);
    if (a.kind != PS_TYPED_VALUE && b.kind != PS_TYPED_VALUE)
        return PS_DTYPE_COUNT;
    struct ps_typed array = a.kind == PS_TYPED_VALUE ? a : b;
    struct ps_typed weak = a.kind == PS_TYPED_VALUE ? b : a;
    if (weak.kind == PS_TYPED_FLOAT)
        return ps_dtype_is_float(array.dtype) ? array.dtype : PS_F64;
    return array.dtype == PS_BOOL ? PS_I64 : array.dtype;
}

static enum ps_dtype default_dtype(struct ps_typed v)
{
    return v.kind == PS_TYPED_VALUE ? v.dtype : v.kind == PS_TYPED_FLOAT ? PS_F64 : PS_I64;
}

static struct ps_typed binary(struct typer *t, enum ps_map_op op, struct ps_typed a,
                              struct ps_typed b, enum ps_dtype dtype, enum ps_dtype result)
{
    a = cast(t, a, dtype);
    b = cast(t, b, dtype);
    if (t->failed)
        return a;
    return emit(t,
                (struct ps_instruction){.op = op,
                                        .dtype = register_of(dtype),
                                        .result = register_of(result),
                                        .a = a.index,
                                        .b = b.index},
                result);
}

static struct ps_typed unary(struct typer *t, enum ps_map_op op, struct ps_typed a,
                             enum ps_dtype dtype, enum ps_dtype result)
{
    a = cast(t, a, dtype);
    if (t->failed)
        return a;
    return emit(
        t,
        (struct ps_instruction){
            .op = op, .dtype = register_of(dtype), .result = register_of(result), .a = a.index},
        result);
}

// ---- Rules ----

static struct ps_typed arithmetic(struct typer *t, enum ps_map_op op, struct ps_typed a,
                                  struct ps_typed b)
{
    bool two = ps_op_infos[op].arguments == 2;
    enum ps_dtype dtype = two ? common(a, b) : default_dtype(a);
    if (dtype == PS_BOOL && (op == PS_OP_MIN || op == PS_OP_MAX))
        return binary(t, op == PS_OP_MIN ? PS_OP_AND : PS_OP_OR, a, b, PS_BOOL, PS_BOOL);
    dtype = dtype == PS_BOOL ? PS_I8 : dtype;
    if (op == PS_OP_POW && ps_dtype_is_integer(dtype) && b.kind == PS_TYPED_INT && b.integer < 0)
        return fail(t,
                    "an integer array to a negative power has no integer result; write the "
                    "exponent as %lld.0",
                    (long long)b.integer);
    bool square = op == PS_OP_POW && ((b.kind == PS_TYPED_INT && b.integer == 2) ||
                                      (b.kind == PS_TYPED_FLOAT && b.number == 2));
    if (square && a.kind == PS_TYPED_VALUE)
        return binary(t, PS_OP_MUL, a, a, dtype, dtype);
    return two ? binary(t, op, a, b, dtype, dtype) : unary(t, op, a, dtype, dtype);
}

static struct ps_typed divide(struct typer *t, struct ps_typed a, struct ps_typed b)
{
    enum ps_dtype dtype = common(a, b);
    dtype = ps_dtype_is_float(dtype) ? dtype : PS_F64;
    return binary(t, PS_OP_DIV, a, b, dtype, dtype);
}

// NumPy's unary functions of integers: the smallest float that holds every value.
static enum ps_dtype float_for(enum ps_dtype dtype)
{
    if (ps_dtype_is_float(dtype))
        return dtype;
    size_t bytes = ps_dtype_bytes(dtype);
    return bytes == 1 ? PS_F16 : bytes == 2 ? PS_F32 : PS_F64;
}

static struct ps_typed floating(struct typer *t, enum ps_map_op op, struct ps_typed a,
                                struct ps_typed b)
{
    bool two = ps_op_infos[op].arguments == 2;
    enum ps_dtype dtype = float_for(two ? common(a, b) : a.dtype);
    return two ? binary(t, op, a, b, dtype, dtype) : unary(t, op, a, dtype, dtype);
}

static struct ps_typed truth(struct typer *t, struct ps_typed v)
{
    struct ps_typed zero = {.kind = PS_TYPED_INT};
    enum ps_dtype dtype = default_dtype(v);
    if (v.kind == PS_TYPED_VALUE && dtype == PS_BOOL)
        return v;
    return binary(t, PS_OP_NE, v, zero, dtype, PS_BOOL);
}

static struct ps_typed logic(struct typer *t, enum ps_map_op op, struct ps_typed a,
                             struct ps_typed b)
{
    a = truth(t, a);
    if (op == PS_OP_NOT)
        return unary(t, op, a, PS_BOOL, PS_BOOL);
    b = truth(t, b);
    return binary(t, op, a, b, PS_BOOL, PS_BOOL);
}

static struct ps_typed choose(struct typer *t, struct ps_typed condition, struct ps_typed a,
                              struct ps_typed b)
{
    enum ps_dtype dtype = common(a, b);
    if (dtype == PS_DTYPE_COUNT)
        dtype = ps_dtype_promote(default_dtype(a), default_dtype(b));
    condition = truth(t, condition);
    a = cast(t, a, dtype);
    b = cast(t, b, dtype);
    if (t->failed)
        return a;
    return emit(t,
                (struct ps_instruction){.op = PS_OP_SELECT,
                                        .dtype = register_of(dtype),
                                        .result = register_of(dtype),
                                        .a = condition.index,
                                        .b = a.index,
                                        .c = b.index},
                dtype);
}

// ---- Exact comparison ----

// The result of a three-way comparison (swapped: of b with a) against what op asks.
static struct ps_typed from_three_way(struct typer *t, enum ps_map_op op, struct ps_typed way,
                                      bool swapped)
{
    struct ps_typed zero = {.kind = PS_TYPED_INT}, one = {.kind = PS_TYPED_INT, .integer = 1};
    struct ps_typed minus = {.kind = PS_TYPED_INT, .integer = -1};
    if (op == PS_OP_EQ || op == PS_OP_NE)
        return binary(t, op, way, zero, PS_I8, PS_BOOL);
    if (op == PS_OP_LT)
        return binary(t, PS_OP_EQ, way, swapped ? one : minus, PS_I8, PS_BOOL);
    if (!swapped) // -1 or 0, not 1, not 2
        return binary(t, PS_OP_LE, way, zero, PS_I8, PS_BOOL);
    return binary(t, PS_OP_LE, cast(t, way, PS_U8), one, PS_U8, PS_BOOL); // 0 or 1; -1 is 255
}

static struct ps_typed three_way(struct typer *t, enum ps_map_op op, enum ps_map_op way,
                                 struct ps_typed a, enum ps_dtype a_dtype, struct ps_typed b,
                                 enum ps_dtype b_dtype, bool swapped)
{
    struct ps_typed x = cast(t, a, a_dtype), y = cast(t, b, b_dtype);
    if (t->failed)
        return x;
    struct ps_typed result =
        emit(t,
             (struct ps_instruction){
                 .op = way, .dtype = a_dtype, .result = PS_I8, .a = x.index, .b = y.index},
             PS_I8);
    return from_three_way(t, op, result, swapped);
}

// Whether every value of an integer dtype is exact in a float dtype.
static bool exact_in(enum ps_dtype integer, enum ps_dtype number)
{
    const struct ps_dtype_info *info = ps_dtype_info(integer);
    int bits = (int)info->bytes * 8 - (info->kind == PS_CLASS_SIGNED);
    return bits <= (number == PS_F64 ? 53 : number == PS_F32 ? 24 : 11);
}

static struct ps_typed compare_int_float(struct typer *t, enum ps_map_op op, struct ps_typed a,
                                         struct ps_typed b)
{
    bool swapped = ps_dtype_is_float(a.dtype);
    struct ps_typed integer = swapped ? b : a, number = swapped ? a : b;
    if (exact_in(integer.dtype, number.dtype))
        return binary(t, op, a, b, number.dtype, PS_BOOL);
    if (exact_in(integer.dtype, PS_F64))
        return binary(t, op, a, b, PS_F64, PS_BOOL);
    bool natural = integer.dtype == PS_U64;
    return three_way(t, op, natural ? PS_OP_CMP_UF : PS_OP_CMP_IF, integer, integer.dtype, number,
                     PS_F64, swapped);
}

// A literal takes the array's dtype where that holds it exactly; 300 never equals a u8.
static struct ps_typed settle(struct typer *t, struct ps_typed weak, enum ps_dtype other)
{
    if (weak.kind == PS_TYPED_FLOAT)
        return constant(t, weak, ps_dtype_is_float(other) ? other : PS_F64);
    if (ps_dtype_is_float(other)) {
        double x = (double)weak.integer;
        bool exact = other == PS_F32 ? (double)(float)x == x : fabs(x) <= 2048;
        return constant(t, weak, exact ? other : PS_F64);
    }
    if (other != PS_BOOL && integer_fits(weak.integer, other))
        return constant(t, weak, other);
    return constant(t, weak, PS_I64);
}

static struct ps_typed compare(struct typer *t, enum ps_map_op op, struct ps_typed a,
                               struct ps_typed b)
{
    if (a.kind != PS_TYPED_VALUE)
        a = settle(t, a, b.dtype);
    if (b.kind != PS_TYPED_VALUE)
        b = settle(t, b, a.dtype);
    if (t->failed)
        return a;
    bool fa = ps_dtype_is_float(a.dtype), fb = ps_dtype_is_float(b.dtype);
    if (fa != fb && a.dtype != PS_BOOL && b.dtype != PS_BOOL)
        return compare_int_float(t, op, a, b);
    enum ps_dtype dtype = ps_dtype_promote(a.dtype, b.dtype);
    bool mixed = !fa && !fb && ps_dtype_is_float(dtype);
    if (!mixed)
        return binary(t, op, a, b, dtype == PS_BOOL ? PS_U8 : dtype, PS_BOOL);
    bool swapped = a.dtype == PS_U64;
    return three_way(t, op, PS_OP_CMP_IU, swapped ? b : a, PS_I64, swapped ? a : b, PS_U64,
                     swapped);
}

static struct ps_typed test(struct typer *t, enum ps_map_op op, struct ps_typed a)
{
    if (ps_dtype_is_float(a.dtype))
        return unary(t, op, a, a.dtype, PS_BOOL);
    // An integer is never NaN or infinite, whatever it is: compare it with itself.
    return binary(t, op == PS_OP_ISFINITE ? PS_OP_EQ : PS_OP_NE, a, a,
                  a.dtype == PS_BOOL ? PS_U8 : a.dtype, PS_BOOL);
}

static struct ps_typed apply(struct typer *t, enum ps_map_op op, const struct ps_typed *v)
{
    switch (ps_op_infos[op].rule) {
    case PS_RULE_ARITHMETIC:
        return arithmetic(t, op, v[0], v[1]);
    case PS_RULE_DIVIDE:
        return divide(t, v[0], v[1]);
    case PS_RULE_COMPARE:
        return compare(t, op, v[0], v[1]);
    case PS_RULE_LOGIC:
        return logic(t, op, v[0], v[1]);
    case PS_RULE_FLOAT:
        return floating(t, op, v[0], v[1]);
    case PS_RULE_ROUND:
        return ps_dtype_is_float(v[0].dtype) ? unary(t, op, v[0], v[0].dtype, v[0].dtype) : v[0];
    case PS_RULE_TEST:
        return test(t, op, v[0]);
    case PS_RULE_SELECT:
        return choose(t, v[0], v[1], v[2]);
    default:
        return fail(t, "an operation that expressions cannot name");
    }
}

// ---- Nodes ----

static struct ps_typed type_op(struct typer *t, const struct ps_typed *values)
{
    enum ps_map_op op = t->node->op;
    struct ps_typed v[3] = {0};
    bool all_constant = true;
    for (int i = 0; i < ps_op_infos[op].arguments; i++) {
        v[i] = values[t->node->arguments[i]];
        all_constant = all_constant && v[i].kind != PS_TYPED_VALUE;
    }
    if (!all_constant)
        return apply(t, op, v);
    struct ps_typed folded;
    const char *fault = ps_fold(op, v, &folded);
    return fault == NULL ? folded : fail(t, "%s", fault);
}

// Rounded to binary16 once, also from f64: by way of f32 it would be rounded twice.
static struct ps_typed to_half(struct typer *t, struct ps_typed v)
{
    enum ps_dtype from = v.kind == PS_TYPED_VALUE && v.dtype == PS_F64 ? PS_F64 : PS_F32;
    if (from == PS_F32)
        v = cast(t, v, v.kind == PS_TYPED_VALUE ? PS_F32 : PS_F16);
    if (t->failed)
        return v;
    return emit(
        t, (struct ps_instruction){.op = PS_OP_HALF, .dtype = from, .result = PS_F32, .a = v.index},
        PS_F16);
}

static struct ps_typed convert(struct typer *t, struct ps_typed v, enum ps_dtype dtype)
{
    if (v.kind == PS_TYPED_FLOAT && !ps_dtype_is_float(dtype))
        v = constant(t, v, PS_F64); // converted as array elements are
    if (dtype == PS_BOOL)
        return truth(t, v);
    return dtype == PS_F16 ? to_half(t, v) : cast(t, v, dtype);
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
    for (int i = 0; i < ps_expr_word_count(); i++)
        if (strcmp(ps_expr_words[i], name) == 0)
            return !ps_expr_constant(name, &value);
    return false;
}

static struct ps_typed unknown_name(struct typer *t, const struct ps_value *params)
{
    int words = ps_expr_word_count(), count = 0;
    int most = t->scope->count + params->count + words;
    const char **names = calloc((size_t)most, sizeof *names);
    struct ps_text list = {0};
    for (int i = 0; names != NULL && i < t->scope->count; i++) {
        names[count++] = t->scope->ports[i].name;
        ps_text_printf(&list, "%s%s", i > 0 ? ", " : "", t->scope->ports[i].name);
    }
    for (int i = 0; names != NULL && i < params->count; i++) {
        names[count++] = params->words[i];
        ps_text_printf(&list, "%s%s", list.length > 0 ? ", " : "", params->words[i]);
    }
    for (int i = 0; names != NULL && i < words; i++)
        names[count++] = ps_expr_words[i];
    if (names != NULL && is_function(t->node->name)) {
        fail(t, "'%s' is a function: write %s(...)", t->node->name, t->node->name);
        count = 0;
    }
    const char *near = names ? ps_nearest(t->node->name, names, (size_t)count) : NULL;
    fail(t, "no array or param '%s' here (there are: %s)%s%s%s", t->node->name,
         list.data ? list.data : "none", near ? ", did you mean '" : "", near ? near : "",
         near ? "'?" : "");
    ps_text_free(&list);
    free(names);
    return (struct ps_typed){0};
}

static int find_port(const struct ps_scope *scope, const char *name)
{
    for (int i = 0; i < scope->count; i++)
        if (strcmp(scope->ports[i].name, name) == 0)
            return i;
    return -1;
}

// The number of the column that the node names; -1 after reporting.
static int find_column(struct typer *t, const struct ps_array *array)
{
    const struct ps_node *node = t->node;
    int64_t last = array->rank > 0 ? array->dims[array->rank - 1] : 0;
    if (node->column == NULL) {
        if (array->rank > 0 && node->integer < last && node->integer < INT32_MAX)
            return (int)node->integer;
        fail(t, "'%s' has no column %lld: its last axis has %lld elements", node->name,
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
    fail(t, "'%s' has no column '%s' (%s%s%s)%s%s%s", node->name, node->column,
         array->column_count > 0 ? "it has: " : "its columns have no names",
         list.data ? list.data : "", array->column_count > 20 ? ", ..." : "",
         near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    ps_text_free(&list);
    return -1;
}

static struct ps_typed load(struct typer *t, int port, int column)
{
    const struct ps_array *array = &t->scope->ports[port].array;
    struct ps_leaf leaf;
    ps_map_leaf(&t->shape, &t->scope->ports[port], port, column, &leaf);
    int index = ps_code_add_leaf(&t->detail->code, &leaf);
    if (index < 0)
        return fail(t, "out of memory for the expression");
    return emit(t,
                (struct ps_instruction){.op = PS_OP_LOAD,
                                        .dtype = array->dtype,
                                        .result = register_of(array->dtype),
                                        .a = index},
                array->dtype);
}

static struct ps_typed type_name(struct typer *t)
{
    const struct ps_value *params = ps_values_get(t->stage->options, "params");
    const struct ps_node *node = t->node;
    int param = node->kind == PS_NODE_NAME ? find_param(params, node->name) : -1;
    int port = find_port(t->scope, node->name), column = -1;
    if (param >= 0)
        return type_param(params, param);
    struct ps_typed number = {.kind = PS_TYPED_FLOAT};
    if (port < 0 && node->kind == PS_NODE_NAME && ps_expr_constant(node->name, &number.number))
        return number;
    if (port < 0)
        return unknown_name(t, params);
    if (ps_stage_use(t->stage, t->scope, node->name, t->expr->place, t->problems) < 0) {
        t->failed = true; // reported with that array
        return (struct ps_typed){0};
    }
    if (node->kind == PS_NODE_COLUMN && (column = find_column(t, &t->scope->ports[port].array)) < 0)
        return (struct ps_typed){0};
    return load(t, port, column);
}

static struct ps_typed type_node(struct typer *t, const struct ps_typed *values)
{
    switch (t->node->kind) {
    case PS_NODE_INTEGER:
        return (struct ps_typed){.kind = PS_TYPED_INT, .integer = t->node->integer};
    case PS_NODE_NUMBER:
        return (struct ps_typed){.kind = PS_TYPED_FLOAT, .number = t->node->number};
    case PS_NODE_TRUTH:
        return constant(t, (struct ps_typed){.kind = PS_TYPED_INT, .integer = t->node->integer},
                        PS_BOOL);
    case PS_NODE_CAST:
        return convert(t, values[t->node->arguments[0]], t->node->dtype);
    case PS_NODE_OP:
        return type_op(t, values);
    default:
        return type_name(t);
    }
}

// Names and shapes first: how a leaf is addressed depends on the shape of all.
static bool gather_shape(struct typer *t, const struct ps_expr *expr)
{
    const struct ps_value *params = ps_values_get(t->stage->options, "params");
    for (int i = 0; i < expr->count && !t->failed; i++) {
        const struct ps_node *node = t->node = &expr->nodes[i];
        int port = -1;
        if (node->kind == PS_NODE_COLUMN ||
            (node->kind == PS_NODE_NAME && find_param(params, node->name) < 0))
            port = find_port(t->scope, node->name);
        if (port < 0 || t->scope->ports[port].failed)
            continue;
        const char *fault =
            ps_map_shape_add(&t->shape, &t->scope->ports[port], node->kind == PS_NODE_COLUMN);
        if (fault != NULL)
            fail(t, "%s", fault);
    }
    const struct ps_port *culprit = NULL;
    const char *fault = t->failed ? NULL : ps_map_shape_settle(&t->shape, &culprit);
    for (int i = 0; fault != NULL && !t->failed; i++) {
        t->node = &expr->nodes[i];
        if (t->node->name != NULL && strcmp(t->node->name, culprit->name) == 0)
            fail(t, "%s", fault);
    }
    return !t->failed;
}

static void finish(struct typer *t, struct ps_typed result)
{
    const struct ps_value *dtype = ps_values_get(t->stage->options, "dtype");
    if (t->detail->code.leaf_count == 0) {
        fail(t, "the expression reads no array");
        return;
    }
    if (dtype->given)
        result = convert(t, result, dtype->dtype);
    t->detail->result = result.index;
    struct ps_error error = {0};
    if (!t->failed &&
        !ps_map_shape_finish(&t->shape, t->stage, t->scope, result.dtype, t->detail, &error))
        fail(t, "%s", error.text);
}

bool ps_map_type(struct ps_stage *stage, const struct ps_scope *scope, const struct ps_expr *expr,
                 struct ps_map_detail *detail, struct ps_problems *problems)
{
    struct typer t = {.stage = stage,
                      .scope = scope,
                      .detail = detail,
                      .problems = problems,
                      .expr = ps_values_get(stage->options, "expr")};
    struct ps_typed *values = calloc((size_t)expr->count, sizeof *values);
    t.node = &expr->nodes[0];
    if (values == NULL)
        fail(&t, "out of memory for the expression");
    else if (gather_shape(&t, expr)) {
        for (int i = 0; i < expr->count && !t.failed; i++) {
            t.node = &expr->nodes[i];
            values[i] = type_node(&t, values);
        }
    }
    if (!t.failed)
        finish(&t, values[expr->count - 1]);
    free(values);
    return !t.failed;
}
