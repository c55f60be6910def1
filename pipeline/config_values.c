// SPDX-License-Identifier: Apache-2.0
// Mappings of the config against option tables. Knows no section: only tables and nodes.
#include "pipeline/config_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ps_config_no_memory(struct ps_problems *problems)
{
    ps_problem_add(problems, PS_DEVICE, (struct ps_place){0}, "out of memory for the config");
}

const char *ps_did_you_mean(const char *word, const char *const *list, size_t count, char *out,
                            size_t out_size)
{
    const char *near = ps_nearest(word, list, count);
    snprintf(out, out_size, "%s%s%s", near ? ", did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    return out;
}

void ps_unknown_word(struct ps_problems *problems, struct ps_place place, const char *before,
                     const char *word, const char *after, const char *const *list, size_t count)
{
    char shown[80], hint[128];
    struct ps_text known = {0};
    for (size_t i = 0; i < count; i++)
        ps_text_printf(&known, "%s%s", i > 0 ? ", " : "", list[i]);
    ps_problem_add(problems, PS_USAGE, place, "%s '%s'%s%s; known are: %s", before,
                   ps_escape(word, strlen(word), shown, sizeof shown), after,
                   ps_did_you_mean(word, list, count, hint, sizeof hint),
                   known.length > 0 ? known.data : "none");
    ps_text_free(&known);
}

static const char *shape_of(const struct ps_node *node)
{
    return node->is_null                ? "is empty (null)"
           : node->kind == PS_NODE_MAP  ? "is a mapping"
           : node->kind == PS_NODE_LIST ? "is a list"
                                        : "is a single value";
}

bool ps_node_is_map(const struct ps_node *node, const char *what, struct ps_problems *problems)
{
    if (node->kind == PS_NODE_MAP)
        return true;
    ps_problem_add(problems, PS_USAGE, node->place, "%s %s: a mapping (key: value) is expected",
                   what, shape_of(node));
    return false;
}

bool ps_node_is_list(const struct ps_node *node, const char *what, struct ps_problems *problems)
{
    if (node->kind == PS_NODE_LIST)
        return true;
    ps_problem_add(problems, PS_USAGE, node->place, "%s %s: a list (- ...) is expected", what,
                   shape_of(node));
    return false;
}

static void wrong_shape(const struct ps_value *value, const struct ps_node *node,
                        struct ps_problems *problems)
{
    char expected[512];
    ps_problem_add(problems, PS_USAGE, node->place, "%s %s; expected %s", value->option->key,
                   shape_of(node), ps_option_expected(value->option, expected, sizeof expected));
}

static void read_params(struct ps_value *value, const struct ps_node *node,
                        struct ps_problems *problems)
{
    if (node->kind != PS_NODE_MAP) {
        wrong_shape(value, node, problems);
        return;
    }
    ps_value_begin_list(value, node->place);
    value->listed = false;
    for (size_t i = 0; i < node->count; i++) {
        const struct ps_node *key = node->keys[i], *item = node->items[i];
        char what[128], shown[80];
        snprintf(what, sizeof what, "%s.%s", value->option->key,
                 ps_escape(key->text, strlen(key->text), shown, sizeof shown));
        if (!ps_config_check_name(key->text, "a parameter", key->place, problems))
            continue;
        if (item->kind != PS_NODE_SCALAR || item->is_null)
            ps_problem_add(problems, PS_USAGE, item->place, "%s %s; expected a number", what,
                           shape_of(item));
        else if (item->quoted)
            ps_problem_add(problems, PS_USAGE, item->place,
                           "%s is text, as it is in quotes; expected a number", what);
        else
            ps_value_add_param(value, key->text, key->place, item->text, item->place, problems);
    }
}

static void read_terms(struct ps_value *value, const struct ps_node *node,
                       struct ps_problems *problems)
{
    if (node->kind != PS_NODE_MAP) {
        wrong_shape(value, node, problems);
        return;
    }
    ps_value_begin_list(value, node->place);
    value->listed = false;
    for (size_t i = 0; i < node->count; i++) {
        const struct ps_node *key = node->keys[i], *item = node->items[i];
        if (!ps_config_check_name(key->text, "an expression", key->place, problems))
            continue;
        if (item->kind != PS_NODE_SCALAR || item->is_null)
            ps_problem_add(problems, PS_USAGE, item->place, "%s.%s %s; expected an expression",
                           value->option->key, key->text, shape_of(item));
        else
            ps_value_add_term(value, key->text, key->place, item->text, item->place, problems);
    }
}

static void read_types(struct ps_value *value, const struct ps_node *node,
                       struct ps_problems *problems)
{
    ps_value_begin_list(value, node->place);
    value->listed = false;
    for (size_t i = 0; i < node->count; i++) {
        const struct ps_node *key = node->keys[i], *item = node->items[i];
        if (item->kind != PS_NODE_SCALAR || item->is_null)
            ps_problem_add(problems, PS_USAGE, item->place, "%s.%s %s; expected one word",
                           value->option->key, key->text, shape_of(item));
        else
            ps_value_add_type(value, key->text, key->quoted, key->place, item->text, item->place,
                              problems);
    }
    if (node->count == 0)
        wrong_shape(value, node, problems);
}

static bool takes_list(enum ps_kind kind)
{
    return kind == PS_CHOICES || kind == PS_NAMES || kind == PS_WORDS || kind == PS_SHAPE ||
           kind == PS_AXES || kind == PS_PATHS;
}

static void read_list(struct ps_value *value, const struct ps_node *node,
                      struct ps_problems *problems)
{
    enum ps_kind kind = value->option->kind;
    ps_value_begin_list(value, node->place);
    for (size_t i = 0; i < node->count; i++) {
        const struct ps_node *item = node->items[i];
        if (item->kind != PS_NODE_SCALAR || item->is_null)
            ps_problem_add(problems, PS_USAGE, item->place,
                           "%s: an element %s%s; a single value is expected", value->option->key,
                           shape_of(item), item->is_null ? ", write it in quotes as text" : "");
        else
            ps_value_add_element(value, item->text, item->quoted, item->place, problems);
    }
    if (node->count == 0 && kind != PS_WORDS && kind != PS_SHAPE) {
        char expected[512];
        ps_problem_add(problems, PS_USAGE, node->place, "%s is an empty list; expected %s",
                       value->option->key,
                       ps_option_expected(value->option, expected, sizeof expected));
    }
}

char *ps_config_resolve(const char *folder, const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2 + strspn(path + 2, "/");
    return ps_path_join(folder, path[0] == '\0' ? "." : path);
}

// The text becomes an absolute path. Nothing is expanded: what a shell would make of ~ and $
// depends on who runs it, and a folder called '$HOME' is never what was meant.
static void resolve_text(char **text, const struct ps_option *option, struct ps_place place,
                         const char *folder, struct ps_problems *problems)
{
    if (strcmp(*text, "-") == 0 && option->choices != NULL)
        return;
    if (**text == '~' || strchr(*text, '$') != NULL) {
        char shown[200];
        ps_problem_add(problems, PS_USAGE, place,
                       "%s: '%s': %s is not expanded here; write the full path", option->key,
                       ps_escape(*text, strlen(*text), shown, sizeof shown),
                       **text == '~' ? "~" : "$");
        return;
    }
    char *resolved = ps_config_resolve(folder, *text);
    if (resolved == NULL) {
        ps_config_no_memory(problems);
        return;
    }
    free(*text);
    *text = resolved;
}

static void resolve_paths(struct ps_value *value, const char *folder, struct ps_problems *problems)
{
    if (value->option->kind == PS_PATH)
        resolve_text(&value->text, value->option, value->place, folder, problems);
    for (int i = 0; value->option->kind == PS_PATHS && i < value->count; i++)
        resolve_text(&value->words[i], value->option, value->places[i], folder, problems);
}

static void read_value(struct ps_value *value, const struct ps_node *node, const char *folder,
                       struct ps_problems *problems)
{
    enum ps_kind kind = value->option->kind;
    bool fine = node->kind == PS_NODE_LIST && kind == PS_PATHS;
    if (kind == PS_PARAMS)
        read_params(value, node, problems);
    else if (kind == PS_TERMS)
        read_terms(value, node, problems);
    else if (kind == PS_TYPES && node->kind == PS_NODE_MAP)
        read_types(value, node, problems);
    else if (node->kind == PS_NODE_LIST && takes_list(kind))
        read_list(value, node, problems);
    else if (node->kind != PS_NODE_SCALAR || node->is_null)
        wrong_shape(value, node, problems);
    else
        fine = ps_value_from_scalar(value, node->text, node->quoted, node->place, problems);
    if (fine)
        resolve_paths(value, folder, problems);
    value->given = true; // also when it is wrong: it is not missing
}

static struct ps_value *find_value(const struct ps_values_request *request, const char *key)
{
    for (int s = 0; s < request->set_count; s++)
        for (int i = 0; i < request->sets[s]->count; i++)
            if (strcmp(request->sets[s]->options[i].key, key) == 0)
                return &request->sets[s]->values[i];
    return NULL;
}

static void unknown_key(const struct ps_values_request *request, const struct ps_node *key,
                        struct ps_problems *problems)
{
    size_t count = 0, used = 0;
    for (int s = 0; s < request->set_count; s++)
        count += (size_t)request->sets[s]->count;
    const char **known = calloc(count + 2, sizeof *known);
    if (known == NULL) {
        ps_config_no_memory(problems);
        return;
    }
    for (int s = 0; s < request->set_count; s++)
        for (int i = 0; i < request->sets[s]->count; i++)
            known[used++] = request->sets[s]->options[i].key;
    if (request->subsection != NULL)
        known[used++] = request->subsection;
    char after[160];
    snprintf(after, sizeof after, " of %s", request->what);
    ps_unknown_word(problems, key->place, "unknown key", key->text, after, known, used);
    free(known);
}

void ps_values_read(const struct ps_values_request *request, const struct ps_node *map,
                    struct ps_problems *problems)
{
    for (size_t i = 0; i < map->count; i++) {
        const char *key = map->keys[i]->text;
        if (request->subsection != NULL && strcmp(key, request->subsection) == 0)
            continue;
        struct ps_value *value = find_value(request, key);
        if (value != NULL)
            read_value(value, map->items[i], request->folder, problems);
        else if (!request->some_unknown)
            unknown_key(request, map->keys[i], problems);
    }
    for (int s = 0; s < request->set_count; s++) {
        for (int i = 0; i < request->sets[s]->count; i++) {
            const struct ps_value *value = &request->sets[s]->values[i];
            if (value->option->required && !value->given)
                ps_problem_add(problems, PS_USAGE, request->where, "%s needs `%s`: %s",
                               request->what, value->option->key, value->option->help);
        }
    }
}
