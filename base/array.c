// SPDX-License-Identifier: Apache-2.0
// Shapes, their sizes and the names of the last axis.
#include "base/array.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ps_array_init(struct ps_array *array, enum ps_dtype dtype, int rank, const int64_t *dims)
{
    *array = (struct ps_array){.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        array->dims[i] = dims[i];
}

static void free_columns(struct ps_array *array)
{
    for (int i = 0; i < array->column_count; i++)
        free(array->columns[i]);
    free(array->columns);
    array->columns = NULL;
    array->column_count = 0;
}

void ps_array_free(struct ps_array *array)
{
    free_columns(array);
    array->rank = 0;
}

bool ps_array_set_columns(struct ps_array *array, int count, const char *const *names,
                          struct ps_error *error)
{
    char **copy = calloc(count > 0 ? (size_t)count : 1, sizeof *copy);
    for (int i = 0; copy != NULL && i < count; i++) {
        copy[i] = ps_strdup(names[i]);
        if (copy[i] == NULL) {
            while (i-- > 0)
                free(copy[i]);
            free(copy);
            copy = NULL;
        }
    }
    if (copy == NULL)
        return ps_fail_memory(error, (unsigned long long)count * sizeof *copy, "column names");
    free_columns(array);
    array->columns = copy;
    array->column_count = count;
    return true;
}

bool ps_array_copy(struct ps_array *to, const struct ps_array *from, struct ps_error *error)
{
    ps_array_init(to, from->dtype, from->rank, from->dims);
    return from->column_count == 0 ||
           ps_array_set_columns(to, from->column_count, (const char *const *)from->columns, error);
}

int ps_array_find_column(const struct ps_array *array, const char *name)
{
    for (int i = 0; i < array->column_count; i++)
        if (strcmp(array->columns[i], name) == 0)
            return i;
    return -1;
}

int64_t ps_array_rows(const struct ps_array *array)
{
    return array->rank == 0 ? 1 : array->dims[0];
}

int64_t ps_array_row_elements(const struct ps_array *array)
{
    int64_t count = 1;
    for (int i = 1; i < array->rank; i++)
        count *= array->dims[i];
    return count;
}

size_t ps_array_row_bytes(const struct ps_array *array)
{
    return (size_t)ps_array_row_elements(array) * ps_dtype_bytes(array->dtype);
}

// Product of bytes and dims[from..]; a zero anywhere makes it zero, but the non-zero dims alone
// must not overflow either, so that every partial product is safe.
static bool product(const struct ps_array *array, int from, int64_t *out)
{
    int64_t all = (int64_t)ps_dtype_bytes(array->dtype);
    bool empty = false;
    for (int i = from; i < array->rank; i++) {
        if (array->dims[i] == 0)
            empty = true;
        else if (array->dims[i] < 0 || __builtin_mul_overflow(all, array->dims[i], &all))
            return false;
    }
    *out = empty ? 0 : all;
    return true;
}

bool ps_array_bytes(const struct ps_array *array, size_t *bytes_out)
{
    int64_t bytes;
    if (!product(array, 0, &bytes))
        return false;
    *bytes_out = (size_t)bytes;
    return true;
}

bool ps_array_check(const struct ps_array *array, const char *what, struct ps_error *error)
{
    char text[PS_ARRAY_TEXT];
    int64_t bytes;
    bool unknown = array->rank > 0 && array->dims[0] == PS_ROWS_UNKNOWN;
    for (int i = unknown ? 1 : 0; i < array->rank; i++)
        if (array->dims[i] < 0)
            return ps_fail(error, PS_INPUT, "%s: axis %d of %s has a negative size", what, i,
                           ps_array_text(array, text));
    if (!product(array, unknown ? 1 : 0, &bytes))
        return ps_fail(error, PS_INPUT, "%s: the shape %s needs more than 2^63 bytes", what,
                       ps_array_text(array, text));
    return true;
}

char *ps_array_text(const struct ps_array *array, char text[PS_ARRAY_TEXT])
{
    size_t used = (size_t)snprintf(text, PS_ARRAY_TEXT, "%s[", ps_dtype_name(array->dtype));
    for (int i = 0; i < array->rank && used < PS_ARRAY_TEXT - 24; i++) {
        const char *comma = i > 0 ? ", " : "";
        if (i == 0 && array->dims[0] == PS_ROWS_UNKNOWN)
            used += (size_t)snprintf(text + used, PS_ARRAY_TEXT - used, "%s?", comma);
        else
            used += (size_t)snprintf(text + used, PS_ARRAY_TEXT - used, "%s%lld", comma,
                                     (long long)array->dims[i]);
    }
    snprintf(text + used, PS_ARRAY_TEXT - used, "]");
    return text;
}
