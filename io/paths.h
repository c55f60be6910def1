// SPDX-License-Identifier: Apache-2.0
// Paths and patterns of paths into the files that they name, in natural order.
#ifndef PS_IO_PATHS_H
#define PS_IO_PATHS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ps_paths {
    char **list; // owned
    size_t count, capacity;
};

#define PS_PATHS_MAX 1000000

// Whether path has one of the characters that make a pattern: * ? [
bool ps_path_is_pattern(const char *path);

// Appends what path names. A part of it (between slashes) that exists under exactly that name is
// that; else * stands for any characters, ? for one, [a-z] and [!a-z] for one of a set, never for a
// slash, and not for a dot at the start of a name. Matches come in natural order. A path that is no
// pattern is appended whether it exists or not. PS_INPUT when nothing matches, naming the pattern
// and the folder, when a folder cannot be read, and when a folder matches.
bool ps_paths_expand(struct ps_paths *paths, const char *path, struct ps_error *error);
void ps_paths_free(struct ps_paths *paths);

// As strcmp, but numbers (runs of digits) by value: run-2 before run-10; a folder's files stay
// together.
int ps_path_compare(const char *a, const char *b);
// Whether the whole name (UTF-8) fits the pattern.
bool ps_path_matches(const char *pattern, const char *name);

#endif
