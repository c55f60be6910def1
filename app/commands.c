// SPDX-License-Identifier: Apache-2.0
// The table of commands and their flags. Help, the manual and docs/reference.md come from here.
#include "app/app.h"

#include <string.h>

const struct app_flag app_common_flags[] = {
    {"--help", NULL, true, "Show what the command does and its flags"},
    {0},
};

static const struct app_flag run_flags[] = {
    {"--set", "KEY=VALUE", true,
     "Override one key of the config, as in run.block=64MiB or stages.clean.params.gain=2"},
    {"--backend", "NAME", false, "Where stages run: auto, cpu or cuda (the key run.backend)"},
    {"--compare", NULL, false,
     "Run on both backends, and show time, speed-up and difference of every stage"},
    {"--log", "FILE", false, "Write the timing log there (the key run.log)"},
    {"--quiet", NULL, false, "Print warnings and errors only"},
    {"--verbose", NULL, false,
     "Print the plan first, as `penstock plan` does (the key run.verbose)"},
    {0},
};

static const struct app_flag plan_flags[] = {
    {"--set", "KEY=VALUE", true, "Override one key of the config, as `penstock run` does"},
    {"--backend", "NAME", false, "Plan for auto, cpu or cuda (the key run.backend)"},
    {0},
};

static const struct app_flag inspect_flags[] = {
    {"--format", "NAME", false, "Take the file for this format instead of recognising it"},
    {0},
};

static const struct app_flag init_flags[] = {
    {"--format", "NAME", false, "Take the file for this format instead of recognising it"},
    {"--output", "CONFIG", false, "Write the config there, or - for standard output"},
    {0},
};

static const struct app_flag ops_flags[] = {
    {"--schema", NULL, false, "Print the JSON Schema of the config, for editors and checkers"},
    {"--markdown", NULL, false, "Print tables in Markdown"},
    {0},
};

static const struct app_flag doctor_flags[] = {
    {"--cpu", NULL, false, "Check only what the cpu backend needs"},
    {0},
};

static const struct app_flag bench_flags[] = {
    {"--cpu", NULL, false, "Measure only the streamed job, on the cpu backend"},
    {"--bytes", "SIZE", false, "Size of the streamed file (default 8 GB)"},
    {"--dir", "FOLDER", false, "Where the file is made (default: $TMPDIR or /tmp)"},
    {"--keep", NULL, false, "Leave the file there, for comparison with other programs"},
    {"--verbose", NULL, false, "Print the plan of every job"},
    {0},
};

static const struct app_flag help_flags[] = {
    {"--man", NULL, false, "Print the manual page (roff)"},
    {"--markdown", NULL, false, "Print the whole reference in Markdown"},
    {0},
};

const struct app_command app_commands[] = {
    {"run", "CONFIG", 1, 1, "Run the job that a config file describes",
     "Streams the config's inputs block by block through its stages and writes its outputs. "
     "CONFIG is a YAML file, or - for standard input. Outputs get their final names only when the "
     "whole job is complete; after an error or Ctrl-C nothing is left under them.\n"
     "The summary tells what every step cost and what bounded the job.",
     run_flags, app_run},
    {"plan", "CONFIG", 1, 1, "Check a config and show what would be done, without moving data",
     "Opens the inputs' headers, agrees shapes and dtypes, chooses backend, blocks and slots, and "
     "shows passes, fused steps, bytes and memory. On the cuda backend also the registers, shared "
     "memory and occupancy of every kernel.",
     plan_flags, app_plan},
    {"inspect", "FILE...", 1, 1000, "Show what a data file holds and the config lines to read it",
     "Recognises the file's format by its suffix, then by its first bytes.", inspect_flags,
     app_inspect},
    {"init", "FILE", 1, 1, "Write a config that reads a data file and runs",
     "Writes FILE's name with .yaml into the current folder, never over a file that is there. The "
     "config reads what `penstock inspect` finds (of several datasets the largest), reduces it over "
     "its rows, and is meant to be changed.",
     init_flags, app_init},
    {"ops", "[NAME...]", 0, 1000, "List config keys, formats and stages with their options",
     "Without NAME everything; NAME is a part of the config (inputs, stages, outputs, run, "
     "run.cuda), a format or a stage.",
     ops_flags, app_ops},
    {"doctor", "", 0, 0, "Check driver, GPU, libraries and HDF5, and say what to do",
     "Each line is one check: [ok], [warn] or [FAIL] with the remedy, [skip] when an earlier "
     "failure leaves nothing to check. The exit code is 0 only when the cuda backend can run here; "
     "with --cpu, when the cpu backend can.",
     doctor_flags, app_doctor},
    {"bench", "", 0, 0, "Measure copies, kernels and one streamed job on this machine",
     "Measures pinned and pageable copies, vector add against the CPU, the tiled matmul against "
     "cuBLAS, and a streamed job: y = sqrt(abs(2*x + 1)) over a float32 HDF5 file of 256 columns, "
     "with mean, std, min and max of every column. bench/run puts other programs beside it.",
     bench_flags, app_bench},
    {"help", "[COMMAND]", 0, 1, "Show help; also makes the manual page and the reference",
     "The same texts as `penstock --help` and `penstock COMMAND --help`.", help_flags, app_help},
    {0},
};

const struct app_command *app_command_find(const char *name)
{
    for (const struct app_command *command = app_commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
