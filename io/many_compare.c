// SPDX-License-Identifier: Apache-2.0
// Whether the arrays of two files can be joined row after row.
#include "io/many.h"

#include <stdio.h>
#include <string.h>

struct pair {
    const char *a_path, *b_path;
    const struct ps_array *a, *b;
};

static bool differ(const struct pair *pair, const char *what, struct ps_error *error)
{
    char x[PS_ARRAY_TEXT], y[PS_ARRAY_TEXT];
    return ps_fail(error, PS_INPUT, "%s (%s) and %s (%s) cannot be one array: %s", pair->a_path,
                   ps_array_text(pair->a, x), pair->b_path, ps_array_text(pair->b, y), what);
}

static bool compare_columns(const struct pair *pair, struct ps_error *error)
{
    const struct ps_array *a = pair->a, *b = pair->b;
    char x[100], y[100], what[400];
    if ((a->column_count == 0) != (b->column_count == 0))
        return differ(pair, "only one of them has names of columns", error);
    for (int i = 0; i < a->column_count; i++) {
        const char *p = a->columns[i], *q = b->columns[i];
        if (strcmp(p, q) == 0)
            continue;
        snprintf(what, sizeof what, "column %d is '%s' in the first and '%s' in the other%s", i,
                 ps_escape(p, strlen(p), x, sizeof x), ps_escape(q, strlen(q), y, sizeof y),
                 ps_array_find_column(b, p) >= 0 ? "; choose them by name with `columns:`" : "");
        return differ(pair, what, error);
    }
    return true;
}

bool ps_many_compare(const char *a_path, const struct ps_array *a, const char *b_path,
                     const struct ps_array *b, const struct ps_values *options,
                     struct ps_error *error)
{
    struct pair pair = {a_path, b_path, a, b};
    bool has_dtype = ps_options_find(options->options, "dtype") != NULL;
    if (b->rank == 0)
        return ps_fail(error, PS_INPUT, "%s holds a single number, which has no rows to join",
                       b_path);
    if (a->rank != b->rank)
        return differ(&pair, "the numbers of axes differ", error);
    for (int i = 1; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return differ(&pair, "only the numbers of rows may differ", error);
    if (a->dtype != b->dtype)
        return differ(&pair,
                      has_dtype ? "the dtypes differ; `dtype:` reads all files as one"
                                : "the dtypes differ",
                      error);
    return compare_columns(&pair, error);
}
