// SPDX-License-Identifier: Apache-2.0
// Rows at hand: which rows before and after a block's own ones each array must have, so that the
// stages that look at neighbouring rows find them.
#include "pipeline/plan_parts.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const struct ps_stage *extend_step(const struct ps_plan *plan, struct ps_pass *pass,
                                          const struct ps_plan_step *step)
{
    const struct ps_stage *first = step->step.stages[0];
    const struct ps_row_rule *rule = &first->rows;
    int64_t before = 0, after = 0;
    for (int i = 0; !step->reduces && i < step->step.stage_count; i++) {
        int port = step->step.stages[i]->port;
        before = larger(before, pass->before[port]);
        after = larger(after, pass->after[port]);
    }
    for (int i = 0; !step->reduces && i < step->step.stage_count; i++) {
        pass->before[step->step.stages[i]->port] = before;
        pass->after[step->step.stages[i]->port] = after;
    }
    for (int i = 0; i < step->step.input_count; i++) {
        int port = step->input_ports[i];
        if (!plan->ports[port].streamed)
            continue;
        pass->before[port] = larger(pass->before[port], ps_row_rule_before(rule, before));
        pass->after[port] = larger(pass->after[port], ps_row_rule_after(rule, after));
    }
    return rule->ordered && after > 0 ? first : NULL;
}

const struct ps_stage *ps_pass_extend(const struct ps_plan *plan, struct ps_pass *pass)
{
    const struct ps_stage *fault = NULL;
    bool sees_end = false; // a stage gives one more row for what is left at the end
    for (int s = pass->step_count - 1; s >= pass->whole_count; s--) {
        const struct ps_stage *stage = extend_step(plan, pass, &pass->steps[s]);
        fault = stage != NULL ? stage : fault;
        sees_end = sees_end || pass->steps[s].step.stages[0]->rows.partial;
    }
    int64_t before = 0, after = sees_end && plan->rows < 0;
    for (int i = 0; i < pass->input_count; i++) { // all inputs are read alike
        before = larger(before, pass->before[pass->inputs[i]]);
        after = larger(after, pass->after[pass->inputs[i]]);
    }
    for (int i = 0; i < pass->input_count; i++) {
        pass->before[pass->inputs[i]] = before;
        pass->after[pass->inputs[i]] = after;
    }
    return fault;
}

static int64_t most_of_domain(const struct ps_plan *plan, int domain, int64_t rows)
{
    if (domain == 0)
        return rows;
    const struct ps_domain *own = &plan->domains[domain];
    return ps_row_rule_most(&own->stage->rows, most_of_domain(plan, own->parent, rows));
}

int64_t ps_plan_most_rows(const struct ps_plan *plan, const struct ps_pass *pass, int port,
                          int64_t rows)
{
    return most_of_domain(plan, plan->domain_of[port], rows) + pass->before[port] +
           pass->after[port];
}

int64_t ps_pass_neighbours(const struct ps_pass *pass)
{
    if (pass->input_count == 0)
        return 0;
    return pass->before[pass->inputs[0]] + pass->after[pass->inputs[0]];
}

bool ps_plan_keeps_tail(const struct ps_plan *plan, const struct ps_pass *pass, int port)
{
    const struct ps_reader *reader = &plan->readers[port];
    return ps_pass_neighbours(pass) > 0 &&
           ((reader->flags & PS_READ_IN_ORDER) || reader->array.dims[0] == PS_ROWS_UNKNOWN);
}

void ps_plan_count_domains(struct ps_plan *plan, const struct ps_pass *pass, int64_t rows,
                           const int64_t *chosen)
{
    plan->domains[0].rows = rows;
    for (int d = 1; d < plan->domain_count; d++) {
        struct ps_domain *domain = &plan->domains[d];
        int64_t parent = plan->domains[domain->parent].rows;
        bool ran = false;
        for (int s = 0; s < pass->step_count; s++)
            ran = ran || pass->steps[s].step.stages[0] == domain->stage;
        if (domain->stage->rows.chosen)
            domain->rows = ran ? chosen[d] : domain->rows;
        else if (parent >= 0)
            domain->rows = ps_row_rule_count(&domain->stage->rows, parent, true);
    }
}
