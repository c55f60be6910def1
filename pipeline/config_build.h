// SPDX-License-Identifier: Apache-2.0
// Builds a tree of nodes out of a stream of YAML events: keys and items, anchors and aliases.
// Knows nothing of the YAML library. Private to config_*.c.
#ifndef PS_PIPELINE_CONFIG_BUILD_H
#define PS_PIPELINE_CONFIG_BUILD_H

#include "pipeline/config_tree.h"

#define PS_BUILD_ANCHORS_MAX 1000

struct ps_build_anchor {
    const char *name;
    struct ps_node *node;
    bool open; // its node has not ended: an alias would contain itself
};

struct ps_build_level {
    struct ps_node *node;
    struct ps_node *key; // MAP: the key whose item comes next
    int anchor;          // ends with it; -1: none
    bool pair;           // MAP: an element of a list, without braces: may be "1:" or ":"
};

// Zero-initialise; set tree and problems.
struct ps_build {
    struct ps_tree *tree;
    struct ps_problems *problems;
    struct ps_node *root;
    int depth;
    struct ps_build_level levels[PS_TREE_DEPTH_MAX];
    int anchor_count;
    struct ps_build_anchor anchors[PS_BUILD_ANCHORS_MAX];
};

struct ps_build_text { // text NULL: none
    const char *text;
    size_t length;
};

// Each returns false after reporting a fault that ends the reading.
bool ps_build_scalar(struct ps_build *build, struct ps_build_text text, bool quoted,
                     struct ps_build_text anchor, struct ps_place place);
bool ps_build_alias(struct ps_build *build, struct ps_build_text name, struct ps_place place);
// braces: a mapping that is written with them. In a list, `1:` and `:` alone are mappings for YAML;
// without braces they are taken for the text that they are (of a range, as in `select`).
bool ps_build_begin(struct ps_build *build, enum ps_node_kind kind, bool braces,
                    struct ps_build_text anchor, struct ps_place place);
bool ps_build_end(struct ps_build *build);

#endif
