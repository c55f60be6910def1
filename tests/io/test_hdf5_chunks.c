// SPDX-License-Identifier: Apache-2.0
// Chunks: filters that plugins bring are read where the plugin is installed, and told by number,
// name and package where it is not; a filter that every chunk does without is not missed. Filters
// and indexes that the library has are compared with h5py in test_hdf5.c.
#include "io_help.h"

#include <zlib.h>

static bool open_set(struct help_input *input, const char *file, const char *dataset)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", PS_TEST_DATA, file);
    return help_open(input, &ps_format_hdf5, path, (const char *[]){"dataset", dataset, NULL});
}

#define MIXED 0x30f1cfceu
static const struct {
    const char *file, *dataset;
    unsigned crc; // of what h5py reads
    const char *says[2];
} plugins[] = {
    {"cases/hdf5/filters.h5", "lz4", 0x0a101849, {"filter 32004 (lz4)", "hdf5-filter-plugin"}},
    {"cases/hdf5/filters.h5", "blosc", 0x0a101849, {"filter 32001 (blosc)", "-blosc-serial"}},
    {"cases/hdf5/filters.h5",
     "bitshuffle_lz4",
     0x0a101849,
     {"filter 32008 (bitshuffle)", "apt-get install bitshuffle, or pip install hdf5plugin"}},
    {"hdf5/plugins.h5", "zstd", 0x10af6cc5, {"filter 32015 (zstd)", "pip install hdf5plugin"}},
    {"hdf5/plugins.h5", "blosc2", 0x10af6cc5, {"filter 32026 (blosc2)", "pip install hdf5plugin"}},
    {"hdf5/plugins.h5",
     "bitshuffle_lz4",
     0x10af6cc5,
     {"filter 32008", "apt-get install bitshuffle"}},
    {"hdf5/plugins.h5", "bzip2", 0x10af6cc5, {"filter 307 (bzip2)", "hdf5-filter-plugin"}},
    {"hdf5/chunks.h5", "plugin/bzip2", MIXED, {"filter 307 (bzip2)", "hdf5-filter-plugin"}},
    {"hdf5/chunks.h5", "plugin/lz4", MIXED, {"filter 32004 (lz4)", "hdf5-filter-plugin"}},
    {"hdf5/chunks.h5", "plugin/blosc_lz", MIXED, {"filter 32001 (blosc)", "-blosc-serial"}},
    {"hdf5/chunks.h5", "plugin/blosc_lz4", MIXED, {"filter 32001 (blosc)", "-blosc-serial"}},
    {"hdf5/chunks.h5", "plugin/blosc_lz4hc", MIXED, {"filter 32001 (blosc)", "-blosc-serial"}},
    {"hdf5/chunks.h5", "plugin/blosc_zlib", MIXED, {"filter 32001 (blosc)", "-blosc-serial"}},
    {"hdf5/chunks.h5", "plugin/blosc_zstd", MIXED, {"filter 32001 (blosc)", "-blosc-serial"}},
};

static void test_plugins(void)
{
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        struct help_input input;
        size_t bytes = 0;
        bool opened = open_set(&input, plugins[i].file, plugins[i].dataset);
        CU_ASSERT(!opened || getenv("HDF5_PLUGIN_PRELOAD") == NULL);
        if (opened) {
            CU_ASSERT(ps_array_bytes(&input.reader.array, &bytes));
            void *data = help_read_all(&input, 7);
            CU_ASSERT_EQUAL(data != NULL ? crc32(0, data, (unsigned)bytes) : 0, plugins[i].crc);
            free(data);
        } else {
            CHECK_TEXT(input.error.text, plugins[i].says[0]);
            CHECK_TEXT(input.error.text, plugins[i].says[1]);
            CHECK_TEXT(input.error.text, "HDF5_PLUGIN_PATH");
        }
        help_close(&input);
    }
}

static void test_left_out(void)
{
    static const int32_t zeros[4];
    struct help_input input;
    CU_ASSERT_FATAL(open_set(&input, "hdf5/made.h5", "odd_filter"));
    void *data = help_read_all(&input, 4);
    CU_ASSERT(data != NULL && memcmp(data, zeros, sizeof zeros) == 0);
    free(data);
    help_close(&input);
    CU_ASSERT_FALSE(open_set(&input, "hdf5/chunks.h5", "unknown_filter"));
    CHECK_TEXT(input.error.text, "dataset unknown_filter needs HDF5 filter 32123 (unknown)");
    CHECK_TEXT(input.error.text, "install its plugin; HDF5_PLUGIN_PATH tells its folder");
    help_close(&input);
}

// Once more, with plugins switched off.
static void test_without(void)
{
    char self[PATH_MAX] = "", command[2 * PATH_MAX];
    if (getenv("HDF5_PLUGIN_PRELOAD") != NULL)
        return;
    CU_ASSERT_FATAL(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(command, sizeof command, "HDF5_PLUGIN_PRELOAD=:: '%s' > /dev/null", self);
    CU_ASSERT_EQUAL(system(command), 0);
}

int main(void)
{
    const struct check_test tests[] = {
        {"filters of plugins", test_plugins},
        {"filters that are left out", test_left_out},
        {"without plugins", test_without},
        {NULL, NULL},
    };
    help_clear();
    return help_finish(check_main("hdf5_chunks", tests));
}
