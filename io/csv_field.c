// SPDX-License-Identifier: Apache-2.0
#include "io/csv_field.h"

#include "io/format.h"
#include "io/time_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define EXACT_MAX 9007199254740992.0 // 2^53: f64 holds every whole number below
#define F16_INFINITE 0x7c00u

// ---- The text of a number ----

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && (**text == ' ' || **text == '\t'))
        (*text)++, (*length)--;
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t'))
        (*length)--;
}

// Digits with separators between groups of three, the first of one to three; none is fine too.
// Appends the digits alone. Returns the bytes used; 0 when separators stand where they must not.
static size_t take_groups(const char *text, size_t length, const char *mark, struct ps_text *out)
{
    size_t mark_bytes = strlen(mark), at = 0, run = 0;
    bool grouped = false;
    while (at < length) {
        if (is_digit(text[at])) {
            ps_text_append(out, text + at++, 1);
            run++;
            continue;
        }
        if (length - at < mark_bytes || memcmp(text + at, mark, mark_bytes) != 0)
            break;
        if (run == 0 || run > 3 || (grouped && run != 3))
            return 0;
        grouped = true;
        run = 0;
        at += mark_bytes;
    }
    return grouped && run != 3 ? 0 : at;
}

// The text as with a decimal point and without separators, where the rules say otherwise. False: it
// is no number by these rules.
static bool to_plain(const struct ps_csv_rules *rules, const char **text, size_t *length,
                     struct ps_text *scratch)
{
    if (rules->decimal == '.' && rules->thousands == NULL)
        return true;
    const char *from = *text, *end = *text + *length;
    scratch->length = 0;
    if (from < end && (*from == '+' || *from == '-'))
        ps_text_append(scratch, from++, 1);
    if (rules->thousands != NULL && from < end && is_digit(*from)) {
        size_t used = take_groups(from, (size_t)(end - from), rules->thousands, scratch);
        if (used == 0)
            return false;
        from += used;
    }
    for (; from < end; from++) {
        if (rules->decimal == ',' && *from == '.')
            return false;
        ps_text_append(scratch, rules->decimal == ',' && *from == ',' ? "." : from, 1);
    }
    *text = scratch->data;
    *length = scratch->length;
    return !scratch->failed;
}

static bool is_missing(const struct ps_csv_rules *rules, const char *text, size_t length)
{
    if (length == 0 && !rules->empty_is_wrong)
        return true;
    for (int i = 0; i < rules->missing->count; i++)
        if (strlen(rules->missing->words[i]) == length &&
            memcmp(rules->missing->words[i], text, length) == 0)
            return true;
    return false;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

// Of a text that gave an infinity: not the word for one.
static bool is_number(const char *text, size_t length)
{
    size_t first = text[0] == '+' || text[0] == '-';
    return first < length && (text[first] | 32) != 'i';
}

// Digits alone, behind a sign.
static bool is_whole(const char *text, size_t length)
{
    size_t at = length > 0 && (text[0] == '+' || text[0] == '-');
    bool any = at < length;
    for (; at < length; at++)
        any = any && is_digit(text[at]);
    return any;
}

// Whether a whole number's text names exactly this value: its digits are those of the double.
static bool is_exact(const char *text, size_t length, double value)
{
    char digits[400];
    if (fabs(value) < EXACT_MAX)
        return true;
    int count = snprintf(digits, sizeof digits, "%.0f", fabs(value));
    while (length > 0 && (*text == '+' || *text == '-' || *text == '0'))
        text++, length--;
    return (size_t)count == length && memcmp(digits, text, length) == 0;
}

// ---- What it looks like ----

enum ps_csv_look ps_csv_field_look(const struct ps_csv_rules *rules, const char *text,
                                   size_t length, struct ps_text *scratch)
{
    int64_t integer;
    uint64_t natural;
    double number;
    trim(&text, &length);
    if (is_missing(rules, text, length))
        return PS_CSV_LOOKS_MISSING;
    if (is_word(text, length, "true") || is_word(text, length, "false"))
        return PS_CSV_LOOKS_TRUTH;
    if (ps_text_to_seconds(text, length, &number) && !is_whole(text, length))
        return PS_CSV_LOOKS_TIME;
    if (!to_plain(rules, &text, &length, scratch) || !ps_text_to_f64(text, length, &number))
        return PS_CSV_LOOKS_TEXT;
    if (isnan(number))
        return PS_CSV_LOOKS_MISSING;
    if (!is_whole(text, length))
        return PS_CSV_LOOKS_NUMBER;
    if (ps_text_to_i64(text, length, &integer) == PS_FIT_OK)
        return is_exact(text, length, number) ? PS_CSV_LOOKS_WHOLE : PS_CSV_LOOKS_SIGNED;
    return ps_text_to_u64(text, length, &natural) == PS_FIT_OK ? PS_CSV_LOOKS_UNSIGNED
                                                               : PS_CSV_LOOKS_NUMBER;
}

// ---- Conversion ----

union value {
    uint8_t truth;
    int64_t integer;
    uint64_t natural;
    uint16_t half;
    float single;
    double number;
};

static enum ps_csv_fit from_number_fit(enum ps_number_fit fit, enum ps_csv_fit not_one)
{
    return fit == PS_FIT_OK             ? PS_CSV_FITS
           : fit == PS_FIT_NOT_A_NUMBER ? not_one
                                        : PS_CSV_OUT_OF_RANGE;
}

static enum ps_csv_fit to_truth(const char *text, size_t length, union value *value)
{
    value->truth = is_word(text, length, "true") || is_word(text, length, "1");
    return value->truth || is_word(text, length, "false") || is_word(text, length, "0")
               ? PS_CSV_FITS
               : PS_CSV_NOT_A_TRUTH;
}

static enum ps_csv_fit to_float(enum ps_dtype dtype, const char *text, size_t length,
                                union value *value)
{
    bool infinite;
    if (dtype == PS_F32) {
        if (!ps_text_to_f32(text, length, &value->single))
            return PS_CSV_NOT_A_NUMBER;
        infinite = isinf(value->single);
    } else if (dtype == PS_F16) {
        if (!ps_text_to_f16(text, length, &value->half))
            return PS_CSV_NOT_A_NUMBER;
        infinite = (value->half & 0x7fffu) == F16_INFINITE;
    } else {
        if (!ps_text_to_f64(text, length, &value->number))
            return PS_CSV_NOT_A_NUMBER;
        infinite = isinf(value->number);
        if (!infinite && fabs(value->number) >= EXACT_MAX && is_whole(text, length) &&
            !is_exact(text, length, value->number))
            return PS_CSV_ROUNDED;
    }
    return infinite && is_number(text, length) ? PS_CSV_INFINITE : PS_CSV_FITS;
}

// Into the widest type of the dtype's kind.
static enum ps_csv_fit to_value(const struct ps_csv_type *type, const char *text, size_t length,
                                union value *value)
{
    if (type->meaning == PS_CSV_SECONDS)
        return ps_text_to_seconds(text, length, &value->number) ? PS_CSV_FITS : PS_CSV_NOT_A_TIME;
    if (type->meaning == PS_CSV_NANOSECONDS)
        return from_number_fit(ps_text_to_nanoseconds(text, length, &value->integer),
                               PS_CSV_NOT_A_TIME);
    switch (ps_dtype_info(type->dtype)->kind) {
    case PS_CLASS_BOOL:
        return to_truth(text, length, value);
    case PS_CLASS_SIGNED:
        return from_number_fit(ps_text_to_i64(text, length, &value->integer), PS_CSV_NOT_WHOLE);
    case PS_CLASS_UNSIGNED:
        return from_number_fit(ps_text_to_u64(text, length, &value->natural), PS_CSV_NOT_WHOLE);
    default:
        return to_float(type->dtype, text, length, value);
    }
}

static enum ps_dtype widest(enum ps_dtype dtype)
{
    enum ps_dtype_class kind = ps_dtype_info(dtype)->kind;
    return kind == PS_CLASS_SIGNED ? PS_I64 : kind == PS_CLASS_UNSIGNED ? PS_U64 : dtype;
}

static bool convert(enum ps_dtype to, void *target, enum ps_dtype from, const void *source)
{
    size_t bad;
    uint64_t changed = 0;
    return ps_convert(to, target, from, source, 1, PS_CAST_ERROR, &bad, &changed);
}

// From the widest type through the column's own dtype, which decides the range, to the array's.
static enum ps_csv_fit narrow(const struct ps_csv_type *type, enum ps_dtype array,
                              union value *value, void *to)
{
    enum ps_dtype wide = widest(type->dtype);
    union value own;
    if (!convert(type->dtype, &own, wide, value))
        return PS_CSV_OUT_OF_RANGE;
    return convert(array, to, type->dtype, &own) ? PS_CSV_FITS : PS_CSV_NOT_IN_ARRAY;
}

static enum ps_csv_fit store_missing(const struct ps_csv_type *type, enum ps_dtype array, void *to)
{
    static const double nothing = NAN;
    return ps_dtype_is_float(type->dtype) && convert(array, to, PS_F64, &nothing) ? PS_CSV_FITS
                                                                                  : PS_CSV_MISSING;
}

enum ps_csv_fit ps_csv_field_store(const struct ps_csv_rules *rules, const struct ps_csv_type *type,
                                   enum ps_dtype array, const char *text, size_t length, void *to,
                                   struct ps_text *scratch)
{
    union value value;
    trim(&text, &length);
    if (is_missing(rules, text, length))
        return store_missing(type, array, to);
    if (type->meaning == PS_CSV_NUMBERS && type->dtype != PS_BOOL &&
        !to_plain(rules, &text, &length, scratch))
        return PS_CSV_NOT_A_NUMBER;
    enum ps_csv_fit fit = to_value(type, text, length, &value);
    if (fit > PS_CSV_INFINITE)
        return fit;
    if (array == type->dtype && array == widest(array)) {
        memcpy(to, &value, ps_dtype_bytes(array));
        return fit;
    }
    enum ps_csv_fit narrowed = narrow(type, array, &value, to);
    return narrowed == PS_CSV_FITS ? fit : narrowed;
}

const char *ps_csv_fit_text(enum ps_csv_fit fit)
{
    static const char *const texts[] = {
        [PS_CSV_NOT_A_NUMBER] = "is not a number and cannot be read as",
        [PS_CSV_NOT_WHOLE] = "is not a whole number and cannot be read as",
        [PS_CSV_NOT_A_TRUTH] = "is none of true, false, 1, 0 and cannot be read as",
        [PS_CSV_NOT_A_TIME] = "is no date or time of ISO 8601 and cannot be read as",
        [PS_CSV_OUT_OF_RANGE] = "is out of the range of",
        [PS_CSV_MISSING] = "is missing, and a missing value cannot be stored as",
        [PS_CSV_NOT_IN_ARRAY] = "cannot be held exactly by",
    };
    return texts[fit];
}
