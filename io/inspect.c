// SPDX-License-Identifier: Apache-2.0
#include "io/inspect.h"

#include <ctype.h>
#include <string.h>

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

void ps_inspect_file(const char *path, const char *format, uint64_t bytes, struct ps_text *out)
{
    char shown[512], size[32];
    ps_text_printf(out, "file: %s\nformat: %s\n",
                   ps_escape(path, strlen(path), shown, sizeof shown), format);
    if (bytes < 1024)
        ps_text_printf(out, "size: %llu bytes\n", (unsigned long long)bytes);
    else
        ps_text_printf(out, "size: %s (%llu bytes)\n", ps_size_text(bytes, size, sizeof size),
                       (unsigned long long)bytes);
}

// An array name: letters, digits and '_', not beginning with a digit.
static void add_name(const char *path, struct ps_text *out)
{
    const char *name = name_of(path);
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name);
    if (length == 0 || isdigit((unsigned char)name[0]))
        ps_text_add(out, "x");
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        ps_text_append(out, plain ? &c : "_", 1);
    }
}

void ps_inspect_quoted(const char *text, struct ps_text *out)
{
    bool control = false;
    for (const char *p = text; *p != '\0'; p++)
        control = control || (unsigned char)*p < 0x20 || *p == 0x7f;
    ps_text_add(out, control ? "\"" : "'");
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (control && (c < 0x20 || c == 0x7f))
            ps_text_printf(out, "\\x%02x", c);
        else if (control ? c == '"' || c == '\\' : c == '\'')
            ps_text_printf(out, "%c%c", control ? '\\' : '\'', c);
        else
            ps_text_append(out, p, 1);
    }
    ps_text_add(out, control ? "\"" : "'");
}

// Plain where YAML surely reads it so.
static void add_path(const char *path, struct ps_text *out)
{
    bool plain = path[0] != '-' && path[0] != '~';
    bool word = false; // "no.npy" is fine, a bare number is not
    for (const char *p = path; *p != '\0'; p++) {
        plain = plain && (isalnum((unsigned char)*p) || strchr("/._-+", *p) != NULL);
        word = word || isalpha((unsigned char)*p) || *p == '/';
    }
    if (plain && word)
        ps_text_add(out, path);
    else
        ps_inspect_quoted(path, out);
}

void ps_inspect_entry(const char *path, const char *more, struct ps_text *out)
{
    ps_text_add(out, "inputs:\n  ");
    add_name(path, out);
    ps_text_add(out, ": {path: ");
    add_path(path, out);
    if (more != NULL && *more != '\0')
        ps_text_printf(out, ", %s", more);
    ps_text_add(out, "}\n");
}
