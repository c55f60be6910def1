// SPDX-License-Identifier: Apache-2.0
// What will bound the job, from bytes and a few rates of a common machine. Stated with the answer,
// because a disk, a slow format or another GPU changes it; `run` measures.
#include "pipeline/plan_parts.h"

#include <string.h>

// GB/s. From the page cache; a file that must come from a disk is slower.
#define READ_ANYWHERE 5.0 // per thread
#define READ_MOST 30.0    // all threads
#define READ_LOCKED 2.0   // through a library, one call at a time
#define READ_TEXT 0.2     // in order: text that is parsed
#define COPY 50.0         // PCIe generation 5, pinned memory
#define CPU_MEMORY 4.0    // per thread, of bytes that stages read and write
#define GPU_MEMORY 2000.0
#define WRITE 2.0 // one writer
// GFLOP/s of matmul in float32.
#define CPU_FLOPS 80.0 // per thread
#define GPU_FLOPS 30000.0

enum resource { READ, H2D, STAGES, D2H, WRITING, RESOURCES };
static const char *const names[] = {"read", "h2d", "stages", "d2h", "write"};

static double rows_of(const struct ps_plan *plan, int port)
{
    if (!plan->ports[port].streamed)
        return (double)ps_array_rows(&plan->ports[port].array);
    if (plan->rows >= 0)
        return (double)plan->rows;
    for (int i = 0; i < plan->input_count; i++) { // as many as the file could hold as text
        size_t row = ps_array_row_bytes(&plan->ports[i].array);
        if (plan->ports[i].streamed && plan->readers[i].file_bytes > 0 && row > 0)
            return (double)plan->readers[i].file_bytes / (double)row;
    }
    return 0;
}

static double bytes_of(const struct ps_plan *plan, int port)
{
    return rows_of(plan, port) * (double)ps_array_row_bytes(&plan->ports[port].array);
}

static double read_rate(const struct ps_plan *plan, int port)
{
    unsigned flags = plan->readers[port].flags;
    if (flags & PS_READ_IN_ORDER)
        return READ_TEXT;
    if (!(flags & PS_READ_ANYWHERE))
        return READ_LOCKED;
    double rate = READ_ANYWHERE * plan->threads;
    return rate < READ_MOST ? rate : READ_MOST;
}

static double step_seconds(const struct ps_plan *plan, const struct ps_plan_step *step)
{
    bool gpu = plan->backend == PS_CUDA;
    double bytes = 0, threads = plan->threads;
    for (int i = 0; i < step->step.input_count; i++)
        bytes += bytes_of(plan, step->input_ports[i]);
    for (int i = 0; i < step->step.output_count; i++)
        bytes += bytes_of(plan, step->output_ports[i]);
    double seconds = bytes * 1e-9 / (gpu ? GPU_MEMORY : CPU_MEMORY * threads);
    if (strcmp(step->step.type->name, "matmul") != 0)
        return seconds;
    const struct ps_array *in = &step->step.inputs[0]->array;
    const struct ps_array *out = &step->step.stages[0]->output;
    double flops = 2.0 * rows_of(plan, step->input_ports[0]) * (double)ps_array_row_elements(out) *
                   (double)in->dims[in->rank - 1];
    double multiplying = flops * 1e-9 / (gpu ? GPU_FLOPS : CPU_FLOPS * threads);
    return multiplying > seconds ? multiplying : seconds;
}

static bool finds_all(const struct ps_plan *plan, int pass, int port)
{
    return ps_plan_finds_kept(plan, pass, port) && rows_of(plan, port) <= (double)plan->kept_rows;
}

static void add_pass(const struct ps_plan *plan, int number, double *seconds)
{
    const struct ps_pass *pass = &plan->passes[number];
    bool gpu = plan->backend == PS_CUDA;
    for (int i = 0; i < pass->input_count; i++) {
        int port = pass->inputs[i];
        double bytes = bytes_of(plan, port);
        bool kept = finds_all(plan, number, port), there = plan->keep[port] == PS_KEEP_DEVICE;
        seconds[READ] += kept ? 0 : bytes * 1e-9 / read_rate(plan, port);
        seconds[H2D] += gpu && !(kept && there) ? bytes * 1e-9 / COPY : 0;
    }
    for (int s = 0; s < pass->step_count; s++)
        seconds[STAGES] += step_seconds(plan, &pass->steps[s]);
    for (int i = 0; i < pass->keep_count; i++)
        seconds[D2H] += gpu ? bytes_of(plan, pass->keeps[i]) * 1e-9 / COPY : 0;
    for (int i = 0; i < pass->write_count; i++) {
        const struct ps_plan_output *output = &plan->outputs[pass->writes[i]];
        bool kept = output->config->format->flags & PS_NO_PATH; // written nowhere
        seconds[WRITING] += kept ? 0 : bytes_of(plan, output->port) * 1e-9 / WRITE;
    }
}

void ps_plan_print_prediction(const struct ps_plan *plan, struct ps_text *out)
{
    double seconds[RESOURCES] = {0};
    int most = 0;
    for (int i = 0; i < plan->pass_count; i++)
        add_pass(plan, i, seconds);
    for (int r = 1; r < RESOURCES; r++)
        most = seconds[r] > seconds[most] ? r : most;
    ps_text_printf(out, "prediction  bound by %s:", names[most]);
    const char *comma = "";
    for (int r = 0; r < RESOURCES; r++) {
        if (seconds[r] > 0)
            ps_text_printf(out, "%s %s %.3g s", comma, names[r], seconds[r]);
        comma = seconds[r] > 0 ? "," : comma;
    }
    ps_text_printf(out,
                   "%s\n            assuming files in the page cache (%g GB/s a thread, %g through "
                   "a library, %g of text),\n            ",
                   comma[0] == '\0' ? " nothing to move" : "", READ_ANYWHERE, READ_LOCKED,
                   READ_TEXT);
    if (plan->backend == PS_CUDA)
        ps_text_printf(out, "copies at %g GB/s, GPU memory at %g GB/s, ", COPY, GPU_MEMORY);
    else
        ps_text_printf(out, "stages at %g GB/s a thread, ", CPU_MEMORY);
    ps_text_printf(out, "writing at %g GB/s\n", WRITE);
}
