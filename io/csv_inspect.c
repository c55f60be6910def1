// SPDX-License-Identifier: Apache-2.0
// What a CSV file looks like: dialect, columns, types of the first rows, a sample.
#include "io/csv_columns.h"

#include "io/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ROWS_LOOKED_AT 1000
#define ROWS_SHOWN 3

struct look {
    struct ps_csv_columns columns; // the first record
    char *kinds;                   // per column: 'i' whole numbers, 'f' numbers, 't' text
    int field, ragged;
    int64_t rows;
    bool first_done, enough;
    struct ps_text sample;
};

static char kind_of(const char *text, size_t length)
{
    double number;
    int64_t whole;
    while (length > 0 && (*text == ' ' || *text == '\t'))
        text++, length--;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (length == 0)
        return 'f'; // missing: NaN
    if (ps_text_to_i64(text, length, &whole) == PS_FIT_OK)
        return 'i';
    return ps_text_to_f64(text, length, &number) ? 'f' : 't';
}

static bool on_field(void *context, const char *text, size_t length, struct ps_error *error)
{
    struct look *look = context;
    char shown[60];
    if (!look->first_done)
        return ps_csv_columns_add(&look->columns, text, length, error);
    if (look->field < look->columns.count) {
        char kind = kind_of(text, length), *old = &look->kinds[look->field];
        *old = *old == 't' || kind == 't' ? 't' : *old == 'f' || kind == 'f' ? 'f' : 'i';
    }
    if (look->rows < ROWS_SHOWN && look->field < 12)
        ps_text_printf(&look->sample, "%s%s", look->field == 0 ? "    " : " | ",
                       ps_escape(text, length, shown, sizeof shown));
    look->field++;
    return true;
}

static bool on_record(void *context, struct ps_error *error)
{
    struct look *look = context;
    if (!look->first_done) {
        look->first_done = true;
        look->kinds = malloc((size_t)look->columns.count + 1);
        if (look->kinds == NULL)
            return ps_fail_memory(error, (size_t)look->columns.count, "columns");
        memset(look->kinds, 'i', (size_t)look->columns.count);
        return true;
    }
    look->ragged += look->field != look->columns.count;
    if (look->rows < ROWS_SHOWN)
        ps_text_add(&look->sample, "\n");
    look->field = 0;
    look->enough = ++look->rows >= ROWS_LOOKED_AT;
    return !look->enough; // ends the scan without an error
}

static void free_look(struct look *look)
{
    ps_csv_columns_free(&look->columns);
    free(look->kinds);
    ps_text_free(&look->sample);
    *look = (struct look){0};
}

static bool look_at(const char *path, char separator, struct look *look, struct ps_error *error)
{
    struct ps_csv_scan scan = {.path = path, .separator = separator, .quote = '"', .comment = -1,
                               .field = on_field, .record = on_record, .context = look};
    bool more = true, fine = ps_csv_scan_open(&scan, error);
    while (fine && more && !look->enough)
        fine = ps_csv_scan_some(&scan, &more, error);
    ps_csv_scan_close(&scan);
    return fine || look->enough;
}

// The separator that gives the most columns with all records alike.
static char find_separator(const char *path)
{
    static const char candidates[] = ",;\t|";
    char best = ',';
    int most = 0;
    for (const char *c = candidates; *c != '\0'; c++) {
        struct look look = {0};
        struct ps_error error = {0};
        if (look_at(path, *c, &look, &error) && look.ragged == 0 && look.columns.count > most) {
            most = look.columns.count;
            best = *c;
        }
        free_look(&look);
    }
    return best;
}

static bool has_header(const struct look *look)
{
    for (int i = 0; i < look->columns.count; i++)
        if (kind_of(look->columns.first[i], strlen(look->columns.first[i])) == 't')
            return true;
    return false;
}

static void print_columns(const struct look *look, bool header, struct ps_text *out)
{
    char shown[80];
    ps_text_printf(out, "columns: %d\n", look->columns.count);
    for (int i = 0; i < look->columns.count && i < 200; i++)
        ps_text_printf(out, "  %3d  %-24s %s\n", i,
                       header ? ps_escape(look->columns.first[i], strlen(look->columns.first[i]), shown,
                                          sizeof shown)
                              : "",
                       look->kinds[i] == 'i'   ? "whole numbers"
                       : look->kinds[i] == 'f' ? "numbers"
                                               : "text");
    ps_text_printf(out, "first rows:\n%s", look->sample.data ? look->sample.data : "");
}

static void print_entry(const char *path, const struct look *look, char separator, bool header,
                        struct ps_text *out)
{
    struct ps_text more = {0};
    bool any_text = false;
    for (int i = 0; i < look->columns.count; i++)
        any_text = any_text || look->kinds[i] == 't';
    if (separator != ',')
        ps_text_printf(&more, "separator: %s", separator == '\t' ? "tab" : separator == ';' ? "\";\"" : "\"|\"");
    if (!header)
        ps_text_printf(&more, "%sheader: false", more.length > 0 ? ", " : "");
    if (any_text) {
        int listed = 0;
        ps_text_printf(&more, "%scolumns: [", more.length > 0 ? ", " : "");
        for (int i = 0; i < look->columns.count; i++)
            if (look->kinds[i] != 't')
                ps_text_printf(&more, "%s%d", listed++ > 0 ? ", " : "", i);
        ps_text_add(&more, "]");
    }
    ps_inspect_entry(path, more.data, out);
    ps_text_free(&more);
}

bool ps_csv_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    struct stat status;
    struct look look = {0};
    char separator = find_separator(path);
    if (!look_at(path, separator, &look, error)) {
        free_look(&look);
        return false;
    }
    bool header = look.first_done && has_header(&look);
    ps_inspect_file(path, "csv", stat(path, &status) == 0 ? (uint64_t)status.st_size : 0, out);
    ps_text_printf(out, "separator: %s\nheader: %s\n",
                   separator == '\t' ? "tab" : (char[]){separator, '\0'}, header ? "yes" : "no");
    if (look.ragged > 0)
        ps_text_printf(out, "warning: %d of the first %lld rows have another number of fields\n",
                       look.ragged, (long long)look.rows);
    if (look.first_done) {
        print_columns(&look, header, out);
        print_entry(path, &look, separator, header, out);
    }
    free_look(&look);
    return true;
}
