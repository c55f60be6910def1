// SPDX-License-Identifier: Apache-2.0
// docs/penstock.1 and docs/reference.md, from the tables. The committed files are what these
// functions print; a test compares them.
#include "app/app.h"

#include "pipeline/penstock.h"

struct exit_code {
    enum ps_status status;
    const char *meaning;
};

static const struct exit_code exit_codes[] = {
    {PS_OK, "done"},
    {PS_USAGE, "wrong command line or config"},
    {PS_INPUT, "an input is missing or malformed"},
    {PS_OUTPUT, "an output is refused or failed"},
    {PS_DEVICE, "GPU or memory"},
    {PS_BUG, "a bug in penstock"},
    {PS_INTERRUPTED, "interrupted by a signal"},
};
enum { EXIT_CODE_COUNT = sizeof exit_codes / sizeof *exit_codes };

// Text for roff: backslashes and dashes as themselves, no line that starts a request.
static void add_roff(struct ps_text *out, const char *text)
{
    bool at_start = true;
    for (; *text != '\0'; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            ps_text_add(out, "\\&");
        if (*text == '\\')
            ps_text_add(out, "\\e");
        else if (*text == '-')
            ps_text_add(out, "\\-");
        else if (*text == '\n')
            ps_text_add(out, "\n.PP\n");
        else
            ps_text_append(out, text, 1);
        at_start = *text == '\n';
    }
    ps_text_add(out, "\n");
}

static void add_manual_flags(struct ps_text *out, const struct app_flag *flags)
{
    for (; flags->name != NULL; flags++) {
        ps_text_add(out, ".TP\n.B ");
        add_roff(out, flags->name);
        if (flags->argument != NULL) {
            out->length--; // the newline: \fR continues the line
            ps_text_add(out, " \\fI");
            add_roff(out, flags->argument);
            out->length--;
            ps_text_add(out, "\\fR\n");
        }
        add_roff(out, flags->help);
    }
}

static void add_manual_command(struct ps_text *out, const struct app_command *command)
{
    ps_text_printf(out, ".SS penstock %s [FLAGS] %s\n", command->name, command->operands);
    add_roff(out, command->summary);
    ps_text_add(out, ".PP\n");
    add_roff(out, command->description);
    add_manual_flags(out, command->flags);
}

static bool add_manual_topic(void *context, const struct app_topic *topic)
{
    struct ps_text *out = context;
    ps_text_printf(out, ".SS %s %s\n", topic->group, topic->name);
    add_roff(out, topic->help);
    for (int i = 0; i < 2; i++) {
        const struct ps_option *option = topic->options[i];
        if (option == NULL || option->key == NULL)
            continue;
        if (topic->title[i][0] != '\0')
            ps_text_printf(out, ".PP\n%s:\n", topic->title[i]);
        for (; option->key != NULL; option++) {
            char expected[512];
            ps_text_printf(out, ".TP\n.B %s\n", option->key);
            add_roff(out, option->help);
            ps_text_add(out, ".br\n");
            add_roff(out, ps_option_expected(option, expected, sizeof expected));
            if (option->required)
                ps_text_add(out, ".br\nrequired\n");
            if (option->fallback == NULL || option->required)
                continue;
            ps_text_add(out, ".br\ndefault ");
            add_roff(out, option->fallback[0] ? option->fallback : "\"\"");
        }
    }
    return true;
}

void app_manual(struct ps_text *out)
{
    ps_text_add(out, ".\\\" Made by `penstock help --man`; do not edit.\n");
    ps_text_printf(out, ".TH PENSTOCK 1 \"\" \"penstock %s\" \"User Commands\"\n",
                   PENSTOCK_VERSION);
    ps_text_add(out, ".SH NAME\npenstock \\- stream arrays that fit in no memory through a GPU\n"
                     ".SH SYNOPSIS\n.B penstock\n.I COMMAND\n[FLAGS] ...\n.SH DESCRIPTION\n"
                     "Reads arrays from HDF5, CSV, NumPy and raw files block by block, runs them "
                     "through stages\non a GPU or a CPU, and writes the results, as a YAML config "
                     "says.\n.SH COMMANDS\n");
    for (const struct app_command *command = app_commands; command->name != NULL; command++)
        add_manual_command(out, command);
    ps_text_add(out, ".SH CONFIG KEYS, FORMATS AND STAGES\n");
    app_topics(add_manual_topic, out);
    ps_text_add(out, ".SH EXIT STATUS\n");
    for (int i = 0; i < EXIT_CODE_COUNT; i++)
        ps_text_printf(out, ".TP\n.B %d\n%s\n", exit_codes[i].status, exit_codes[i].meaning);
    ps_text_add(out, ".SH EXAMPLES\n.nf\npenstock run configs/quickstart.yaml\n"
                     "penstock plan job.yaml \\-\\-set run.block=64MiB\n"
                     "penstock inspect data.h5\npenstock ops reduce\n.fi\n");
}

static void add_reference_command(struct ps_text *out, const struct app_command *command)
{
    ps_text_printf(out,
                   "### `penstock %s [FLAGS]%s%s`\n\n%s.\n\n%s\n\n| flag | meaning |\n"
                   "|---|---|\n",
                   command->name, command->operands[0] ? " " : "", command->operands,
                   command->summary, command->description);
    for (const struct app_flag *flag = command->flags; flag->name != NULL; flag++)
        ps_text_printf(out, "| `%s%s%s` | %s |\n", flag->name, flag->argument ? " " : "",
                       flag->argument ? flag->argument : "", flag->help);
    ps_text_add(out, "\n");
}

static bool add_reference_topic(void *context, const struct app_topic *topic)
{
    app_topic_markdown(topic, context);
    return true;
}

void app_reference(struct ps_text *out)
{
    ps_text_add(out, "<!-- Made by `penstock help --markdown`; do not edit. -->\n# Reference\n\n"
                     "## Commands\n\n");
    for (const struct app_command *command = app_commands; command->name != NULL; command++)
        add_reference_command(out, command);
    ps_text_add(out, "## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (int i = 0; i < EXIT_CODE_COUNT; i++)
        ps_text_printf(out, "| %d | %s |\n", exit_codes[i].status, exit_codes[i].meaning);
    ps_text_add(out, "\n## Config keys, formats and stages\n\n");
    app_topics(add_reference_topic, out);
    if (out->length > 1 && !out->failed)
        out->length--; // one empty line too many at the end
}
