// SPDX-License-Identifier: Apache-2.0
// penstock: finds the command, runs it, turns its status into the exit code.
#include "app/app.h"

#include "pipeline/penstock.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static enum ps_status report_unknown(const char *word)
{
    const char *names[16];
    size_t count = 0;
    for (const struct app_command *command = app_commands; command->name != NULL; command++)
        if (count < sizeof names / sizeof *names)
            names[count++] = command->name;
    const char *near = ps_nearest(word, names, count);
    char shown[128];
    return app_usage("no command '%s'%s%s%s; `penstock --help` lists them",
                     ps_escape(word, strlen(word), shown, sizeof shown),
                     near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static enum ps_status run_command(const struct app_command *command, int argc, char **argv)
{
    struct app_args args;
    bool help;
    if (!app_args_parse(command, argc, argv, &args, &help)) {
        app_args_free(&args);
        return PS_USAGE;
    }
    enum ps_status status;
    if (help) {
        struct ps_text text = {0};
        app_command_help_text(command, &text);
        status = app_print_text(&text);
    } else {
        status = command->run(&args);
    }
    app_args_free(&args);
    return status;
}

static enum ps_status dispatch(int argc, char **argv)
{
    if (argc < 2) {
        struct ps_text text = {0};
        app_help_text(&text);
        app_print_text(&text);
        return app_usage("a command is needed");
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        app_print("penstock %s\n", PENSTOCK_VERSION);
        return PS_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        struct ps_text text = {0};
        app_help_text(&text);
        return app_print_text(&text);
    }
    if (word[0] == '-')
        return app_usage("the command comes first: `penstock COMMAND %s ...`; "
                         "`penstock --help` lists them",
                         word);
    const struct app_command *command = app_command_find(word);
    return command == NULL ? report_unknown(word) : run_command(command, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    // Full disks, limits and closed pipes come back as errors of write().
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    enum ps_status status = dispatch(argc, argv);
    if (!app_stdout_close() && status == PS_OK)
        status = PS_OUTPUT;
    return status;
}
