// SPDX-License-Identifier: Apache-2.0
// Many files as one array: against numpy.concatenate in every format, more files than stay open,
// threads, and files that do not fit together.
#include "io_help.h"

#include "io/npy_header.h"
#include "io/random.h"

#include <pthread.h>
#include <sys/resource.h>

static bool open_many(struct help_input *input, const struct ps_format *format,
                      const char *const *paths, size_t count, const char *const *pairs)
{
    *input = (struct help_input){0};
    if (!help_options(&input->options, format->read_options, pairs)) {
        ps_fail(&input->error, PS_BUG, "options of the test");
        return false;
    }
    input->reader = (struct ps_reader){.format = format,
                                       .name = "x",
                                       .path = paths[0],
                                       .paths = paths,
                                       .path_count = count,
                                       .options = &input->options};
    return ps_reader_open(&input->reader, &input->error);
}

static char *slurp_npy(const char *path, size_t *bytes_out)
{
    struct help_input input;
    CU_ASSERT_FATAL(help_open(&input, &ps_format_npy, path, NULL));
    char *data = help_read_all(&input, INT64_MAX);
    CU_ASSERT_FATAL(data != NULL && ps_array_bytes(&input.reader.array, bytes_out));
    help_close(&input);
    return data;
}

// ---- Every format ----

static void check_format(const struct ps_format *format, const char *suffix, unsigned flags,
                         const char *const *pairs)
{
    static const int runs[] = {1, 2, 5, 10};
    char names[4][PATH_MAX];
    const char *paths[4];
    struct help_input input;
    size_t bytes;
    char *right = slurp_npy(PS_TEST_DATA "/many/all.npy", &bytes), data[200];
    for (int i = 0; i < 4; i++) {
        snprintf(names[i], PATH_MAX, PS_TEST_DATA "/many/run-%d.%s", runs[i], suffix);
        paths[i] = names[i];
    }
    bool fine = open_many(&input, format, paths, 4, pairs);
    if (!fine)
        fprintf(stderr, "\n  %s\n", input.error.text);
    CU_ASSERT_FATAL(fine);
    if (input.reader.flags != flags)
        fprintf(stderr, "\n  %s: flags %u\n", suffix, input.reader.flags);
    CU_ASSERT_EQUAL(input.reader.flags, flags);
    CU_ASSERT(input.reader.array.dims[1] == 3 && bytes == 14 * 12);
    bool known = input.reader.array.dims[0] != PS_ROWS_UNKNOWN;
    CU_ASSERT(!known || input.reader.array.dims[0] == 14);
    CHECK_TEXT(input.reader.way, "4 files (run-1.");
    for (int64_t step = 1; step < 20; step++) { // a pass each
        struct ps_read_result result = {.rows = 1};
        int64_t rows = 0;
        while (rows < 14 || (!known && result.rows > 0)) {
            int64_t part = known && 14 - rows < step ? 14 - rows : step;
            CU_ASSERT_FATAL(
                ps_reader_read(&input.reader, rows, part, data + rows * 12, &result, &input.error));
            rows += result.rows;
            CU_ASSERT_FATAL(rows <= 14);
        }
        CU_ASSERT_EQUAL(memcmp(data, right, bytes), 0);
    }
    free(right);
    help_close(&input);
}

static void formats(void)
{
    static const char *const raw[] = {"dtype", "f32", "shape", "[-1, 3]", NULL};
    static const char *const csv[] = {"dtype", "f32", NULL};
    check_format(&ps_format_npy, "npy", PS_READ_ANYWHERE, NULL);
    check_format(&ps_format_npz, "npz", PS_READ_IN_ORDER, NULL);
    check_format(&ps_format_raw, "bin", PS_READ_ANYWHERE, raw);
    check_format(&ps_format_csv, "csv", PS_READ_IN_ORDER, csv);
    check_format(&ps_format_csv, "csv.gz", PS_READ_IN_ORDER, csv);
    check_format(&ps_format_npy, "npy.gz", PS_READ_IN_ORDER, NULL);
    check_format(&ps_format_raw, "bin.gz", PS_READ_IN_ORDER, raw);
    check_format(&ps_format_hdf5, "h5", PS_READ_ANYWHERE, NULL);
}

// ---- More files than stay open ----

#define FILES 300

struct series {
    char names[FILES][64];
    const char *paths[FILES];
    int64_t rows; // of all; row r holds r
};

static struct series *make_series(void)
{
    struct series *series = calloc(1, sizeof *series);
    CU_ASSERT_PTR_NOT_NULL_FATAL(series);
    for (int i = 0; i < FILES; i++) {
        int64_t values[8], count = i % 7 == 3 ? 0 : 1 + i % 8;
        for (int64_t k = 0; k < count; k++)
            values[k] = series->rows + k;
        snprintf(series->names[i], sizeof series->names[i], "%s/part-%d.bin", help_folder(), i);
        series->paths[i] = series->names[i];
        CU_ASSERT_FATAL(help_file(series->names[i], values, (size_t)count * 8));
        series->rows += count;
    }
    return series;
}

static const char *const series_options[] = {"dtype", "i64", "shape", "[-1]", NULL};

struct job {
    struct help_input *input;
    uint64_t seed;
    int wrong;
};

static void *read_anywhere(void *argument)
{
    struct job *job = argument;
    int64_t all = job->input->reader.array.dims[0], data[100];
    for (uint64_t i = 0; i < 300; i++) {
        struct ps_read_result result;
        struct ps_error error = {0};
        int64_t first = (int64_t)(ps_random_at(job->seed, 2 * i) % (uint64_t)all);
        int64_t rows = (int64_t)(ps_random_at(job->seed, 2 * i + 1) % 100);
        rows = rows < all - first ? rows : all - first;
        bool fine = ps_reader_read(&job->input->reader, first, rows, data, &result, &error);
        for (int64_t r = 0; fine && r < rows; r++)
            fine = data[r] == first + r;
        job->wrong += !fine;
    }
    return NULL;
}

static void few_descriptors(void)
{
    struct series *series = make_series();
    struct help_input input;
    struct rlimit limit, low;
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = 30;
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &low), 0);
    CU_ASSERT_FATAL(open_many(&input, &ps_format_raw, series->paths, FILES, series_options));
    CU_ASSERT_EQUAL(input.reader.array.dims[0], series->rows);
    pthread_t threads[4];
    struct job jobs[4];
    for (int t = 0; t < 4; t++) {
        jobs[t] = (struct job){&input, (uint64_t)t, 0};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[t], NULL, read_anywhere, &jobs[t]), 0);
    }
    for (int t = 0; t < 4; t++) {
        pthread_join(threads[t], NULL);
        CU_ASSERT_EQUAL(jobs[t].wrong, 0);
    }
    help_close(&input);
    setrlimit(RLIMIT_NOFILE, &limit);
    free(series);
}

// Between the look at its header and its turn, a file changes or goes away.
static void changed_files(void)
{
    struct series *series = make_series();
    struct help_input input;
    int64_t data[64];
    CU_ASSERT_FATAL(open_many(&input, &ps_format_raw, series->paths, FILES, series_options));
    CU_ASSERT_FATAL(help_file(series->paths[FILES - 1], data, 17 * 8));
    CU_ASSERT_FALSE(help_read(&input, series->rows - 3, 3, data));
    CHECK_TEXT(input.error.text, "part-299.bin changed its shape or dtype while the job ran");
    CU_ASSERT_EQUAL(unlink(series->paths[FILES - 2]), 0);
    struct ps_error error = {0};
    struct ps_read_result result;
    CU_ASSERT_FALSE(ps_reader_read(&input.reader, series->rows - 8, 3, data, &result, &error));
    CHECK_TEXT(error.text, "part-298.bin");
    ps_reader_close(&input.reader);
    ps_values_free(&input.options);
    free(series);
}

// ---- Files that do not fit together ----

static void refuse(const struct ps_format *format, const char *a, const char *b,
                   const char *const *pairs, const char *first, const char *second)
{
    const char *paths[] = {a, b};
    struct help_input input;
    CU_ASSERT_FALSE(open_many(&input, format, paths, 2, pairs));
    CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
    CHECK_TEXT(input.error.text, first);
    CHECK_TEXT(input.error.text, second);
    help_close(&input);
}

static void mismatches(void)
{
    const char *npy = PS_TEST_DATA "/npy/";
    char a[PATH_MAX], b[PATH_MAX];
    static const struct {
        const char *first, *second, *says;
    } cases[] = {
        {"plain", "plain.f8", "the dtypes differ; `dtype:` reads all files as one"},
        {"mixed.all", "aligned.all", "only the numbers of rows may differ"},
        {"plain", "mixed.id", "the numbers of axes differ"},
        {"titles", "latin1", "only the numbers of rows may differ"},
        {"mixed.yx", "one_record", "the dtypes differ"},
        {"titles", "unicode.all", "the dtypes differ"},
        {"titles", "titles.all", "only one of them has names of columns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(a, sizeof a, "%s%s.npy", npy, cases[i].first);
        snprintf(b, sizeof b, "%s%s.npy", npy, cases[i].second);
        refuse(&ps_format_npy, a, b, NULL, cases[i].says, a);
        refuse(&ps_format_npy, a, b, NULL, cases[i].says, b);
    }
    refuse(&ps_format_npy, PS_TEST_DATA "/formats/number.npy", a, NULL, "number.npy holds a single",
           "no rows to join");
    refuse(&ps_format_npy, a, help_path("none.npy"), NULL, "cannot open", "none.npy");
    CU_ASSERT_EQUAL(mkfifo(help_path("pipe.csv"), 0600), 0);
    refuse(&ps_format_csv, help_path("none.csv"), help_path("pipe.csv"), NULL, "cannot open",
           "none.csv");
    refuse(&ps_format_csv, help_path("pipe.csv"), help_path("none.csv"), NULL, "pipe.csv",
           "cannot be one of several files: it is a pipe or device");
    help_file(help_path("ab.csv"), "a,b\n1,2\n", 8);
    help_file(help_path("ba.csv"), "b,a\n2,1\n3,x\n", 12);
    static const char *const f64[] = {"dtype", "f64", NULL};
    refuse(&ps_format_csv, help_path("ab.csv"), help_path("ba.csv"), f64,
           "column 0 is 'a' in the first and 'b' in the other; choose them by name with `columns:`",
           "ba.csv");
}

// Chosen by name, columns may lie elsewhere in each file; an error names the file and its line.
static void columns_by_name(void)
{
    static const char *const pairs[] = {"dtype", "f64", "columns", "[a b]", NULL};
    const char *paths[] = {help_path("ab.csv"), help_path("ba.csv")};
    struct help_input input;
    double data[8];
    CU_ASSERT_FATAL(open_many(&input, &ps_format_csv, paths, 2, pairs));
    CU_ASSERT(help_read(&input, 0, 2, data));
    CU_ASSERT(data[0] == 1 && data[1] == 2 && data[2] == 1 && data[3] == 2);
    CU_ASSERT_FALSE(help_read(&input, 2, 2, data));
    CHECK_TEXT(input.error.text, "ba.csv, line 3");
    help_close(&input);
}

// What is told once is not told again when a file is opened again.
static void warnings_once(void)
{
    char names[80][64];
    const char *paths[80];
    struct ps_error error = {0};
    struct ps_array array = {.dtype = PS_I32, .rank = 1, .dims = {2}};
    char file[PS_NPY_HEADER_BYTES + 9] = {0};
    size_t header = ps_npy_header_write(&array, 2, file);
    for (int i = 0; i < 80; i++) {
        snprintf(names[i], sizeof names[i], "%s/more-%d.npy", help_folder(), i);
        paths[i] = names[i];
        CU_ASSERT_FATAL(help_file(names[i], file, header + 8 + (i == 70))); // one byte too many
    }
    struct help_input input;
    help_clear();
    CU_ASSERT_FATAL(open_many(&input, &ps_format_npy, paths, 80, NULL));
    for (int pass = 0; pass < 2; pass++)
        free(help_read_all(&input, 3));
    CHECK_TEXT(help_warnings, "more-70.npy: 1 bytes after the array");
    CU_ASSERT_PTR_NULL(strstr(strstr(help_warnings, "more-70") + 1, "more-70"));
    CU_ASSERT_EQUAL(error.status, PS_OK);
    help_close(&input);
}

int main(void)
{
    static const struct check_test tests[] = {
        {"every format", formats},
        {"few descriptors", few_descriptors},
        {"files that change", changed_files},
        {"files that do not fit together", mismatches},
        {"columns by name", columns_by_name},
        {"warnings are told once", warnings_once},
        {NULL, NULL},
    };
    return help_finish(check_main("many", tests));
}
