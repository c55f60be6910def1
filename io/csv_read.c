// SPDX-License-Identifier: Apache-2.0
// Reading numeric columns of CSV. Strict: a field that is not a number of the asked dtype is an
// error with its line, column and text, never a NaN made in silence.
#include "io/csv_types.h"
#include "io/formats.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SAMPLE_BYTES (256u << 10) // of text, from which types are found
#define SAMPLE_RECORDS 10000

static const struct ps_option read_options[] = {
    {.key = "separator",
     .kind = PS_TEXT,
     .help = "one character, or one of tab, space, blanks (runs of blanks and tabs); a comma if "
             "unset (a tab in .tsv files)"},
    {.key = "quote",
     .kind = PS_TEXT,
     .fallback = "\"",
     .help = "the character that encloses fields, or none"},
    {.key = "escape",
     .kind = PS_TEXT,
     .help = "a character that takes the meaning of the next one away, as \\ in C; none if unset"},
    {.key = "header",
     .kind = PS_WORDS,
     .fallback = "true",
     .help =
         "true: the first record holds the names; the number of the line that does (lines before "
         "it are skipped); false: there are none; or a list of names for a file without"},
    {.key = "columns",
     .kind = PS_WORDS,
     .help = "columns to read: names, positions from 0, ranges (2:5 without column 5, a:c with c), "
             "patterns (t_*); in quotes only names; all if unset"},
    {.key = "dtype",
     .kind = PS_TYPES,
     .fallback = "auto",
     .choices = PS_CSV_TYPE_WORDS,
     .help =
         "dtype of all columns, or {column: dtype}; auto: f64, or i64 for whole numbers that f64 "
         "cannot hold; time_s and time_ns: ISO 8601 as seconds (f64) or nanoseconds (i64) since "
         "1970"},
    {.key = "decimal",
     .kind = PS_CHOICE,
     .fallback = ".",
     .choices = ".|,",
     .help = "the decimal mark"},
    {.key = "thousands",
     .kind = PS_TEXT,
     .help = "a character between groups of three digits (or the word space)"},
    {.key = "missing",
     .kind = PS_WORDS,
     .help =
         "words that stand for a missing value and become NaN, besides the empty field and nan"},
    {.key = "empty",
     .kind = PS_CHOICE,
     .fallback = "missing",
     .choices = "missing|error",
     .help = "what an empty field is"},
    {.key = "ragged",
     .kind = PS_CHOICE,
     .fallback = "error",
     .choices = "error|pad",
     .help = "pad: the fields that a short record lacks are missing values"},
    {.key = "skip_rows",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 1e15,
     .help = "lines to skip at the start of the file"},
    {.key = "comment", .kind = PS_TEXT, .help = "lines that start with this character are skipped"},
    {.key = NULL},
};

struct state {
    struct ps_csv_rules rules;
    struct ps_csv_scan *scan;
    struct ps_csv_columns columns;
    struct ps_csv_type *types; // per chosen column
    enum ps_dtype array;       // dtype of the array
    const char *name;          // of the file, for messages
    bool choice_given;         // by the option `columns`

    struct ps_csv_sample sample; // records read ahead, which come first
    struct ps_csv_field *fields; // room for one of them
    int sample_next;
    struct ps_error sample_error; // what ended the sample: told when its turn comes

    int64_t next_row;    // of the next read
    uint64_t bytes_told; // in results so far
    bool ended;          // no records behind the sample
    uint64_t rounded;    // whole numbers that lost digits, in this pass
    uint64_t infinite;   // finite numbers beyond their float's range, in this pass
    bool changes_told;
    struct ps_text scratch;
};

// ---- Opening ----

// Records for finding types; also the one that was read for the number of fields.
static void read_sample(struct state *state, const struct ps_csv_record *first, bool more)
{
    const struct ps_csv_record *record = first;
    struct ps_error *error = &state->sample_error;
    while (record != NULL && ps_csv_sample_add(&state->sample, record, error)) {
        bool enough = !more || state->sample.count >= SAMPLE_RECORDS ||
                      state->sample.text.length >= SAMPLE_BYTES;
        if (enough || !ps_csv_scan_next(state->scan, &record, error))
            return;
    }
    state->ended = record == NULL;
}

// Names from the header or the config, and the first record of numbers.
static bool read_names(struct state *state, const struct ps_csv_record **first_out,
                       struct ps_error *error)
{
    const struct ps_csv_record *record;
    *first_out = NULL;
    if (!ps_csv_scan_next(state->scan, &record, error))
        return false;
    if (record == NULL)
        return ps_fail(error, PS_INPUT,
                       "%s has no records: only blank lines, comments or skipped lines",
                       state->name);
    if (state->rules.header_line != 0 && record->line != state->rules.header_line)
        return ps_fail(error, PS_INPUT,
                       "%s: `header` is on line %lld, which is blank or a comment; the next record "
                       "is on line %lld",
                       state->name, (long long)state->rules.header_line, (long long)record->line);
    if (!ps_csv_columns_name(&state->columns, record->count,
                             state->rules.has_header ? record : NULL, state->rules.names,
                             state->name, error))
        return false;
    if (!state->rules.has_header) {
        *first_out = record;
        return true;
    }
    // A fault in the second record belongs to the rows.
    if (!ps_csv_scan_next(state->scan, first_out, &state->sample_error))
        *first_out = NULL;
    state->ended = *first_out == NULL;
    return true;
}

static bool open_all(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = reader->state;
    const struct ps_value *dtype = ps_values_get(reader->options, "dtype");
    const struct ps_value *wanted = ps_values_get(reader->options, "columns");
    const struct ps_csv_record *first;
    state->choice_given = wanted->given;
    if (!ps_csv_rules_read(reader->options, reader->path, &state->rules, error))
        return false;
    state->scan = ps_csv_scan_open(reader->path, &state->rules.dialect, error);
    if (state->scan == NULL)
        return false;
    state->name = ps_csv_scan_name(state->scan);
    if (!read_names(state, &first, error) ||
        !ps_csv_columns_choose(&state->columns, wanted, state->name, error))
        return false;
    read_sample(state, first, ps_csv_types_need_sample(dtype));
    size_t room = (size_t)ps_csv_sample_widest(&state->sample) + 1;
    state->fields = calloc(room, sizeof *state->fields);
    if (state->fields == NULL)
        return ps_fail_memory(error, room * sizeof *state->fields, "a CSV record");
    return ps_csv_types_find(dtype, &state->columns, &state->rules, &state->sample, state->name,
                             &state->types, &state->array, error);
}

static bool csv_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    struct stat status;
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a CSV reader");
    reader->state = state;
    if (!open_all(reader, error))
        return false;
    reader->way = ps_csv_scan_is_gzip(state->scan) ? "gzip, text" : "text";
    if (stat(reader->path, &status) == 0)
        reader->file_bytes = (uint64_t)status.st_size;
    ps_array_init(&reader->array, state->array, 2,
                  (int64_t[]){PS_ROWS_UNKNOWN, state->columns.chosen_count});
    return ps_array_set_columns(&reader->array, state->columns.chosen_count,
                                (const char *const *)state->columns.chosen_names, error);
}

static void csv_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    ps_csv_scan_close(state->scan);
    ps_csv_columns_free(&state->columns);
    ps_csv_sample_free(&state->sample);
    ps_text_free(&state->scratch);
    free(state->fields);
    free(state->types);
    free(state);
}

// ---- Errors ----

static const char *type_name(const struct ps_csv_type *type)
{
    return type->meaning == PS_CSV_SECONDS       ? "time_s"
           : type->meaning == PS_CSV_NANOSECONDS ? "time_ns"
                                                 : ps_dtype_name(type->dtype);
}

// The columns that hold numbers as far as the sample tells, but for the one that was refused just
// now, ready for the config.
static void list_numeric(struct state *state, int refused, struct ps_text *out)
{
    struct ps_text scratch = {0};
    int listed = 0;
    for (int i = 0; i < state->columns.count && listed < 20; i++) {
        enum ps_csv_look look = PS_CSV_LOOKS_MISSING;
        if (i == refused)
            continue;
        for (int r = 0; r < state->sample.count && look < PS_CSV_LOOKS_TIME; r++) {
            struct ps_csv_record record = ps_csv_sample_get(&state->sample, r, state->fields);
            if (i < record.count)
                look =
                    ps_csv_looks_join(look, ps_csv_field_look(&state->rules, record.fields[i].text,
                                                              record.fields[i].length, &scratch));
        }
        if (look < PS_CSV_LOOKS_TIME)
            ps_text_printf(out, "%s%d", listed++ > 0 ? ", " : "", i);
    }
    ps_text_free(&scratch);
}

static void add_advice(struct state *state, int slot, const struct ps_csv_field *field,
                       enum ps_csv_fit fit, struct ps_text *out)
{
    const struct ps_csv_type *type = &state->types[slot];
    struct ps_text numeric = {0};
    if (fit == PS_CSV_NOT_IN_ARRAY)
        ps_text_printf(out,
                       ", the dtype of the array; read the column as an input of its own "
                       "(`columns:` with it alone, `dtype: %s`)",
                       type_name(type));
    if (fit != PS_CSV_NOT_A_NUMBER && fit != PS_CSV_NOT_WHOLE)
        return;
    if (type->automatic && type->dtype != PS_F64)
        ps_text_add(out, " as the rows before it; `dtype:` gives another one");
    if (ps_csv_field_look(&state->rules, field->text, field->length, &state->scratch) ==
        PS_CSV_LOOKS_TIME)
        ps_text_add(out, "; dates are read by `dtype: {column: time_s}`");
    ps_text_add(out, "; a word for missing values goes into `missing:`");
    if (state->choice_given)
        return;
    list_numeric(state, state->columns.chosen[slot], &numeric);
    ps_text_printf(out, ", and `columns:` chooses the columns to read%s%s%s",
                   numeric.length > 0 ? " (numbers are in [" : "",
                   numeric.length > 0 ? numeric.data : "", numeric.length > 0 ? "])" : "");
    ps_text_free(&numeric);
}

static bool refuse(struct state *state, int64_t line, int slot, const struct ps_csv_field *field,
                   enum ps_csv_fit fit, struct ps_error *error)
{
    char shown[100], column[100];
    int at = state->columns.chosen[slot];
    const char *name = state->columns.names[at];
    const struct ps_csv_type *type = &state->types[slot];
    struct ps_text advice = {0};
    ps_escape(field->text, field->length, shown, sizeof shown);
    ps_escape(name, strlen(name), column, sizeof column);
    add_advice(state, slot, field, fit, &advice);
    ps_fail(error, PS_INPUT, "%s, line %lld, column %d ('%s'): '%s' %s %s%s", state->name,
            (long long)line, at, column, shown, ps_csv_fit_text(fit),
            fit == PS_CSV_NOT_IN_ARRAY ? ps_dtype_name(state->array) : type_name(type),
            advice.data != NULL ? advice.data : "");
    ps_text_free(&advice);
    return false;
}

// A number was stored as another one, which its float cannot help: told once for each kind of
// change, and their number at the end.
static void warn_of_change(struct state *state, int64_t line, int slot,
                           const struct ps_csv_field *field, enum ps_csv_fit fit)
{
    char shown[100], column[100], what[160];
    bool rounded = fit == PS_CSV_ROUNDED;
    const char *name = state->columns.names[state->columns.chosen[slot]];
    uint64_t *count = rounded ? &state->rounded : &state->infinite;
    if ((*count)++ > 0 || state->changes_told)
        return;
    enum ps_csv_look look =
        ps_csv_field_look(&state->rules, field->text, field->length, &state->scratch);
    if (!rounded)
        snprintf(what, sizeof what, "is beyond the range of %s and becomes an infinity",
                 type_name(&state->types[slot]));
    else // identifiers become other ones: never in silence
        snprintf(what, sizeof what, "is rounded: precision lost above 2^53%s%s",
                 look == PS_CSV_LOOKS_NUMBER
                     ? ""
                     : "; to keep every digit read the column as an input of its own with ",
                 look == PS_CSV_LOOKS_NUMBER     ? ""
                 : look == PS_CSV_LOOKS_UNSIGNED ? "`dtype: u64`"
                                                 : "`dtype: i64`");
    ps_log(PS_LOG_WARNING, "%s, line %lld, column %d ('%s'): '%s' %s", state->name, (long long)line,
           state->columns.chosen[slot], ps_escape(name, strlen(name), column, sizeof column),
           ps_escape(field->text, field->length, shown, sizeof shown), what);
}

static void tell_changes(struct state *state)
{
    if (state->rounded > 1 && !state->changes_told)
        ps_log(PS_LOG_WARNING, "%s: %llu whole numbers in all lost precision above 2^53",
               state->name, (unsigned long long)state->rounded);
    if (state->infinite > 1 && !state->changes_told)
        ps_log(PS_LOG_WARNING, "%s: %llu numbers in all became infinities", state->name,
               (unsigned long long)state->infinite);
    state->changes_told = state->changes_told || state->rounded > 0 || state->infinite > 0;
}

// ---- Records ----

static bool wrong_count(const struct state *state, const struct ps_csv_record *record,
                        struct ps_error *error)
{
    return ps_fail(error, PS_INPUT, "%s: line %lld has %d field%s, expected %d%s", state->name,
                   (long long)record->line, record->count, record->count == 1 ? "" : "s",
                   state->columns.count,
                   record->count < state->columns.count
                       ? "; `ragged: pad` takes those that are not there for missing"
                       : "");
}

static bool convert_record(struct state *state, const struct ps_csv_record *record, char *to,
                           struct ps_error *error)
{
    static const struct ps_csv_field none = {"", 0, false};
    size_t bytes = ps_dtype_bytes(state->array);
    bool short_one = record->count < state->columns.count && state->rules.pad;
    if (record->count != state->columns.count && !short_one)
        return wrong_count(state, record, error);
    for (int slot = 0; slot < state->columns.chosen_count; slot++, to += bytes) {
        int at = state->columns.chosen[slot];
        const struct ps_csv_field *field = at < record->count ? &record->fields[at] : &none;
        enum ps_csv_fit fit = ps_csv_field_store(&state->rules, &state->types[slot], state->array,
                                                 field->text, field->length, to, &state->scratch);
        if (fit == PS_CSV_ROUNDED || fit == PS_CSV_INFINITE)
            warn_of_change(state, record->line, slot, field, fit);
        else if (fit != PS_CSV_FITS)
            return refuse(state, record->line, slot, field, fit, error);
    }
    return true;
}

// The next record, from the sample first; NULL at the end.
static bool next_record(struct state *state, struct ps_csv_record *room,
                        const struct ps_csv_record **record_out, struct ps_error *error)
{
    *record_out = NULL;
    if (state->sample_next < state->sample.count) {
        *room = ps_csv_sample_get(&state->sample, state->sample_next++, state->fields);
        *record_out = room;
        return true;
    }
    if (state->sample_error.status != PS_OK) {
        *error = state->sample_error;
        return false;
    }
    if (!state->ended && !ps_csv_scan_next(state->scan, record_out, error))
        return false;
    state->ended = *record_out == NULL;
    return true;
}

// A new pass over the file; the sample was of the first one.
static bool restart(struct state *state, struct ps_error *error)
{
    const struct ps_csv_record *header;
    state->next_row = 0;
    state->sample_next = state->sample.count;
    state->sample_error = (struct ps_error){0};
    state->ended = false;
    state->rounded = state->infinite = 0;
    return ps_csv_scan_rewind(state->scan, error) &&
           (!state->rules.has_header || ps_csv_scan_next(state->scan, &header, error));
}

static bool csv_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    struct state *state = reader->state;
    size_t row_bytes = ps_array_row_bytes(&reader->array);
    struct ps_csv_record room;
    const struct ps_csv_record *record;
    double start = ps_clock_ms();
    if (first_row == 0 && state->next_row != 0 && !restart(state, error))
        return false;
    if (first_row != state->next_row)
        return ps_fail(error, PS_BUG, "%s: row %lld asked for after row %lld", reader->path,
                       (long long)first_row, (long long)state->next_row);
    for (; result->rows < rows; result->rows++) {
        if (!next_record(state, &room, &record, error))
            return false;
        if (record == NULL) {
            tell_changes(state);
            break;
        }
        if (!convert_record(state, record, (char *)data + (size_t)result->rows * row_bytes, error))
            return false;
    }
    state->next_row += result->rows;
    uint64_t taken = ps_csv_scan_taken(state->scan); // what open() read counts here too
    result->bytes = taken - state->bytes_told;
    state->bytes_told = taken;
    result->decode_ms = ps_clock_ms() - start; // scanning and converting; the read is a small part
    return true;
}

const struct ps_format ps_format_csv = {
    .name = "csv",
    .help = "text with separated columns of numbers",
    .suffixes = ".csv|.tsv|.txt|.dat",
    .flags = PS_READ_IN_ORDER | PS_GZIP | PS_STREAMED,
    .read_options = read_options,
    .write_options = ps_csv_write_options,
    .open = csv_open,
    .read = csv_read,
    .close = csv_close,
    .writer = &ps_csv_writer,
    .inspect = ps_csv_inspect,
};
