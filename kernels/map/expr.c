// SPDX-License-Identifier: Apache-2.0
// The parser of expressions: operators and their precedence. Types and names are not looked at
// here.
#include "kernels/map/expr_parser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct ps_op_info ps_op_infos[PS_OP_COUNT] = {
#define PS_X(NAME, name, word, arguments, rule) {#name, word, arguments, PS_RULE_##rule},
    PS_MAP_OPS(PS_X)
#undef PS_X
};

// Other names, most of them NumPy's.
#define OTHER_NAMES(X)                                                                             \
    X("deg", DEGREES)                                                                              \
    X("rad", RADIANS)                                                                              \
    X("deg2rad", RADIANS)                                                                          \
    X("rad2deg", DEGREES)                                                                          \
    X("absolute", ABS)                                                                             \
    X("power", POW)                                                                                \
    X("mod", MOD)                                                                                  \
    X("remainder", MOD)                                                                            \
    X("minimum", MIN)                                                                              \
    X("maximum", MAX)                                                                              \
    X("rint", ROUND)                                                                               \
    X("fix", TRUNC)                                                                                \
    X("arcsin", ASIN)                                                                              \
    X("arccos", ACOS)                                                                              \
    X("arctan", ATAN)                                                                              \
    X("arctan2", ATAN2)                                                                            \
    X("arcsinh", ASINH)                                                                            \
    X("arccosh", ACOSH)                                                                            \
    X("arctanh", ATANH)

const char *const ps_expr_words[] = {
#define PS_X(NAME, name, word, arguments, rule) word,
    PS_MAP_OPS(PS_X)
#undef PS_X
#define PS_X(name, OP) name,
        OTHER_NAMES(PS_X)
#undef PS_X
            "clip",
    "cast",
    "nan_to_num",
    "poly",
    "square",
    "lookup",
    "interp",
    "index",
    "row",
    "col",
    "and",
    "or",
    "not",
    "if",
    "else",
    "true",
    "false",
    "pi",
    "e",
    "inf",
    "nan"};

int ps_expr_function(const char *name)
{
    static const struct {
        const char *name;
        int op;
    } others[] = {
#define PS_X(name, OP) {name, PS_OP_##OP},
        OTHER_NAMES(PS_X)
#undef PS_X
    };
    for (int op = 0; op < PS_OP_COUNT; op++)
        if (strcmp(ps_op_infos[op].word, name) == 0)
            return op;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].name, name) == 0)
            return others[i].op;
    return -1;
}

int ps_expr_word_count(void)
{
    return (int)(sizeof ps_expr_words / sizeof ps_expr_words[0]);
}

bool ps_expr_constant(const char *name, double *value_out)
{
    static const struct {
        const char *word;
        double value;
    } constants[] = {{"pi", 3.14159265358979323846},
                     {"e", 2.71828182845904523536},
                     {"inf", INFINITY},
                     {"nan", NAN}};
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (strcmp(name, constants[i].word) == 0) {
            *value_out = constants[i].value;
            return true;
        }
    }
    return false;
}

int ps_parse_add(struct ps_parser *p, struct ps_node node, size_t start)
{
    if (p->failed)
        return -1;
    if (p->expr->count == PS_EXPR_NODES_MAX)
        return ps_parse_fail(p, start, p->last_end,
                             "the expression is too long: more than %d operations",
                             PS_EXPR_NODES_MAX);
    if (p->expr->count == p->capacity) {
        int capacity = p->capacity * 2 + 32;
        struct ps_node *nodes = realloc(p->expr->nodes, (size_t)capacity * sizeof *nodes);
        if (nodes == NULL)
            return ps_parse_fail(p, start, p->last_end, "out of memory");
        p->expr->nodes = nodes;
        p->capacity = capacity;
    }
    node.start = (int)start; // bytes for now; characters when all is parsed
    node.length = (int)(p->last_end > start ? p->last_end - start : 1);
    p->expr->nodes[p->expr->count] = node;
    return p->expr->count++;
}

int ps_parse_add_op(struct ps_parser *p, enum ps_map_op op, int a, int b, int c, size_t start)
{
    if (a < 0)
        return -1;
    return ps_parse_add(p, (struct ps_node){.kind = PS_NODE_OP, .op = op, .arguments = {a, b, c}},
                        start);
}

static bool deeper(struct ps_parser *p)
{
    if (++p->depth <= PS_EXPR_DEPTH_MAX)
        return true;
    ps_parse_fail(p, p->at, p->at + p->size, "nested deeper than %d levels", PS_EXPR_DEPTH_MAX);
    return false;
}

static int parse_unary(struct ps_parser *p);

static int parse_power(struct ps_parser *p)
{
    size_t start = p->at;
    int base = ps_parse_primary(p);
    if (base < 0 || !ps_parse_is_symbol(p, 'P') || !deeper(p))
        return p->failed ? -1 : base;
    ps_parse_next(p);
    int exponent = parse_unary(p);
    p->depth--;
    return exponent < 0 ? -1 : ps_parse_add_op(p, PS_OP_POW, base, exponent, 0, start);
}

static int parse_unary(struct ps_parser *p)
{
    size_t start = p->at;
    int result = -1;
    bool minus = ps_parse_is_symbol(p, '-'), tilde = ps_parse_is_symbol(p, '~');
    if (!minus && !tilde && !ps_parse_is_symbol(p, '+'))
        return parse_power(p);
    if (!deeper(p))
        return -1;
    ps_parse_next(p);
    result = parse_unary(p);
    p->depth--;
    if (!minus && !tilde)
        return result;
    return ps_parse_add_op(p, minus ? PS_OP_NEG : PS_OP_BITNOT, result, 0, 0, start);
}

static int parse_product(struct ps_parser *p)
{
    static const struct {
        int symbol;
        enum ps_map_op op;
    } ops[] = {{'*', PS_OP_MUL}, {'/', PS_OP_DIV}, {'D', PS_OP_FLOORDIV}, {'%', PS_OP_MOD}};
    size_t start = p->at;
    int left = parse_unary(p);
    for (size_t i = 0; left >= 0 && i < 4; i++) {
        if (!ps_parse_accept(p, ops[i].symbol))
            continue;
        int right = parse_unary(p);
        left = right < 0 ? -1 : ps_parse_add_op(p, ops[i].op, left, right, 0, start);
        i = (size_t)-1; // look for any of them again
    }
    return left;
}

static int parse_sum(struct ps_parser *p)
{
    size_t start = p->at;
    int left = parse_product(p);
    while (left >= 0 && (ps_parse_is_symbol(p, '+') || ps_parse_is_symbol(p, '-'))) {
        enum ps_map_op op = ps_parse_is_symbol(p, '+') ? PS_OP_ADD : PS_OP_SUB;
        ps_parse_next(p);
        int right = parse_product(p);
        left = right < 0 ? -1 : ps_parse_add_op(p, op, left, right, 0, start);
    }
    return left;
}

static bool is_comparison(const struct ps_parser *p)
{
    return p->token == T_SYMBOL && strchr("EN<>LG", p->symbol) != NULL;
}

static int compare(struct ps_parser *p, int symbol, int left, int right, size_t start)
{
    bool swap = symbol == '>' || symbol == 'G';
    enum ps_map_op op = symbol == 'E'                    ? PS_OP_EQ
                        : symbol == 'N'                  ? PS_OP_NE
                        : symbol == '<' || symbol == '>' ? PS_OP_LT
                                                         : PS_OP_LE;
    return ps_parse_add_op(p, op, swap ? right : left, swap ? left : right, 0, start);
}

static int parse_shift(struct ps_parser *p)
{
    size_t start = p->at;
    int left = parse_sum(p);
    while (left >= 0 && (ps_parse_is_symbol(p, 'l') || ps_parse_is_symbol(p, 'r'))) {
        enum ps_map_op op = ps_parse_is_symbol(p, 'l') ? PS_OP_SHL : PS_OP_SHR;
        ps_parse_next(p);
        int right = parse_sum(p);
        left = right < 0 ? -1 : ps_parse_add_op(p, op, left, right, 0, start);
    }
    return left;
}

// level 0: |, 1: ^, 2: &, each binding tighter than the one before.
static int parse_bits(struct ps_parser *p, int level)
{
    static const enum ps_map_op ops[] = {PS_OP_BITOR, PS_OP_BITXOR, PS_OP_BITAND};
    size_t start = p->at;
    if (level == 3)
        return parse_shift(p);
    int left = parse_bits(p, level + 1);
    while (left >= 0 && ps_parse_accept(p, "|^&"[level])) {
        int right = parse_bits(p, level + 1);
        left = right < 0 ? -1 : ps_parse_add_op(p, ops[level], left, right, 0, start);
    }
    return left;
}

// a < b < c is a < b and b < c, with b computed once.
static int parse_comparison(struct ps_parser *p)
{
    size_t start = p->at, from = start;
    int left = parse_bits(p, 0), result = left;
    for (bool first = true; left >= 0 && is_comparison(p); first = false) {
        int symbol = p->symbol;
        ps_parse_next(p);
        size_t next = p->at;
        int right = parse_bits(p, 0);
        int one = right < 0 ? -1 : compare(p, symbol, left, right, from);
        result = one < 0 || first ? one : ps_parse_add_op(p, PS_OP_AND, result, one, 0, start);
        left = result < 0 ? -1 : right;
        from = next;
    }
    return left < 0 ? -1 : result;
}

static int parse_not(struct ps_parser *p)
{
    size_t start = p->at;
    if (!ps_parse_is_word(p, "not"))
        return parse_comparison(p);
    if (!deeper(p))
        return -1;
    ps_parse_next(p);
    int result = parse_not(p);
    p->depth--;
    return ps_parse_add_op(p, PS_OP_NOT, result, 0, 0, start);
}

static int parse_and(struct ps_parser *p)
{
    size_t start = p->at;
    int left = parse_not(p);
    while (left >= 0 && ps_parse_is_word(p, "and")) {
        ps_parse_next(p);
        int right = parse_not(p);
        left = right < 0 ? -1 : ps_parse_add_op(p, PS_OP_AND, left, right, 0, start);
    }
    return left;
}

static int parse_or(struct ps_parser *p)
{
    size_t start = p->at;
    int left = parse_and(p);
    while (left >= 0 && ps_parse_is_word(p, "or")) {
        ps_parse_next(p);
        int right = parse_and(p);
        left = right < 0 ? -1 : ps_parse_add_op(p, PS_OP_OR, left, right, 0, start);
    }
    return left;
}

// a if condition else b, which binds to the right. Every parenthesis and call comes through here,
// so here their nesting is counted.
int ps_parse_whole(struct ps_parser *p)
{
    size_t start = p->at;
    if (!deeper(p))
        return -1;
    int result = parse_or(p);
    if (result >= 0 && ps_parse_is_word(p, "if")) {
        ps_parse_next(p);
        int condition = parse_or(p), other = -1;
        if (condition >= 0 && !ps_parse_is_word(p, "else"))
            return ps_parse_unexpected(p, "`else` and what it is otherwise");
        if (condition >= 0) {
            ps_parse_next(p);
            other = ps_parse_whole(p);
        }
        result = other < 0 ? -1 : ps_parse_add_op(p, PS_OP_SELECT, condition, result, other, start);
    }
    p->depth--;
    return result;
}

// Byte positions of all nodes to character positions; one walk over the text.
static bool to_characters(const char *text, struct ps_expr *expr)
{
    size_t bytes = strlen(text);
    int *before = malloc((bytes + 2) * sizeof *before);
    if (before == NULL)
        return false;
    before[0] = 0;
    for (size_t i = 0; i <= bytes; i++)
        before[i + 1] = before[i] + (((unsigned char)text[i] & 0xc0) != 0x80);
    for (int i = 0; i < expr->count; i++) {
        struct ps_node *node = &expr->nodes[i];
        int end = before[node->start + node->length];
        node->start = before[node->start];
        node->length = end - node->start;
    }
    free(before);
    return true;
}

bool ps_expr_parse(const char *text, struct ps_expr *expr_out, struct ps_expr_fault *fault)
{
    *expr_out = (struct ps_expr){0};
    struct ps_parser p = {.text = text, .expr = expr_out, .fault = fault};
    if (strlen(text) > PS_EXPR_LENGTH_MAX) {
        ps_parse_fail(&p, 0, 1, "the expression is longer than %d characters", PS_EXPR_LENGTH_MAX);
        return false;
    }
    ps_parse_next(&p);
    int result = ps_parse_whole(&p);
    if (!p.failed && p.token != T_END)
        ps_parse_unexpected(&p, "an operator or the end");
    if (!p.failed && result != expr_out->count - 1)
        ps_parse_fail(&p, 0, 1, "the expression's last operation is not its result");
    if (!p.failed && !to_characters(text, expr_out))
        ps_parse_fail(&p, 0, 1, "out of memory");
    if (p.failed)
        ps_expr_free(expr_out);
    return !p.failed;
}

void ps_expr_free(struct ps_expr *expr)
{
    for (int i = 0; i < expr->count; i++) {
        free(expr->nodes[i].name);
        free(expr->nodes[i].column);
    }
    free(expr->nodes);
    *expr = (struct ps_expr){0};
}
