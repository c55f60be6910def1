// SPDX-License-Identifier: Apache-2.0
// Where a part of a YAML scalar stands in its source. YAML folds lines, drops indentation and
// escapes characters, but never changes the order of characters that are no white space: so the
// n-th of those in the value is the n-th in the source.
#include "base/problem.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    const char *p, *end;
    char quote;       // " or ', 0 without quotes
    int line, column; // of p
};

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void step(struct walk *w)
{
    unsigned char c = (unsigned char)*w->p++;
    w->line += c == '\n';
    w->column = c == '\n' ? 1 : w->column;
    if (c != '\n' && (w->p == w->end || ((unsigned char)*w->p & 0xc0) != 0x80))
        w->column++;
}

// How many bytes of source the escape \x... takes; *white_out: whether it stands for white space.
static int escape_bytes(const char *p, const char *end, bool *white_out)
{
    char kind = p + 1 < end ? p[1] : '\0';
    int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    char hex[9] = "";
    *white_out = kind == '\0' || strchr("nrt \t\n\r", kind) != NULL;
    if (digits == 0 || end - p < 2 + digits)
        return 2;
    memcpy(hex, p + 2, (size_t)digits);
    unsigned long code = strtoul(hex, NULL, 16);
    *white_out = code < 128 && is_white((char)code);
    return 2 + digits;
}

// Moves past one character of the value; whether it is no white space.
static bool step_character(struct walk *w)
{
    bool white = is_white(*w->p);
    int bytes = 1;
    if (w->quote == '"' && *w->p == '\\')
        bytes = escape_bytes(w->p, w->end, &white);
    else if (w->quote == '\'' && *w->p == '\'')
        bytes = 2;
    for (; bytes > 0 && w->p < w->end; bytes--)
        step(w);
    while (w->p < w->end && ((unsigned char)*w->p & 0xc0) == 0x80)
        step(w);
    return !white;
}

static bool at_end(const struct walk *w)
{
    if (w->p == w->end)
        return true;
    if (w->quote == '"')
        return *w->p == '"';
    return w->quote == '\'' && *w->p == '\'' && (w->p + 1 == w->end || w->p[1] != '\'');
}

static bool begin(struct walk *w, const struct ps_source *source, struct ps_place place)
{
    *w = (struct walk){source->text, source->text + source->length, 0, 1, 1};
    if (source->length >= 3 && memcmp(w->p, "\xEF\xBB\xBF", 3) == 0)
        w->p += 3;
    char before = '\0';
    while (w->p < w->end && (w->line < place.line || w->column < place.column)) {
        before = *w->p;
        step(w);
    }
    if (w->p == w->end || w->line != place.line || w->column != place.column)
        return false;
    if (before == '"' || before == '\'') { // places of YAML scalars are behind the quote
        w->quote = before;
    } else if (*w->p == '"' || *w->p == '\'') {
        w->quote = *w->p;
        step(w);
    }
    return true;
}

struct ps_place ps_place_inside(const struct ps_source *source, struct ps_place place,
                                struct ps_inside inside)
{
    struct walk w, before;
    struct ps_place found = place;
    int seen = 0;
    if (inside.first <= 0 || place.line <= 0 || source->text == NULL || !begin(&w, source, place))
        return place;
    if (inside.count == 0) { // behind the character before
        while (seen < inside.first - 1 && !at_end(&w))
            seen += step_character(&w);
        found.line = w.line;
        found.column = w.column;
        found.length = 1;
        return seen == inside.first - 1 ? found : place;
    }
    while (seen < inside.first + inside.count - 1 && !at_end(&w)) {
        before = w;
        bool counts = step_character(&w);
        seen += counts;
        if (counts && seen == inside.first) {
            found.line = before.line;
            found.column = before.column;
        }
        if (counts && seen >= inside.first && before.line == found.line) // what is on that line
            found.length = w.column - found.column;
    }
    return seen >= inside.first ? found : place;
}

struct ps_inside ps_inside_of(const char *text, int start, int length)
{
    struct ps_inside inside = {.first = 1};
    int at = 0; // characters before p
    for (const char *p = text; *p != '\0'; p++) {
        if (((unsigned char)*p & 0xc0) == 0x80)
            continue;
        inside.first += at < start && !is_white(*p);
        inside.count += at >= start && at < start + length && !is_white(*p);
        at++;
    }
    return inside;
}
