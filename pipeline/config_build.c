// SPDX-License-Identifier: Apache-2.0
// Events to nodes. Aliases are copied, so that every value has one parent and --set changes one
// place; the limit on nodes bounds what that costs.
#include "pipeline/config_build.h"

#include <stdlib.h>
#include <string.h>

static bool fault(struct ps_build *build, struct ps_place place, const char *text)
{
    ps_problem_add(build->problems, PS_USAGE, place, "%s", text);
    return false;
}

// What node or text could not be made for.
static bool too_much(struct ps_build *build, struct ps_place place)
{
    if (build->tree->no_memory)
        ps_problem_add(build->problems, PS_DEVICE, place, "out of memory for the config");
    else
        ps_problem_add(build->problems, PS_USAGE, place,
                       "more than %d values, counting what aliases stand for: is this a config?",
                       PS_TREE_NODES_MAX);
    return false;
}

static bool is_unwritten(const struct ps_node *node)
{
    return node->kind == PS_NODE_SCALAR && node->is_null && node->text[0] == '\0';
}

// A finished scalar or alias, or a container that begins, goes to its parent.
static bool place_node(struct ps_build *build, struct ps_node *node)
{
    if (build->depth == 0) {
        build->root = node;
        return true;
    }
    struct ps_build_level *top = &build->levels[build->depth - 1];
    if (top->node->kind == PS_NODE_LIST)
        return ps_tree_append(build->tree, top->node, NULL, node) || too_much(build, node->place);
    if (top->key == NULL) {
        if (node->kind != PS_NODE_SCALAR)
            return fault(build, node->place, "a key must be a word, not a list or a mapping");
        top->key = node;
        return true;
    }
    struct ps_node *key = top->key;
    top->key = NULL;
    if (!key->quoted && strcmp(key->text, "<<") == 0) {
        fault(build, key->place, "merge keys (<<) are not supported: write the keys out here");
        return true;
    }
    bool blank = key->text[0] == '\0' && is_unwritten(node);
    if (key->is_null && !(top->pair && top->node->count == 0 && blank)) {
        fault(build, key->place.line > 0 ? key->place : node->place,
              "a key is missing before the colon (null is no key)");
        return true;
    }
    if (node->is_null && node->place.line == 0)
        node->place = key->place; // nothing was written: the key is what can be shown
    return ps_tree_append(build->tree, top->node, key, node) || too_much(build, node->place);
}

static bool add_anchor(struct ps_build *build, struct ps_build_text text, struct ps_node *node,
                       bool open, int *index_out)
{
    *index_out = -1;
    if (text.text == NULL)
        return true;
    if (build->anchor_count == PS_BUILD_ANCHORS_MAX)
        return fault(build, node->place, "more than 1000 anchors (&name) in one config");
    const char *name = ps_tree_text(build->tree, text.text, text.length);
    if (name == NULL)
        return too_much(build, node->place);
    *index_out = build->anchor_count;
    build->anchors[build->anchor_count++] = (struct ps_build_anchor){name, node, open};
    return true;
}

static bool is_null_text(const char *text)
{
    return text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
           strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

bool ps_build_scalar(struct ps_build *build, struct ps_build_text text, bool quoted,
                     struct ps_build_text anchor, struct ps_place place)
{
    struct ps_node *node = ps_tree_node(build->tree, PS_NODE_SCALAR, place);
    const char *copy = node != NULL ? ps_tree_text(build->tree, text.text, text.length) : NULL;
    int index;
    if (copy == NULL)
        return too_much(build, place);
    node->text = copy;
    node->quoted = quoted;
    node->is_null = !quoted && is_null_text(copy);
    if (strlen(copy) != text.length)
        return fault(build, place, "the text contains a NUL character (\\0)");
    return add_anchor(build, anchor, node, false, &index) && place_node(build, node);
}

bool ps_build_begin(struct ps_build *build, enum ps_node_kind kind, bool braces,
                    struct ps_build_text anchor, struct ps_place place)
{
    if (build->depth == PS_TREE_DEPTH_MAX) {
        ps_problem_add(build->problems, PS_USAGE, place,
                       "nested more than %d deep: no config needs that", PS_TREE_DEPTH_MAX);
        return false;
    }
    struct ps_node *node = ps_tree_node(build->tree, kind, place);
    int index;
    if (node == NULL)
        return too_much(build, place);
    if (!add_anchor(build, anchor, node, true, &index) || !place_node(build, node))
        return false;
    bool in_list = build->depth > 0 && build->levels[build->depth - 1].node->kind == PS_NODE_LIST;
    build->levels[build->depth++] =
        (struct ps_build_level){node, NULL, index, kind == PS_NODE_MAP && in_list && !braces};
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
static bool refuse_duplicates(struct ps_build *build, struct ps_node *map)
{
    size_t count = map->count;
    struct ps_node **sorted = malloc((count + 1) * sizeof(struct ps_node *));
    if (sorted == NULL) {
        build->tree->no_memory = true;
        return too_much(build, map->place);
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
        ps_problem_add(build->problems, PS_USAGE, sorted[i]->place,
                       "the key '%s' is given twice: first at line %d, column %d",
                       ps_escape(first->text, strlen(first->text), shown, sizeof shown),
                       first->place.line, first->place.column);
        drop_key(map, sorted[i]);
        found++;
    }
    free(sorted);
    return true;
}

// The mapping "KEY:" becomes that text.
static bool turn_into_text(struct ps_build *build, struct ps_node *map)
{
    const struct ps_node *key = map->keys[0];
    struct ps_text text = {0};
    ps_text_printf(&text, "%s:", key->text);
    map->text = text.failed ? NULL : ps_tree_text(build->tree, text.data, text.length);
    ps_text_free(&text);
    if (map->text == NULL)
        return too_much(build, map->place);
    map->kind = PS_NODE_SCALAR;
    map->count = 0;
    if (key->place.line > 0 && key->text[0] != '\0') {
        map->place = key->place;
        map->place.length++;
    }
    return true;
}

bool ps_build_end(struct ps_build *build)
{
    struct ps_build_level *top = &build->levels[--build->depth];
    if (top->anchor >= 0)
        build->anchors[top->anchor].open = false;
    struct ps_node *map = top->node;
    if (map->kind != PS_NODE_MAP)
        return true;
    if (top->pair && map->count == 1 && is_unwritten(map->items[0]) && !map->keys[0]->quoted)
        return turn_into_text(build, map);
    for (size_t i = 0; i < map->count; i++)
        if (map->keys[i]->text[0] == '\0' && !map->keys[i]->quoted)
            return fault(build, map->place, "a key is missing before the colon (null is no key)");
    return refuse_duplicates(build, map);
}

bool ps_build_alias(struct ps_build *build, struct ps_build_text name, struct ps_place place)
{
    const struct ps_build_anchor *found = NULL;
    for (int i = 0; i < build->anchor_count; i++)
        if (strlen(build->anchors[i].name) == name.length &&
            memcmp(build->anchors[i].name, name.text, name.length) == 0)
            found = &build->anchors[i]; // the last of that name counts
    char shown[80];
    ps_escape(name.text, name.length, shown, sizeof shown);
    if (found == NULL || found->open) {
        ps_problem_add(build->problems, PS_USAGE, place,
                       found == NULL ? "no anchor &%s before this alias; text that begins with * goes in quotes"
                                     : "the alias *%s stands inside what it stands for",
                       shown);
        return false;
    }
    struct ps_node *copy = ps_tree_copy(build->tree, found->node);
    return copy != NULL ? place_node(build, copy) : too_much(build, place);
}
