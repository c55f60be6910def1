// SPDX-License-Identifier: Apache-2.0
// What stands between operators: numbers, names, columns, calls.
#include "kernels/map/expr_parser.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static char *copy_bytes(const char *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, bytes, size);
        copy[size] = '\0';
    }
    return copy;
}

static int parse_number(struct ps_parser *p)
{
    struct ps_node node = {.kind = PS_NODE_NUMBER};
    size_t start = p->at;
    char *digits = copy_bytes(p->text + p->at, p->size);
    if (digits == NULL)
        return ps_parse_fail(p, start, start, "out of memory");
    if (p->token == T_INTEGER && ps_integer_parse(digits, &node.integer))
        node.kind = PS_NODE_INTEGER;
    else if (p->token == T_INTEGER && digits[0] == '0')
        ps_parse_fail(p, start, start + p->size, "leading zeros: write the number without");
    else if (p->token == T_INTEGER)
        ps_parse_fail(
            p, start, start + p->size,
            "an integer above 9223372036854775807; write %.40s.0 to compute with floating point",
            digits);
    else if (!ps_number_parse(digits, &node.number))
        ps_parse_fail(p, start, start + p->size, "'%s' is not a number", digits);
    free(digits);
    ps_parse_next(p);
    return ps_parse_add(p, node, start);
}

// Arguments of a call, up to `most`; more than that, or fewer than `least`, is a fault.
static int parse_arguments(struct ps_parser *p, const char *name, size_t start, int *list, int most)
{
    int count = 0;
    if (ps_parse_is_symbol(p, ')'))
        return 0;
    do {
        int argument = ps_parse_whole(p);
        if (argument < 0)
            return -1;
        if (count == most)
            return ps_parse_fail(p, start, p->last_end, "%s takes at most %d argument%s", name,
                                 most, most == 1 ? "" : "s");
        list[count++] = argument;
    } while (ps_parse_accept(p, ','));
    return count;
}

static int wrong_count(struct ps_parser *p, const char *name, size_t start, int got, int need)
{
    return ps_parse_fail(p, start, p->last_end, "%s takes %d argument%s, got %d", name, need,
                         need == 1 ? "" : "s", got);
}

// min and max of two or more: folded pairwise.
static int finish_fold(struct ps_parser *p, enum ps_map_op op, const char *name, const int *list,
                       int count, size_t start)
{
    if (count < 2)
        return ps_parse_fail(p, start, p->last_end,
                             "%s takes at least 2 arguments, got %d; the %simum "
                             "of an array over an axis is `op: reduce`",
                             name, count, name);
    int result = list[0];
    for (int i = 1; i < count; i++)
        result = ps_parse_add_op(p, op, result, list[i], 0, start);
    return result;
}

static int finish_op(struct ps_parser *p, enum ps_map_op op, const char *name, const int *list,
                     int count, size_t start)
{
    int need = ps_op_infos[op].arguments;
    if (count != need)
        return wrong_count(p, name, start, count, need);
    return ps_parse_add_op(p, op, list[0], need > 1 ? list[1] : 0, need > 2 ? list[2] : 0, start);
}

static int finish_clip(struct ps_parser *p, const int *list, int count, size_t start)
{
    if (count != 3)
        return wrong_count(p, "clip", start, count, 3);
    return ps_parse_add_op(p, PS_OP_MIN, ps_parse_add_op(p, PS_OP_MAX, list[0], list[1], 0, start),
                           list[2], 0, start);
}

// nan_to_num(x, nan, posinf, neginf): all but x may be left out; NaN becomes 0 then.
static int finish_clean(struct ps_parser *p, const int *list, int count, size_t start)
{
    struct ps_node node = {.kind = PS_NODE_OP, .op = PS_OP_NAN_TO_NUM};
    if (count < 1 || count > 4)
        return ps_parse_fail(p, start, p->last_end, "nan_to_num takes 1 to 4 arguments, got %d",
                             count);
    for (int i = 0; i < 4; i++)
        node.arguments[i] = i < count ? list[i] : -1;
    if (count < 2)
        node.arguments[1] = ps_parse_add(p, (struct ps_node){.kind = PS_NODE_INTEGER}, start);
    return ps_parse_add(p, node, start);
}

// poly(x, c0, c1, ...): Horner's rule, from the highest power down.
static int finish_poly(struct ps_parser *p, const int *list, int count, size_t start)
{
    if (count < 3)
        return ps_parse_fail(p, start, p->last_end,
                             "poly takes x and at least 2 coefficients, of x ** 0 first");
    int result = list[count - 1];
    for (int i = count - 2; i > 0; i--)
        result =
            ps_parse_add_op(p, PS_OP_ADD, ps_parse_add_op(p, PS_OP_MUL, result, list[0], 0, start),
                            list[i], 0, start);
    return result;
}

static int parse_cast(struct ps_parser *p, enum ps_dtype dtype, int argument, size_t start)
{
    if (!ps_parse_expect(p, ')', "')'") || argument < 0)
        return -1;
    return ps_parse_add(
        p, (struct ps_node){.kind = PS_NODE_CAST, .dtype = dtype, .arguments = {argument, 0, 0}},
        start);
}

// cast(x, f32)
static int parse_cast_call(struct ps_parser *p, size_t start)
{
    enum ps_dtype dtype;
    char word[16] = "";
    int argument = ps_parse_whole(p);
    if (argument < 0 || !ps_parse_expect(p, ',', "',' and a dtype"))
        return -1;
    if (p->token == T_NAME && p->size < sizeof word)
        memcpy(word, p->text + p->at, p->size);
    if (!ps_dtype_parse(word, &dtype))
        return ps_parse_unexpected(p, "a dtype such as f32");
    ps_parse_next(p);
    return parse_cast(p, dtype, argument, start);
}

// index(0), index(-1)
static int parse_index(struct ps_parser *p, size_t start)
{
    struct ps_node node = {.kind = PS_NODE_INDEX};
    bool minus = ps_parse_accept(p, '-');
    char *digits = p->token == T_INTEGER ? copy_bytes(p->text + p->at, p->size) : NULL;
    bool fine = digits != NULL && strlen(digits) < 4 && ps_integer_parse(digits, &node.integer);
    free(digits);
    if (!fine)
        return ps_parse_unexpected(p, "the number of an axis: 0 for rows, -1 for the last one");
    node.integer = minus ? -node.integer : node.integer;
    ps_parse_next(p);
    return ps_parse_expect(p, ')', "')'") ? ps_parse_add(p, node, start) : -1;
}

// An argument that must be a whole array, by its name alone.
static bool make_table(struct ps_parser *p, const char *function, int argument)
{
    struct ps_node *node = &p->expr->nodes[argument];
    if (node->kind != PS_NODE_NAME && node->kind != PS_NODE_COLUMN) {
        size_t at = (size_t)node->start;
        ps_parse_fail(
            p, at, at + (size_t)node->length,
            "%s reads elements of a whole array: the name of one (or of its column, as in "
            "t.gain) is expected here",
            function);
        return false;
    }
    node->integer = node->kind == PS_NODE_COLUMN ? node->integer : -1;
    node->kind = PS_NODE_TABLE;
    return true;
}

// lookup(table, index), lookup(table, index, otherwise)
static int finish_lookup(struct ps_parser *p, const int *list, int count, size_t start)
{
    if (count != 2 && count != 3)
        return ps_parse_fail(p, start, p->last_end,
                             "lookup takes 2 or 3 arguments (a whole array, an index, what it is "
                             "outside of the array), got %d",
                             count);
    if (!make_table(p, "lookup", list[0]))
        return -1;
    int otherwise = count == 3 ? list[2] : -1;
    return ps_parse_add(
        p, (struct ps_node){.kind = PS_NODE_LOOKUP, .arguments = {list[0], list[1], otherwise}},
        start);
}

static int finish_interp(struct ps_parser *p, const int *list, int count, size_t start)
{
    if (count != 3)
        return wrong_count(p, "interp", start, count, 3);
    if (!make_table(p, "interp", list[1]) || !make_table(p, "interp", list[2]))
        return -1;
    return ps_parse_add(
        p, (struct ps_node){.kind = PS_NODE_INTERP, .arguments = {list[0], list[1], list[2]}},
        start);
}

static int parse_call(struct ps_parser *p, const char *name, size_t start)
{
    enum { MOST = 64 };
    int list[MOST], count;
    enum ps_dtype dtype;
    ps_parse_next(p); // '('
    if (strcmp(name, "cast") == 0)
        return parse_cast_call(p, start);
    if (ps_dtype_parse(name, &dtype))
        return parse_cast(p, dtype, ps_parse_whole(p), start);
    if (strcmp(name, "index") == 0)
        return parse_index(p, start);
    count = parse_arguments(p, name, start, list, MOST);
    if (count < 0 || !ps_parse_expect(p, ')', "',' or ')'"))
        return -1;
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return finish_fold(p, name[1] == 'i' ? PS_OP_MIN : PS_OP_MAX, name, list, count, start);
    if (strcmp(name, "clip") == 0)
        return finish_clip(p, list, count, start);
    if (strcmp(name, "nan_to_num") == 0)
        return finish_clean(p, list, count, start);
    if (strcmp(name, "lookup") == 0)
        return finish_lookup(p, list, count, start);
    if (strcmp(name, "interp") == 0)
        return finish_interp(p, list, count, start);
    if (strcmp(name, "poly") == 0)
        return finish_poly(p, list, count, start);
    if (strcmp(name, "square") == 0)
        return count != 1 ? wrong_count(p, name, start, count, 1)
                          : ps_parse_add_op(p, PS_OP_MUL, list[0], list[0], 0, start);
    int op = ps_expr_function(name);
    if (op >= 0)
        return finish_op(p, (enum ps_map_op)op, name, list, count, start);
    const char *near = ps_nearest(name, ps_expr_words, (size_t)ps_expr_word_count());
    return ps_parse_fail(p, start, start + strlen(name), "no function '%s'%s%s%s", name,
                         near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// .column, ["column"] or [3] after a name.
static int parse_column(struct ps_parser *p, struct ps_node node, size_t start)
{
    node.kind = PS_NODE_COLUMN;
    bool dot = ps_parse_is_symbol(p, '.');
    ps_parse_next(p);
    size_t at = p->at, size = p->size;
    char *word = NULL;
    if (dot && p->token == T_NAME)
        word = node.column = copy_bytes(p->text + at, size);
    else if (!dot && p->token == T_STRING)
        word = node.column = copy_bytes(p->text + at + 1, size - 2);
    else if (!dot && p->token == T_INTEGER)
        word = copy_bytes(p->text + at, size);
    bool fine = word != NULL;
    if (!fine)
        ps_parse_unexpected(p, dot ? "the name of a column"
                                   : "the number of a column or its name in quotes");
    else if (node.column == NULL && !ps_integer_parse(word, &node.integer))
        fine = ps_parse_fail(p, at, at + size, "'%s' is not a column number", word) >= 0;
    if (node.column == NULL)
        free(word);
    if (fine)
        ps_parse_next(p);
    fine = fine && (dot || ps_parse_expect(p, ']', "']'"));
    int result = fine ? ps_parse_add(p, node, start) : -1;
    if (result < 0) {
        free(node.name);
        free(node.column);
    }
    return result;
}

static int parse_name(struct ps_parser *p)
{
    size_t start = p->at;
    if (ps_parse_is_word(p, "true") || ps_parse_is_word(p, "false")) {
        struct ps_node truth = {.kind = PS_NODE_TRUTH, .integer = ps_parse_is_word(p, "true")};
        ps_parse_next(p);
        return ps_parse_add(p, truth, start);
    }
    struct ps_node node = {.kind = PS_NODE_NAME, .name = copy_bytes(p->text + p->at, p->size)};
    if (node.name == NULL)
        return ps_parse_fail(p, start, start, "out of memory");
    ps_parse_next(p);
    if (ps_parse_is_symbol(p, '(')) {
        int result = parse_call(p, node.name, start);
        free(node.name);
        return result;
    }
    if (ps_parse_is_symbol(p, '.') || ps_parse_is_symbol(p, '['))
        return parse_column(p, node, start);
    int result = ps_parse_add(p, node, start);
    if (result < 0)
        free(node.name);
    return result;
}

static bool is_operator_word(const struct ps_parser *p)
{
    static const char *const words[] = {"and", "or", "not", "if", "else"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ps_parse_is_word(p, words[i]))
            return true;
    return false;
}

int ps_parse_primary(struct ps_parser *p)
{
    if (p->token == T_NUMBER || p->token == T_INTEGER)
        return parse_number(p);
    if (p->token == T_NAME && !is_operator_word(p))
        return parse_name(p);
    if (ps_parse_accept(p, '(')) {
        int inner = ps_parse_whole(p);
        return inner >= 0 && ps_parse_expect(p, ')', "')'") ? inner : -1;
    }
    return ps_parse_unexpected(p, "a number, a name, a function or '('");
}
