// SPDX-License-Identifier: Apache-2.0
// From the bytes of a CSV file to records of fields, by libcsv, with the line each record starts
// on. Rules: RFC 4180; records end at LF, CRLF or CR; blank lines are no records; a quote inside an
// unquoted field is an ordinary character, text behind a closing quote is an error; a byte order
// mark at the start is skipped.
#ifndef PS_IO_CSV_SCAN_H
#define PS_IO_CSV_SCAN_H

#include "base/error.h"
#include "io/byte_reader.h"

#include <csv.h>
#include <stddef.h>
#include <stdint.h>

#define PS_CSV_RECORD_BYTES_MAX (64u << 20) // a longer record is taken for an unclosed quote

// Where in a field the scan stands: only then is it known which quotes mean something.
enum ps_csv_place { PS_CSV_START, PS_CSV_PLAIN, PS_CSV_QUOTED, PS_CSV_CLOSED };

struct ps_csv_scan {
    // Set by the caller:
    const char *path;
    char separator, quote;
    int comment;       // a byte, or -1
    int64_t skip_lines;
    // Called for every field, then for every record; false ends the scan with *error filled in.
    bool (*field)(void *context, const char *text, size_t length, struct ps_error *error);
    bool (*record)(void *context, struct ps_error *error);
    void *context;

    int64_t line;        // of the record that is being read, from 1
    // Private:
    struct csv_parser parser;
    struct ps_byte_reader *bytes;
    enum ps_csv_place place;
    bool parser_open, at_end, in_record, failed;
    bool in_skipped; // within a comment that is longer than the buffer
    int64_t next_line;
    uint64_t record_bytes;
    char *buffer;
    size_t begin, end; // unread bytes in the buffer
    struct ps_error *error;
};

// Opens the file and looks at its start: empty, UTF-16 is refused by name.
bool ps_csv_scan_open(struct ps_csv_scan *scan, struct ps_error *error);
// Scans about one buffer of bytes further. *more_out: false at the end of the file.
bool ps_csv_scan_some(struct ps_csv_scan *scan, bool *more_out, struct ps_error *error);
// From the start again; fails for a pipe.
bool ps_csv_scan_rewind(struct ps_csv_scan *scan, struct ps_error *error);
void ps_csv_scan_close(struct ps_csv_scan *scan);

#endif
