// SPDX-License-Identifier: Apache-2.0
// Which members of a record are read, and what array that makes.
#include "io/record.h"

#include "base/text.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 65536

static bool is_inside(const struct ps_member *member, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(member->name, outer, length) == 0 &&
           (member->name[length] == '.' || member->name[length] == '[');
}

// ---- Choosing ----

// What has been chosen of each member.
enum { NOTHING, PART, WHOLE };

struct chooser {
    const struct ps_record *record;
    const char *path;
    struct ps_record_choice *choice;
    unsigned char *taken;
    struct ps_error *error;
};

static bool is_taken(const struct chooser *c, const struct ps_member *member, int64_t first)
{
    int state = c->taken[member - c->record->members];
    if (state != PART || member->count == 0)
        return state == WHOLE;
    for (int i = 0; i < c->choice->run_count; i++)
        if (c->choice->runs[i].member == member && c->choice->runs[i].first == first)
            return true;
    return false;
}

static bool take(struct chooser *c, const struct ps_member *member, int64_t first, bool whole)
{
    struct ps_record_choice *choice = c->choice;
    int64_t count = whole ? member->count : 1;
    char shown[100];
    ps_escape(member->name, strlen(member->name), shown, sizeof shown);
    if (member->refused != NULL)
        return ps_fail(c->error, PS_INPUT, "%s: column '%s' holds %s: choose others by `columns:`",
                       c->path, shown, member->refused);
    if (is_taken(c, member, first) || (whole && c->taken[member - c->record->members] != NOTHING))
        return ps_fail(c->error, PS_USAGE, "columns: '%s' of %s is listed twice", shown, c->path);
    c->taken[member - c->record->members] = whole ? WHOLE : PART;
    if (choice->run_count == choice->run_capacity) {
        int capacity = 2 * choice->run_capacity + 8;
        void *runs = realloc(choice->runs, (size_t)capacity * sizeof *choice->runs);
        if (runs == NULL)
            return ps_fail_memory(c->error, (size_t)capacity * sizeof *choice->runs, "columns");
        choice->runs = runs;
        choice->run_capacity = capacity;
    }
    choice->runs[choice->run_count++] =
        (struct ps_record_run){member, first, count, choice->count, !whole};
    return !__builtin_add_overflow(choice->count, count, &choice->count) ||
           ps_fail(c->error, PS_INPUT, "%s: its records hold more than 2^63 numbers", c->path);
}

// may_repeat: a range or pattern passes over what has been chosen already.
static bool take_whole(struct chooser *c, const struct ps_member *member, bool may_repeat)
{
    return (may_repeat && c->taken[member - c->record->members] == WHOLE) ||
           take(c, member, 0, true);
}

// The name of a member, of an element, or of a record in the record. *found_out: it is one of
// these.
static bool take_name(struct chooser *c, const char *word, bool *found_out)
{
    int64_t position;
    const struct ps_member *member = ps_record_find(c->record, word, strlen(word));
    *found_out = true;
    if (member != NULL)
        return take_whole(c, member, false);
    if ((member = ps_record_find_element(c->record, word, &position)) != NULL)
        return take(c, member, position, false);
    *found_out = false;
    for (int i = 0; i < c->record->member_count; i++) {
        if (!is_inside(&c->record->members[i], word))
            continue;
        *found_out = true;
        if (!take_whole(c, &c->record->members[i], false))
            return false;
    }
    return true;
}

// One end of a range: the position of a member, or its name. *is_name_out: the latter.
static bool range_end(const struct chooser *c, const char *word, size_t length, int64_t fallback,
                      int64_t *position_out, bool *is_name_out)
{
    char number[24];
    *position_out = fallback;
    *is_name_out = false;
    if (length == 0)
        return true;
    snprintf(number, sizeof number, "%.*s", (int)(length < 23 ? length : 23), word);
    if (ps_integer_parse(number, position_out))
        return *position_out >= 0 && *position_out <= c->record->member_count;
    const struct ps_member *member = ps_record_find(c->record, word, length);
    *is_name_out = true;
    *position_out = member != NULL ? member - c->record->members : -1;
    return member != NULL;
}

// "2:5" are the members 2, 3, 4; "a:c" those from a to c.
static bool take_range(struct chooser *c, const char *word)
{
    const char *colon = strchr(word, ':');
    int64_t from, to;
    bool from_name, to_name;
    if (!range_end(c, word, (size_t)(colon - word), 0, &from, &from_name) ||
        !range_end(c, colon + 1, strlen(colon + 1), c->record->member_count, &to, &to_name))
        return ps_record_unknown(c->record, word, c->path, c->error);
    to += to_name;
    if (from >= to)
        return ps_fail(c->error, PS_USAGE, "columns: the range '%s' is empty", word);
    for (int64_t i = from; i < to; i++)
        if (!take_whole(c, &c->record->members[i], true))
            return false;
    return true;
}

static bool take_pattern(struct chooser *c, const char *word)
{
    bool any = false;
    for (int i = 0; i < c->record->member_count; i++) {
        if (fnmatch(word, c->record->members[i].name, 0) != 0)
            continue;
        any = true;
        if (!take_whole(c, &c->record->members[i], true))
            return false;
    }
    return any || ps_fail(c->error, PS_INPUT, "%s: no column's name is like '%s'", c->path, word);
}

static bool take_word(struct chooser *c, const char *word, bool quoted)
{
    int64_t position;
    double number;
    bool found;
    if (!quoted && ps_integer_parse(word, &position)) {
        if (position >= 0 && position < c->record->member_count)
            return take_whole(c, &c->record->members[position], false);
        return ps_fail(c->error, PS_INPUT,
                       "%s has no column %lld: its records have %d members, "
                       "counted from 0",
                       c->path, (long long)position, c->record->member_count);
    }
    bool fine = take_name(c, word, &found);
    if (!fine || found)
        return fine;
    if (!quoted && strpbrk(word, "*?") != NULL)
        return take_pattern(c, word);
    if (!quoted && strchr(word, ':') != NULL)
        return take_range(c, word);
    if (!quoted &&
        (ps_number_parse(word, &number) || strcmp(word, "true") == 0 || strcmp(word, "false") == 0))
        return ps_fail(c->error, PS_USAGE,
                       "columns: %s is neither a position nor a name; put a "
                       "name that looks like this in quotes",
                       word);
    return ps_record_unknown(c->record, word, c->path, c->error);
}

static bool take_all(struct chooser *c)
{
    for (int i = 0; i < c->record->member_count; i++)
        if (!take_whole(c, &c->record->members[i], false))
            return false;
    return c->record->member_count > 0 ||
           ps_fail(c->error, PS_INPUT, "%s: its records have no members", c->path);
}

static bool take_columns(struct chooser *c, const struct ps_value *columns)
{
    if (!columns->given)
        return take_all(c);
    for (int i = 0; i < columns->count; i++)
        if (!take_word(c, columns->words[i], columns->quoted[i]))
            return false;
    return columns->count > 0 || ps_fail(c->error, PS_USAGE, "columns: the list is empty");
}

// ---- What array that makes ----

static bool name_elements(struct ps_record_choice *choice, struct ps_error *error)
{
    int64_t used = 0;
    choice->names = calloc((size_t)choice->count + 1, sizeof *choice->names);
    for (int r = 0; choice->names != NULL && r < choice->run_count; r++) {
        const struct ps_record_run *run = &choice->runs[r];
        for (int64_t i = 0; i < run->count; i++)
            if ((choice->names[used++] = ps_member_element_name(run->member, run->first + i)) ==
                NULL)
                return ps_fail_memory(error, 64, "column names");
    }
    return choice->names != NULL ||
           ps_fail_memory(error, (size_t)choice->count * sizeof(char *), "column names");
}

// A member chosen alone keeps its axes: a scalar none, a picture two.
static bool shape(struct ps_record_choice *choice, const char *path, struct ps_error *error)
{
    const struct ps_record_run *run = &choice->runs[0];
    if (choice->run_count == 1) {
        choice->rank = run->element ? 0 : run->member->rank;
        for (int d = 0; d < choice->rank; d++)
            choice->dims[d] = run->member->dims[d];
        return choice->rank != 1 || choice->count > NAMES_MAX || name_elements(choice, error);
    }
    choice->rank = 1;
    choice->dims[0] = choice->count;
    if (choice->count > NAMES_MAX)
        return ps_fail(error, PS_INPUT,
                       "%s: %lld columns, but at most %d can be read together; "
                       "read an array member alone by `columns:`",
                       path, (long long)choice->count, NAMES_MAX);
    return name_elements(choice, error);
}

bool ps_record_choose(const struct ps_record *record, const struct ps_value *columns,
                      const struct ps_value *dtype, const char *path,
                      struct ps_record_choice *choice, struct ps_error *error)
{
    *choice = (struct ps_record_choice){.record = record};
    struct chooser c = {record, path, choice, calloc((size_t)record->member_count + 1, 1), error};
    if (c.taken == NULL)
        return ps_fail_memory(error, (size_t)record->member_count, "columns");
    bool fine = take_columns(&c, columns);
    free(c.taken);
    if (!fine || !shape(choice, path, error)) {
        ps_record_choice_free(choice);
        return false;
    }
    choice->dtype = choice->runs[0].member->dtype;
    for (int i = 1; i < choice->run_count; i++)
        choice->dtype = ps_dtype_promote(choice->dtype, choice->runs[i].member->dtype);
    if (dtype->given)
        choice->dtype = dtype->dtype;
    return true;
}

void ps_record_choice_free(struct ps_record_choice *choice)
{
    for (int64_t i = 0; choice->names != NULL && i < choice->count; i++)
        free(choice->names[i]);
    free(choice->names);
    free(choice->runs);
    *choice = (struct ps_record_choice){0};
}

bool ps_record_array(const struct ps_record_choice *choice, const char *path,
                     struct ps_array *array, struct ps_error *error)
{
    if (array->rank + choice->rank > PS_RANK_MAX)
        return ps_fail(error, PS_INPUT,
                       "%s: with the axes of its members the array has more than "
                       "%d axes",
                       path, PS_RANK_MAX);
    array->dtype = choice->dtype;
    for (int d = 0; d < choice->rank; d++)
        array->dims[array->rank++] = choice->dims[d];
    return choice->names == NULL || ps_array_set_columns(array, (int)choice->count,
                                                         (const char *const *)choice->names, error);
}
