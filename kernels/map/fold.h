// SPDX-License-Identifier: Apache-2.0
// Operations on literals and params, done while planning: Python's arithmetic, with integers that
// must fit 64 bits.
#ifndef PS_KERNELS_MAP_FOLD_H
#define PS_KERNELS_MAP_FOLD_H

#include "base/dtype.h"
#include "kernels/map/ops.h"

enum ps_typed_kind {
    PS_TYPED_VALUE,
    PS_TYPED_INT,
    PS_TYPED_FLOAT,
    PS_TYPED_NONE, // an argument that was left out
};

// What an expression node became: a register with its (logical) dtype, or a weak constant.
struct ps_typed {
    enum ps_typed_kind kind;
    enum ps_dtype dtype; // VALUE
    int index;           // VALUE: the instruction
    int64_t integer;     // INT
    double number;       // FLOAT
};

// NULL, or what is wrong.
const char *ps_fold(enum ps_map_op op, const struct ps_typed *arguments, struct ps_typed *out);

#endif
