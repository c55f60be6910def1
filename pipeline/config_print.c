// SPDX-License-Identifier: Apache-2.0
// The resolved config as YAML text that parses to the same config: what goes into every output as
// provenance.
#include "pipeline/config_parts.h"

#include <string.h>

// `format` and `array` are printed as resolved, whether written in the config or not.
static void print_values(const struct ps_values *values, const char *indent, bool skip_names,
                         struct ps_text *out)
{
    for (int i = 0; i < values->count; i++) {
        const struct ps_value *value = &values->values[i];
        const char *key = value->option->key;
        bool own = skip_names && (strcmp(key, "format") == 0 || strcmp(key, "array") == 0 ||
                                  strcmp(key, "name") == 0 || strcmp(key, "op") == 0);
        if (own || (!value->given && value->option->fallback == NULL))
            continue;
        ps_text_printf(out, "%s%s: ", indent, key);
        ps_value_print(value, out);
        ps_text_add(out, "\n");
    }
}

// Which files a pattern or list meant, as a comment: the same config may mean others later.
static void print_files(const struct ps_paths *files, struct ps_text *out)
{
    char first[600], last[600];
    if (files->count < 2)
        return;
    const char *a = files->list[0], *b = files->list[files->count - 1];
    ps_text_printf(out, "    # %zu files, the first %s, the last %s\n", files->count,
                   ps_escape(a, strlen(a), first, sizeof first),
                   ps_escape(b, strlen(b), last, sizeof last));
}

static void print_inputs(const struct ps_config *config, struct ps_text *out)
{
    ps_text_add(out, config->input_count > 0 ? "inputs:\n" : "");
    for (int i = 0; i < config->input_count; i++) {
        const struct ps_config_input *input = &config->inputs[i];
        ps_text_printf(out, "  %s:\n    format: %s\n", input->name,
                       input->format != NULL ? input->format->name : "unknown");
        print_files(&input->files, out);
        print_values(&input->common, "    ", true, out);
        print_values(&input->options, "    ", false, out);
    }
}

static void print_stages(const struct ps_config *config, struct ps_text *out)
{
    ps_text_add(out, config->stage_count > 0 ? "stages:\n" : "");
    for (int i = 0; i < config->stage_count; i++) {
        const struct ps_config_stage *stage = &config->stages[i];
        ps_text_printf(out, "  - name: %s\n    op: %s\n", stage->name,
                       stage->type != NULL ? stage->type->name : "unknown");
        print_values(&stage->common, "    ", true, out);
        print_values(&stage->options, "    ", false, out);
    }
}

static void print_outputs(const struct ps_config *config, struct ps_text *out)
{
    ps_text_add(out, config->output_count > 0 ? "outputs:\n" : "");
    for (int i = 0; i < config->output_count; i++) {
        const struct ps_config_output *output = &config->outputs[i];
        ps_text_printf(out, "  %s:\n    format: %s\n    array: %s\n", output->name,
                       output->format != NULL ? output->format->name : "unknown", output->array);
        print_values(&output->common, "    ", true, out);
        print_values(&output->options, "    ", false, out);
    }
}

void ps_config_print(const struct ps_config *config, struct ps_text *out)
{
    ps_text_add(out, "version: 1\n");
    print_inputs(config, out);
    print_stages(config, out);
    print_outputs(config, out);
    ps_text_add(out, "run:\n");
    print_values(&config->run, "  ", false, out);
    ps_text_add(out, "  cuda:\n");
    print_values(&config->run_cuda, "    ", false, out);
}
