// SPDX-License-Identifier: Apache-2.0
// Broadcasting cases: a + b over arrays whose values tell where they came from, and the plain
// reference: NumPy's alignment of trailing axes, element by element.
#ifndef PS_TESTS_MAP_SHAPES_H
#define PS_TESTS_MAP_SHAPES_H

#include "map_job.h"

struct ms_operand {
    bool streamed;
    int rank; // of the whole array; a stream's dims[0] is filled in
    int64_t dims[4];
    int column; // 1 + the column that is read; 0: all of it
};

struct ms_case {
    struct ms_operand a, b;
};

static const struct ms_case ms_cases[] = {
    {{true, 1, {0}, 0}, {true, 1, {0}, 0}},
    {{true, 2, {0, 4}, 0}, {true, 2, {0, 4}, 0}},
    {{true, 2, {0, 5}, 0}, {false, 1, {5}, 0}},
    {{true, 2, {0, 5}, 0}, {false, 2, {1, 5}, 0}},
    {{false, 1, {7}, 0}, {true, 2, {0, 7}, 0}},
    {{true, 2, {0, 1023}, 0}, {false, 1, {1023}, 0}},
    {{true, 2, {0, 1024}, 0}, {false, 1, {1024}, 0}},
    {{true, 2, {0, 1025}, 0}, {false, 1, {1025}, 0}},
    {{true, 2, {0, 3000}, 0}, {false, 1, {3000}, 0}},
    {{true, 2, {0, 5}, 0}, {false, 0, {0}, 0}},
    {{true, 2, {0, 5}, 0}, {true, 1, {0}, 0}},
    {{true, 1, {0}, 0}, {true, 2, {0, 33}, 0}},
    {{true, 1, {0}, 0}, {false, 1, {6}, 0}},
    {{true, 1, {0}, 0}, {false, 2, {3, 4}, 0}},
    {{true, 2, {0, 5}, 3}, {true, 2, {0, 5}, 1}},
    {{true, 2, {0, 5}, 0}, {true, 2, {0, 9}, 9}},
    {{true, 2, {0, 4}, 0}, {false, 2, {4, 3}, 2}},
    {{true, 2, {0, 4}, 0}, {false, 1, {7}, 4}},
    {{true, 3, {0, 3, 4}, 0}, {false, 1, {4}, 0}},
    {{true, 3, {0, 3, 4}, 0}, {false, 2, {3, 1}, 0}},
    {{true, 3, {0, 3, 4}, 0}, {false, 2, {3, 4}, 0}},
    {{true, 3, {0, 3, 4}, 0}, {true, 2, {0, 4}, 0}},
    {{true, 3, {0, 3, 1}, 0}, {true, 3, {0, 1, 4}, 0}},
    {{true, 3, {0, 3, 1}, 0}, {false, 2, {1, 5}, 0}},
    {{true, 3, {0, 3, 5}, 2}, {true, 3, {0, 3, 3}, 0}},
    {{true, 3, {0, 4, 5}, 2}, {true, 3, {0, 3, 4}, 0}},
    {{true, 4, {0, 2, 1, 3}, 0}, {false, 3, {2, 5, 1}, 0}},
    {{true, 4, {0, 2, 40, 33}, 0}, {false, 2, {40, 1}, 0}},
    {{true, 2, {0, 1}, 0}, {false, 1, {6}, 0}},
    {{true, 2, {0, 0}, 0}, {false, 1, {1}, 0}},
    {{false, 2, {3, 4}, 0}, {false, 1, {4}, 0}},
    {{false, 2, {3, 1}, 0}, {false, 1, {4}, 0}},
    {{false, 0, {0}, 0}, {false, 3, {2, 3, 4}, 0}},
    {{false, 2, {50, 4}, 2}, {false, 2, {1, 50}, 0}},
    {{false, 0, {0}, 0}, {false, 0, {0}, 0}},
};
#define MS_CASES ((int)(sizeof ms_cases / sizeof ms_cases[0]))

static inline int64_t ms_elements(const struct ms_operand *o, int64_t rows)
{
    int64_t n = 1;
    for (int i = 0; i < o->rank; i++)
        n *= i == 0 && o->streamed ? rows : o->dims[i];
    return n;
}

static inline int64_t *ms_data(const struct ms_operand *o, int64_t rows, int64_t step)
{
    int64_t n = ms_elements(o, rows), *data = malloc((size_t)(n + 1) * sizeof *data);
    for (int64_t i = 0; i < n; i++)
        data[i] = i * step;
    return data;
}

static inline void ms_port(struct map_job *job, const char *name, const struct ms_operand *o,
                           int64_t rows, int64_t step)
{
    struct ps_port *port = mj_port(job, name, PS_I64, o->streamed, ms_data(o, rows, step), 0);
    int64_t dims[4];
    memcpy(dims, o->dims, sizeof dims);
    if (o->streamed)
        dims[0] = rows;
    ps_array_init(&port->array, PS_I64, o->rank, dims);
}

#define MS_STEP (1 << 24)

// Plans y = a + b. rows counts where something is streamed.
static inline bool ms_make(struct map_job *job, const struct ms_case *c, int64_t rows)
{
    char expr[64], a[16] = "a", b[16] = "b";
    *job = (struct map_job){0};
    ms_port(job, "a", &c->a, rows, 1);
    ms_port(job, "b", &c->b, rows, MS_STEP);
    if (c->a.column > 0)
        snprintf(a, sizeof a, "a[%d]", c->a.column - 1);
    if (c->b.column > 0)
        snprintf(b, sizeof b, "b[%d]", c->b.column - 1);
    snprintf(expr, sizeof expr, "%s + %s", a, b);
    bool fine = mj_stage(job, "y", expr) != NULL;
    if (!fine)
        printf("\n  case %d: %s", (int)(c - ms_cases), job->problems.list[0].text);
    return fine;
}

static inline void ms_free(struct map_job *job)
{
    free((void *)(uintptr_t)job->data[0]);
    free((void *)(uintptr_t)job->data[1]);
    mj_free(job);
}

// The operand's element for the output's index (row, then the axes of the row or of the whole).
static inline int64_t ms_at(const struct ms_operand *o, int64_t row, int rank, const int64_t *index)
{
    int64_t at = 0, below = 1;
    int first = o->streamed ? 1 : 0, axis = rank - 1;
    for (int i = o->rank - 1; i >= 0; i--) {
        int64_t own = 0;
        if (i == o->rank - 1 && o->column > 0)
            own = o->column - 1;
        else if (i < first)
            own = row;
        else if (axis >= 0) {
            own = o->dims[i] == 1 ? 0 : index[axis];
            axis--;
        }
        at += own * below;
        below *= o->dims[i];
    }
    return at;
}

static inline int ms_wrong(const struct map_job *job, const struct ms_case *c, int64_t first,
                           int64_t rows)
{
    const struct ps_array *y = &job->stages[0].output;
    bool streamed = c->a.streamed || c->b.streamed;
    int lead = streamed ? 1 : 0, rank = y->rank - lead, wrong = 0;
    int64_t elements = 1, index[8];
    for (int i = 0; i < rank; i++)
        elements *= y->dims[lead + i];
    for (int64_t e = 0; e < elements * (streamed ? rows : 1); e++) {
        int64_t row = streamed ? first + e / elements : 0, rest = e % elements;
        for (int i = rank - 1; i >= 0; i--) {
            index[i] = rest % y->dims[lead + i];
            rest /= y->dims[lead + i];
        }
        int64_t want = ms_at(&c->a, row, rank, index) + ms_at(&c->b, row, rank, index) * MS_STEP;
        wrong += ((const int64_t *)job->results[0])[e] != want;
    }
    if (wrong > 0)
        printf("\n  case %d, rows %lld from %lld: %d wrong", (int)(c - ms_cases), (long long)rows,
               (long long)first, wrong);
    return wrong;
}

// Every case on a device: all its rows, and a block out of the middle.
static inline void ms_check_all(struct ps_device *device)
{
    static const int64_t rows[] = {0, 1, 31, 32, 33, 127, 1000};
    for (int i = 0; i < MS_CASES; i++)
        for (int r = 0; r < 7; r++) {
            struct map_job job;
            const struct ms_case *c = &ms_cases[i];
            bool streamed = c->a.streamed || c->b.streamed;
            if ((!streamed && rows[r] != 1) ||
                (rows[r] > 100 && (c->a.dims[1] > 100 || c->a.rank == 4)))
                continue;
            CU_ASSERT_TRUE_FATAL(ms_make(&job, c, rows[r]));
            CU_ASSERT_TRUE(mj_run_on(&job, device, 0, rows[r]));
            CU_ASSERT_EQUAL(ms_wrong(&job, c, 0, rows[r]), 0);
            int64_t first = rows[r] / 3, some = rows[r] - first - rows[r] / 4;
            if (streamed && some > 0) {
                CU_ASSERT_TRUE(mj_run_on(&job, device, first, some));
                CU_ASSERT_EQUAL(ms_wrong(&job, c, first, some), 0);
            }
            ms_free(&job);
        }
}

#endif
