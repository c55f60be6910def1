// SPDX-License-Identifier: Apache-2.0
// The sections `stages` and `run`, and what the sections mean for each other: names are unique,
// outputs store arrays that exist, no two of them the same file.
#include "pipeline/config_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool ps_config_check_name(const char *name, const char *what, struct ps_place place,
                          struct ps_problems *problems)
{
    bool fine = starts_name(name[0]) && strcasecmp(name, "null") != 0;
    for (const char *p = name; fine && *p != '\0'; p++)
        fine = starts_name(*p) || (*p >= '0' && *p <= '9');
    char shown[80];
    if (fine)
        return true;
    ps_problem_add(problems, PS_USAGE, place,
                   "'%s' cannot be the name of %s: letters, digits and _ only, no digit first, "
                   "and not null",
                   ps_escape(name, strlen(name), shown, sizeof shown), what);
    return false;
}

#define TYPES_MAX 64

static const struct ps_stage_type *stage_type(const struct ps_node *map,
                                              struct ps_problems *problems)
{
    const struct ps_node *op = ps_node_get(map, "op");
    if (op == NULL || op->kind != PS_NODE_SCALAR || op->is_null)
        return NULL; // reported with the other keys
    const struct ps_stage_type *type = ps_stage_type_find(op->text);
    const char *names[TYPES_MAX];
    size_t count = 0;
    if (type != NULL)
        return type;
    for (int i = 0; ps_stage_types[i] != NULL && count < TYPES_MAX; i++)
        names[count++] = ps_stage_types[i]->name;
    ps_unknown_word(problems, op->place, "unknown op", op->text, "", names, count);
    return NULL;
}

static bool defaults(struct ps_values *values, const struct ps_option *options,
                     struct ps_problems *problems)
{
    static const struct ps_option none[] = {{.key = NULL}};
    struct ps_error error = {0};
    if (ps_values_default(values, options != NULL ? options : none, &error))
        return true;
    ps_problem_add(problems, error.status, (struct ps_place){0}, "%s", error.text);
    return false;
}

static void read_stage(struct ps_config *config, int position, const struct ps_node *map,
                       struct ps_problems *problems)
{
    struct ps_config_stage *stage = &config->stages[position];
    size_t errors = problems->error_count;
    const struct ps_node *name = ps_node_get(map, "name");
    bool named = name != NULL && name->kind == PS_NODE_SCALAR && !name->is_null;
    char number[24], what[160];
    snprintf(number, sizeof number, "%d", position);
    stage->place = named ? name->place : map->place;
    stage->name = ps_strdup(named ? name->text : number);
    if (stage->name == NULL)
        ps_config_no_memory(problems);
    if (!defaults(&stage->common, ps_stage_options, problems))
        return;
    snprintf(what, sizeof what, named ? "stage '%.80s'" : "stage %.80s",
             named ? name->text : number);
    if (!ps_node_is_map(map, what, problems))
        return;
    if (named)
        ps_config_check_name(name->text, "a stage", name->place, problems);
    stage->type = stage_type(map, problems);
    if (!defaults(&stage->options, stage->type ? stage->type->options : NULL, problems))
        return;
    size_t used = strlen(what);
    if (stage->type != NULL)
        snprintf(what + used, sizeof what - used, " (%.40s)", stage->type->name);
    struct ps_values *sets[] = {&stage->common, &stage->options};
    struct ps_values_request request = {.folder = config->folder,
                                        .what = what,
                                        .sets = sets,
                                        .set_count = 2,
                                        .some_unknown = stage->type == NULL,
                                        .where = stage->place};
    ps_values_read(&request, map, problems);
    if (problems->error_count > errors)
        stage->type = NULL; // the plan passes it over
}

void ps_config_read_stages(struct ps_config *config, const struct ps_node *node,
                           struct ps_problems *problems)
{
    if (node == NULL || !ps_node_is_list(node, "stages", problems))
        return;
    if (node->count > PS_CONFIG_ENTRIES_MAX) {
        ps_problem_add(problems, PS_USAGE, node->place, "stages: more than %d of them",
                       PS_CONFIG_ENTRIES_MAX);
        return;
    }
    config->stages = calloc(node->count + 1, sizeof *config->stages);
    if (config->stages == NULL) {
        ps_config_no_memory(problems);
        return;
    }
    config->stage_count = (int)node->count;
    for (int i = 0; i < config->stage_count; i++)
        read_stage(config, i, node->items[i], problems);
}

static void check_log(const struct ps_config *config, struct ps_problems *problems)
{
    const struct ps_value *log = ps_values_get(&config->run, "log");
    if (log->text == NULL)
        return;
    const char *dot = strrchr(log->text, '.');
    if (dot == NULL || (strcmp(dot, ".csv") != 0 && strcmp(dot, ".jsonl") != 0))
        ps_problem_add(problems, PS_USAGE, log->place,
                       "log: the name must end in .csv or .jsonl, which tells its form");
}

void ps_config_read_run(struct ps_config *config, const struct ps_node *node,
                        struct ps_problems *problems)
{
    if (node == NULL || !ps_node_is_map(node, "run", problems))
        return;
    struct ps_values *run = &config->run, *cuda = &config->run_cuda;
    struct ps_values_request request = {.folder = config->folder,
                                        .what = "run",
                                        .sets = &run,
                                        .set_count = 1,
                                        .subsection = "cuda",
                                        .where = node->place};
    ps_values_read(&request, node, problems);
    check_log(config, problems);
    const struct ps_node *nested = ps_node_get(node, "cuda");
    if (nested == NULL || !ps_node_is_map(nested, "run.cuda", problems))
        return;
    struct ps_values_request inner = {.folder = config->folder,
                                      .what = "run.cuda",
                                      .sets = &cuda,
                                      .set_count = 1,
                                      .where = nested->place};
    ps_values_read(&inner, nested, problems);
    const struct ps_value *threads = ps_values_get(cuda, "threads");
    if (threads->given && threads->integer % 32 != 0)
        ps_problem_add(problems, PS_USAGE, threads->place,
                       "threads: '%lld' is not a multiple of 32, the threads of one warp",
                       (long long)threads->integer);
}

struct named {
    const char *kind, *name;
    struct ps_place place;
};

static size_t arrays_of(const struct ps_config *config, struct named *list)
{
    size_t count = 0;
    for (int i = 0; i < config->input_count; i++)
        list[count++] = (struct named){"input", config->inputs[i].name, config->inputs[i].place};
    for (int i = 0; i < config->stage_count; i++) // not those that stand under their number
        if (config->stages[i].name != NULL && starts_name(config->stages[i].name[0]))
            list[count++] =
                (struct named){"stage", config->stages[i].name, config->stages[i].place};
    return count;
}

void ps_config_check_names(struct ps_config *config, struct ps_problems *problems)
{
    size_t most = (size_t)(config->input_count + config->stage_count);
    struct named *list = calloc(most + 1, sizeof *list);
    if (list == NULL) {
        ps_config_no_memory(problems);
        return;
    }
    size_t count = arrays_of(config, list);
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (list[i].name == NULL || list[k].name == NULL ||
                strcmp(list[i].name, list[k].name) != 0)
                continue;
            ps_problem_add(problems, PS_USAGE, list[i].place,
                           "the name '%.80s' is used twice: first by the %s at line %d, column %d",
                           list[i].name, list[k].kind, list[k].place.line, list[k].place.column);
            break;
        }
    }
    free(list);
}

static void check_array(const struct ps_config_output *output, const struct named *list,
                        size_t count, struct ps_problems *problems)
{
    const char *names[2 * PS_CONFIG_ENTRIES_MAX + 1];
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].name != NULL && strcmp(list[i].name, output->array) == 0)
            return;
        if (list[i].name != NULL)
            names[known++] = list[i].name;
    }
    const struct ps_value *array = ps_values_get(&output->common, "array");
    ps_unknown_word(problems, array->given ? array->place : output->place, "no array",
                    output->array, array->given ? " to store" : " to store (name one by `array:`)",
                    names, known);
}

// Both absolute paths, without looking at links: that is for ps_output_check.
static bool same_path(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        bool slash = *a == '/';
        a++, b++;
        for (; slash && (*a == '/' || (*a == '.' && a[1] == '/')); a++)
            continue;
        for (; slash && (*b == '/' || (*b == '.' && b[1] == '/')); b++)
            continue;
    }
    return *a == *b;
}

static void check_path(const struct ps_config *config, int position, struct ps_problems *problems)
{
    const struct ps_config_output *output = &config->outputs[position];
    const struct ps_value *path = ps_values_get(&output->common, "path");
    const struct ps_value *log = ps_values_get(&config->run, "log");
    char shown[300];
    if (path->text == NULL || path->text[0] != '/')
        return;
    ps_escape(path->text, strlen(path->text), shown, sizeof shown);
    for (int i = 0; i < position; i++) {
        const struct ps_value *other = ps_values_get(&config->outputs[i].common, "path");
        bool parts = output->format != NULL && output->format == config->outputs[i].format &&
                     output->format->writer->may_share != NULL; // the plan looks closer
        if (parts || other->text == NULL || !same_path(path->text, other->text))
            continue;
        ps_problem_add(problems, PS_USAGE, path->place,
                       "two outputs write %s: the first is '%.80s' at line %d", shown,
                       config->outputs[i].name, config->outputs[i].place.line);
        return;
    }
    if (log->text != NULL && same_path(path->text, log->text))
        ps_problem_add(problems, PS_USAGE, path->place, "the output and run.log are one file: %s",
                       shown);
}

// The log is written as the job goes on: over an input it would destroy data, links or not.
static void check_log_is_no_input(const struct ps_config *config, struct ps_problems *problems)
{
    const struct ps_value *log = ps_values_get(&config->run, "log");
    struct stat log_info, info;
    bool exists = log->text != NULL && stat(log->text, &log_info) == 0;
    for (int i = 0; log->text != NULL && i < config->input_count; i++) {
        const struct ps_paths *files = &config->inputs[i].files;
        bool one_file = false;
        for (size_t f = 0; !one_file && f < files->count; f++)
            one_file = same_path(files->list[f], log->text) ||
                       (exists && stat(files->list[f], &info) == 0 &&
                        info.st_dev == log_info.st_dev && info.st_ino == log_info.st_ino);
        if (one_file)
            ps_problem_add(problems, PS_OUTPUT, log->place,
                           "run.log would overwrite the file of input '%.80s'",
                           config->inputs[i].name);
    }
}

void ps_config_check_outputs(struct ps_config *config, struct ps_problems *problems)
{
    size_t most = (size_t)(config->input_count + config->stage_count);
    struct named *list = calloc(most + 1, sizeof *list);
    check_log_is_no_input(config, problems);
    if (list == NULL) {
        ps_config_no_memory(problems);
        return;
    }
    size_t count = arrays_of(config, list);
    for (int i = 0; i < config->output_count; i++) {
        if (config->outputs[i].array == NULL || config->outputs[i].common.count == 0)
            continue;
        check_array(&config->outputs[i], list, count, problems);
        check_path(config, i, problems);
    }
    free(list);
}
