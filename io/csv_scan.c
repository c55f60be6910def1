// SPDX-License-Identifier: Apache-2.0
// One pass over the bytes finds where fields begin and end; a record that is not complete in the
// buffer goes on where it stopped when more bytes are there. Quotes and escapes are taken away only
// when the record is complete, in place.
#include "io/csv_scan.h"

#include "io/byte_reader.h"
#include "io/file.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (256u << 10)

enum { ORDINARY, QUOTE, SEPARATOR, ESCAPE, LINE_FEED, CARRIAGE_RETURN, NUL };

// Where the scan stands: only then is it known which bytes mean something.
enum place { AT_START, IN_PLAIN, IN_QUOTED, BEHIND_QUOTE };

// A field as it lies in the buffer, counted from the record's start.
struct span {
    size_t begin, end;
    bool quoted;
    bool changed; // has doubled quotes or escapes to be taken away
};

struct ps_csv_scan {
    const char *name;
    struct ps_csv_dialect dialect;
    unsigned char class[256];
    struct ps_byte_reader *bytes;
    bool at_end; // no bytes behind those in the buffer
    char *buffer;
    size_t capacity, begin, end; // begin: of the record that is being read
    size_t at;                   // the next byte to look at, counted from begin
    enum place place;
    int64_t line, lines; // of the record; line ends met in it so far
    int span_count, span_capacity;
    struct span *spans;
    struct ps_csv_field *fields;
    struct ps_csv_record record;
};

// ---- The file ----

static bool grow_buffer(struct ps_csv_scan *scan, struct ps_error *error)
{
    if (scan->capacity > PS_CSV_RECORD_BYTES_MAX)
        return ps_fail(error, PS_INPUT,
                       "%s, line %lld: a record of more than %u MiB; is a quote never closed?",
                       scan->name, (long long)scan->line, PS_CSV_RECORD_BYTES_MAX >> 20);
    char *buffer = realloc(scan->buffer, 2 * scan->capacity);
    if (buffer == NULL)
        return ps_fail_memory(error, 2 * scan->capacity, "a long CSV record");
    scan->buffer = buffer;
    scan->capacity *= 2;
    return true;
}

// More bytes behind those of the record that is being read; sets at_end when there are none.
static bool fill(struct ps_csv_scan *scan, struct ps_error *error)
{
    memmove(scan->buffer, scan->buffer + scan->begin, scan->end - scan->begin);
    scan->end -= scan->begin;
    scan->begin = 0;
    if (scan->end > scan->capacity / 2 && !grow_buffer(scan, error))
        return false;
    size_t got = 0, room = scan->capacity - scan->end;
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
        return ps_fail(
            error, PS_INPUT,
            "%s is UTF-16 text (byte order mark %02X %02X); convert it to UTF-8: iconv -f "
            "UTF-16 -t UTF-8",
            scan->name, s[0], s[1]);
    if (n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0)
        scan->begin = 3;
    if (scan->begin == n && scan->at_end)
        return ps_fail(error, PS_INPUT, "%s is empty: no header and no rows", scan->name);
    return true;
}

static bool start(struct ps_csv_scan *scan, struct ps_error *error)
{
    scan->begin = scan->end = scan->at = 0;
    scan->at_end = false;
    scan->line = 1;
    scan->lines = 0;
    return fill(scan, error) && check_start(scan, error);
}

static void set_classes(struct ps_csv_scan *scan)
{
    const struct ps_csv_dialect *dialect = &scan->dialect;
    scan->class[0] = NUL;
    scan->class['\n'] = LINE_FEED;
    scan->class['\r'] = CARRIAGE_RETURN;
    scan->class[(unsigned char)dialect->separator] = SEPARATOR;
    if (dialect->blanks)
        scan->class[' '] = scan->class['\t'] = SEPARATOR;
    if (dialect->quote >= 0)
        scan->class[dialect->quote] = QUOTE;
    if (dialect->escape >= 0)
        scan->class[dialect->escape] = ESCAPE;
}

struct ps_csv_scan *ps_csv_scan_open(const char *path, const struct ps_csv_dialect *dialect,
                                     struct ps_error *error)
{
    struct ps_csv_scan *scan = calloc(1, sizeof *scan);
    if (scan == NULL) {
        ps_fail_memory(error, sizeof *scan, "a CSV reader");
        return NULL;
    }
    scan->name = ps_path_shown(path);
    scan->dialect = *dialect;
    scan->capacity = BUFFER_BYTES;
    set_classes(scan);
    scan->buffer = malloc(BUFFER_BYTES);
    if (scan->buffer == NULL)
        ps_fail_memory(error, BUFFER_BYTES, "a CSV reader");
    else
        scan->bytes = ps_byte_reader_open(path, PS_PACKING_AUTO, error);
    if (scan->bytes != NULL && start(scan, error))
        return scan;
    ps_csv_scan_close(scan);
    return NULL;
}

bool ps_csv_scan_rewind(struct ps_csv_scan *scan, struct ps_error *error)
{
    return ps_byte_reader_rewind(scan->bytes, error) && start(scan, error);
}

void ps_csv_scan_close(struct ps_csv_scan *scan)
{
    if (scan == NULL)
        return;
    ps_byte_reader_close(scan->bytes);
    free(scan->buffer);
    free(scan->spans);
    free(scan->fields);
    free(scan);
}

bool ps_csv_scan_is_gzip(const struct ps_csv_scan *scan)
{
    return ps_byte_reader_is_gzip(scan->bytes);
}

uint64_t ps_csv_scan_taken(const struct ps_csv_scan *scan)
{
    return ps_byte_reader_taken(scan->bytes);
}

const char *ps_csv_scan_name(const struct ps_csv_scan *scan)
{
    return scan->name;
}

// ---- Lines that are no records ----

// Drops bytes up to and with the next line end, or to the end of the file.
static bool drop_line(struct ps_csv_scan *scan, struct ps_error *error)
{
    for (;;) {
        char *from = scan->buffer + scan->begin, *end = scan->buffer + scan->end;
        while (from < end && *from != '\n' && *from != '\r')
            from++;
        scan->begin = (size_t)(from - scan->buffer);
        bool needs_more = from == end || (*from == '\r' && from + 1 == end);
        if (needs_more && !scan->at_end) {
            if (!fill(scan, error))
                return false;
            continue;
        }
        if (from < end)
            scan->begin += 1u + (*from == '\r' && from + 1 < end && from[1] == '\n');
        scan->line += from < end;
        return true;
    }
}

static bool skip_lines(struct ps_csv_scan *scan, struct ps_error *error)
{
    for (;;) {
        if (scan->begin == scan->end && !scan->at_end && !fill(scan, error))
            return false;
        if (scan->begin == scan->end)
            return true;
        int first = (unsigned char)scan->buffer[scan->begin];
        bool skipped = scan->line <= scan->dialect.skip_lines || first == scan->dialect.comment ||
                       first == '\n' || first == '\r';
        if (!skipped)
            return true;
        if (!drop_line(scan, error))
            return false;
    }
}

// ---- Fields ----

static bool add_span(struct ps_csv_scan *scan, struct ps_error *error)
{
    if (scan->span_count == scan->span_capacity) {
        int capacity = 2 * scan->span_capacity + 64;
        struct span *spans = realloc(scan->spans, (size_t)capacity * sizeof *spans);
        if (spans != NULL)
            scan->spans = spans;
        struct ps_csv_field *fields = realloc(scan->fields, (size_t)capacity * sizeof *fields);
        if (fields != NULL)
            scan->fields = fields;
        if (spans == NULL || fields == NULL)
            return ps_fail_memory(error, (size_t)capacity * sizeof *spans,
                                  "fields of a CSV record");
        scan->span_capacity = capacity;
    }
    scan->spans[scan->span_count] = (struct span){.begin = scan->at, .end = scan->at};
    scan->span_count++;
    return true;
}

static bool nul_byte(const struct ps_csv_scan *scan, struct ps_error *error)
{
    int64_t line = scan->line + scan->lines;
    return ps_fail(error, PS_INPUT, "%s, line %lld: a NUL byte%s", scan->name, (long long)line,
                   line == 1 ? " (is the file UTF-16? convert it to UTF-8)" : "");
}

// What stops a step: a record is complete, more bytes are needed, or the file is wrong.
enum outcome { GOES_ON, COMPLETE, NEEDS_BYTES, WRONG };

// A CR is a line end of its own only when it is known that no LF follows.
static bool is_half_line_end(const struct ps_csv_scan *scan, const char *p, const char *end)
{
    return *p == '\r' && p + 1 == end && !scan->at_end;
}

static enum outcome end_line(struct ps_csv_scan *scan, const char *p, const char *end)
{
    if (is_half_line_end(scan, p, end))
        return NEEDS_BYTES;
    scan->at += 1u + (*p == '\r' && p + 1 < end && p[1] == '\n');
    scan->lines++;
    return COMPLETE;
}

static enum outcome start_field(struct ps_csv_scan *scan, const char *p, const char *end,
                                struct ps_error *error)
{
    if (scan->dialect.blanks && (*p == ' ' || *p == '\t')) {
        scan->at++;
        return GOES_ON;
    }
    if (scan->dialect.blanks && (*p == '\n' || *p == '\r') && scan->span_count > 0)
        return end_line(scan, p, end); // no field behind the last blanks
    if (!add_span(scan, error))
        return WRONG;
    bool quoted = scan->class[(unsigned char)*p] == QUOTE;
    scan->spans[scan->span_count - 1].quoted = quoted;
    scan->spans[scan->span_count - 1].begin += quoted;
    scan->at += quoted;
    scan->place = quoted ? IN_QUOTED : IN_PLAIN;
    return GOES_ON;
}

// From p, which is behind a field, over what follows it.
static enum outcome end_field(struct ps_csv_scan *scan, const char *p, const char *end)
{
    if (*p == '\n' || *p == '\r')
        return end_line(scan, p, end);
    scan->at++; // the separator
    scan->place = AT_START;
    return GOES_ON;
}

// The byte behind an escape means nothing, but line ends are counted and NULs refused.
static bool pass_escaped(struct ps_csv_scan *scan, const char *p, const char *end,
                         struct ps_error *error)
{
    if (*p == '\0')
        return nul_byte(scan, error);
    scan->lines += *p == '\n' || (*p == '\r' && !(p + 1 < end && p[1] == '\n'));
    scan->spans[scan->span_count - 1].changed = true;
    return true;
}

static enum outcome scan_plain(struct ps_csv_scan *scan, const char *record, const char *end,
                               struct ps_error *error)
{
    const char *p = record + scan->at;
    for (;; p += 2) {
        while (p < end && scan->class[(unsigned char)*p] <= QUOTE)
            p++;
        scan->at = (size_t)(p - record);
        if (p == end)
            return NEEDS_BYTES;
        if (scan->class[(unsigned char)*p] != ESCAPE)
            break;
        if (end - p < 3 && !scan->at_end)
            return NEEDS_BYTES;
        if (end - p < 2)
            return NEEDS_BYTES; // the last byte of the file
        if (!pass_escaped(scan, p + 1, end, error))
            return WRONG;
    }
    if (*p == '\0')
        return nul_byte(scan, error), WRONG;
    scan->spans[scan->span_count - 1].end = scan->at;
    return end_field(scan, p, end);
}

static enum outcome scan_quoted(struct ps_csv_scan *scan, const char *record, const char *end,
                                struct ps_error *error)
{
    struct span *span = &scan->spans[scan->span_count - 1];
    for (const char *p = record + scan->at;; p++) {
        while (p < end && (scan->class[(unsigned char)*p] == ORDINARY ||
                           scan->class[(unsigned char)*p] == SEPARATOR))
            p++;
        scan->at = (size_t)(p - record);
        if (p == end || (end - p < 3 && !scan->at_end))
            return NEEDS_BYTES; // the next bytes tell what a quote, an escape, a CR is
        switch (scan->class[(unsigned char)*p]) {
        case NUL:
            return nul_byte(scan, error), WRONG;
        case LINE_FEED:
            scan->lines++;
            break;
        case CARRIAGE_RETURN:
            scan->lines += p + 1 == end || p[1] != '\n';
            break;
        case ESCAPE:
            if (p + 1 == end)
                return NEEDS_BYTES;
            if (!pass_escaped(scan, ++p, end, error))
                return WRONG;
            break;
        default: // a quote
            if (p + 1 < end && p[1] == *p) {
                span->changed = true;
                p++;
                break;
            }
            span->end = scan->at++;
            scan->place = BEHIND_QUOTE;
            return GOES_ON;
        }
    }
}

static enum outcome scan_behind_quote(struct ps_csv_scan *scan, const char *p, const char *end,
                                      struct ps_error *error)
{
    int class = scan->class[(unsigned char)*p];
    if (class == SEPARATOR || class == LINE_FEED || class == CARRIAGE_RETURN)
        return end_field(scan, p, end);
    ps_fail(
        error, PS_INPUT,
        "%s, line %lld: text behind the closing quote of a field; a quote inside a quoted field is "
        "written twice",
        scan->name, (long long)(scan->line + scan->lines));
    return WRONG;
}

static enum outcome scan_step(struct ps_csv_scan *scan, struct ps_error *error)
{
    const char *record = scan->buffer + scan->begin, *end = scan->buffer + scan->end;
    if (record + scan->at == end)
        return NEEDS_BYTES;
    switch (scan->place) {
    case AT_START:
        return start_field(scan, record + scan->at, end, error);
    case IN_PLAIN:
        return scan_plain(scan, record, end, error);
    case IN_QUOTED:
        return scan_quoted(scan, record, end, error);
    default:
        return scan_behind_quote(scan, record + scan->at, end, error);
    }
}

// ---- Records ----

// The file ended within a record: the last line needs no end.
static enum outcome end_file(struct ps_csv_scan *scan, struct ps_error *error)
{
    if (scan->place == IN_QUOTED) {
        ps_fail(error, PS_INPUT, "%s: a quote opened in the record at line %lld is never closed",
                scan->name, (long long)scan->line);
        return WRONG;
    }
    if (scan->place == AT_START && !(scan->dialect.blanks && scan->span_count > 0) &&
        !add_span(scan, error))
        return WRONG;
    if (scan->place == IN_PLAIN) {
        scan->at = scan->end - scan->begin; // also past an escape that stands last
        scan->spans[scan->span_count - 1].end = scan->at;
    }
    return COMPLETE;
}

// Takes doubled quotes and escapes away, in place.
static size_t clean_field(const struct ps_csv_scan *scan, char *text, size_t length, bool quoted)
{
    size_t to = 0;
    for (size_t from = 0; from < length; from++) {
        int class = scan->class[(unsigned char)text[from]];
        bool dropped = class == ESCAPE || (quoted && class == QUOTE);
        from += dropped && from + 1 < length;
        text[to++] = text[from];
    }
    return to;
}

static void make_record(struct ps_csv_scan *scan)
{
    for (int i = 0; i < scan->span_count; i++) {
        const struct span *span = &scan->spans[i];
        char *text = scan->buffer + scan->begin + span->begin;
        size_t length = span->end - span->begin;
        if (span->changed)
            length = clean_field(scan, text, length, span->quoted);
        scan->fields[i] = (struct ps_csv_field){text, length, span->quoted};
    }
    scan->record = (struct ps_csv_record){
        .line = scan->line, .count = scan->span_count, .fields = scan->fields};
    scan->begin += scan->at;
    scan->line += scan->lines;
}

// A line of blanks alone is blank where blanks separate.
static bool is_blank_line(const struct ps_csv_scan *scan)
{
    return scan->dialect.blanks && scan->span_count == 1 && !scan->spans[0].quoted &&
           scan->spans[0].begin == scan->spans[0].end;
}

bool ps_csv_scan_next(struct ps_csv_scan *scan, const struct ps_csv_record **record_out,
                      struct ps_error *error)
{
    *record_out = NULL;
    do {
        if (!skip_lines(scan, error))
            return false;
        if (scan->begin == scan->end)
            return true;
        scan->at = 0;
        scan->lines = 0;
        scan->span_count = 0;
        scan->place = AT_START;
        enum outcome outcome = GOES_ON;
        while (outcome != COMPLETE) {
            outcome = scan_step(scan, error);
            if (outcome == NEEDS_BYTES)
                outcome = scan->at_end        ? end_file(scan, error)
                          : fill(scan, error) ? GOES_ON
                                              : WRONG;
            if (outcome == WRONG)
                return false;
        }
        make_record(scan);
    } while (is_blank_line(scan));
    *record_out = &scan->record;
    return true;
}
