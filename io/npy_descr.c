// SPDX-License-Identifier: Apache-2.0
// The value of `descr`: '<f4', a list of fields, or (dtype, shape). Fields in fields, sub-arrays,
// titles and the unnamed bytes between fields are laid out as NumPy does.
#include "io/npy_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

static bool parse_type(struct ps_literal *p, int depth, struct ps_npy_type *type);

void ps_npy_type_free(struct ps_npy_type *type)
{
    ps_record_free(&type->record);
}

// ---- [('a', '<f4'), ...] ----

// The bytes of one element with its sub-array axes.
static bool whole_bytes(struct ps_literal *p, const struct ps_npy_type *type, size_t *bytes_out,
                        int64_t *count_out)
{
    int64_t count = 1, bytes = (int64_t)type->record.bytes;
    bool fits = true;
    for (int i = 0; i < type->rank; i++)
        fits = fits && !__builtin_mul_overflow(count, type->dims[i], &count);
    fits = fits && !__builtin_mul_overflow(bytes, count, &bytes);
    *bytes_out = (size_t)bytes;
    *count_out = count;
    return fits || ps_fail(p->error, PS_INPUT,
                           "%s: a sub-array of the npy header's dtype needs "
                           "more than 2^63 bytes",
                           p->path);
}

// "name", "name[1,2]" for an element of an array of records, "name.inner" for a member of one.
static void member_name(const char *name, const struct ps_npy_type *type, int64_t position,
                        const char *inner, struct ps_text *out)
{
    int64_t size = 1;
    for (int i = 0; i < type->rank; i++)
        size *= type->dims[i];
    out->length = 0;
    ps_text_add(out, name);
    for (int i = 0; i < type->rank; i++) {
        size /= type->dims[i];
        ps_text_printf(out, "%s%lld%s", i == 0 ? "[" : ",", (long long)(position / size),
                       i == type->rank - 1 ? "]" : "");
        position %= size;
    }
    ps_text_printf(out, ".%s", inner);
}

static bool add_scalar(struct ps_literal *p, struct ps_record *record, const char *name,
                       const struct ps_npy_type *type, int64_t count)
{
    struct ps_member *member = ps_record_add(record, name, p->path, p->error);
    if (member == NULL)
        return false;
    char *own = member->name;
    *member = type->record.members[0];
    member->name = own;
    member->offset = record->bytes;
    member->count = count;
    member->rank = type->rank;
    for (int i = 0; i < type->rank; i++)
        member->dims[i] = type->dims[i];
    return true;
}

static bool add_inner(struct ps_literal *p, struct ps_record *record, const char *name,
                      const struct ps_npy_type *type, int64_t count)
{
    struct ps_text full = {0};
    bool fine = true;
    if (type->record.member_count == 0)
        count = 0;
    for (int64_t k = 0; fine && k < count; k++) {
        for (int i = 0; fine && i < type->record.member_count; i++) {
            const struct ps_member *inner = &type->record.members[i];
            member_name(name, type, k, inner->name, &full);
            if (full.failed) {
                fine = ps_fail_memory(p->error, full.length, "a member's name");
                break;
            }
            struct ps_member *member = ps_record_add(record, full.data, p->path, p->error);
            fine = member != NULL;
            if (!fine)
                break;
            char *own = member->name;
            *member = *inner;
            member->name = own;
            member->refused = type->is_complex ? ps_npy_complex_member : inner->refused;
            member->offset = record->bytes + (size_t)k * type->record.bytes + inner->offset;
        }
    }
    ps_text_free(&full);
    return fine;
}

static bool add_field(struct ps_literal *p, struct ps_record *record, const char *name,
                      struct ps_npy_type *type)
{
    size_t bytes;
    int64_t count;
    char number[24];
    bool padding = name[0] == '\0' && type->is_void;
    if (!whole_bytes(p, type, &bytes, &count))
        return false;
    snprintf(number, sizeof number, "f%d", record->member_count);
    if (name[0] == '\0')
        name = number; // as NumPy calls it
    bool fine = padding ||
                (type->structured || type->is_complex ? add_inner(p, record, name, type, count)
                                                      : add_scalar(p, record, name, type, count));
    if (fine &&
        (__builtin_add_overflow(record->bytes, bytes, &record->bytes) || record->bytes > INT64_MAX))
        return ps_fail(p->error, PS_INPUT,
                       "%s: a record of the npy header needs more than 2^63 "
                       "bytes",
                       p->path);
    return fine;
}

// The name, or the tuple (title, name).
static bool parse_name(struct ps_literal *p, struct ps_text *name)
{
    if (!ps_literal_take(p, '('))
        return ps_literal_text(p, "a member's name in quotes", name);
    if (!ps_literal_text(p, "a member's title in quotes", name))
        return false;
    if (!ps_literal_take(p, ','))
        return ps_literal_expected(p, "','");
    if (!ps_literal_text(p, "a member's name in quotes", name))
        return false;
    ps_literal_take(p, ',');
    return ps_literal_take(p, ')') || ps_literal_expected(p, "')'");
}

static bool parse_subshape(struct ps_literal *p, struct ps_npy_type *type)
{
    // The outer axes come first: those of a dtype that has a shape already follow.
    struct ps_npy_type inner = *type;
    type->rank = 0;
    if (!ps_literal_shape(p, &type->rank, type->dims))
        return false;
    if (type->rank + inner.rank > PS_RANK_MAX)
        return ps_fail(p->error, PS_INPUT, "%s: a member has more than %d axes", p->path,
                       PS_RANK_MAX);
    for (int i = 0; i < inner.rank; i++)
        type->dims[type->rank++] = inner.dims[i];
    return true;
}

// ('name', dtype) or ('name', dtype, shape).
static bool parse_field(struct ps_literal *p, int depth, struct ps_record *record,
                        struct ps_npy_type *whole, struct ps_text *name)
{
    struct ps_npy_type type = {0};
    if (!ps_literal_take(p, '('))
        return ps_literal_expected(p, "'(' of a member");
    if (!parse_name(p, name))
        return false;
    if (!ps_literal_take(p, ','))
        return ps_literal_expected(p, "','");
    bool fine = parse_type(p, depth + 1, &type);
    if (fine && ps_literal_take(p, ',') && !ps_literal_peek(p, ')'))
        fine = parse_subshape(p, &type);
    ps_literal_take(p, ',');
    fine = fine && (ps_literal_take(p, ')') || ps_literal_expected(p, "')'"));
    // Without its size what follows cannot be found; objects make the whole array a pickle.
    if (fine && type.refused != NULL && (type.unsized || type.structured))
        whole->refused = type.refused;
    fine = fine && add_field(p, record, name->data, &type);
    ps_npy_type_free(&type);
    return fine;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct ps_member *const *)a)->name,
                  (*(const struct ps_member *const *)b)->name);
}

static bool check_names(struct ps_literal *p, const struct ps_record *record)
{
    char shown[100];
    size_t count = (size_t)record->member_count;
    const struct ps_member **sorted = malloc((count + 1) * sizeof(struct ps_member *));
    if (sorted == NULL)
        return ps_fail_memory(p->error, count * sizeof(struct ps_member *), "members");
    for (size_t i = 0; i < count; i++)
        sorted[i] = &record->members[i];
    qsort(sorted, count, sizeof(struct ps_member *), by_name);
    const char *twice = NULL;
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            twice = sorted[i]->name;
    free(sorted);
    return twice == NULL || ps_fail(p->error, PS_INPUT, "%s: the npy header has two members '%s'",
                                    p->path, ps_escape(twice, strlen(twice), shown, sizeof shown));
}

static bool parse_fields(struct ps_literal *p, int depth, struct ps_npy_type *type)
{
    struct ps_text name = {0};
    bool comma = true, fine = true;
    type->structured = true;
    while (fine && !ps_literal_peek(p, ']')) {
        fine = comma ? parse_field(p, depth, &type->record, type, &name)
                     : ps_literal_expected(p, "',' or ']'");
        comma = fine && ps_literal_take(p, ',');
    }
    ps_text_free(&name);
    return fine && ps_literal_take(p, ']') && check_names(p, &type->record);
}

// (dtype, shape)
static bool parse_subarray(struct ps_literal *p, int depth, struct ps_npy_type *type)
{
    if (!parse_type(p, depth + 1, type))
        return false;
    if (!ps_literal_take(p, ','))
        return ps_literal_expected(p, "','");
    if (!parse_subshape(p, type))
        return false;
    ps_literal_take(p, ',');
    return ps_literal_take(p, ')') || ps_literal_expected(p, "')'");
}

static bool parse_type(struct ps_literal *p, int depth, struct ps_npy_type *type)
{
    if (depth > DEPTH_MAX)
        return ps_fail(p->error, PS_INPUT, "%s: the npy header's dtype is nested more than %d deep",
                       p->path, DEPTH_MAX);
    if (ps_literal_take(p, '['))
        return parse_fields(p, depth, type);
    if (ps_literal_take(p, '('))
        return parse_subarray(p, depth, type);
    struct ps_text text = {0};
    bool fine = ps_literal_text(p, "a dtype in quotes such as '<f4'", &text) &&
                ps_npy_code_parse(p, text.data, type);
    ps_text_free(&text);
    return fine;
}

bool ps_npy_type_parse(struct ps_literal *p, struct ps_npy_type *type)
{
    *type = (struct ps_npy_type){0};
    return parse_type(p, 0, type);
}
