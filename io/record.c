// SPDX-License-Identifier: Apache-2.0
// The members of a record and the choice among them. The values are taken out in
// io/record_decode.c.
#include "io/record.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 65536

struct ps_member *ps_record_add(struct ps_record *record, const char *name, const char *path,
                                struct ps_error *error)
{
    int count = record->member_count;
    if (count == PS_MEMBERS_MAX) {
        ps_fail(error, PS_INPUT, "%s: its records have more than %d members", path, PS_MEMBERS_MAX);
        return NULL;
    }
    if ((count & (count - 1)) == 0) { // room for 1, 2, 4, 8, ...
        size_t room = (count == 0 ? 1 : 2 * (size_t)count) * sizeof *record->members;
        struct ps_member *members = realloc(record->members, room);
        if (members == NULL) {
            ps_fail_memory(error, room, "members of a record");
            return NULL;
        }
        record->members = members;
    }
    struct ps_member *member = &record->members[count];
    *member = (struct ps_member){.name = ps_strdup(name), .count = 1};
    if (member->name == NULL) {
        ps_fail_memory(error, strlen(name), "a member's name");
        return NULL;
    }
    record->member_count++;
    return member;
}

void ps_record_free(struct ps_record *record)
{
    for (int i = 0; i < record->member_count; i++)
        free(record->members[i].name);
    free(record->members);
    *record = (struct ps_record){0};
}

// ---- Finding ----

static void list_members(const struct ps_record *record, struct ps_text *out)
{
    char shown[100];
    for (int i = 0; i < record->member_count && i < 20; i++) {
        const struct ps_member *member = &record->members[i];
        ps_text_printf(out, "%s%s", i > 0 ? ", " : "",
                       ps_escape(member->name, strlen(member->name), shown, sizeof shown));
        for (int d = 0; d < member->rank; d++)
            ps_text_printf(out, "%s%lld%s", d == 0 ? "[" : ",", (long long)member->dims[d],
                           d == member->rank - 1 ? "]" : "");
    }
    if (record->member_count > 20)
        ps_text_add(out, ", ...");
}

static bool unknown(const struct ps_record *record, const char *word, const char *path,
                    struct ps_error *error)
{
    char shown[100];
    struct ps_text list = {0};
    const char **names = calloc((size_t)record->member_count + 1, sizeof *names);
    for (int i = 0; names != NULL && i < record->member_count; i++)
        names[i] = record->members[i].name;
    const char *near = names != NULL ? ps_nearest(word, names, (size_t)record->member_count) : NULL;
    free(names);
    list_members(record, &list);
    ps_fail(error, PS_INPUT, "no column '%s' in %s (columns: %s)%s%s%s",
            ps_escape(word, strlen(word), shown, sizeof shown), path,
            list.length > 0 ? list.data : "none", near ? "; did you mean '" : "", near ? near : "",
            near ? "'?" : "");
    ps_text_free(&list);
    return false;
}

static const struct ps_member *find_member(const struct ps_record *record, const char *name,
                                           size_t length)
{
    for (int i = 0; i < record->member_count; i++)
        if (strncmp(record->members[i].name, name, length) == 0 &&
            record->members[i].name[length] == '\0')
            return &record->members[i];
    return NULL;
}

// "v[2]", "m[0,1]": the member and the position of the element in it.
static const struct ps_member *find_element(const struct ps_record *record, const char *word,
                                            int64_t *position_out)
{
    const char *bracket = strrchr(word, '[');
    const struct ps_member *member =
        bracket != NULL ? find_member(record, word, (size_t)(bracket - word)) : NULL;
    int64_t position = 0;
    for (int d = 0; member != NULL && d < member->rank; d++) {
        char *end;
        long long digit = strtoll(bracket + 1, &end, 10);
        if (end == bracket + 1 || digit < 0 || digit >= member->dims[d] ||
            *end != (d == member->rank - 1 ? ']' : ','))
            return NULL;
        position = position * member->dims[d] + digit;
        bracket = end;
    }
    *position_out = position;
    return member != NULL && member->rank > 0 && bracket[1] == '\0' ? member : NULL;
}

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

static bool take_whole(struct chooser *c, const struct ps_member *member)
{
    return take(c, member, 0, true);
}

static bool take_name(struct chooser *c, const char *word)
{
    int64_t position;
    bool found = false;
    const struct ps_member *member = find_member(c->record, word, strlen(word));
    if (member != NULL)
        return take_whole(c, member);
    if ((member = find_element(c->record, word, &position)) != NULL)
        return take(c, member, position, false);
    for (int i = 0; i < c->record->member_count; i++) {
        if (!is_inside(&c->record->members[i], word))
            continue;
        found = true;
        if (!take_whole(c, &c->record->members[i]))
            return false;
    }
    return found || unknown(c->record, word, c->path, c->error);
}

static bool take_word(struct chooser *c, const char *word, bool quoted)
{
    int64_t position;
    double number;
    if (quoted)
        return take_name(c, word);
    if (ps_integer_parse(word, &position)) {
        if (position >= 0 && position < c->record->member_count)
            return take_whole(c, &c->record->members[position]);
        return ps_fail(c->error, PS_INPUT,
                       "%s has no column %lld: its records have %d members, "
                       "counted from 0",
                       c->path, (long long)position, c->record->member_count);
    }
    if (ps_number_parse(word, &number) || strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        return ps_fail(c->error, PS_USAGE,
                       "columns: %s is neither a position nor a name; put a "
                       "name that looks like this in quotes",
                       word);
    return take_name(c, word);
}

static bool take_all(struct chooser *c)
{
    for (int i = 0; i < c->record->member_count; i++)
        if (!take_whole(c, &c->record->members[i]))
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

// "v[2]", "m[0,1]", or the member's own name when it is a scalar.
static char *element_name(const struct ps_member *member, int64_t position)
{
    struct ps_text text = {0};
    ps_text_add(&text, member->name);
    int64_t left = position, size = member->count;
    for (int d = 0; d < member->rank; d++) {
        size /= member->dims[d];
        ps_text_printf(&text, "%s%lld%s", d == 0 ? "[" : ",", (long long)(left / size),
                       d == member->rank - 1 ? "]" : "");
        left %= size;
    }
    if (text.failed)
        ps_text_free(&text);
    return text.data;
}

static bool name_elements(struct ps_record_choice *choice, struct ps_error *error)
{
    int64_t used = 0;
    choice->names = calloc((size_t)choice->count + 1, sizeof *choice->names);
    for (int r = 0; choice->names != NULL && r < choice->run_count; r++) {
        const struct ps_record_run *run = &choice->runs[r];
        for (int64_t i = 0; i < run->count; i++)
            if ((choice->names[used++] = element_name(run->member, run->first + i)) == NULL)
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
