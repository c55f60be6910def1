// SPDX-License-Identifier: Apache-2.0
// YAML text to nodes, through libfyaml's events. Every place comes from byte offsets, so that it
// is right behind UTF-8, tabs and a byte order mark. libfyaml never prints: its messages are
// collected and become problems.
#include "pipeline/config_tree.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

#define ANCHORS_MAX 1000

struct anchor {
    const char *name;
    struct ps_node *node;
    bool open; // its node has not ended: an alias would contain itself
};

struct level {
    struct ps_node *node;
    struct ps_node *key; // MAP: the key whose item comes next
    int anchor;          // to close with it; -1: none
};

struct reader {
    struct ps_tree *tree;
    const struct ps_source *source;
    int source_index;
    size_t start;  // what libfyaml calls offset 0
    size_t origin; // the first column of line 1: behind a byte order mark
    struct ps_problems *problems;
    struct ps_node *root;
    int depth;
    struct level levels[PS_TREE_DEPTH_MAX];
    int anchor_count;
    struct anchor anchors[ANCHORS_MAX];
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

// What node or text could not be made for.
static bool too_much(struct reader *reader, struct ps_place place)
{
    if (reader->tree->no_memory)
        ps_problem_add(reader->problems, PS_DEVICE, place, "out of memory for the config");
    else
        ps_problem_add(reader->problems, PS_USAGE, place,
                       "more than %d values, counting what aliases stand for: is this a config?",
                       PS_TREE_NODES_MAX);
    return false;
}

static void close_anchor(struct reader *reader, int anchor)
{
    if (anchor >= 0)
        reader->anchors[anchor].open = false;
}

// A finished scalar or alias, or a container that begins, goes to its parent.
static bool place_node(struct reader *reader, struct ps_node *node)
{
    if (reader->depth == 0) {
        reader->root = node;
        return true;
    }
    struct level *top = &reader->levels[reader->depth - 1];
    if (top->node->kind == PS_NODE_LIST)
        return ps_tree_append(reader->tree, top->node, NULL, node) || too_much(reader, node->place);
    if (top->key == NULL) {
        if (node->kind != PS_NODE_SCALAR)
            return fault(reader, node->place, "a key must be a word, not a list or a mapping");
        top->key = node;
        return true;
    }
    struct ps_node *key = top->key;
    top->key = NULL;
    if (!key->quoted && strcmp(key->text, "<<") == 0) {
        fault(reader, key->place, "merge keys (<<) are not supported: write the keys out here");
        return true;
    }
    if (key->is_null) {
        fault(reader, key->place, "a key is missing before the colon");
        return true;
    }
    if (node->is_null && node->place.line == 0)
        node->place = key->place; // nothing was written: the key is what can be shown
    return ps_tree_append(reader->tree, top->node, key, node) || too_much(reader, node->place);
}

static bool add_anchor(struct reader *reader, struct fy_token *token, struct ps_node *node,
                       bool open, int *index_out)
{
    *index_out = -1;
    if (token == NULL)
        return true;
    if (reader->anchor_count == ANCHORS_MAX)
        return fault(reader, node->place, "more than 1000 anchors (&name) in one config");
    size_t length;
    const char *text = fy_token_get_text(token, &length);
    const char *name = text != NULL ? ps_tree_text(reader->tree, text, length) : NULL;
    if (name == NULL)
        return too_much(reader, node->place);
    *index_out = reader->anchor_count;
    reader->anchors[reader->anchor_count++] = (struct anchor){name, node, open};
    return true;
}

static void refuse_tag(struct reader *reader, struct fy_token *tag)
{
    struct ps_place place;
    if (tag != NULL && token_place(reader, tag, &place))
        fault(reader, place,
              "tags (!name) are refused: a config is plain data; remove the tag, or put the text "
              "in quotes");
}

static bool is_null_text(const char *text)
{
    return text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
           strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

static bool read_scalar(struct reader *reader, const struct fy_event *event)
{
    struct fy_token *token = event->scalar.value;
    struct ps_place place = {.source = reader->source_index};
    token_place(reader, token, &place);
    size_t length = 0;
    const char *text = token != NULL ? fy_token_get_text(token, &length) : "";
    struct ps_node *node = ps_tree_node(reader->tree, PS_NODE_SCALAR, place);
    const char *copy =
        node != NULL && text != NULL ? ps_tree_text(reader->tree, text, length) : NULL;
    if (copy == NULL)
        return too_much(reader, place);
    enum fy_scalar_style style = token != NULL ? fy_token_scalar_style(token) : FYSS_PLAIN;
    node->text = copy;
    node->quoted = style != FYSS_PLAIN && style != FYSS_ANY;
    node->is_null = !node->quoted && is_null_text(copy);
    refuse_tag(reader, event->scalar.tag);
    if (strlen(copy) != length)
        fault(reader, place, "the text contains a NUL character (\\0)");
    int anchor;
    return add_anchor(reader, event->scalar.anchor, node, false, &anchor) &&
           place_node(reader, node);
}

static bool begin_container(struct reader *reader, enum ps_node_kind kind, struct fy_token *token,
                            struct fy_token *tag, struct fy_token *anchor)
{
    struct ps_place place = {.source = reader->source_index};
    token_place(reader, token, &place);
    place.length = place.length > 1 ? 1 : place.length;
    refuse_tag(reader, tag);
    if (reader->depth == PS_TREE_DEPTH_MAX) {
        ps_problem_add(reader->problems, PS_USAGE, place,
                       "nested more than %d deep: no config needs that", PS_TREE_DEPTH_MAX);
        return false;
    }
    struct ps_node *node = ps_tree_node(reader->tree, kind, place);
    int index;
    if (node == NULL)
        return too_much(reader, place);
    if (!add_anchor(reader, anchor, node, true, &index) || !place_node(reader, node))
        return false;
    reader->levels[reader->depth++] = (struct level){node, NULL, index};
    return true;
}

static bool before(const struct ps_node *a, const struct ps_node *b)
{
    return a->place.line != b->place.line ? a->place.line < b->place.line
                                          : a->place.column < b->place.column;
}

static int by_text(const void *a, const void *b)
{
    const struct ps_node *x = *(struct ps_node *const *)a, *y = *(struct ps_node *const *)b;
    int order = strcmp(x->text, y->text);
    return order != 0 ? order : before(x, y) ? -1 : before(y, x);
}

static void drop_key(struct ps_node *map, const struct ps_node *key)
{
    size_t i = 0;
    while (map->keys[i] != key)
        i++;
    map->count--;
    memmove(map->keys + i, map->keys + i + 1, (map->count - i) * sizeof *map->keys);
    memmove(map->items + i, map->items + i + 1, (map->count - i) * sizeof *map->items);
}

// Sorted, so that a mapping of very many keys does not take for ever. The first one stays.
static bool refuse_duplicates(struct reader *reader, struct ps_node *map)
{
    size_t count = map->count;
    struct ps_node **sorted = malloc((count + 1) * sizeof(struct ps_node *));
    if (sorted == NULL) {
        reader->tree->no_memory = true;
        return too_much(reader, map->place);
    }
    if (count > 0)
        memcpy(sorted, map->keys, count * sizeof(struct ps_node *));
    qsort(sorted, count, sizeof *sorted, by_text);
    const struct ps_node *first = NULL;
    size_t found = 0;
    for (size_t i = 0; i < count && found < 100; i++) {
        if (first == NULL || strcmp(sorted[i]->text, first->text) != 0) {
            first = sorted[i];
            continue;
        }
        char shown[80];
        ps_problem_add(reader->problems, PS_USAGE, sorted[i]->place,
                       "the key '%s' is given twice: first at line %d, column %d",
                       ps_escape(first->text, strlen(first->text), shown, sizeof shown),
                       first->place.line, first->place.column);
        drop_key(map, sorted[i]);
        found++;
    }
    free(sorted);
    return true;
}

static bool end_container(struct reader *reader)
{
    struct level *top = &reader->levels[--reader->depth];
    close_anchor(reader, top->anchor);
    return top->node->kind != PS_NODE_MAP || refuse_duplicates(reader, top->node);
}

static bool read_alias(struct reader *reader, const struct fy_event *event)
{
    struct ps_place place = {.source = reader->source_index};
    if (token_place(reader, event->alias.anchor, &place)) {
        place.column--; // the token is the name: show the * as well
        place.length++;
    }
    size_t length = 0;
    const char *text = fy_token_get_text(event->alias.anchor, &length);
    const struct anchor *found = NULL;
    for (int i = 0; text != NULL && i < reader->anchor_count; i++)
        if (strlen(reader->anchors[i].name) == length &&
            memcmp(reader->anchors[i].name, text, length) == 0)
            found = &reader->anchors[i]; // the last of that name counts
    char shown[80];
    ps_escape(text != NULL ? text : "", length, shown, sizeof shown);
    if (found == NULL || found->open) {
        ps_problem_add(reader->problems, PS_USAGE, place,
                       found == NULL ? "no anchor &%s before this alias"
                                     : "the alias *%s stands inside what it stands for",
                       shown);
        return false;
    }
    struct ps_node *copy = ps_tree_copy(reader->tree, found->node);
    return copy != NULL ? place_node(reader, copy) : too_much(reader, place);
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
        return end_container(reader);
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
        reader->root = NULL;
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
    reader->tree = tree;
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
    struct ps_node *root = reader->root;
    free(reader);
    return root;
}
