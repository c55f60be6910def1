// SPDX-License-Identifier: Apache-2.0
// Parts of a dataset, and its axes in another order, give what NumPy gives
// (tests/data/hdf5/selections.txt), in blocks of any size; names of columns follow; what does not
// fit is refused with the shape; a costly order is warned of.
#include "io_help.h"

#include <zlib.h>

static const char *data_path(const char *file)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", PS_TEST_DATA, file);
    return path;
}

// entries: separated by blanks.
static bool open_part(struct help_input *input, const char *file, const char *dataset,
                      const char *entries, const char *axis)
{
    char list[512];
    snprintf(list, sizeof list, "[%s]", entries);
    return help_open(input, &ps_format_hdf5, data_path(file),
                     (const char *[]){"dataset", dataset, "select", list, "axis", axis, NULL});
}

struct line {
    char file[64], dataset[64], select[256], axis[8], shape[64];
    unsigned crc;
};

static void shape_text(const struct ps_array *array, char out[64])
{
    size_t used = 0;
    snprintf(out, 64, "-");
    for (int i = 0; i < array->rank; i++)
        used += (size_t)snprintf(out + used, 64 - used, "%s%lld", i > 0 ? "x" : "",
                                 (long long)array->dims[i]);
}

static void check_line(const struct line *line)
{
    struct help_input input;
    char shape[64];
    size_t bytes = 0;
    bool fine = open_part(&input, line->file, line->dataset, line->select, line->axis);
    shape_text(&input.reader.array, shape);
    if (!fine || strcmp(shape, line->shape) != 0)
        fprintf(stderr, "\n  %s %s [%s] axis %s: %s, not %s; %s\n", line->file, line->dataset,
                line->select, line->axis, shape, line->shape, input.error.text);
    CU_ASSERT(fine && strcmp(shape, line->shape) == 0);
    CU_ASSERT(fine && ps_array_bytes(&input.reader.array, &bytes));
    for (int64_t step = 1; fine && step < 500; step = step * 5 + 2) {
        unsigned char *data = help_read_all(&input, step);
        unsigned long crc = data != NULL ? crc32(0, data, (unsigned)bytes) : 1;
        if (crc != line->crc)
            fprintf(stderr, "\n  %s %s [%s] axis %s by %d (%s): wrong; %s\n", line->file,
                    line->dataset, line->select, line->axis, (int)step, input.reader.way,
                    input.error.text);
        CU_ASSERT_EQUAL(crc, line->crc);
        free(data);
    }
    help_close(&input);
}

static void test_selections(void)
{
    FILE *list = fopen(data_path("hdf5/selections.txt"), "r");
    struct line line;
    int count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    while (fscanf(list, "%63[^\t]\t%63[^\t]\t%255[^\t]\t%7[^\t]\t%63[^\t]\t%8x\n", line.file,
                  line.dataset, line.select, line.axis, line.shape, &line.crc) == 6) {
        check_line(&line);
        count++;
    }
    CU_ASSERT(feof(list));
    CU_ASSERT(count > 400);
    fclose(list);
}

// Rows that lie in one piece are read directly, also apart from each other where they are long.
static void test_ways(void)
{
    static const struct {
        const char *dataset, *select, *axis, *way;
    } cases[] = {
        {"rank/3", ": : :", "0", "pread"},       {"rank/3", "1:3 : :", "0", "pread"},
        {"rank/3", "2 : :", "0", "pread"},       {"rank/3", "2 1:3 :", "0", "pread"},
        {"rank/3", "2 : :", "1", "pread"},       {"rank/3", "::2 : :", "0", "H5Dread"},
        {"rank/3", ": 1 :", "0", "H5Dread"},     {"rank/3", ": : :2", "0", "H5Dread"},
        {"rank/3", ": : :", "1", "H5Dread"},     {"rank/3c", "2 : :", "0", "H5Dread"},
        {"long_rows", "::3 :", "0", "pread"},    {"long_rows", "::-1 :", "0", "pread"},
        {"long_rows", ": 1:4097", "0", "pread"}, {"long_rows", ": ::2", "0", "H5Dread"},
    };
    struct help_input input;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *file = i < 10 ? "hdf5/made.h5" : "hdf5/long_rows.h5";
        CU_ASSERT(open_part(&input, file, cases[i].dataset, cases[i].select, cases[i].axis));
        CHECK_TEXT(input.error.status == PS_OK ? input.reader.way : input.error.text, cases[i].way);
        help_close(&input);
    }
}

static void test_columns(void)
{
    static const struct {
        const char *select, *axis, *names;
    } cases[] = {
        {": :", "0", "abcd"}, {": 1:3", "0", "bc"}, {": ::-1", "0", "dcba"}, {":2 ::2", "0", "ac"},
        {"1 1:", "0", "bcd"}, {": 2", "0", ""},     {": :", "1", ""},        {": -1:", "0", "d"},
    };
    struct help_input input;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT(open_part(&input, "hdf5/long_rows.h5", "named", cases[i].select, cases[i].axis));
        const struct ps_array *array = &input.reader.array;
        CU_ASSERT_EQUAL((size_t)array->column_count, strlen(cases[i].names));
        for (int c = 0; c < array->column_count; c++)
            CU_ASSERT(array->columns[c][0] == cases[i].names[c] && array->columns[c][1] == '\0');
        help_close(&input);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *select, *axis;
        enum ps_status status;
        const char *says[2];
    } cases[] = {
        {"0:9 : :", "0", PS_INPUT, {"9 of '0:9' is outside of axis 0, which has 5", "5 x 4 x 3"}},
        {": 4 :", "0", PS_INPUT, {"4 of '4' is outside of axis 1, which has 4", "5 x 4 x 3"}},
        {": : -4", "0", PS_INPUT, {"-4 of '-4' is outside of axis 2, which has 3", "5 x 4 x 3"}},
        {": -9:-1 :", "0", PS_INPUT, {"-9 of '-9:-1' is outside of axis 1"}},
        {": :", "0", PS_INPUT, {"select has 2 entries", "3 axes (shape 5 x 4 x 3)"}},
        {"5", "0", PS_INPUT, {"select has 1 entry"}},
        {": : : :", "0", PS_INPUT, {"select has 4 entries"}},
        {": : ::0", "0", PS_USAGE, {"'::0' selects nothing", "start:stop:step"}},
        {": : x", "0", PS_USAGE, {"'x' selects nothing"}},
        {": : 1:2:3:4", "0", PS_USAGE, {"'1:2:3:4' selects nothing"}},
        {": : 010", "0", PS_USAGE, {"'010' selects nothing"}},
        {": : 1.0", "0", PS_USAGE, {"'1.0' selects nothing"}},
        {": : 99999999999999999999:", "0", PS_USAGE, {"selects nothing"}},
        {": : :", "3", PS_INPUT, {"axis: 3: dataset rank/3 has 3 axes (shape 5 x 4 x 3)"}},
        {": : :", "-4", PS_INPUT, {"axis: -4: dataset rank/3 has 3 axes"}},
        {": 1 :", "1", PS_INPUT, {"axis: 1: `select` takes only one index of this axis"}},
    };
    struct help_input input;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_FALSE(
            open_part(&input, "hdf5/made.h5", "rank/3", cases[i].select, cases[i].axis));
        CU_ASSERT_EQUAL(input.error.status, cases[i].status);
        for (int n = 0; n < 2 && cases[i].says[n] != NULL; n++)
            CHECK_TEXT(input.error.text, cases[i].says[n]);
        help_close(&input);
    }
}

// Of more than eight axes those of one element are left out.
static void test_many_axes(void)
{
    struct help_input input;
    CU_ASSERT(help_open(&input, &ps_format_hdf5, data_path("cases/hdf5/layouts.h5"),
                        (const char *[]){"dataset", "rank32", NULL}));
    CU_ASSERT(input.reader.array.rank == 1 && input.reader.array.dims[0] == 3);
    help_close(&input);
    CU_ASSERT(help_open(&input, &ps_format_hdf5, data_path("cases/hdf5/layouts.h5"),
                        (const char *[]){"dataset", "rank32", "axis", "2", NULL}));
    CU_ASSERT(input.reader.array.rank == 2 && input.reader.array.dims[1] == 3);
    help_close(&input);
}

static void test_warnings(void)
{
    struct help_input input;
    help_clear();
    CU_ASSERT(open_part(&input, "hdf5/made.h5", "rank/3", ": : :", "0"));
    CU_ASSERT_STRING_EQUAL(help_warnings, "");
    help_close(&input);
    CU_ASSERT(open_part(&input, "hdf5/made.h5", "rank/3", ": : :", "2"));
    CHECK_TEXT(help_warnings, "streamed along axis 2: each row, of 40 bytes, lies in 20 pieces");
    help_close(&input);
    help_clear();
    CU_ASSERT(open_part(&input, "hdf5/made.h5", "rank/3c", ": : :", "-1"));
    CHECK_TEXT(help_warnings, "for each row, of 40 bytes, 6 chunks of 16 bytes are read");
    CHECK_TEXT(help_warnings, "2 times what is needed");
    CHECK_TEXT(help_warnings, "h5repack -l rank/3c:CHUNK=5x4x3");
    help_close(&input);
    help_clear();
}

int main(void)
{
    const struct check_test tests[] = {
        {"equal to NumPy", test_selections}, {"the way of reading", test_ways},
        {"columns", test_columns},           {"refused", test_refused},
        {"many axes", test_many_axes},
        {"warnings", test_warnings},         {NULL, NULL},
    };
    help_clear();
    return help_finish(check_main("hdf5_select", tests));
}
