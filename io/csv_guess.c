// SPDX-License-Identifier: Apache-2.0
#include "io/csv_guess.h"

#include "io/file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// What is tried, in order of preference.
static const struct {
    char separator, decimal;
    bool blanks;
} candidates[] = {
    {',', '.', false}, {';', ',', false}, {';', '.', false}, {'\t', '.', false}, {'\t', ',', false},
    {'|', '.', false}, {'|', ',', false}, {' ', '.', true},  {' ', ',', true},
};

static const struct ps_value nothing_given = {.given = false};

// Words that often stand for a missing value.
static char *common_words[] = {"NA", "N/A", "n/a", "NULL", "null", "None", "#N/A", "-", "--", "?"};
#define COMMON_WORDS (int)(sizeof common_words / sizeof *common_words)
static const struct ps_value common_missing = {.words = common_words, .count = COMMON_WORDS};

static void set_rules(int candidate, int comment, struct ps_csv_rules *rules)
{
    *rules = (struct ps_csv_rules){
        .dialect = {.separator = candidates[candidate].separator,
                    .blanks = candidates[candidate].blanks,
                    .quote = '"',
                    .escape = -1,
                    .comment = comment},
        .decimal = candidates[candidate].decimal,
        .missing = &common_missing,
        .has_header = true,
    };
}

// ---- Reading the first records ----

static bool read_records(const char *path, struct ps_csv_guess *guess, struct ps_error *error)
{
    struct ps_csv_scan *scan = ps_csv_scan_open(path, &guess->rules.dialect, error);
    const struct ps_csv_record *record = NULL;
    bool fine = scan != NULL;
    while (fine && guess->sample.count <= PS_CSV_GUESS_RECORDS) {
        fine = ps_csv_scan_next(scan, &record, error);
        if (!fine || record == NULL)
            break;
        fine = ps_csv_sample_add(&guess->sample, record, error);
    }
    guess->is_cut = fine && record != NULL;
    ps_csv_scan_close(scan);
    if (fine && guess->sample.count == 0)
        return ps_fail(error, PS_INPUT, "%s has no records: only blank lines or comments",
                       ps_path_shown(path));
    return fine;
}

static int fields_of(const struct ps_csv_sample *sample, int record)
{
    return (int)(sample->first[record + 1] - sample->first[record]);
}

static enum ps_csv_look look_at(const struct ps_csv_guess *guess, int record, int field,
                                struct ps_text *scratch)
{
    const struct ps_csv_sample *sample = &guess->sample;
    size_t at = sample->first[record] + (size_t)field, begin = at > 0 ? sample->ends[at - 1] : 0;
    const char *text = sample->text.data != NULL ? sample->text.data + begin : "";
    return ps_csv_field_look(&guess->rules, text, sample->ends[at] - begin, scratch);
}

// ---- Judging ----

struct judgement {
    double regular; // share of records that have as many fields as the first one
    double numbers; // share of fields that are numbers, times or truths
    int columns;
};

static struct judgement judge(const struct ps_csv_guess *guess)
{
    const struct ps_csv_sample *sample = &guess->sample;
    struct ps_text scratch = {0};
    int regular = 0, fields = 0, numbers = 0, columns = fields_of(sample, 0);
    for (int r = 0; r < sample->count; r++) {
        regular += fields_of(sample, r) == columns;
        for (int f = 0; r > 0 && f < fields_of(sample, r); f++, fields++)
            numbers += look_at(guess, r, f, &scratch) < PS_CSV_LOOKS_TEXT;
    }
    ps_text_free(&scratch);
    return (struct judgement){(double)regular / sample->count,
                              fields > 0 ? (double)numbers / fields : 0, columns};
}

// More regular first, then more columns where they are as good as all alike, then more numbers.
static bool is_better(struct judgement a, struct judgement b)
{
    if (a.regular != b.regular)
        return a.regular > b.regular;
    bool a_splits = a.columns > 1, b_splits = b.columns > 1;
    if (a_splits != b_splits)
        return a_splits ? a.numbers >= b.numbers : a.numbers > b.numbers;
    if (a.numbers != b.numbers)
        return a.numbers > b.numbers;
    return a.columns > b.columns;
}

static bool has_header(const struct ps_csv_guess *guess)
{
    struct ps_text scratch = {0};
    bool any_text = false;
    for (int f = 0; f < fields_of(&guess->sample, 0); f++)
        any_text = any_text || look_at(guess, 0, f, &scratch) == PS_CSV_LOOKS_TEXT;
    ps_text_free(&scratch);
    return any_text;
}

// ---- The winner ----

static bool find_looks(struct ps_csv_guess *guess, struct ps_error *error)
{
    const struct ps_csv_sample *sample = &guess->sample;
    int columns = guess->columns.count;
    struct ps_text scratch = {0};
    guess->looks = calloc((size_t)columns + 1, sizeof *guess->looks);
    if (guess->looks == NULL)
        return ps_fail_memory(error, (size_t)columns * sizeof *guess->looks, "columns");
    for (int r = guess->rules.has_header; r < sample->count; r++) {
        guess->ragged += fields_of(sample, r) != columns;
        for (int f = 0; f < columns && f < fields_of(sample, r); f++)
            guess->looks[f] = ps_csv_looks_join(guess->looks[f], look_at(guess, r, f, &scratch));
    }
    ps_text_free(&scratch);
    return true;
}

static bool name_columns(const char *path, struct ps_csv_guess *guess, struct ps_error *error)
{
    struct ps_csv_field *fields =
        calloc((size_t)ps_csv_sample_widest(&guess->sample) + 1, sizeof *fields);
    if (fields == NULL)
        return ps_fail_memory(error, sizeof *fields, "columns");
    struct ps_csv_record first = ps_csv_sample_get(&guess->sample, 0, fields);
    bool fine =
        ps_csv_columns_name(&guess->columns, first.count, guess->rules.has_header ? &first : NULL,
                            NULL, ps_path_shown(path), error) &&
        ps_csv_columns_choose(&guess->columns, &nothing_given, ps_path_shown(path), error);
    free(fields);
    return fine;
}

// Lines that begin with '#' are comments unless the names do and the rest fits them.
static bool try_candidate(int candidate, const char *path, int comment, struct ps_csv_guess *guess,
                          struct ps_error *error)
{
    *guess = (struct ps_csv_guess){0};
    set_rules(candidate, comment, &guess->rules);
    return read_records(path, guess, error);
}

// Whether lines that begin with '#' stand only before all others (and there are such): elsewhere it
// may be text of the first column.
static bool marks_on_top(const struct ps_csv_guess *guess)
{
    const struct ps_csv_sample *sample = &guess->sample;
    int marked = 0;
    for (int r = 0; r < sample->count; r++) {
        size_t begin = sample->first[r] > 0 ? sample->ends[sample->first[r] - 1] : 0;
        bool mark = sample->ends[sample->first[r]] > begin && sample->text.data[begin] == '#' &&
                    !sample->quoted[sample->first[r]];
        if (mark && marked < r)
            return false;
        marked += mark;
    }
    return marked > 0;
}

bool ps_csv_guess_find(const char *path, struct ps_csv_guess *best, struct ps_error *error)
{
    static const int comments[] = {-1, '#'};
    struct judgement best_judgement = {-1, 0, 0};
    double plain_regular = 0; // of the candidate without comments
    bool on_top = false;
    *best = (struct ps_csv_guess){0};
    for (size_t i = 0; i < 2 * sizeof candidates / sizeof *candidates; i++) {
        struct ps_csv_guess guess;
        struct ps_error failure = {0};
        if (!try_candidate((int)(i / 2), path, comments[i % 2], &guess, &failure)) {
            ps_csv_guess_free(&guess);
            plain_regular = on_top = 0;
            if (best_judgement.regular < 0 && error->status == PS_OK)
                *error = failure;
            continue;
        }
        struct judgement judgement = judge(&guess);
        bool plain = comments[i % 2] < 0;
        plain_regular = plain ? judgement.regular : plain_regular;
        on_top = plain ? marks_on_top(&guess) : on_top;
        bool allowed = plain || on_top || judgement.regular > plain_regular;
        if (allowed && is_better(judgement, best_judgement)) {
            ps_csv_guess_free(best);
            *best = guess;
            best_judgement = judgement;
        } else {
            ps_csv_guess_free(&guess);
        }
    }
    if (best_judgement.regular < 0)
        return false;
    *error = (struct ps_error){0};
    best->rules.has_header = has_header(best);
    return name_columns(path, best, error) && find_looks(best, error);
}

void ps_csv_guess_free(struct ps_csv_guess *guess)
{
    ps_csv_columns_free(&guess->columns);
    ps_csv_sample_free(&guess->sample);
    free(guess->looks);
    guess->looks = NULL;
}

// ---- As keys ----

static void add_key(struct ps_text *out, const char *text)
{
    ps_text_printf(out, "%s%s", out->length > 0 ? ", " : "", text);
}

static void add_separator(const struct ps_csv_dialect *dialect, const char *path,
                          struct ps_text *out)
{
    size_t length = ps_path_bare_length(path);
    bool is_tsv = length > 4 && strncasecmp(path + length - 4, ".tsv", 4) == 0;
    if (dialect->blanks)
        add_key(out, "separator: blanks");
    else if (dialect->separator == '\t' && !is_tsv)
        add_key(out, "separator: tab");
    else if (dialect->separator != '\t' && (dialect->separator != ',' || is_tsv)) {
        add_key(out, "separator: \"");
        ps_text_printf(out, "%c\"", dialect->separator);
    }
}

static bool is_read(enum ps_csv_look look)
{
    return look != PS_CSV_LOOKS_TEXT;
}

static void add_times(const struct ps_csv_guess *guess, struct ps_text *out)
{
    int listed = 0;
    for (int i = 0; i < guess->columns.count; i++) {
        if (guess->looks[i] != PS_CSV_LOOKS_TIME)
            continue;
        if (listed == 0)
            add_key(out, "dtype: {");
        ps_text_printf(out, "%s%d: time_s", listed++ > 0 ? ", " : "", i);
    }
    ps_text_add(out, listed > 0 ? "}" : "");
}

// Those of the common words that occur in columns that are read.
static void add_missing(const struct ps_csv_guess *guess, struct ps_text *out)
{
    const struct ps_csv_sample *sample = &guess->sample;
    int listed = 0;
    for (int w = 0; w < COMMON_WORDS; w++) {
        size_t length = strlen(common_words[w]);
        bool seen = false;
        for (int r = guess->rules.has_header; !seen && r < sample->count; r++) {
            for (int f = 0; !seen && f < fields_of(sample, r) && f < guess->columns.count; f++) {
                size_t at = sample->first[r] + (size_t)f;
                size_t begin = at > 0 ? sample->ends[at - 1] : 0;
                seen = is_read(guess->looks[f]) && sample->ends[at] - begin == length &&
                       memcmp(sample->text.data + begin, common_words[w], length) == 0;
            }
        }
        if (!seen)
            continue;
        if (listed == 0)
            add_key(out, "missing: [");
        ps_text_printf(out, "%s\"%s\"", listed++ > 0 ? ", " : "", common_words[w]);
    }
    ps_text_add(out, listed > 0 ? "]" : "");
}

// The columns that hold numbers, where not all do; neighbours as a range.
static void add_columns(const struct ps_csv_guess *guess, struct ps_text *out)
{
    int count = guess->columns.count, listed = 0;
    bool all = true;
    for (int i = 0; i < count; i++)
        all = all && is_read(guess->looks[i]);
    if (all)
        return;
    add_key(out, "columns: [");
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; is_read(guess->looks[i]) && end < count && is_read(guess->looks[end]);)
            end++;
        if (!is_read(guess->looks[i]))
            continue;
        ps_text_printf(out, "%s%d", listed++ > 0 ? ", " : "", i);
        if (end - i > 1)
            ps_text_printf(out, ":%d", end);
    }
    ps_text_add(out, "]");
}

bool ps_csv_guess_has_numbers(const struct ps_csv_guess *guess)
{
    for (int i = 0; i < guess->columns.count; i++)
        if (is_read(guess->looks[i]))
            return true;
    return false;
}

void ps_csv_guess_keys(const struct ps_csv_guess *guess, const char *path, struct ps_text *out)
{
    add_separator(&guess->rules.dialect, path, out);
    if (guess->rules.decimal == ',')
        add_key(out, "decimal: \",\"");
    if (guess->rules.dialect.comment == '#')
        add_key(out, "comment: \"#\"");
    if (!guess->rules.has_header)
        add_key(out, "header: false");
    add_columns(guess, out);
    add_times(guess, out);
    add_missing(guess, out);
}
