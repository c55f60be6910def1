// SPDX-License-Identifier: Apache-2.0
// Opening a plan's inputs. Reads headers, and counts the rows of whole inputs that have none.
#include "pipeline/plan_parts.h"

#include <stdlib.h>

#define COUNT_BYTES (4u << 20) // read at a time while counting rows

static void check_stream(struct ps_port *port, const struct ps_config_input *input,
                         struct ps_problems *problems)
{
    if (port->streamed && port->array.rank == 0) {
        ps_problem_add(problems, PS_INPUT, input->place,
                       "input '%s' is a single number, which has no rows to stream: add "
                       "`load: whole`",
                       input->name);
        port->failed = true;
    }
}

// A whole array needs its size before any memory is taken. Readers start again at row 0.
static bool count_rows(struct ps_reader *reader, struct ps_port *port, struct ps_error *error)
{
    size_t row_bytes = ps_array_row_bytes(&reader->array);
    int64_t step = row_bytes > 0 ? (int64_t)(COUNT_BYTES / row_bytes) : 1, rows = 0;
    step = step > 0 ? step : 1;
    struct ps_read_result result = {.rows = step};
    void *data = malloc((size_t)step * row_bytes + 1);
    if (data == NULL)
        return ps_fail_memory(error, (size_t)step * row_bytes, "counting rows");
    bool fine = true;
    for (; fine && result.rows == step; rows += result.rows)
        fine = ps_reader_read(reader, rows, step, data, &result, error);
    free(data);
    port->array.dims[0] = rows;
    return fine;
}

static void open_input(struct ps_plan *plan, int i, struct ps_problems *problems)
{
    const struct ps_config_input *input = &plan->config->inputs[i];
    struct ps_port *port = &plan->ports[i];
    struct ps_reader *reader = &plan->readers[i];
    struct ps_error error = {0};
    const struct ps_value *path = ps_values_get(&input->common, "path");
    const struct ps_paths *files = &input->files;
    port->name = input->name;
    port->streamed = ps_values_get(&input->common, "load")->choice == 0;
    port->failed = true;
    if (input->format == NULL)
        return; // already reported
    *reader = (struct ps_reader){.format = input->format,
                                 .name = input->name,
                                 .path = files->count > 0 ? files->list[0] : NULL,
                                 .paths = (const char *const *)files->list,
                                 .path_count = files->count,
                                 .options = &input->options};
    if (!ps_reader_open(reader, &error)) {
        struct ps_place place = path->place.line > 0 ? path->place : input->place;
        ps_problem_add(problems, error.status, place, "input '%s': %s", input->name, error.text);
        reader->format = NULL;
        return;
    }
    port->failed = false;
    port->array = reader->array; // columns borrowed from the reader
    check_stream(port, input, problems);
    bool counted = port->failed || port->streamed || ps_array_rows(&port->array) >= 0 ||
                   count_rows(reader, port, &error);
    if (!counted) {
        ps_problem_add(problems, error.status, input->place, "input '%s': %s", input->name,
                       error.text);
        port->failed = true;
    }
}

void ps_plan_open_inputs(struct ps_plan *plan, struct ps_problems *problems)
{
    int known = -1;
    size_t paths = 0;
    for (int i = 0; i < plan->input_count; i++) {
        struct ps_port *port = &plan->ports[i];
        open_input(plan, i, problems);
        for (size_t f = 0; f < plan->config->inputs[i].files.count; f++)
            plan->input_paths[paths++] = plan->config->inputs[i].files.list[f];
        if (port->failed || !port->streamed || port->array.dims[0] == PS_ROWS_UNKNOWN)
            continue;
        if (known >= 0 && plan->ports[known].array.dims[0] != port->array.dims[0])
            ps_problem_add(problems, PS_INPUT, plan->config->inputs[i].place,
                           "streamed inputs are read row by row together, but '%s' has %lld rows "
                           "and '%s' has %lld; use `load: whole` for one that every row needs",
                           plan->ports[known].name, (long long)plan->ports[known].array.dims[0],
                           port->name, (long long)port->array.dims[0]);
        known = i;
    }
    plan->input_paths[paths] = plan->config->path; // nor may an output replace the config
    plan->rows = 0;
    for (int i = 0; i < plan->input_count; i++)
        if (!plan->ports[i].failed && plan->ports[i].streamed)
            plan->rows = PS_ROWS_UNKNOWN;
    if (known >= 0)
        plan->rows = plan->ports[known].array.dims[0];
}
