// SPDX-License-Identifier: Apache-2.0
// The program's own parts: commands and flags as table rows (help, manual and reference are made
// from them), messages to the terminal. Nothing below app/ prints or picks an exit code.
#ifndef PS_APP_APP_H
#define PS_APP_APP_H

#include "base/error.h"
#include "base/option.h"
#include "base/problem.h"
#include "base/text.h"

struct app_flag {
    const char *name;     // "--set"; NULL ends a table
    const char *argument; // "KEY=VALUE"; NULL: takes none
    bool repeats;         // may be given more than once
    const char *help;     // one sentence, no full stop
};

struct app_args;

struct app_command {
    const char *name;
    const char *operands; // "CONFIG", "[NAME]" or ""
    int operand_min, operand_max;
    const char *summary;     // one line, no full stop
    const char *description; // paragraphs for --help, the manual and the reference
    const struct app_flag *flags;
    enum ps_status (*run)(const struct app_args *args); // the exit code
};

struct app_given {
    const struct app_flag *flag;
    const char *value; // NULL for a flag without argument
};

struct app_args {
    const struct app_command *command;
    int given_count;
    struct app_given *given; // in the order of the command line
    int operand_count;
    const char **operands;
};

extern const struct app_command app_commands[];  // name NULL at the end
extern const struct app_flag app_common_flags[]; // --help, --version: of every command
const struct app_command *app_command_find(const char *name);

// Sorts argv (after the command's name) into args; reports what is wrong on stderr. *help_out:
// --help was among the flags, nothing else was checked. Free with app_args_free.
bool app_args_parse(const struct app_command *command, int argc, char **argv, struct app_args *args,
                    bool *help_out);
void app_args_free(struct app_args *args);
bool app_args_has(const struct app_args *args, const char *flag);
const char *app_args_value(const struct app_args *args, const char *flag); // NULL: not given

// ---- Messages (app/message.c) ----
// "penstock: error: TEXT" on stderr; returns the error's status.
enum ps_status app_fail(const struct ps_error *error);
// The same for a mistake on the command line; returns PS_USAGE.
enum ps_status app_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Prints text to stderr and frees it (problems of a config).
void app_complain(struct ps_text *text);
// Writes to stdout. A failure is remembered and reported by app_stdout_close.
void app_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Prints and frees; PS_DEVICE when text ran out of memory.
enum ps_status app_print_text(struct ps_text *text);
// Flushes; false after reporting when something did not arrive (full disk, closed).
bool app_stdout_close(void);

// Warnings always, notes and details (run.verbose makes them) unless quiet: to stderr.
void app_log_to_stderr(bool quiet);

// ---- Texts made from the tables (app/help.c, app/manual.c, app/reference.c) ----
void app_help_text(struct ps_text *out); // penstock --help
void app_command_help_text(const struct app_command *command, struct ps_text *out);
void app_manual(struct ps_text *out);    // man page, section 1
void app_reference(struct ps_text *out); // Markdown: commands, config keys, formats, stages

// Everything with options: sections of the config, formats, stages.
struct app_topic {
    const char *group; // "config", "format", "stage"
    const char *name;  // "run", "hdf5", "map"
    const char *help;
    const char *title[2];               // of the tables: "reading", "writing", or ""
    const struct ps_option *options[2]; // NULL: none
};
// Calls visit for every topic in order; stops when it returns false.
typedef bool app_topic_visit(void *context, const struct app_topic *topic);
void app_topics(app_topic_visit *visit, void *context);
void app_topic_text(const struct app_topic *topic, struct ps_text *out);
void app_topic_markdown(const struct app_topic *topic, struct ps_text *out);

// ---- Files (app/inspect.c) ----
struct ps_format;
// The format that looks at a file: the one named `wanted`, or the one that recognises it.
bool app_inspect_format(const char *path, const char *wanted, const struct ps_format **format_out,
                        struct ps_error *error);

// ---- Jobs (app/job.c) ----
struct ps_job;
// Loads and plans the config of `run` and `plan`, printing every fault. *job_out is NULL on
// failure.
enum ps_status app_job_open(const struct app_args *args, struct ps_job **job_out);
enum ps_status app_job_open_with(const char *config_path, const char *const *sets, size_t set_count,
                                 struct ps_job **job_out);
// Sets *app_stop on SIGINT, SIGTERM, SIGHUP; a second one ends the program at once.
void app_signals_catch(void);
extern volatile int app_stop;

enum ps_status app_run(const struct app_args *args);
enum ps_status app_plan(const struct app_args *args);
enum ps_status app_inspect(const struct app_args *args);
enum ps_status app_init(const struct app_args *args);
enum ps_status app_ops(const struct app_args *args);
enum ps_status app_doctor(const struct app_args *args);
enum ps_status app_bench(const struct app_args *args);
enum ps_status app_help(const struct app_args *args);

#endif
