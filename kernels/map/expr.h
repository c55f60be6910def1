// SPDX-License-Identifier: Apache-2.0
// Expressions as text and as nodes. The grammar is a subset of Python's, with its precedence:
//
//   if else < or < and < not < == != < <= > >= (chained: all must hold) < | < ^ < & < << >>
//   < + - < * / // % < unary - + ~ < ** (binds to the right)
//
// Nodes are stored in the order of evaluation: a node's arguments come before it. So whoever
// walks an expression needs a loop, never recursion, however long it is.
#ifndef PS_KERNELS_MAP_EXPR_H
#define PS_KERNELS_MAP_EXPR_H

#include "base/dtype.h"
#include "base/error.h"
#include "kernels/map/ops.h"

enum ps_node_kind {
    PS_NODE_INTEGER, // integer
    PS_NODE_NUMBER,  // number
    PS_NODE_TRUTH,   // integer 0 or 1
    PS_NODE_NAME,    // name: a param, an array, or else a constant such as pi
    PS_NODE_COLUMN,  // name.column or name["column"], or name[integer] (column NULL)
    PS_NODE_CAST,    // dtype
    PS_NODE_OP,      // op, with its arguments; -1: left out
    PS_NODE_INDEX,   // integer: the axis, from the end when negative
    PS_NODE_TABLE,   // as NAME or COLUMN (integer -1 and column NULL: all of it); computes nothing
    PS_NODE_LOOKUP,  // arguments: a table, an index, what it is outside (or -1)
    PS_NODE_INTERP,  // arguments: x, and two tables
};

struct ps_node {
    enum ps_node_kind kind;
    enum ps_map_op op;
    enum ps_dtype dtype;
    int arguments[PS_OP_ARGUMENTS_MAX];
    int64_t integer;
    double number;
    char *name, *column; // owned
    int start, length;   // in the text, in characters of UTF-8
};

struct ps_expr {
    struct ps_node *nodes; // the last one is the result
    int count;
};

struct ps_expr_fault {
    int start, length; // where in the text
    char text[400];
};

#define PS_EXPR_LENGTH_MAX (4 << 20) // characters
#define PS_EXPR_NODES_MAX 400000
#define PS_EXPR_DEPTH_MAX 1000 // nested parentheses and calls, and chains of -, not and **

// False with *fault filled in. The expression is empty after a failure.
bool ps_expr_parse(const char *text, struct ps_expr *expr_out, struct ps_expr_fault *fault);
void ps_expr_free(struct ps_expr *expr);

// pi, e, inf and nan. Arrays and params of these names hide them.
bool ps_expr_constant(const char *name, double *value_out);

// The names of functions and constants, for "did you mean".
extern const char *const ps_expr_words[];
int ps_expr_word_count(void);

#endif
