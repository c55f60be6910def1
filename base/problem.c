// SPDX-License-Identifier: Apache-2.0
// Collecting faults with places, and printing them as a compiler does.
#include "base/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct ps_problems *problems, bool is_warning, enum ps_status status,
                struct ps_place place, struct ps_inside inside, const char *format,
                va_list arguments)
{
    // Counted even when it is not kept: an error must never pass unnoticed.
    problems->error_count += !is_warning;
    problems->left_out++;
    if (problems->count >= PS_PROBLEMS_MAX)
        return;
    struct ps_problem *list = realloc(problems->list, (problems->count + 1) * sizeof *list);
    if (list == NULL)
        return;
    problems->list = list;
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        return;
    list[problems->count++] = (struct ps_problem){is_warning, status, place, inside, text};
    problems->left_out--;
}

void ps_problem_add(struct ps_problems *problems, enum ps_status status, struct ps_place place,
                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, false, status, place, (struct ps_inside){0}, format, arguments);
    va_end(arguments);
}

void ps_problem_add_inside(struct ps_problems *problems, enum ps_status status,
                           struct ps_place place, struct ps_inside inside, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, false, status, place, inside, format, arguments);
    va_end(arguments);
}

void ps_problem_warn(struct ps_problems *problems, struct ps_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, true, PS_OK, place, (struct ps_inside){0}, format, arguments);
    va_end(arguments);
}

void ps_problems_free(struct ps_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        free(problems->list[i].text);
    free(problems->list);
    *problems = (struct ps_problems){0};
}

enum ps_status ps_problems_status(const struct ps_problems *problems)
{
    enum ps_status status = PS_OK;
    for (size_t i = 0; i < problems->count; i++)
        if (!problems->list[i].is_warning && (status == PS_OK || problems->list[i].status < status))
            status = problems->list[i].status;
    return status == PS_OK && problems->error_count > 0 ? PS_DEVICE : status;
}

struct placed {
    const struct ps_problem *problem;
    struct ps_place place;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->place.source != y->place.source)
        return x->place.source < y->place.source ? -1 : 1;
    if (x->place.line != y->place.line)
        return x->place.line < y->place.line ? -1 : 1;
    if (x->place.column != y->place.column)
        return x->place.column < y->place.column ? -1 : 1;
    return x->problem < y->problem ? -1 : x->problem > y->problem; // as they were found
}

static bool find_line(const struct ps_source *source, int line, const char **start, size_t *length)
{
    const char *p = source->text, *end = source->text + source->length;
    if (source->length >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    for (int i = 1; p != NULL && p < end; i++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (i == line) {
            size_t n = (size_t)((stop ? stop : end) - p);
            *length = n > 0 && p[n - 1] == '\r' ? n - 1 : n;
            *start = p;
            return true;
        }
        p = stop ? stop + 1 : NULL;
    }
    return false;
}

// One character of the source, shown as "?" where a terminal would make something else of it.
static void show(const char *bytes, size_t length, struct ps_text *out)
{
    bool control = length == 1 && ((unsigned char)*bytes < 0x20 || *bytes == 0x7f);
    if (length == 0 || (control && *bytes != '\t'))
        ps_text_add(out, "?");
    else
        ps_text_append(out, bytes, length);
}

// The source line around the place, at most WIDTH characters of it, and carets under the fault.
#define WIDTH 110
static void print_excerpt(const char *line, size_t length, struct ps_place place,
                          struct ps_text *out)
{
    int skip = place.column > WIDTH - 30 ? place.column - 40 : 0;
    struct ps_text marks = {0};
    ps_text_printf(out, "%6d | %s", place.line, skip > 0 ? "..." : "");
    ps_text_add(&marks, skip > 0 ? "       |    " : "       | ");
    int character = 0, carets = 0;
    size_t i = 0;
    while (i < length && character < skip + WIDTH) {
        size_t n = ps_utf8_length(line + i, length - i);
        const char *bytes = line + i;
        i += n > 0 ? n : 1;
        if (++character <= skip)
            continue;
        show(bytes, n, out);
        if (character < place.column)
            ps_text_add(&marks, *bytes == '\t' ? "\t" : " ");
        else if (character < place.column + place.length)
            ps_text_add(&marks, carets++ == 0 ? "^" : "~");
    }
    if (carets == 0)
        ps_text_add(&marks, "^");
    ps_text_printf(out, "%s\n%s\n", i < length ? "..." : "", marks.data ? marks.data : "");
    out->failed = out->failed || marks.failed;
    ps_text_free(&marks);
}

static void print_one(const struct placed *placed, const struct ps_source *sources,
                      size_t source_count, struct ps_text *out)
{
    const struct ps_problem *problem = placed->problem;
    struct ps_place place = placed->place;
    const struct ps_source *source =
        (size_t)place.source < source_count ? &sources[place.source] : NULL;
    if (source != NULL && place.line > 0 && place.source == 0) // a --set is one line: no numbers
        ps_text_printf(out, "%s:%d:%d: ", source->name, place.line, place.column);
    else if (source != NULL)
        ps_text_printf(out, "%s: ", source->name);
    ps_text_printf(out, "%s: %s\n", problem->is_warning ? "warning" : "error", problem->text);
    const char *line;
    size_t length;
    if (source != NULL && place.line > 0 && source->text != NULL &&
        find_line(source, place.line, &line, &length))
        print_excerpt(line, length, place, out);
}

void ps_problems_print(const struct ps_problems *problems, const struct ps_source *sources,
                       size_t source_count, struct ps_text *out)
{
    struct placed *sorted = malloc((problems->count + 1) * sizeof *sorted);
    if (sorted == NULL) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < problems->count; i++) {
        const struct ps_problem *problem = &problems->list[i];
        size_t source = (size_t)problem->place.source;
        sorted[i] = (struct placed){problem, problem->place};
        if (source < source_count)
            sorted[i].place = ps_place_inside(&sources[source], problem->place, problem->inside);
    }
    qsort(sorted, problems->count, sizeof *sorted, by_place);
    for (size_t i = 0; i < problems->count; i++)
        print_one(&sorted[i], sources, source_count, out);
    if (problems->left_out > 0)
        ps_text_printf(out, "and %zu more\n", problems->left_out);
    free(sorted);
}
