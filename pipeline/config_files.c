// SPDX-License-Identifier: Apache-2.0
// The files of an input: patterns expanded, and every file looked at, not opened.
#include "pipeline/config_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// What often makes a path name no file: YAML's comments and its escapes in double quotes.
static const char *path_hint(const struct ps_config *config, const struct ps_node *path)
{
    for (const char *p = path->text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20)
            return path->quoted ? "; in double quotes \\n and \\t are control characters: use "
                                  "single quotes"
                                : "";
    const struct ps_source *source = &config->sources[path->place.source];
    const char *p = source->text, *end = source->text + source->length;
    for (int line = 1; line < path->place.line && p != NULL; line++)
        p = memchr(p, '\n', (size_t)(end - p)) ? (char *)memchr(p, '\n', (size_t)(end - p)) + 1
                                               : NULL;
    const char *stop = p != NULL ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    size_t length = p != NULL ? (size_t)((stop != NULL ? stop : end) - p) : 0;
    const char *mark = length > 0 ? memmem(p, length, " #", 2) : NULL;
    return mark != NULL && !path->quoted ? "; ' #' begins a comment: put the path in quotes" : "";
}

// Whether the input's file can be opened at all. False after reporting.
static bool check_file(const struct ps_config *config, const char *name, const struct ps_node *path,
                       const char *resolved, struct ps_problems *problems)
{
    struct stat info;
    char shown[300], full[600];
    ps_escape(path->text, strlen(path->text), shown, sizeof shown);
    ps_escape(resolved, strlen(resolved), full, sizeof full);
    if (stat(resolved, &info) != 0) {
        ps_problem_add(problems, PS_INPUT, path->place,
                       errno == ENOENT ? "input '%s': no such file '%s' (looked for %s)%s%s%s"
                                       : "input '%s': cannot open '%s' (%s)%s: %s%s",
                       name, shown, full, path_hint(config, path),
                       errno == ENOENT ? "" : strerror(errno), "");
        return false;
    }
    if (S_ISDIR(info.st_mode))
        ps_problem_add(problems, PS_INPUT, path->place,
                       "input '%s': '%s' is a folder (%s); name a file in it", name, shown, full);
    return !S_ISDIR(info.st_mode);
}

// One path or pattern of the input. False after reporting.
static bool find_files(const struct ps_config *config, struct ps_config_input *input,
                       const struct ps_node *path, struct ps_problems *problems)
{
    struct ps_error error = {0};
    size_t first = input->files.count;
    if (path->kind != PS_NODE_SCALAR || path->is_null || path->text[0] == '\0' ||
        path->text[0] == '~' || strchr(path->text, '$') != NULL)
        return false; // reported with the other keys
    bool standard = strcmp(path->text, "-") == 0;
    char *resolved =
        standard ? ps_strdup(path->text) : ps_config_resolve(config->folder, path->text);
    if (resolved == NULL) {
        ps_config_no_memory(problems);
        return false;
    }
    bool fine = ps_paths_expand(&input->files, resolved, &error);
    free(resolved);
    if (!fine)
        ps_problem_add(problems, error.status, path->place, "input '%s': %s%s", input->name,
                       error.text, path_hint(config, path));
    for (size_t i = first; fine && !standard && i < input->files.count; i++)
        fine = check_file(config, input->name, path, input->files.list[i], problems);
    return fine;
}

struct identity {
    dev_t device;
    ino_t inode;
    const char *path;
};

static int by_identity(const void *a, const void *b)
{
    const struct identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

// A file that two patterns fit, or a link to another one, would count twice.
static bool check_twice(const struct ps_config_input *input, struct ps_place place,
                        struct ps_problems *problems)
{
    const struct ps_paths *files = &input->files;
    struct identity *list = calloc(files->count, sizeof *list);
    bool fine = list != NULL;
    if (!fine)
        ps_config_no_memory(problems);
    for (size_t i = 0; fine && i < files->count; i++) {
        struct stat info = {0};
        stat(files->list[i], &info);
        list[i] = (struct identity){info.st_dev, info.st_ino, files->list[i]};
    }
    if (fine)
        qsort(list, files->count, sizeof *list, by_identity);
    for (size_t i = 1; fine && i < files->count; i++) {
        char a[400], b[400];
        if (by_identity(&list[i - 1], &list[i]) != 0)
            continue;
        ps_problem_add(problems, PS_INPUT, place,
                       "input '%s': a file is listed twice, as %s and as %s: its rows would count "
                       "twice",
                       input->name,
                       ps_escape(list[i - 1].path, strlen(list[i - 1].path), a, sizeof a),
                       ps_escape(list[i].path, strlen(list[i].path), b, sizeof b));
        fine = false;
    }
    free(list);
    return fine;
}

bool ps_config_find_files(const struct ps_config *config, struct ps_config_input *input,
                          const struct ps_node *path, struct ps_problems *problems)
{
    bool fine = true;
    if (path == NULL || path->is_null || path->kind == PS_NODE_MAP)
        return false;
    if (path->kind == PS_NODE_SCALAR)
        fine = find_files(config, input, path, problems);
    for (size_t i = 0; path->kind == PS_NODE_LIST && i < path->count; i++)
        fine = find_files(config, input, path->items[i], problems) && fine;
    for (size_t i = 0; fine && input->files.count > 1 && i < input->files.count; i++) {
        fine = strcmp(input->files.list[i], "-") != 0;
        if (!fine)
            ps_problem_add(problems, PS_USAGE, path->place,
                           "input '%s': standard input (-) cannot be one of several files",
                           input->name);
    }
    return fine && (input->files.count < 2 || check_twice(input, path->place, problems));
}
