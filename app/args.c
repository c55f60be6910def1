// SPDX-License-Identifier: Apache-2.0
// The command line against a command's table of flags. Accepts --flag VALUE and --flag=VALUE;
// "--" ends the flags, "-" is an operand.
#include "app/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_MAX 32

static const struct app_flag *find_in(const struct app_flag *flags, const char *name, size_t length)
{
    for (; flags->name != NULL; flags++)
        if (strlen(flags->name) == length && memcmp(flags->name, name, length) == 0)
            return flags;
    return NULL;
}

static const struct app_flag *find_flag(const struct app_command *command, const char *name,
                                        size_t length)
{
    if (length == 2 && memcmp(name, "-h", 2) == 0)
        return find_in(app_common_flags, "--help", 6);
    const struct app_flag *flag = find_in(command->flags, name, length);
    return flag != NULL ? flag : find_in(app_common_flags, name, length);
}

static void report_unknown(const struct app_command *command, const char *name, size_t length)
{
    const char *names[FLAGS_MAX];
    size_t count = 0;
    for (const struct app_flag *flag = command->flags; flag->name != NULL; flag++)
        if (count < FLAGS_MAX - 1)
            names[count++] = flag->name;
    names[count++] = "--help";
    char shown[128];
    ps_escape(name, length, shown, sizeof shown);
    const char *near = ps_nearest(shown, names, count);
    app_usage("no flag %s for `penstock %s`%s%s%s; see `penstock %s --help`", shown, command->name,
              near ? ", did you mean " : "", near ? near : "", near ? "?" : "", command->name);
}

// Takes argv[*position] and, when the flag needs one, the argument after it.
static bool take_flag(const struct app_command *command, int argc, char **argv, int *position,
                      struct app_args *args)
{
    const char *word = argv[*position];
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const struct app_flag *flag = find_flag(command, word, length);
    if (flag == NULL) {
        report_unknown(command, word, length);
        return false;
    }
    if (!flag->repeats && app_args_has(args, flag->name)) {
        app_usage("%s is given twice", flag->name);
        return false;
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (flag->argument == NULL && value != NULL) {
        app_usage("%s takes no value", flag->name);
        return false;
    }
    if (flag->argument != NULL && value == NULL && ++*position < argc)
        value = argv[*position];
    if (flag->argument != NULL && value == NULL) {
        app_usage("%s needs %s after it: %s", flag->name, flag->argument, flag->help);
        return false;
    }
    args->given[args->given_count++] = (struct app_given){flag, value};
    return true;
}

static bool check_operands(const struct app_command *command, const struct app_args *args)
{
    if (args->operand_count < command->operand_min) {
        app_usage("`penstock %s` needs %s; see `penstock %s --help`", command->name,
                  command->operands, command->name);
        return false;
    }
    if (args->operand_count > command->operand_max) {
        const char *extra = args->operands[command->operand_max];
        char shown[256];
        app_usage("'%s' is one argument too many: penstock %s %s",
                  ps_escape(extra, strlen(extra), shown, sizeof shown), command->name,
                  command->operands);
        return false;
    }
    return true;
}

bool app_args_parse(const struct app_command *command, int argc, char **argv, struct app_args *args,
                    bool *help_out)
{
    *args = (struct app_args){.command = command};
    *help_out = false;
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    args->operands = calloc((size_t)argc + 1, sizeof *args->operands);
    if (args->given == NULL || args->operands == NULL) {
        app_usage("out of memory for %d arguments", argc);
        return false;
    }
    bool flags_ended = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!flags_ended && strcmp(word, "--") == 0)
            flags_ended = true;
        else if (flags_ended || word[0] != '-' || word[1] == '\0')
            args->operands[args->operand_count++] = word;
        else if (!take_flag(command, argc, argv, &i, args))
            return false;
    }
    *help_out = app_args_has(args, "--help");
    return *help_out || check_operands(command, args);
}

void app_args_free(struct app_args *args)
{
    free(args->given);
    free(args->operands);
    *args = (struct app_args){0};
}

const char *app_args_value(const struct app_args *args, const char *flag)
{
    for (int i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].flag->name, flag) == 0)
            return args->given[i].value;
    return NULL;
}

bool app_args_has(const struct app_args *args, const char *flag)
{
    for (int i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].flag->name, flag) == 0)
            return true;
    return false;
}
