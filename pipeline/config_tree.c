// SPDX-License-Identifier: Apache-2.0
// Nodes of a config and the arena they live in. Knows nothing of YAML.
#include "pipeline/config_tree.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 16384

struct ps_tree_piece {
    struct ps_tree_piece *next;
    size_t used, size;
    max_align_t data[];
};

static void *take(struct ps_tree *tree, size_t bytes)
{
    bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    struct ps_tree_piece *piece = tree->pieces;
    if (piece == NULL || piece->size - piece->used < bytes) {
        size_t size = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
        piece = malloc(sizeof *piece + size);
        if (piece == NULL) {
            tree->no_memory = true;
            return NULL;
        }
        *piece = (struct ps_tree_piece){.next = tree->pieces, .size = size};
        tree->pieces = piece;
    }
    void *data = (char *)piece->data + piece->used;
    piece->used += bytes;
    return data;
}

void ps_tree_free(struct ps_tree *tree)
{
    while (tree->pieces != NULL) {
        struct ps_tree_piece *next = tree->pieces->next;
        free(tree->pieces);
        tree->pieces = next;
    }
    *tree = (struct ps_tree){0};
}

struct ps_node *ps_tree_node(struct ps_tree *tree, enum ps_node_kind kind, struct ps_place place)
{
    if (tree->node_count >= PS_TREE_NODES_MAX)
        return NULL;
    struct ps_node *node = take(tree, sizeof *node);
    if (node == NULL)
        return NULL;
    tree->node_count++;
    *node = (struct ps_node){.kind = kind, .place = place, .text = ""};
    return node;
}

const char *ps_tree_text(struct ps_tree *tree, const char *bytes, size_t length)
{
    char *copy = take(tree, length + 1);
    if (copy == NULL)
        return NULL;
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

// Twice as many each time; the old arrays stay in the arena, which at most doubles it.
static bool grow(struct ps_tree *tree, struct ps_node *parent)
{
    size_t capacity = parent->capacity == 0 ? 4 : 2 * parent->capacity;
    struct ps_node **items = take(tree, 2 * capacity * sizeof(struct ps_node *));
    if (items == NULL)
        return false;
    struct ps_node **keys = items + capacity;
    if (parent->count > 0) {
        memcpy(items, parent->items, parent->count * sizeof(struct ps_node *));
        memcpy(keys, parent->keys, parent->count * sizeof(struct ps_node *));
    }
    parent->items = items;
    parent->keys = keys;
    parent->capacity = capacity;
    return true;
}

bool ps_tree_append(struct ps_tree *tree, struct ps_node *parent, struct ps_node *key,
                    struct ps_node *item)
{
    if (parent->count == parent->capacity && !grow(tree, parent))
        return false;
    parent->keys[parent->count] = key;
    parent->items[parent->count++] = item;
    return true;
}

// Aliases of aliases can nest deeper than PS_TREE_DEPTH_MAX, but a chain of n of them costs n^2/2
// nodes, so that PS_TREE_NODES_MAX keeps the recursion below some hundred calls.
struct ps_node *ps_tree_copy(struct ps_tree *tree, const struct ps_node *node)
{
    struct ps_node *copy = ps_tree_node(tree, node->kind, node->place);
    if (copy == NULL)
        return NULL;
    copy->quoted = node->quoted;
    copy->is_null = node->is_null;
    copy->text = node->text;
    for (size_t i = 0; i < node->count; i++) {
        struct ps_node *item = ps_tree_copy(tree, node->items[i]);
        if (item == NULL || !ps_tree_append(tree, copy, node->keys[i], item))
            return NULL;
    }
    return copy;
}

int ps_node_find(const struct ps_node *map, const char *key)
{
    if (map == NULL || map->kind != PS_NODE_MAP)
        return -1;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->keys[i]->text, key) == 0)
            return (int)i;
    return -1;
}

struct ps_node *ps_node_get(const struct ps_node *map, const char *key)
{
    int i = ps_node_find(map, key);
    return i < 0 ? NULL : map->items[i];
}
