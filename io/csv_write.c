// SPDX-License-Identifier: Apache-2.0
// Writing CSV: one line per row, numbers as the shortest text that reads back the same unless a
// precision is asked for.
#include "io/csv_columns.h"

#include "io/byte_writer.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ps_option ps_csv_write_options[] = {
    {.key = "separator",
     .kind = PS_TEXT,
     .help = "one character, or one of tab, space; a comma if unset (a tab in .tsv files)"},
    {.key = "header",
     .kind = PS_WORDS,
     .fallback = "auto",
     .help =
         "true writes a line of column names (c0, c1, ... where the array has none), false does "
         "not; auto: when the array has names; or a list of names"},
    {.key = "precision",
     .kind = PS_COUNT,
     .fallback = "auto",
     .min = 1,
     .max = 17,
     .help = "significant digits of floats; auto: as few as read back as the same value"},
    {.key = "decimal",
     .kind = PS_CHOICE,
     .fallback = ".",
     .choices = ".|,",
     .help = "the decimal mark"},
    {.key = "missing", .kind = PS_TEXT, .fallback = "nan", .help = "the word for NaN"},
    {.key = "line_end",
     .kind = PS_CHOICE,
     .fallback = "lf",
     .choices = "lf|crlf",
     .help = "what ends a line (RFC 4180: crlf)"},
    PS_GZIP_OPTION,
    {.key = NULL},
};

struct state {
    struct ps_byte_writer *out;
    char separator, decimal;
    bool crlf;
    int digits; // 0: as few as needed
    const char *missing;
    size_t missing_length;
    int64_t fields; // of a line
    bool one_line;  // rank 1 with named elements: one line in all
};

static bool put(struct ps_writer *writer, const char *text, size_t length, struct ps_error *error)
{
    const struct state *state = writer->state;
    return ps_byte_writer_put(state->out, text, length, error);
}

static bool end_line(struct ps_writer *writer, struct ps_error *error)
{
    const struct state *state = writer->state;
    return put(writer, state->crlf ? "\r\n" : "\n", 1 + (size_t)state->crlf, error);
}

// ---- The header ----

// RFC 4180: a name with a separator, quote or line end goes in quotes, quotes are doubled.
static bool put_name(struct ps_writer *writer, const char *name, struct ps_error *error)
{
    const struct state *state = writer->state;
    const char special[] = {'"', '\r', '\n', state->separator, '\0'};
    if (name[0] != '\0' && strpbrk(name, special) == NULL && name[0] != ' ')
        return put(writer, name, strlen(name), error);
    if (!put(writer, "\"", 1, error))
        return false;
    for (const char *p = name; *p != '\0'; p++)
        if ((*p == '"' && !put(writer, "\"", 1, error)) || !put(writer, p, 1, error))
            return false;
    return put(writer, "\"", 1, error);
}

// Whether there is a line of names, and those that the config gives.
static bool read_header(const struct ps_writer *writer, bool *wanted_out,
                        const struct ps_value **names_out, struct ps_error *error)
{
    const struct state *state = writer->state;
    const struct ps_value *header = ps_values_get(writer->options, "header");
    const char *word = header->automatic ? "auto" : header->count > 0 ? header->words[0] : "";
    *names_out = NULL;
    *wanted_out = true;
    if (header->listed && !header->automatic) {
        *names_out = header;
        return header->count == state->fields ||
               ps_fail(error, PS_USAGE, "header: %d names for %lld columns", header->count,
                       (long long)state->fields);
    }
    *wanted_out =
        strcmp(word, "auto") == 0 ? writer->array->column_count > 0 : strcmp(word, "true") == 0;
    return *wanted_out || strcmp(word, "auto") == 0 || strcmp(word, "false") == 0 ||
           ps_fail(error, PS_USAGE, "header: '%s' is not true, false, auto or a list of names",
                   word);
}

static bool put_header(struct ps_writer *writer, struct ps_error *error)
{
    const struct state *state = writer->state;
    const struct ps_array *array = writer->array;
    const struct ps_value *names;
    char number[24];
    bool wanted;
    if (!read_header(writer, &wanted, &names, error))
        return false;
    for (int64_t i = 0; wanted && i < state->fields; i++) {
        snprintf(number, sizeof number, "c%lld", (long long)i);
        const char *name = names != NULL             ? names->words[i]
                           : array->column_count > 0 ? array->columns[i]
                                                     : number;
        if ((i > 0 && !put(writer, &state->separator, 1, error)) || !put_name(writer, name, error))
            return false;
    }
    return !wanted || end_line(writer, error);
}

// ---- Opening ----

static bool read_options(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = writer->state;
    const struct ps_value *precision = ps_values_get(writer->options, "precision");
    state->decimal = ps_values_get(writer->options, "decimal")->text[0];
    state->crlf = strcmp(ps_values_get(writer->options, "line_end")->text, "crlf") == 0;
    state->digits = precision->automatic ? 0 : (int)precision->integer;
    state->missing = ps_values_get(writer->options, "missing")->text;
    if (!ps_csv_separator(writer->options, writer->path, &state->separator, error))
        return false;
    const char special[] = {'"', '\r', '\n', state->separator, '\0'};
    if (strpbrk(state->missing, special) != NULL)
        return ps_fail(error, PS_USAGE, "missing: '%s' has a separator, quote or line end in it",
                       state->missing);
    if (state->missing[0] == '\0' && state->fields == 1)
        state->missing = "\"\""; // a blank line would be no record
    state->missing_length = strlen(state->missing);
    return state->decimal != state->separator ||
           ps_fail(error, PS_USAGE, "decimal: '%c' is the separator too; set `separator: \";\"`",
                   state->decimal);
}

static bool csv_create(struct ps_writer *writer, struct ps_error *error)
{
    const struct ps_array *array = writer->array;
    char shape[PS_ARRAY_TEXT];
    if (array->rank > 2)
        return ps_fail(error, PS_OUTPUT,
                       "%s: CSV holds at most 2 axes, the array is %s; write it as hdf5 "
                       "or npy",
                       writer->path, ps_array_text(array, shape));
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a CSV writer");
    writer->state = state;
    state->one_line = array->rank == 1 && array->column_count > 0;
    state->fields = array->rank == 2 ? array->dims[1] : state->one_line ? array->dims[0] : 1;
    if (!read_options(writer, error))
        return false;
    state->out = ps_byte_writer_open(writer, ps_gzip_level(writer), error);
    return state->out != NULL && put_header(writer, error);
}

// ---- Writing ----

static bool is_nan(enum ps_dtype dtype, const void *value)
{
    float single;
    double number;
    uint16_t half;
    switch (dtype) {
    case PS_F16:
        memcpy(&half, value, sizeof half);
        return (half & 0x7fff) > 0x7c00;
    case PS_F32:
        memcpy(&single, value, sizeof single);
        return isnan(single);
    case PS_F64:
        memcpy(&number, value, sizeof number);
        return isnan(number);
    default:
        return false;
    }
}

static bool put_value(struct ps_writer *writer, const void *value, bool last,
                      struct ps_error *error)
{
    const struct state *state = writer->state;
    enum ps_dtype dtype = writer->array->dtype;
    char number[PS_NUMBER_TEXT + 2];
    if (is_nan(dtype, value))
        return put(writer, state->missing, state->missing_length, error) &&
               (last ? end_line(writer, error) : put(writer, &state->separator, 1, error));
    size_t length = state->digits > 0 && ps_dtype_is_float(dtype)
                        ? ps_value_to_digits(dtype, value, state->digits, number)
                        : ps_value_to_text(dtype, value, number);
    char *point = state->decimal == ',' ? memchr(number, '.', length) : NULL;
    if (point != NULL)
        *point = ',';
    if (last && state->crlf)
        number[length++] = '\r';
    number[length++] = last ? '\n' : state->separator;
    return put(writer, number, length, error);
}

static bool write_rows(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                       struct ps_error *error)
{
    const struct state *state = writer->state;
    size_t bytes = ps_dtype_bytes(writer->array->dtype);
    int64_t count = rows * ps_array_row_elements(writer->array);
    // A line of named elements may come in several blocks.
    int64_t before = state->one_line ? first_row : 0;
    for (int64_t i = 0; i < count; i++)
        if (!put_value(writer, (const char *)data + (size_t)i * bytes,
                       (before + i + 1) % state->fields == 0, error))
            return false;
    return true;
}

static bool csv_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    const struct state *state = writer->state;
    (void)rows;
    return ps_byte_writer_finish(state->out, error);
}

static void csv_close(struct ps_writer *writer)
{
    struct state *state = writer->state;
    if (state == NULL)
        return;
    ps_byte_writer_close(state->out);
    free(state);
}

const struct ps_format_writer ps_csv_writer = {
    .create = csv_create, .write = write_rows, .finish = csv_finish, .close = csv_close};
