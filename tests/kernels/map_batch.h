// SPDX-License-Identifier: Apache-2.0
// Rows of tests/data/map, many to a job: each row is a stage over ports of its own operands, so
// that few kernels have to be compiled. All streams are ROWS long, operands repeated.
#ifndef PS_TESTS_MAP_BATCH_H
#define PS_TESTS_MAP_BATCH_H

#define MJ_PORTS 128
#include "map_values.h"

#include <ctype.h>

#define MB_ROWS 403 // more than the longest row, and no multiple of a group

struct map_batch {
    struct map_job job;
    int count;
    struct map_row rows[MJ_PORTS];
    char names[MJ_PORTS][64], exprs[MJ_PORTS][128];
};

// The port of an operand, every value `repeat` times, and all that again until MB_ROWS.
static inline const char *mb_port(struct map_batch *batch, const struct map_operand *operand,
                                  int repeat)
{
    char name[64];
    struct map_job *job = &batch->job;
    snprintf(name, sizeof name, "%s_%d", operand->name, repeat);
    for (int i = 0; i < job->port_count; i++)
        if (strcmp(job->ports[i].name, name) == 0)
            return job->ports[i].name;
    size_t size = ps_dtype_bytes(operand->dtype);
    char *data = malloc(MB_ROWS * size), *kept = batch->names[job->port_count];
    for (int i = 0; i < MB_ROWS; i++)
        memcpy(data + (size_t)i * size,
               operand->data + (size_t)(i / repeat % operand->count) * size, size);
    snprintf(kept, sizeof batch->names[0], "%s", name);
    mj_port(job, kept, operand->dtype, true, data, 1, MB_ROWS);
    return kept;
}

// expr with its names a and b replaced.
static inline void mb_rename(const char *expr, const char *a, const char *b, char *out)
{
    for (const char *p = expr; *p != '\0'; p++) {
        bool alone = (*p == 'a' || *p == 'b') && !isalnum((unsigned char)p[1]) &&
                     (p == expr || !isalnum((unsigned char)p[-1]));
        if (alone)
            out += sprintf(out, "%s", *p == 'a' ? a : b);
        else
            *out++ = *p;
    }
    *out = '\0';
}

static inline int mb_row_count(const struct map_row *row)
{
    return row->a->count * (row->b != NULL ? row->b->count : 1);
}

// Ports first: those of stages must come after all inputs, whose data decides what is an input.
// False when there is nothing left.
static inline bool mb_next(struct map_values *values, struct map_batch *batch, int stages,
                           bool (*wanted)(const struct map_row *row))
{
    const char *a[MJ_PORTS], *b[MJ_PORTS];
    batch->job = (struct map_job){0};
    batch->count = 0;
    while (batch->count < stages && batch->job.port_count + batch->count < MJ_PORTS - 4) {
        struct map_row *row = &batch->rows[batch->count];
        if (!mv_next(values, row))
            break;
        if (wanted != NULL && !wanted(row))
            continue;
        if (mb_row_count(row) > MB_ROWS)
            abort();
        a[batch->count] = mb_port(batch, row->a, row->b != NULL ? row->b->count : 1);
        b[batch->count] = row->b != NULL ? mb_port(batch, row->b, 1) : "";
        batch->count++;
    }
    for (int i = 0; i < batch->count; i++) {
        static char names[MJ_PORTS][8];
        snprintf(names[i], sizeof names[i], "y%d", i);
        mb_rename(batch->rows[i].expr, a[i], b[i], batch->exprs[i]);
        struct ps_stage *stage = mj_stage(&batch->job, names[i], batch->exprs[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(stage);
        CU_ASSERT_EQUAL(stage->output.dtype, batch->rows[i].dtype);
    }
    return batch->count > 0;
}

static inline void mb_free(struct map_batch *batch)
{
    for (int i = 0; i < batch->job.port_count; i++)
        free((void *)(uintptr_t)batch->job.data[i]);
    mj_free(&batch->job);
}

// How many of the rows' results differ from NumPy's, with at least `ulp` allowed where NumPy's own
// are not exact.
static inline int mb_differences(const struct map_batch *batch, int ulp)
{
    int wrong = 0;
    for (int i = 0; i < batch->count; i++) {
        const struct map_row *row = &batch->rows[i];
        size_t size = ps_dtype_bytes(row->dtype);
        int allowed = row->ulp > 0 && row->ulp < ulp ? ulp : row->ulp;
        for (int k = 0; k < mb_row_count(row); k++) {
            const char *got = (const char *)batch->job.results[i] + (size_t)k * size;
            const char *expected = row->expected + (size_t)k * size;
            char tg[48], te[48];
            if (mv_same(row->dtype, got, expected, allowed) || mv_same_zero(row, got, expected))
                continue;
            if (wrong++ < 3)
                printf("\n  %s, element %d: %s, not %s", batch->exprs[i], k,
                       mv_text(row->dtype, got, tg), mv_text(row->dtype, expected, te));
        }
    }
    return wrong;
}

#endif
