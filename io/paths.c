// SPDX-License-Identifier: Apache-2.0
// Patterns are matched here and not by glob(3), whose answer depends on the locale, and which takes
// brackets in the name of a folder that exists for a pattern.
#include "io/paths.h"

#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- Order ----

// Digits at *a and *b by value; both are left behind them. Equal values: 0.
static int compare_numbers(const char **a, const char **b)
{
    const char *x = *a + strspn(*a, "0"), *y = *b + strspn(*b, "0");
    size_t n = strspn(x, "0123456789"), m = strspn(y, "0123456789");
    *a = x + n;
    *b = y + m;
    if (n != m)
        return n < m ? -1 : 1;
    return strncmp(x, y, n);
}

static int rank_of(char c)
{
    return c == '\0' ? 0 : c == '/' ? 1 : (unsigned char)c + 1;
}

int ps_path_compare(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x != '\0' || *y != '\0') {
        if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
            int order = compare_numbers(&x, &y);
            if (order != 0)
                return order;
            continue;
        }
        if (*x != *y)
            return rank_of(*x) - rank_of(*y);
        x++;
        y++;
    }
    return strcmp(a, b); // 1 and 01: any order, but always the same
}

// ---- Patterns ----

bool ps_path_is_pattern(const char *path)
{
    return strpbrk(path, "*?[") != NULL;
}

// The next character; a byte that is no UTF-8 counts as one.
static unsigned take(const char **text)
{
    size_t length = ps_utf8_length(*text, strlen(*text));
    const unsigned char *p = (const unsigned char *)*text;
    *text += length > 0 ? length : 1;
    if (length < 2)
        return length == 1 ? p[0] : 0x110000u + p[0];
    unsigned code = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (p[i] & 63u);
    return code;
}

// Behind a '['. NULL: no closing bracket, so it is an ordinary character.
static const char *match_set(const char *pattern, unsigned c, bool *fits)
{
    bool negated = *pattern == '!' || *pattern == '^', found = false;
    pattern += negated;
    for (bool first = true; first || *pattern != ']'; first = false) {
        if (*pattern == '\0')
            return NULL;
        unsigned low = take(&pattern), high = low;
        if (*pattern == '-' && pattern[1] != ']' && pattern[1] != '\0') {
            pattern++;
            high = take(&pattern);
        }
        found = found || (low <= c && c <= high);
    }
    *fits = found != negated;
    return pattern + 1;
}

// One step of the pattern against one character. NULL: they do not fit.
static const char *match_one(const char *pattern, unsigned c)
{
    bool fits = false;
    if (*pattern == '?')
        return pattern + 1;
    const char *behind = *pattern == '[' ? match_set(pattern + 1, c, &fits) : NULL;
    if (behind != NULL)
        return fits ? behind : NULL;
    if (*pattern == '\\' && pattern[1] != '\0')
        pattern++;
    return *pattern != '\0' && take(&pattern) == c ? pattern : NULL;
}

// Goes back to the last star only, so that time is at most the product of the lengths.
bool ps_path_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;
    if (*name == '.' && *pattern != '.')
        return false;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
            continue;
        }
        const char *rest = name, *next = match_one(pattern, take(&rest));
        if (next == NULL && star == NULL)
            return false;
        if (next == NULL) {
            take(&resume);
            rest = resume;
            next = star;
        }
        pattern = next;
        name = rest;
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

// ---- Files ----

static bool append(struct ps_paths *paths, const char *path, struct ps_error *error)
{
    if (paths->count == PS_PATHS_MAX)
        return ps_fail(error, PS_INPUT, "more than %d files for one input", PS_PATHS_MAX);
    if (paths->count == paths->capacity) {
        size_t capacity = 2 * paths->capacity + 4;
        char **list = realloc(paths->list, capacity * sizeof *list);
        if (list == NULL)
            return ps_fail_memory(error, capacity * sizeof *list, "the names of files");
        paths->list = list;
        paths->capacity = capacity;
    }
    char *copy = ps_strdup(path);
    if (copy == NULL)
        return ps_fail_memory(error, strlen(path), "the name of a file");
    paths->list[paths->count++] = copy;
    return true;
}

void ps_paths_free(struct ps_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->list[i]);
    free(paths->list);
    *paths = (struct ps_paths){0};
}

static bool cannot_read(const char *folder, struct ps_error *error)
{
    char shown[600];
    return ps_fail_errno(error, PS_INPUT, "cannot list the folder %s",
                         ps_escape(folder, strlen(folder), shown, sizeof shown));
}

static bool expand(struct ps_paths *paths, struct ps_text *done, const char *rest,
                   struct ps_error *error);

// Every name in the folder `done` that fits, followed by the rest.
static bool expand_folder(struct ps_paths *paths, struct ps_text *done, const char *pattern,
                          const char *rest, struct ps_error *error)
{
    const char *folder = done->length > 0 ? done->data : ".";
    size_t length = done->length;
    DIR *list = opendir(folder);
    if (list == NULL && (errno == ENOENT || errno == ENOTDIR))
        return true; // nothing matches
    if (list == NULL)
        return cannot_read(folder, error);
    bool fine = true;
    struct dirent *entry;
    while (fine && (errno = 0, entry = readdir(list)) != NULL) {
        if (!ps_path_matches(pattern, entry->d_name))
            continue;
        done->length = length;
        ps_text_add(done, entry->d_name);
        fine = expand(paths, done, rest, error);
    }
    if (fine && errno != 0) {
        done->data[length] = '\0';
        fine = cannot_read(folder, error);
    }
    closedir(list);
    done->length = length;
    return fine;
}

// What is left once nothing follows: a file that is there.
static bool take_match(struct ps_paths *paths, const char *path, struct ps_error *error)
{
    struct stat status;
    char shown[600];
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return ps_fail(error, PS_INPUT,
                       "%s is a folder and fits the pattern as well: change the "
                       "pattern so that it fits files only",
                       ps_escape(path, strlen(path), shown, sizeof shown));
    return append(paths, path, error); // a broken link is told when it is opened
}

// done ends with a slash, or is empty, or is all there is when rest is empty.
static bool expand(struct ps_paths *paths, struct ps_text *done, const char *rest,
                   struct ps_error *error)
{
    struct stat status;
    size_t slashes = strspn(rest, "/"), before = done->length;
    ps_text_append(done, rest, slashes);
    rest += slashes;
    size_t part = strcspn(rest, "/");
    if (done->failed)
        return ps_fail_memory(error, done->length, "the name of a file");
    if (part == 0)
        return take_match(paths, done->data, error);
    size_t length = done->length;
    ps_text_append(done, rest, part);
    if (done->failed)
        return ps_fail_memory(error, done->length, "the name of a file");
    char *name = done->data + length;
    bool fine = true;
    if (lstat(done->data, &status) == 0) {
        fine = expand(paths, done, rest + part, error);
    } else if (ps_path_is_pattern(name)) {
        char *pattern = strndup(rest, part);
        done->length = length;
        done->data[length] = '\0';
        fine = pattern != NULL ? expand_folder(paths, done, pattern, rest + part, error)
                               : ps_fail_memory(error, part, "a pattern");
        free(pattern);
    }
    done->length = before;
    return fine;
}

static int by_path(const void *a, const void *b)
{
    return ps_path_compare(*(const char *const *)a, *(const char *const *)b);
}

// The folder in which nothing matched: up to the first part that is a pattern.
static bool no_match(const char *path, struct ps_error *error)
{
    char shown[400], folder[400];
    struct stat status;
    size_t length = 0;
    for (const char *p = path; *p != '\0'; p = p + strcspn(p, "/")) {
        p += strspn(p, "/");
        if (memchr(p, '*', strcspn(p, "/")) || memchr(p, '?', strcspn(p, "/")) ||
            memchr(p, '[', strcspn(p, "/")))
            break;
        length = (size_t)(p + strcspn(p, "/") - path);
    }
    char *outer = length > 0 ? strndup(path, length) : ps_strdup(path[0] == '/' ? "/" : ".");
    if (outer == NULL)
        return ps_fail_memory(error, length, "a pattern");
    bool there = stat(outer, &status) == 0;
    const char *pattern = path + length + (path[length] == '/');
    ps_fail(error, PS_INPUT, "no file matches '%s' in the folder %s%s",
            ps_escape(pattern, strlen(pattern), shown, sizeof shown),
            ps_escape(outer, strlen(outer), folder, sizeof folder),
            there ? "" : ", which does not exist");
    free(outer);
    return false;
}

bool ps_paths_expand(struct ps_paths *paths, const char *path, struct ps_error *error)
{
    struct stat status;
    size_t first = paths->count;
    if (!ps_path_is_pattern(path) || lstat(path, &status) == 0)
        return append(paths, path, error);
    struct ps_text done = {0};
    bool fine = expand(paths, &done, path, error);
    ps_text_free(&done);
    if (!fine)
        return false;
    if (paths->count == first)
        return no_match(path, error);
    qsort(paths->list + first, paths->count - first, sizeof *paths->list, by_path);
    return true;
}
