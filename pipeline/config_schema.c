// SPDX-License-Identifier: Apache-2.0
// JSON Schema (draft 2020-12) of the config, from the option tables, for editors. It says what
// the tables say and no more: rules between keys are checked by the program alone.
#include "pipeline/config_parts.h"

#include <string.h>

static void string(const char *text, struct ps_text *out)
{
    ps_text_add(out, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            ps_text_printf(out, "\\%c", *p);
        else if (*p < 0x20)
            ps_text_printf(out, "\\u%04x", *p);
        else
            ps_text_append(out, (const char *)p, 1);
    }
    ps_text_add(out, "\"");
}

static void enumeration(const char *choices, struct ps_text *out)
{
    ps_text_add(out, "{\"enum\": [\"");
    for (const char *p = choices; *p != '\0'; p++)
        ps_text_append(out, *p == '|' ? "\", \"" : p, *p == '|' ? 4 : 1);
    ps_text_add(out, "\"]}");
}

static void dtypes(struct ps_text *out)
{
    ps_text_add(out, "{\"enum\": [");
    for (int i = 0; i < PS_DTYPE_COUNT; i++)
        ps_text_printf(out, "%s\"%s\", \"%s\"", i > 0 ? ", " : "",
                       ps_dtype_info((enum ps_dtype)i)->name,
                       ps_dtype_info((enum ps_dtype)i)->numpy);
    ps_text_add(out, ", \"f2\", \"f4\", \"f8\", \"i1\", \"i2\", \"i4\", \"u1\", \"u2\", \"u4\", "
                     "\"b1\"]}");
}

static void types(const struct ps_option *option, struct ps_text *out)
{
    for (int in_map = 0; in_map < 2; in_map++) {
        ps_text_add(out, in_map ? ", {\"type\": \"object\", \"additionalProperties\": {\"anyOf\": ["
                                : "");
        enumeration(option->choices, out);
        ps_text_add(out, ", ");
        dtypes(out);
        ps_text_add(out, in_map ? "]}}" : "");
    }
}

static void number(const struct ps_option *option, const char *type, struct ps_text *out)
{
    ps_text_printf(out, "{\"type\": \"%s\"", type);
    if (option->min < option->max) {
        ps_text_add(out, ", \"minimum\": ");
        ps_number_print(option->min, out);
        ps_text_add(out, ", \"maximum\": ");
        ps_number_print(option->max, out);
    }
    ps_text_add(out, "}");
}

#define NAME "{\"type\": \"string\", \"pattern\": \"^[A-Za-z_][A-Za-z0-9_]*$\"}"
#define PATH "{\"type\": \"string\", \"pattern\": \"^[^~$][^$]*$\"}"
#define SCALAR "{\"type\": [\"string\", \"number\", \"boolean\"]}"
#define SIZE                                                                                       \
    "{\"type\": \"integer\", \"minimum\": 0}, {\"type\": \"string\", \"pattern\": "                \
    "\"^[0-9.]+ *(B|bytes?|[KMGT]iB|[KMGT]B|kB)?$\"}"

static void one_or_list(const char *element, struct ps_text *out)
{
    ps_text_printf(out, "%s, {\"type\": \"array\", \"items\": %s}", element, element);
}

// The alternatives of a kind, separated by commas, for "anyOf".
static void alternatives(const struct ps_option *option, struct ps_text *out)
{
    struct ps_text choices = {0};
    switch (option->kind) {
    case PS_TEXT:
        ps_text_add(out, SCALAR);
        break;
    case PS_PATH:
        ps_text_add(out, PATH);
        break;
    case PS_PATHS:
        one_or_list(PATH, out);
        break;
    case PS_TRUTH:
        ps_text_add(out, "{\"type\": \"boolean\"}");
        break;
    case PS_INTEGER:
    case PS_COUNT:
        number(option, "integer", out);
        break;
    case PS_NUMBER:
        number(option, "number", out);
        break;
    case PS_SIZE:
        ps_text_add(out, SIZE);
        break;
    case PS_BLOCK:
        ps_text_add(out, SIZE ", {\"type\": \"string\", \"pattern\": \"^[0-9]+ *rows?$\"}");
        break;
    case PS_CHOICE:
        enumeration(option->choices, out);
        break;
    case PS_CHOICES:
        enumeration(option->choices, &choices);
        one_or_list(choices.data != NULL ? choices.data : "{}", out);
        break;
    case PS_DTYPE:
        dtypes(out);
        break;
    case PS_TYPES:
        types(option, out);
        break;
    case PS_NAME:
        ps_text_add(out, NAME);
        break;
    case PS_NAMES:
        one_or_list(NAME, out);
        break;
    case PS_WORDS:
        one_or_list(SCALAR, out);
        break;
    case PS_SHAPE:
        one_or_list("{\"type\": \"integer\", \"minimum\": -1}", out);
        break;
    case PS_PARAMS:
        ps_text_add(out, "{\"type\": \"object\", \"additionalProperties\": {\"type\": "
                         "\"number\"}}");
        break;
    case PS_TERMS:
        ps_text_printf(out, "{\"type\": \"object\", \"additionalProperties\": %s}", SCALAR);
        break;
    case PS_AXES:
        ps_text_add(out, "{\"enum\": [\"rows\", \"all\"]}, ");
        one_or_list("{\"type\": \"integer\", \"minimum\": 0}", out);
        break;
    }
    out->failed = out->failed || choices.failed;
    ps_text_free(&choices);
}

static void property(const struct ps_option *option, struct ps_text *out)
{
    string(option->key, out);
    ps_text_add(out, ": {\"description\": ");
    string(option->help != NULL ? option->help : "", out);
    ps_text_add(out, ", \"anyOf\": [");
    alternatives(option, out);
    if (option->fallback != NULL && strcmp(option->fallback, "auto") == 0)
        ps_text_add(out, ", {\"const\": \"auto\"}");
    ps_text_add(out, "]}");
}

// An object with the keys of up to two tables; the key `fixed` (format, op) has one value.
// needs_path: the tables leave it open, as some formats need none.
static void object(const struct ps_option *common, const struct ps_option *own, const char *fixed,
                   const char *name, bool needs_path, const char *extra, struct ps_text *out)
{
    const struct ps_option *const tables[] = {common, own};
    struct ps_text required = {0};
    const char *comma = "";
    ps_text_add(out, "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
    for (int t = 0; t < 2; t++) {
        for (const struct ps_option *o = tables[t]; o != NULL && o->key != NULL; o++) {
            ps_text_printf(out, "%s\n      ", comma);
            comma = ",";
            if (fixed != NULL && strcmp(o->key, fixed) == 0)
                ps_text_printf(out, "\"%s\": {\"const\": \"%s\"}", fixed, name);
            else
                property(o, out);
            if (o->required || (needs_path && strcmp(o->key, "path") == 0))
                ps_text_printf(&required, "%s\"%s\"", required.length > 0 ? ", " : "", o->key);
        }
    }
    ps_text_printf(out, "%s}", extra);
    if (required.length > 0)
        ps_text_printf(out, ", \"required\": [%s]", required.data);
    ps_text_add(out, "}");
    out->failed = out->failed || required.failed;
    ps_text_free(&required);
}

static void formats(bool for_writing, struct ps_text *out)
{
    const char *comma = "";
    for (int i = 0; ps_formats[i] != NULL; i++) {
        const struct ps_format *format = ps_formats[i];
        if (for_writing ? format->writer == NULL : format->read_options == NULL)
            continue;
        ps_text_printf(out, "%s\n    ", comma);
        comma = ",";
        object(for_writing ? ps_output_options : ps_input_options,
               for_writing ? format->write_options : format->read_options, "format", format->name,
               (format->flags & PS_NO_PATH) == 0, "", out);
    }
}

void ps_config_schema(struct ps_text *out)
{
    ps_text_add(out, "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                     "\"title\": \"penstock config, version 1\", \"type\": \"object\",\n"
                     "\"additionalProperties\": false, \"required\": [\"version\", \"inputs\"],\n"
                     "\"properties\": {\n  \"version\": {\"const\": 1},\n  \"inputs\": {\"type\": "
                     "\"object\", \"additionalProperties\": {\"anyOf\": [");
    formats(false, out);
    ps_text_add(out, "]}},\n  \"stages\": {\"type\": \"array\", \"items\": {\"anyOf\": [");
    for (int i = 0; ps_stage_types[i] != NULL; i++) {
        ps_text_add(out, i > 0 ? ",\n    " : "\n    ");
        object(ps_stage_options, ps_stage_types[i]->options, "op", ps_stage_types[i]->name, false,
               "", out);
    }
    ps_text_add(out, "]}},\n  \"outputs\": {\"type\": \"object\", \"additionalProperties\": "
                     "{\"anyOf\": [");
    formats(true, out);
    struct ps_text cuda = {0};
    ps_text_add(&cuda, ",\n      \"cuda\": ");
    object(ps_run_cuda_options, NULL, NULL, NULL, false, "", &cuda);
    ps_text_add(out, "]}},\n  \"run\": ");
    object(ps_run_options, NULL, NULL, NULL, false, cuda.data != NULL ? cuda.data : "", out);
    out->failed = out->failed || cuda.failed;
    ps_text_free(&cuda);
    ps_text_add(out, "}}\n");
}
