// SPDX-License-Identifier: Apache-2.0
// The config file's bytes: read with a limit, and checked to be UTF-8 text before any parser
// sees them.
#include "pipeline/config_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ps_place whole_file;

static char *read_all(int file, const char *path, size_t *length_out, struct ps_problems *problems)
{
    size_t length = 0, capacity = 1 << 16;
    char *text = malloc(capacity + 1);
    while (text != NULL) {
        ssize_t got = read(file, text + length, capacity - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got == 0)
                break;
            ps_problem_add(problems, PS_USAGE, whole_file, "cannot read the config file %s: %s",
                           path, strerror(errno));
            free(text);
            return NULL;
        }
        length += (size_t)got;
        if (length > PS_CONFIG_BYTES_MAX) {
            ps_problem_add(problems, PS_USAGE, whole_file,
                           "%s is bigger than 4 MiB, the limit for a config: is it a data file?",
                           path);
            free(text);
            return NULL;
        }
        if (length == capacity) {
            capacity = 2 * capacity;
            char *bigger = realloc(text, capacity + 1);
            if (bigger == NULL)
                free(text);
            text = bigger;
        }
    }
    if (text == NULL) {
        ps_problem_add(problems, PS_DEVICE, whole_file, "out of memory for %s", path);
        return NULL;
    }
    text[length] = '\0';
    *length_out = length;
    return text;
}

char *ps_source_read(const char *path, size_t *length_out, struct ps_problems *problems)
{
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", length_out, problems);
    char shown[512];
    ps_escape(path, strlen(path), shown, sizeof shown);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0) {
        ps_problem_add(problems, PS_USAGE, whole_file, "cannot open the config file %s: %s", shown,
                       strerror(errno));
        if (file >= 0)
            close(file);
        return NULL;
    }
    char *text = NULL;
    if (S_ISDIR(info.st_mode))
        ps_problem_add(problems, PS_USAGE, whole_file, "%s is a folder: name the config file in it",
                       shown);
    else
        text = read_all(file, shown, length_out, problems);
    close(file);
    return text;
}

bool ps_source_check(const struct ps_source *source, int source_index, struct ps_problems *problems)
{
    const unsigned char *s = (const unsigned char *)source->text;
    size_t bom = source->length >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    struct ps_place place = {source_index, 1, 1, 1};
    int open = 0;
    for (size_t i = bom; i < source->length;) {
        size_t n = ps_utf8_length(source->text + i, source->length - i);
        bool control = n == 1 && ((s[i] < 0x20 && strchr("\t\r\n", s[i]) == NULL) || s[i] == 0x7f);
        control = control || s[i] == '\0';
        if (n == 0 || control) {
            ps_problem_add(problems, PS_USAGE, place,
                           n == 0 ? "invalid UTF-8 (byte 0x%02X): save the config as UTF-8"
                                  : "control character 0x%02X: a config is plain text",
                           s[i]);
            return false;
        }
        open += (s[i] == '[' || s[i] == '{') - (open > 0 && (s[i] == ']' || s[i] == '}'));
        if (open > PS_CONFIG_BRACKETS_MAX) {
            ps_problem_add(problems, PS_USAGE, place,
                           "brackets nested more than %d deep: no config needs that",
                           PS_CONFIG_BRACKETS_MAX);
            return false;
        }
        place.column++;
        if (s[i] == '\n') {
            place.line++;
            place.column = 1;
        }
        i += n;
    }
    return true;
}
