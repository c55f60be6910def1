// SPDX-License-Identifier: Apache-2.0
// The small part of Python literals that .npy headers are made of. Nothing is ever evaluated.
#ifndef PS_IO_NPY_LITERAL_H
#define PS_IO_NPY_LITERAL_H

#include "base/array.h"
#include "base/text.h"

struct ps_literal {
    const char *at, *end, *start;
    const char *path; // for messages
    int major;        // format version: text is Latin-1 before 3, then UTF-8; "3L" before 3
    struct ps_error *error;
};

// "broken npy header at character N: WHAT expected before '...'". Always false.
bool ps_literal_expected(struct ps_literal *p, const char *what);
// All skip blanks first.
bool ps_literal_peek(struct ps_literal *p, char c);
bool ps_literal_take(struct ps_literal *p, char c);
bool ps_literal_word(struct ps_literal *p, const char *word); // and no longer word
bool ps_literal_at_text(struct ps_literal *p);
// A string in either kind of quotes, with Python's escapes, into *out (emptied first) as UTF-8.
bool ps_literal_text(struct ps_literal *p, const char *what, struct ps_text *out);
// A tuple of whole numbers >= 0, appended to dims. "(184)" is refused, as NumPy does.
bool ps_literal_shape(struct ps_literal *p, int *rank, int64_t dims[PS_RANK_MAX]);

#endif
