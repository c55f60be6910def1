// SPDX-License-Identifier: Apache-2.0
// Parsed values: scalars and lists checked against their option row.
#include "base/option.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ps_options_count(const struct ps_option *options)
{
    int count = 0;
    while (options != NULL && options[count].key != NULL)
        count++;
    return count;
}

const struct ps_option *ps_options_find(const struct ps_option *options, const char *key)
{
    for (; options != NULL && options->key != NULL; options++)
        if (strcmp(options->key, key) == 0)
            return options;
    return NULL;
}

const struct ps_value *ps_values_get(const struct ps_values *values, const char *key)
{
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->options[i].key, key) == 0)
            return &values->values[i];
    assert(!"ps_values_get: a key that is not in the table");
    __builtin_trap();
}

static void free_lists(struct ps_value *value)
{
    // count is -1 for the axes `all`, which have no words.
    for (int i = 0; value->words != NULL && i < value->count; i++)
        free(value->words[i]);
    for (int i = 0; value->texts != NULL && i < value->count; i++)
        free(value->texts[i]);
    free(value->words);
    free(value->texts);
    free(value->text_places);
    free(value->quoted);
    free(value->places);
    free(value->picks);
    free(value->integers);
    free(value->numbers);
    value->words = NULL;
    value->texts = NULL;
    value->text_places = NULL;
    value->quoted = NULL;
    value->places = NULL;
    value->picks = NULL;
    value->integers = NULL;
    value->numbers = NULL;
    value->count = 0;
}

void ps_values_free(struct ps_values *values)
{
    for (int i = 0; i < values->count; i++) {
        free(values->values[i].text);
        free_lists(&values->values[i]);
    }
    free(values->values);
    *values = (struct ps_values){0};
}

const char *ps_kind_name(enum ps_kind kind)
{
    static const char *const names[] = {
        [PS_TEXT] = "text",       [PS_PATH] = "path",     [PS_TRUTH] = "true or false", [PS_PATHS] = "paths",
        [PS_INTEGER] = "integer", [PS_NUMBER] = "number", [PS_SIZE] = "size",
        [PS_BLOCK] = "block",     [PS_COUNT] = "count",   [PS_CHOICE] = "choice",
        [PS_CHOICES] = "choices", [PS_DTYPE] = "dtype",   [PS_NAME] = "array",
        [PS_NAMES] = "arrays",    [PS_WORDS] = "words",   [PS_SHAPE] = "shape",
        [PS_PARAMS] = "params",   [PS_TYPES] = "types",   [PS_AXES] = "axes",
        [PS_TERMS] = "expressions",
    };
    return names[kind];
}

static bool is_auto(const struct ps_option *option)
{
    return option->fallback != NULL && strcmp(option->fallback, "auto") == 0;
}

static void expect_range(const struct ps_option *option, const char *what, struct ps_text *out)
{
    ps_text_add(out, what);
    if (option->min >= option->max)
        return;
    ps_text_add(out, " from ");
    ps_number_print(option->min, out);
    ps_text_add(out, " to ");
    ps_number_print(option->max, out);
}

static void expect_choices(const struct ps_option *option, const char *before, struct ps_text *out)
{
    ps_text_add(out, before);
    for (const char *p = option->choices; *p != '\0'; p++)
        ps_text_append(out, *p == '|' ? ", " : p, *p == '|' ? 2 : 1);
}

char *ps_option_expected(const struct ps_option *option, char *out, size_t out_size)
{
    static const char *const plain[] = {
        [PS_TEXT] = "text",
        [PS_PATH] = "a path",
        [PS_PATHS] = "a path, a pattern such as run-*.h5, or a list of them",
        [PS_TRUTH] = "true or false",
        [PS_SIZE] = "a size such as 64 MiB",
        [PS_BLOCK] = "a size such as 64 MiB, a number of rows such as `4096 rows`, or auto",
        [PS_DTYPE] = "a dtype (bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64)",
        [PS_NAME] = "the name of an array",
        [PS_NAMES] = "the name of an array, or a list of names",
        [PS_WORDS] = "a word or a list of words",
        [PS_SHAPE] = "a list of whole numbers such as [1000, 256]",
        [PS_PARAMS] = "a mapping of names to numbers such as {gain: 1.5}",
        [PS_TERMS] = "a mapping of names to expressions such as {a: \"x - 1\"}",
        [PS_AXES] = "rows, all, an axis number or a list of axis numbers",
    };
    struct ps_text text = {0};
    switch (option->kind) {
    case PS_INTEGER:
    case PS_COUNT:
        expect_range(option, "a whole number", &text);
        break;
    case PS_NUMBER:
        expect_range(option, "a number", &text);
        break;
    case PS_CHOICE:
        expect_choices(option, "one of ", &text);
        break;
    case PS_CHOICES:
        expect_choices(option, "one of, or a list of, ", &text);
        break;
    case PS_TYPES:
        expect_choices(option, "one of (or {name: one of them}): ", &text);
        break;
    default:
        ps_text_add(&text, plain[option->kind]);
    }
    if (is_auto(option) && option->kind != PS_BLOCK && option->kind != PS_CHOICE)
        ps_text_add(&text, ", or auto");
    snprintf(out, out_size, "%s", text.data != NULL ? text.data : "");
    ps_text_free(&text);
    return out;
}

static bool wrong(const struct ps_value *value, const char *text, struct ps_place place,
                  const char *hint, struct ps_problems *problems)
{
    char shown[80], expected[512];
    ps_problem_add(problems, PS_USAGE, place, "%s: '%s' is not %s%s", value->option->key,
                   ps_escape(text, strlen(text), shown, sizeof shown),
                   ps_option_expected(value->option, expected, sizeof expected), hint);
    return false;
}

static const char *number_hint(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (digits[0] == '0' && strspn(digits, "0123456789") == strlen(digits) && digits[1] != '\0')
        return " (leading zero: write it without, as octal and decimal readings differ)";
    if (digits[0] == '0' && digits[1] != '\0' && strchr("xXoObB", digits[1]) != NULL)
        return " (write it as a decimal number)";
    return strchr(text, '_') != NULL ? " (no underscores in numbers)" : "";
}

static bool parse_whole(struct ps_value *value, const char *text, struct ps_place place,
                        struct ps_problems *problems, int64_t *out)
{
    const struct ps_option *option = value->option;
    double number;
    bool whole = ps_integer_parse(text, out);
    if (!whole && ps_number_parse(text, &number) && number >= -0x1p62 && number <= 0x1p62 &&
        number == (double)(int64_t)number) {
        *out = (int64_t)number; // 1e6 is a whole number
        whole = true;
    }
    bool inside =
        option->min >= option->max || ((double)*out >= option->min && (double)*out <= option->max);
    return (whole && inside) || wrong(value, text, place, number_hint(text), problems);
}

static bool parse_integer(struct ps_value *value, const char *text, bool quoted,
                          struct ps_place place, struct ps_problems *problems)
{
    if (quoted)
        return wrong(value, text, place, " (in quotes it is text)", problems);
    if (!parse_whole(value, text, place, problems, &value->integer))
        return false;
    value->number = (double)value->integer;
    return true;
}

static bool parse_number(struct ps_value *value, const char *text, bool quoted,
                         struct ps_place place, struct ps_problems *problems)
{
    const struct ps_option *option = value->option;
    if (quoted)
        return wrong(value, text, place, " (in quotes it is text)", problems);
    bool inside = ps_number_parse(text, &value->number) &&
                  (option->min >= option->max ||
                   (value->number >= option->min && value->number <= option->max));
    return inside || wrong(value, text, place, number_hint(text), problems);
}

static bool parse_block(struct ps_value *value, const char *text, struct ps_place place,
                        struct ps_problems *problems)
{
    char digits[24];
    size_t n = strspn(text, "0123456789");
    const char *unit = text + n + strspn(text + n, " ");
    if (n > 0 && n < sizeof digits && (strcmp(unit, "rows") == 0 || strcmp(unit, "row") == 0)) {
        memcpy(digits, text, n);
        digits[n] = '\0';
        if (ps_integer_parse(digits, &value->integer) && value->integer > 0)
            return true;
        return wrong(value, text, place, " (at least 1 row)", problems);
    }
    if (ps_size_parse(text, &value->bytes) && value->bytes > 0)
        return true;
    return wrong(value, text, place, number_hint(text), problems);
}

// Position of a word in "a|b|c"; -1: not there.
static int find_choice(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (int i = 0; *choices != '\0'; i++) {
        size_t n = strcspn(choices, "|");
        if (n == length && strncmp(choices, word, n) == 0)
            return i;
        choices += n + (choices[n] == '|');
    }
    return -1;
}

static bool parse_choice(const struct ps_value *value, const char *text, struct ps_place place,
                         struct ps_problems *problems, int *out)
{
    int found = find_choice(value->option->choices, text);
    if (found >= 0) {
        *out = found;
        return true;
    }
    char words[512], hint[96] = "";
    const char *list[64];
    size_t count = 0;
    snprintf(words, sizeof words, "%s", value->option->choices);
    char *rest = words;
    for (char *word; count < 64 && (word = strsep(&rest, "|")) != NULL;)
        list[count++] = word;
    const char *near = ps_nearest(text, list, count);
    if (near != NULL)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", near);
    return wrong(value, text, place, hint, problems);
}

static bool set_text(struct ps_value *value, const char *text)
{
    char *copy = ps_strdup(text);
    if (copy == NULL)
        return false;
    free(value->text);
    value->text = copy;
    return true;
}

static bool no_memory(const struct ps_value *value, struct ps_place place,
                      struct ps_problems *problems)
{
    ps_problem_add(problems, PS_DEVICE, place, "out of memory for %s", value->option->key);
    return false;
}

static bool is_list_kind(enum ps_kind kind)
{
    return kind == PS_CHOICES || kind == PS_NAMES || kind == PS_PATHS || kind == PS_WORDS || kind == PS_SHAPE ||
           kind == PS_AXES || kind == PS_PARAMS || kind == PS_TERMS;
}

// The word as `choices` has it: a dtype may be written under its other names.
static const char *type_word(const struct ps_option *option, const char *text)
{
    enum ps_dtype dtype;
    const char *word = ps_dtype_parse(text, &dtype) ? ps_dtype_name(dtype) : text;
    size_t length = strlen(word);
    for (const char *p = option->choices; *p != '\0'; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == length && memcmp(p, word, length) == 0)
            return word;
    return NULL;
}

static bool parse_type(struct ps_value *value, const char *text, struct ps_place place,
                       struct ps_problems *problems)
{
    const char *word = type_word(value->option, text);
    if (word == NULL)
        return wrong(value, text, place, "", problems);
    return set_text(value, word) || no_memory(value, place, problems);
}

static bool parse_axes_word(struct ps_value *value, const char *text)
{
    if (strcmp(text, "all") != 0 && strcmp(text, "rows") != 0)
        return false;
    free(value->integers);
    value->integers = calloc(1, sizeof *value->integers); // rows is axis 0
    value->count = strcmp(text, "all") == 0 ? -1 : 1;
    return true;
}

void ps_value_begin_list(struct ps_value *value, struct ps_place place)
{
    free_lists(value);
    free(value->text);
    value->text = NULL;
    value->automatic = false;
    value->place = place;
    value->given = true;
    value->listed = true;
}

static bool parse_truth(struct ps_value *value, const char *text, bool quoted,
                        struct ps_place place, struct ps_problems *problems)
{
    static const char *const others[] = {"no",  "off", "n", "False", "FALSE", "No",  "Off", "0",
                                         "yes", "on",  "y", "True",  "TRUE",  "Yes", "On",  "1"};
    value->truth = strcmp(text, "true") == 0;
    if (!quoted && (value->truth || strcmp(text, "false") == 0))
        return true;
    if (quoted)
        return wrong(value, text, place, " (in quotes it is text)", problems);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(text, others[i]) == 0)
            return wrong(value, text, place, i < 8 ? ": write false" : ": write true", problems);
    return wrong(value, text, place, "", problems);
}

static bool parse_size(struct ps_value *value, const char *text, struct ps_place place,
                       struct ps_problems *problems)
{
    const struct ps_option *option = value->option;
    char hint[64], least[32];
    if (!ps_size_parse(text, &value->bytes))
        return wrong(value, text, place, number_hint(text), problems);
    if (option->min >= option->max ||
        ((double)value->bytes >= option->min && (double)value->bytes <= option->max))
        return true;
    bool small = (double)value->bytes < option->min;
    snprintf(hint, sizeof hint, " (at %s %s)", small ? "least" : "most",
             ps_size_text((uint64_t)(small ? option->min : option->max), least, sizeof least));
    return wrong(value, text, place, hint, problems);
}

bool ps_value_from_scalar(struct ps_value *value, const char *text, bool quoted,
                          struct ps_place place, struct ps_problems *problems)
{
    free_lists(value);
    value->listed = false;
    value->integer = 0;
    value->number = 0;
    value->bytes = 0;
    value->place = place;
    value->given = true;
    if (!set_text(value, text))
        return no_memory(value, place, problems);
    value->automatic = is_auto(value->option) && strcmp(text, "auto") == 0;
    if (value->automatic)
        return true;
    switch (value->option->kind) {
    case PS_TEXT:
        return true;
    case PS_PATH:
    case PS_NAME:
        return text[0] != '\0' || wrong(value, text, place, " (it is empty)", problems);
    case PS_TRUTH:
        return parse_truth(value, text, quoted, place, problems);
    case PS_INTEGER:
    case PS_COUNT:
        return parse_integer(value, text, quoted, place, problems);
    case PS_NUMBER:
        return parse_number(value, text, quoted, place, problems);
    case PS_SIZE:
        return parse_size(value, text, place, problems);
    case PS_BLOCK:
        return parse_block(value, text, place, problems);
    case PS_CHOICE:
        return parse_choice(value, text, place, problems, &value->choice);
    case PS_DTYPE:
        return ps_dtype_parse(text, &value->dtype) || wrong(value, text, place, "", problems);
    case PS_TERMS:
        return wrong(value, text, place, "", problems);
    case PS_TYPES:
        return parse_type(value, text, place, problems);
    case PS_AXES:
        if (parse_axes_word(value, text))
            return value->integers != NULL || no_memory(value, place, problems);
        return ps_value_add_element(value, text, quoted, place, problems);
    default:
        return ps_value_add_element(value, text, quoted, place, problems);
    }
}

// One more element in every list. All lists grow together; unused ones stay zero.
static bool grow(struct ps_value *value)
{
    size_t n = (size_t)value->count + 1;
    char **words = realloc(value->words, n * sizeof *words);
    if (words != NULL)
        value->words = words;
    bool *quoted = realloc(value->quoted, n * sizeof *quoted);
    if (quoted != NULL)
        value->quoted = quoted;
    struct ps_place *places = realloc(value->places, n * sizeof *places);
    if (places != NULL)
        value->places = places;
    int *picks = realloc(value->picks, n * sizeof *picks);
    if (picks != NULL)
        value->picks = picks;
    int64_t *integers = realloc(value->integers, n * sizeof *integers);
    if (integers != NULL)
        value->integers = integers;
    double *numbers = realloc(value->numbers, n * sizeof *numbers);
    if (numbers != NULL)
        value->numbers = numbers;
    return words && quoted && places && picks && integers && numbers;
}

static bool append(struct ps_value *value, const char *word, bool quoted, struct ps_place place,
                   int64_t integer, double number, int pick)
{
    char *copy = ps_strdup(word);
    if (copy == NULL || !grow(value)) {
        free(copy);
        return false;
    }
    int i = value->count++;
    value->words[i] = copy;
    value->quoted[i] = quoted;
    value->places[i] = place;
    value->integers[i] = integer;
    value->numbers[i] = number;
    value->picks[i] = pick;
    return true;
}

static bool repeated(const struct ps_value *value, int pick, const char *text,
                     struct ps_place place, struct ps_problems *problems)
{
    for (int i = 0; i < value->count; i++) {
        if (value->picks[i] == pick) {
            ps_problem_add(problems, PS_USAGE, place, "%s: '%s' is listed twice",
                           value->option->key, text);
            return true;
        }
    }
    return false;
}

bool ps_value_add_element(struct ps_value *value, const char *text, bool quoted,
                          struct ps_place place, struct ps_problems *problems)
{
    int64_t integer = 0;
    int pick = 0;
    switch (value->option->kind) {
    case PS_CHOICES:
        if (!parse_choice(value, text, place, problems, &pick) ||
            repeated(value, pick, text, place, problems))
            return false;
        break;
    case PS_SHAPE:
        if (quoted || !ps_integer_parse(text, &integer) || integer < -1)
            return wrong(value, text, place, number_hint(text), problems);
        break;
    case PS_AXES:
        if (quoted || !ps_integer_parse(text, &integer) || integer < 0 || integer > 63)
            return wrong(value, text, place, number_hint(text), problems);
        break;
    case PS_NAMES:
    case PS_PATHS:
        if (text[0] == '\0')
            return wrong(value, text, place, " (it is empty)", problems);
        break;
    default:
        break;
    }
    return append(value, text, quoted, place, integer, 0, pick) ||
           no_memory(value, place, problems);
}

bool ps_value_add_param(struct ps_value *value, const char *key, struct ps_place key_place,
                        const char *number, struct ps_place place, struct ps_problems *problems)
{
    double parsed;
    for (int i = 0; i < value->count; i++) {
        if (strcmp(value->words[i], key) == 0) {
            ps_problem_add(problems, PS_USAGE, key_place, "%s: '%s' is given twice",
                           value->option->key, key);
            return false;
        }
    }
    if (!ps_number_parse(number, &parsed)) {
        char shown[80];
        ps_problem_add(problems, PS_USAGE, place, "%s.%s: '%s' is not a number%s",
                       value->option->key, key,
                       ps_escape(number, strlen(number), shown, sizeof shown), number_hint(number));
        return false;
    }
    // `quoted` tells whole numbers (written without point or exponent) from others.
    int64_t integer = 0;
    bool whole = ps_integer_parse(number, &integer);
    return append(value, key, !whole, place, integer, parsed, 0) ||
           no_memory(value, place, problems);
}

bool ps_value_add_type(struct ps_value *value, const char *key, bool key_quoted,
                       struct ps_place key_place, const char *word, struct ps_place place,
                       struct ps_problems *problems)
{
    for (int i = 0; i < value->count; i++) {
        if (strcmp(value->words[i], key) == 0 && value->quoted[i] == key_quoted) {
            ps_problem_add(problems, PS_USAGE, key_place, "%s: '%s' is given twice",
                           value->option->key, key);
            return false;
        }
    }
    const char *known = type_word(value->option, word);
    if (known == NULL)
        return wrong(value, word, place, "", problems);
    char *copy = ps_strdup(known);
    char **texts = realloc(value->texts, ((size_t)value->count + 1) * sizeof *texts);
    if (texts != NULL)
        value->texts = texts;
    if (copy == NULL || texts == NULL || !append(value, key, key_quoted, key_place, 0, 0, 0)) {
        free(copy);
        return no_memory(value, place, problems);
    }
    value->texts[value->count - 1] = copy;
    return true;
}

bool ps_value_add_term(struct ps_value *value, const char *key, struct ps_place key_place,
                       const char *text, struct ps_place place, struct ps_problems *problems)
{
    size_t n = (size_t)value->count + 1;
    char *copy = ps_strdup(text);
    char **texts = realloc(value->texts, n * sizeof *texts);
    if (texts != NULL)
        value->texts = texts;
    struct ps_place *places = realloc(value->text_places, n * sizeof *places);
    if (places != NULL)
        value->text_places = places;
    if (!copy || !texts || !places || !append(value, key, false, key_place, 0, 0, 0)) {
        free(copy);
        return no_memory(value, place, problems);
    }
    value->texts[n - 1] = copy;
    value->text_places[n - 1] = place;
    return true;
}

// A fallback such as "[mean, std]" or "3".
static bool set_fallback(struct ps_value *value, struct ps_problems *problems)
{
    const char *text = value->option->fallback;
    struct ps_place nowhere = {0};
    bool fine = true;
    if (is_list_kind(value->option->kind) && text[0] == '[') {
        char copy[256];
        ps_value_begin_list(value, nowhere);
        snprintf(copy, sizeof copy, "%s", text + 1);
        copy[strcspn(copy, "]")] = '\0';
        char *rest = copy;
        for (char *word; (word = strsep(&rest, ",")) != NULL;) {
            word += strspn(word, " ");
            if (*word != '\0')
                fine = ps_value_add_element(value, word, false, nowhere, problems) && fine;
        }
    } else {
        fine = ps_value_from_scalar(value, text, false, nowhere, problems);
    }
    value->given = false;
    return fine;
}

bool ps_values_default(struct ps_values *values, const struct ps_option *options,
                       struct ps_error *error)
{
    int count = ps_options_count(options);
    *values = (struct ps_values){.options = options, .count = count};
    values->values = calloc((size_t)count + 1, sizeof *values->values);
    if (values->values == NULL) {
        values->count = 0;
        return ps_fail_memory(error, (size_t)count * sizeof *values->values, "options");
    }
    struct ps_problems problems = {0};
    for (int i = 0; i < count; i++) {
        values->values[i].option = &options[i];
        if (options[i].fallback != NULL && !set_fallback(&values->values[i], &problems))
            ps_fail(error, PS_BUG, "the default of option '%s' is wrong: %s", options[i].key,
                    problems.count > 0 ? problems.list[0].text : "out of memory");
    }
    ps_problems_free(&problems);
    if (error->status != PS_OK)
        ps_values_free(values);
    return error->status == PS_OK;
}
