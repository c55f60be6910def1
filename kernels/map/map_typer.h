// SPDX-License-Identifier: Apache-2.0
// Inside of the typing of expressions: what map_type.c (names and nodes), map_typed.c (constants
// and casts), map_rules.c (one rule per kind of operation) and map_compare.c share.
//
// After a fault every function does nothing that matters and the first message stays.
#ifndef PS_KERNELS_MAP_TYPER_H
#define PS_KERNELS_MAP_TYPER_H

#include "kernels/map/fold.h"
#include "kernels/map/map_shape.h"

struct ps_typer {
    struct ps_stage *stage;
    const struct ps_scope *scope;
    struct ps_map_parts *parts;
    const struct ps_map_part *part; // that is being typed
    struct ps_map_detail *detail;
    struct ps_problems *problems;
    const struct ps_node *node; // of it
    struct ps_map_shape shape;
    bool checked; // the stage's option
    bool failed;
};

struct ps_typed ps_type_fail(struct ps_typer *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct ps_typed ps_type_emit(struct ps_typer *t, struct ps_instruction instruction,
                             enum ps_dtype dtype);
// The dtype of the register that holds values of dtype.
enum ps_dtype ps_type_register(enum ps_dtype dtype);
bool ps_type_integer_fits(int64_t value, enum ps_dtype dtype);
// A weak constant as a register of dtype, rounded to it.
struct ps_typed ps_type_constant(struct ps_typer *t, struct ps_typed v, enum ps_dtype dtype);
// v as a register that computes in dtype. A constant that dtype cannot hold is a fault.
struct ps_typed ps_type_cast(struct ps_typer *t, struct ps_typed v, enum ps_dtype dtype);
// The dtype two values are computed in; PS_DTYPE_COUNT when both are constants.
enum ps_dtype ps_type_common(struct ps_typed a, struct ps_typed b);
enum ps_dtype ps_type_default(struct ps_typed v); // of a constant by itself: i64 or f64
struct ps_typed ps_type_binary(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                               struct ps_typed b, enum ps_dtype dtype, enum ps_dtype result);
struct ps_typed ps_type_unary(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                              enum ps_dtype dtype, enum ps_dtype result);
struct ps_typed ps_type_truth(struct ps_typer *t, struct ps_typed v); // v != 0, as bool
struct ps_typed ps_type_compare(struct ps_typer *t, enum ps_map_op op, struct ps_typed a,
                                struct ps_typed b);
// The port that the node names, -1 when there is none.
int ps_type_find_port(const struct ps_scope *scope, const char *name);
struct ps_typed ps_type_unknown(struct ps_typer *t); // "no array or param ..."
// The number of the column that the node names; -1 after reporting.
int ps_type_find_column(struct ps_typer *t, const struct ps_array *array);
struct ps_typed ps_type_index(struct ps_typer *t, int64_t axis);
struct ps_typed ps_type_lookup(struct ps_typer *t, const struct ps_typed *values);
struct ps_typed ps_type_interp(struct ps_typer *t, const struct ps_typed *values);
struct ps_typed ps_type_choose(struct ps_typer *t, struct ps_typed condition, struct ps_typed a,
                               struct ps_typed b);
// An operation on values of which at least one is no constant.
struct ps_typed ps_type_apply(struct ps_typer *t, enum ps_map_op op, const struct ps_typed *v);

#endif
