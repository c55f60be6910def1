// SPDX-License-Identifier: Apache-2.0
#include "io/csv_columns.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ps_csv_columns_free(struct ps_csv_columns *columns)
{
    for (int i = 0; i < columns->count; i++) {
        if (columns->first != NULL)
            free(columns->first[i]);
        if (columns->names != NULL)
            free(columns->names[i]);
    }
    free(columns->first);
    free(columns->names);
    free(columns->slots);
    free(columns->chosen);
    free(columns->chosen_names);
    *columns = (struct ps_csv_columns){0};
}

// ---- Names ----

struct named {
    char *name;
    int field;
    bool made; // for a field without a name
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = x->made - y->made; // the file's own names are not taken from it
    return order != 0 ? order : (x->field > y->field) - (x->field < y->field);
}

static bool is_taken(const struct named *sorted, int count, const char *name)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2, order = strcmp(sorted[middle].name, name);
        if (order == 0)
            return true;
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return false;
}

// "NAME_FIELD", longer while a column of the file is named so. Names made here differ: behind the
// last underscore is the field.
static char *free_name(const struct named *sorted, int count, const struct named *from)
{
    struct ps_text text = {0};
    ps_text_add(&text, from->name);
    do
        ps_text_printf(&text, "_%d", from->field);
    while (!text.failed && is_taken(sorted, count, text.data));
    if (text.failed)
        ps_text_free(&text);
    return text.data;
}

// A sorted view of the names finds those that are equal without comparing all with all. It keeps
// the replaced names to the end: they stay taken.
static bool make_unique(struct ps_csv_columns *columns, const char *path)
{
    int count = columns->count;
    bool fine = true;
    char shown[80];
    struct named *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (int i = 0; i < count; i++)
        sorted[i] = (struct named){columns->names[i], i, columns->first[i][0] == '\0'};
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int i = 1, first = 0; fine && i < count; i++) {
        if (strcmp(sorted[first].name, sorted[i].name) != 0) {
            first = i;
            continue;
        }
        if (i == first + 1)
            ps_log(PS_LOG_WARNING,
                   "%s: more than one column is named '%s'; the others get their position "
                   "added",
                   path, ps_escape(sorted[i].name, strlen(sorted[i].name), shown, sizeof shown));
        char *unique = free_name(sorted, count, &sorted[i]);
        fine = unique != NULL;
        if (fine)
            columns->names[sorted[i].field] = unique;
    }
    for (int i = 0; i < count; i++)
        if (columns->names[sorted[i].field] != sorted[i].name)
            free(sorted[i].name);
    free(sorted);
    return fine;
}

static bool copy_field(char **out, const char *text, size_t length, struct ps_error *error)
{
    *out = strndup(text, length);
    return *out != NULL || ps_fail_memory(error, length, "a column name");
}

// What the header or the config calls the columns.
static bool copy_names(struct ps_csv_columns *columns, const struct ps_csv_record *header,
                       const struct ps_value *given, struct ps_error *error)
{
    columns->first = calloc((size_t)columns->count + 1, sizeof *columns->first);
    if (columns->first == NULL)
        return ps_fail_memory(error, (size_t)columns->count * sizeof(char *), "column names");
    for (int i = 0; i < columns->count; i++) {
        const char *text = header != NULL ? header->fields[i].text : given->words[i];
        size_t length = header != NULL ? header->fields[i].length : strlen(text);
        if (!copy_field(&columns->first[i], text, length, error))
            return false;
    }
    return true;
}

bool ps_csv_columns_name(struct ps_csv_columns *columns, int count,
                         const struct ps_csv_record *header, const struct ps_value *given,
                         const char *name, struct ps_error *error)
{
    char number[24];
    bool named = header != NULL || given != NULL;
    if (header == NULL && given != NULL && given->count != count)
        return ps_fail(error, PS_INPUT, "%s: `header` gives %d name%s, but a record has %d field%s",
                       name, given->count, given->count == 1 ? "" : "s", count,
                       count == 1 ? "" : "s");
    columns->count = count;
    if (named && !copy_names(columns, header, given, error))
        return false;
    columns->names = calloc((size_t)count + 1, sizeof *columns->names);
    if (columns->names == NULL)
        return ps_fail_memory(error, (size_t)count * sizeof(char *), "column names");
    for (int i = 0; i < count; i++) {
        snprintf(number, sizeof number, "c%d", i);
        const char *text = named && columns->first[i][0] != '\0' ? columns->first[i] : number;
        if (!copy_field(&columns->names[i], text, strlen(text), error))
            return false;
    }
    return !named || make_unique(columns, name) ||
           ps_fail_memory(error, (size_t)count * sizeof(char *), "column names");
}
