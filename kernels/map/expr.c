// SPDX-License-Identifier: Apache-2.0
// Lexer and parser of expressions. Types and names are not looked at here.
#include "kernels/map/expr.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ps_op_info ps_op_infos[PS_OP_COUNT] = {
#define PS_X(name, word, arguments, rule) {#name, word, arguments, PS_RULE_##rule},
    PS_MAP_OPS(PS_X)
#undef PS_X
};

const char *const ps_expr_words[] = {
    "pow",   "min",   "max",   "abs",      "sign", "where", "floor", "ceil", "round",
    "trunc", "isnan", "isinf", "isfinite", "sqrt", "exp",   "expm1", "log",  "log10",
    "log2",  "log1p", "sin",   "cos",      "tan",  "asin",  "acos",  "atan", "sinh",
    "cosh",  "tanh",  "atan2", "hypot",    "clip", "cast",  "and",   "or",   "not",
    "true",  "false", "pi",    "e",        "inf",  "nan"};

int ps_expr_word_count(void)
{
    return (int)(sizeof ps_expr_words / sizeof ps_expr_words[0]);
}

enum token { T_END, T_NUMBER, T_INTEGER, T_NAME, T_STRING, T_SYMBOL, T_BAD };

struct parser {
    const char *text;
    size_t at;   // start of the token
    size_t size; // its bytes
    enum token token;
    int symbol; // of T_SYMBOL: one character, or 'D' //, 'P' **, 'E' ==, 'N' !=, 'L' <=, 'G' >=
    size_t last_end; // end of the token before
    int depth;
    struct ps_expr *expr;
    int capacity;
    struct ps_expr_fault *fault;
    bool failed;
};

static int characters(const char *text, size_t bytes)
{
    int count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static int fail_at(struct parser *p, size_t start, size_t end, const char *format, ...)
{
    if (!p->failed) {
        va_list list;
        p->failed = true;
        p->fault->start = characters(p->text, start);
        p->fault->length = characters(p->text + start, end > start ? end - start : 1);
        va_start(list, format);
        vsnprintf(p->fault->text, sizeof p->fault->text, format, list);
        va_end(list);
    }
    return -1;
}

// ---- Tokens ----

static size_t number_size(const char *s, bool *whole)
{
    size_t n = strspn(s, "0123456789");
    *whole = true;
    if (s[n] == '.') {
        *whole = false;
        n += 1 + strspn(s + n + 1, "0123456789");
    }
    if (s[n] == 'e' || s[n] == 'E') {
        size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
        size_t digits = strspn(s + n + 1 + sign, "0123456789");
        if (digits > 0) {
            *whole = false;
            n += 1 + sign + digits;
        }
    }
    return n;
}

static int two_characters(const char *s)
{
    static const char *const pairs[] = {"//D", "**P", "==E", "!=N", "<=L", ">=G"};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (s[0] == pairs[i][0] && s[1] == pairs[i][1])
            return pairs[i][2];
    return 0;
}

static void next(struct parser *p)
{
    p->last_end = p->at + p->size;
    p->at = p->last_end + strspn(p->text + p->last_end, " \t\r\n");
    const char *s = p->text + p->at;
    bool whole;
    p->size = 1;
    if (*s == '\0') {
        p->token = T_END;
        p->size = 0;
    } else if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
        p->size = number_size(s, &whole);
        p->token = whole ? T_INTEGER : T_NUMBER;
    } else if (isalpha((unsigned char)*s) || *s == '_') {
        p->token = T_NAME;
        while (isalnum((unsigned char)s[p->size]) || s[p->size] == '_')
            p->size++;
    } else if (*s == '"' || *s == '\'') {
        const char *end = strchr(s + 1, *s);
        p->token = end != NULL ? T_STRING : T_BAD;
        p->size = end != NULL ? (size_t)(end - s) + 1 : strlen(s);
    } else if (two_characters(s) != 0) {
        p->token = T_SYMBOL;
        p->symbol = two_characters(s);
        p->size = 2;
    } else {
        p->token = strchr("+-*/%()<>,.[]", *s) != NULL ? T_SYMBOL : T_BAD;
        p->symbol = (unsigned char)*s;
        while (p->token == T_BAD && ((unsigned char)s[p->size] & 0xc0) == 0x80)
            p->size++;
    }
}

static bool is_symbol(const struct parser *p, int symbol)
{
    return p->token == T_SYMBOL && p->symbol == symbol;
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token == T_NAME && strlen(word) == p->size &&
           strncmp(p->text + p->at, word, p->size) == 0;
}

static bool accept(struct parser *p, int symbol)
{
    if (!is_symbol(p, symbol))
        return false;
    next(p);
    return true;
}

static int unexpected(struct parser *p, const char *wanted)
{
    char shown[80];
    if (p->token == T_END)
        return fail_at(p, p->at, p->at, "the expression ends here; expected %s", wanted);
    if (p->token == T_BAD && (p->text[p->at] == '"' || p->text[p->at] == '\''))
        return fail_at(p, p->at, p->at + p->size, "a quote that is never closed");
    ps_escape(p->text + p->at, p->size, shown, sizeof shown);
    const char *hint = "";
    if (p->symbol == '=' && p->token == T_BAD)
        hint = " (equality is ==)";
    else if (p->token == T_BAD &&
             (p->symbol == '^' || p->symbol == '&' || p->symbol == '|' || p->symbol == '!'))
        hint = " (a power is **, logic is and, or, not)";
    return fail_at(p, p->at, p->at + p->size, "unexpected '%s'; expected %s%s", shown, wanted,
                   hint);
}

static bool expect(struct parser *p, int symbol, const char *wanted)
{
    if (accept(p, symbol))
        return true;
    unexpected(p, wanted);
    return false;
}

// ---- Nodes ----

static int add_node(struct parser *p, struct ps_node node, size_t start)
{
    if (p->failed)
        return -1;
    if (p->expr->count == PS_EXPR_NODES_MAX)
        return fail_at(p, start, p->last_end, "the expression is too long: more than %d operations",
                       PS_EXPR_NODES_MAX);
    if (p->expr->count == p->capacity) {
        int capacity = p->capacity * 2 + 32;
        struct ps_node *nodes = realloc(p->expr->nodes, (size_t)capacity * sizeof *nodes);
        if (nodes == NULL)
            return fail_at(p, start, p->last_end, "out of memory");
        p->expr->nodes = nodes;
        p->capacity = capacity;
    }
    node.start = (int)start; // bytes for now; characters when all is parsed
    node.length = (int)(p->last_end > start ? p->last_end - start : 1);
    p->expr->nodes[p->expr->count] = node;
    return p->expr->count++;
}

static int add_op(struct parser *p, enum ps_map_op op, int a, int b, int c, size_t start)
{
    if (a < 0)
        return -1;
    return add_node(p, (struct ps_node){.kind = PS_NODE_OP, .op = op, .arguments = {a, b, c}},
                    start);
}

static int parse_or(struct parser *p);

static char *copy_bytes(const char *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, bytes, size);
        copy[size] = '\0';
    }
    return copy;
}

static int parse_number(struct parser *p)
{
    struct ps_node node = {.kind = PS_NODE_NUMBER};
    size_t start = p->at;
    char *digits = copy_bytes(p->text + p->at, p->size);
    if (digits == NULL)
        return fail_at(p, start, start, "out of memory");
    if (p->token == T_INTEGER && ps_integer_parse(digits, &node.integer))
        node.kind = PS_NODE_INTEGER;
    else if (p->token == T_INTEGER && digits[0] == '0')
        fail_at(p, start, start + p->size, "leading zeros: write the number without");
    else if (p->token == T_INTEGER)
        fail_at(
            p, start, start + p->size,
            "an integer above 9223372036854775807; write %.40s.0 to compute with floating point",
            digits);
    else if (!ps_number_parse(digits, &node.number))
        fail_at(p, start, start + p->size, "'%s' is not a number", digits);
    free(digits);
    next(p);
    return add_node(p, node, start);
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

// Arguments of a call, up to `most`; more than that, or fewer than `least`, is a fault.
static int parse_arguments(struct parser *p, const char *name, size_t start, int *list, int most)
{
    int count = 0;
    if (is_symbol(p, ')'))
        return 0;
    do {
        int argument = parse_or(p);
        if (argument < 0)
            return -1;
        if (count == most)
            return fail_at(p, start, p->last_end, "%s takes at most %d argument%s", name, most,
                           most == 1 ? "" : "s");
        list[count++] = argument;
    } while (accept(p, ','));
    return count;
}

static int wrong_count(struct parser *p, const char *name, size_t start, int got, int need)
{
    return fail_at(p, start, p->last_end, "%s takes %d argument%s, got %d", name, need,
                   need == 1 ? "" : "s", got);
}

// min and max of two or more: folded pairwise.
static int finish_fold(struct parser *p, enum ps_map_op op, const char *name, const int *list,
                       int count, size_t start)
{
    if (count < 2)
        return fail_at(p, start, p->last_end,
                       "%s takes at least 2 arguments, got %d; the %simum "
                       "of an array over an axis is `op: reduce`",
                       name, count, name);
    int result = list[0];
    for (int i = 1; i < count; i++)
        result = add_op(p, op, result, list[i], 0, start);
    return result;
}

static int finish_op(struct parser *p, enum ps_map_op op, const int *list, int count, size_t start)
{
    int need = ps_op_infos[op].arguments;
    if (count != need)
        return wrong_count(p, ps_op_infos[op].word, start, count, need);
    return add_op(p, op, list[0], need > 1 ? list[1] : 0, need > 2 ? list[2] : 0, start);
}

static int parse_cast(struct parser *p, enum ps_dtype dtype, int argument, size_t start)
{
    if (!expect(p, ')', "')'") || argument < 0)
        return -1;
    return add_node(
        p, (struct ps_node){.kind = PS_NODE_CAST, .dtype = dtype, .arguments = {argument, 0, 0}},
        start);
}

// cast(x, f32)
static int parse_cast_call(struct parser *p, size_t start)
{
    enum ps_dtype dtype;
    char word[16] = "";
    int argument = parse_or(p);
    if (argument < 0 || !expect(p, ',', "',' and a dtype"))
        return -1;
    if (p->token == T_NAME && p->size < sizeof word)
        memcpy(word, p->text + p->at, p->size);
    if (!ps_dtype_parse(word, &dtype))
        return unexpected(p, "a dtype such as f32");
    next(p);
    return parse_cast(p, dtype, argument, start);
}

static int parse_call(struct parser *p, const char *name, size_t start)
{
    enum { MOST = 16 };
    int list[MOST], count;
    enum ps_dtype dtype;
    next(p); // '('
    if (strcmp(name, "cast") == 0)
        return parse_cast_call(p, start);
    if (ps_dtype_parse(name, &dtype))
        return parse_cast(p, dtype, parse_or(p), start);
    count = parse_arguments(p, name, start, list, MOST);
    if (count < 0 || !expect(p, ')', "',' or ')'"))
        return -1;
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return finish_fold(p, name[1] == 'i' ? PS_OP_MIN : PS_OP_MAX, name, list, count, start);
    if (strcmp(name, "clip") == 0) {
        if (count != 3)
            return wrong_count(p, name, start, count, 3);
        return add_op(p, PS_OP_MIN, add_op(p, PS_OP_MAX, list[0], list[1], 0, start), list[2], 0,
                      start);
    }
    for (int op = 0; op < PS_OP_COUNT; op++)
        if (ps_op_infos[op].word != NULL && strcmp(ps_op_infos[op].word, name) == 0)
            return finish_op(p, (enum ps_map_op)op, list, count, start);
    const char *near = ps_nearest(name, ps_expr_words, (size_t)ps_expr_word_count());
    return fail_at(p, start, start + strlen(name), "no function '%s'%s%s%s", name,
                   near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// .column, ["column"] or [3] after a name.
static int parse_column(struct parser *p, struct ps_node node, size_t start)
{
    node.kind = PS_NODE_COLUMN;
    bool dot = is_symbol(p, '.');
    next(p);
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
        unexpected(p,
                   dot ? "the name of a column" : "the number of a column or its name in quotes");
    else if (node.column == NULL && !ps_integer_parse(word, &node.integer))
        fine = fail_at(p, at, at + size, "'%s' is not a column number", word) >= 0;
    if (node.column == NULL)
        free(word);
    if (fine)
        next(p);
    fine = fine && (dot || expect(p, ']', "']'"));
    int result = fine ? add_node(p, node, start) : -1;
    if (result < 0) {
        free(node.name);
        free(node.column);
    }
    return result;
}

static int parse_name(struct parser *p)
{
    size_t start = p->at;
    if (is_word(p, "true") || is_word(p, "false")) {
        struct ps_node truth = {.kind = PS_NODE_TRUTH, .integer = is_word(p, "true")};
        next(p);
        return add_node(p, truth, start);
    }
    struct ps_node node = {.kind = PS_NODE_NAME, .name = copy_bytes(p->text + p->at, p->size)};
    if (node.name == NULL)
        return fail_at(p, start, start, "out of memory");
    next(p);
    if (is_symbol(p, '(')) {
        int result = parse_call(p, node.name, start);
        free(node.name);
        return result;
    }
    if (is_symbol(p, '.') || is_symbol(p, '['))
        return parse_column(p, node, start);
    int result = add_node(p, node, start);
    if (result < 0)
        free(node.name);
    return result;
}

static int parse_primary(struct parser *p)
{
    if (p->token == T_NUMBER || p->token == T_INTEGER)
        return parse_number(p);
    if (p->token == T_NAME && !is_word(p, "and") && !is_word(p, "or") && !is_word(p, "not"))
        return parse_name(p);
    if (accept(p, '(')) {
        int inner = parse_or(p);
        return inner >= 0 && expect(p, ')', "')'") ? inner : -1;
    }
    return unexpected(p, "a number, a name, a function or '('");
}

static bool deeper(struct parser *p)
{
    if (++p->depth <= PS_EXPR_DEPTH_MAX)
        return true;
    fail_at(p, p->at, p->at + p->size, "nested deeper than %d levels", PS_EXPR_DEPTH_MAX);
    return false;
}

static int parse_unary(struct parser *p);

static int parse_power(struct parser *p)
{
    size_t start = p->at;
    int base = parse_primary(p);
    if (base < 0 || !is_symbol(p, 'P') || !deeper(p))
        return p->failed ? -1 : base;
    next(p);
    int exponent = parse_unary(p);
    p->depth--;
    return exponent < 0 ? -1 : add_op(p, PS_OP_POW, base, exponent, 0, start);
}

static int parse_unary(struct parser *p)
{
    size_t start = p->at;
    int result = -1;
    bool minus = is_symbol(p, '-');
    if (!minus && !is_symbol(p, '+'))
        return parse_power(p);
    if (!deeper(p))
        return -1;
    next(p);
    result = parse_unary(p);
    p->depth--;
    return minus ? add_op(p, PS_OP_NEG, result, 0, 0, start) : result;
}

static int parse_product(struct parser *p)
{
    static const struct {
        int symbol;
        enum ps_map_op op;
    } ops[] = {{'*', PS_OP_MUL}, {'/', PS_OP_DIV}, {'D', PS_OP_FLOORDIV}, {'%', PS_OP_MOD}};
    size_t start = p->at;
    int left = parse_unary(p);
    for (size_t i = 0; left >= 0 && i < 4; i++) {
        if (!accept(p, ops[i].symbol))
            continue;
        int right = parse_unary(p);
        left = right < 0 ? -1 : add_op(p, ops[i].op, left, right, 0, start);
        i = (size_t)-1; // look for any of them again
    }
    return left;
}

static int parse_sum(struct parser *p)
{
    size_t start = p->at;
    int left = parse_product(p);
    while (left >= 0 && (is_symbol(p, '+') || is_symbol(p, '-'))) {
        enum ps_map_op op = is_symbol(p, '+') ? PS_OP_ADD : PS_OP_SUB;
        next(p);
        int right = parse_product(p);
        left = right < 0 ? -1 : add_op(p, op, left, right, 0, start);
    }
    return left;
}

static bool is_comparison(const struct parser *p)
{
    return p->token == T_SYMBOL && strchr("EN<>LG", p->symbol) != NULL;
}

static int parse_comparison(struct parser *p)
{
    size_t start = p->at;
    int left = parse_sum(p);
    if (left < 0 || !is_comparison(p))
        return left;
    int symbol = p->symbol;
    next(p);
    int right = parse_sum(p);
    if (right < 0)
        return -1;
    if (is_comparison(p))
        return fail_at(p, p->at, p->at + p->size,
                       "comparisons do not chain: write `a < b and b < c`");
    bool swap = symbol == '>' || symbol == 'G';
    enum ps_map_op op = symbol == 'E'                    ? PS_OP_EQ
                        : symbol == 'N'                  ? PS_OP_NE
                        : symbol == '<' || symbol == '>' ? PS_OP_LT
                                                         : PS_OP_LE;
    return add_op(p, op, swap ? right : left, swap ? left : right, 0, start);
}

static int parse_not(struct parser *p)
{
    size_t start = p->at;
    if (!is_word(p, "not"))
        return parse_comparison(p);
    if (!deeper(p))
        return -1;
    next(p);
    int result = parse_not(p);
    p->depth--;
    return add_op(p, PS_OP_NOT, result, 0, 0, start);
}

static int parse_and(struct parser *p)
{
    size_t start = p->at;
    int left = parse_not(p);
    while (left >= 0 && is_word(p, "and")) {
        next(p);
        int right = parse_not(p);
        left = right < 0 ? -1 : add_op(p, PS_OP_AND, left, right, 0, start);
    }
    return left;
}

// Every parenthesis and call comes through here, so here their nesting is counted.
static int parse_or(struct parser *p)
{
    size_t start = p->at;
    if (!deeper(p))
        return -1;
    int left = parse_and(p);
    while (left >= 0 && is_word(p, "or")) {
        next(p);
        int right = parse_and(p);
        left = right < 0 ? -1 : add_op(p, PS_OP_OR, left, right, 0, start);
    }
    p->depth--;
    return left;
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
    struct parser p = {.text = text, .expr = expr_out, .fault = fault};
    if (strlen(text) > PS_EXPR_LENGTH_MAX) {
        fail_at(&p, 0, 1, "the expression is longer than %d characters", PS_EXPR_LENGTH_MAX);
        return false;
    }
    next(&p);
    int result = parse_or(&p);
    if (!p.failed && p.token != T_END)
        unexpected(&p, "an operator or the end");
    if (!p.failed && result != expr_out->count - 1)
        fail_at(&p, 0, 1, "the expression's last operation is not its result");
    if (!p.failed && !to_characters(text, expr_out))
        fail_at(&p, 0, 1, "out of memory");
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
