// SPDX-License-Identifier: Apache-2.0
// Element types of HDF5 and what they become, against NumPy (tests/data/hdf5/types.txt, made by
// make_hdf5_types.py), in blocks of several sizes; and what is refused.
#include "io_help.h"

#include <math.h>
#include <zlib.h>

#define FOLDER PS_TEST_DATA "/hdf5/"

// "columns=a,b|complex=parts|cf=true" into values; "-" is nothing.
static bool set_options(struct ps_values *values, const char *line)
{
    char copy[300], *rest = copy;
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 1, 1};
    struct ps_error error = {0};
    bool fine = ps_values_default(values, ps_format_hdf5.read_options, &error);
    snprintf(copy, sizeof copy, "%s", strcmp(line, "-") == 0 ? "" : line);
    for (char *pair; fine && (pair = strsep(&rest, "|")) != NULL;) {
        char *words = strchr(pair, '=');
        if (words == NULL)
            continue;
        *words++ = '\0';
        struct ps_value *value = (struct ps_value *)ps_values_get(values, pair);
        if (value->option->kind != PS_WORDS) {
            fine = ps_value_from_scalar(value, words, false, place, &problems);
            continue;
        }
        ps_value_begin_list(value, place);
        for (char *word; fine && (word = strsep(&words, ",")) != NULL;)
            fine = ps_value_add_element(value, word, false, place, &problems);
    }
    ps_problems_free(&problems);
    return fine;
}

static bool open_set(struct help_input *input, const char *file, const char *dataset,
                     const char *options)
{
    static char path[400];
    char line[400];
    *input = (struct help_input){0};
    snprintf(path, sizeof path, FOLDER "%s", file);
    snprintf(line, sizeof line, "dataset=%s%s%s", dataset, options[0] == '-' ? "" : "|",
             options[0] == '-' ? "" : options);
    if (!set_options(&input->options, line))
        return false;
    input->reader = (struct ps_reader){
        .format = &ps_format_hdf5, .name = "x", .path = path, .options = &input->options};
    return ps_reader_open(&input->reader, &input->error);
}

// All NaNs are one.
static void unify(enum ps_dtype dtype, void *data, size_t count)
{
    static const uint64_t wide = 0x7ff8000000000000;
    static const uint32_t single = 0x7fc00000;
    for (size_t i = 0; dtype == PS_F64 && i < count; i++)
        if (isnan(((double *)data)[i]))
            memcpy((double *)data + i, &wide, sizeof wide);
    for (size_t i = 0; dtype == PS_F32 && i < count; i++)
        if (isnan(((float *)data)[i]))
            memcpy((float *)data + i, &single, sizeof single);
}

static void check_line(const char *file, const char *dataset, const char *options,
                       const char *array, unsigned long crc)
{
    struct help_input input;
    char shape[PS_ARRAY_TEXT];
    size_t bytes = 0;
    bool fine = open_set(&input, file, dataset, options);
    if (!fine)
        fprintf(stderr, "\n  %s %s %s: %s\n", file, dataset, options, input.error.text);
    CU_ASSERT(fine);
    for (int64_t step = 1; fine && step < 20; step = 2 * step + 1) {
        CU_ASSERT_STRING_EQUAL(ps_array_text(&input.reader.array, shape), array);
        CU_ASSERT(ps_array_bytes(&input.reader.array, &bytes));
        void *data = help_read_all(&input, step);
        CU_ASSERT_PTR_NOT_NULL_FATAL(data);
        enum ps_dtype dtype = input.reader.array.dtype;
        unify(dtype, data, bytes / ps_dtype_bytes(dtype));
        unsigned long got = crc32(0, data, (unsigned)bytes);
        if (got != crc)
            fprintf(stderr, "\n  %s %s %s: other values\n", file, dataset, options);
        CU_ASSERT_EQUAL(got, crc);
        free(data);
    }
    help_close(&input);
}

static void reads_types(void)
{
    FILE *list = fopen(FOLDER "types.txt", "r");
    char file[50], dataset[100], options[100], array[100];
    unsigned long crc;
    int count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    while (fscanf(list, "%49[^\t]\t%99[^\t]\t%99[^\t]\t%99[^\t]\t%lx\n", file, dataset, options,
                  array, &crc) == 5) {
        check_line(file, dataset, options, array, crc);
        count++;
    }
    CU_ASSERT(feof(list));
    CU_ASSERT(count > 60);
    fclose(list);
}

static void names_columns(void)
{
    static const struct {
        const char *dataset, *options, *names;
    } cases[] = {
        {"plain", "-", "a b v[0] v[1] v[2]"},
        {"plain", "columns=v[2],a", "v[2] a"},
        {"nested", "columns=p.x,c[0].k", "p.x c[0].k"},
        {"nested", "columns=p", "p.x p.q.y"},
        {"c16_be", "complex=parts", "re im"},
        {"c8_le", "complex=polar", "magnitude phase"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct help_input input;
        char names[100] = "";
        CU_ASSERT_FATAL(open_set(&input, "types.h5", cases[i].dataset, cases[i].options));
        for (int n = 0; n < input.reader.array.column_count; n++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", n > 0 ? " " : "",
                     input.reader.array.columns[n]);
        CU_ASSERT_STRING_EQUAL(names, cases[i].names);
        help_close(&input);
    }
}

static void refuses(void)
{
    static const struct {
        const char *file, *dataset, *options, *says[3];
    } cases[] = {
        {"types.h5", "c16_le", "-", {"c16_le holds complex numbers", "parts", "polar"}},
        {"types.h5", "plain", "columns=w", {"dataset plain", "'w'", "a, b, v"}},
        {"types.h5", "only_text", "-", {"none of its members are numbers"}},
        {"types.h5", "padded", "columns=s", {"'s'", "text"}},
        {"types.h5", "text", "-", {"dataset text is text, not numbers"}},
        {"types.h5", "vlen", "-", {"of variable length, not numbers"}},
        {"types.h5", "array_f4", "columns=a", {"columns: ", "plain numbers"}},
        {"cf.h5", "text_scale", "cf=true", {"attribute scale_factor holds no number"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct help_input input;
        CU_ASSERT_FALSE(open_set(&input, cases[i].file, cases[i].dataset, cases[i].options));
        for (int n = 0; n < 3 && cases[i].says[n] != NULL; n++)
            CHECK_TEXT(input.error.text, cases[i].says[n]);
        help_close(&input);
    }
}

// What only some element cannot be is told with its row.
static void refuses_values(void)
{
    struct help_input input;
    CU_ASSERT_FATAL(open_set(&input, "types.h5", "ids", "-"));
    void *data = help_read_all(&input, 2);
    CU_ASSERT_PTR_NULL(data);
    CHECK_TEXT(input.error.text,
               "dataset ids, row 1, column 'id': 9007199254740993 cannot be held");
    ps_reader_close(&input.reader);
    help_close(&input);
    CU_ASSERT_FATAL(open_set(&input, "cf.h5", "too_wide", "cf=true"));
    data = help_read_all(&input, 2);
    CU_ASSERT_PTR_NULL(data);
    CHECK_TEXT(input.error.text,
               "dataset too_wide, row 1: 9007199254740993 cannot be held exactly");
    ps_reader_close(&input.reader);
    help_close(&input);
}

static void warns(void)
{
    static const struct {
        const char *file, *dataset, *options, *says;
    } cases[] = {
        {"types.h5", "long_double", "-", "floats wider than f64"},
        {"cf.h5", "scaled", "-", "(scale_factor, add_offset, _FillValue) say what its numbers"},
        {"cf.h5", "unsigned", "-", "_Unsigned"},
        {"cf.h5", "scaled", "cf=false", NULL},
        {"cf.h5", "scaled", "cf=true", NULL},
        {"cf.h5", "nothing", "-", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct help_input input;
        help_clear();
        CU_ASSERT(open_set(&input, cases[i].file, cases[i].dataset, cases[i].options));
        CHECK_TEXT(help_warnings, cases[i].says != NULL ? cases[i].says : "");
        CU_ASSERT_EQUAL(help_warnings[0] != '\0', cases[i].says != NULL);
        help_close(&input);
    }
}

int main(void)
{
    static const struct check_test tests[] = {
        {"types", reads_types},     {"names", names_columns}, {"refused", refuses},
        {"values", refuses_values}, {"warnings", warns},      {NULL, NULL},
    };
    help_clear();
    return help_finish(check_main("hdf5_types", tests));
}
