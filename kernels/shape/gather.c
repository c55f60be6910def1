// SPDX-License-Identifier: Apache-2.0
// Index maps: made by the plans of the stages that move elements, put in order for a launch.
#include "kernels/shape/gather_stage.h"

#include <stdlib.h>
#include <string.h>

struct ps_gather *ps_gather_begin(struct ps_stage *stage, bool whole, struct ps_problems *problems)
{
    struct ps_gather *gather = stage->detail = calloc(1, sizeof *gather);
    if (gather == NULL)
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
    else
        gather->whole = whole;
    return gather;
}

bool ps_gather_list(struct ps_stage *stage, struct ps_gather *gather, int64_t count,
                    struct ps_problems *problems)
{
    gather->list = calloc((size_t)count + 1, sizeof *gather->list);
    gather->list_count = count;
    if (gather->list == NULL)
        ps_problem_add(problems, PS_DEVICE, stage->place, "out of memory");
    return gather->list != NULL;
}

struct ps_gather_piece *ps_gather_add(struct ps_gather *gather, const struct ps_port *in,
                                      int position, const int64_t *to_dims)
{
    struct ps_gather_piece *piece = &gather->pieces[gather->piece_count++];
    int first = ps_shape_first(in);
    int64_t from = 1, to = 1;
    *piece = (struct ps_gather_piece){.rank = in->array.rank - first,
                                      .listed = -1,
                                      .input = position,
                                      .dtype = (int)in->array.dtype};
    for (int i = piece->rank - 1; i >= 0; i--) {
        piece->dims[i] = in->array.dims[first + i];
        piece->from[i] = from;
        piece->to[i] = to;
        from *= in->array.dims[first + i];
        to *= to_dims[first + i];
    }
    piece->from_row = from;
    return piece;
}

// ---- Joining axes ----

static void drop_axis(struct ps_gather_piece *piece, int axis)
{
    size_t bytes = (size_t)(piece->rank - axis - 1) * sizeof piece->dims[0];
    memmove(&piece->dims[axis], &piece->dims[axis + 1], bytes);
    memmove(&piece->from[axis], &piece->from[axis + 1], bytes);
    memmove(&piece->to[axis], &piece->to[axis + 1], bytes);
    piece->listed -= piece->listed > axis;
    piece->rank--;
}

// Axes of one element go; an axis whose steps carry on from those of the next one joins it.
static void join(struct ps_gather_piece *piece)
{
    for (int i = piece->rank - 1; i >= 0; i--)
        if (piece->dims[i] == 1 && piece->listed != i)
            drop_axis(piece, i);
    for (int i = piece->rank - 2; i >= 0; i--) {
        int64_t size = piece->dims[i + 1];
        if (piece->listed == i || piece->listed == i + 1 ||
            piece->from[i] != piece->from[i + 1] * size || piece->to[i] != piece->to[i + 1] * size)
            continue;
        piece->dims[i + 1] *= piece->dims[i];
        drop_axis(piece, i);
    }
}

static bool all_even(const struct ps_gather *gather, const struct ps_gather_piece *piece)
{
    int last = piece->rank - 1;
    if (last < 0 || piece->listed == last || piece->from[last] != 1 || piece->to[last] != 1)
        return false;
    uint64_t bits = (uint64_t)(piece->dims[last] | piece->from_base | piece->to_base |
                               piece->from_row | piece->to_row);
    for (int i = 0; i < last; i++)
        bits |= (uint64_t)(piece->to[i] | (piece->listed == i ? 0 : piece->from[i]));
    for (int64_t i = 0; piece->listed >= 0 && i < gather->list_count; i++)
        bits |= (uint64_t)gather->list[i];
    return bits % 2 == 0;
}

static void halve(struct ps_gather *gather, struct ps_gather_piece *piece)
{
    int last = piece->rank - 1;
    piece->dims[last] /= 2;
    piece->from_base /= 2;
    piece->to_base /= 2;
    piece->from_row /= 2;
    piece->to_row /= 2;
    for (int i = 0; i < last; i++) {
        piece->from[i] /= 2;
        piece->to[i] /= 2;
    }
    for (int64_t i = 0; piece->listed >= 0 && i < gather->list_count; i++)
        gather->list[i] /= 2;
}

// Pairs of words that always move together become one word, up to 16 bytes.
static void widen(struct ps_gather *gather)
{
    while (gather->word_bytes < 16) {
        for (int i = 0; i < gather->piece_count; i++)
            if (gather->pieces[i].dtype != gather->out_dtype ||
                !all_even(gather, &gather->pieces[i]))
                return;
        for (int i = 0; i < gather->piece_count; i++)
            halve(gather, &gather->pieces[i]);
        gather->word_bytes *= 2;
    }
}

void ps_gather_finish(const struct ps_stage *stage, struct ps_gather *gather)
{
    int first = gather->whole ? 0 : 1;
    int64_t row = ps_shape_product(stage->output.dims, first, stage->output.rank);
    gather->out_dtype = (int)stage->output.dtype;
    gather->word_bytes = (int)ps_dtype_bytes(stage->output.dtype);
    gather->empty = row == 0;
    for (int i = 0; i < gather->piece_count; i++) {
        gather->pieces[i].to_row = row;
        join(&gather->pieces[i]);
    }
    if (!gather->empty)
        widen(gather);
}

void ps_gather_job_of(const struct ps_program *program, int piece, const struct ps_launch *launch,
                      struct ps_gather_job *job)
{
    const struct ps_gather *gather = &program->gather;
    const struct ps_gather_piece *from = &gather->pieces[piece];
    struct ps_gather_piece *to = &job->piece;
    *to = *from;
    to->rank = from->rank + 1;
    to->listed = from->listed < 0 ? -1 : from->listed + 1;
    to->dims[0] = gather->whole ? 1 : launch->rows;
    to->from[0] = from->from_row;
    to->to[0] = from->to_row;
    for (int i = 0; i < from->rank; i++) {
        to->dims[i + 1] = from->dims[i];
        to->from[i + 1] = from->from[i];
        to->to[i + 1] = from->to[i];
    }
    join(to);
    job->word_bytes = gather->word_bytes;
    job->out_dtype = gather->out_dtype;
    job->list = program->device_list != NULL ? program->device_list : gather->list;
    job->in = launch->inputs[from->input];
    job->out = launch->outputs[0];
}

bool ps_gather_turns(const struct ps_gather_piece *piece, int *axis_out)
{
    int last = piece->rank - 1;
    if (last < 1 || piece->listed == last || piece->from[last] == 1 || piece->to[last] != 1)
        return false;
    for (int i = 0; i < last; i++) {
        if (piece->from[i] == 1 && piece->listed != i && piece->dims[i] > 1) {
            *axis_out = i;
            return true;
        }
    }
    return false;
}

// ---- Programs ----

void ps_gather_unplan(struct ps_stage *stage)
{
    struct ps_gather *gather = stage->detail;
    if (gather != NULL)
        free(gather->list);
    free(gather);
    stage->detail = NULL;
}

#if PS_HAVE_CUDA
static bool upload(struct ps_program *program, struct ps_error *error)
{
    struct ps_device *device = program->device;
    const struct ps_backend *backend = device->backend;
    size_t bytes = (size_t)program->gather.list_count * sizeof *program->gather.list;
    struct ps_queue *queue = NULL;
    void *host = backend->alloc(device, PS_MEMORY_HOST, bytes, error);
    program->device_list =
        host != NULL ? backend->alloc(device, PS_MEMORY_DEVICE, bytes, error) : NULL;
    bool fine = program->device_list != NULL;
    if (fine) {
        memcpy(host, program->gather.list, bytes);
        fine = backend->queue_open(device, 0, &queue, error) &&
               backend->copy(queue, program->device_list, host, bytes, error) &&
               backend->wait(queue, error);
    }
    if (queue != NULL)
        backend->queue_close(queue);
    if (host != NULL)
        backend->free(device, PS_MEMORY_HOST, host);
    return fine;
}
#endif

void ps_gather_release(struct ps_program *program)
{
    if (program->device_list != NULL)
        program->device->backend->free(program->device, PS_MEMORY_DEVICE, program->device_list);
    free(program);
}

bool ps_gather_compile(const struct ps_step *step, struct ps_device *device,
                       struct ps_program **program_out, struct ps_error *error)
{
    const struct ps_stage *stage = step->stages[0];
    struct ps_program *program = calloc(1, sizeof *program);
    if (program == NULL)
        return ps_fail_memory(error, sizeof *program, "an index map");
    program->gather = *(const struct ps_gather *)stage->detail; // the list stays the stage's
    program->device = device;
    for (int i = 0; i < program->gather.piece_count; i++) {
        int *input = &program->gather.pieces[i].input;
        *input = ps_step_input(step, step->ports[stage->inputs[*input]].name);
    }
#if PS_HAVE_CUDA
    if (device->backend->id == PS_CUDA && program->gather.list_count > 0 &&
        !upload(program, error)) {
        ps_gather_release(program);
        return false;
    }
#endif
    *program_out = program;
    return true;
}
