// SPDX-License-Identifier: Apache-2.0
// Random texts of RFC 4180 through the scanner and through libcsv: the same fields. Short texts, and
// ones that lie across the end of the scanner's buffer.
#include "io_help.h"

#include "io/csv_scan.h"

#include <csv.h>

#define BUFFER_BYTES (256 * 1024) // of the scanner

static uint64_t seed = 12345;
static char quote = '"'; // of the text that is being made

static unsigned below(unsigned limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % limit;
}

// ---- Texts ----

static void add_plain(struct ps_text *text, char separator)
{
    static const char bytes[] = "ab1.,;\t \"'-+eE";
    unsigned length = below(6);
    for (unsigned i = 0; i < length; i++) {
        char c = bytes[below(sizeof bytes - 1)];
        if (c == separator || (c == quote && i == 0))
            c = 'x';
        ps_text_append(text, &c, 1);
    }
}

static void add_quoted(struct ps_text *text, char separator)
{
    const char bytes[] = {'a', '1', '\n', '\r', ' ', separator, quote};
    unsigned length = below(8);
    ps_text_append(text, &quote, 1);
    for (unsigned i = 0; i < length; i++) {
        char c = bytes[below(sizeof bytes)];
        ps_text_append(text, &c, 1);
        if (c == quote)
            ps_text_append(text, &c, 1);
    }
    ps_text_append(text, &quote, 1);
}

static void add_record(struct ps_text *text, char separator)
{
    static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n", "\r\n\r\n"};
    unsigned fields = 1 + below(4);
    for (unsigned f = 0; f < fields; f++) {
        if (f > 0)
            ps_text_append(text, &separator, 1);
        // A record of one empty field would be a blank line.
        if (below(3) == 0)
            add_quoted(text, separator);
        else
            add_plain(text, separator);
    }
    ps_text_add(text, ends[below(5)]);
}

static void make_text(struct ps_text *text, char separator, bool large)
{
    text->length = 0;
    if (large) {
        // One long record, so that the next ones lie about the buffer's end.
        size_t length = BUFFER_BYTES - 3 - below(60);
        while (text->length < length)
            ps_text_add(text, "x");
        ps_text_add(text, "\n");
    }
    unsigned records = 1 + below(6);
    for (unsigned r = 0; r < records; r++)
        add_record(text, separator);
    if (below(3) == 0) // no end behind the last line
        while (text->length > 0 && strchr("\r\n", text->data[text->length - 1]) != NULL)
            text->length--;
}

// ---- Two readings, each as one line per record with its fields in brackets ----

struct reading {
    struct ps_text text;
    int fields;
};

static void put_field(struct reading *reading, const char *text, size_t length)
{
    ps_text_add(&reading->text, "[");
    ps_text_append(&reading->text, text, length);
    ps_text_add(&reading->text, "]");
    reading->fields++;
}

static void end_record(struct reading *reading)
{
    ps_text_add(&reading->text, "\x1e");
    reading->fields = 0;
}

static void on_field(void *text, size_t length, void *context)
{
    put_field(context, text != NULL ? text : "", length);
}

static void on_record(int terminator, void *context)
{
    (void)terminator;
    end_record(context);
}

static int never_space(unsigned char c)
{
    (void)c;
    return 0;
}

static void by_libcsv(const struct ps_text *text, char separator, struct reading *reading)
{
    struct csv_parser parser;
    CU_ASSERT_EQUAL_FATAL(csv_init(&parser, CSV_STRICT_FINI), 0);
    csv_set_delim(&parser, (unsigned char)separator);
    csv_set_quote(&parser, (unsigned char)quote);
    csv_set_space_func(&parser, never_space);
    CU_ASSERT_EQUAL(csv_parse(&parser, text->data, text->length, on_field, on_record, reading),
                    text->length);
    CU_ASSERT_EQUAL(csv_fini(&parser, on_field, on_record, reading), 0);
    csv_free(&parser);
}

static bool by_scanner(const char *path, char separator, struct reading *reading)
{
    struct ps_csv_dialect dialect = {
        .separator = separator, .quote = (unsigned char)quote, .escape = -1, .comment = -1};
    struct ps_error error = {0};
    const struct ps_csv_record *record = NULL;
    struct ps_csv_scan *scan = ps_csv_scan_open(path, &dialect, &error);
    bool fine = scan != NULL;
    while (fine && (fine = ps_csv_scan_next(scan, &record, &error)) && record != NULL) {
        for (int i = 0; i < record->count; i++)
            put_field(reading, record->fields[i].text, record->fields[i].length);
        end_record(reading);
    }
    if (!fine)
        fprintf(stderr, "\n  %s\n", error.text);
    ps_csv_scan_close(scan);
    return fine;
}

static void compare(unsigned times, bool large)
{
    struct ps_text text = {0};
    struct reading ours = {0}, theirs = {0};
    for (unsigned i = 0; i < times; i++) {
        char separator = ",;\t"[below(3)];
        quote = "\"'"[below(2)];
        make_text(&text, separator, large);
        if (text.length == 0)
            continue;
        unlink(help_path("random.csv"));
        CU_ASSERT_FATAL(help_file(help_path("random.csv"), text.data, text.length));
        ours.text.length = theirs.text.length = 0;
        by_libcsv(&text, separator, &theirs);
        CU_ASSERT(by_scanner(help_path("random.csv"), separator, &ours));
        bool same = ours.text.length == theirs.text.length &&
                    (ours.text.length == 0 ||
                     memcmp(ours.text.data, theirs.text.data, ours.text.length) == 0);
        if (!same && !large)
            fprintf(stderr, "\n  %.*s\n  %.*s\n  %.*s\n", (int)text.length, text.data,
                    (int)ours.text.length, ours.text.data, (int)theirs.text.length,
                    theirs.text.data);
        CU_ASSERT(same);
    }
    ps_text_free(&text);
    ps_text_free(&ours.text);
    ps_text_free(&theirs.text);
}

static void short_texts(void)
{
    compare(3000, false);
}

static void across_the_buffer(void)
{
    compare(60, true);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"short texts", short_texts},
        {"across the buffer's end", across_the_buffer},
        {NULL, NULL},
    };
    return help_finish(check_main("csv_random", tests));
}
