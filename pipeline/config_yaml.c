// SPDX-License-Identifier: Apache-2.0
// YAML text to nodes, through libfyaml's events. Every place comes from byte offsets, so that it
// is right behind UTF-8, tabs and a byte order mark. libfyaml never prints: its messages are
// collected and become problems.
#include "pipeline/config_build.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct ps_build build;
    const struct ps_source *source;
    int source_index;
    size_t start;  // what libfyaml calls offset 0
    size_t origin; // the first column of line 1: behind a byte order mark
    struct ps_problems *problems;
    size_t documents;
    bool ended; // the whole stream was read
    // Where the last place was: places come in order, so the search goes on from there.
    size_t at;
    int line, column;
};

// Steps from the last place to the offset, either way.
static void move_to(struct reader *reader, size_t offset)
{
    const char *text = reader->source->text;
    bool crossed = false;
    while (reader->at > offset) {
        char c = text[--reader->at];
        reader->line -= c == '\n';
        crossed = crossed || c == '\n';
        reader->column -= ((unsigned char)c & 0xc0) != 0x80;
    }
    for (; reader->at < offset; reader->at++) {
        char c = text[reader->at];
        reader->line += c == '\n';
        reader->column = c == '\n' ? 1 : reader->column + (((unsigned char)c & 0xc0) != 0x80);
    }
    if (!crossed)
        return;
    reader->column = 1;
    for (size_t i = offset; i > reader->origin && text[i - 1] != '\n'; i--)
        reader->column += ((unsigned char)text[i - 1] & 0xc0) != 0x80;
}

static struct ps_place place_at(struct reader *reader, size_t offset, size_t end)
{
    const char *text = reader->source->text;
    size_t length = reader->source->length;
    offset = offset > length ? length : offset;
    move_to(reader, offset > reader->origin ? offset : reader->origin);
    struct ps_place place = {reader->source_index, reader->line, reader->column, 0};
    for (size_t i = offset; i < end && i < length && text[i] != '\n' && text[i] != '\r'; i++)
        place.length += ((unsigned char)text[i] & 0xc0) != 0x80;
    place.length += place.length == 0;
    return place;
}

static bool token_place(struct reader *reader, struct fy_token *token, struct ps_place *out)
{
    const struct fy_mark *from = token != NULL ? fy_token_start_mark(token) : NULL;
    const struct fy_mark *to = token != NULL ? fy_token_end_mark(token) : NULL;
    if (from == NULL || from->line < 0)
        return false;
    size_t end = to != NULL && to->line >= 0 ? to->input_pos : from->input_pos;
    *out = place_at(reader, reader->start + from->input_pos, reader->start + end);
    return true;
}

// The last place of the text that holds anything, for faults found at its end.
static struct ps_place end_place(struct reader *reader)
{
    size_t end = reader->source->length;
    while (end > reader->start && strchr(" \t\r\n", reader->source->text[end - 1]) != NULL)
        end--;
    return place_at(reader, end, end);
}

static bool fault(struct reader *reader, struct ps_place place, const char *text)
{
    ps_problem_add(reader->problems, PS_USAGE, place, "%s", text);
    return false;
}

static void refuse_tag(struct reader *reader, struct fy_token *tag)
{
    struct ps_place place;
    if (tag != NULL && token_place(reader, tag, &place))
        fault(reader, place,
              "tags (!name) are refused: a config is plain data; remove the tag, or put the text "
              "in quotes");
}

static struct ps_build_text text_of(struct fy_token *token)
{
    struct ps_build_text text = {NULL, 0};
    if (token != NULL)
        text.text = fy_token_get_text(token, &text.length);
    return text;
}

static bool read_scalar(struct reader *reader, const struct fy_event *event)
{
    struct fy_token *token = event->scalar.value;
    struct ps_place place = {.source = reader->source_index};
    token_place(reader, token, &place);
    struct ps_build_text text = text_of(token);
    if (text.text == NULL) { // nothing was written
        text.text = "";
        text.length = 0;
    }
    enum fy_scalar_style style = token != NULL ? fy_token_scalar_style(token) : FYSS_PLAIN;
    refuse_tag(reader, event->scalar.tag);
    return ps_build_scalar(&reader->build, text, style != FYSS_PLAIN && style != FYSS_ANY,
                           text_of(event->scalar.anchor), place);
}

static bool begin_container(struct reader *reader, enum ps_node_kind kind, struct fy_token *token,
                            struct fy_token *tag, struct fy_token *anchor)
{
    struct ps_place place = {.source = reader->source_index};
    token_place(reader, token, &place);
    place.length = place.length > 1 ? 1 : place.length;
    refuse_tag(reader, tag);
    const struct fy_mark *mark = token != NULL ? fy_token_start_mark(token) : NULL;
    size_t at = mark != NULL ? reader->start + mark->input_pos : reader->source->length;
    bool braces = at < reader->source->length && reader->source->text[at] == '{';
    return ps_build_begin(&reader->build, kind, braces, text_of(anchor), place);
}

static bool read_alias(struct reader *reader, const struct fy_event *event)
{
    struct ps_place place = {.source = reader->source_index};
    if (token_place(reader, event->alias.anchor, &place)) {
        place.column--; // the token is the name: show the * as well
        place.length++;
    }
    struct ps_build_text name = text_of(event->alias.anchor);
    if (name.text == NULL)
        return fault(reader, place, "an alias without a name");
    return ps_build_alias(&reader->build, name, place);
}

static bool begin_document(struct reader *reader, const struct fy_event *event)
{
    struct ps_place place = {reader->source_index, 1, 1, 1};
    token_place(reader, event->document_start.document_start, &place);
    if (reader->documents++ > 0)
        return fault(reader, place,
                     "a second document begins here: a config file holds one job; use one file "
                     "per job");
    struct fy_document_state *state = event->document_start.document_state;
    if (fy_document_state_tags_explicit(state))
        fault(reader, place, "%TAG directives are refused: a config has no tags");
    const struct fy_version *version = fy_document_state_version(state);
    if (fy_document_state_version_explicit(state) && version != NULL &&
        (version->major != 1 || version->minor != 2))
        fault(reader, place, "only YAML 1.2 is read here: remove the %YAML directive");
    return true;
}

static bool read_event(struct reader *reader, const struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return begin_document(reader, event);
    case FYET_SCALAR:
        return read_scalar(reader, event);
    case FYET_ALIAS:
        return read_alias(reader, event);
    case FYET_SEQUENCE_START:
        return begin_container(reader, PS_NODE_LIST, event->sequence_start.sequence_start,
                               event->sequence_start.tag, event->sequence_start.anchor);
    case FYET_MAPPING_START:
        return begin_container(reader, PS_NODE_MAP, event->mapping_start.mapping_start,
                               event->mapping_start.tag, event->mapping_start.anchor);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        return ps_build_end(&reader->build);
    case FYET_STREAM_END:
        reader->ended = true;
        return true;
    default:
        return true;
    }
}

static void report_syntax(struct reader *reader, struct fy_diag *diag)
{
    void *step = NULL;
    bool any = false;
    for (struct fy_diag_error *error; (error = fy_diag_errors_iterate(diag, &step)) != NULL;) {
        struct ps_place place = end_place(reader);
        struct ps_place told;
        if (token_place(reader, error->fyt, &told) && told.line <= place.line)
            place = told;
        ps_problem_add(reader->problems, PS_USAGE, place, "not valid YAML: %s", error->msg);
        any = true;
    }
    if (!any)
        fault(reader, end_place(reader), "not valid YAML: it could not be read to its end");
}

static void read_events(struct reader *reader, struct fy_parser *parser, struct fy_diag *diag)
{
    bool fine = true;
    struct fy_event *event;
    while (fine && (event = fy_parser_parse(parser)) != NULL) {
        fine = read_event(reader, event);
        fy_parser_event_free(parser, event);
    }
    if (fine && !reader->ended)
        report_syntax(reader, diag);
    if (!fine || !reader->ended)
        reader->build.root = NULL;
}

static void swallow(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag, (void)user, (void)text, (void)length;
}

static bool parse(struct reader *reader)
{
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    diag_config.output_fn = swallow;
    struct fy_diag *diag = fy_diag_create(&diag_config);
    if (diag == NULL)
        return false;
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE |
                                           FYPCF_DEFAULT_VERSION_1_2,
                                  .diag = diag};
    struct fy_parser *parser = fy_parser_create(&config);
    const char *text = reader->source->text + reader->start;
    bool fine = parser != NULL &&
                fy_parser_set_string(parser, text, reader->source->length - reader->start) == 0;
    if (fine)
        read_events(reader, parser, diag);
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    return fine;
}

struct ps_node *ps_yaml_read(struct ps_tree *tree, const struct ps_source *source, int source_index,
                             size_t start, struct ps_problems *problems)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        tree->no_memory = true;
        return NULL;
    }
    bool mark = source->length >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0;
    size_t origin = mark ? 3 : 0;
    reader->build.tree = tree;
    reader->build.problems = problems;
    reader->source = source;
    reader->source_index = source_index;
    reader->start = start > origin ? start : origin;
    reader->origin = reader->at = origin;
    reader->problems = problems;
    reader->line = reader->column = 1;
    if (!parse(reader)) {
        tree->no_memory = true;
        ps_problem_add(problems, PS_DEVICE, (struct ps_place){source_index, 0, 0, 0},
                       "out of memory for the YAML reader");
    }
    struct ps_node *root = reader->build.root;
    free(reader);
    return root;
}
