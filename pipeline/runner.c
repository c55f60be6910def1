// SPDX-License-Identifier: Apache-2.0
// A job: outputs opened, passes run one after another, outputs finished and committed.
#include "pipeline/runner_pass.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

static bool load_whole_input(struct ps_run *run, int port, struct ps_error *error)
{
    struct ps_reader *reader = &run->plan->readers[port];
    struct ps_executor *first = &run->executors[0];
    struct ps_read_result result = {0};
    const struct ps_array *array = &run->plan->ports[port].array; // its rows are known
    int64_t rows = ps_array_rows(array);
    double start = ps_clock_ms();
    if (!ps_reader_read(reader, 0, rows, first->whole_host[port], &result, error)) {
        ps_error_place(error, "input '%s'", reader->name);
        return false;
    }
    if (result.rows != rows)
        return ps_fail(error, PS_INPUT, "input '%s' has %lld rows now and had %lld when they were "
                       "counted: it changed while it was read", reader->name,
                       (long long)result.rows, (long long)rows);
    struct ps_timing_entry entry = {
        .pass = 1, .block = -1, .kind = PS_STEP_READ, .name = reader->name, .rows = rows,
        .bytes = result.bytes, .start_ms = start, .duration_ms = ps_clock_ms() - start,
        .backend = "io",
    };
    ps_timing_add(run->timing, &entry);
    size_t bytes;
    if (!ps_array_bytes(array, &bytes))
        return ps_fail(error, PS_BUG, "a whole array without a size");
    for (int e = 0; e < run->executor_count; e++) {
        if (e > 0)
            memcpy(run->executors[e].whole_host[port], first->whole_host[port], bytes);
        if (!ps_executor_upload_whole(&run->executors[e], port, error))
            return false;
    }
    return true;
}

static bool load_whole_inputs(struct ps_run *run, struct ps_error *error)
{
    for (int p = 0; p < run->plan->input_count; p++)
        if (run->plan->needed[p] && !run->plan->ports[p].streamed &&
            !load_whole_input(run, p, error))
            return false;
    return true;
}

static void compare_whole(struct ps_run *run, int pass)
{
    const struct ps_plan *plan = run->plan;
    for (int s = 0; run->compare != NULL && s < plan->passes[pass].step_count; s++) {
        const struct ps_plan_step *step = &plan->passes[pass].steps[s];
        for (int i = 0; i < step->step.output_count; i++) {
            int port = step->output_ports[i];
            size_t bytes;
            if (plan->ports[port].streamed ||
                !ps_array_bytes(&plan->ports[port].array, &bytes))
                continue;
            ps_compare_add(run->compare, port, run->executors[1].whole_host[port],
                           run->executors[0].whole_host[port],
                           bytes / ps_dtype_bytes(plan->ports[port].array.dtype), 0);
        }
    }
}

static bool run_pass(struct ps_run *run, int pass, struct ps_output **outputs,
                     struct ps_error *error)
{
    for (int e = 0; e < run->executor_count; e++)
        if (!ps_executor_begin_pass(&run->executors[e], pass, run->timing, error))
            return false;
    if (run->plan->passes[pass].input_count > 0 &&
        !ps_run_blocks(run, pass, outputs, error))
        return false;
    for (int e = 0; e < run->executor_count; e++)
        if (!ps_executor_end_pass(&run->executors[e], run->timing, error))
            return false;
    compare_whole(run, pass);
    return true;
}

static bool write_whole(struct ps_run *run, struct ps_output *output, int index,
                        struct ps_error *error)
{
    const struct ps_plan_output *planned = &run->plan->outputs[index];
    const struct ps_port *port = &run->plan->ports[planned->port];
    struct ps_block block = {&port->array, 0, ps_array_rows(&port->array),
                             run->executors[0].whole_host[planned->port]};
    return ps_output_write(output, &block, error) && ps_output_finish(output, block.rows, error);
}

static int64_t rows_of(const struct ps_run *run, const struct ps_plan_output *output)
{
    return run->plan->domains[run->plan->domain_of[output->port]].rows;
}

// Writes whole arrays, completes every file (which waits for the disk) and notes the time.
static bool finish_output(struct ps_run *run, struct ps_output *output, int index,
                          struct ps_error *error)
{
    const struct ps_plan_output *planned = &run->plan->outputs[index];
    const struct ps_array *array = &run->plan->ports[planned->port].array;
    double start = ps_clock_ms();
    bool fine = planned->streamed ? ps_output_finish(output, rows_of(run, planned), error)
                                  : write_whole(run, output, index, error);
    if (!fine) {
        ps_error_place(error, "output '%s'", planned->config->name);
        return false;
    }
    int64_t rows = planned->streamed ? 0 : ps_array_rows(array); // those of blocks are counted
    struct ps_timing_entry entry = {
        .pass = run->plan->pass_count, .block = -1, .kind = PS_STEP_WRITE,
        .name = planned->config->name, .rows = rows,
        .bytes = (uint64_t)(rows * ps_array_row_elements(array)) *
                 ps_dtype_bytes(planned->spec.dtype),
        .start_ms = start, .duration_ms = ps_clock_ms() - start, .backend = "io",
    };
    ps_timing_add(run->timing, &entry);
    struct ps_output_counts counts = ps_output_counts(output);
    if (counts.clipped > 0 || counts.wrapped > 0)
        ps_log(PS_LOG_NOTE, "output '%s': %llu of %llu values did not fit %s and were %s",
               planned->config->name, (unsigned long long)(counts.clipped + counts.wrapped),
               (unsigned long long)counts.values, ps_dtype_name(planned->spec.dtype),
               counts.clipped > 0 ? "clipped" : "wrapped");
    return true;
}

static bool open_outputs(struct ps_run *run, struct ps_output **outputs, struct ps_error *error)
{
    for (int i = 0; i < run->plan->output_count; i++) {
        const struct ps_plan_output *planned = &run->plan->outputs[i];
        struct ps_output *first = planned->shares >= 0 ? outputs[planned->shares] : NULL;
        if (!ps_output_open(&planned->spec, first, &outputs[i], error)) {
            ps_error_place(error, "output '%s'", planned->config->name);
            return false;
        }
    }
    return true;
}

static bool run_passes(struct ps_run *run, struct ps_output **outputs, struct ps_error *error)
{
    if (!open_outputs(run, outputs, error) || !load_whole_inputs(run, error))
        return false;
    for (int pass = 0; pass < run->plan->pass_count; pass++)
        if (!run_pass(run, pass, outputs, error))
            return false;
    return true;
}

// Giving outputs their names one after the other can fail in the middle: then those that have theirs
// give them back. Where a file system cannot, the message says which exist.
static bool commit_outputs(struct ps_run *run, struct ps_output **outputs, struct ps_error *error)
{
    for (int i = 0; i < run->plan->output_count; i++) {
        if (ps_output_commit(outputs[i], error))
            continue;
        struct ps_text names = {0};
        int left = 0;
        for (int j = i - 1; j >= 0; j--)
            if (!ps_output_take_back(outputs[j]))
                ps_text_printf(&names, "%s'%s'", left++ > 0 ? ", " : "",
                               run->plan->outputs[j].config->name);
        if (left > 0)
            ps_error_place(error, "of %d outputs %s exist now, complete; the others were not written",
                           run->plan->output_count, names.failed ? "some" : names.data);
        ps_text_free(&names);
        return false;
    }
    return true;
}

static bool finish_outputs(struct ps_run *run, struct ps_output **outputs, struct ps_error *error)
{
    for (int i = 0; i < run->plan->output_count; i++)
        if (!finish_output(run, outputs[i], i, error))
            return false;
    if (run->stop != NULL && __atomic_load_n(run->stop, __ATOMIC_RELAXED))
        return ps_fail(error, PS_INTERRUPTED, "interrupted; no output was written");
    return commit_outputs(run, outputs, error);
}

bool ps_run_job(struct ps_run *run, struct ps_error *error)
{
    size_t count = (size_t)run->plan->output_count;
    struct ps_output **outputs = calloc(count + 1, sizeof *outputs);
    if (outputs == NULL)
        return ps_fail_memory(error, count * sizeof *outputs, "outputs");
    bool fine = run_passes(run, outputs, error) && finish_outputs(run, outputs, error);
    for (size_t i = count; i-- > 0;) // the first one made the folder, so it goes last
        if (outputs[i] != NULL)
            ps_output_close(outputs[i]);
    free(outputs);
    return fine;
}
