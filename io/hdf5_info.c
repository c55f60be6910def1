// SPDX-License-Identifier: Apache-2.0
// Asks the HDF5 library about itself. Reads no data file.
#include "io/hdf5_info.h"

#include <dirent.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ps_hdf5_filter filters[] = {
    {.id = H5Z_FILTER_DEFLATE, .name = "gzip", .from = "HDF5"},
    {.id = H5Z_FILTER_SHUFFLE, .name = "shuffle", .from = "HDF5"},
    {.id = H5Z_FILTER_FLETCHER32, .name = "fletcher32", .from = "HDF5"},
    {.id = H5Z_FILTER_SZIP, .name = "szip", .from = "HDF5"},
    {.id = H5Z_FILTER_NBIT, .name = "nbit", .from = "HDF5"},
    {.id = H5Z_FILTER_SCALEOFFSET, .name = "scaleoffset", .from = "HDF5"},
    {.id = 32000, .name = "lzf", .from = "h5py"},
    {.id = 32001, .name = "blosc", .from = "hdf5plugin"},
    {.id = 32004, .name = "lz4", .from = "hdf5plugin"},
    {.id = 32008, .name = "bitshuffle", .from = "hdf5plugin"},
    {.id = 32015, .name = "zstd", .from = "hdf5plugin"},
    {.id = 32026, .name = "blosc2", .from = "hdf5plugin"},
    {0},
};

static void ask_filters(void)
{
    for (struct ps_hdf5_filter *filter = filters; filter->name != NULL; filter++) {
        unsigned how = 0;
        H5E_BEGIN_TRY
        {
            filter->available = H5Zfilter_avail(filter->id) > 0;
            if (filter->available && H5Zget_filter_info(filter->id, &how) < 0)
                how = 0;
        }
        H5E_END_TRY;
        filter->decodes = (how & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
    }
}

static int count_plugins(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += strstr(entry->d_name, ".so") != NULL;
    closedir(directory);
    return count;
}

static void ask_plugins(struct ps_hdf5_info *info)
{
    unsigned folders = 0, allowed = 0;
    H5E_BEGIN_TRY
    {
        if (H5PLget_loading_state(&allowed) < 0)
            allowed = 0;
        if (H5PLsize(&folders) < 0)
            folders = 0;
    }
    H5E_END_TRY;
    info->plugins_allowed = (allowed & H5PL_FILTER_PLUGIN) != 0;
    info->plugin_path_is_set = getenv("HDF5_PLUGIN_PATH") != NULL;
    size_t used = 0;
    for (unsigned i = 0; i < folders; i++) {
        char folder[512];
        ssize_t length = H5PLget(i, folder, sizeof folder);
        if (length <= 0 || (size_t)length >= sizeof folder)
            continue;
        info->plugin_files += count_plugins(folder);
        int written = snprintf(info->plugin_path + used, sizeof info->plugin_path - used, "%s%s",
                               used > 0 ? ":" : "", folder);
        if (written < 0 || (size_t)written >= sizeof info->plugin_path - used)
            break; // the line is full
        used += (size_t)written;
    }
}

void ps_hdf5_info(struct ps_hdf5_info *info_out)
{
    unsigned major = 0, minor = 0, release = 0;
    memset(info_out, 0, sizeof *info_out);
    if (H5open() >= 0 && H5get_libversion(&major, &minor, &release) >= 0)
        snprintf(info_out->version, sizeof info_out->version, "%u.%u.%u", major, minor, release);
    info_out->version_fits = major == H5_VERS_MAJOR && minor == H5_VERS_MINOR;
    ask_plugins(info_out);
    ask_filters();
    info_out->filters = filters;
}
