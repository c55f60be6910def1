// SPDX-License-Identifier: Apache-2.0
// Arrays, passes and steps out of a config. Knows no backend; sizes are in plan_size.c.
#include "pipeline/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

static struct ps_plan *plan_alloc(const struct ps_config *config)
{
    struct ps_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    size_t ports = (size_t)(config->input_count + config->stage_count);
    plan->config = config;
    plan->input_count = config->input_count;
    plan->port_count = (int)ports;
    plan->ports = zeroed(ports, sizeof *plan->ports);
    plan->readers = zeroed((size_t)config->input_count, sizeof *plan->readers);
    plan->stages = zeroed((size_t)config->stage_count, sizeof *plan->stages);
    plan->needed = zeroed(ports, sizeof *plan->needed);
    plan->pass_of = zeroed(ports, sizeof *plan->pass_of);
    plan->outputs = zeroed((size_t)config->output_count, sizeof *plan->outputs);
    plan->input_paths = zeroed((size_t)config->input_count + 1, sizeof *plan->input_paths);
    plan->compare = ps_values_get(&config->run, "compare")->truth;
    if (plan->ports && plan->readers && plan->stages && plan->needed && plan->pass_of &&
        plan->outputs && plan->input_paths)
        return plan;
    ps_plan_free(plan);
    return NULL;
}

static void free_pass(struct ps_pass *pass)
{
    for (int i = 0; pass->steps != NULL && i < pass->step_count; i++) {
        struct ps_plan_step *step = &pass->steps[i];
        free(step->step.stages);
        free((void *)step->step.inputs);
        free(step->step.outputs);
        free(step->input_ports);
        free(step->output_ports);
    }
    free(pass->steps);
    free(pass->inputs);
    free(pass->writes);
    free(pass->keeps);
}

void ps_plan_free(struct ps_plan *plan)
{
    if (plan == NULL)
        return;
    for (int i = 0; plan->passes != NULL && i < plan->pass_count; i++)
        free_pass(&plan->passes[i]);
    free(plan->passes);
    int stage_count = plan->port_count - plan->input_count;
    for (int i = 0; plan->stages != NULL && i < stage_count; i++) {
        if (plan->stages[i].type != NULL && plan->stages[i].type->unplan != NULL)
            plan->stages[i].type->unplan(&plan->stages[i]);
        ps_array_free(&plan->stages[i].output);
    }
    for (int i = 0; plan->readers != NULL && i < plan->input_count; i++)
        if (plan->readers[i].format != NULL)
            ps_reader_close(&plan->readers[i]);
    free(plan->ports);
    free(plan->readers);
    free(plan->stages);
    free(plan->needed);
    free(plan->pass_of);
    free(plan->outputs);
    free(plan->input_paths);
    ps_text_free(&plan->provenance);
    free(plan);
}

// ---- Inputs ----

static void check_stream(struct ps_port *port, const struct ps_config_input *input,
                         struct ps_problems *problems)
{
    if (port->streamed && port->array.rank == 0) {
        ps_problem_add(problems, PS_INPUT, input->place,
                       "input '%s' is a single number, which has no rows to stream: add "
                       "`load: whole`", input->name);
        port->failed = true;
    }
    if (port->array.rank > 4) {
        ps_problem_add(problems, PS_INPUT, input->place,
                       "input '%s' has %d axes; at most 4 are supported", input->name,
                       port->array.rank);
        port->failed = true;
    }
}

static void open_input(struct ps_plan *plan, int i, struct ps_problems *problems)
{
    const struct ps_config_input *input = &plan->config->inputs[i];
    struct ps_port *port = &plan->ports[i];
    struct ps_reader *reader = &plan->readers[i];
    struct ps_error error = {0};
    const struct ps_value *path = ps_values_get(&input->common, "path");
    port->name = input->name;
    port->streamed = ps_values_get(&input->common, "load")->choice == 0;
    port->failed = true;
    if (input->format == NULL)
        return; // already reported
    *reader = (struct ps_reader){.format = input->format, .name = input->name,
                                 .path = path->text, .options = &input->options};
    if (!ps_reader_open(reader, &error)) {
        struct ps_place place = path->place.line > 0 ? path->place : input->place;
        ps_problem_add(problems, error.status, place, "input '%s': %s", input->name, error.text);
        reader->format = NULL;
        return;
    }
    port->failed = false;
    port->array = reader->array; // columns borrowed from the reader
    check_stream(port, input, problems);
}

static void open_inputs(struct ps_plan *plan, struct ps_problems *problems)
{
    int known = -1, paths = 0;
    for (int i = 0; i < plan->input_count; i++) {
        struct ps_port *port = &plan->ports[i];
        open_input(plan, i, problems);
        if (plan->readers[i].path != NULL)
            plan->input_paths[paths++] = plan->readers[i].path;
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
    plan->rows = 0;
    for (int i = 0; i < plan->input_count; i++)
        if (!plan->ports[i].failed && plan->ports[i].streamed)
            plan->rows = PS_ROWS_UNKNOWN;
    if (known >= 0)
        plan->rows = plan->ports[known].array.dims[0];
}

// ---- Stages ----

static int default_input(const struct ps_plan *plan, int stage)
{
    if (stage > 0)
        return plan->input_count + stage - 1;
    return plan->input_count == 1 ? 0 : -1;
}

static void plan_stage(struct ps_plan *plan, int i, struct ps_problems *problems)
{
    const struct ps_config_stage *config = &plan->config->stages[i];
    struct ps_stage *stage = &plan->stages[i];
    struct ps_port *port = &plan->ports[plan->input_count + i];
    struct ps_scope scope = {plan->ports, plan->input_count + i, default_input(plan, i)};
    size_t before = problems->error_count;
    port->name = config->name != NULL ? config->name : "?";
    port->failed = true;
    if (config->type == NULL)
        return; // already reported
    *stage = (struct ps_stage){.type = config->type, .name = port->name,
                               .port = plan->input_count + i, .place = config->place,
                               .options = &config->options};
    if (!config->type->plan(stage, &scope, problems) || problems->error_count > before)
        return;
    struct ps_error error = {0};
    if (!ps_array_check(&stage->output, stage->name, &error)) {
        ps_problem_add(problems, PS_USAGE, stage->place, "stage %s", error.text);
        return;
    }
    port->array = stage->output; // columns borrowed from the stage
    port->streamed = stage->streamed;
    port->failed = false;
}

static bool stage_reads_stream(const struct ps_plan *plan, const struct ps_stage *stage)
{
    for (int i = 0; i < stage->input_count; i++)
        if (plan->ports[stage->inputs[i]].streamed)
            return true;
    return false;
}

static void assign_passes(struct ps_plan *plan)
{
    for (int p = plan->input_count; p < plan->port_count; p++) {
        const struct ps_stage *stage = &plan->stages[p - plan->input_count];
        int pass = 0;
        for (int i = 0; i < stage->input_count; i++)
            if (plan->pass_of[stage->inputs[i]] > pass)
                pass = plan->pass_of[stage->inputs[i]];
        bool from_stream = stage_reads_stream(plan, stage);
        plan->pass_of[p] = stage->reduces_rows && from_stream ? pass + 1 : pass;
    }
}

static void need(struct ps_plan *plan, int port)
{
    if (plan->needed[port])
        return;
    plan->needed[port] = true;
    if (port < plan->input_count)
        return;
    const struct ps_stage *stage = &plan->stages[port - plan->input_count];
    for (int i = 0; i < stage->input_count; i++)
        need(plan, stage->inputs[i]);
}

static int find_port(const struct ps_plan *plan, const char *name)
{
    for (int i = 0; i < plan->port_count; i++)
        if (strcmp(plan->ports[i].name, name) == 0)
            return i;
    return -1;
}

static void plan_output(struct ps_plan *plan, int i, struct ps_problems *problems)
{
    const struct ps_config_output *config = &plan->config->outputs[i];
    struct ps_plan_output *output = &plan->outputs[i];
    output->config = config;
    output->port = find_port(plan, config->array);
    if (output->port < 0 || plan->ports[output->port].failed)
        return; // reported with the array
    const struct ps_port *port = &plan->ports[output->port];
    const struct ps_value *dtype = ps_values_get(&config->common, "dtype");
    output->streamed = port->streamed;
    need(plan, output->port);
    output->spec = (struct ps_output_spec){
        .format = config->format,
        .name = config->name,
        .path = ps_values_get(&config->common, "path")->text,
        .options = &config->options,
        .array = port->array,
        .dtype = dtype->given ? dtype->dtype : port->array.dtype,
        .cast = (enum ps_cast)ps_values_get(&config->common, "cast")->choice,
        .overwrite = ps_values_get(&config->common, "overwrite")->truth,
        .input_paths = plan->input_paths,
    };
    struct ps_error error = {0};
    if (config->format != NULL && !ps_output_check(&output->spec, &error)) {
        struct ps_place place = ps_values_get(&config->common, "path")->place;
        ps_problem_add(problems, error.status, place.line > 0 ? place : config->place,
                       "output '%s': %s", config->name, error.text);
    }
}

static void warn_unused(struct ps_plan *plan, struct ps_problems *problems)
{
    for (int p = plan->input_count; p < plan->port_count; p++) {
        if (plan->compare)
            need(plan, p);
        else if (!plan->needed[p] && !plan->ports[p].failed)
            ps_problem_warn(problems, plan->stages[p - plan->input_count].place,
                            "stage '%s' is used by no output and will not run",
                            plan->ports[p].name);
    }
}

// ---- Passes and steps ----

// Marks the streamed ports that pass `pass` computes or reads, from its own results backwards.
static void mark_active(const struct ps_plan *plan, int pass, bool *active)
{
    for (int p = plan->port_count - 1; p >= 0; p--) {
        bool is_stage = p >= plan->input_count;
        const struct ps_stage *stage = is_stage ? &plan->stages[p - plan->input_count] : NULL;
        bool reduces = is_stage && stage->reduces_rows && stage_reads_stream(plan, stage);
        if (reduces && plan->needed[p] && plan->pass_of[p] == pass + 1)
            active[p] = true;
        for (int o = 0; o < plan->output_count; o++)
            if (plan->outputs[o].port == p && plan->ports[p].streamed && plan->pass_of[p] == pass)
                active[p] = true;
        if (plan->compare && plan->ports[p].streamed && is_stage && plan->pass_of[p] == pass)
            active[p] = true;
        for (int i = 0; active[p] && is_stage && i < stage->input_count; i++)
            if (plan->ports[stage->inputs[i]].streamed)
                active[stage->inputs[i]] = true;
    }
}

static bool same_row_shape(const struct ps_array *a, const struct ps_array *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 1; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

static bool joins(const struct ps_plan *plan, const struct ps_plan_step *step,
                  const struct ps_stage *stage)
{
    return !plan->compare && step->step.type == stage->type && stage->type->joins != NULL &&
           !step->whole && stage_reads_stream(plan, stage) && stage->streamed &&
           same_row_shape(&step->step.stages[0]->output, &stage->output) &&
           stage->type->joins(&step->step, stage);
}

static bool add_stage(struct ps_plan *plan, struct ps_pass *pass, struct ps_stage *stage)
{
    struct ps_plan_step *step = pass->step_count > 0 ? &pass->steps[pass->step_count - 1] : NULL;
    if (step == NULL || !joins(plan, step, stage)) {
        step = &pass->steps[pass->step_count++];
        step->step.type = stage->type;
        step->step.ports = plan->ports;
        step->whole = !stage_reads_stream(plan, stage);
        step->whole_rows = stage->whole_rows;
        step->reduces = stage->reduces_rows;
        pass->whole_count += step->whole;
        step->step.stages = zeroed((size_t)plan->port_count, sizeof *step->step.stages);
        if (step->step.stages == NULL)
            return false;
    }
    size_t used = strlen(step->label);
    snprintf(step->label + used, sizeof step->label - used, "%s%s", used > 0 ? "+" : "",
             stage->name);
    step->step.stages[step->step.stage_count++] = stage;
    return true;
}

static bool in_step(const struct ps_plan_step *step, int port)
{
    for (int i = 0; i < step->step.stage_count; i++)
        if (step->step.stages[i]->port == port)
            return true;
    return false;
}

static bool reads(const struct ps_stage *stage, int port)
{
    for (int i = 0; i < stage->input_count; i++)
        if (stage->inputs[i] == port)
            return true;
    return false;
}

static bool wanted_outside(const struct ps_plan *plan, const struct ps_pass *pass,
                           const struct ps_plan_step *step, int port)
{
    if (plan->compare || !plan->ports[port].streamed)
        return true;
    for (int i = 0; i < plan->output_count; i++)
        if (plan->outputs[i].port == port && plan->pass_of[port] == pass - plan->passes)
            return true;
    for (int s = 0; s < pass->step_count; s++)
        for (int i = 0; &pass->steps[s] != step && i < pass->steps[s].step.stage_count; i++)
            if (reads(pass->steps[s].step.stages[i], port))
                return true;
    return false;
}

// The distinct arrays a step reads from outside, and the results others want.
static bool connect_step(struct ps_plan *plan, const struct ps_pass *pass,
                         struct ps_plan_step *step)
{
    size_t most = (size_t)plan->port_count;
    bool *seen = zeroed(most, sizeof *seen);
    step->step.inputs = zeroed(most, sizeof *step->step.inputs);
    step->step.outputs = zeroed(most, sizeof *step->step.outputs);
    step->input_ports = zeroed(most, sizeof *step->input_ports);
    step->output_ports = zeroed(most, sizeof *step->output_ports);
    bool fine = seen && step->step.inputs && step->step.outputs && step->input_ports &&
                step->output_ports;
    for (int i = 0; fine && i < step->step.stage_count; i++) {
        struct ps_stage *stage = step->step.stages[i];
        for (int j = 0; j < stage->input_count; j++) {
            int port = stage->inputs[j];
            if (seen[port] || in_step(step, port))
                continue;
            seen[port] = true;
            step->input_ports[step->step.input_count] = port;
            step->step.inputs[step->step.input_count++] = &plan->ports[port];
        }
        if (wanted_outside(plan, pass, step, stage->port)) {
            step->output_ports[step->step.output_count] = stage->port;
            step->step.outputs[step->step.output_count++] = stage;
        }
    }
    free(seen);
    return fine;
}

static bool is_kept(const struct ps_plan *plan, const struct ps_pass *pass, int port)
{
    if (plan->compare)
        return plan->pass_of[port] == pass - plan->passes;
    for (int i = 0; i < pass->write_count; i++)
        if (plan->outputs[pass->writes[i]].port == port)
            return true;
    return false;
}

static bool build_pass(struct ps_plan *plan, int number)
{
    struct ps_pass *pass = &plan->passes[number];
    size_t ports = (size_t)plan->port_count;
    bool *active = zeroed(ports, sizeof *active);
    pass->inputs = zeroed((size_t)plan->input_count, sizeof *pass->inputs);
    pass->steps = zeroed(ports, sizeof *pass->steps);
    pass->writes = zeroed((size_t)plan->output_count, sizeof *pass->writes);
    pass->keeps = zeroed(ports, sizeof *pass->keeps);
    bool fine = active && pass->inputs && pass->steps && pass->writes && pass->keeps;
    if (fine)
        mark_active(plan, number, active);
    for (int p = plan->input_count; fine && p < plan->port_count; p++) {
        struct ps_stage *stage = &plan->stages[p - plan->input_count];
        bool whole = !stage_reads_stream(plan, stage);
        if (whole && plan->needed[p] && plan->pass_of[p] == number)
            fine = add_stage(plan, pass, stage);
    }
    for (int p = plan->input_count; fine && p < plan->port_count; p++)
        if (active[p] && stage_reads_stream(plan, &plan->stages[p - plan->input_count]))
            fine = add_stage(plan, pass, &plan->stages[p - plan->input_count]);
    for (int p = 0; fine && p < plan->input_count; p++)
        if (active[p])
            pass->inputs[pass->input_count++] = p;
    for (int i = 0; fine && i < plan->output_count; i++)
        if (plan->outputs[i].streamed && plan->pass_of[plan->outputs[i].port] == number)
            pass->writes[pass->write_count++] = i;
    for (int s = 0; fine && s < pass->step_count; s++)
        fine = connect_step(plan, pass, &pass->steps[s]);
    for (int p = plan->input_count; fine && p < plan->port_count; p++)
        if (active[p] && plan->ports[p].streamed && is_kept(plan, pass, p))
            pass->keeps[pass->keep_count++] = p;
    free(active);
    return fine;
}

static bool build_passes(struct ps_plan *plan)
{
    int last = 0;
    for (int p = 0; p < plan->port_count; p++)
        if (plan->needed[p] && plan->pass_of[p] > last)
            last = plan->pass_of[p];
    plan->passes = zeroed((size_t)last + 1, sizeof *plan->passes);
    if (plan->passes == NULL)
        return false;
    for (int i = 0; i <= last; i++) {
        plan->pass_count = i + 1;
        if (!build_pass(plan, i))
            return false;
    }
    // A last pass that has nothing to do only marks results as ready.
    struct ps_pass *end = &plan->passes[last];
    if (last > 0 && end->step_count == 0 && end->write_count == 0 && end->input_count == 0) {
        free_pass(end);
        plan->pass_count--;
    }
    return true;
}

struct ps_plan *ps_plan_make(const struct ps_config *config, struct ps_problems *problems)
{
    struct ps_plan *plan = plan_alloc(config);
    if (plan == NULL)
        return NULL;
    open_inputs(plan, problems);
    for (int i = 0; i < config->stage_count; i++)
        plan_stage(plan, i, problems);
    for (int i = 0; i < config->output_count; i++)
        plan_output(plan, i, problems);
    if (problems->error_count > 0)
        return plan;
    warn_unused(plan, problems);
    assign_passes(plan);
    ps_config_print(config, &plan->provenance);
    for (int i = 0; i < plan->output_count; i++)
        plan->outputs[i].spec.provenance = plan->provenance.data;
    if (build_passes(plan) && !plan->provenance.failed)
        return plan;
    ps_plan_free(plan);
    return NULL;
}
