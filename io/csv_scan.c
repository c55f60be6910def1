// SPDX-License-Identifier: Apache-2.0
// The file is fed to libcsv line by line, so that its callbacks know the line they are in.
#include "io/csv_scan.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (256u << 10)

// ---- Callbacks of libcsv ----

static void on_field(void *text, size_t length, void *context)
{
    struct ps_csv_scan *scan = context;
    if (!scan->failed && !scan->field(scan->context, text != NULL ? text : "", length, scan->error))
        scan->failed = true;
}

static void on_record(int terminator, void *context)
{
    struct ps_csv_scan *scan = context;
    (void)terminator;
    scan->in_record = false;
    scan->record_bytes = 0;
    if (!scan->failed && !scan->record(scan->context, scan->error))
        scan->failed = true;
}

static int never_space(unsigned char c)
{
    (void)c;
    return 0; // blanks belong to names; numbers are trimmed where they are converted
}

static bool start_parser(struct ps_csv_scan *scan, struct ps_error *error)
{
    if (csv_init(&scan->parser, CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        return ps_fail(error, PS_BUG, "libcsv does not start");
    csv_set_delim(&scan->parser, (unsigned char)scan->separator);
    csv_set_quote(&scan->parser, (unsigned char)scan->quote);
    csv_set_space_func(&scan->parser, never_space);
    scan->parser_open = true;
    return true;
}

// ---- The file ----

static bool fill(struct ps_csv_scan *scan, struct ps_error *error)
{
    if (scan->begin > 0) {
        memmove(scan->buffer, scan->buffer + scan->begin, scan->end - scan->begin);
        scan->end -= scan->begin;
        scan->begin = 0;
    }
    size_t got = 0, room = BUFFER_BYTES - scan->end;
    if (room == 0 || scan->at_end)
        return true;
    if (!ps_byte_reader_read(scan->bytes, scan->buffer + scan->end, room, &got, error))
        return false;
    scan->at_end = got < room;
    scan->end += got;
    return true;
}

static bool check_start(struct ps_csv_scan *scan, struct ps_error *error)
{
    const unsigned char *s = (const unsigned char *)scan->buffer;
    size_t n = scan->end;
    if (n >= 2 && ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff)))
        return ps_fail(error, PS_INPUT, "%s is UTF-16 text (byte order mark %02X %02X); convert it to "
                       "UTF-8: iconv -f UTF-16 -t UTF-8", scan->path, s[0], s[1]);
    if (n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0)
        scan->begin = 3;
    if (scan->begin == n && scan->at_end)
        return ps_fail(error, PS_INPUT, "%s is empty: no header and no rows", scan->path);
    return true;
}

static bool start(struct ps_csv_scan *scan, struct ps_error *error)
{
    scan->begin = scan->end = 0;
    scan->at_end = scan->in_record = scan->in_skipped = scan->failed = false;
    scan->place = PS_CSV_START;
    scan->next_line = 1;
    scan->record_bytes = 0;
    return start_parser(scan, error) && fill(scan, error) && check_start(scan, error);
}

bool ps_csv_scan_open(struct ps_csv_scan *scan, struct ps_error *error)
{
    scan->parser_open = false;
    scan->buffer = malloc(BUFFER_BYTES);
    if (scan->buffer == NULL)
        return ps_fail_memory(error, BUFFER_BYTES, "a CSV reader");
    scan->bytes = ps_byte_reader_open(scan->path, PS_PACKING_AUTO, error);
    if (scan->bytes == NULL)
        return false;
    return start(scan, error);
}

bool ps_csv_scan_rewind(struct ps_csv_scan *scan, struct ps_error *error)
{
    if (!ps_byte_reader_rewind(scan->bytes, error))
        return false;
    if (scan->parser_open)
        csv_free(&scan->parser);
    scan->parser_open = false;
    return start(scan, error);
}

void ps_csv_scan_close(struct ps_csv_scan *scan)
{
    if (scan->parser_open)
        csv_free(&scan->parser);
    ps_byte_reader_close(scan->bytes);
    free(scan->buffer);
    scan->buffer = NULL;
    scan->bytes = NULL;
}

// ---- Scanning ----

#define WINDOW_BYTES 4096u // so that a file without LF (or CR) is not searched through line by line

// Bytes of the next line with its end, or 0 when its end is not in the buffer yet.
static size_t line_size(const struct ps_csv_scan *scan)
{
    const char *from = scan->buffer + scan->begin, *end = scan->buffer + scan->end;
    for (const char *window = from; window < end; window += WINDOW_BYTES) {
        size_t size = (size_t)(end - window) < WINDOW_BYTES ? (size_t)(end - window) : WINDOW_BYTES;
        const char *lf = memchr(window, '\n', size);
        const char *cr = memchr(window, '\r', lf != NULL ? (size_t)(lf - window) : size);
        if (cr == NULL && lf == NULL)
            continue;
        if (cr == NULL)
            return (size_t)(lf - from) + 1;
        if (cr + 1 == end && !scan->at_end)
            return 0; // perhaps a CRLF
        return (size_t)(cr - from) + 1 + (cr + 1 < end && cr[1] == '\n');
    }
    return 0;
}

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

// libcsv would take a quote inside a quoted field for text and read on to the next one, over any
// number of records: it is told from the closing quote here.
static bool check_quotes(struct ps_csv_scan *scan, const char *piece, size_t size,
                         struct ps_error *error)
{
    bool inside = scan->place == PS_CSV_QUOTED || scan->place == PS_CSV_CLOSED;
    if (!inside && memchr(piece, scan->quote, size) == NULL) {
        bool at_start = piece[size - 1] == scan->separator || is_end(piece[size - 1]);
        scan->place = at_start ? PS_CSV_START : PS_CSV_PLAIN;
        return true;
    }
    for (size_t i = 0; i < size; i++) {
        bool quote = piece[i] == scan->quote;
        bool ends = piece[i] == scan->separator || is_end(piece[i]);
        if (scan->place == PS_CSV_QUOTED)
            scan->place = quote ? PS_CSV_CLOSED : PS_CSV_QUOTED;
        else if (quote && scan->place != PS_CSV_PLAIN)
            scan->place = PS_CSV_QUOTED; // opened, or one of a pair
        else if (scan->place == PS_CSV_CLOSED && !ends)
            return ps_fail(error, PS_INPUT, "%s, line %lld: text behind the closing quote of a field; a "
                           "quote inside a quoted field is written twice", scan->path,
                           (long long)scan->next_line);
        else
            scan->place = ends ? PS_CSV_START : PS_CSV_PLAIN;
    }
    return true;
}

// Comments, lines at the start and blank lines.
static bool is_skipped(const struct ps_csv_scan *scan, const char *piece)
{
    return scan->in_skipped || scan->next_line <= scan->skip_lines ||
           (unsigned char)piece[0] == scan->comment || is_end(piece[0]);
}

static bool feed(struct ps_csv_scan *scan, size_t size, bool whole_line, struct ps_error *error)
{
    const char *piece = scan->buffer + scan->begin;
    if (!scan->in_record) {
        scan->line = scan->next_line;
        bool skipped = is_skipped(scan, piece);
        scan->in_skipped = skipped && !whole_line;
        if (skipped)
            return true;
    }
    if (memchr(piece, 0, size) != NULL)
        return ps_fail(error, PS_INPUT, "%s, line %lld: a NUL byte%s", scan->path,
                       (long long)scan->next_line,
                       scan->next_line == 1 ? " (is the file UTF-16? convert it to UTF-8)" : "");
    if (!check_quotes(scan, piece, size, error))
        return false;
    scan->record_bytes += size;
    if (scan->record_bytes > PS_CSV_RECORD_BYTES_MAX)
        return ps_fail(error, PS_INPUT, "%s, line %lld: a record of more than %u MiB; is a quote never "
                       "closed?", scan->path, (long long)scan->line, PS_CSV_RECORD_BYTES_MAX >> 20);
    scan->in_record = true;
    scan->error = error;
    // libcsv's buffer grows by this much each time: doubled, or long fields take quadratic time.
    size_t field_bytes = csv_get_buffer_size(&scan->parser);
    csv_set_blk_size(&scan->parser, field_bytes > 128 ? field_bytes : 128);
    if (csv_parse(&scan->parser, piece, size, on_field, on_record, scan) != size && !scan->failed)
        return ps_fail(error, PS_INPUT, "%s, line %lld: %s", scan->path, (long long)scan->line,
                       csv_strerror(csv_error(&scan->parser)));
    return !scan->failed;
}

static bool finish(struct ps_csv_scan *scan, struct ps_error *error)
{
    scan->error = error;
    // Seen here because libcsv takes the end of the file for the end of the field.
    if (scan->place == PS_CSV_QUOTED || csv_fini(&scan->parser, on_field, on_record, scan) != 0)
        return ps_fail(error, PS_INPUT, "%s: a quote opened in the record at line %lld is never closed",
                       scan->path, (long long)scan->line);
    return !scan->failed;
}

bool ps_csv_scan_some(struct ps_csv_scan *scan, bool *more_out, struct ps_error *error)
{
    *more_out = true;
    if (!fill(scan, error))
        return false;
    if (scan->begin == scan->end) {
        *more_out = false;
        return finish(scan, error);
    }
    for (;;) {
        size_t size = line_size(scan);
        bool whole_line = size > 0;
        if (!whole_line && scan->begin > 0 && !scan->at_end)
            return true; // the rest of the line is read next time
        if (!whole_line)
            size = scan->end - scan->begin; // longer than the buffer, or the last one
        if (size == 0)
            return true;
        // A CR that ends the buffer stays for the next time: its LF may follow.
        if (!whole_line && !scan->at_end && scan->buffer[scan->end - 1] == '\r')
            size--;
        if (!feed(scan, size, whole_line, error))
            return false;
        scan->begin += size;
        scan->next_line += whole_line;
    }
}
