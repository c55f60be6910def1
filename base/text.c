// SPDX-License-Identifier: Apache-2.0
// Growing strings, escaping, sizes, strict numbers, nearest words.
#include "base/text.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct ps_text *text, size_t more)
{
    size_t need = text->length + more + 1;
    if (text->failed || need < more) {
        text->failed = true;
        return false;
    }
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity * 2 > need ? text->capacity * 2 : need + 64;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void ps_text_append(struct ps_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void ps_text_add(struct ps_text *text, const char *string)
{
    ps_text_append(text, string, strlen(string));
}

void ps_text_printf(struct ps_text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    if (length < 0)
        text->failed = true;
    else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(list);
}

void ps_text_free(struct ps_text *text)
{
    free(text->data);
    *text = (struct ps_text){0};
}

size_t ps_utf8_length(const char *bytes, size_t left)
{
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t length;
    } forms[] = {
        // RFC 3629, section 4
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    const unsigned char *s = (const unsigned char *)bytes;
    for (size_t i = 0; left > 0 && i < sizeof forms / sizeof forms[0]; i++) {
        if (s[0] < forms[i].low || s[0] > forms[i].high)
            continue;
        if (forms[i].length > left)
            return 0;
        if (forms[i].length > 1 && (s[1] < forms[i].second_low || s[1] > forms[i].second_high))
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

// The byte order mark, C1 controls, and marks that reverse or hide text on a terminal.
static bool is_invisible(const unsigned char *s, size_t n)
{
    return (n == 2 && s[0] == 0xc2 && s[1] < 0xa1) ||
           (n == 3 && s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf) ||
           (n == 3 && s[0] == 0xe2 && s[1] == 0x80 && (s[2] <= 0x8f || s[2] >= 0xa8)) ||
           (n == 3 && s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf);
}

static size_t escape_one(const unsigned char *s, size_t left, char piece[8], size_t *taken)
{
    size_t n = ps_utf8_length((const char *)s, left);
    n = is_invisible(s, n) ? 0 : n;
    *taken = n > 0 ? n : 1;
    if (n > 1) {
        memcpy(piece, s, n);
        return n;
    }
    const char *names = "\nn\tt\rr\\\\";
    for (const char *p = names; *p != '\0'; p += 2)
        if ((unsigned char)*p == s[0])
            return (size_t)sprintf(piece, "\\%c", p[1]);
    if (n == 1 && s[0] >= 0x20 && s[0] != 0x7f) {
        piece[0] = (char)s[0];
        return 1;
    }
    return (size_t)sprintf(piece, "\\x%02X", s[0]);
}

// The escaped text into out, as far as it goes into room bytes; returns how many it took.
// *all_out: that was everything.
static size_t escape_into(const char *bytes, size_t length, char *out, size_t room, bool *all_out)
{
    size_t used = 0, i = 0;
    while (i < length) {
        char piece[8];
        size_t taken;
        size_t n = escape_one((const unsigned char *)bytes + i, length - i, piece, &taken);
        if (used + n > room)
            break;
        memcpy(out + used, piece, n);
        used += n;
        i += taken;
    }
    *all_out = i >= length;
    return used;
}

char *ps_escape(const char *bytes, size_t length, char *out, size_t out_size)
{
    bool all;
    size_t used = escape_into(bytes, length, out, out_size - 1, &all);
    if (!all && out_size >= 4) { // once more, with room for the dots
        used = escape_into(bytes, length, out, out_size - 4, &all);
        memcpy(out + used, "...", 3);
        used += 3;
    }
    out[used] = '\0';
    return out;
}

static const struct {
    const char *name;
    double factor;
} units[] = {
    {"", 1},         {"B", 1},        {"byte", 1},     {"bytes", 1}, {"KiB", 0x1p10},
    {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},  {"KB", 1e3},
    {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
};

// Whole numbers are exact; a fraction of a unit is cut to whole bytes.
static bool scale(const char *digits, double factor, uint64_t *bytes_out)
{
    int64_t whole, bytes;
    double value;
    if (ps_integer_parse(digits, &whole)) {
        if (__builtin_mul_overflow(whole, (int64_t)factor, &bytes))
            return false;
        *bytes_out = (uint64_t)bytes;
        return true;
    }
    if (!ps_number_parse(digits, &value) || factor == 1 || value * factor >= 0x1p63)
        return false;
    *bytes_out = (uint64_t)(value * factor);
    return true;
}

bool ps_size_parse(const char *text, uint64_t *bytes_out)
{
    char digits[40];
    size_t n = strspn(text, "0123456789.");
    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    const char *unit = text + n + strspn(text + n, " ");
    if (*unit == '\0' && text[n] != '\0')
        return false; // a blank at the end
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].name) == 0)
            return scale(digits, units[i].factor, bytes_out);
    return false;
}

char *ps_size_text(uint64_t bytes, char *out, size_t out_size)
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 6) {
        value /= 1024;
        unit++;
    }
    bool whole = value == floor(value);
    snprintf(out, out_size, whole ? "%.0f %s" : "%.1f %s", value,
             bytes == 1 ? "byte" : names[unit]);
    return out;
}

// Digits, not starting with 0 unless that is all ("010" means two things in two YAMLs).
static const char *skip_whole(const char *p)
{
    const char *start = p;
    while (isdigit((unsigned char)*p))
        p++;
    return p - start > 1 && *start == '0' ? NULL : p;
}

bool ps_integer_parse(const char *text, int64_t *value_out)
{
    const char *start = text + (*text == '+' || *text == '-');
    const char *end = skip_whole(start);
    if (end == NULL || end == start || *end != '\0')
        return false;
    int64_t value = 0;
    for (const char *p = start; p < end; p++) {
        int digit = *text == '-' ? -(*p - '0') : *p - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *value_out = value;
    return true;
}

static bool special_number(const char *text, double *value_out)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{".inf", INFINITY}, {"+.inf", INFINITY}, {"-.inf", -INFINITY}, {".nan", NAN},
                 {".Inf", INFINITY}, {"+.Inf", INFINITY}, {"-.Inf", -INFINITY}, {".NaN", NAN},
                 {".INF", INFINITY}, {"+.INF", INFINITY}, {"-.INF", -INFINITY}, {".NAN", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *value_out = words[i].value;
            return true;
        }
    }
    return false;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?   (YAML 1.2.2, 10.3.2)
static bool is_number(const char *p)
{
    p += *p == '+' || *p == '-';
    const char *whole = p;
    p = skip_whole(p);
    if (p == NULL)
        return false;
    bool digits = p > whole;
    if (*p == '.') {
        const char *fraction = ++p;
        while (isdigit((unsigned char)*p))
            p++;
        digits = digits || p > fraction;
    }
    if (!digits)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        const char *exponent = p;
        while (isdigit((unsigned char)*p))
            p++;
        if (p == exponent)
            return false;
    }
    return *p == '\0';
}

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool ps_number_parse(const char *text, double *value_out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (special_number(text, value_out))
        return true;
    if (!is_number(text) || pthread_once(&once, make_locale) != 0 || c_locale == (locale_t)0)
        return false;
    double value = strtod_l(text, NULL, c_locale);
    if (isinf(value))
        return false;
    *value_out = value;
    return true;
}

void ps_number_print(double value, struct ps_text *out)
{
    char text[40];
    double back = 0;
    if (value != value || value - value != 0) {
        ps_text_add(out, value != value ? ".nan" : value > 0 ? ".inf" : "-.inf");
        return;
    }
    for (int digits = 15; digits <= 17 && (digits == 15 || back != value); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        // The locale's decimal point, whatever it is, is all that is neither digit, sign nor e.
        size_t point = strspn(text, "0123456789+-e"), length = strlen(text);
        if (point < length) {
            size_t wide = strcspn(text + point, "0123456789");
            text[point] = '.';
            memmove(text + point + 1, text + point + wide, length - point - wide + 1);
        }
        ps_number_parse(text, &back);
    }
    ps_text_add(out, text);
}

// Optimal string alignment distance (Damerau-Levenshtein with adjacent swaps), capped lengths.
#define WORD_MAX 48
static int distance(const char *a, const char *b)
{
    int la = (int)strnlen(a, WORD_MAX), lb = (int)strnlen(b, WORD_MAX);
    int d[WORD_MAX + 1][WORD_MAX + 1];
    for (int i = 0; i <= la; i++)
        d[i][0] = i;
    for (int j = 0; j <= lb; j++)
        d[0][j] = j;
    for (int i = 1; i <= la; i++) {
        for (int j = 1; j <= lb; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            int best = d[i - 1][j - 1] + (ca != cb);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[la][lb];
}

// One edit in words of up to 4 letters, two up to 7, then three: more would suggest strangers.
static int edits_allowed(size_t a, size_t b)
{
    size_t longer = a > b ? a : b;
    return longer <= 4 ? 1 : longer <= 7 ? 2 : 3;
}

const char *ps_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *near = NULL;
    int best = 4;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(candidates[i]), own = strlen(word);
        int edits = distance(word, candidates[i]);
        bool something_left = edits == 0 || (size_t)edits < (own > length ? own : length);
        if (edits < best && edits <= edits_allowed(own, length) && something_left) {
            best = edits;
            near = candidates[i];
        }
    }
    return near;
}

char *ps_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

char *ps_path_join(const char *folder, const char *path)
{
    if (path[0] == '/' || folder == NULL || folder[0] == '\0')
        return ps_strdup(path);
    size_t size = strlen(folder) + strlen(path) + 2;
    char *joined = malloc(size);
    if (joined != NULL)
        snprintf(joined, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                 path);
    return joined;
}
