// SPDX-License-Identifier: Apache-2.0
// From the bytes of a CSV file to records of fields, with the line each record starts on. Knows no
// numbers and no columns. Rules: RFC 4180; records end at LF, CRLF or CR; blank lines are no
// records; a quote inside an unquoted field is an ordinary character, text behind a closing quote
// is an error; a byte order mark at the start is skipped. Lines are counted from 1 as an editor
// counts them, also through line ends in quotes.
#ifndef PS_IO_CSV_SCAN_H
#define PS_IO_CSV_SCAN_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define PS_CSV_RECORD_BYTES_MAX (64u << 20) // a longer record is taken for an unclosed quote

struct ps_csv_dialect {
    char separator;     // ' ' when `blanks`
    bool blanks;        // fields are separated by runs of blanks and tabs; those at the ends of a
                        // line separate nothing
    int quote;          // a byte, or -1: quotes are ordinary characters
    int escape;         // a byte that takes the meaning from the next one, or -1
    int comment;        // lines that begin with this byte are skipped; -1: none
    int64_t skip_lines; // at the start of the file
};

struct ps_csv_field {
    const char *text; // without quotes, escapes taken away; no NUL behind it
    size_t length;
    bool quoted;
};

struct ps_csv_record {
    int64_t line; // it starts on
    int count;
    const struct ps_csv_field *fields;
};

struct ps_csv_scan;

// path is borrowed; "-" is standard input. Empty and UTF-16 files are refused by name. NULL on
// failure.
struct ps_csv_scan *ps_csv_scan_open(const char *path, const struct ps_csv_dialect *dialect,
                                     struct ps_error *error);
// The next record, valid until the next call; *record_out is NULL at the end of the file. Errors
// (PS_INPUT) name the line.
bool ps_csv_scan_next(struct ps_csv_scan *scan, const struct ps_csv_record **record_out,
                      struct ps_error *error);
// From the start again; fails for what can be read only once.
bool ps_csv_scan_rewind(struct ps_csv_scan *scan, struct ps_error *error);
bool ps_csv_scan_is_gzip(const struct ps_csv_scan *scan);
uint64_t ps_csv_scan_taken(const struct ps_csv_scan *scan); // bytes taken from the file so far
// The file as messages name it ("standard input").
const char *ps_csv_scan_name(const struct ps_csv_scan *scan);
void ps_csv_scan_close(struct ps_csv_scan *scan); // NULL is fine

#endif
