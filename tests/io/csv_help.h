// SPDX-License-Identifier: Apache-2.0
// What the tests of CSV share: options from one line of text, whole files read in blocks.
#ifndef PS_TESTS_CSV_HELP_H
#define PS_TESTS_CSV_HELP_H

#include "io_help.h"

// "separator=;|header=false|columns=a,b|missing=NA" ("-" or "": all defaults). Words of `columns`
// are names, also where they look like numbers, except behind '@': "columns=@0,2" are positions.
static inline bool csv_options(struct ps_values *values, const char *line)
{
    struct ps_error error = {0};
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 1, 1};
    char copy[2048], *rest = copy;
    bool fine = ps_values_default(values, ps_format_csv.read_options, &error);
    snprintf(copy, sizeof copy, "%s", strcmp(line, "-") == 0 ? "" : line);
    for (char *pair; fine && (pair = strsep(&rest, "|")) != NULL;) {
        char *words = strchr(pair, '=');
        if (words == NULL)
            continue;
        *words++ = '\0';
        struct ps_value *value = (struct ps_value *)ps_values_get(values, pair);
        bool one_word = strcmp(pair, "header") == 0 && strchr(words, ',') == NULL;
        if (one_word) {
            fine = ps_value_from_scalar(value, words, false, place, &problems);
            continue;
        }
        if (value->option->kind != PS_WORDS) {
            fine = ps_value_from_scalar(value, words, true, place, &problems) ||
                   ps_value_from_scalar(value, words, false, place, &problems);
            continue;
        }
        bool quoted = words[0] != '@';
        words += !quoted;
        ps_value_begin_list(value, place);
        for (char *word; fine && (word = strsep(&words, ",")) != NULL;)
            fine = ps_value_add_element(value, word, quoted, place, &problems);
    }
    ps_problems_free(&problems);
    return fine;
}

static inline bool csv_open(struct help_input *input, const char *path, const char *line)
{
    *input = (struct help_input){0};
    if (!csv_options(&input->options, line)) {
        ps_fail(&input->error, PS_BUG, "options of the test: %s", line);
        return false;
    }
    input->reader = (struct ps_reader){
        .format = &ps_format_csv, .name = "x", .path = path, .options = &input->options};
    return ps_reader_open(&input->reader, &input->error);
}

static inline void csv_close(struct help_input *input)
{
    ps_reader_close(&input->reader);
    ps_values_free(&input->options);
}

// All rows, `step` at a time, from row 0 (malloc'ed). NULL: input->error says why.
static inline char *csv_read_all(struct help_input *input, int64_t step, int64_t *rows_out)
{
    size_t row = ps_array_row_bytes(&input->reader.array), room = 0;
    char *data = calloc(1, 1);
    *rows_out = 0;
    for (;;) {
        struct ps_read_result result;
        size_t need = ((size_t)*rows_out + (size_t)step) * row + 1;
        if (need > room) {
            room = 2 * need;
            data = realloc(data, room);
        }
        if (data == NULL || !ps_reader_read(&input->reader, *rows_out, step,
                                            data + (size_t)*rows_out * row, &result, &input->error)) {
            free(data);
            return NULL;
        }
        *rows_out += result.rows;
        if (result.rows < step)
            return data;
    }
}

static const int64_t csv_steps[] = {1, 2, 3, 7, 100000};
#define CSV_STEPS 5

// In all block sizes, each twice: the same bytes. The data of the last one.
static inline char *csv_read_steps(struct help_input *input, int64_t *rows_out)
{
    char *first = csv_read_all(input, 5, rows_out);
    size_t bytes = (size_t)*rows_out * ps_array_row_bytes(&input->reader.array);
    for (int i = 0; first != NULL && i < 2 * CSV_STEPS; i++) {
        int64_t rows;
        char *data = csv_read_all(input, csv_steps[i / 2], &rows);
        CU_ASSERT(data != NULL && rows == *rows_out && memcmp(data, first, bytes) == 0);
        free(data);
    }
    return first;
}

#endif
