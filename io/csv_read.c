// SPDX-License-Identifier: Apache-2.0
// Reading numeric columns of CSV. Strict: a field that is not a number of the asked dtype is an
// error with its line, column and text, never a NaN made in silence.
#include "io/csv_columns.h"
#include "io/file.h"
#include "io/formats.h"

#include "base/clock.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const struct ps_option read_options[] = {
    {.key = "separator", .kind = PS_TEXT,
     .help = "One character, or tab; a comma if unset (a tab in .tsv files)"},
    {.key = "quote", .kind = PS_TEXT, .fallback = "\"", .help = "The character that encloses fields"},
    {.key = "header", .kind = PS_TRUTH, .fallback = "true", .help = "The first record holds the names"},
    {.key = "columns", .kind = PS_WORDS,
     .help = "Columns to read: names, or positions from 0 (a number in quotes is a name); all if unset"},
    {.key = "dtype", .kind = PS_DTYPE, .fallback = "f64", .help = "Dtype of all columns"},
    {.key = "skip_rows", .kind = PS_INTEGER, .fallback = "0", .min = 0, .max = 1e15,
     .help = "Lines to skip at the start of the file"},
    {.key = "comment", .kind = PS_TEXT, .help = "Lines that start with this character are skipped"},
    {.key = "missing", .kind = PS_WORDS,
     .help = "Words that stand for a missing value and become NaN, besides the empty field and nan"},
    {0},
};

static const struct ps_option write_options[] = {
    {.key = "separator", .kind = PS_TEXT,
     .help = "One character, or tab; a comma if unset (a tab in .tsv files)"},
    {.key = "header", .kind = PS_COUNT, .fallback = "auto", .min = 0, .max = 1,
     .help = "1 writes a line of column names, 0 does not; auto: when the array has names"},
    {0},
};

struct state {
    struct ps_csv_scan scan;
    struct ps_csv_columns columns;
    const struct ps_value *missing;
    enum ps_dtype dtype;
    const struct ps_value *wanted; // option `columns`
    bool has_header;
    bool names_known; // the first record has been seen, columns are chosen
    bool skip_record; // the header, met again in a later pass
    int field;             // of the record that is being read
    int64_t next_row;      // of the next read
    uint64_t bytes_told;   // in results so far
    char *pending;         // converted rows that were not asked for yet
    size_t pending_rows, pending_from, pending_capacity;
    bool ended;
    double decode_ms;
};

// ---- One field ----

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_missing(const struct state *state, const char *text, size_t length)
{
    if (length == 0)
        return true;
    for (int i = 0; i < state->missing->count; i++)
        if (strlen(state->missing->words[i]) == length &&
            memcmp(state->missing->words[i], text, length) == 0)
            return true;
    return false;
}

static bool refuse(const struct state *state, const char *text, size_t length, const char *what,
                   struct ps_error *error)
{
    char shown[100], name[100];
    const char *column = state->columns.names[state->field];
    ps_escape(text, length, shown, sizeof shown);
    ps_escape(column, strlen(column), name, sizeof name);
    return ps_fail(error, PS_INPUT, "%s, line %lld, column %d ('%s'): '%s' %s %s%s", state->scan.path,
                   (long long)state->scan.line, state->field, name, shown, what,
                   ps_dtype_name(state->dtype),
                   length > 0 ? "; a word for missing values goes into `missing:`, and `columns:` chooses "
                                "the columns to read" : "");
}

static bool store_integer(const struct state *state, const char *text, size_t length, void *to,
                          struct ps_error *error)
{
    const struct ps_dtype_info *info = ps_dtype_info(state->dtype);
    enum ps_number_fit fit;
    size_t bad;
    uint64_t natural = 0, changed = 0;
    int64_t integer = 0;
    bool is_signed = info->kind == PS_CLASS_SIGNED;
    if (is_missing(state, text, length))
        return refuse(state, text, length, "is missing, and a missing value cannot be stored as", error);
    fit = is_signed ? ps_text_to_i64(text, length, &integer) : ps_text_to_u64(text, length, &natural);
    if (fit == PS_FIT_NOT_A_NUMBER)
        return refuse(state, text, length, "is not a whole number and cannot be read as", error);
    if (fit == PS_FIT_OK && ps_convert(state->dtype, to, is_signed ? PS_I64 : PS_U64,
                                       is_signed ? (void *)&integer : (void *)&natural, 1,
                                       PS_CAST_ERROR, &bad, &changed))
        return true;
    return refuse(state, text, length, "is out of the range of", error);
}

static bool store_float(const struct state *state, const char *text, size_t length, void *to,
                        struct ps_error *error)
{
    double number = NAN;
    float single = NAN;
    bool missing = is_missing(state, text, length);
    bool fine = missing || (state->dtype == PS_F32 ? ps_text_to_f32(text, length, &single)
                                                   : ps_text_to_f64(text, length, &number));
    if (!fine)
        return refuse(state, text, length, "is not a number and cannot be read as", error);
    if (state->dtype == PS_F32)
        memcpy(to, &single, sizeof single);
    else if (state->dtype == PS_F64)
        memcpy(to, &number, sizeof number);
    else
        *(uint16_t *)to = ps_f64_to_f16(number);
    return true;
}

// ---- Records ----

static size_t row_bytes(const struct state *state)
{
    return (size_t)state->columns.chosen_count * ps_dtype_bytes(state->dtype);
}

static bool reserve_row(struct state *state, struct ps_error *error)
{
    size_t need = (state->pending_from + state->pending_rows + 1) * row_bytes(state);
    if (need <= state->pending_capacity)
        return true;
    size_t capacity = 2 * need + 4096;
    char *pending = realloc(state->pending, capacity);
    if (pending == NULL)
        return ps_fail_memory(error, capacity, "rows of a CSV file");
    state->pending = pending;
    state->pending_capacity = capacity;
    return true;
}

static bool convert_field(struct state *state, const char *text, size_t length,
                          struct ps_error *error)
{
    int field = state->field;
    int slot = field < state->columns.count ? state->columns.slots[field] : -1;
    bool fine = true;
    if (slot >= 0) {
        while (length > 0 && is_blank(*text))
            text++, length--;
        while (length > 0 && is_blank(text[length - 1]))
            length--;
        char *to = state->pending + (state->pending_from + state->pending_rows) * row_bytes(state) +
                   (size_t)slot * ps_dtype_bytes(state->dtype);
        fine = ps_dtype_is_float(state->dtype) ? store_float(state, text, length, to, error)
                                               : store_integer(state, text, length, to, error);
    }
    state->field++;
    return fine;
}

static bool on_field(void *context, const char *text, size_t length, struct ps_error *error)
{
    struct state *state = context;
    if (state->skip_record)
        return true;
    if (!state->names_known) // the names, or the first record where there are none
        return ps_csv_columns_add(&state->columns, text, length, error);
    return convert_field(state, text, length, error);
}

static bool end_record(struct state *state, struct ps_error *error)
{
    if (state->field != state->columns.count)
        return ps_fail(error, PS_INPUT, "%s: line %lld has %d field%s, expected %d", state->scan.path,
                       (long long)state->scan.line, state->field, state->field == 1 ? "" : "s",
                       state->columns.count);
    state->field = 0;
    state->pending_rows++;
    return reserve_row(state, error);
}

// The first record decides the columns; without a header it is a row as well.
static bool first_record(struct state *state, struct ps_error *error)
{
    state->names_known = true;
    if (!ps_csv_columns_choose(&state->columns, state->wanted, state->scan.path, state->has_header,
                               error) ||
        !reserve_row(state, error))
        return false;
    for (int i = 0; !state->has_header && i < state->columns.count; i++)
        if (!convert_field(state, state->columns.first[i], strlen(state->columns.first[i]), error))
            return false;
    return state->has_header || end_record(state, error);
}

static bool on_record(void *context, struct ps_error *error)
{
    struct state *state = context;
    if (state->skip_record) {
        state->skip_record = false;
        return true;
    }
    return state->names_known ? end_record(state, error) : first_record(state, error);
}

// ---- The row's functions ----

static bool one_byte(const struct ps_value *value, const char *path, char *out,
                     struct ps_error *error)
{
    if (strcmp(value->text, "tab") == 0 || strcmp(value->text, "\\t") == 0) {
        *out = '\t';
        return true;
    }
    *out = value->text[0];
    return (value->text[0] != '\0' && value->text[1] == '\0') ||
           ps_fail(error, PS_USAGE, "%s: %s: '%s' is not one character", path, value->option->key,
                   value->text);
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

bool ps_csv_separator(const struct ps_values *options, const char *path, char *out,
                      struct ps_error *error)
{
    const struct ps_value *value = ps_values_get(options, "separator");
    size_t length = path != NULL ? ps_path_bare_length(path) : 0;
    *out = length > 4 && strncasecmp(path + length - 4, ".tsv", 4) == 0 ? '\t' : ',';
    if (!value->given)
        return true;
    if (!one_byte(value, path != NULL ? path : "csv", out, error))
        return false;
    bool in_numbers = isalnum((unsigned char)*out) || strchr("+-.", *out) != NULL;
    return (!in_numbers && *out != '"' && !is_line_end(*out)) ||
           ps_fail(error, PS_USAGE, "%s: separator: a letter, a digit, a sign, a dot, a quote or a line "
                   "end cannot separate numbers", path != NULL ? path : "csv");
}

static bool read_dialect(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = reader->state;
    const struct ps_value *comment = ps_values_get(reader->options, "comment");
    char byte = 0;
    state->scan.path = reader->path;
    state->scan.comment = -1;
    state->scan.skip_lines = ps_values_get(reader->options, "skip_rows")->integer;
    state->scan.field = on_field;
    state->scan.record = on_record;
    state->scan.context = state;
    state->has_header = ps_values_get(reader->options, "header")->truth;
    state->dtype = ps_values_get(reader->options, "dtype")->dtype;
    state->missing = ps_values_get(reader->options, "missing");
    state->wanted = ps_values_get(reader->options, "columns");
    if (!ps_csv_separator(reader->options, reader->path, &state->scan.separator, error) ||
        !one_byte(ps_values_get(reader->options, "quote"), reader->path, &state->scan.quote, error))
        return false;
    if (comment->given && !one_byte(comment, reader->path, &byte, error))
        return false;
    state->scan.comment = comment->given ? (unsigned char)byte : -1;
    if (state->scan.separator == state->scan.quote || is_line_end(state->scan.quote) ||
        (comment->given &&
         (byte == state->scan.separator || byte == state->scan.quote || is_line_end(byte))))
        return ps_fail(error, PS_USAGE, "%s: separator, quote and comment must be three characters, and "
                       "no line ends", reader->path);
    return state->dtype != PS_BOOL ||
           ps_fail(error, PS_USAGE, "%s: csv columns cannot be read as bool; read u8 and compare",
                   reader->path);
}

// Scans until the columns are known; rows met on the way wait for the first read.
static bool read_header(struct state *state, struct ps_error *error)
{
    bool more = true;
    while (!state->names_known && more)
        if (!ps_csv_scan_some(&state->scan, &more, error))
            return false;
    state->ended = !more;
    return state->names_known ||
           ps_fail(error, PS_INPUT, "%s has no records: only blank lines, comments or skipped lines",
                   state->scan.path);
}

static bool csv_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    struct stat status;
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a CSV reader");
    reader->state = state;
    reader->way = "libcsv";
    if (!read_dialect(reader, error) || !ps_csv_scan_open(&state->scan, error) || !read_header(state, error))
        return false;
    if (ps_byte_reader_is_gzip(state->scan.bytes))
        reader->way = "gzip, libcsv";
    if (stat(reader->path, &status) == 0)
        reader->file_bytes = (uint64_t)status.st_size;
    ps_array_init(&reader->array, state->dtype, 2,
                  (int64_t[]){PS_ROWS_UNKNOWN, state->columns.chosen_count});
    return ps_array_set_columns(&reader->array, state->columns.chosen_count,
                                (const char *const *)state->columns.chosen_names, error);
}

static void csv_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    ps_csv_scan_close(&state->scan);
    ps_csv_columns_free(&state->columns);
    free(state->pending);
    free(state);
}

static size_t take_pending(struct state *state, char *to, size_t rows)
{
    size_t taken = rows < state->pending_rows ? rows : state->pending_rows, bytes = row_bytes(state);
    memcpy(to, state->pending + state->pending_from * bytes, taken * bytes);
    state->pending_from += taken;
    state->pending_rows -= taken;
    if (state->pending_rows == 0 && state->pending_from > 0) {
        // A row that is being read may have begun behind them.
        memmove(state->pending, state->pending + state->pending_from * bytes, bytes);
        state->pending_from = 0;
    }
    return taken;
}

static bool restart(struct state *state, struct ps_error *error)
{
    state->pending_rows = state->pending_from = 0;
    state->field = 0;
    state->next_row = 0;
    state->ended = false;
    state->skip_record = state->has_header;
    return ps_csv_scan_rewind(&state->scan, error) && reserve_row(state, error);
}

static bool csv_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    struct state *state = reader->state;
    double start = ps_clock_ms();
    if (first_row == 0 && state->next_row != 0 && !restart(state, error))
        return false;
    if (first_row != state->next_row)
        return ps_fail(error, PS_BUG, "%s: row %lld asked for after row %lld", reader->path,
                       (long long)first_row, (long long)state->next_row);
    size_t done = take_pending(state, data, (size_t)rows);
    while (done < (size_t)rows && !state->ended) {
        bool more = true;
        if (!ps_csv_scan_some(&state->scan, &more, error))
            return false;
        state->ended = !more;
        done += take_pending(state, (char *)data + done * row_bytes(state), (size_t)rows - done);
    }
    state->next_row += (int64_t)done;
    result->rows = (int64_t)done;
    uint64_t taken = ps_byte_reader_taken(state->scan.bytes); // what open() read counts here too
    result->bytes = taken - state->bytes_told;
    state->bytes_told = taken;
    result->decode_ms = ps_clock_ms() - start; // scanning and converting; the read is a small part
    return true;
}

const struct ps_format ps_format_csv = {
    .name = "csv",
    .help = "Text with separated columns of numbers",
    .suffixes = ".csv|.tsv|.txt|.dat",
    .flags = PS_READ_IN_ORDER | PS_GZIP,
    .read_options = read_options,
    .write_options = write_options,
    .open = csv_open,
    .read = csv_read,
    .close = csv_close,
    .writer = &ps_csv_writer,
    .inspect = ps_csv_inspect,
};
