// SPDX-License-Identifier: Apache-2.0
// --set KEY=VALUE: one more layer over the file's nodes. Keys are checked later, with the rest of
// the config, so a wrong one is reported at its place in the argument.
#include "pipeline/config_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct setting {
    struct ps_tree *tree;
    const struct ps_source *source;
    int index;
    struct ps_problems *problems;
};

// The place of length characters from byte `at` on (a --set is one line, as a rule).
static struct ps_place place_of(const struct setting *setting, const char *at, size_t length)
{
    struct ps_place place = {setting->index, 1, 1, 0};
    for (const char *p = setting->source->text; p < at; p++) {
        if (*p == '\n') {
            place.line++;
            place.column = 1;
        } else {
            place.column += ((unsigned char)*p & 0xc0) != 0x80;
        }
    }
    for (size_t i = 0; i < length; i++)
        place.length += ((unsigned char)at[i] & 0xc0) != 0x80;
    return place;
}

static struct ps_node *key_node(const struct setting *setting, const char *at, size_t length)
{
    struct ps_node *node =
        ps_tree_node(setting->tree, PS_NODE_SCALAR, place_of(setting, at, length));
    if (node != NULL)
        node->text = ps_tree_text(setting->tree, at, length);
    return node != NULL && node->text != NULL ? node : NULL;
}

static const char *name_of(const struct ps_node *item)
{
    const struct ps_node *name = ps_node_get(item, "name");
    return name != NULL && name->kind == PS_NODE_SCALAR ? name->text : NULL;
}

// Position of a list's element by its `name` or by number. -1 after reporting.
static int find_element(const struct setting *setting, const struct ps_node *list,
                        const struct ps_node *key)
{
    const char **names = calloc(list->count + 1, sizeof *names);
    size_t count = 0;
    int found = -1;
    for (size_t i = 0; i < list->count && found < 0; i++) {
        const char *name = name_of(list->items[i]);
        if (name != NULL && strcmp(name, key->text) == 0)
            found = (int)i;
        if (name != NULL && names != NULL)
            names[count++] = name;
    }
    int64_t number;
    if (found < 0 && ps_integer_parse(key->text, &number) && number >= 0 &&
        number < (int64_t)list->count)
        found = (int)number;
    if (found < 0) {
        char after[64];
        snprintf(after, sizeof after,
                 list->count > 0 ? " here (and no position 0 to %zu)" : " here: the list is empty",
                 list->count - 1);
        ps_unknown_word(setting->problems, key->place, "no element", key->text, after, names,
                        names != NULL ? count : 0);
    }
    free(names);
    return found;
}

// Sections and mappings of options may be begun by a --set; entries of inputs and outputs not, as
// a misspelt name would silently become a new one.
static bool may_begin(const struct setting *setting, const struct ps_node *map,
                      const struct ps_node *parent_key, int depth, const struct ps_node *key)
{
    bool entries = depth == 1 && (strcmp(parent_key->text, "inputs") == 0 ||
                                  strcmp(parent_key->text, "outputs") == 0);
    if (!entries)
        return true;
    const char **names = calloc(map->count + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < map->count; i++)
        names[i] = map->keys[i]->text;
    char before[32], after[200];
    snprintf(before, sizeof before, "no %.*s", (int)strlen(parent_key->text) - 1, parent_key->text);
    snprintf(after, sizeof after, " to change (write %s.%.60s={...} to add it)", parent_key->text,
             key->text);
    ps_unknown_word(setting->problems, key->place, before, key->text, after, names,
                    names != NULL ? map->count : 0);
    free(names);
    return false;
}

// The node below `node` that the key names, begun as a mapping where that is allowed. NULL after
// reporting, or when out of memory.
static struct ps_node *step_into(const struct setting *setting, struct ps_node *node,
                                 const struct ps_node *parent_key, int depth, struct ps_node *key)
{
    if (node->kind == PS_NODE_LIST) {
        int i = find_element(setting, node, key);
        return i < 0 ? NULL : node->items[i];
    }
    int i = ps_node_find(node, key->text);
    if (i >= 0 && !node->items[i]->is_null)
        return node->items[i];
    if (i < 0 && !may_begin(setting, node, parent_key, depth, key))
        return NULL;
    struct ps_node *fresh = ps_tree_node(setting->tree, PS_NODE_MAP, key->place);
    if (fresh == NULL)
        return NULL;
    if (i >= 0) {
        node->items[i] = fresh;
        return fresh;
    }
    return ps_tree_append(setting->tree, node, key, fresh) ? fresh : NULL;
}

static void put(const struct setting *setting, struct ps_node *node, struct ps_node *key,
                struct ps_node *value)
{
    if (node->kind == PS_NODE_LIST) {
        int i = find_element(setting, node, key);
        if (i >= 0)
            node->items[i] = value;
        return;
    }
    int i = ps_node_find(node, key->text);
    if (i < 0) {
        ps_tree_append(setting->tree, node, key, value);
        return;
    }
    node->keys[i] = key;
    node->items[i] = value;
}

static void fault(const struct setting *setting, struct ps_place place, const char *text)
{
    ps_problem_add(setting->problems, PS_USAGE, place, "%s", text);
}

static void set_in(const struct setting *setting, struct ps_node *node, const char *key,
                   size_t key_length, struct ps_node *value)
{
    struct ps_node *parent_key = NULL;
    for (int depth = 0;; depth++) {
        const char *dot = memchr(key, '.', key_length);
        size_t length = dot != NULL ? (size_t)(dot - key) : key_length;
        struct ps_node *part = key_node(setting, key, length);
        if (part == NULL)
            return; // no_memory or the node limit, both told at the end
        if (length == 0) {
            fault(setting, part->place,
                  "an empty name in the key; write for example run.block=64MiB");
            return;
        }
        if (node->kind == PS_NODE_SCALAR) {
            fault(setting, part->place,
                  "what is before this name is a single value: it has no keys");
            return;
        }
        if (dot == NULL) {
            put(setting, node, part, value);
            return;
        }
        node = step_into(setting, node, parent_key, depth, part);
        if (node == NULL)
            return;
        parent_key = part;
        key += length + 1;
        key_length -= length + 1;
    }
}

void ps_config_set(struct ps_tree *tree, struct ps_node *root, const struct ps_source *source,
                   int index, struct ps_problems *problems)
{
    struct setting setting = {tree, source, index, problems};
    const char *equals = strchr(source->text, '=');
    if (equals == NULL) {
        fault(&setting, place_of(&setting, source->text, source->length),
              "no '=': write KEY=VALUE, for example run.block=64MiB");
        return;
    }
    const char *key = source->text + strspn(source->text, " ");
    const char *end = equals;
    while (end > key && end[-1] == ' ')
        end--;
    size_t errors = problems->error_count;
    struct ps_node *value =
        ps_yaml_read(tree, source, index, (size_t)(equals + 1 - source->text), problems);
    if (value == NULL && problems->error_count == errors) // nothing after the '='
        fault(&setting, place_of(&setting, equals, 1), "there is no value after '='");
    if (value != NULL)
        set_in(&setting, root, key, (size_t)(end - key), value);
    if (tree->node_count >= PS_TREE_NODES_MAX)
        fault(&setting, place_of(&setting, key, (size_t)(end - key)),
              "the config has too many values");
}
