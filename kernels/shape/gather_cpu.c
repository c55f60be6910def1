// SPDX-License-Identifier: Apache-2.0
// Index maps on the cpu: runs are copied at once, turned axes in tiles that stay in the cache.
#include "kernels/shape/gather_stage.h"

#include <string.h>

#define TILE 32

// All steps in bytes. One loop per width, so that each memcpy is one move.
static void copy_run(int width, char *to, int64_t to_step, const char *from, int64_t from_step,
                     int64_t count)
{
#define RUN(bytes)                                                                                 \
    for (int64_t i = 0; i < count; i++)                                                            \
    memcpy(to + i * to_step, from + i * from_step, bytes)
    if (from_step == width && to_step == width)
        memcpy(to, from, (size_t)count * (size_t)width);
    else if (width == 1)
        RUN(1);
    else if (width == 2)
        RUN(2);
    else if (width == 4)
        RUN(4);
    else if (width == 8)
        RUN(8);
    else
        RUN(16);
#undef RUN
}

static void copy_listed(int width, char *to, int64_t to_step, const char *from, const int64_t *list,
                        int64_t count)
{
#define RUN(bytes)                                                                                 \
    for (int64_t i = 0; i < count; i++)                                                            \
    memcpy(to + i * to_step, from + list[i] * bytes, bytes)
    if (width == 1)
        RUN(1);
    else if (width == 2)
        RUN(2);
    else if (width == 4)
        RUN(4);
    else if (width == 8)
        RUN(8);
    else
        RUN(16);
#undef RUN
}

static void convert_run(const struct ps_gather_job *job, int64_t to, int64_t to_step, int64_t from,
                        int64_t from_step, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        ps_element_store_raw(
            job->out_dtype, job->out, to + i * to_step,
            ps_gather_convert(job->piece.dtype, job->out_dtype,
                              ps_element_raw(job->piece.dtype, job->in, from + i * from_step)));
}

// The last axis, from the places of its first element on.
static void run_last(const struct ps_gather_job *job, int64_t to, int64_t from)
{
    const struct ps_gather_piece *piece = &job->piece;
    int width = job->word_bytes, last = piece->rank - 1;
    int64_t count = last < 0 ? 1 : piece->dims[last];
    int64_t to_step = last < 0 ? 1 : piece->to[last], from_step = last < 0 ? 1 : piece->from[last];
    if (piece->dtype != job->out_dtype)
        convert_run(job, to, to_step, from, from_step, count);
    else if (last >= 0 && piece->listed == last)
        copy_listed(width, job->out + to * width, to_step * width, job->in + from * width,
                    job->list, count);
    else
        copy_run(width, job->out + to * width, to_step * width, job->in + from * width,
                 from_step * width, count);
}

// The last axis of the output against the fast one of the input.
static void run_turned(const struct ps_gather_job *job, int fast, int64_t to, int64_t from)
{
    const struct ps_gather_piece *piece = &job->piece;
    int width = job->word_bytes, last = piece->rank - 1;
    int64_t rows = piece->dims[fast], columns = piece->dims[last];
    for (int64_t r0 = 0; r0 < rows; r0 += TILE) {
        int64_t r1 = r0 + TILE < rows ? r0 + TILE : rows;
        for (int64_t c0 = 0; c0 < columns; c0 += TILE) {
            int64_t count = c0 + TILE < columns ? TILE : columns - c0;
            for (int64_t r = r0; r < r1; r++)
                copy_run(width, job->out + (to + r * piece->to[fast] + c0) * width, width,
                         job->in + (from + r + c0 * piece->from[last]) * width,
                         piece->from[last] * width, count);
        }
    }
}

// Walks over the axes before the last one.
static void run_piece(const struct ps_gather_job *job)
{
    const struct ps_gather_piece *piece = &job->piece;
    int64_t at[PS_GATHER_AXES] = {0};
    int fast = -1, last = piece->rank - 1;
    bool turns = piece->dtype == job->out_dtype && ps_gather_turns(piece, &fast);
    for (int i = 0; i < piece->rank; i++)
        if (piece->dims[i] == 0)
            return;
    for (;;) {
        int64_t to = piece->to_base, from = piece->from_base;
        for (int i = 0; i < last; i++) {
            to += at[i] * piece->to[i];
            from += piece->listed == i ? job->list[at[i]] : at[i] * piece->from[i];
        }
        if (turns)
            run_turned(job, fast, to, from);
        else
            run_last(job, to, from);
        int i = last - 1;
        for (; i >= 0; i--) {
            if (turns && i == fast)
                continue;
            if (++at[i] < piece->dims[i])
                break;
            at[i] = 0;
        }
        if (i < 0)
            return;
    }
}

bool ps_gather_run_cpu(const struct ps_program *program, const struct ps_launch *launch,
                       struct ps_error *error)
{
    (void)error;
    if (program->gather.empty)
        return true;
    for (int i = 0; i < program->gather.piece_count; i++) {
        struct ps_gather_job job;
        ps_gather_job_of(program, i, launch, &job);
        run_piece(&job);
    }
    return true;
}
