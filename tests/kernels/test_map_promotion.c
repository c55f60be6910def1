// SPDX-License-Identifier: Apache-2.0
// The dtypes of results against NumPy 2's (tests/data/make_promotion.py): operators and functions
// for every pair of dtypes, and literals with every dtype. The differences that docs/expressions.md
// tells are listed here; one that is not listed fails, and so does a listed one that is none.
#include "map_job.h"

struct difference {
    const char *expr, *a, *b; // b "": without one
    const char *ours;         // "-": refused
    int seen;
};

// Bools count: their arithmetic is i8's.
static struct difference differences[] = {
    {"-a", "bool", "", "i8", 0}, // which NumPy refuses, as a - b and sign(a)
    {"abs(a)", "bool", "", "i8", 0},    {"sign(a)", "bool", "", "i8", 0},
    {"a + b", "bool", "bool", "i8", 0}, {"a - b", "bool", "bool", "i8", 0},
    {"a * b", "bool", "bool", "i8", 0},
};
#define DIFFERENCES (sizeof differences / sizeof differences[0])

static const char *planned(const char *expr, const char *a, const char *b)
{
    struct map_job job = {0};
    enum ps_dtype da, db = PS_U8;
    CU_ASSERT_TRUE_FATAL(ps_dtype_parse(a, &da) && (*b == '\0' || ps_dtype_parse(b, &db)));
    mj_port(&job, "a", da, true, "", 1, 3);
    mj_port(&job, "b", db, true, "", 1, 3);
    const struct ps_stage *stage = mj_stage(&job, "y", expr);
    const char *result = stage != NULL ? ps_dtype_name(stage->output.dtype) : "-";
    CU_ASSERT_TRUE(stage != NULL || job.problems.error_count == 1);
    mj_free(&job);
    return result;
}

static struct difference *find(const char *expr, const char *a, const char *b)
{
    for (size_t i = 0; i < DIFFERENCES; i++)
        if (strcmp(differences[i].expr, expr) == 0 && strcmp(differences[i].a, a) == 0 &&
            strcmp(differences[i].b, b) == 0)
            return &differences[i];
    return NULL;
}

// The next field, ended by a tab or the end of the line.
static char *field(char **line)
{
    char *start = *line;
    *line += strcspn(start, "\t\n");
    *(*line)++ = '\0';
    return start;
}

static void every_pair(void)
{
    char text[256];
    int rows = 0, wrong = 0;
    FILE *file = fopen(PS_TEST_DATA "/map/promotion.txt", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (; fgets(text, sizeof text, file) != NULL; rows++) {
        char *line = text, *expr = field(&line), *a = field(&line), *b = field(&line);
        const char *numpy = field(&line), *got = planned(expr, a, b);
        struct difference *known = find(expr, a, b);
        if (known != NULL) {
            known->seen++;
            CU_ASSERT_STRING_NOT_EQUAL(numpy, known->ours);
        }
        if (strcmp(got, known != NULL ? known->ours : numpy) == 0)
            continue;
        wrong++;
        printf("\n  %s of %s and %s: %s, NumPy %s", expr, a, b, got, numpy);
    }
    fclose(file);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(rows, 3840);
    for (size_t i = 0; i < DIFFERENCES; i++)
        CU_ASSERT_EQUAL(differences[i].seen, 1);
}

int main(void)
{
    static const struct check_test tests[] = {{"every pair", every_pair}, {NULL, NULL}};
    return check_main("map promotion", tests);
}
