// SPDX-License-Identifier: Apache-2.0
// What the plan() functions of all stage types share: naming arrays.
#include "kernels/stage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int find_port(const struct ps_scope *scope, const char *name)
{
    for (int i = 0; i < scope->count; i++)
        if (!scope->ports[i].hidden && strcmp(scope->ports[i].name, name) == 0)
            return i;
    return -1;
}

static void report_unknown(const struct ps_scope *scope, const char *name, struct ps_place place,
                           struct ps_problems *problems)
{
    const char **names = calloc((size_t)scope->count + 1, sizeof *names);
    struct ps_text list = {0};
    size_t count = 0;
    for (int i = 0; i < scope->count; i++) {
        if (scope->ports[i].hidden)
            continue;
        if (names != NULL)
            names[count++] = scope->ports[i].name;
        ps_text_printf(&list, "%s%s", list.length > 0 ? ", " : "", scope->ports[i].name);
    }
    const char *near = names ? ps_nearest(name, names, count) : NULL;
    ps_problem_add(problems, PS_USAGE, place, "no array '%s' here%s%s%s; defined so far: %s", name,
                   near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
                   list.length > 0 ? list.data : "none");
    ps_text_free(&list);
    free(names);
}

static int use_port(struct ps_stage *stage, int port, struct ps_place place,
                    struct ps_problems *problems)
{
    for (int i = 0; i < stage->input_count; i++)
        if (stage->inputs[i] == port)
            return i;
    if (stage->input_count == PS_STAGE_INPUTS_MAX) {
        ps_problem_add(problems, PS_USAGE, place, "a stage reads at most %d arrays",
                       PS_STAGE_INPUTS_MAX);
        return -1;
    }
    stage->inputs[stage->input_count] = port;
    return stage->input_count++;
}

int ps_stage_use(struct ps_stage *stage, const struct ps_scope *scope, const char *name,
                 struct ps_place place, struct ps_problems *problems)
{
    int port = find_port(scope, name);
    if (port < 0)
        report_unknown(scope, name, place, problems);
    if (port < 0 || scope->ports[port].failed)
        return -1;
    return use_port(stage, port, place, problems);
}

int ps_stage_use_phase(struct ps_stage *stage, int phase, struct ps_problems *problems)
{
    int port = stage->port - stage->phase + phase;
    assert(phase >= 0 && phase < stage->phase);
    return use_port(stage, port, stage->place, problems);
}

int ps_stage_use_in(struct ps_stage *stage, const struct ps_scope *scope,
                    struct ps_problems *problems)
{
    const struct ps_value *in = ps_values_get(stage->options, "in");
    if (in->given)
        return ps_stage_use(stage, scope, in->text, in->place, problems);
    if (scope->previous < 0) {
        ps_problem_add(problems, PS_USAGE, stage->place,
                       "stage '%s' needs `in`: there is no stage before it, and not exactly one "
                       "input",
                       stage->name);
        return -1;
    }
    return ps_stage_use(stage, scope, scope->ports[scope->previous].name, stage->place, problems);
}

const struct ps_port *ps_stage_input(const struct ps_stage *stage, const struct ps_scope *scope,
                                     int position)
{
    return &scope->ports[stage->inputs[position]];
}

int ps_step_input(const struct ps_step *step, const char *name)
{
    for (int i = 0; i < step->input_count; i++)
        if (strcmp(step->inputs[i]->name, name) == 0)
            return i;
    return -1;
}

int ps_step_output(const struct ps_step *step, const struct ps_stage *stage)
{
    for (int i = 0; i < step->output_count; i++)
        if (step->outputs[i] == stage)
            return i;
    return -1;
}
