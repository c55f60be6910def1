// SPDX-License-Identifier: Apache-2.0
#include "io/csv_types.h"

#include <stdlib.h>
#include <string.h>

// ---- The sample ----

static bool grow_records(struct ps_csv_sample *sample)
{
    int capacity = 2 * sample->capacity + 64;
    int64_t *lines = realloc(sample->lines, (size_t)capacity * sizeof *lines);
    if (lines != NULL)
        sample->lines = lines;
    size_t *first = realloc(sample->first, ((size_t)capacity + 1) * sizeof *first);
    if (first != NULL)
        sample->first = first;
    if (lines == NULL || first == NULL)
        return false;
    sample->capacity = capacity;
    return true;
}

static bool grow_fields(struct ps_csv_sample *sample, size_t more)
{
    size_t capacity = 2 * sample->field_capacity + more;
    size_t *ends = realloc(sample->ends, capacity * sizeof *ends);
    if (ends != NULL)
        sample->ends = ends;
    bool *quoted = realloc(sample->quoted, capacity * sizeof *quoted);
    if (quoted != NULL)
        sample->quoted = quoted;
    if (ends == NULL || quoted == NULL)
        return false;
    sample->field_capacity = capacity;
    return true;
}

bool ps_csv_sample_add(struct ps_csv_sample *sample, const struct ps_csv_record *record,
                       struct ps_error *error)
{
    size_t more = (size_t)record->count;
    if ((sample->count == sample->capacity && !grow_records(sample)) ||
        (sample->field_count + more > sample->field_capacity && !grow_fields(sample, more)))
        return ps_fail_memory(error, more * sizeof *sample->ends, "the first rows of a CSV file");
    sample->lines[sample->count] = record->line;
    sample->first[sample->count] = sample->field_count;
    for (int i = 0; i < record->count; i++) {
        ps_text_append(&sample->text, record->fields[i].text, record->fields[i].length);
        sample->ends[sample->field_count] = sample->text.length;
        sample->quoted[sample->field_count++] = record->fields[i].quoted;
    }
    sample->first[++sample->count] = sample->field_count;
    return !sample->text.failed ||
           ps_fail_memory(error, sample->text.length, "the first rows of a CSV file");
}

struct ps_csv_record ps_csv_sample_get(const struct ps_csv_sample *sample, int i,
                                       struct ps_csv_field *fields)
{
    size_t first = sample->first[i], end = sample->first[i + 1];
    size_t begin = first > 0 ? sample->ends[first - 1] : 0;
    for (size_t f = first; f < end; f++) {
        const char *text = sample->text.data != NULL ? sample->text.data + begin : "";
        fields[f - first] = (struct ps_csv_field){text, sample->ends[f] - begin, sample->quoted[f]};
        begin = sample->ends[f];
    }
    return (struct ps_csv_record){sample->lines[i], (int)(end - first), fields};
}

int ps_csv_sample_widest(const struct ps_csv_sample *sample)
{
    size_t widest = 0;
    for (int i = 0; i < sample->count; i++) {
        size_t count = sample->first[i + 1] - sample->first[i];
        widest = count > widest ? count : widest;
    }
    return (int)widest;
}

void ps_csv_sample_free(struct ps_csv_sample *sample)
{
    free(sample->lines);
    free(sample->first);
    free(sample->ends);
    free(sample->quoted);
    ps_text_free(&sample->text);
    *sample = (struct ps_csv_sample){0};
}

// ---- Types ----

enum ps_csv_look ps_csv_looks_join(enum ps_csv_look a, enum ps_csv_look b)
{
    enum ps_csv_look low = a < b ? a : b, high = a < b ? b : a;
    if (low == high || low == PS_CSV_LOOKS_MISSING)
        return high;
    if (low == PS_CSV_LOOKS_TRUTH || high >= PS_CSV_LOOKS_TIME)
        return PS_CSV_LOOKS_TEXT; // of two kinds
    // What only i64 holds and what only u64 does fit no integer together.
    return low == PS_CSV_LOOKS_SIGNED && high == PS_CSV_LOOKS_UNSIGNED ? PS_CSV_LOOKS_NUMBER : high;
}

// Of one field of all records; *any_missing and *any_negative tell what else decides.
static enum ps_csv_look column_look(const struct ps_csv_rules *rules,
                                    const struct ps_csv_sample *sample, int field,
                                    bool *any_missing, bool *any_negative)
{
    enum ps_csv_look look = PS_CSV_LOOKS_MISSING;
    struct ps_text scratch = {0};
    for (int i = 0; i < sample->count; i++) {
        size_t at = sample->first[i] + (size_t)field;
        if (at >= sample->first[i + 1])
            continue;
        size_t begin = at > 0 ? sample->ends[at - 1] : 0;
        const char *text = sample->text.data != NULL ? sample->text.data + begin : "";
        size_t length = sample->ends[at] - begin;
        enum ps_csv_look one = ps_csv_field_look(rules, text, length, &scratch);
        *any_missing = *any_missing || one == PS_CSV_LOOKS_MISSING;
        *any_negative = *any_negative || memchr(text, '-', length) != NULL;
        look = ps_csv_looks_join(look, one);
    }
    ps_text_free(&scratch);
    return look;
}

static enum ps_dtype find_dtype(const struct ps_csv_rules *rules,
                                const struct ps_csv_sample *sample, int field)
{
    bool missing = false, negative = false;
    enum ps_csv_look look = column_look(rules, sample, field, &missing, &negative);
    if (missing)
        return PS_F64; // no integer has a value for it
    return look == PS_CSV_LOOKS_TRUTH                   ? PS_BOOL
           : look == PS_CSV_LOOKS_SIGNED                ? PS_I64
           : look == PS_CSV_LOOKS_UNSIGNED && !negative ? PS_U64
                                                        : PS_F64;
}

static struct ps_csv_type type_of_word(const char *word)
{
    struct ps_csv_type type = {.dtype = PS_F64};
    if (strcmp(word, "auto") == 0)
        type.automatic = true;
    else if (strcmp(word, "time_s") == 0)
        type.meaning = PS_CSV_SECONDS;
    else if (strcmp(word, "time_ns") == 0)
        type = (struct ps_csv_type){.meaning = PS_CSV_NANOSECONDS, .dtype = PS_I64};
    else
        ps_dtype_parse(word, &type.dtype);
    return type;
}

bool ps_csv_types_need_sample(const struct ps_value *dtype)
{
    return dtype->count > 0 || strcmp(dtype->text, "auto") == 0;
}

// The words that `dtype: {column: word}` gives, over the types.
static bool apply_words(const struct ps_value *dtype, const struct ps_csv_columns *columns,
                        const char *name, struct ps_csv_type *types, struct ps_error *error)
{
    for (int i = 0; i < dtype->count; i++) {
        int field = ps_csv_columns_find(columns, dtype->words[i], dtype->quoted[i], name, error);
        if (field < 0) {
            ps_error_place(error, "dtype");
            return false;
        }
        if (columns->slots[field] < 0)
            return ps_fail(error, PS_USAGE, "dtype: column '%s' is not among `columns`",
                           columns->names[field]);
        struct ps_csv_type *type = &types[columns->slots[field]];
        if (!type->automatic)
            return ps_fail(error, PS_USAGE,
                           "dtype: column '%s' is given twice, by name and position",
                           columns->names[field]);
        *type = type_of_word(dtype->texts[i]);
    }
    return true;
}

bool ps_csv_types_find(const struct ps_value *dtype, const struct ps_csv_columns *columns,
                       const struct ps_csv_rules *rules, const struct ps_csv_sample *sample,
                       const char *name, struct ps_csv_type **types_out, enum ps_dtype *array_out,
                       struct ps_error *error)
{
    int count = columns->chosen_count;
    struct ps_csv_type *types = calloc((size_t)count + 1, sizeof *types);
    *types_out = types;
    if (types == NULL)
        return ps_fail_memory(error, (size_t)count * sizeof *types, "types of columns");
    for (int i = 0; i < count; i++)
        types[i] = type_of_word(dtype->count > 0 ? "auto" : dtype->text);
    if (!apply_words(dtype, columns, name, types, error))
        return false;
    for (int i = 0; i < count; i++) {
        if (types[i].automatic)
            types[i].dtype = find_dtype(rules, sample, columns->chosen[i]);
        *array_out = i == 0 ? types[i].dtype : ps_dtype_promote(*array_out, types[i].dtype);
    }
    return true;
}
