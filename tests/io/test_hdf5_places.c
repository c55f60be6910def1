// SPDX-License-Identifier: Apache-2.0
// Where an HDF5 file may lead: links, virtual sources and external storage outside of its folder
// are refused unless the input allows them, and whatever is missing, broken or too short is told,
// as the library would give fill values. What is whole is compared with h5py in test_hdf5.c.
#include "io_help.h"

static bool open_set(struct help_input *input, const char *file, const char *dataset,
                     const char *follow)
{
    char path[PATH_MAX];
    static char kept[PATH_MAX]; // the reader borrows its path
    snprintf(path, sizeof path, "%s/hdf5/places/in/%s", PS_TEST_DATA, file);
    snprintf(kept, sizeof kept, "%s", file[0] == '/' ? file : path);
    return help_open(input, &ps_format_hdf5, kept,
                     (const char *[]){"dataset", dataset, "follow", follow, NULL});
}

static const struct {
    const char *file, *dataset, *says[3];
} refused[] = {
    {"links.h5", "ext_out", {"link '/ext_out'", "'../out/target.h5'", "`follow: anywhere`"}},
    {"links.h5", "ext_root", {"'/etc/passwd'", "not under the folder", "`follow: anywhere`"}},
    {"links.h5",
     "ext_onward",
     {"'/onward' of the file", "in/sub/target.h5'", "`follow: anywhere`"}},
    {"links.h5", "ext_gone", {"external link to '/t' in the file 'none.h5', which is not there"}},
    {"links.h5", "ext_no_object", {"to '/nope' in the file 'sub/target.h5', which does not exist"}},
    {"links.h5", "ext_no_hdf5", {"'sub/not.h5', which cannot be opened", "signature"}},
    {"links.h5", "ext_folder", {"/in/sub), which is not a regular file"}},
    {"links.h5", "ext_itself", {"'/ext_itself' is an external link", "leads in a circle"}},
    {"links.h5", "there", {"'/there' is an external link", "leads in a circle"}},
    {"links.h5", "a", {"'/a' is a soft link to '/b', which leads in a circle"}},
    {"links.h5", "by_self", {"leads in a circle"}},
    {"links.h5",
     "lost",
     {"'/lost' is a soft link", "'/lost2' is a soft link to '/nowhere', which"}},
    {"links.h5", "g/up", {"'/g/up' is a soft link to '../data', which does not exist"}},
    {"links.h5", "user/defined", {"user-defined link (class 100)"}},
    {"links.h5", "type", {"'type' is a committed type"}},
    {"links.h5", "to_group", {"'to_group' is a group", "in it: to_group/inner"}},
    {"links.h5", "empty_group", {"is a group", "in it: none"}},
    {"links.h5", "to_group/iner", {"no dataset 'to_group/iner', did you mean '/to_group/inner'?"}},
    {"links.h5", "inner", {"did you mean '/g/inner'?"}},
    {"links.h5", "data/x", {"no dataset 'data/x'"}},
    {"links.h5", "chian", {"did you mean '/chain'?"}},
    {"deep.h5", "d/d/d/end", {"no dataset"}},
    {"virtual.h5", "out", {"virtual dataset out", "'../out/src.h5'", "`follow: anywhere`"}},
    {"virtual.h5", "root", {"'/etc/passwd'", "not under the folder"}},
    {"virtual.h5", "gone", {"needs the file 'none.h5', which is not there", "fill values"}},
    {"virtual.h5", "mixed", {"needs the file 'none.h5', which is not there"}},
    {"virtual.h5",
     "no_set",
     {"the dataset '/nope' of the file 'sub/src.h5', which does not exist"}},
    {"virtual.h5", "group", {"the dataset '/' of the file 'sub/src.h5', which cannot be opened"}},
    {"virtual.h5", "folder", {"/in/sub), which is not a regular file"}},
    {"virtual.h5", "no_hdf5", {"'sub/not.h5', which cannot be opened"}},
    {"virtual.h5",
     "nested_out",
     {"'/out' of 'sub/nested.h5'", "a source of nested_out", "anywhere"}},
    {"virtual.h5", "nested_gone", {"'/gone' of 'sub/nested.h5'", "'none.h5', which is not there"}},
    {"virtual.h5", "link_out", {"the external link '/link_out'", "`follow: anywhere`"}},
    {"virtual.h5", "itself", {"consists of itself"}},
    {"virtual.h5", "short", {"too short: axis 0 has 6 elements, and 10 are mapped"}},
    {"virtual.h5", "short_all", {"has 6 elements where 10 are mapped"}},
    {"virtual.h5", "ranks", {"has 2 axes where 1 are mapped"}},
    {"virtual.h5", "series_gap", {"'gap_1.h5', which is missing from the middle of its series"}},
    {"virtual.h5", "series_none", {"'nope_0.h5', which is the first of its series"}},
    {"virtual.h5", "external_out", {"'/out' of 'external.h5'", "'../out/raw.bin'", "anywhere"}},
    {"external.h5", "out", {"dataset out needs the file '../out/raw.bin'", "`follow: anywhere`"}},
    {"external.h5", "root", {"'/etc/passwd'", "not under the folder"}},
    {"external.h5",
     "gone",
     {"external file 'none.bin', which is not there", "HDF5_EXTFILE_PREFIX"}},
    {"external.h5", "folder", {"/in/sub), which is not a regular file"}},
    {"external.h5", "short", {"bytes 0 to 24", "'sub/short.bin', which has 12"}},
    {"external.h5", "short_unlimited", {"bytes 0 to 24", "'sub/short.bin', which has 12"}},
    {"external.h5", "behind", {"bytes 100 to 124", "'sub/raw.bin', which has 24"}},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct help_input input;
        CU_ASSERT_FALSE(open_set(&input, refused[i].file, refused[i].dataset, "folder"));
        CU_ASSERT_EQUAL(input.error.status, PS_INPUT);
        CHECK_TEXT(input.error.text, refused[i].file);
        for (int n = 0; n < 3 && refused[i].says[n] != NULL; n++)
            CHECK_TEXT(input.error.text, refused[i].says[n]);
        help_close(&input);
    }
}

static void test_allowed(void)
{
    static const struct {
        const char *file, *dataset;
        double second;
    } cases[] = {
        {"links.h5", "ext_out", 0},    {"links.h5", "ext_onward", 0},
        {"virtual.h5", "out", 1},      {"virtual.h5", "nested_out", 1},
        {"virtual.h5", "link_out", 1}, {"links.h5", "odd/latin\\xE9", 1},
    };
    static const float payload[] = {0, 1, 2, 3, 4, 5};
    struct help_input input;
    double two[2];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT(open_set(&input, cases[i].file, cases[i].dataset, "anywhere"));
        CHECK_TEXT(input.error.text, "");
        CU_ASSERT(input.error.status == PS_OK && help_read(&input, 0, 2, two));
        CU_ASSERT_EQUAL(two[1], cases[i].second);
        help_close(&input);
    }
    CU_ASSERT_FATAL(open_set(&input, "external.h5", "out", "anywhere"));
    void *data = help_read_all(&input, 6);
    CU_ASSERT(data != NULL && memcmp(data, payload, sizeof payload) == 0);
    free(data);
    help_close(&input);
}

// A name inside of the folder that is a symbolic link to the outside.
static void test_symbolic_links(void)
{
    struct help_input input;
    char command[4 * PATH_MAX];
    snprintf(command, sizeof command,
             "mkdir -p '%s/a' && cp -r '%s/hdf5/places/in/.' '%s/a' && chmod -R u+w '%s/a' && "
             "mv '%s/a/sub' '%s/moved' && ln -s ../moved '%s/a/sub' && "
             "ln -s a/links.h5 '%s/name.h5'",
             help_folder(), PS_TEST_DATA, help_folder(), help_folder(), help_folder(),
             help_folder(), help_folder(), help_folder());
    CU_ASSERT_FATAL(system(command) == 0);
    CU_ASSERT_FALSE(open_set(&input, help_path("a/links.h5"), "ext_in_sub", "folder"));
    CHECK_TEXT(input.error.text, "moved/target.h5), which is not under the folder");
    help_close(&input);
    CU_ASSERT_FALSE(open_set(&input, help_path("a/virtual.h5"), "in_sub", "folder"));
    CHECK_TEXT(input.error.text, "moved/src.h5), which is not under the folder");
    help_close(&input);
    CU_ASSERT_FALSE(open_set(&input, help_path("a/external.h5"), "in_sub", "folder"));
    CHECK_TEXT(input.error.text, "moved/raw.bin), which is not under the folder");
    help_close(&input);
    CU_ASSERT(open_set(&input, help_path("a/links.h5"), "ext_in_sub", "anywhere"));
    help_close(&input);
    // The folder is that of the file itself, not of a link to it.
    CU_ASSERT(open_set(&input, help_path("name.h5"), "ext_own", "folder"));
    help_close(&input);
}

// ---- Files ----

static void test_files(void)
{
    static const struct {
        const char *file, *says[2];
    } cases[] = {
        {"family0.h5", {"HDF5's family driver", "h5repart NAME%d.h5 OUT.h5"}},
        {"split-m.h5", {"HDF5's split or multi driver", "as one file"}},
    };
    struct help_input input;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_FALSE(open_set(&input, cases[i].file, "d", "folder"));
        CHECK_TEXT(input.error.text, cases[i].says[0]);
        CHECK_TEXT(input.error.text, cases[i].says[1]);
        help_close(&input);
    }
    static const size_t sizes[] = {9, 60, 5000};
    static const char *const says[] = {"has 9 bytes and ends within its header",
                                       "has 60 bytes, its header says 19676",
                                       "has 5000 bytes, its header says 19676"};
    size_t bytes = 0;
    char *whole = help_slurp(PS_TEST_DATA "/hdf5/places/in/links.h5", &bytes);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(bytes == 19676 && help_file(help_path("cut.h5"), whole, sizes[i]));
        CU_ASSERT_FALSE(open_set(&input, help_path("cut.h5"), "data", "folder"));
        CHECK_TEXT(input.error.text, says[i]);
        help_close(&input);
    }
    free(whole);
}

static void test_swmr(void)
{
    static const char *const names[] = {"dataset", "d", "swmr", "true", NULL};
    static const double expected[] = {1, 2, 3, 4, 5, 6, 0, 0}; // what h5py reads with swmr=True
    static const char *const path = PS_TEST_DATA "/cases/hdf5/open_for_write.h5";
    struct help_input input;
    CU_ASSERT_FALSE(
        help_open(&input, &ps_format_hdf5, path, (const char *[]){"dataset", "d", NULL}));
    CHECK_TEXT(input.error.text, "marked as open for writing");
    CHECK_TEXT(input.error.text, "`swmr: true`");
    CHECK_TEXT(input.error.text, "h5clear -s");
    help_close(&input);
    CU_ASSERT(help_open(&input, &ps_format_hdf5, path, names));
    CHECK_TEXT(input.error.text, "");
    CU_ASSERT(ps_array_rows(&input.reader.array) == 8 && input.reader.array.dtype == PS_F64);
    void *data = input.error.status == PS_OK ? help_read_all(&input, 3) : NULL;
    CU_ASSERT(data != NULL && memcmp(data, expected, sizeof expected) == 0);
    free(data);
    help_close(&input);
    // Of a file that is too old for it nothing can be being written that way.
    CU_ASSERT(help_open(&input, &ps_format_hdf5, PS_TEST_DATA "/hdf5/user_block.h5", names));
    help_close(&input);
}

// ---- Inspect ----

static void test_inspect(void)
{
    static const char *const says[] = {
        "/in_sub  f64[6], virtual, 1 source\n      from sub/src.h5:/d\n",
        "/gone  f64[6], virtual, 1 source",
        "cannot be read: ",
        "needs the file 'none.h5', which is not there",
        "/series  f64[12 of unlimited], virtual",
        "/series_none  f64[?], virtual",
        "dataset: \"/series\"}",
    };
    static const char *const links[] = {"/circle/back/ (again)",
                                        "/ext_out  -> ../out/target.h5:/t (external link)",
                                        "/user/defined  -> (user-defined link, class 100)",
                                        "/type  committed type", "/a  -> /b (soft link)"};
    static const char *const chunks[] = {"chunks 50x30 (12), gzip-6, ratio 1.19",
                                         "chunks 16x16 (2 of 3 written), gzip-4",
                                         "scaleoffset (3 decimals)",
                                         "szip (ec, blocks of 16)",
                                         "blosc (lz4-9, bitshuffle)",
                                         "filter 32123 (not installed)"};
    struct ps_text text = {0};
    struct ps_error error = {0};
    CU_ASSERT(ps_format_hdf5.inspect(PS_TEST_DATA "/hdf5/places/in/virtual.h5", &text, &error));
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        CHECK_TEXT(text.data, says[i]);
    ps_text_free(&text);
    CU_ASSERT(ps_format_hdf5.inspect(PS_TEST_DATA "/hdf5/places/in/links.h5", &text, &error));
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        CHECK_TEXT(text.data, links[i]);
    ps_text_free(&text);
    CU_ASSERT(ps_format_hdf5.inspect(PS_TEST_DATA "/hdf5/chunks.h5", &text, &error));
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        CHECK_TEXT(text.data, chunks[i]);
    ps_text_free(&text);
    CU_ASSERT(ps_format_hdf5.inspect(PS_TEST_DATA "/cases/hdf5/open_for_write.h5", &text, &error));
    CHECK_TEXT(text.data, "marked as open for writing");
    CHECK_TEXT(text.data, "dataset: \"/d\", swmr: true}");
    ps_text_free(&text);
    CU_ASSERT(ps_format_hdf5.inspect(PS_TEST_DATA "/hdf5/places/in/deep.h5", &text, &error));
    CHECK_TEXT(text.data, "/ (too deep: not entered)");
    ps_text_free(&text);
}

int main(void)
{
    const struct check_test tests[] = {
        {"refused", test_refused},
        {"allowed", test_allowed},
        {"symbolic links", test_symbolic_links},
        {"files", test_files},
        {"swmr", test_swmr},
        {"inspect", test_inspect},
        {NULL, NULL},
    };
    help_clear();
    return help_finish(check_main("hdf5_places", tests));
}
