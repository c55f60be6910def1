// SPDX-License-Identifier: Apache-2.0
// Growing strings, escaping, sizes, strict numbers, nearest words.
#include "base/text.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
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

// Length of the well-formed UTF-8 sequence at s (RFC 3629), 0 when there is none.
static size_t utf8_length(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
               : (s[0] & 0xf0) == 0xe0        ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    // U+FEFF is printable nowhere: shown escaped. So are the C1 controls.
    bool invisible =
        (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf) || (s[0] == 0xc2 && s[1] < 0xa1);
    return overlong || beyond || invisible ? 0 : n;
}

static size_t escape_one(const unsigned char *s, size_t left, char piece[8], size_t *taken)
{
    size_t n = utf8_length(s, left);
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

char *ps_escape(const char *bytes, size_t length, char *out, size_t out_size)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        char piece[8];
        size_t taken;
        size_t n = escape_one((const unsigned char *)bytes + i, length - i, piece, &taken);
        bool last = i + taken >= length;
        if (used + n + (last ? 1 : 4) > out_size) {
            if (used + 4 <= out_size) {
                memcpy(out + used, "...", 3);
                used += 3;
            }
            break;
        }
        memcpy(out + used, piece, n);
        used += n;
        i += taken;
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

bool ps_size_parse(const char *text, uint64_t *bytes_out)
{
    char digits[40];
    size_t n = strspn(text, "0123456789.");
    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    double value;
    if (!ps_number_parse(digits, &value))
        return false;
    const char *unit = text + n + strspn(text + n, " ");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) != 0)
            continue;
        double bytes = value * units[i].factor;
        if (bytes >= 0x1p63 || bytes != floor(bytes))
            return false;
        *bytes_out = (uint64_t)bytes;
        return true;
    }
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
    snprintf(out, out_size, whole ? "%.0f %s" : "%.1f %s", value, names[unit]);
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

bool ps_number_parse(const char *text, double *value_out)
{
    if (special_number(text, value_out))
        return true;
    if (!is_number(text))
        return false;
    static locale_t c_locale; // made once; a second one made by a race is merely kept
    if (c_locale == (locale_t)0)
        c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *value_out = strtod_l(text, NULL, c_locale);
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

const char *ps_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    int best = length <= 2 ? 2 : length <= 5 ? 3 : 4; // one more than what is still near
    const char *near = NULL;
    for (size_t i = 0; i < count; i++) {
        int edits = distance(word, candidates[i]);
        if (edits < best && (size_t)edits < length + (edits == 0)) {
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
