// SPDX-License-Identifier: Apache-2.0
// From a launch to the jobs that backends carry out: which nodes there are and where.
#include "kernels/window/stage.h"

static int node_of(int kind, enum ps_dtype dtype)
{
    switch (kind) {
    case PS_WINDOW_SUM:
    case PS_WINDOW_MEAN:
        return ps_dtype_is_float(dtype) ? PS_NODE_F64 : PS_NODE_I128;
    case PS_WINDOW_VAR:
    case PS_WINDOW_STD:
        return PS_NODE_MOMENTS;
    case PS_WINDOW_MIN:
        return PS_NODE_LEAST;
    case PS_WINDOW_MAX:
        return PS_NODE_MOST;
    case PS_WINDOW_COUNT:
        return PS_NODE_NUMBERS;
    default:
        return PS_NODE_NONE;
    }
}

static void place_levels(struct ps_window_job *job)
{
    int64_t window = job->before + job->after + 1, used = 0;
    job->levels = 0;
    for (int level = 0; level < PS_WINDOW_LEVELS && (int64_t)1 << level <= window; level++) {
        job->first[level] = (job->in_first + ((int64_t)1 << level) - 1) >> level;
        job->end[level] = job->in_end >> level;
        if (job->end[level] < job->first[level])
            job->end[level] = job->first[level];
        job->offset[level] = used;
        used += job->end[level] - job->first[level];
        job->levels++;
    }
}

int64_t ps_window_lanes(enum ps_backend_id backend)
{
    return backend == PS_CPU ? 1 : 16384;
}

void ps_window_job_of(const struct ps_window_detail *window, const struct ps_launch *launch,
                      int kind, struct ps_window_job *job)
{
    *job = (struct ps_window_job){
        .dtype = (int)window->dtype,
        .kind = window->kinds[kind],
        .node = node_of(window->kinds[kind], window->dtype),
        .columns = window->columns,
        .first_row = launch->first_row,
        .rows = launch->rows,
        .in_first = launch->in_first,
        .in_end = launch->in_first + launch->in_rows,
        .before = window->before,
        .after = window->after,
        .start = window->start,
        .step = window->step,
        .fill = window->fill,
        .filler = window->filler,
        .ddof = window->ddof,
        .out_dtype = (int)window->out_dtype,
        .out_step = window->kind_count,
        .out_offset = kind,
        .in = launch->inputs[0],
        .out = launch->outputs[0],
        .nodes = launch->scratch,
    };
    int64_t width = window->before + window->after + 1;
    job->lane_rows = 4 * width / window->step + 1; // so that filling a window costs little
    job->lanes = ps_window_lanes(launch->queue->device->backend->id);
    place_levels(job);
}

size_t ps_window_scratch(const struct ps_step *step, enum ps_backend_id backend, int64_t rows)
{
    const struct ps_window_detail *window = step->stages[0]->detail;
    int64_t width = window->before + window->after + 1;
    bool median = false, nodes = false;
    for (int i = 0; i < window->kind_count; i++) {
        median = median || window->kinds[i] == PS_WINDOW_MEDIAN;
        nodes = nodes || node_of(window->kinds[i], window->dtype) != PS_NODE_NONE;
    }
    // A window that no memory holds is refused by its size.
    double bytes = 0, keys = 0;
    if (nodes)
        bytes = (2.0 * (double)(rows + width) + PS_WINDOW_LEVELS) * (double)window->columns *
                PS_WINDOW_NODE_BYTES;
    if (median)
        keys = (double)ps_window_lanes(backend) * (double)width * 8;
    bytes = keys > bytes ? keys : bytes;
    return bytes > 0x1p60 ? (size_t)1 << 60 : (size_t)bytes;
}
