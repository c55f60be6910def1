// SPDX-License-Identifier: Apache-2.0
#include "io/npy_literal.h"

#include <string.h>

static void skip_blanks(struct ps_literal *p)
{
    while (p->at < p->end && strchr(" \t\r\n\f", *p->at) != NULL && *p->at != '\0')
        p->at++;
}

bool ps_literal_expected(struct ps_literal *p, const char *what)
{
    char near[64];
    size_t left = (size_t)(p->end - p->at);
    return ps_fail(p->error, PS_INPUT,
                   "%s: broken npy header at character %zu: %s expected before "
                   "'%s'",
                   p->path, (size_t)(p->at - p->start) + 1, what,
                   ps_escape(p->at, left < 40 ? left : 40, near, sizeof near));
}

bool ps_literal_peek(struct ps_literal *p, char c)
{
    skip_blanks(p);
    return p->at < p->end && *p->at == c;
}

bool ps_literal_take(struct ps_literal *p, char c)
{
    if (!ps_literal_peek(p, c))
        return false;
    p->at++;
    return true;
}

bool ps_literal_word(struct ps_literal *p, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
        return false;
    char next = p->at + n < p->end ? p->at[n] : ' ';
    if (next == '_' || (next >= '0' && next <= '9') || ((next | 32) >= 'a' && (next | 32) <= 'z'))
        return false;
    p->at += n;
    return true;
}

// ---- Text ----

bool ps_literal_at_text(struct ps_literal *p)
{
    bool prefix = ps_literal_peek(p, 'u') && p->at + 1 < p->end; // Python 2's u'text'
    char c = prefix ? p->at[1] : p->at < p->end ? *p->at : ' ';
    return c == '\'' || c == '"';
}

static void add_character(struct ps_text *out, uint32_t code)
{
    char bytes[4];
    if (code < 0x80) {
        bytes[0] = (char)code;
        ps_text_append(out, bytes, 1);
    } else if (code < 0x800) {
        bytes[0] = (char)(0xc0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 63));
        ps_text_append(out, bytes, 2);
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xe0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 63));
        bytes[2] = (char)(0x80 | (code & 63));
        ps_text_append(out, bytes, 3);
    } else {
        bytes[0] = (char)(0xf0 | code >> 18);
        bytes[1] = (char)(0x80 | (code >> 12 & 63));
        bytes[2] = (char)(0x80 | (code >> 6 & 63));
        bytes[3] = (char)(0x80 | (code & 63));
        ps_text_append(out, bytes, 4);
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Behind a backslash. False: none of the escapes that Python's repr() writes.
static bool take_escape(struct ps_literal *p, struct ps_text *out)
{
    static const char letters[] = "\\'\"ntr", meanings[] = "\\'\"\n\t\r";
    if (p->at == p->end || *p->at == '\0')
        return false;
    char kind = *p->at++;
    const char *letter = strchr(letters, kind);
    int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (letter != NULL) {
        add_character(out, (unsigned char)meanings[letter - letters]);
        return true;
    }
    uint32_t code = 0;
    if (digits == 0 || p->end - p->at < digits)
        return false;
    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(*p->at++);
        if (digit < 0)
            return false;
        code = code << 4 | (uint32_t)digit;
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code == 0 || code > 0x10ffff || surrogate)
        return false;
    add_character(out, code);
    return true;
}

// One character as the file has it.
static bool take_plain(struct ps_literal *p, struct ps_text *out)
{
    size_t length = 1;
    if (*p->at == '\n' || *p->at == '\0')
        return false;
    if (p->major < 3)
        add_character(out, (unsigned char)*p->at);
    else if ((length = ps_utf8_length(p->at, (size_t)(p->end - p->at))) > 0)
        ps_text_append(out, p->at, length);
    p->at += length;
    return length > 0;
}

bool ps_literal_text(struct ps_literal *p, const char *what, struct ps_text *out)
{
    out->length = 0;
    if (!ps_literal_at_text(p))
        return ps_literal_expected(p, what);
    const char *start = p->at;
    p->at += *p->at == 'u';
    char quote = *p->at++;
    bool fine = true;
    while (fine && p->at < p->end && *p->at != quote) {
        bool escape = *p->at == '\\';
        p->at += escape;
        fine = escape ? take_escape(p, out) : take_plain(p, out);
    }
    if (!fine || p->at == p->end) {
        p->at = start;
        return ps_literal_expected(p, what);
    }
    p->at++;
    ps_text_append(out, "", 0);
    return !out->failed || ps_fail_memory(p->error, out->length, "a npy header");
}

// ---- Shapes ----

static bool take_size(struct ps_literal *p, int64_t *size_out)
{
    int64_t value = 0;
    skip_blanks(p);
    const char *start = p->at;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value))
            return ps_fail(p->error, PS_INPUT,
                           "%s: an axis of the npy header's shape is larger "
                           "than 2^63",
                           p->path);
    if (p->at == start)
        return ps_literal_expected(p, "a whole number >= 0 in the shape");
    if (p->major < 3 && p->at < p->end && *p->at == 'L')
        p->at++; // Python 2 wrote long integers so
    *size_out = value;
    return true;
}

bool ps_literal_shape(struct ps_literal *p, int *rank, int64_t dims[PS_RANK_MAX])
{
    bool comma = false;
    int count = 0;
    if (!ps_literal_take(p, '('))
        return ps_literal_expected(p, "a shape in parentheses");
    while (!ps_literal_peek(p, ')')) {
        if (count > 0 && !comma)
            return ps_literal_expected(p, "',' or ')'");
        if (*rank == PS_RANK_MAX)
            return ps_fail(p->error, PS_INPUT, "%s: the array has more than %d axes", p->path,
                           PS_RANK_MAX);
        if (!take_size(p, &dims[*rank]))
            return false;
        ++*rank;
        count++;
        comma = ps_literal_take(p, ',');
    }
    p->at++;
    // "(184)" is a number, not a tuple; "(184,)" is meant, but NumPy refuses it as well.
    if (count == 1 && !comma)
        return ps_fail(p->error, PS_INPUT,
                       "%s: the npy header's shape (%lld) is not a tuple; a "
                       "correct writer says (%lld,)",
                       p->path, (long long)dims[*rank - 1], (long long)dims[*rank - 1]);
    return true;
}
