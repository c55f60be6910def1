// SPDX-License-Identifier: Apache-2.0
// Files that claim more than they hold (tests/data/make_hdf5_corrupt.py) and files with changed
// bytes are errors of the input, whatever the library makes of them: never a crash, never memory by
// their word.
#include "io_help.h"

static bool open_set(struct help_input *input, const char *path)
{
    return help_open(input, &ps_format_hdf5, path, (const char *[]){"dataset", "d", NULL});
}

static bool inspects(const char *path)
{
    struct ps_text text = {0};
    struct ps_error error = {0};
    bool fine = ps_format_hdf5.inspect(path, &text, &error);
    CU_ASSERT(fine || error.status == PS_INPUT);
    ps_text_free(&text);
    return fine;
}

static void test_claims(void)
{
    static const struct {
        const char *file, *says;
    } cases[] = {
        {"shape_slightly_larger.h5", "needs more bytes than it stores (1600, but there are 984)"},
        {"shape_huge.h5", "needs more bytes than it stores (8796093022208, but there are 984)"},
        {"shape_overflow.h5", "needs more bytes than it stores"},
        {"chunk_huge.h5", "stores more chunks than its shape has (3, but there are 1)"},
        {"chunk_larger_gzip.h5", "stores more chunks than its shape has (3, but there are 1)"},
        {"chunk_huge_gzip.h5", "has chunks larger than what is stored of them (4294967288, but"},
        {"chunk_none.h5", "cannot open dataset d: chunk dimension must be positive"},
    };
    struct help_input input;
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(path, sizeof path, "%s/hdf5/corrupt/%s", PS_TEST_DATA, cases[i].file);
        CU_ASSERT_FALSE(open_set(&input, path));
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        CHECK_TEXT(input.error.text, cases[i].says);
        CHECK_TEXT(input.error.text, cases[i].file);
        help_close(&input);
        CU_ASSERT(inspects(path));
    }
}

// An attribute that is not needed may claim what it likes.
static void test_attribute(void)
{
    struct help_input input;
    double two[2] = {0};
    CU_ASSERT_FATAL(open_set(&input, PS_TEST_DATA "/hdf5/corrupt/attribute_huge.h5"));
    CU_ASSERT(help_read(&input, 121, 2, two) && two[0] == 121 && two[1] == 122);
    CU_ASSERT_EQUAL(input.reader.array.column_count, 0);
    help_close(&input);
}

static void try_file(const char *path)
{
    struct help_input input;
    if (open_set(&input, path))
        free(help_read_all(&input, 7));
    CU_ASSERT(input.error.status == PS_OK || input.error.status == PS_INPUT);
    help_close(&input);
    inspects(path);
}

static void test_changed_bytes(void)
{
    static const char *const files[] = {"hdf5/corrupt/attribute_huge.h5", "hdf5/user_block.h5",
                                        "hdf5/places/out/target.h5", "hdf5/places/in/external.h5"};
    unsigned seed = 1;
    const char *path = help_path("changed.h5");
    try_file(PS_TEST_DATA "/hdf5/corrupt/crash.h5"); // of the library, unless it is a newer one
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char source[PATH_MAX];
        size_t bytes = 0;
        snprintf(source, sizeof source, "%s/%s", PS_TEST_DATA, files[i]);
        char *data = help_slurp(source, &bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(data);
        for (int n = 0; n < 50; n++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = (seed >> 8) % bytes;
            char before = data[at];
            data[at] = (char)(n % 2 ? 0xff : seed >> 24);
            CU_ASSERT_FATAL(help_file(path, data, bytes));
            try_file(path);
            data[at] = before;
        }
        free(data);
    }
}

int main(void)
{
    const struct check_test tests[] = {
        {"claims", test_claims},
        {"an attribute", test_attribute},
        {"changed bytes", test_changed_bytes},
        {NULL, NULL},
    };
    help_clear();
    return help_finish(check_main("hdf5_corrupt", tests));
}
