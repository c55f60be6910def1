// SPDX-License-Identifier: Apache-2.0
// Small text helpers shared by messages and parsers. Locale never matters here.
#ifndef PS_BASE_TEXT_H
#define PS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A growing string. Zero-initialise; free with ps_text_free. Running out of memory sets
// `failed` and later appends do nothing, so one check at the end suffices.
struct ps_text {
    char *data; // NUL-terminated when length > 0; may be NULL when empty
    size_t length;
    size_t capacity;
    bool failed;
};

void ps_text_append(struct ps_text *text, const char *bytes, size_t length);
void ps_text_add(struct ps_text *text, const char *string);
void ps_text_printf(struct ps_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ps_text_free(struct ps_text *text);

// Copies bytes as printable text: control and non-UTF-8 bytes become \n, \t, \xNN. Cut with
// "..." when longer than out_size - 1. Returns out. For names and file content in messages.
char *ps_escape(const char *bytes, size_t length, char *out, size_t out_size);

// Length of the well-formed UTF-8 character (RFC 3629) at bytes, 0 when there is none.
size_t ps_utf8_length(const char *bytes, size_t left);

// "64 MiB", "64MiB", "1.5 GB", "4096" (bytes). KiB/MiB/GiB/TiB and KB/MB/GB/TB; units are
// required to be spelled exactly. Whole numbers are exact, a fraction of a unit (not of a byte)
// is cut to whole bytes. False on anything else.
bool ps_size_parse(const char *text, uint64_t *bytes_out);
// "64 MiB", "1.5 GiB", "12 bytes" for people. Returns out (at least 32 bytes).
char *ps_size_text(uint64_t bytes, char *out, size_t out_size);

// Strict whole-string numbers, no surrounding blanks, '.' as decimal point, any locale.
// YAML 1.2 core forms: +-digits, fractions, exponents, .inf, .nan. "010" is refused, and so is
// what a double cannot hold (1e999). *value_out changes on success only.
bool ps_integer_parse(const char *text, int64_t *value_out);
bool ps_number_parse(const char *text, double *value_out);

// The shortest text that ps_number_parse reads back as the same value ("0.1", "1e+22", ".inf").
void ps_number_print(double value, struct ps_text *out);

// The candidate nearest to word by edits (insert, delete, replace, swap), or NULL when none is
// near enough to be worth a "did you mean".
const char *ps_nearest(const char *word, const char *const *candidates, size_t count);

char *ps_strdup(const char *text);                       // NULL when out of memory
char *ps_path_join(const char *folder, const char *path); // absolute path wins; owned by caller

#endif
