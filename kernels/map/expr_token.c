// SPDX-License-Identifier: Apache-2.0
// Tokens of expressions, and faults at them.
#include "kernels/map/expr_parser.h"

#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int characters(const char *text, size_t bytes)
{
    int count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

int ps_parse_fail(struct ps_parser *p, size_t start, size_t end, const char *format, ...)
{
    if (!p->failed) {
        va_list list;
        p->failed = true;
        p->fault->start = characters(p->text, start);
        p->fault->length = characters(p->text + start, end > start ? end - start : 1);
        va_start(list, format);
        vsnprintf(p->fault->text, sizeof p->fault->text, format, list);
        va_end(list);
    }
    return -1;
}

static size_t number_size(const char *s, bool *whole)
{
    size_t n = strspn(s, "0123456789");
    *whole = true;
    if (s[n] == '.') {
        *whole = false;
        n += 1 + strspn(s + n + 1, "0123456789");
    }
    if (s[n] == 'e' || s[n] == 'E') {
        size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
        size_t digits = strspn(s + n + 1 + sign, "0123456789");
        if (digits > 0) {
            *whole = false;
            n += 1 + sign + digits;
        }
    }
    return n;
}

static int two_characters(const char *s)
{
    static const char *const pairs[] = {"//D", "**P", "==E", "!=N", "<=L", ">=G", "<<l", ">>r"};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (s[0] == pairs[i][0] && s[1] == pairs[i][1])
            return pairs[i][2];
    return 0;
}

void ps_parse_next(struct ps_parser *p)
{
    p->last_end = p->at + p->size;
    p->at = p->last_end + strspn(p->text + p->last_end, " \t\r\n");
    const char *s = p->text + p->at;
    bool whole;
    p->size = 1;
    if (*s == '\0') {
        p->token = T_END;
        p->size = 0;
    } else if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
        p->size = number_size(s, &whole);
        p->token = whole ? T_INTEGER : T_NUMBER;
    } else if (isalpha((unsigned char)*s) || *s == '_') {
        p->token = T_NAME;
        while (isalnum((unsigned char)s[p->size]) || s[p->size] == '_')
            p->size++;
    } else if (*s == '"' || *s == '\'') {
        const char *end = strchr(s + 1, *s);
        p->token = end != NULL ? T_STRING : T_BAD;
        p->size = end != NULL ? (size_t)(end - s) + 1 : strlen(s);
    } else if (two_characters(s) != 0) {
        p->token = T_SYMBOL;
        p->symbol = two_characters(s);
        p->size = 2;
    } else {
        p->token = strchr("+-*/%()<>,.[]&|^~", *s) != NULL ? T_SYMBOL : T_BAD;
        p->symbol = (unsigned char)*s;
        while (p->token == T_BAD && ((unsigned char)s[p->size] & 0xc0) == 0x80)
            p->size++;
    }
}

bool ps_parse_is_symbol(const struct ps_parser *p, int symbol)
{
    return p->token == T_SYMBOL && p->symbol == symbol;
}

bool ps_parse_is_word(const struct ps_parser *p, const char *word)
{
    return p->token == T_NAME && strlen(word) == p->size &&
           strncmp(p->text + p->at, word, p->size) == 0;
}

bool ps_parse_accept(struct ps_parser *p, int symbol)
{
    if (!ps_parse_is_symbol(p, symbol))
        return false;
    ps_parse_next(p);
    return true;
}

int ps_parse_unexpected(struct ps_parser *p, const char *wanted)
{
    char shown[80];
    if (p->token == T_END)
        return ps_parse_fail(p, p->at, p->at, "the expression ends here; expected %s", wanted);
    if (p->token == T_BAD && (p->text[p->at] == '"' || p->text[p->at] == '\''))
        return ps_parse_fail(p, p->at, p->at + p->size, "a quote that is never closed");
    ps_escape(p->text + p->at, p->size, shown, sizeof shown);
    const char *hint = "";
    if (p->symbol == '=' && p->token == T_BAD)
        hint = " (equality is ==)";
    else if (p->token == T_BAD && p->symbol == '!')
        hint = " (logic is and, or, not)";
    else if (ps_parse_is_symbol(p, '&') || ps_parse_is_symbol(p, '|'))
        hint = " (logic is and, or, not)";
    return ps_parse_fail(p, p->at, p->at + p->size, "unexpected '%s'; expected %s%s", shown, wanted,
                         hint);
}

bool ps_parse_expect(struct ps_parser *p, int symbol, const char *wanted)
{
    if (ps_parse_accept(p, symbol))
        return true;
    ps_parse_unexpected(p, wanted);
    return false;
}
