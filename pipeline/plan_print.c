// SPDX-License-Identifier: Apache-2.0
// The plan for people.
#include "pipeline/plan_parts.h"

#include <string.h>

static const char *format_of(const struct ps_plan *plan, int port)
{
    return plan->readers[port].format->name;
}

static void print_arrays(const struct ps_plan *plan, struct ps_text *out)
{
    char shape[PS_ARRAY_TEXT];
    ps_text_add(out, "arrays\n");
    for (int p = 0; p < plan->port_count; p++) {
        const struct ps_port *port = &plan->ports[p];
        ps_text_printf(out, "  %-14s %-24s %-8s", port->name, ps_array_text(&port->array, shape),
                       port->streamed ? "streamed" : "whole");
        if (p < plan->input_count)
            ps_text_printf(out, " input, %s, %s\n", format_of(plan, p), plan->readers[p].way);
        else
            ps_text_printf(out, " %s%s\n", plan->stages[p - plan->input_count].type->name,
                           plan->needed[p] ? "" : " (not needed: will not run)");
    }
}

static void print_step(const struct ps_plan_step *step, struct ps_text *out)
{
    ps_text_printf(out, "    %s %s%s%s\n", step->step.type->name, step->label,
                   step->step.stage_count > 1 ? " (fused into one kernel)" : "",
                   step->whole ? " (once, on whole arrays)" : "");
}

// What the pass reads from files, and what it finds in memory.
static void print_reads(const struct ps_plan *plan, int number, struct ps_text *out)
{
    const struct ps_pass *pass = &plan->passes[number];
    uint64_t row = 0;
    int files = 0;
    char bytes[32];
    ps_text_printf(out, "    read%s", pass->input_count > 0 ? "" : " nothing");
    for (int j = 0; j < pass->input_count; j++) {
        int port = pass->inputs[j];
        bool kept = ps_plan_finds_kept(plan, number, port);
        ps_text_printf(out, " %s", plan->ports[port].name);
        if (kept)
            ps_text_printf(out, " (kept in %s)", ps_keep_name(plan->keep[port]));
        row += kept ? 0 : ps_array_row_bytes(&plan->ports[port].array);
        files += !kept;
    }
    if (plan->rows >= 0 && (files > 0 || pass->input_count == 0))
        ps_text_printf(out, " (%s)", ps_size_text(row * (uint64_t)plan->rows, bytes, sizeof bytes));
    else if (files > 0)
        ps_text_add(out, " (rows not known before the end)");
    else if (plan->rows < 0)
        ps_text_printf(out, " (if there are no more than %lld rows, else from its file)",
                       (long long)plan->kept_rows);
    ps_text_add(out, "\n");
}

static void print_passes(const struct ps_plan *plan, struct ps_text *out)
{
    for (int i = 0; i < plan->pass_count; i++) {
        const struct ps_pass *pass = &plan->passes[i];
        ps_text_printf(out, "pass %d\n", i + 1);
        print_reads(plan, i, out);
        for (int s = 0; s < pass->step_count; s++)
            print_step(&pass->steps[s], out);
        for (int w = 0; w < pass->write_count; w++)
            ps_text_printf(out, "    write %s\n", plan->outputs[pass->writes[w]].config->name);
    }
    const char *head = "at the end\n";
    for (int i = 0; i < plan->output_count; i++) {
        if (plan->outputs[i].streamed)
            continue;
        ps_text_printf(out, "%s    write %s\n", head, plan->outputs[i].config->name);
        head = "";
    }
}

static void print_sizes(const struct ps_plan *plan, struct ps_text *out)
{
    char a[32], b[32], c[32];
    ps_text_printf(out, "backend     %s: %s\n", plan->backend == PS_CPU ? "cpu" : "cuda",
                   plan->reason);
    ps_text_printf(out, "blocks      %lld rows in %d slots, %d threads\n",
                   (long long)plan->block_rows, plan->slots, plan->threads);
    ps_text_printf(out, "host        %s of %s (whole arrays %s)\n",
                   ps_size_text(plan->host_bytes, a, sizeof a),
                   ps_size_text(plan->host_limit, b, sizeof b),
                   ps_size_text(plan->whole_bytes, c, sizeof c));
    if (plan->device_limit > 0)
        ps_text_printf(out, "device      %s of %s\n", ps_size_text(plan->device_bytes, a, sizeof a),
                       ps_size_text(plan->device_limit, b, sizeof b));
    if (plan->kept_device_bytes > 0)
        ps_text_printf(out, "kept        %s of it from pass to pass\n",
                       ps_size_text(plan->kept_device_bytes, a, sizeof a));
    if (plan->kept_host_bytes > 0)
        ps_text_printf(out, "kept        %s%s of host memory from pass to pass\n",
                       plan->rows < 0 ? "at most " : "",
                       ps_size_text(plan->kept_host_bytes, a, sizeof a));
    if (plan->state_bytes > 0)
        ps_text_printf(out, "reductions  %s of exact accumulators\n",
                       ps_size_text(plan->state_bytes, a, sizeof a));
}

void ps_plan_print(const struct ps_plan *plan, struct ps_text *out)
{
    print_arrays(plan, out);
    print_passes(plan, out);
    print_sizes(plan, out);
    ps_plan_print_prediction(plan, out);
}
