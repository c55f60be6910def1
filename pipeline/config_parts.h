// SPDX-License-Identifier: Apache-2.0
// What the files that make a ps_config share. Private to config*.c.
#ifndef PS_PIPELINE_CONFIG_PARTS_H
#define PS_PIPELINE_CONFIG_PARTS_H

#include "pipeline/config.h"
#include "pipeline/config_tree.h"

#define PS_CONFIG_ENTRIES_MAX 1000 // inputs, stages or outputs of one job

// Fills values (already holding defaults) from the mapping. Keys may be in any of the tables of
// sets[0..set_count-1]. what names the mapping in messages ("input 'dark' (npy)"). Unknown keys
// are reported unless some_unknown (when the tables are not all known, because of an error
// reported before). Reports every fault; missing required keys at `where`.
struct ps_values_request {
    const char *folder; // where relative paths start
    const char *what;
    struct ps_values **sets;
    int set_count;
    bool some_unknown;
    const char *subsection; // a key that is read elsewhere; NULL: none
    struct ps_place where;
};
void ps_values_read(const struct ps_values_request *request, const struct ps_node *map,
                    struct ps_problems *problems);

// "; did you mean 'X'?" or "" into out.
const char *ps_did_you_mean(const char *word, const char *const *list, size_t count, char *out,
                            size_t out_size);
// "unknown KIND 'WORD' (CONTEXT); did you mean ...; known are: ..."
void ps_unknown_word(struct ps_problems *problems, struct ps_place place, const char *before,
                     const char *word, const char *after, const char *const *list, size_t count);
// Reports "WHAT is empty (null)" and the like when node is no mapping / list. True when it is.
bool ps_node_is_map(const struct ps_node *node, const char *what, struct ps_problems *problems);
bool ps_node_is_list(const struct ps_node *node, const char *what, struct ps_problems *problems);

// The sections. node may be NULL (absent); config's arrays are filled in as far as possible.
void ps_config_read_inputs(struct ps_config *config, const struct ps_node *node,
                           struct ps_problems *problems);
void ps_config_read_stages(struct ps_config *config, const struct ps_node *node,
                           struct ps_problems *problems);
void ps_config_read_outputs(struct ps_config *config, const struct ps_node *node,
                            struct ps_problems *problems);
void ps_config_read_run(struct ps_config *config, const struct ps_node *node,
                        struct ps_problems *problems);
// After all sections: what one section means for another.
void ps_config_check_names(struct ps_config *config, struct ps_problems *problems);
void ps_config_check_outputs(struct ps_config *config, struct ps_problems *problems);

// Fills in input->files from the value of its `path` (may be NULL). False after reporting a fault;
// then files may still hold names, to guess a format from.
bool ps_config_find_files(const struct ps_config *config, struct ps_config_input *input,
                          const struct ps_node *path, struct ps_problems *problems);

// [A-Za-z_][A-Za-z0-9_]*; reports otherwise.
bool ps_config_check_name(const char *name, const char *what, struct ps_place place,
                          struct ps_problems *problems);
// The path from the config's folder on, without leading "./". NULL when out of memory.
char *ps_config_resolve(const char *folder, const char *path);
void ps_config_no_memory(struct ps_problems *problems);

#endif
