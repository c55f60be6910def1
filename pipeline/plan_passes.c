// SPDX-License-Identifier: Apache-2.0
// Passes and steps out of planned stages: what is computed when, and what shares a kernel.
#include "pipeline/plan_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void ps_pass_free(struct ps_pass *pass)
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
    free(pass->before);
    free(pass->after);
}

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

// Whether the step still has a place for all that its stages read and make when one more joins.
static bool has_room(const struct ps_plan_step *step, const struct ps_stage *stage)
{
    int arrays = stage->input_count;
    for (int i = 0; i < step->step.stage_count; i++)
        arrays += step->step.stages[i]->input_count;
    return arrays <= PS_LAUNCH_ARRAYS_MAX && step->step.stage_count < PS_LAUNCH_ARRAYS_MAX;
}

static bool joins(const struct ps_plan *plan, const struct ps_plan_step *step,
                  const struct ps_stage *stage)
{
    int with = step->step.stages[0]->port;
    return !plan->compare && step->step.type == stage->type && stage->type->joins != NULL &&
           !step->whole && plan->domain_of[with] == plan->domain_of[stage->port] && stage_reads_stream(plan, stage) && stage->streamed &&
           has_room(step, stage) &&
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
        step->step.stages = ps_zeroed((size_t)plan->port_count, sizeof *step->step.stages);
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
    bool *seen = ps_zeroed(most, sizeof *seen);
    step->step.inputs = ps_zeroed(most, sizeof *step->step.inputs);
    step->step.outputs = ps_zeroed(most, sizeof *step->step.outputs);
    step->input_ports = ps_zeroed(most, sizeof *step->input_ports);
    step->output_ports = ps_zeroed(most, sizeof *step->output_ports);
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
    bool *active = ps_zeroed(ports, sizeof *active);
    pass->inputs = ps_zeroed((size_t)plan->input_count, sizeof *pass->inputs);
    pass->steps = ps_zeroed(ports, sizeof *pass->steps);
    pass->writes = ps_zeroed((size_t)plan->output_count, sizeof *pass->writes);
    pass->keeps = ps_zeroed(ports, sizeof *pass->keeps);
    pass->before = ps_zeroed(ports, sizeof *pass->before);
    pass->after = ps_zeroed(ports, sizeof *pass->after);
    bool fine = active && pass->inputs && pass->steps && pass->writes && pass->keeps &&
                pass->before && pass->after;
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

bool ps_plan_build_passes(struct ps_plan *plan)
{
    int last = 0;
    assign_passes(plan);
    for (int p = 0; p < plan->port_count; p++)
        if (plan->needed[p] && plan->pass_of[p] > last)
            last = plan->pass_of[p];
    plan->passes = ps_zeroed((size_t)last + 1, sizeof *plan->passes);
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
        ps_pass_free(end);
        plan->pass_count--;
    }
    return true;
}
