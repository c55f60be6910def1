// SPDX-License-Identifier: Apache-2.0
#include "io/csv_columns.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ps_csv_columns_add(struct ps_csv_columns *columns, const char *text, size_t length,
                        struct ps_error *error)
{
    if (columns->count == columns->capacity) {
        int capacity = columns->capacity * 2 + 16;
        char **first = realloc(columns->first, (size_t)capacity * sizeof *first);
        if (first == NULL)
            return ps_fail_memory(error, (size_t)capacity * sizeof *first, "column names");
        columns->first = first;
        columns->capacity = capacity;
    }
    char *copy = strndup(text, length);
    if (copy == NULL)
        return ps_fail_memory(error, length, "a column name");
    columns->first[columns->count++] = copy;
    return true;
}

void ps_csv_columns_free(struct ps_csv_columns *columns)
{
    for (int i = 0; i < columns->count; i++) {
        free(columns->first[i]);
        if (columns->names != NULL)
            free(columns->names[i]);
    }
    free(columns->first);
    free(columns->names);
    free(columns->slots);
    free(columns->chosen_names);
    *columns = (struct ps_csv_columns){0};
}

// ---- Names ----

struct named {
    char *name;
    int field;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
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
        sorted[i] = (struct named){columns->names[i], i};
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int i = 1, first = 0; fine && i < count; i++) {
        if (strcmp(sorted[first].name, sorted[i].name) != 0) {
            first = i;
            continue;
        }
        if (i == first + 1)
            ps_log(PS_LOG_WARNING, "%s: more than one column is named '%s'; later ones get their position "
                                   "added", path,
                   ps_escape(sorted[i].name, strlen(sorted[i].name), shown, sizeof shown));
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

static bool make_names(struct ps_csv_columns *columns, const char *path, bool has_header)
{
    char number[24];
    columns->names = calloc((size_t)columns->count + 1, sizeof *columns->names);
    for (int i = 0; columns->names != NULL && i < columns->count; i++) {
        snprintf(number, sizeof number, "c%d", i);
        bool named = has_header && columns->first[i][0] != '\0';
        columns->names[i] = ps_strdup(named ? columns->first[i] : number);
        if (columns->names[i] == NULL)
            return false;
    }
    return columns->names != NULL && (!has_header || make_unique(columns, path));
}

// ---- Choosing ----

static bool unknown_name(const struct ps_csv_columns *columns, const char *name, const char *path,
                         struct ps_error *error)
{
    char shown[100];
    struct ps_text list = {0};
    const char *near =
        ps_nearest(name, (const char *const *)columns->names, (size_t)columns->count);
    for (int i = 0; i < columns->count && i < 20; i++)
        ps_text_printf(&list, "%s%s", i > 0 ? ", " : "",
                       ps_escape(columns->names[i], strlen(columns->names[i]), shown, sizeof shown));
    ps_escape(name, strlen(name), shown, sizeof shown);
    ps_fail(error, PS_INPUT, "no column '%s' in %s (columns: %s%s)%s%s%s", shown, path,
            list.data ? list.data : "none", columns->count > 20 ? ", ..." : "",
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    ps_text_free(&list);
    return false;
}

// The header's own text counts, also where a name was made unique.
static int find_name(const struct ps_csv_columns *columns, const char *name, const char *path,
                     bool has_header, struct ps_error *error)
{
    int found = -1;
    char shown[100];
    for (int i = 0; i < columns->count; i++) {
        if (strcmp(has_header ? columns->first[i] : columns->names[i], name) != 0)
            continue;
        if (found >= 0) {
            ps_fail(error, PS_INPUT, "%s: column name '%s' is ambiguous: columns %d and %d have it; choose "
                    "by position", path, ps_escape(name, strlen(name), shown, sizeof shown), found, i);
            return -1;
        }
        found = i;
    }
    for (int i = 0; found < 0 && i < columns->count; i++)
        if (strcmp(columns->names[i], name) == 0)
            found = i;
    if (found < 0)
        unknown_name(columns, name, path, error);
    return found;
}

static int find_column(const struct ps_csv_columns *columns, const struct ps_value *wanted, int i,
                       const char *path, bool has_header, struct ps_error *error)
{
    const char *word = wanted->words[i];
    int64_t position;
    double number;
    if (wanted->quoted[i])
        return find_name(columns, word, path, has_header, error);
    if (ps_integer_parse(word, &position)) {
        if (position >= 0 && position < columns->count)
            return (int)position;
        ps_fail(error, PS_INPUT, "%s has no column %lld: it has %d, counted from 0", path,
                (long long)position, columns->count);
        return -1;
    }
    if (ps_number_parse(word, &number) || strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        ps_fail(error, PS_USAGE, "columns: %s is neither a position nor a name; put a name that looks like "
                "this in quotes", word);
        return -1;
    }
    return find_name(columns, word, path, has_header, error);
}

bool ps_csv_columns_choose(struct ps_csv_columns *columns, const struct ps_value *wanted,
                           const char *path, bool has_header, struct ps_error *error)
{
    int count = wanted->given ? wanted->count : columns->count;
    columns->slots = malloc(((size_t)columns->count + 1) * sizeof *columns->slots);
    columns->chosen_names = calloc((size_t)count + 1, sizeof *columns->chosen_names);
    if (columns->slots == NULL || columns->chosen_names == NULL ||
        !make_names(columns, path, has_header))
        return ps_fail_memory(error, (size_t)columns->count * sizeof(int), "columns");
    for (int i = 0; i < columns->count; i++)
        columns->slots[i] = wanted->given ? -1 : i;
    columns->chosen_count = count;
    for (int i = 0; i < count; i++) {
        int field = wanted->given ? find_column(columns, wanted, i, path, has_header, error) : i;
        if (field < 0)
            return false;
        if (wanted->given && columns->slots[field] >= 0)
            return ps_fail(error, PS_USAGE, "columns: '%s' is listed twice", columns->names[field]);
        columns->slots[field] = i;
        columns->chosen_names[i] = columns->names[field];
    }
    return count > 0 || ps_fail(error, PS_USAGE, "columns: the list is empty");
}
