// SPDX-License-Identifier: Apache-2.0
// Many generated kernels in one source, each in a namespace of its own, so that a test compiles
// once: ps_map_0, ps_map_1, ...
#ifndef PS_TESTS_MAP_KERNELS_H
#define PS_TESTS_MAP_KERNELS_H

#include "map_batch.h"
#include "map_shapes.h"

extern const char ps_map_scalar_text[];

// Appends the job's kernel. The first one brings what comes before every kernel, unless the text
// has something in its place already.
static inline bool mk_add(struct map_job *job, int number, struct ps_text *out)
{
    struct mj_step s;
    struct ps_program program = {0};
    struct ps_text source = {0};
    mj_step(job, &s);
    bool fine = ps_map_link(&s.step, &program, &job->error) && ps_map_source(&program, &source);
    const char *scalar = fine ? strstr(source.data, ps_map_scalar_text) : NULL;
    if (scalar != NULL) {
        const char *rest = scalar + strlen(ps_map_scalar_text);
        if (number == 0)
            ps_text_append(out, out->length > 0 ? scalar : source.data,
                           (size_t)(rest - (out->length > 0 ? scalar : source.data)));
        ps_text_printf(out, "\n#define ps_map ps_map_%d\nnamespace k%d {\n", number, number);
        ps_text_add(out, rest);
        ps_text_add(out, "}\n#undef ps_map\n");
    }
    ps_text_free(&source);
    ps_map_unlink(&program);
    return scalar != NULL && !out->failed;
}

// All rows of tests/data/map (or those that are wanted) as jobs of `stages` rows each. The caller
// frees with mb_free.
static inline int mk_batches(struct map_batch *batches, int most, int stages,
                             bool (*wanted)(const struct map_row *row))
{
    static struct map_values kept[4]; // rows point into it
    static int used;
    struct map_values *values = &kept[used++];
    int count = 0, rows = 0;
    CU_ASSERT_FATAL(mv_open(values));
    while (count < most && mb_next(values, &batches[count], stages, wanted))
        rows += batches[count++].count;
    CU_ASSERT_TRUE(count < most && rows > 500);
    fclose(values->lines);
    return count;
}

#endif
