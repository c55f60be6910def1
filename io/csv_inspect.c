// SPDX-License-Identifier: Apache-2.0
// What a CSV file looks like, for people: dialect, columns, types of the first rows, a sample.
#include "io/csv_guess.h"
#include "io/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ROWS_SHOWN 3
#define FIELDS_SHOWN 12
#define COLUMNS_SHOWN 200

static void print_dialect(const struct ps_csv_guess *guess, struct ps_text *out)
{
    const struct ps_csv_dialect *dialect = &guess->rules.dialect;
    ps_text_printf(out, "separator: %s\nheader: %s\n",
                   dialect->blanks              ? "blanks"
                   : dialect->separator == '\t' ? "tab"
                                                : (char[]){dialect->separator, '\0'},
                   guess->rules.has_header ? "yes" : "no");
    if (guess->rules.decimal == ',')
        ps_text_add(out, "decimal mark: ,\n");
    if (dialect->comment >= 0)
        ps_text_printf(out, "comments begin with: %c\n", dialect->comment);
    if (guess->ragged > 0)
        ps_text_printf(
            out,
            "warning: %d of the first %d rows have another number of fields than the first "
            "record\n",
            guess->ragged, guess->sample.count);
}

static void print_columns(const struct ps_csv_guess *guess, struct ps_text *out)
{
    static const char *const kinds[] = {
        [PS_CSV_LOOKS_MISSING] = "nothing but missing values",
        [PS_CSV_LOOKS_TRUTH] = "true and false",
        [PS_CSV_LOOKS_WHOLE] = "whole numbers",
        [PS_CSV_LOOKS_SIGNED] = "whole numbers that need i64",
        [PS_CSV_LOOKS_UNSIGNED] = "whole numbers that need u64",
        [PS_CSV_LOOKS_NUMBER] = "numbers",
        [PS_CSV_LOOKS_TIME] = "dates or times",
        [PS_CSV_LOOKS_TEXT] = "text",
    };
    int count = guess->columns.count;
    char shown[80];
    ps_text_printf(out, "columns: %d\n", count);
    for (int i = 0; i < count && i < COLUMNS_SHOWN; i++) {
        const char *name = guess->columns.names[i];
        ps_text_printf(out, "  %3d  %-24s %s\n", i,
                       ps_escape(name, strlen(name), shown, sizeof shown), kinds[guess->looks[i]]);
    }
    if (count > COLUMNS_SHOWN)
        ps_text_printf(out, "  ... and %d more\n", count - COLUMNS_SHOWN);
}

static bool print_sample(const struct ps_csv_guess *guess, struct ps_text *out,
                         struct ps_error *error)
{
    char shown[60];
    struct ps_csv_field *fields =
        calloc((size_t)ps_csv_sample_widest(&guess->sample) + 1, sizeof *fields);
    if (fields == NULL)
        return ps_fail_memory(error, sizeof *fields, "a sample");
    ps_text_add(out, "first rows:\n");
    int first = guess->rules.has_header;
    for (int r = first; r < guess->sample.count && r < first + ROWS_SHOWN; r++) {
        struct ps_csv_record record = ps_csv_sample_get(&guess->sample, r, fields);
        for (int f = 0; f < record.count && f < FIELDS_SHOWN; f++)
            ps_text_printf(out, "%s%s", f == 0 ? "    " : " | ",
                           ps_escape(fields[f].text, fields[f].length, shown, sizeof shown));
        ps_text_add(out, record.count > FIELDS_SHOWN ? " | ...\n" : "\n");
    }
    free(fields);
    return true;
}

bool ps_csv_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    struct stat status;
    struct ps_csv_guess guess;
    struct ps_text keys = {0};
    bool fine = ps_csv_guess_find(path, &guess, error);
    if (fine) {
        ps_inspect_file(path, "csv", stat(path, &status) == 0 ? (uint64_t)status.st_size : 0, out);
        print_dialect(&guess, out);
        print_columns(&guess, out);
        fine = print_sample(&guess, out, error);
        ps_csv_guess_keys(&guess, path, &keys);
        if (ps_csv_guess_has_numbers(&guess))
            ps_inspect_entry(path, keys.data, out);
        else
            ps_text_add(out, "no column holds numbers: nothing can be read\n");
    }
    ps_text_free(&keys);
    ps_csv_guess_free(&guess);
    return fine;
}
