// SPDX-License-Identifier: Apache-2.0
// A config file as data: YAML text in, checked values with their places out. Every fault of the
// file is reported in one go. Opens no data file except to recognise an input's format.
#ifndef PS_PIPELINE_CONFIG_H
#define PS_PIPELINE_CONFIG_H

#include "base/option.h"
#include "io/format.h"
#include "io/paths.h"
#include "kernels/stage.h"

// Keys that every input, stage and output has, whatever its format or op; and the run section.
extern const struct ps_option ps_input_options[];    // path, format, load
extern const struct ps_option ps_stage_options[];    // name, op
extern const struct ps_option ps_output_options[];   // path, format, array, dtype, cast, overwrite
extern const struct ps_option ps_run_options[];      // backend, device, block, slots, ...
extern const struct ps_option ps_run_cuda_options[]; // threads

struct ps_config_input {
    char *name;
    struct ps_place place;           // of the name
    struct ps_values common;         // ps_input_options; its `path` holds patterns as written
    struct ps_paths files;           // what `path` names, absolute, in the order they are read
    const struct ps_format *format;  // NULL: the entry has a fault (a problem says so)
    struct ps_values options;        // format->read_options
};

struct ps_config_stage {
    char *name;
    struct ps_place place;
    struct ps_values common;          // ps_stage_options
    const struct ps_stage_type *type; // NULL: the entry has a fault (a problem says so)
    struct ps_values options;         // type->options
};

struct ps_config_output {
    char *name;       // the key in the config
    const char *array; // the array it stores: option `array`, else the key
    struct ps_place place;
    struct ps_values common;
    const struct ps_format *format;
    struct ps_values options; // format->write_options
};

struct ps_config {
    char *path;   // as given by the user
    char *folder; // absolute; relative paths start here
    struct ps_source *sources; // [0] the file, [i] the i-th --set
    size_t source_count;
    int input_count, stage_count, output_count;
    struct ps_config_input *inputs;
    struct ps_config_stage *stages;
    struct ps_config_output *outputs;
    struct ps_values run;      // ps_run_options
    struct ps_values run_cuda; // ps_run_cuda_options
};

// Reads path ("-": standard input) and applies `sets` ("run.block=64MiB"), in order. Returns
// NULL only when out of memory; faults are in problems, and config->sources serve to print them.
struct ps_config *ps_config_load(const char *path, const char *const *sets, size_t set_count,
                                 struct ps_problems *problems);
// The same from text; name is for messages, folder for relative paths.
struct ps_config *ps_config_parse(const char *text, size_t length, const char *name,
                                  const char *folder, const char *const *sets, size_t set_count,
                                  struct ps_problems *problems);
void ps_config_free(struct ps_config *config);

// The config with all defaults, as YAML that ps_config_parse accepts again. `backend` and block
// are as chosen when the plan filled them in.
void ps_config_print(const struct ps_config *config, struct ps_text *out);

// JSON Schema (draft 2020-12) of config version 1, from the option tables.
void ps_config_schema(struct ps_text *out);

#endif
