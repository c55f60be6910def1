// SPDX-License-Identifier: Apache-2.0
// The sections `inputs` and `outputs`: names, paths and formats. Looks at files only to see that
// inputs are there and to recognise their format.
#include "pipeline/config_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FORMATS_MAX 64

static size_t format_names(bool for_writing, const char **names)
{
    size_t count = 0;
    for (int i = 0; ps_formats[i] != NULL && count < FORMATS_MAX; i++)
        if (for_writing ? ps_formats[i]->writer != NULL : ps_formats[i]->read_options != NULL)
            names[count++] = ps_formats[i]->name;
    return count;
}

// The format called null is meant by `format: null`, which YAML takes for nothing at all.
static void null_is_a_format(const struct ps_node *map)
{
    struct ps_node *format = ps_node_get(map, "format");
    if (format != NULL && format->is_null && strcmp(format->text, "null") == 0)
        format->is_null = false;
}

// The format that the key `format` names. NULL after reporting.
static const struct ps_format *named_format(const struct ps_node *node, bool for_writing,
                                            struct ps_problems *problems)
{
    const char *names[FORMATS_MAX];
    size_t count = format_names(for_writing, names);
    if (node->kind != PS_NODE_SCALAR || node->is_null)
        return NULL; // its shape is reported with the other keys
    const struct ps_format *format = ps_format_find(node->text);
    if (format == NULL) {
        ps_unknown_word(problems, node->place, "unknown format", node->text, "", names, count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], format->name) == 0)
            return format;
    ps_unknown_word(problems, node->place,
                    for_writing ? "no output can have the format" : "no input can have the format",
                    node->text, "", names, count);
    return NULL;
}

// The path as an absolute one, or NULL when there is none or it is refused (reported with the
// other keys).
static char *path_of(const struct ps_config *config, const struct ps_node *map)
{
    const struct ps_node *path = ps_node_get(map, "path");
    if (path == NULL || path->kind != PS_NODE_SCALAR || path->is_null || path->text[0] == '\0' ||
        path->text[0] == '~' || strchr(path->text, '$') != NULL)
        return NULL;
    if (strcmp(path->text, "-") == 0)
        return ps_strdup(path->text);
    return ps_config_resolve(config->folder, path->text);
}

static void cannot_tell(const struct ps_node *path, const char *name, bool for_writing,
                        struct ps_problems *problems)
{
    const char *names[FORMATS_MAX];
    size_t count = format_names(for_writing, names);
    char shown[200];
    struct ps_text list = {0};
    for (size_t i = 0; i < count; i++)
        ps_text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    ps_problem_add(problems, PS_USAGE, path->place,
                   "cannot tell the format of '%s' from its %s: add `format:` with one of %s",
                   ps_escape(name, strlen(name), shown, sizeof shown),
                   for_writing ? "suffix" : "suffix or its first bytes",
                   list.length > 0 ? list.data : "none");
    ps_text_free(&list);
}

static bool is_standard(const struct ps_config_input *input)
{
    return input->files.count == 1 && strcmp(input->files.list[0], "-") == 0;
}

// Standard input can be read by one reader only, and once.
static void check_standard(const struct ps_config *config, struct ps_problems *problems)
{
    const struct ps_config_input *first = NULL;
    for (int i = 0; i < config->input_count; i++) {
        const struct ps_config_input *input = &config->inputs[i];
        if (!is_standard(input))
            continue;
        if (strcmp(config->sources[0].name, "<stdin>") == 0)
            ps_problem_add(problems, PS_USAGE, input->place,
                           "input '%s': standard input is the config already; give one of them as a "
                           "file",
                           input->name);
        else if (first != NULL)
            ps_problem_add(problems, PS_USAGE, input->place,
                           "the inputs '%s' and '%s' are both standard input", first->name,
                           input->name);
        first = input;
    }
}

static const struct ps_format *guess_input(const struct ps_config *config,
                                           struct ps_config_input *input,
                                           const struct ps_node *map, struct ps_problems *problems)
{
    const struct ps_node *named = ps_node_get(map, "format"), *path = ps_node_get(map, "path");
    const struct ps_format *format = named ? named_format(named, false, problems) : NULL;
    if (format != NULL && format->flags & PS_NO_PATH) {
        if (path != NULL && !path->is_null)
            ps_problem_add(problems, PS_USAGE, path->place,
                           "input '%s': the format %s reads no file: remove `path`", input->name,
                           format->name);
        return format;
    }
    bool there = ps_config_find_files(config, input, path, problems);
    if (input->files.count == 0)
        return format;
    const char *first = input->files.list[0];
    if (named == NULL) {
        struct stat info;
        bool plain = there && stat(first, &info) == 0 && S_ISREG(info.st_mode); // else it may block
        format = ps_format_guess(first, !plain); // by suffix the other keys can still be checked
        if (there && format == NULL)
            cannot_tell(path, first, false, problems);
    }
    if (format != NULL && format->read_options == NULL) {
        if (named == NULL)
            ps_problem_add(problems, PS_USAGE, path->place,
                           "input '%s': files of the format %s cannot be read", input->name,
                           format->name);
        format = NULL;
    }
    return format;
}

static const struct ps_format *guess_output(const struct ps_config *config, const char *name,
                                            const struct ps_node *map, struct ps_problems *problems)
{
    const struct ps_node *named = ps_node_get(map, "format");
    if (named != NULL)
        return named_format(named, true, problems);
    char *path = path_of(config, map);
    if (path == NULL)
        return NULL;
    const struct ps_format *format = ps_format_guess(path, true);
    free(path);
    if (format == NULL) {
        cannot_tell(ps_node_get(map, "path"), ps_node_get(map, "path")->text, true, problems);
    } else if (format->writer == NULL) {
        ps_problem_add(problems, PS_USAGE, ps_node_get(map, "path")->place,
                       "output '%s': files of the format %s cannot be written; write .npy, .h5, .csv or .bin",
                       name, format->name);
        format = NULL;
    }
    return format;
}

// Both tables' defaults, then the keys of the mapping, then: is there a path?
static void read_entry(const struct ps_config *config, const char *kind, const struct ps_node *key,
                       const struct ps_node *map, const struct ps_format *format,
                       struct ps_values *common, struct ps_values *options,
                       struct ps_problems *problems)
{
    char what[160];
    snprintf(what, sizeof what, format != NULL ? "%s '%.80s' (%s)" : "%s '%.80s'", kind, key->text,
             format != NULL ? format->name : "");
    struct ps_values *sets[] = {common, options};
    struct ps_values_request request = {.folder = config->folder,
                                        .what = what,
                                        .sets = sets,
                                        .set_count = format != NULL ? 2 : 1,
                                        .some_unknown = format == NULL,
                                        .where = key->place};
    ps_values_read(&request, map, problems);
    bool needs =
        format == NULL ? ps_node_get(map, "format") == NULL : (format->flags & PS_NO_PATH) == 0;
    if (needs && ps_node_find(map, "path") < 0)
        ps_problem_add(problems, PS_USAGE, key->place, "%s needs `path`: %s", what,
                       ps_options_find(common->options, "path")->help);
}

static bool defaults(struct ps_values *values, const struct ps_option *options,
                     struct ps_problems *problems)
{
    struct ps_error error = {0};
    if (ps_values_default(values, options, &error))
        return true;
    ps_problem_add(problems, error.status, (struct ps_place){0}, "%s", error.text);
    return false;
}

static void read_input(struct ps_config *config, struct ps_config_input *input,
                       const struct ps_node *key, const struct ps_node *map,
                       struct ps_problems *problems)
{
    static const struct ps_option none[] = {{.key = NULL}};
    input->place = key->place;
    size_t errors = problems->error_count;
    input->name = ps_strdup(key->text);
    if (input->name == NULL)
        ps_config_no_memory(problems);
    ps_config_check_name(key->text, "an input", key->place, problems);
    if (!defaults(&input->common, ps_input_options, problems))
        return;
    char what[120];
    snprintf(what, sizeof what, "input '%.80s'", key->text);
    if (!ps_node_is_map(map, what, problems))
        return;
    null_is_a_format(map);
    input->format = guess_input(config, input, map, problems);
    if (!defaults(&input->options, input->format ? input->format->read_options : none, problems))
        return;
    read_entry(config, "input", key, map, input->format, &input->common, &input->options, problems);
    if (problems->error_count > errors)
        input->format = NULL; // the plan passes it over
}

static void read_output(struct ps_config *config, struct ps_config_output *output,
                        const struct ps_node *key, const struct ps_node *map,
                        struct ps_problems *problems)
{
    static const struct ps_option none[] = {{.key = NULL}};
    size_t errors = problems->error_count;
    output->place = key->place;
    output->name = ps_strdup(key->text);
    output->array = output->name;
    if (output->name == NULL)
        ps_config_no_memory(problems);
    ps_config_check_name(key->text, "an output", key->place, problems);
    if (!defaults(&output->common, ps_output_options, problems))
        return;
    char what[120];
    snprintf(what, sizeof what, "output '%.80s'", key->text);
    if (!ps_node_is_map(map, what, problems))
        return;
    null_is_a_format(map);
    output->format = guess_output(config, key->text, map, problems);
    const struct ps_option *own = output->format ? output->format->write_options : NULL;
    if (!defaults(&output->options, own ? own : none, problems))
        return;
    read_entry(config, "output", key, map, output->format, &output->common, &output->options,
               problems);
    const struct ps_value *array = ps_values_get(&output->common, "array");
    if (array->text != NULL)
        output->array = array->text;
    if (problems->error_count > errors)
        output->format = NULL;
}

// The mapping's entries as an array of `size` bytes each. NULL after reporting.
static void *entries(const struct ps_node *node, const char *section, size_t size, int *count_out,
                     struct ps_problems *problems)
{
    if (!ps_node_is_map(node, section, problems))
        return NULL;
    if (node->count > PS_CONFIG_ENTRIES_MAX) {
        ps_problem_add(problems, PS_USAGE, node->place, "%s: more than %d of them", section,
                       PS_CONFIG_ENTRIES_MAX);
        return NULL;
    }
    void *list = calloc(node->count + 1, size);
    if (list == NULL)
        ps_config_no_memory(problems);
    else
        *count_out = (int)node->count;
    return list;
}

void ps_config_read_inputs(struct ps_config *config, const struct ps_node *node,
                           struct ps_problems *problems)
{
    if (node == NULL)
        return;
    config->inputs =
        entries(node, "inputs", sizeof *config->inputs, &config->input_count, problems);
    for (int i = 0; i < config->input_count; i++)
        read_input(config, &config->inputs[i], node->keys[i], node->items[i], problems);
    check_standard(config, problems);
}

void ps_config_read_outputs(struct ps_config *config, const struct ps_node *node,
                            struct ps_problems *problems)
{
    if (node == NULL)
        return;
    config->outputs =
        entries(node, "outputs", sizeof *config->outputs, &config->output_count, problems);
    for (int i = 0; i < config->output_count; i++)
        read_output(config, &config->outputs[i], node->keys[i], node->items[i], problems);
}
