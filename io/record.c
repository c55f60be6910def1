// SPDX-License-Identifier: Apache-2.0
// The members of a record. Which are read is chosen in io/record_choose.c, their values are taken
// out in io/record_decode.c.
#include "io/record.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

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

// ---- Names ----

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

bool ps_record_unknown(const struct ps_record *record, const char *word, const char *path,
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

const struct ps_member *ps_record_find(const struct ps_record *record, const char *name,
                                       size_t length)
{
    for (int i = 0; i < record->member_count; i++)
        if (strncmp(record->members[i].name, name, length) == 0 &&
            record->members[i].name[length] == '\0')
            return &record->members[i];
    return NULL;
}

const struct ps_member *ps_record_find_element(const struct ps_record *record, const char *word,
                                               int64_t *position_out)
{
    const char *bracket = strrchr(word, '[');
    const struct ps_member *member =
        bracket != NULL ? ps_record_find(record, word, (size_t)(bracket - word)) : NULL;
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

char *ps_member_element_name(const struct ps_member *member, int64_t position)
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
