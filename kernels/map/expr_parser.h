// SPDX-License-Identifier: Apache-2.0
// Inside of the parser of expressions: tokens (expr_token.c), what stands between operators
// (expr_primary.c), operators (expr.c).
#ifndef PS_KERNELS_MAP_EXPR_PARSER_H
#define PS_KERNELS_MAP_EXPR_PARSER_H

#include "kernels/map/expr.h"

enum ps_token { T_END, T_NUMBER, T_INTEGER, T_NAME, T_STRING, T_SYMBOL, T_BAD };

struct ps_parser {
    const char *text;
    size_t at;   // start of the token
    size_t size; // its bytes
    enum ps_token token;
    int symbol; // of T_SYMBOL: one character, or 'D' //, 'P' **, 'E' ==, 'N' !=, 'L' <=, 'G' >=,
                // 'l' <<, 'r' >>
    size_t last_end; // end of the token before
    int depth;
    struct ps_expr *expr;
    int capacity;
    struct ps_expr_fault *fault;
    bool failed;
};

// Keeps the first fault, at bytes [start, end) of the text; -1.
int ps_parse_fail(struct ps_parser *p, size_t start, size_t end, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ps_parse_next(struct ps_parser *p); // moves to the next token
bool ps_parse_is_symbol(const struct ps_parser *p, int symbol);
bool ps_parse_is_word(const struct ps_parser *p, const char *word);
bool ps_parse_accept(struct ps_parser *p, int symbol); // moves on when it is there
bool ps_parse_expect(struct ps_parser *p, int symbol, const char *wanted);
int ps_parse_unexpected(struct ps_parser *p, const char *wanted); // "unexpected ...; expected ..."

// Append a node whose text begins at byte start; its number, -1 after a fault. The node's names
// stay the caller's when it fails.
int ps_parse_add(struct ps_parser *p, struct ps_node node, size_t start);
int ps_parse_add_op(struct ps_parser *p, enum ps_map_op op, int a, int b, int c, size_t start);

// The operation that a function's name stands for; -1: none, or more than one operation.
int ps_expr_function(const char *name);

int ps_parse_whole(struct ps_parser *p);   // a whole expression
int ps_parse_primary(struct ps_parser *p); // a number, name, call or parenthesis

#endif
