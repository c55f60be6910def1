// SPDX-License-Identifier: Apache-2.0
// Which columns of a CSV file are read: positions, names, ranges and patterns.
#include "io/csv_columns.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

// ---- One column ----

static int unknown_name(const struct ps_csv_columns *columns, const char *word, const char *name,
                        struct ps_error *error)
{
    char shown[100], near_shown[100] = "";
    struct ps_text list = {0};
    const char *near =
        ps_nearest(word, (const char *const *)columns->names, (size_t)columns->count);
    for (int i = 0; i < columns->count && i < 20; i++)
        ps_text_printf(
            &list, "%s%s", i > 0 ? ", " : "",
            ps_escape(columns->names[i], strlen(columns->names[i]), shown, sizeof shown));
    if (near != NULL)
        ps_escape(near, strlen(near), near_shown, sizeof near_shown);
    ps_escape(word, strlen(word), shown, sizeof shown);
    ps_fail(error, PS_INPUT, "no column '%s' in %s (columns: %s%s)%s%s%s", shown, name,
            list.data ? list.data : "none", columns->count > 20 ? ", ..." : "",
            near ? "; did you mean '" : "", near_shown, near ? "'?" : "");
    ps_text_free(&list);
    return -1;
}

// What the file or the config calls a column counts, also where a name was made unique. -1: none,
// -2 after reporting that several are called so.
static int match_name(const struct ps_csv_columns *columns, const char *word, const char *name,
                      struct ps_error *error)
{
    int found = -1;
    char shown[100];
    for (int i = 0; i < columns->count; i++) {
        if (strcmp(columns->first ? columns->first[i] : columns->names[i], word) != 0)
            continue;
        if (found >= 0) {
            ps_fail(
                error, PS_INPUT,
                "%s: column name '%s' is ambiguous: columns %d and %d have it; choose by position",
                name, ps_escape(word, strlen(word), shown, sizeof shown), found, i);
            return -2;
        }
        found = i;
    }
    for (int i = 0; found < 0 && i < columns->count; i++)
        if (strcmp(columns->names[i], word) == 0)
            found = i;
    return found;
}

static int at_position(const struct ps_csv_columns *columns, int64_t position, const char *name,
                       struct ps_error *error)
{
    if (position >= 0 && position < columns->count)
        return (int)position;
    ps_fail(error, PS_INPUT, "%s has no column %lld: it has %d, counted from 0", name,
            (long long)position, columns->count);
    return -1;
}

int ps_csv_columns_find(const struct ps_csv_columns *columns, const char *word, bool quoted,
                        const char *name, struct ps_error *error)
{
    int64_t position;
    double number;
    if (!quoted && ps_integer_parse(word, &position))
        return at_position(columns, position, name, error);
    int field = match_name(columns, word, name, error);
    if (field != -1)
        return field >= 0 ? field : -1;
    if (!quoted && (ps_number_parse(word, &number) || strcmp(word, "true") == 0 ||
                    strcmp(word, "false") == 0)) {
        ps_fail(error, PS_USAGE,
                "columns: %s is neither a position nor a name; put a name that looks like this in "
                "quotes",
                word);
        return -1;
    }
    return unknown_name(columns, word, name, error);
}

// ---- Several columns ----

struct choice {
    struct ps_csv_columns *columns;
    const char *name; // of the file
};

static bool add_column(struct choice *choice, int field, bool may_repeat, struct ps_error *error)
{
    struct ps_csv_columns *columns = choice->columns;
    char shown[100];
    if (columns->slots[field] >= 0)
        return may_repeat || ps_fail(error, PS_USAGE, "columns: '%s' is listed twice",
                                     ps_escape(columns->names[field], strlen(columns->names[field]),
                                               shown, sizeof shown));
    columns->slots[field] = columns->chosen_count;
    columns->chosen[columns->chosen_count] = field;
    columns->chosen_names[columns->chosen_count++] = columns->names[field];
    return true;
}

// One end of a range: a position, a name, or nothing. *is_position_out: not a name.
static bool range_end(const struct choice *choice, const char *word, int fallback, int *field_out,
                      bool *is_position_out, struct ps_error *error)
{
    int64_t position;
    *is_position_out = true;
    *field_out = fallback;
    if (*word == '\0')
        return true;
    if (ps_integer_parse(word, &position)) {
        *field_out = position < 0 || position > choice->columns->count ? -1 : (int)position;
        return *field_out >= 0 || at_position(choice->columns, position, choice->name, error) >= 0;
    }
    *is_position_out = false;
    *field_out = ps_csv_columns_find(choice->columns, word, true, choice->name, error);
    return *field_out >= 0;
}

// "2:5" are the columns 2, 3, 4; "a:c" those from a to c.
static bool add_range(struct choice *choice, const char *word, struct ps_error *error)
{
    char *first = ps_strdup(word), *colon = first != NULL ? strchr(first, ':') : NULL;
    int from = 0, to = 0;
    bool from_position, to_position;
    if (colon == NULL) {
        free(first);
        return ps_fail_memory(error, strlen(word), "a range of columns");
    }
    *colon = '\0';
    bool fine = range_end(choice, first, 0, &from, &from_position, error) &&
                range_end(choice, colon + 1, choice->columns->count, &to, &to_position, error);
    free(first);
    to += fine && !to_position;
    if (fine && from >= to)
        fine = ps_fail(error, PS_USAGE, "columns: the range '%s' is empty", word);
    for (int i = from; fine && i < to; i++)
        fine = add_column(choice, i, true, error);
    return fine;
}

static bool add_pattern(struct choice *choice, const char *word, struct ps_error *error)
{
    bool any = false;
    for (int i = 0; i < choice->columns->count; i++) {
        if (fnmatch(word, choice->columns->names[i], 0) != 0)
            continue;
        any = true;
        add_column(choice, i, true, error);
    }
    return any || ps_fail(error, PS_INPUT, "%s: no column's name is like '%s'", choice->name, word);
}

static bool add_word(struct choice *choice, const char *word, bool quoted, struct ps_error *error)
{
    int64_t position;
    bool is_name = quoted || ps_integer_parse(word, &position);
    if (!is_name && strpbrk(word, ":*?[") != NULL) {
        int field = match_name(choice->columns, word, choice->name, error);
        if (field == -1)
            return strpbrk(word, "*?[") != NULL ? add_pattern(choice, word, error)
                                                : add_range(choice, word, error);
    }
    int field = ps_csv_columns_find(choice->columns, word, quoted, choice->name, error);
    return field >= 0 && add_column(choice, field, false, error);
}

bool ps_csv_columns_choose(struct ps_csv_columns *columns, const struct ps_value *wanted,
                           const char *name, struct ps_error *error)
{
    size_t room = (size_t)columns->count + 1;
    struct choice choice = {.columns = columns, .name = name};
    columns->slots = malloc(room * sizeof *columns->slots);
    columns->chosen = malloc(room * sizeof *columns->chosen);
    columns->chosen_names = calloc(room, sizeof *columns->chosen_names);
    if (columns->slots == NULL || columns->chosen == NULL || columns->chosen_names == NULL)
        return ps_fail_memory(error, room * sizeof(char *), "columns");
    for (int i = 0; i < columns->count; i++)
        columns->slots[i] = -1;
    if (wanted->given && wanted->count == 0)
        return ps_fail(error, PS_USAGE, "columns: the list is empty");
    for (int i = 0; !wanted->given && i < columns->count; i++)
        add_column(&choice, i, true, error);
    for (int i = 0; wanted->given && i < wanted->count; i++)
        if (!add_word(&choice, wanted->words[i], wanted->quoted[i], error))
            return false;
    return true;
}
