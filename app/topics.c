// SPDX-License-Identifier: Apache-2.0
// Everything that has option tables, as topics: parts of the config, formats, stages. Adding a
// format or a stage needs no change here.
#include "app/app.h"

#include "io/format.h"
#include "kernels/stage.h"
#include "pipeline/config.h"

static const struct app_topic config_topics[] = {
    {"config",
     "inputs",
     "Arrays read from files; one entry per array, named by its key",
     {"every format"},
     {ps_input_options}},
    {"config",
     "stages",
     "Steps in order, a list; each makes one array",
     {"every stage"},
     {ps_stage_options}},
    {"config",
     "outputs",
     "Arrays written to files; named by its key, an array's name",
     {"every format"},
     {ps_output_options}},
    {"config", "run", "How the job is run", {""}, {ps_run_options}},
    {"config", "run.cuda", "Launches on the GPU", {""}, {ps_run_cuda_options}},
};

static struct app_topic of_format(const struct ps_format *format)
{
    return (struct app_topic){"format",
                              format->name,
                              format->help,
                              {"reading", "writing"},
                              {format->read_options, format->write_options}};
}

static struct app_topic of_stage(const struct ps_stage_type *type)
{
    return (struct app_topic){"stage", type->name, type->help, {""}, {type->options}};
}

void app_topics(app_topic_visit *visit, void *context)
{
    for (size_t i = 0; i < sizeof config_topics / sizeof *config_topics; i++)
        if (!visit(context, &config_topics[i]))
            return;
    for (int i = 0; ps_formats[i] != NULL; i++) {
        struct app_topic topic = of_format(ps_formats[i]);
        if (!visit(context, &topic))
            return;
    }
    for (int i = 0; ps_stage_types[i] != NULL; i++) {
        struct app_topic topic = of_stage(ps_stage_types[i]);
        if (!visit(context, &topic))
            return;
    }
}

static void add_row(const struct ps_option *option, struct ps_text *out)
{
    char expected[512];
    ps_option_expected(option, expected, sizeof expected);
    ps_text_printf(out, "  %-14s  %s\n", option->key, option->help);
    ps_text_printf(out, "  %-14s    %s", "", expected);
    if (option->required)
        ps_text_add(out, "; required");
    else if (option->fallback != NULL)
        ps_text_printf(out, "; default %s", option->fallback[0] ? option->fallback : "\"\"");
    ps_text_add(out, "\n");
}

void app_topic_text(const struct app_topic *topic, struct ps_text *out)
{
    ps_text_printf(out, "%s %s: %s\n", topic->group, topic->name, topic->help);
    for (int i = 0; i < 2; i++) {
        if (topic->options[i] == NULL)
            continue;
        if (topic->title[i][0] != '\0')
            ps_text_printf(out, " %s%s\n", topic->title[i],
                           topic->options[i]->key == NULL ? ": no keys of its own" : ":");
        for (const struct ps_option *option = topic->options[i]; option->key != NULL; option++)
            add_row(option, out);
    }
    ps_text_add(out, "\n");
}

// Text inside a Markdown table: | would end the cell, and code spans keep the rest as it is.
static void add_cell(struct ps_text *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            ps_text_add(out, "\\");
        ps_text_append(out, text, 1);
    }
}

static void add_markdown_row(const struct ps_option *option, struct ps_text *out)
{
    char expected[512];
    ps_text_printf(out, "| `%s` | ", option->key);
    add_cell(out, ps_option_expected(option, expected, sizeof expected));
    ps_text_add(out, " | ");
    if (option->required) {
        ps_text_add(out, "required");
    } else if (option->fallback != NULL) {
        ps_text_add(out, "`");
        add_cell(out, option->fallback[0] ? option->fallback : "\"\"");
        ps_text_add(out, "`");
    }
    ps_text_add(out, " | ");
    add_cell(out, option->help);
    ps_text_add(out, " |\n");
}

void app_topic_markdown(const struct app_topic *topic, struct ps_text *out)
{
    ps_text_printf(out, "### %s `%s`\n\n%s.\n\n", topic->group, topic->name, topic->help);
    for (int i = 0; i < 2; i++) {
        if (topic->options[i] == NULL || topic->options[i]->key == NULL)
            continue;
        const char *title = topic->title[i];
        ps_text_printf(out, "| key%s%s%s | value | default | meaning |\n|---|---|---|---|\n",
                       title[0] ? " (" : "", title, title[0] ? ")" : "");
        for (const struct ps_option *option = topic->options[i]; option->key != NULL; option++)
            add_markdown_row(option, out);
        ps_text_add(out, "\n");
    }
}
