// SPDX-License-Identifier: Apache-2.0
// A config's YAML as plain nodes with places, aliases already copied in. Private to config_*.c.
// Everything lives in one arena and is freed with it.
#ifndef PS_PIPELINE_CONFIG_TREE_H
#define PS_PIPELINE_CONFIG_TREE_H

#include "base/problem.h"

#define PS_TREE_NODES_MAX 100000 // an alias bomb or a data file meant as a config stops here
#define PS_TREE_DEPTH_MAX 32

enum ps_node_kind { PS_NODE_SCALAR, PS_NODE_LIST, PS_NODE_MAP };

struct ps_node {
    enum ps_node_kind kind;
    bool quoted;  // SCALAR: in quotes or a block scalar, so always text
    bool is_null; // SCALAR: nothing, ~ or null
    struct ps_place place;
    const char *text; // SCALAR
    size_t count, capacity;
    struct ps_node **keys; // MAP: scalars, unique
    struct ps_node **items;
};

struct ps_tree_piece; // of the arena

struct ps_tree {
    struct ps_tree_piece *pieces;
    size_t node_count;
    bool no_memory; // an allocation failed: a problem is due
};

void ps_tree_free(struct ps_tree *tree);
// NULL when out of memory or past PS_TREE_NODES_MAX (then no_memory is not set).
struct ps_node *ps_tree_node(struct ps_tree *tree, enum ps_node_kind kind, struct ps_place place);
// A NUL-terminated copy; NULL when out of memory.
const char *ps_tree_text(struct ps_tree *tree, const char *bytes, size_t length);
// Adds an item to a list, or a key with its item to a mapping (key NULL for lists).
bool ps_tree_append(struct ps_tree *tree, struct ps_node *parent, struct ps_node *key,
                    struct ps_node *item);
// A deep copy with the same places; NULL as for ps_tree_node.
struct ps_node *ps_tree_copy(struct ps_tree *tree, const struct ps_node *node);

// Position of the key in a mapping; -1: not there.
int ps_node_find(const struct ps_node *map, const char *key);
// The item of a key; NULL: not there, or node is no mapping.
struct ps_node *ps_node_get(const struct ps_node *map, const char *key);

// Parses the YAML document in source->text from byte `start` on; places get `source_index`.
// Duplicate and merge keys, tags and further documents are reported, and so is every syntax
// error. NULL after reporting when there is no tree to go on with.
struct ps_node *ps_yaml_read(struct ps_tree *tree, const struct ps_source *source, int source_index,
                             size_t start, struct ps_problems *problems);

// Sets KEY=VALUE of source number `index` in the tree under root.
void ps_config_set(struct ps_tree *tree, struct ps_node *root, const struct ps_source *source,
                   int index, struct ps_problems *problems);

#endif
