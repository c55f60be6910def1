// SPDX-License-Identifier: Apache-2.0
// Reading HDF5: every dataset that h5py reads gives the same bytes here
// (tests/data/hdf5/results.txt), in blocks of any size and from several threads; what cannot be
// read is refused for the right reason. The same data stored in one piece and in chunks takes the
// two ways of reading.
#include "io_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <zlib.h>

static const char *data_path(const char *file)
{
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", PS_TEST_DATA, file);
    return path;
}

static bool open_set(struct help_input *input, const char *path, const char *dataset)
{
    return help_open(input, &ps_format_hdf5, path, (const char *[]){"dataset", dataset, NULL});
}

// ---- Equal to h5py ----

struct result {
    char file[100], dataset[1000], dtype[8], shape[64];
    unsigned crc;
};

static void check_shape(const struct ps_array *array, const struct result *r)
{
    char shape[64] = "-";
    size_t used = 0;
    for (int i = 0; i < array->rank; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%lld", i > 0 ? "x" : "",
                                 (long long)array->dims[i]);
    CU_ASSERT_STRING_EQUAL(shape, r->shape);
    CU_ASSERT_STRING_EQUAL(ps_dtype_name(array->dtype), r->dtype);
}

static void check_result(const struct result *r)
{
    struct help_input input;
    size_t bytes = 0;
    bool fine = open_set(&input, data_path(r->file), r->dataset);
    if (!fine)
        fprintf(stderr, "\n  %s %s: %s\n", r->file, r->dataset, input.error.text);
    CU_ASSERT(fine);
    check_shape(&input.reader.array, r);
    CU_ASSERT(fine && ps_array_bytes(&input.reader.array, &bytes));
    for (int64_t step = 1; fine && step < 100; step = step * 3 + 1) {
        unsigned char *data = help_read_all(&input, step);
        unsigned long crc = data != NULL ? crc32(0, data, (unsigned)bytes) : 1;
        if (crc != r->crc)
            fprintf(stderr, "\n  %s %s by %d: %08lx, not %08x\n", r->file, r->dataset, (int)step,
                    crc, r->crc);
        CU_ASSERT_EQUAL(crc, r->crc);
        free(data);
    }
    help_close(&input);
}

static void test_results(void)
{
    FILE *list = fopen(data_path("hdf5/results.txt"), "r");
    struct result r;
    int count = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    while (fscanf(list, "%99[^\t]\t%999[^\t]\t%7[^\t]\t%63[^\t]\t%8x\n", r.file, r.dataset, r.dtype,
                  r.shape, &r.crc) == 5) {
        check_result(&r);
        count++;
    }
    CU_ASSERT(feof(list));
    CU_ASSERT(count > 100);
    fclose(list);
}

// ---- Both ways ----

static void test_ways(void)
{
    static const struct {
        const char *file, *dataset, *way;
    } cases[] = {
        {"hdf5/made.h5", "contiguous/f64_le", "pread"},
        {"hdf5/made.h5", "contiguous/i16_be", "pread"},
        {"hdf5/made.h5", "contiguous/bool_le", "pread"},
        {"hdf5/made.h5", "contiguous/f16_be", "pread"},
        {"hdf5/made.h5", "chunked/f64_le", "H5Dread"},
        {"hdf5/made.h5", "enum_be", "H5Dread"},
        {"hdf5/user_block.h5", "d", "pread"},
        {"hdf5/virtual.h5", "v", "H5Dread"},
        {"cases/hdf5/layouts.h5", "compact", "H5Dread"},
        {"cases/hdf5/layouts.h5", "contig_unwritten", "H5Dread"},
        {"cases/hdf5/types.h5", "bfloat16", "H5Dread"},
        {"cases/hdf5/types.h5", "int12_in_16", "H5Dread"},
        {"cases/hdf5/types.h5", "uint24_be", "H5Dread"},
        {"cases/hdf5/links/links.h5", "soft2", "pread"},
        // The offset is one of target.h5, so links.h5 must not be read there.
        {"cases/hdf5/links/links.h5", "ext", "H5Dread"},
        {"cases/hdf5/external_storage.h5", "ok", "H5Dread"},
    };
    struct help_input input;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT(open_set(&input, data_path(cases[i].file), cases[i].dataset));
        if (input.error.status != PS_OK)
            fprintf(stderr, "\n  %s\n", input.error.text);
        else
            CU_ASSERT_STRING_EQUAL(input.reader.way, cases[i].way);
        help_close(&input);
    }
}

static void test_values(void)
{
    static const uint32_t three_bytes[] = {1, 70000, 16777215};
    static const int16_t colours[] = {0, 1000, 7}; // 7 has no name
    static const float payload[] = {0, 1, 2, 3, 4, 5};
    struct help_input input;
    CU_ASSERT_FATAL(open_set(&input, data_path("cases/hdf5/types.h5"), "uint24_be"));
    void *data = help_read_all(&input, 2);
    CU_ASSERT(input.reader.array.dtype == PS_U32 && memcmp(data, three_bytes, 12) == 0);
    free(data);
    help_close(&input);
    CU_ASSERT_FATAL(open_set(&input, data_path("hdf5/made.h5"), "enum_be"));
    data = help_read_all(&input, 2);
    CU_ASSERT(input.reader.array.dtype == PS_I16 && memcmp(data, colours, 6) == 0);
    free(data);
    help_close(&input);
    CU_ASSERT_FATAL(open_set(&input, data_path("hdf5/made.h5"), "bool_two"));
    data = help_read_all(&input, 3);
    CU_ASSERT(input.reader.array.dtype == PS_BOOL && memcmp(data, "\0\1\1", 3) == 0);
    free(data);
    help_close(&input);
    // Beside the file, wherever the program runs.
    CU_ASSERT_FATAL(open_set(&input, data_path("cases/hdf5/external_storage.h5"), "ok"));
    data = help_read_all(&input, 6);
    CU_ASSERT(data != NULL && memcmp(data, payload, sizeof payload) == 0);
    free(data);
    help_close(&input);
}

static void test_columns(void)
{
    struct help_input input;
    CU_ASSERT_FATAL(open_set(&input, data_path("hdf5/made.h5"), "/named"));
    CU_ASSERT_EQUAL(input.reader.array.column_count, 2);
    CU_ASSERT_EQUAL(ps_array_find_column(&input.reader.array, "b \xC3\xA9"), 1);
    help_close(&input);
    CU_ASSERT_FATAL(open_set(&input, data_path("hdf5/made.h5"), "/named_twice"));
    CU_ASSERT_EQUAL(input.reader.array.column_count, 0); // no names rather than ambiguous ones
    help_close(&input);
    CU_ASSERT_FATAL(help_open(&input, &ps_format_hdf5, data_path("hdf5/user_block.h5"), NULL));
    CU_ASSERT_EQUAL(input.reader.array.dims[0], 10); // the only dataset needs no name
    help_close(&input);
}

// ---- Refused ----

static const struct {
    const char *file, *dataset, *says[3];
} refused[] = {
    {"cases/hdf5/types.h5", "complex", {"complex numbers", "parts"}},
    {"cases/hdf5/types.h5", "vlen", {"of variable length"}},
    {"cases/hdf5/types.h5", "fstr", {"is text"}},
    {"cases/hdf5/types.h5", "vstr", {"is text"}},
    {"cases/hdf5/types.h5", "ref", {"references"}},
    {"cases/hdf5/types.h5", "opaque", {"opaque bytes"}},
    {"cases/hdf5/layouts.h5", "null", {"has no shape"}},
    {"cases/hdf5/layouts.h5", "/grp/iner", {"no dataset '/grp/iner'", "did you mean '/grp/inner'"}},
    {"cases/hdf5/layouts.h5", "grp", {"'grp' is a group"}},
    {"cases/hdf5/layouts.h5", "", {"no dataset ''"}},
    {"cases/hdf5/layouts.h5", "/", {"is a group"}},
    {"cases/hdf5/layouts.h5", "edge/x", {"no dataset 'edge/x'"}},
    {"cases/hdf5/links/links.h5", "dangling", {"soft link to '/nowhere', which does not exist"}},
    {"cases/hdf5/links/links.h5", "/ext_nofile", {"external link to '/x' in the file 'nofile.h5'", "not there"}},
    {"cases/hdf5/links/links.h5",
     "/ext_noobj",
     {"external link to '/nope' in the file 'target.h5'"}},
    {"cases/hdf5/links/links.h5", "self", {"soft link to '/self'"}},
    {"cases/hdf5/links/links.h5", "loop_a", {"soft link to '/loop_b'"}},
    {"cases/hdf5/links/links.h5", "ext_cycle", {"external link"}},
    {"cases/hdf5/vds/missing_zero.h5", "v", {"virtual dataset v", "'gone.h5'", "fill values"}},
    {"cases/hdf5/vds/self_named.h5", "v", {"virtual dataset v", "'old_name.h5'"}},
    {"cases/hdf5/external_storage.h5", "gone", {"external file 'ext_gone.bin'", "is not there"}},
    {"cases/hdf5/external_storage.h5", "short", {"bytes 0 to 24", "'ext_short.bin', which has 12"}},
    {"cases/hdf5/matlab73.mat", "E", {"empty MATLAB array"}},
    {"cases/hdf5/matlab73.mat", "Z", {"complex numbers", "parts"}},
    {"cases/hdf5/html.h5", "d", {"is not an HDF5 file (it starts with '<!DOCTYPE html"}},
    {"cases/hdf5/netcdf3.nc", "d", {"classic netCDF", "nccopy -k nc4"}},
    {"cases/hdf5/truncated_96.h5", "d", {"it has 96 bytes, its header says 42240", "the file was cut"}},
    {"cases/hdf5/open_for_write.h5", "d", {"marked as open for writing", "h5clear -s"}},
    {"cases/hdf5", "d", {"is a directory"}},
    {"cases/hdf5/none.h5", "d", {"none.h5: No such file"}},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct help_input input;
        CU_ASSERT_FALSE(open_set(&input, data_path(refused[i].file), refused[i].dataset));
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        CHECK_TEXT(input.error.text, data_path(refused[i].file));
        for (int n = 0; n < 3 && refused[i].says[n] != NULL; n++)
            CHECK_TEXT(input.error.text, refused[i].says[n]);
        help_close(&input);
    }
}

static void test_which_dataset(void)
{
    struct help_input input;
    CU_ASSERT_FALSE(
        help_open(&input, &ps_format_hdf5, data_path("cases/hdf5/vds/self_named.h5"), NULL));
    CHECK_TEXT(input.error.text, "holds 2 numeric datasets: say which with `dataset:`");
    CHECK_TEXT(input.error.text, "/data, /v");
    help_close(&input);
}

static void test_checksum(void)
{
    struct help_input input;
    int32_t rows[1000];
    CU_ASSERT_FATAL(open_set(&input, data_path("cases/hdf5/corrupt_fletcher.h5"), "d"));
    CU_ASSERT(help_read(&input, 0, 1000, rows)); // another chunk
    CU_ASSERT_FALSE(help_read(&input, 2000, 1000, rows));
    CHECK_TEXT(input.error.text, "cannot read rows 2000 to 2999");
    CHECK_TEXT(input.error.text, "Fletcher32");
    ps_reader_close(&input.reader);
    ps_values_free(&input.options);
}

static void test_special_files(void)
{
    struct help_input input;
    const char *pipe = help_path("pipe.h5"), *empty = help_path("empty.h5"),
               *cut = help_path("cut.h5");
    CU_ASSERT_FATAL(mkfifo(pipe, 0600) == 0 && help_file(empty, "", 0));
    CU_ASSERT_FALSE(open_set(&input, pipe, "d")); // without waiting for a writer
    CHECK_TEXT(input.error.text, "not a regular file");
    help_close(&input);
    CU_ASSERT_FALSE(open_set(&input, empty, "d"));
    CHECK_TEXT(input.error.text, "is empty, not an HDF5 file");
    help_close(&input);
    size_t bytes = 0;
    char *whole = help_slurp(data_path("hdf5/made.h5"), &bytes);
    for (size_t size = 1; size < bytes; size += 2003) { // cut anywhere: an error, no crash
        CU_ASSERT_FATAL(help_file(cut, whole, size));
        CU_ASSERT_FALSE(open_set(&input, cut, "contiguous/f64_le"));
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        help_close(&input);
    }
    free(whole);
}

static void test_locked(void)
{
    struct help_input input;
    size_t bytes = 0;
    const char *path = help_path("locked.h5");
    char *whole = help_slurp(data_path("hdf5/user_block.h5"), &bytes);
    CU_ASSERT_FATAL(whole != NULL && help_file(path, whole, bytes));
    int file = open(path, O_RDWR);
    CU_ASSERT_FATAL(file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0);
    CU_ASSERT_FALSE(open_set(&input, path, "d"));
    CHECK_TEXT(input.error.text, "locked by another program");
    CHECK_TEXT(input.error.text, "HDF5_USE_FILE_LOCKING=FALSE");
    help_close(&input);
    close(file);
    CU_ASSERT(open_set(&input, path, "d"));
    help_close(&input);
    free(whole);
}

// ---- Threads ----

struct worker {
    pthread_t thread;
    struct ps_reader *readers[3];
    unsigned seed;
    const char *expected; // 64x64 i32
    int wrong;
};

static void *work(void *context)
{
    struct worker *worker = context;
    int32_t rows[64 * 64];
    for (int i = 0; i < 300; i++) {
        worker->seed = worker->seed * 1664525u + 1013904223u;
        int64_t first = worker->seed >> 26, count = (worker->seed >> 8) % (65 - (unsigned)first);
        struct ps_read_result result;
        struct ps_error error = {0};
        bool fine = ps_reader_read(worker->readers[i % 3], first, count, rows, &result, &error);
        worker->wrong +=
            !fine || memcmp(rows, worker->expected + first * 256, (size_t)count * 256) != 0;
    }
    return NULL;
}

static void test_threads(void)
{
    static const char *const names[] = {"gzip", "szip", "scaleoffset"};
    struct help_input inputs[3];
    struct worker workers[4] = {0};
    for (int i = 0; i < 3; i++)
        CU_ASSERT_FATAL(open_set(&inputs[i], data_path("cases/hdf5/filters.h5"), names[i]));
    char *expected = help_read_all(&inputs[0], 64);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
    for (int w = 0; w < 4; w++) {
        workers[w].seed = (unsigned)w * 977u + 1;
        workers[w].expected = expected;
        for (int i = 0; i < 3; i++)
            workers[w].readers[i] = &inputs[i].reader;
        CU_ASSERT_FATAL(pthread_create(&workers[w].thread, NULL, work, &workers[w]) == 0);
    }
    for (int w = 0; w < 4; w++) {
        pthread_join(workers[w].thread, NULL);
        CU_ASSERT_EQUAL(workers[w].wrong, 0);
    }
    free(expected);
    for (int i = 0; i < 3; i++)
        help_close(&inputs[i]);
}

int main(void)
{
    const struct check_test tests[] = {
        {"equal to h5py", test_results},
        {"the way of reading", test_ways},
        {"values", test_values},
        {"columns", test_columns},
        {"refused", test_refused},
        {"which dataset", test_which_dataset},
        {"checksums", test_checksum},
        {"special, cut and empty files", test_special_files},
        {"locked", test_locked},
        {"threads", test_threads},
        {NULL, NULL},
    };
    help_clear();
    return help_finish(check_main("hdf5", tests));
}
