// SPDX-License-Identifier: Apache-2.0
// The tables of the config's own keys, and the way from a file to a ps_config: bytes, YAML, --set,
// sections, checks. What a section holds is read in config_inputs.c and config_stages.c.
#include "pipeline/config.h"

#include "pipeline/config_parts.h"
#include "pipeline/config_source.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct ps_option ps_input_options[] = {
    {.key = "path",
     .kind = PS_PATHS,
     .choices = "-",
     .help =
         "the file to read, or - for standard input; several (a list, or run-*.h5) are one array, "
         "row after row"},
    {.key = "format", .kind = PS_TEXT, .help = "its format; default: told by suffix, then content"},
    {.key = "load",
     .kind = PS_CHOICE,
     .choices = "stream|whole",
     .fallback = "stream",
     .help = "read block by block, or once and kept in device memory"},
    {.key = NULL},
};

const struct ps_option ps_stage_options[] = {
    {.key = "name", .kind = PS_NAME, .required = true, .help = "the name of the array it makes"},
    {.key = "op", .kind = PS_TEXT, .required = true, .help = "what it does (`penstock ops`)"},
    {.key = NULL},
};

const struct ps_option ps_output_options[] = {
    {.key = "path",
     .kind = PS_PATH,
     .choices = "-",
     .help = "the file to write, or - for standard output"},
    {.key = "format", .kind = PS_TEXT, .help = "its format; default: told by suffix"},
    {.key = "array", .kind = PS_NAME, .help = "the array to store; default: the output's name"},
    {.key = "dtype", .kind = PS_DTYPE, .help = "the dtype to store; default: the array's own"},
    {.key = "cast",
     .kind = PS_CHOICE,
     .choices = "error|saturate|wrap",
     .fallback = "error",
     .help = "what happens to values that the stored dtype cannot hold"},
    {.key = "overwrite",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "replace a file that is there already"},
    {.key = NULL},
};

const struct ps_option ps_run_options[] = {
    {.key = "backend",
     .kind = PS_CHOICE,
     .choices = "auto|cpu|cuda",
     .fallback = "auto",
     .help = "where stages run; auto says what it chose and why"},
    {.key = "device",
     .kind = PS_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 1023,
     .help = "which GPU, as `penstock doctor` numbers them"},
    {.key = "block",
     .kind = PS_BLOCK,
     .fallback = "auto",
     .help = "rows in flight at a time, or their size; auto: from memory"},
    {.key = "slots",
     .kind = PS_COUNT,
     .fallback = "auto",
     .min = 1,
     .max = 64,
     .help = "blocks in flight at once"},
    {.key = "keep",
     .kind = PS_CHOICE,
     .choices = "auto|nothing",
     .fallback = "auto",
     .help = "inputs that several passes read: auto keeps those in memory that fit, so that later "
             "passes read no file"},
    {.key = "memory",
     .kind = PS_SIZE,
     .fallback = "2 GiB",
     .min = 1,
     .max = 0x1p62,
     .help = "host memory for buffers at most"},
    {.key = "device_memory",
     .kind = PS_SIZE,
     .fallback = "auto",
     .min = 1,
     .max = 0x1p62,
     .help = "device memory at most; auto: what is free, less a reserve"},
    {.key = "threads",
     .kind = PS_COUNT,
     .fallback = "auto",
     .min = 1,
     .max = 1024,
     .help = "threads that read, and on the cpu backend compute"},
    {.key = "log", .kind = PS_PATH, .help = "the timing log to write, .csv or .jsonl"},
    {.key = "compare",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "run on both backends and compare times and results"},
    {.key = "verbose",
     .kind = PS_TRUTH,
     .fallback = "false",
     .help = "log the plan, as `penstock plan` shows it, before streaming"},
    {.key = NULL},
};

const struct ps_option ps_run_cuda_options[] = {
    {.key = "threads",
     .kind = PS_COUNT,
     .fallback = "auto",
     .min = 32,
     .max = 1024,
     .help = "threads per block of the kernels, a multiple of 32; auto: by occupancy"},
    {.key = NULL},
};

static const char *const top_keys[] = {"version", "inputs", "stages", "outputs", "run"};
#define TOP_KEYS (sizeof top_keys / sizeof top_keys[0])

// Absent, and no other key looks like a misspelling of it (which is reported as such).
static bool is_missing(const struct ps_node *root, const char *key)
{
    const char *near;
    for (size_t i = 0; i < root->count; i++)
        if ((near = ps_nearest(root->keys[i]->text, top_keys, TOP_KEYS)) != NULL &&
            strcmp(near, key) == 0)
            return false;
    return true;
}

static void check_top(const struct ps_node *root, struct ps_problems *problems)
{
    for (size_t i = 0; i < root->count; i++) {
        bool known = false;
        for (size_t k = 0; k < TOP_KEYS; k++)
            known = known || strcmp(root->keys[i]->text, top_keys[k]) == 0;
        if (!known)
            ps_unknown_word(problems, root->keys[i]->place, "unknown key", root->keys[i]->text, "",
                            top_keys, TOP_KEYS);
    }
    const struct ps_node *version = ps_node_get(root, "version");
    struct ps_place place = root->place;
    if (version == NULL && is_missing(root, "version"))
        ps_problem_add(problems, PS_USAGE, place, "`version: 1` is missing");
    else if (version != NULL && (version->kind != PS_NODE_SCALAR || version->quoted ||
                                 strcmp(version->text, "1") != 0))
        ps_problem_add(problems, PS_USAGE, version->place,
                       "this program reads config version 1 only: write `version: 1`");
}

static void check_present(const struct ps_node *root, const char *key, const char *what,
                          struct ps_problems *problems)
{
    const struct ps_node *node = ps_node_get(root, key);
    if (node != NULL && node->kind == PS_NODE_MAP && node->count == 0)
        ps_problem_add(problems, PS_USAGE, node->place, "%s: `%s` is empty", what, key);
    if (is_missing(root, key))
        ps_problem_add(problems, PS_USAGE, root->place, "%s: `%s` is missing", what, key);
}

static void read_sections(struct ps_config *config, const struct ps_node *root,
                          struct ps_problems *problems)
{
    check_top(root, problems);
    ps_config_read_run(config, ps_node_get(root, "run"), problems);
    ps_config_read_inputs(config, ps_node_get(root, "inputs"), problems);
    ps_config_read_stages(config, ps_node_get(root, "stages"), problems);
    ps_config_read_outputs(config, ps_node_get(root, "outputs"), problems);
    ps_config_check_names(config, problems);
    ps_config_check_outputs(config, problems);
    check_present(root, "inputs", "nothing to read", problems);
    if (!ps_values_get(&config->run, "compare")->truth)
        check_present(root, "outputs", "nothing to write", problems);
}

static void report_empty(struct ps_problems *problems)
{
    ps_problem_add(problems, PS_USAGE, (struct ps_place){0},
                   "the config is empty: it needs version, inputs and outputs");
}

// True when the text holds nothing but comments and blanks.
static bool is_blank(const struct ps_source *source)
{
    const char *p = source->text, *end = p + source->length;
    if (source->length >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    while (p < end) {
        if (*p == '#')
            while (p < end && *p != '\n')
                p++;
        else if (strchr(" \t\r\n", *p) != NULL)
            p++;
        else
            return false;
    }
    return true;
}

static void read_tree(struct ps_config *config, struct ps_tree *tree, struct ps_problems *problems)
{
    const struct ps_source *file = &config->sources[0];
    if (!ps_source_check(file, 0, problems))
        return;
    if (is_blank(file)) {
        report_empty(problems);
        return;
    }
    size_t errors = problems->error_count;
    struct ps_node *root = ps_yaml_read(tree, file, 0, 0, problems);
    if ((root == NULL && problems->error_count == errors) || (root != NULL && root->is_null))
        report_empty(problems);
    if (root == NULL || root->is_null)
        return;
    if (root->kind != PS_NODE_MAP) {
        ps_problem_add(problems, PS_USAGE, root->place,
                       "the top level of a config must be a mapping (version: 1, inputs: ..., "
                       "outputs: ...)");
        return;
    }
    for (size_t i = 1; i < config->source_count; i++)
        if (ps_source_check(&config->sources[i], (int)i, problems))
            ps_config_set(tree, root, &config->sources[i], (int)i, problems);
    read_sections(config, root, problems);
}

static bool add_source(struct ps_config *config, const char *name, const char *text, size_t length)
{
    struct ps_source *source = &config->sources[config->source_count];
    char *copy = malloc(length + 1);
    char *label = ps_strdup(name);
    if (copy == NULL || label == NULL) {
        free(copy);
        free(label);
        return false;
    }
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    *source = (struct ps_source){label, copy, length};
    config->source_count++;
    return true;
}

static bool add_set(struct ps_config *config, const char *set)
{
    char name[80], shown[64];
    snprintf(name, sizeof name, "--set %s", ps_escape(set, strlen(set), shown, sizeof shown));
    return add_source(config, name, set, strlen(set));
}

static struct ps_config *make(const char *text, size_t length, const char *name, const char *folder,
                              const char *const *sets, size_t set_count)
{
    struct ps_error error = {0};
    struct ps_config *config = calloc(1, sizeof *config);
    if (config == NULL)
        return NULL;
    config->sources = calloc(set_count + 1, sizeof *config->sources);
    config->path = ps_strdup(name);
    config->folder = ps_strdup(folder);
    bool fine = config->sources != NULL && config->path != NULL && config->folder != NULL &&
                add_source(config, name, text, length) &&
                ps_values_default(&config->run, ps_run_options, &error) &&
                ps_values_default(&config->run_cuda, ps_run_cuda_options, &error);
    for (size_t i = 0; fine && i < set_count; i++)
        fine = add_set(config, sets[i]);
    if (fine)
        return config;
    ps_config_free(config);
    return NULL;
}

struct ps_config *ps_config_parse(const char *text, size_t length, const char *name,
                                  const char *folder, const char *const *sets, size_t set_count,
                                  struct ps_problems *problems)
{
    struct ps_config *config = make(text, length, name, folder, sets, set_count);
    struct ps_tree tree = {0};
    if (config != NULL)
        read_tree(config, &tree, problems);
    if (tree.no_memory) // whatever was reported: part of the config may be missing
        ps_config_no_memory(problems);
    ps_tree_free(&tree);
    return config;
}

// The absolute folder that the config's relative paths start at.
static char *folder_of(const char *path)
{
    char *given = ps_strdup(strcmp(path, "-") == 0 ? "" : path);
    if (given == NULL)
        return NULL;
    char *slash = strrchr(given, '/');
    if (slash == NULL)
        strcpy(given, "");
    else
        slash[slash == given] = '\0';
    char *folder = realpath(given[0] == '\0' ? "." : given, NULL);
    free(given);
    return folder != NULL ? folder : ps_strdup("/");
}

struct ps_config *ps_config_load(const char *path, const char *const *sets, size_t set_count,
                                 struct ps_problems *problems)
{
    size_t length = 0;
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *folder = folder_of(path);
    char *text = ps_source_read(path, &length, problems);
    struct ps_config *config = NULL;
    if (folder != NULL && text != NULL)
        config = ps_config_parse(text, length, name, folder, sets, set_count, problems);
    else if (folder != NULL)
        config = make("", 0, name, folder, NULL, 0);
    free(text);
    free(folder);
    return config;
}

void ps_config_free(struct ps_config *config)
{
    if (config == NULL)
        return;
    for (int i = 0; i < config->input_count; i++) {
        free(config->inputs[i].name);
        ps_paths_free(&config->inputs[i].files);
        ps_values_free(&config->inputs[i].common);
        ps_values_free(&config->inputs[i].options);
    }
    for (int i = 0; i < config->stage_count; i++) {
        free(config->stages[i].name);
        ps_values_free(&config->stages[i].common);
        ps_values_free(&config->stages[i].options);
    }
    for (int i = 0; i < config->output_count; i++) {
        free(config->outputs[i].name);
        ps_values_free(&config->outputs[i].common);
        ps_values_free(&config->outputs[i].options);
    }
    for (size_t i = 0; i < config->source_count; i++) {
        free((char *)config->sources[i].name);
        free((char *)config->sources[i].text);
    }
    free(config->inputs);
    free(config->stages);
    free(config->outputs);
    free(config->sources);
    ps_values_free(&config->run);
    ps_values_free(&config->run_cuda);
    free(config->path);
    free(config->folder);
    free(config);
}
