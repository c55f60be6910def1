// SPDX-License-Identifier: Apache-2.0
// Problems: a list of faults with places in a text, so that all errors of a config come out in
// one run, printed as a compiler does.
#ifndef PS_BASE_PROBLEM_H
#define PS_BASE_PROBLEM_H

#include "base/error.h"
#include "base/text.h"

// Where something is written. line and column count from 1, column in characters; length in
// characters, 0 when unknown. line 0: nowhere (a default, or the whole file).
// `source` selects the text: 0 the config file, i > 0 the i-th --set argument.
struct ps_place {
    int source;
    int line;
    int column;
    int length;
};

// A part of the value at a place, for values that go over lines or have escapes: `count` characters
// from number `first` (from 1) on, of those that are no white space. count 0: what comes right
// behind the one before. first 0: the whole value.
struct ps_inside {
    int first, count;
};

struct ps_problem {
    bool is_warning;
    enum ps_status status;
    struct ps_place place;
    struct ps_inside inside;
    char *text;
};

struct ps_problems {
    struct ps_problem *list;
    size_t count;
    size_t error_count; // all errors, also those left out
    size_t left_out;    // beyond PS_PROBLEMS_MAX, or for want of memory
};

#define PS_PROBLEMS_MAX 1000

void ps_problem_add(struct ps_problems *problems, enum ps_status status, struct ps_place place,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
void ps_problem_warn(struct ps_problems *problems, struct ps_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// About a part of the value at place, which is shown where the sources are known.
void ps_problem_add_inside(struct ps_problems *problems, enum ps_status status,
                           struct ps_place place, struct ps_inside inside, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void ps_problems_free(struct ps_problems *problems);

// A source text that places refer to.
struct ps_source {
    const char *name; // "job.yaml", "--set run.blok=3"
    const char *text;
    size_t length;
};

// Characters [start, start + length) of the value `text`.
struct ps_inside ps_inside_of(const char *text, int start, int length);
// Where the part of the value stands in its source; `place` itself when it is not found.
struct ps_place ps_place_inside(const struct ps_source *source, struct ps_place place,
                                struct ps_inside inside);

// Sorted by place: "job.yaml:7:22: error: ...", the line, and ^~~~ under the text. Long lines are
// cut around the fault; bytes that are no printable UTF-8 show as "?".
void ps_problems_print(const struct ps_problems *problems, const struct ps_source *sources,
                       size_t source_count, struct ps_text *out);
// The most serious status among the errors; PS_OK when there are none. PS_USAGE goes first.
enum ps_status ps_problems_status(const struct ps_problems *problems);

#endif
