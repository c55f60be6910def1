// SPDX-License-Identifier: Apache-2.0
// --help, from the tables of commands and flags.
#include "app/app.h"

#include <stdio.h>
#include <string.h>

#define TEXT_WIDTH 90

// Adds the words of text, broken at TEXT_WIDTH; every line but the first starts with indent blanks.
static void add_wrapped(struct ps_text *out, const char *text, int column, int indent)
{
    bool at_start = true;
    while (*text != '\0') {
        int length = (int)strcspn(text, " \n");
        bool breaks = !at_start && column + 1 + length > TEXT_WIDTH;
        if (breaks) {
            ps_text_printf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!at_start) {
            ps_text_add(out, " ");
            column++;
        }
        ps_text_append(out, text, (size_t)length);
        column += length;
        text += length;
        at_start = *text == '\n';
        if (at_start) {
            ps_text_printf(out, "\n%*s", indent, "");
            column = indent;
        }
        text += *text != '\0';
    }
    ps_text_add(out, "\n");
}

static void add_flags(struct ps_text *out, const struct app_flag *flags)
{
    for (; flags->name != NULL; flags++) {
        char head[64];
        snprintf(head, sizeof head, "%s%s%s", flags->name, flags->argument ? " " : "",
                 flags->argument ? flags->argument : "");
        ps_text_printf(out, "  %-20s  ", head);
        add_wrapped(out, flags->help, 24, 24);
    }
}

void app_command_help_text(const struct app_command *command, struct ps_text *out)
{
    ps_text_printf(out, "Usage: penstock %s [FLAGS]%s%s\n\n%s.\n\n", command->name,
                   command->operands[0] != '\0' ? " " : "", command->operands, command->summary);
    add_wrapped(out, command->description, 0, 0);
    ps_text_add(out, "\nFlags:\n");
    add_flags(out, command->flags);
    add_flags(out, app_common_flags);
}

void app_help_text(struct ps_text *out)
{
    ps_text_add(out, "penstock streams arrays that fit in no memory through stages on a GPU or a "
                     "CPU.\n\nUsage: penstock COMMAND [FLAGS] ...\n\nCommands:\n");
    for (const struct app_command *command = app_commands; command->name != NULL; command++)
        ps_text_printf(out, "  %-8s  %s\n", command->name, command->summary);
    ps_text_add(out, "\n`penstock COMMAND --help` shows a command's flags, `penstock --version` "
                     "the version.\nExit codes: 0 done, 2 usage or config, 3 input, 4 output, "
                     "5 device or memory, 70 a bug,\n75 interrupted.\n");
}

enum ps_status app_help(const struct app_args *args)
{
    struct ps_text text = {0};
    bool man = app_args_has(args, "--man"), markdown = app_args_has(args, "--markdown");
    if (man + markdown + args->operand_count > 1)
        return app_usage("one of --man, --markdown or a command's name");
    const struct app_command *command =
        args->operand_count > 0 ? app_command_find(args->operands[0]) : NULL;
    if (args->operand_count > 0 && command == NULL)
        return app_usage("no command '%s'; `penstock --help` lists them", args->operands[0]);
    if (man)
        app_manual(&text);
    else if (markdown)
        app_reference(&text);
    else if (command != NULL)
        app_command_help_text(command, &text);
    else
        app_help_text(&text);
    return app_print_text(&text);
}
