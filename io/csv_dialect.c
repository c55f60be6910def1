// SPDX-License-Identifier: Apache-2.0
#include "io/csv_dialect.h"

#include "io/file.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_word(const struct ps_value *value, const char *word)
{
    return value->given && strcmp(value->text, word) == 0;
}

static bool one_byte(const struct ps_value *value, const char *path, char *out,
                     struct ps_error *error)
{
    const char *text = value->text;
    bool tab = strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0;
    *out = tab ? '\t' : strcmp(text, "space") == 0 ? ' ' : text[0];
    return tab || *out == ' ' || (text[0] != '\0' && text[1] == '\0') ||
           ps_fail(error, PS_USAGE, "%s: %s: '%s' is not one character (of ASCII)",
                   ps_path_shown(path), value->option->key, text);
}

// An option of one byte or none.
static bool byte_or_none(const struct ps_values *options, const char *key, const char *path,
                         int *out, struct ps_error *error)
{
    const struct ps_value *value = ps_values_get(options, key);
    char byte;
    *out = -1;
    if (value->text == NULL || strcmp(value->text, "none") == 0)
        return true;
    if (!one_byte(value, path, &byte, error))
        return false;
    *out = (unsigned char)byte;
    return true;
}

bool ps_csv_separator(const struct ps_values *options, const char *path, char *out,
                      struct ps_error *error)
{
    const struct ps_value *value = ps_values_get(options, "separator");
    size_t length = ps_path_bare_length(path);
    *out = length > 4 && strncasecmp(path + length - 4, ".tsv", 4) == 0 ? '\t' : ',';
    if (!value->given)
        return true;
    if (!one_byte(value, path, out, error))
        return false;
    bool in_numbers = isalnum((unsigned char)*out) || strchr("+-.", *out) != NULL;
    return (!in_numbers && *out != '"' && *out != '\n' && *out != '\r') ||
           ps_fail(error, PS_USAGE,
                   "%s: separator: a letter, a digit, a sign, a dot, a quote or a line end cannot "
                   "separate numbers",
                   ps_path_shown(path));
}

// `header`: true, false, the line that it is on, or a list of names.
static bool read_header(const struct ps_values *options, struct ps_csv_rules *rules,
                        struct ps_error *error)
{
    const struct ps_value *header = ps_values_get(options, "header");
    const struct ps_value *skip = ps_values_get(options, "skip_rows");
    const char *word = header->count > 0 ? header->words[0] : "";
    int64_t line = 0;
    rules->dialect.skip_lines = skip->integer;
    if (header->listed) {
        rules->names = header;
        return header->count > 0 || ps_fail(error, PS_USAGE, "header: the list of names is empty");
    }
    bool quoted = header->count > 0 && header->quoted[0];
    rules->has_header = quoted || strcmp(word, "false") != 0;
    if (!quoted && (strcmp(word, "true") == 0 || strcmp(word, "false") == 0))
        return true;
    if (quoted || !ps_integer_parse(word, &line) || line < 1)
        return ps_fail(
            error, PS_USAGE,
            "header: '%s' is not true, false, the number of the line it is on (from 1), or "
            "a list of names",
            word);
    if (skip->given)
        return ps_fail(error, PS_USAGE,
                       "header: %lld already skips the lines before it; remove `skip_rows`",
                       (long long)line);
    rules->dialect.skip_lines = line - 1;
    rules->header_line = line;
    return true;
}

static bool read_thousands(const struct ps_values *options, struct ps_csv_rules *rules,
                           struct ps_error *error)
{
    const struct ps_value *value = ps_values_get(options, "thousands");
    if (!value->given)
        return true;
    const char *text = strcmp(value->text, "space") == 0 ? " " : value->text;
    size_t length = strlen(text);
    bool one = length > 0 && ps_utf8_length(text, length) == length;
    if (!one || isalnum((unsigned char)text[0]) || strchr("+-", text[0]) != NULL)
        return ps_fail(error, PS_USAGE,
                       "thousands: '%s' is not one character that can stand between digits", text);
    if (length == 1 && text[0] == rules->decimal)
        return ps_fail(error, PS_USAGE, "thousands: '%s' is the decimal mark", text);
    rules->thousands = text;
    return true;
}

static bool is_line_end(int byte)
{
    return byte == '\n' || byte == '\r';
}

static bool check_bytes(const struct ps_csv_dialect *dialect, const char *path,
                        struct ps_error *error)
{
    const int bytes[] = {(unsigned char)dialect->separator, dialect->quote, dialect->escape,
                         dialect->comment};
    bool fine = true;
    for (int i = 0; i < 4; i++) {
        fine = fine && !is_line_end(bytes[i]);
        for (int j = 0; j < i; j++)
            fine = fine && (bytes[i] != bytes[j] || bytes[i] < 0);
    }
    return fine || ps_fail(error, PS_USAGE,
                           "%s: separator, quote, escape and comment must be different characters, "
                           "and no line ends",
                           ps_path_shown(path));
}

bool ps_csv_rules_read(const struct ps_values *options, const char *path,
                       struct ps_csv_rules *rules, struct ps_error *error)
{
    *rules = (struct ps_csv_rules){.missing = ps_values_get(options, "missing")};
    struct ps_csv_dialect *dialect = &rules->dialect;
    dialect->blanks = is_word(ps_values_get(options, "separator"), "blanks");
    dialect->separator = ' ';
    rules->decimal = ps_values_get(options, "decimal")->text[0];
    rules->empty_is_wrong = strcmp(ps_values_get(options, "empty")->text, "error") == 0;
    rules->pad = strcmp(ps_values_get(options, "ragged")->text, "pad") == 0;
    return (dialect->blanks || ps_csv_separator(options, path, &dialect->separator, error)) &&
           byte_or_none(options, "quote", path, &dialect->quote, error) &&
           byte_or_none(options, "escape", path, &dialect->escape, error) &&
           byte_or_none(options, "comment", path, &dialect->comment, error) &&
           check_bytes(dialect, path, error) && read_header(options, rules, error) &&
           read_thousands(options, rules, error);
}
