// SPDX-License-Identifier: Apache-2.0
// Writing CSV: one line per row, numbers as the shortest text that reads back the same.
#include "io/csv_columns.h"

#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1u << 20)

const struct ps_option ps_csv_write_options[] = {
    {.key = "separator",
     .kind = PS_TEXT,
     .help = "one character, or one of tab, space; a comma if unset (a tab in .tsv files)"},
    {.key = "header",
     .kind = PS_COUNT,
     .fallback = "auto",
     .min = 0,
     .max = 1,
     .help = "1 writes a line of column names, 0 does not; auto: when the array has names"},
    {.key = NULL},
};

struct state {
    int file;
    char separator;
    uint64_t offset;
    char *buffer;
    size_t used;
    int64_t fields; // of a line
    bool one_line;  // rank 1 with named elements: one line in all
};

static bool flush(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = writer->state;
    if (!ps_file_write(state->file, writer->path, state->offset, state->buffer, state->used, error))
        return false;
    state->offset += state->used;
    state->used = 0;
    return true;
}

static bool put(struct ps_writer *writer, const char *text, size_t length, struct ps_error *error)
{
    struct state *state = writer->state;
    while (length > 0) {
        size_t room = BUFFER_BYTES - state->used, n = length < room ? length : room;
        memcpy(state->buffer + state->used, text, n);
        state->used += n;
        text += n;
        length -= n;
        if (state->used == BUFFER_BYTES && !flush(writer, error))
            return false;
    }
    return true;
}

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

static bool put_header(struct ps_writer *writer, struct ps_error *error)
{
    const struct ps_value *header = ps_values_get(writer->options, "header");
    const struct state *state = writer->state;
    const struct ps_array *array = writer->array;
    char number[24];
    if (header->automatic ? array->column_count == 0 : header->integer == 0)
        return true;
    for (int64_t i = 0; i < state->fields; i++) {
        snprintf(number, sizeof number, "c%lld", (long long)i);
        const char *name = array->column_count > 0 ? array->columns[i] : number;
        if ((i > 0 && !put(writer, &state->separator, 1, error)) || !put_name(writer, name, error))
            return false;
    }
    return put(writer, "\n", 1, error);
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
    state->file = -1;
    state->one_line = array->rank == 1 && array->column_count > 0;
    state->fields = array->rank == 2 ? array->dims[1] : state->one_line ? array->dims[0] : 1;
    state->buffer = malloc(BUFFER_BYTES);
    if (state->buffer == NULL)
        return ps_fail_memory(error, BUFFER_BYTES, "a CSV writer");
    if (!ps_csv_separator(writer->options, writer->path, &state->separator, error))
        return false;
    state->file = ps_file_create(writer->temp_path, error);
    return state->file >= 0 && put_header(writer, error);
}

static bool write_rows(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                       struct ps_error *error)
{
    const struct state *state = writer->state;
    size_t bytes = ps_dtype_bytes(writer->array->dtype);
    int64_t count = rows * ps_array_row_elements(writer->array);
    char number[PS_NUMBER_TEXT + 1];
    // A line of named elements may come in several blocks.
    int64_t before = state->one_line ? first_row : 0;
    for (int64_t i = 0; i < count; i++) {
        size_t length =
            ps_value_to_text(writer->array->dtype, (const char *)data + (size_t)i * bytes, number);
        number[length] = (before + i + 1) % state->fields == 0 ? '\n' : state->separator;
        if (!put(writer, number, length + 1, error))
            return false;
    }
    return true;
}

static bool csv_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct state *state = writer->state;
    (void)rows;
    if (!flush(writer, error))
        return false;
    int file = state->file;
    state->file = -1;
    return close(file) == 0 || ps_fail_errno(error, PS_OUTPUT, "cannot write %s", writer->path);
}

static void csv_close(struct ps_writer *writer)
{
    struct state *state = writer->state;
    if (state == NULL)
        return;
    if (state->file >= 0)
        close(state->file);
    free(state->buffer);
    free(state);
}

const struct ps_format_writer ps_csv_writer = {csv_create, write_rows, csv_finish, csv_close};
