// SPDX-License-Identifier: Apache-2.0
// Option tables: every key that a stage, a format or a section of the config accepts is one row.
// Parsing, checking, `penstock ops`, the manual and the JSON Schema are made from these rows.
#ifndef PS_BASE_OPTION_H
#define PS_BASE_OPTION_H

#include "base/dtype.h"
#include "base/problem.h"

enum ps_kind {
    PS_TEXT,     // any scalar, as written
    PS_PATH,     // text, relative to the config file's folder; resolved to an absolute path. With the
                 // choice "-" that text stays as it is
    PS_PATHS,    // one such path or pattern of paths, or a list of them, resolved in `words`
    PS_TRUTH,    // true or false
    PS_INTEGER,  // min <= value <= max when min < max
    PS_NUMBER,   // likewise
    PS_SIZE,     // "64 MiB", min <= bytes <= max, or auto where `fallback` is auto (automatic)
    PS_BLOCK,    // a size, "4096 rows" (integer is set), or auto
    PS_COUNT,    // a whole number >= min, or auto where `fallback` is auto
    PS_CHOICE,   // one of `choices`
    PS_CHOICES,  // one of `choices`, or a list of them (`listed` tells which)
    PS_DTYPE,    // "f32", "float32"
    PS_NAME,     // the name of an array
    PS_NAMES,    // one name or a list of names
    PS_WORDS,    // a scalar or a list of scalars: text, or numbers (see integer_known)
    PS_SHAPE,    // a list of whole numbers >= -1
    PS_PARAMS,   // a mapping of names to numbers
    PS_TYPES,    // one of `choices` (dtypes under any of their names), or a mapping of names to them
    PS_TERMS,    // a mapping of names to texts, in order
    PS_AXES,     // rows, all, one axis number or a list of them
};

struct ps_option {
    const char *key; // NULL ends a table
    enum ps_kind kind;
    const char *fallback; // the default as it would be written in YAML; NULL: not set
    double min, max;      // range of numbers; both 0: any
    const char *choices;  // "error|saturate|wrap"
    bool required;
    const char *help; // one sentence, no full stop
};

// One parsed value. Which members are set depends on option->kind; everything is owned by the
// enclosing struct ps_values.
struct ps_value {
    const struct ps_option *option;
    struct ps_place place; // of the value in the config; line 0 when it is the default
    bool given;            // written in the config or by --set
    bool automatic;        // `auto`
    bool listed;           // written as a list
    char *text;            // TEXT PATH CHOICE NAME, and the source text of any scalar
    bool truth;
    int64_t integer;       // INTEGER COUNT, BLOCK in rows (0: not in rows)
    double number;         // NUMBER, INTEGER as well
    uint64_t bytes;        // SIZE BLOCK (0: not in bytes)
    enum ps_dtype dtype;
    int choice;            // CHOICE: position in choices
    int count;             // of the lists below
    char **words;          // NAMES WORDS CHOICES; the keys of PARAMS, TYPES, TERMS
    bool *quoted;          // WORDS, TYPES keys: written in quotes, so never a number
    struct ps_place *places; // one per list element
    int *picks;            // CHOICES: positions in choices
    char **texts;          // TYPES: the word for each key, as `choices` has it; TERMS
    struct ps_place *text_places; // TERMS
    int64_t *integers;     // SHAPE, AXES (rows = 0 with count 1; all: count -1)
    double *numbers;       // PARAMS values
};

struct ps_values {
    const struct ps_option *options;
    int count;
    struct ps_value *values; // one per row of options, in the same order, always filled
    struct ps_place place;   // of the mapping itself
};

// The value of a key that must be in the table (a missing one is a bug: asserts).
const struct ps_value *ps_values_get(const struct ps_values *values, const char *key);
void ps_values_free(struct ps_values *values);

int ps_options_count(const struct ps_option *options);
const struct ps_option *ps_options_find(const struct ps_option *options, const char *key);

// Defaults for every row (what parsing starts from). False: out of memory.
bool ps_values_default(struct ps_values *values, const struct ps_option *options,
                       struct ps_error *error);
// Forgets the default and begins a list (or mapping) written at place; its elements follow by
// ps_value_add_element or ps_value_add_param.
void ps_value_begin_list(struct ps_value *value, struct ps_place place);
// Parses one scalar into value; a list kind gets a list of one. Reports into problems.
bool ps_value_from_scalar(struct ps_value *value, const char *text, bool quoted,
                          struct ps_place place, struct ps_problems *problems);
// Appends one element to a list kind.
bool ps_value_add_element(struct ps_value *value, const char *text, bool quoted,
                          struct ps_place place, struct ps_problems *problems);
// Appends one key and number to a PS_PARAMS value.
bool ps_value_add_param(struct ps_value *value, const char *key, struct ps_place key_place,
                        const char *number, struct ps_place place, struct ps_problems *problems);
// Appends one key and its word to a PS_TYPES value.
bool ps_value_add_type(struct ps_value *value, const char *key, bool key_quoted,
                       struct ps_place key_place, const char *word, struct ps_place place,
                       struct ps_problems *problems);
// Appends one key and its text to a PS_TERMS value.
bool ps_value_add_term(struct ps_value *value, const char *key, struct ps_place key_place,
                       const char *text, struct ps_place place, struct ps_problems *problems);
// The value as YAML flow text ("gzip-4", "[mean, std]", "{gain: 1.5}"), for provenance.
struct ps_text;
void ps_value_print(const struct ps_value *value, struct ps_text *out);
// "a whole number from 1 to 9", "one of error, saturate, wrap": what was expected.
char *ps_option_expected(const struct ps_option *option, char *out, size_t out_size);
const char *ps_kind_name(enum ps_kind kind);

#endif
