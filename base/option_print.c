// SPDX-License-Identifier: Apache-2.0
// Values back to YAML flow text, for provenance.
#include "base/option.h"

#include <string.h>
#include <strings.h>

// A plain YAML scalar where that reads back as the same text, else a double-quoted one (which is
// JSON's form, as YAML 1.2 allows).
static void print_word(const char *word, bool force_quotes, struct ps_text *out)
{
    size_t n = strlen(word);
    bool plain = n > 0 && !force_quotes &&
                 strspn(word, "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_./+-") == n;
    plain = plain && strcasecmp(word, "null") != 0 && word[0] != '-';
    if (plain) {
        ps_text_add(out, word);
        return;
    }
    ps_text_add(out, "\"");
    for (const unsigned char *p = (const unsigned char *)word; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            ps_text_printf(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            ps_text_printf(out, "\\u%04x", *p);
        else
            ps_text_append(out, (const char *)p, 1);
    }
    ps_text_add(out, "\"");
}

static void print_list(const struct ps_value *value, struct ps_text *out)
{
    bool numbers = value->option->kind == PS_SHAPE || value->option->kind == PS_AXES;
    ps_text_add(out, "[");
    for (int i = 0; i < value->count; i++) {
        ps_text_add(out, i > 0 ? ", " : "");
        if (numbers)
            ps_text_printf(out, "%lld", (long long)value->integers[i]);
        else
            print_word(value->words[i], value->quoted[i], out);
    }
    ps_text_add(out, "]");
}

static void print_params(const struct ps_value *value, struct ps_text *out)
{
    ps_text_add(out, "{");
    for (int i = 0; i < value->count; i++) {
        ps_text_printf(out, "%s%s: ", i > 0 ? ", " : "", value->words[i]);
        if (!value->quoted[i]) { // written as a whole number
            ps_text_printf(out, "%lld", (long long)value->integers[i]);
            continue;
        }
        size_t from = out->length;
        ps_number_print(value->numbers[i], out);
        if (!out->failed && strpbrk(out->data + from, ".e") == NULL)
            ps_text_add(out, ".0"); // 1e3 was a number with a fraction: it stays one
    }
    ps_text_add(out, "}");
}

static void print_types(const struct ps_value *value, struct ps_text *out)
{
    ps_text_add(out, "{");
    for (int i = 0; i < value->count; i++) {
        ps_text_add(out, i > 0 ? ", " : "");
        print_word(value->words[i], value->quoted[i], out);
        ps_text_printf(out, ": %s", value->texts[i]);
    }
    ps_text_add(out, "}");
}

static void print_terms(const struct ps_value *value, struct ps_text *out)
{
    ps_text_add(out, "{");
    for (int i = 0; i < value->count; i++) {
        ps_text_printf(out, "%s%s: ", i > 0 ? ", " : "", value->words[i]);
        print_word(value->texts[i], true, out);
    }
    ps_text_add(out, "}");
}

void ps_value_print(const struct ps_value *value, struct ps_text *out)
{
    if (value->automatic) {
        ps_text_add(out, "auto");
        return;
    }
    switch (value->option->kind) {
    case PS_PARAMS:
        print_params(value, out);
        return;
    case PS_TERMS:
        print_terms(value, out);
        return;
    case PS_TYPES:
        if (value->count > 0)
            print_types(value, out);
        else
            ps_text_add(out, value->text);
        return;
    case PS_AXES:
        if (value->listed)
            print_list(value, out);
        else
            ps_text_add(out, value->text);
        return;
    case PS_CHOICES:
    case PS_NAMES:
    case PS_PATHS:
    case PS_WORDS:
    case PS_SHAPE:
        if (value->listed || value->count != 1)
            print_list(value, out);
        else if (value->option->kind == PS_SHAPE)
            ps_text_printf(out, "%lld", (long long)value->integers[0]);
        else
            print_word(value->words[0], value->quoted[0], out);
        return;
    case PS_TEXT:
    case PS_PATH:
    case PS_NAME:
    case PS_CHOICE:
        print_word(value->text, value->option->kind == PS_TEXT, out);
        return;
    default:
        ps_text_add(out, value->text);
    }
}
