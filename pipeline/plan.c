// SPDX-License-Identifier: Apache-2.0
// A plan out of a config: inputs, stages, outputs. Knows no backend; sizes are in plan_size.c.
#include "pipeline/plan_parts.h"

#include <stdlib.h>
#include <string.h>

void *ps_zeroed(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

static struct ps_plan *plan_alloc(const struct ps_config *config)
{
    struct ps_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    size_t stages = (size_t)config->stage_count * PS_PHASES_MAX; // at most
    size_t ports = (size_t)config->input_count + stages;
    plan->config = config;
    plan->input_count = config->input_count;
    plan->output_count = config->output_count;
    plan->port_count = config->input_count; // stages add theirs when they are planned
    plan->ports = ps_zeroed(ports, sizeof *plan->ports);
    plan->readers = ps_zeroed((size_t)config->input_count, sizeof *plan->readers);
    plan->stages = ps_zeroed(stages, sizeof *plan->stages);
    plan->needed = ps_zeroed(ports, sizeof *plan->needed);
    plan->pass_of = ps_zeroed(ports, sizeof *plan->pass_of);
    plan->phase_options = ps_zeroed(stages, sizeof *plan->phase_options);
    plan->domains = ps_zeroed(stages + 1, sizeof *plan->domains);
    plan->domain_of = ps_zeroed(ports, sizeof *plan->domain_of);
    plan->keep = ps_zeroed((size_t)config->input_count, sizeof *plan->keep);
    plan->kept_from = ps_zeroed((size_t)config->input_count, sizeof *plan->kept_from);
    plan->domain_count = 1;
    plan->outputs = ps_zeroed((size_t)config->output_count, sizeof *plan->outputs);
    size_t files = 2; // the config, and the end
    for (int i = 0; i < config->input_count; i++)
        files += config->inputs[i].files.count;
    plan->input_paths = ps_zeroed(files, sizeof *plan->input_paths);
    plan->compare = ps_values_get(&config->run, "compare")->truth;
    if (plan->ports && plan->readers && plan->stages && plan->phase_options && plan->needed &&
        plan->pass_of && plan->domains && plan->domain_of && plan->keep && plan->kept_from &&
        plan->outputs && plan->input_paths)
        return plan;
    ps_plan_free(plan);
    return NULL;
}

void ps_plan_free(struct ps_plan *plan)
{
    if (plan == NULL)
        return;
    for (int i = 0; plan->passes != NULL && i < plan->pass_count; i++)
        ps_pass_free(&plan->passes[i]);
    free(plan->passes);
    int stage_count = plan->port_count - plan->input_count;
    for (int i = 0; plan->stages != NULL && i < stage_count; i++) {
        if (plan->stages[i].type != NULL && plan->stages[i].type->unplan != NULL)
            plan->stages[i].type->unplan(&plan->stages[i]);
        ps_array_free(&plan->stages[i].output);
        ps_values_free(&plan->phase_options[i]);
        if (plan->ports[plan->input_count + i].hidden)
            free((void *)plan->ports[plan->input_count + i].name);
    }
    for (int i = 0; plan->readers != NULL && i < plan->input_count; i++)
        if (plan->readers[i].format != NULL)
            ps_reader_close(&plan->readers[i]);
    free(plan->ports);
    free(plan->readers);
    free(plan->stages);
    free(plan->needed);
    free(plan->pass_of);
    free(plan->phase_options);
    free(plan->domains);
    free(plan->domain_of);
    free(plan->keep);
    free(plan->kept_from);
    free(plan->outputs);
    free(plan->input_paths);
    ps_text_free(&plan->provenance);
    free(plan);
}

// ---- Stages ----

// The domain of the stage's rows. Inputs whose rows are not the same ones do not go together, even
// where there happen to be as many.
static bool join_domain(struct ps_plan *plan, const struct ps_stage *stage,
                        struct ps_problems *problems)
{
    int first = -1;
    for (int i = 0; i < stage->input_count; i++) {
        int port = stage->inputs[i];
        if (!plan->ports[port].streamed)
            continue;
        first = first < 0 ? port : first;
        if (plan->domain_of[port] == plan->domain_of[first])
            continue;
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "'%s' and '%s' do not have the same rows: a stage before one of them leaves "
                       "out or repeats rows; do that to both, or to the result",
                       plan->ports[first].name, plan->ports[port].name);
        return false;
    }
    if (first < 0 || !stage->streamed)
        return true;
    plan->domain_of[stage->port] = plan->domain_of[first];
    if (ps_row_rule_keeps(&stage->rows))
        return true;
    plan->domain_of[stage->port] = plan->domain_count;
    plan->domains[plan->domain_count++] =
        (struct ps_domain){plan->domain_of[first], stage, PS_ROWS_UNKNOWN};
    return true;
}

// Plans a stage, or one phase of it, into the next port. `previous`: as in struct ps_scope.
static bool plan_phase(struct ps_plan *plan, const struct ps_config_stage *config, int phase,
                       int previous, struct ps_problems *problems)
{
    int number = plan->port_count;
    struct ps_stage *stage = &plan->stages[number - plan->input_count];
    struct ps_port *port = &plan->ports[number];
    struct ps_scope scope = {plan->ports, number, previous};
    struct ps_values *own = &plan->phase_options[number - plan->input_count];
    struct ps_error error = {0};
    size_t before = problems->error_count;
    *stage = (struct ps_stage){.type = config->type,
                               .name = port->name,
                               .port = number,
                               .phase = phase,
                               .place = config->place,
                               .options = &config->options,
                               .sources = plan->config->sources,
                               .folder = plan->config->folder,
                               .rows = PS_ROWS_ONE_TO_ONE};
    for (int d = 0; d < PS_RANK_MAX; d++)
        stage->axes[d].port = -1;
    plan->port_count++; // from here on ps_plan_free frees what is planned
    const struct ps_stage_type *as =
        config->type->phase_as ? config->type->phase_as(stage, phase, own, problems) : NULL;
    if (as != NULL) {
        stage->type = as;
        stage->options = own;
    }
    if (problems->error_count > before || !stage->type->plan(stage, &scope, problems) ||
        problems->error_count > before)
        return false;
    if (!ps_array_check(&stage->output, stage->name, &error)) {
        ps_problem_add(problems, PS_USAGE, stage->place, "stage %s", error.text);
        return false;
    }
    if (!join_domain(plan, stage, problems))
        return false;
    port->array = stage->output; // columns borrowed from the stage
    port->streamed = stage->streamed;
    port->failed = false;
    return true;
}

static int count_phases(const struct ps_plan *plan, const struct ps_config_stage *config,
                        int previous, struct ps_problems *problems)
{
    struct ps_scope scope = {plan->ports, plan->port_count, previous};
    struct ps_stage stage = {.type = config->type,
                             .name = config->name,
                             .port = plan->port_count,
                             .place = config->place,
                             .options = &config->options};
    return config->type->phases == NULL ? 1 : config->type->phases(&stage, &scope, problems);
}

static char *hidden_name(const char *name, int phase)
{
    struct ps_text text = {0};
    ps_text_printf(&text, "%s~%d", name, phase);
    return text.data;
}

// A stage that fails leaves a port that has its name, so that who needs it stays silent.
static void plan_stage(struct ps_plan *plan, int i, struct ps_problems *problems)
{
    const struct ps_config_stage *config = &plan->config->stages[i];
    const char *name = config->name != NULL ? config->name : "?";
    int previous = i > 0 ? plan->port_count - 1 : plan->input_count == 1 ? 0 : -1;
    int phases = config->type == NULL ? 0 : count_phases(plan, config, previous, problems);
    for (int phase = 0; phase < phases; phase++) {
        bool last = phase == phases - 1;
        char *own = last ? NULL : hidden_name(name, phase);
        if (!last && own == NULL)
            break;
        plan->ports[plan->port_count] =
            (struct ps_port){.name = last ? name : own, .failed = true, .hidden = !last};
        if (!plan_phase(plan, config, phase, previous, problems)) {
            if (last)
                return;
            break;
        }
        if (last)
            return;
    }
    plan->ports[plan->port_count++] = (struct ps_port){.name = name, .failed = true};
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

// Where the axes of a port's array come from, down to the inputs.
static struct ps_axis_source trace_axis(const struct ps_plan *plan, int port, int axis)
{
    struct ps_axis_source source = {port, axis};
    while (source.port >= plan->input_count)
        source = plan->stages[source.port - plan->input_count].axes[source.axis];
    return source;
}

// What its file can take over from the inputs' files.
static void trace_origins(const struct ps_plan *plan, int port, struct ps_output_spec *spec)
{
    const struct ps_array *array = &plan->ports[port].array;
    bool whole = array->rank > 0;
    int first = -1;
    for (int i = 0; i < array->rank; i++) {
        struct ps_axis_source source = trace_axis(plan, port, i);
        bool of_one_file = source.port >= 0 && plan->config->inputs[source.port].files.count == 1;
        whole = whole && of_one_file && source.axis == i && (first < 0 || first == source.port);
        if (source.port < 0 ||
            !(of_one_file || source.axis > 0)) // rows of many files are no axis of one
            continue;
        first = source.port;
        spec->origins[i] =
            (struct ps_origin){plan->readers[source.port].format, plan->readers[source.port].path,
                               plan->readers[source.port].options, source.axis};
    }
    while (whole && port >= plan->input_count) {
        const struct ps_stage *stage = &plan->stages[port - plan->input_count];
        spec->computed = true;
        whole = stage->elementwise;
        port = stage->axes[0].port;
    }
    spec->keeps_elements = whole && plan->ports[port].array.rank == array->rank;
}

static void plan_output(struct ps_plan *plan, int i, struct ps_problems *problems)
{
    const struct ps_config_output *config = &plan->config->outputs[i];
    struct ps_plan_output *output = &plan->outputs[i];
    output->config = config;
    output->shares = -1;
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
        .array_name = config->array,
    };
    trace_origins(plan, output->port, &output->spec);
    struct ps_error error = {0};
    if (config->format != NULL && !ps_output_check(&output->spec, &error)) {
        struct ps_place place = ps_values_get(&config->common, "path")->place;
        ps_problem_add(problems, error.status, place.line > 0 ? place : config->place,
                       "output '%s': %s", config->name, error.text);
    }
}

// Outputs that would write the same file: they are parts of it, or it is an error.
static void check_collisions(struct ps_plan *plan, struct ps_problems *problems)
{
    for (int i = 0; i < plan->output_count; i++) {
        struct ps_plan_output *output = &plan->outputs[i];
        for (int j = 0; j < i; j++) {
            struct ps_plan_output *other = &plan->outputs[j];
            struct ps_error error = {0};
            if (other->config == NULL || other->spec.format == NULL ||
                output->spec.format == NULL || !ps_output_collides(&output->spec, &other->spec))
                continue;
            if (ps_output_may_share(&other->spec, &output->spec, &error)) {
                output->shares = output->shares >= 0 ? output->shares : j;
                continue;
            }
            ps_problem_add(problems, error.status, output->config->place,
                           "the outputs '%s' and '%s' would write the same file: %s",
                           other->config->name, output->config->name, error.text);
            break;
        }
    }
}

static void warn_unused(struct ps_plan *plan, struct ps_problems *problems)
{
    for (int p = plan->input_count; p < plan->port_count; p++) {
        if (plan->compare)
            need(plan, p);
        else if (!plan->needed[p] && !plan->ports[p].failed && !plan->ports[p].hidden)
            ps_problem_warn(problems, plan->stages[p - plan->input_count].place,
                            "stage '%s' is used by no output and will not run",
                            plan->ports[p].name);
    }
}

// A block's rows can be computed from rows of blocks to come only where those can be computed
// again.
static void check_rows_after(struct ps_plan *plan, struct ps_problems *problems)
{
    for (int p = 0; p < plan->pass_count; p++) {
        const struct ps_stage *stage = ps_pass_extend(plan, &plan->passes[p]);
        if (stage != NULL)
            ps_problem_add(
                problems, PS_USAGE, stage->place,
                "a later stage needs rows of '%s' from beyond the block that is "
                "computed, but its blocks (%s) are made one after another; use a window "
                "that ends at its row, or write '%s' to a file and go on in a second job",
                stage->name, stage->type->name, stage->name);
    }
}

// What is read from standard input is gone after one walk over it, unless it is kept.
static void check_passes(const struct ps_plan *plan, struct ps_problems *problems)
{
    if (ps_values_get(&plan->config->run, "keep")->choice == 0 && !plan->compare)
        return; // ps_plan_keep finds out
    for (int port = 0; port < plan->input_count; port++) {
        const char *path = plan->readers[port].path;
        int walks = 0;
        for (int p = 0; p < plan->pass_count; p++)
            for (int i = 0; i < plan->passes[p].input_count; i++)
                walks += plan->passes[p].inputs[i] == port;
        if (walks > 1 && path != NULL && strcmp(path, "-") == 0)
            ps_problem_add(
                problems, PS_INPUT, plan->config->inputs[port].place,
                "input '%s' is standard input, which can be read only once, but the job "
                "walks over it %d times (stages use the result of a reduction over rows) and %s; "
                "save it to a file first",
                plan->ports[port].name, walks,
                plan->compare ? "--compare keeps nothing" : "run.keep is nothing");
    }
}

struct ps_plan *ps_plan_make(const struct ps_config *config, struct ps_problems *problems)
{
    struct ps_plan *plan = plan_alloc(config);
    if (plan == NULL)
        return NULL;
    ps_plan_open_inputs(plan, problems);
    for (int i = 0; i < config->stage_count; i++)
        plan_stage(plan, i, problems);
    for (int i = 0; i < config->output_count; i++)
        plan_output(plan, i, problems);
    check_collisions(plan, problems);
    if (problems->error_count > 0)
        return plan;
    warn_unused(plan, problems);
    ps_config_print(config, &plan->provenance);
    for (int i = 0; i < plan->output_count; i++)
        plan->outputs[i].spec.provenance = plan->provenance.data;
    if (ps_plan_build_passes(plan) && !plan->provenance.failed) {
        check_rows_after(plan, problems);
        check_passes(plan, problems);
        return plan;
    }
    ps_plan_free(plan);
    return NULL;
}
