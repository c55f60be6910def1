// SPDX-License-Identifier: Apache-2.0
// What the stage `reduce` can compute: one row per kind. Plain C, host and device.
#ifndef PS_KERNELS_REDUCE_KINDS_H
#define PS_KERNELS_REDUCE_KINDS_H

#include <stdbool.h>

// Where a kind's result comes from.
enum ps_reduce_source {
    PS_FROM_SUMS,      // exact sums, extremes and counts of the values (state.h)
    PS_FROM_MAGNITUDES, // the same of |value|
    PS_FROM_PICKS,     // places, truths and products (pick.h)
    PS_FROM_MOMENTS,   // several sums put together (term.h)
};

enum ps_reduce_result_type {
    PS_RESULT_WIDE,  // float64, or 64 bits with the input's sign
    PS_RESULT_F64,
    PS_RESULT_INPUT, // the input's dtype
    PS_RESULT_I64,
    PS_RESULT_BOOL,
};

// X(identifier, name, source, type of the result, needs sums, needs squares), after `sum`, which
// begins the list. The order is that of the option's choices.
#define PS_REDUCE_OTHER_KINDS(X)                                                                   \
    X(MEAN, "mean", PS_FROM_SUMS, PS_RESULT_F64, 1, 0)                                             \
    X(MIN, "min", PS_FROM_SUMS, PS_RESULT_INPUT, 0, 0)                                             \
    X(MAX, "max", PS_FROM_SUMS, PS_RESULT_INPUT, 0, 0)                                             \
    X(VAR, "var", PS_FROM_SUMS, PS_RESULT_F64, 1, 1)                                               \
    X(STD, "std", PS_FROM_SUMS, PS_RESULT_F64, 1, 1)                                               \
    X(COUNT, "count", PS_FROM_SUMS, PS_RESULT_I64, 0, 0)                                           \
    X(NANSUM, "nansum", PS_FROM_SUMS, PS_RESULT_WIDE, 1, 0)                                        \
    X(NANMEAN, "nanmean", PS_FROM_SUMS, PS_RESULT_F64, 1, 0)                                       \
    X(NANMIN, "nanmin", PS_FROM_SUMS, PS_RESULT_INPUT, 0, 0)                                       \
    X(NANMAX, "nanmax", PS_FROM_SUMS, PS_RESULT_INPUT, 0, 0)                                       \
    X(NANVAR, "nanvar", PS_FROM_SUMS, PS_RESULT_F64, 1, 1)                                         \
    X(NANSTD, "nanstd", PS_FROM_SUMS, PS_RESULT_F64, 1, 1)                                         \
    X(NORM1, "norm1", PS_FROM_MAGNITUDES, PS_RESULT_WIDE, 1, 0)                                    \
    X(NORM2, "norm2", PS_FROM_SUMS, PS_RESULT_F64, 1, 1)                                           \
    X(RMS, "rms", PS_FROM_SUMS, PS_RESULT_F64, 1, 1)                                               \
    X(PROD, "prod", PS_FROM_PICKS, PS_RESULT_WIDE, 0, 0)                                           \
    X(NANPROD, "nanprod", PS_FROM_PICKS, PS_RESULT_WIDE, 0, 0)                                     \
    X(ARGMIN, "argmin", PS_FROM_PICKS, PS_RESULT_I64, 0, 0)                                        \
    X(ARGMAX, "argmax", PS_FROM_PICKS, PS_RESULT_I64, 0, 0)                                        \
    X(NANARGMIN, "nanargmin", PS_FROM_PICKS, PS_RESULT_I64, 0, 0)                                  \
    X(NANARGMAX, "nanargmax", PS_FROM_PICKS, PS_RESULT_I64, 0, 0)                                  \
    X(ANY, "any", PS_FROM_PICKS, PS_RESULT_BOOL, 0, 0)                                             \
    X(ALL, "all", PS_FROM_PICKS, PS_RESULT_BOOL, 0, 0)                                             \
    X(SKEWNESS, "skewness", PS_FROM_MOMENTS, PS_RESULT_F64, 1, 0)                                  \
    X(KURTOSIS, "kurtosis", PS_FROM_MOMENTS, PS_RESULT_F64, 1, 0)

#define PS_REDUCE_KIND_LIST(X)                                                                     \
    X(SUM, "sum", PS_FROM_SUMS, PS_RESULT_WIDE, 1, 0)                                              \
    PS_REDUCE_OTHER_KINDS(X)

#define PS_REDUCE_ENUM(id, name, source, type, sums, squares) PS_REDUCE_##id,
enum ps_reduce_kind { PS_REDUCE_KIND_LIST(PS_REDUCE_ENUM) PS_REDUCE_KINDS };

struct ps_reduce_kind_row {
    const char *name;
    enum ps_reduce_source source;
    enum ps_reduce_result_type type;
    bool sums, squares;
};

// Host only.
extern const struct ps_reduce_kind_row ps_reduce_kinds[PS_REDUCE_KINDS];

#endif
