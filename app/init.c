// SPDX-License-Identifier: Apache-2.0
// penstock init: a config that reads a file and runs, to be changed from there. What the file holds
// is found by its format's inspect(): its lines from "inputs:" on are a section of a config.
#include "app/app.h"

#include "io/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The entry "  name: {path: ...}" that inspect() ends with, or NULL.
static const char *find_entry(const struct ps_text *text)
{
    const char *mark = "inputs:\n";
    const char *entry = NULL;
    for (const char *at = text->data; at != NULL && (at = strstr(at, mark)) != NULL; at++)
        if (at == text->data || at[-1] == '\n')
            entry = at + strlen(mark);
    return entry;
}

// The other lines of inspect(), as comments.
static void add_comments(const struct ps_text *text, const char *entry, struct ps_text *out)
{
    const char *end = entry != NULL ? entry - strlen("inputs:\n") : text->data + text->length;
    for (const char *line = text->data; line < end;) {
        size_t length = strcspn(line, "\n");
        ps_text_printf(out, "# %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void add_job(const char *entry, bool is_table, struct ps_text *out)
{
    const char *name = entry + 2;
    int length = (int)strcspn(name, ":");
    const char *stage = length == 5 && memcmp(name, "stats", 5) == 0 ? "summary" : "stats";
    ps_text_printf(out, "inputs:\n%s", entry);
    if (strstr(entry, "load: whole") != NULL) { // one number: there are no rows to reduce
        ps_text_printf(out, "outputs:\n  %.*s: {path: %.*s_copy.npy}\n", length, name, length,
                       name);
        return;
    }
    ps_text_printf(out,
                   "stages:\n"
                   "  # Of every column over all rows. `penstock ops` lists what else there is.\n"
                   "  - {name: %s, op: reduce, in: %.*s, axis: rows, of: [mean, std, min, max]}\n"
                   "outputs:\n"
                   "  %s: {path: %.*s_%s.%s}\n",
                   stage, length, name, stage, length, name, stage, is_table ? "csv" : "npy");
}

static bool make_config(const char *path, const char *wanted, struct ps_text *out,
                        struct ps_error *error)
{
    const struct ps_format *format;
    struct ps_text text = {0};
    bool fine =
        app_inspect_format(path, wanted, &format, error) && format->inspect(path, &text, error);
    const char *entry = fine ? find_entry(&text) : NULL;
    if (fine && entry == NULL)
        fine = ps_fail(error, PS_INPUT, "%s holds nothing that can be read as an array", path);
    if (fine) {
        ps_text_add(out,
                    "# Run it with `penstock run`, check it with `penstock plan`. The file, as "
                    "`penstock inspect` shows it:\n#\n");
        add_comments(&text, entry, out);
        ps_text_add(out, "version: 1\n");
        add_job(entry, strcmp(format->name, "csv") == 0, out);
    }
    ps_text_free(&text);
    return fine && (!out->failed || ps_fail_memory(error, out->length, "the config"));
}

// "data/run 7.csv.gz" gives "run 7.yaml", in the working folder.
static char *default_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    struct ps_text text = {0};
    if (length > 3 && strcmp(name + length - 3, ".gz") == 0)
        length -= 3;
    const char *dot = memrchr(name, '.', length);
    if (dot != NULL && dot > name)
        length = (size_t)(dot - name);
    ps_text_append(&text, name, length);
    ps_text_add(&text, ".yaml");
    return text.data;
}

// The paths in it start where the config is: made absolute unless it is written here.
static char *path_for(const char *path, const char *config)
{
    bool here = strchr(config, '/') == NULL;
    char *real = here || path[0] == '/' ? NULL : realpath(path, NULL);
    return real != NULL ? real : ps_strdup(path);
}

static bool write_new(const char *name, const struct ps_text *text, struct ps_error *error)
{
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST)
        return ps_fail(error, PS_OUTPUT, "%s exists; name another file with --output", name);
    if (file < 0)
        return ps_fail_errno(error, PS_OUTPUT, "cannot create %s", name);
    bool fine = write(file, text->data, text->length) == (ssize_t)text->length;
    fine = close(file) == 0 && fine;
    if (!fine) {
        ps_fail_errno(error, PS_OUTPUT, "cannot write %s", name);
        unlink(name);
    }
    return fine;
}

enum ps_status app_init(const struct app_args *args)
{
    struct ps_text text = {0};
    struct ps_error error = {0};
    const char *output = app_args_value(args, "--output");
    char *name = output != NULL ? ps_strdup(output) : default_name(args->operands[0]);
    char *path = name != NULL ? path_for(args->operands[0], name) : NULL;
    bool fine = path != NULL || ps_fail_memory(&error, 0, "a path");
    fine = fine && make_config(path, app_args_value(args, "--format"), &text, &error);
    enum ps_status status = PS_OK;
    if (fine && strcmp(name, "-") == 0) {
        status = app_print_text(&text);
        text = (struct ps_text){0};
    } else if (fine) {
        fine = write_new(name, &text, &error);
        struct ps_text note = {0};
        ps_text_printf(&note, "%s written; run it with: penstock run %s\n", name, name);
        if (fine)
            app_complain(&note);
        else
            ps_text_free(&note);
    }
    if (!fine)
        status = app_fail(&error);
    ps_text_free(&text);
    free(name);
    free(path);
    return status;
}
